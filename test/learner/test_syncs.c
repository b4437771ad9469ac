/* How often a round synchronises the disk, and with which records. */
#include "test/learner/learner_fixture.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"
#include "test/store/disk.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/learner/persist.h"
#include "daemon/learner/tasks.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define MOST 5u /* of a round */

static unsigned files; /* synchronisations other than SQLite's */

int __real_fsync(int fd);
int __wrap_fsync(int fd)
{
	files++;
	return __real_fsync(fd);
}

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	files++;
	return __real_fdatasync(fd);
}

int __real_msync(void *address, size_t size, int flags);
int __wrap_msync(void *address, size_t size, int flags)
{
	files++;
	return __real_msync(address, size, flags);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
	va_end(more);
	files += (flags & O_DSYNC) != 0; /* each write to it is one */
	return __real_open64(path, flags, mode);
}

void __wrap_sl_tasks_evaluate(struct sl_daemon *daemon, const struct sl_trainer_commit *commit)
{
	(void)daemon;
	(void)commit;
}

/* Have the worker write a record; return the synchronisations. */
static unsigned persist(struct learner *l, const struct sl_persist *what)
{
	unsigned before = files + disk_synchronisations();
	learner_open_worker(l);
	sl_persist_add(&l->daemon, what);
	learner_close_worker(l);
	return files + disk_synchronisations() - before;
}

/* The records of a round without faults; return their synchronisations. */
static unsigned round_of(struct learner *l, sl_round t)
{
	static const uint8_t view_bytes = 1;
	struct sl_view view = {.t = t, .a = 2, .n = 3, .self = 1, .elements = ELEMENTS + 1};
	struct sl_held_share share = {.size = SL_KEY_SHARE_BYTES};
	struct sl_secrets secrets = {.count = 1, .shares = &share};
	struct sl_ready readys[2] = {{.id = 1, .t = t, .a = 2}, {.id = 2, .t = t, .a = 2}};
	struct sl_certificate certificate = learner_certificate(t);
	struct sl_persist p = {.what = {.kind = SL_PERSIST_PREPARED, .t = t, .a = 2},
			       .view = &view_bytes,
			       .view_bytes = 1,
			       .readys = readys,
			       .ready_count = 1,
			       .secrets = &secrets,
			       .ready = true};
	struct sl_daemon *daemon = &l->daemon;
	assert_int_equal(sl_field_init(&view.field, MODULUS), SL_OK);
	assert_int_equal(sl_masked_states_open(&daemon->masked_states, &daemon->workspace, &view, NULL),
			 SL_OK);
	assert_int_equal(sl_state_file_reserve(&daemon->masked_states.current, 0, NULL), SL_OK);
	daemon->workspace_view = &view;
	memset(daemon->workspace.state_file.base, (int)t, 4 * (ELEMENTS + 1));
	unsigned count = persist(l, &p);
	p.what.kind = SL_PERSIST_RELEASED;
	p.ready_count = 2;
	count += persist(l, &p);
	p = (struct sl_persist){.what = {.kind = SL_PERSIST_COMMIT, .t = t, .a = 2},
				.certificate = &certificate,
				.total_weight = 3};
	count += persist(l, &p);
	sl_masked_states_end(&daemon->masked_states, &daemon->workspace);
	return count;
}

/* Slot, PREPARED, RELEASED, result, round. The first rounds of a learner also make the files and their names
 * durable, and each start the first record of the log. */
TEST_WITH(five_synchronisations_to_a_round, learner_setup, folder_teardown)
{
	struct learner l;
	disk_on(1);
	learner_expect_started(&l, *state);
	l.trainer.tensors = learner_tensors;
	for (sl_round t = 1; t <= 12; t++) {
		unsigned count = round_of(&l, t);
		print_message("round %u: %u\n", t, count);
		assert_true(t <= 2 || count <= MOST);
	}
	learner_finish(&l);
	disk_off();
	disk_restart(DISK_ALL);
}
