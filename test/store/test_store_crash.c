/* Crashes, losses of power, failing and full disks: what was acknowledged is there, and nothing half. */
#include "test/lib/test.h"
#include "test/store/disk.h"
#include "test/store/store_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- one history, in steps; each is acknowledged when its call returns --- */

#define CALLS 5u  /* to a round: aborted, prepared, released, over, committed */
#define MANY 120u /* learners: more than a page of them */

static uint32_t learners_of(sl_round t)
{
	return t % 2 == 0 ? MANY : 3;
}

/* Step s of the history: 0 aborts attempt 1 of round 1, 1 prepares attempt 2. */
static int step(struct sl_store *store, unsigned s, struct sl_error *error)
{
	static const enum sl_persist_kind kinds[] = {SL_PERSIST_ABORTED, SL_PERSIST_PREPARED,
						     SL_PERSIST_RELEASED, SL_PERSIST_OVER};
	sl_round t = s / CALLS + 1;
	unsigned call = s % CALLS;
	struct sl_store_round round = made_round(t);
	if (call == CALLS - 1) {
		int rc = sl_store_commit_round(store, &round, error);
		return rc == SL_OK && t % 2 == 0 ? sl_store_rest(store, 0, error) : rc;
	}
	struct sl_persist persist =
		made_persist(kinds[call], t, call == 0 ? 1 : 2, call == 0 ? 0 : learners_of(t));
	return record_made(store, &persist, error);
}

/* Of round t, which must be whole. */
static unsigned steps_of_round(struct sl_store *store, sl_round t)
{
	char prepared[64], released[64], over[64];
	const char *const texts[] = {"aborted 0, over, open 0", "aborted 1, over, open 0", prepared, released,
				     over};
	struct sl_promises promises;
	struct sl_error error;
	assert_ok(sl_store_promises(store, t, &promises, &error), error);
	unsigned steps = promises.over_count > 0 ? 4
			 : promises.a != 0	 ? (promises.open.state == SL_OPEN_RELEASED ? 3 : 2)
						 : promises.aborted;
	sl_store_promises_close(&promises);
	snprintf(prepared, sizeof prepared, "aborted 1, over, open 2 prepared by %u", learners_of(t));
	snprintf(released, sizeof released, "aborted 1, over, open 2 released by %u", learners_of(t));
	snprintf(over, sizeof over, "aborted 2, over 2 by %u, open 0", learners_of(t));
	expect_promises(store, t, texts[steps]);
	return steps;
}

/* Return the number of steps on record; each must be complete. */
static unsigned steps_of(struct sl_store *store)
{
	struct sl_store_round last = {0};
	struct sl_error error = {0};
	int rc = sl_store_last_round(store, &last, &error);
	if (rc != SL_OK && rc != SL_ERR_NOTFOUND)
		fail_msg("%s", error.text);
	expect_last(store, last.t);
	unsigned open = steps_of_round(store, last.t + 1);
	assert_int_equal(steps_of_round(store, last.t + 2), 0);
	if (last.t > 1)
		assert_int_equal(steps_of_round(store, last.t - 1), 0);
	const struct sl_ledger *ledger = sl_store_ledger(store);
	unsigned steps = CALLS * last.t + open;
	assert_int_equal(ledger->charges - ledger->guessed, (steps + CALLS - 2) / CALLS);
	return steps;
}

static void begin(const char *folder, unsigned steps)
{
	struct sl_store *store = open_made(folder);
	for (unsigned s = 0; s < steps; s++)
		assert_int_equal(step(store, s, NULL), SL_OK);
	sl_store_close(store);
}

/* --- kill -9 --- */

struct mark {
	uint32_t incarnation, steps; /* acknowledged */
};

static void run_and_tell(const char *folder, int fd)
{
	struct sl_store *store = open_made(folder);
	struct mark mark = {.incarnation = sl_store_incarnation(store), .steps = steps_of(store)};
	while (write(fd, &mark, sizeof mark) == (ssize_t)sizeof mark &&
	       step(store, mark.steps, NULL) == SL_OK)
		mark.steps++;
	_exit(1);
}

static void spin(unsigned us)
{
	struct timespec from, now;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < us);
}

