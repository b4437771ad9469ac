/* A commit reads no folder, however full the state folder is: calls that read one are wrapped. */
#include "test/learner/learner_fixture.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/learner/persist.h"
#include "daemon/learner/tasks.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define FOREIGN 10000 /* files in the state folder that are not the learner's */
#define ROUNDS 8u

static size_t reads; /* folders opened, entries read */

DIR *__real_opendir(const char *folder);
struct dirent *__real_readdir64(DIR *entries);

DIR *__wrap_opendir(const char *folder)
{
	reads++;
	return __real_opendir(folder);
}

DIR *__wrap_fdopendir(int fd)
{
	(void)fd;
	fail();
	return NULL;
}

struct dirent *__wrap_readdir64(DIR *entries)
{
	reads++;
	return __real_readdir64(entries);
}

int __wrap_scandir64(const char *folder)
{
	(void)folder;
	fail();
	return -1;
}

void __wrap_sl_tasks_evaluate(struct sl_daemon *daemon, const struct sl_trainer_commit *commit)
{
	(void)daemon;
	(void)commit;
}

/* Commit rounds 1 .. ROUNDS as the core asks for it, on the worker. */
static void commit_all(struct learner *l)
{
	l->settings.keep_checkpoints = 3;
	l->trainer.tensors = learner_tensors;
	learner_open_worker(l);
	for (sl_round t = 1; t <= ROUNDS; t++) {
		struct sl_certificate certificate = learner_certificate(t);
		sl_persist_add(&l->daemon,
			       &(struct sl_persist){.what = {.kind = SL_PERSIST_COMMIT, .t = t, .a = 2},
						    .certificate = &certificate,
						    .total_weight = 3});
	}
	learner_close_worker(l);
}

TEST_WITH(a_commit_scans_nothing, learner_setup, folder_teardown)
{
	struct learner l;
	char name[256];
	for (int i = 0; i < FOREIGN; i++) {
		snprintf(name, sizeof name, "%s/foreign-%05d", (const char *)*state, i);
		int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	learner_expect_started(&l, *state);
	reads = 0;
	commit_all(&l);
	assert_int_equal(reads, 0);
	learner_finish(&l);
	for (sl_round t = 1; t <= ROUNDS; t++) { /* nor does it forget to tidy up */
		snprintf(name, sizeof name, "checkpoints/round-%06u.safetensors", t);
		assert_int_equal(access(folder_path(*state, name), F_OK) == 0, t + 3 > ROUNDS);
		sl_result_name(t, name);
		assert_int_equal(access(folder_path(*state, name), F_OK) == 0, t + 2 > ROUNDS);
	}
	learner_expect_started(&l, *state);
	assert_true(reads > FOREIGN); /* the start may: the counter works */
	learner_finish(&l);
}