/* Kills a learner a while after it has acknowledged `steps` more; returns the last that it said. */
static struct mark kill_after(const char *folder, unsigned steps, unsigned us)
{
	int ends[2];
	struct mark last = {0}, next;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		run_and_tell(folder, ends[1]);
	}
	close(ends[1]);
	for (unsigned i = 0; i <= steps && read(ends[0], &next, sizeof next) == (ssize_t)sizeof next; i++)
		last = next;
	spin(us);
	kill(child, SIGKILL);
	while (read(ends[0], &next, sizeof next) == (ssize_t)sizeof next)
		last = next;
	close(ends[0]);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return last;
}

TEST_WITH(killed_in_the_middle, folder_setup, folder_teardown)
{
	uint64_t seed = (uint64_t)time(NULL);
	print_message("seed %llu\n", (unsigned long long)seed);
	srand48((long)seed);
	uint32_t incarnation = 0;
	for (int i = 0; i < 30; i++) {
		struct mark mark =
			kill_after(*state, (unsigned)(lrand48() % 12), (unsigned)(lrand48() % 1500));
		struct sl_store *store = open_made(*state);
		unsigned steps = steps_of(store);
		assert_true(mark.incarnation > incarnation);
		assert_true(sl_store_incarnation(store) > mark.incarnation);
		assert_in_range(steps, mark.steps, mark.steps + 1); /* one was under way */
		incarnation = sl_store_incarnation(store);
		sl_store_close(store);
	}
}

/* --- loss of power --- */

/* Open, and continue from `steps` for two rounds or up to a failure; return what was acknowledged. */
static struct mark go_on(const char *folder, unsigned steps)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	struct mark mark = {.steps = steps};
	if (sl_store_open(&store, folder, &owner, NULL) != SL_OK)
		return mark;
	mark.incarnation = sl_store_incarnation(store);
	while (mark.steps < steps + 2 * CALLS && step(store, mark.steps, NULL) == SL_OK)
		mark.steps++;
	sl_store_close(store);
	return mark;
}

/* The files as they were; a log need not be there. */
struct image {
	uint8_t *bytes[2];
	size_t sizes[2];
};
static const char *const names[] = {DATABASE, DATABASE "-wal"};

static struct image take_image(const char *folder)
{
	struct image image = {0};
	for (int i = 0; i < 2; i++)
		if (access(folder_path(folder, names[i]), F_OK) == 0)
			image.bytes[i] = folder_get(folder, names[i], &image.sizes[i]);
	return image;
}

static void put_image(const char *folder, const struct image *image)
{
	for (int i = 0; i < 2; i++) {
		remove(folder_path(folder, names[i]));
		if (image->bytes[i] != NULL)
			folder_put(folder, names[i], image->bytes[i], image->sizes[i]);
	}
}

static void free_image(const struct image *image)
{
	free(image->bytes[0]);
	free(image->bytes[1]);
}

/* After a crash at the history's change `at`. On a disk that only counts: it is quicker. */
static void expect_kept(const char *folder, const struct mark *mark, unsigned begun, unsigned at)
{
	disk_on(at);
	struct sl_store *store = open_made(folder);
	unsigned steps = steps_of(store);
	if (steps < mark->steps || steps > mark->steps + 1 || (mark->incarnation == 0 && steps != begun))
		fail_msg("change %u: %u steps acknowledged, %u found", at, mark->steps, steps);
	assert_true(sl_store_incarnation(store) > mark->incarnation);
	assert_in_range(sl_store_incarnation(store), 2, 3);
	sl_store_close(store);
	disk_off();
	disk_restart(DISK_ALL);
}

TEST_WITH(power_is_lost, folder_setup, folder_teardown)
{
	const unsigned begun = 4;
	begin(*state, begun);
	struct image image = take_image(*state);
	disk_on(1);
	struct mark whole = go_on(*state, begun);
	disk_off();
	assert_int_equal(whole.steps, begun + 2 * CALLS);
	unsigned all = disk_changes();
	disk_restart(DISK_NOTHING); /* all of it was there to stay */
	expect_kept(*state, &whole, begun, 0);
	assert_true(all > 50);
	for (unsigned at = 1; at <= all; at++)
		for (unsigned seed = 0; seed < 4; seed++) {
			put_image(*state, &image);
			disk_on(1000 * at + seed);
			disk_cut_at(at);
			struct mark mark = go_on(*state, begun);
			disk_off();
			disk_restart(seed > 2 ? DISK_SOME : (enum disk_loss)seed);
			expect_kept(*state, &mark, begun, at);
		}
	free_image(&image);
}

/* The log of a removed store. */
TEST_WITH(an_old_log_is_not_read, folder_setup, folder_teardown)
{
	for (unsigned at = 1; at < 20; at++) {
		begin(*state, 4);
		disk_on(at);
		disk_cut_at(at);
		go_on(*state, 4);
		disk_off();
		disk_restart(DISK_ALL);
		remove(folder_path(*state, DATABASE));
		remove(folder_path(*state, "has-records"));
		struct sl_store *store = open_made(*state);
		assert_int_equal(sl_store_incarnation(store), 1);
		assert_int_equal(steps_of(store), 0);
		sl_store_close(store);
		remove(folder_path(*state, DATABASE));
		remove(folder_path(*state, "has-records"));
	}
}

/* Of the log. After a round of even number the log is emptied: it and the database are synchronised, and
 * then, with the next record, the header of the log. */
static unsigned synchronisations_of(unsigned s)
{
	bool even = s / CALLS % 2 == 1;
	return even && s % CALLS == CALLS - 1 ? 3 : !even && s % CALLS == 0 ? 2 : 1;
}

TEST_WITH(one_synchronisation_to_a_record, folder_setup, folder_teardown)
{
	begin(*state, 2 * CALLS);
	disk_on(1);
	struct sl_store *store = open_made(*state);
	for (unsigned s = 2 * CALLS; s < 6 * CALLS; s++) {
		unsigned before = disk_synchronisations(), all = synchronisations_of(s) - (s == 2 * CALLS);
		assert_int_equal(step(store, s, NULL), SL_OK);
		assert_int_equal(disk_synchronisations() - before, all);
		assert_int_equal(step(store, s, NULL), SL_OK); /* again: nothing to do */
		assert_int_equal(disk_synchronisations() - before, all);
	}
	sl_store_close(store);
	disk_off();
	disk_restart(DISK_NOTHING);
}

/* --- failures --- */

/* Expect that each call returns the first error and changes nothing. */
static void expect_ended(struct sl_store *store, const struct sl_error *first)
{
	struct sl_error error;
	struct sl_store_round round;
	unsigned before = disk_changes();
	for (unsigned s = 0; s < CALLS; s++) {
		assert_int_equal(step(store, s, &error), first->code);
		assert_string_equal(error.text, first->text);
	}
	assert_int_equal(sl_store_last_round(store, &round, &error), first->code);
	assert_string_equal(error.text, first->text);
	struct sl_promises promises;
	assert_int_equal(sl_store_promises(store, 1, &promises, &error), first->code);
	assert_string_equal(error.text, first->text);
	assert_int_equal(disk_changes(), before);
}

static void expect_one_line(const char *folder, const struct sl_error *error)
{
	static const char *const ends[] = {
		"the disk is full; make room, then start the learner again",
		"disk I/O error; check the disk, then start the learner again",
	};
	char text[128];
	assert_int_equal(error->code, SL_ERR_IO);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		snprintf(text, sizeof text, DATABASE ": %s", ends[i]);
		if (strcmp(error->text, folder_path(folder, text)) == 0)
			return;
	}
	fail_msg("%s", error->text);
}

/* As go_on, up to the one failure, which must be reported. */
static struct mark go_on_to_failure(const char *folder, unsigned steps)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	struct sl_error error = {0};
	struct mark mark = {.steps = steps};
	if (sl_store_open(&store, folder, &owner, &error) == SL_OK) {
		mark.incarnation = sl_store_incarnation(store);
		assert_false(disk_failed());
		while (step(store, mark.steps, &error) == SL_OK) {
			assert_false(disk_failed());
			mark.steps++;
		}
		expect_ended(store, &error);
		sl_store_close(store);
	}
	assert_true(disk_failed());
	expect_one_line(folder, &error);
	return mark;
}

/* Each write, each synchronisation, once: the learner stops, and starts again. */
TEST_WITH(the_disk_fails, folder_setup, folder_teardown)
{
	const unsigned begun = 4;
	begin(*state, begun);
	struct image image = take_image(*state);
	disk_on(1);
	go_on(*state, begun);
	disk_off();
	unsigned all = disk_changes();
	disk_restart(DISK_ALL);
	for (unsigned at = 1; at <= all; at++) {
		put_image(*state, &image);
		disk_on(at);
		disk_fail_at(at);
		struct mark mark = go_on_to_failure(*state, begun);
		disk_off();
		disk_restart(DISK_ALL);
		expect_kept(*state, &mark, begun, at);
	}
	free_image(&image);
}

TEST_WITH(no_file_may_grow, folder_setup, folder_teardown)
{
	struct rlimit kept, small;
	struct stat status;
	struct sl_error error = {0};
	begin(*state, 2);
	struct sl_store *store = open_made(*state);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(stat(folder_path(*state, DATABASE), &status), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
	small = kept;
	small.rlim_cur = (rlim_t)status.st_size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	unsigned steps = 2;
	int rc;
	while ((rc = step(store, steps, &error)) == SL_OK)
		steps++;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
	assert_int_equal(rc, SL_ERR_IO);
	assert_string_equal(error.text,
			    folder_path(*state, DATABASE
					": File too large; allow larger files (ulimit -f, LimitFSIZE= "
					"of the unit), then start the learner again"));
	sl_store_close(store);
	store = open_made(*state);
	assert_int_equal(steps_of(store), steps);
	sl_store_close(store);
}

/* --- a small disk of its own --- */

/* In a child: 0 when all is well, 77 when nothing may be mounted here. */
static int fill_disk(const char *folder)
{
	struct sl_error error = {0};
	unsigned steps = 0;
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", folder, "tmpfs", 0, "size=256k") < 0)
		return 77;
	static uint8_t ballast[128 << 10];
	folder_put(folder, "ballast", ballast, sizeof ballast);
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	if (sl_store_open(&store, folder, &owner, &error) != SL_OK)
		return 1;
	while (step(store, steps, &error) == SL_OK)
		steps++;
	sl_store_close(store);
	if (error.code != SL_ERR_IO || strstr(error.text, DATABASE ": the disk is full; make room") == NULL)
		return 2;
	remove(folder_path(folder, "ballast"));
	if (sl_store_open(&store, folder, &owner, &error) != SL_OK || steps_of(store) != steps)
		return 3;
	if (step(store, steps, &error) != SL_OK)
		return 4;
	sl_store_close(store);
	return 0;
}

TEST_WITH(the_disk_is_full, folder_setup, folder_teardown)
{
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(fill_disk(*state));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("no tmpfs may be mounted here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- a folder that may not be written --- */

#define NOBODY 65534

/* Permissions do not hold for root. */
static void as_nobody(const char *folder, bool on)
{
	if (geteuid() != 0 && on)
		return;
	if (on) {
		static const char *const files[] = {"", DATABASE, "attempt.key", "lock", "has-records"};
		for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
			if (chown(folder_path(folder, files[i]), NOBODY, NOBODY) < 0)
				assert_true(i > 0);
	}
	assert_int_equal(seteuid(on ? NOBODY : getuid()), 0);
}

static void expect_unwritable(const char *folder, const char *name, mode_t mode, const char *what)
{
	struct stat status;
	assert_int_equal(stat(folder_path(folder, name), &status), 0);
	assert_int_equal(chmod(folder_path(folder, name), mode), 0);
	expect_open(folder, SL_ERR_IO, what);
	assert_int_equal(chmod(folder_path(folder, name), status.st_mode & 0777), 0);
}

TEST_WITH(it_may_not_be_written, folder_setup, folder_teardown)
{
	begin(*state, 4);
	as_nobody(*state, true);
	expect_unwritable(*state, "lock", 0400,
			  "lock: Permission denied; give the learner permission to write there");
	expect_unwritable(
		*state, DATABASE, 0400,
		DATABASE
		": attempt to write a readonly database; give the learner permission to write there");
	expect_unwritable(*state, DATABASE, 0,
			  DATABASE ": Permission denied; give the learner permission to write there");
	expect_unwritable(*state, "attempt.key", 0400,
			  "attempt.key: Permission denied; give the learner permission to write there");
	expect_unwritable(*state, "", 0500, NULL);
	struct sl_store *store = open_made(*state);
	assert_int_equal(steps_of(store), 4);
	sl_store_close(store);
	as_nobody(*state, false);
}

TEST_WITH(nor_be_made, folder_setup, folder_teardown)
{
	as_nobody(*state, true);
	expect_unwritable(*state, "", 0500,
			  "lock: Permission denied; give the learner permission to write there");
	assert_int_equal(folder_count(*state), 0);
	as_nobody(*state, false);
}
