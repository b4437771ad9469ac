/* Opening a store: how it is made, which run and identity it belongs to, and the lock. */
#include "test/lib/test.h"
#include "test/store/store_fixture.h"
#include "daemon/store/state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

/* --- what is asked of the system in the folder, in order --- */

static char asked[256];
static int fsyncs_left; /* until one fails; below 0: none does */

int __real_fsync(int fd);
int __real_rename(const char *old, const char *new);

static void note(const char *what, const char *name)
{
	size_t used = strlen(asked);
	snprintf(asked + used, sizeof asked - used, "%s%s;", what, name);
}

int __wrap_fsync(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	note(S_ISDIR(st.st_mode) ? "fsync folder" : "fsync file", "");
	if (fsyncs_left-- == 0) {
		errno = EIO;
		return -1;
	}
	return __real_fsync(fd);
}

int __wrap_rename(const char *old, const char *new)
{
	note("name ", strrchr(new, '/') + 1);
	return __real_rename(old, new);
}

/* Only what is opened to be written durably. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
	va_end(more);
	int fd = __real_open64(path, flags, mode);
	if (fd >= 0 && (flags & O_DSYNC) != 0)
		note("overwrite ", strrchr(path, '/') + 1);
	return fd;
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path)
{
	int rc = __real_unlink(path);
	if (rc == 0 && strcmp(strrchr(path, '/') + 1, SL_STATE_FILE) == 0)
		note("remove ", SL_STATE_FILE);
	return rc;
}

static int setup(void **state)
{
	asked[0] = '\0';
	fsyncs_left = -1;
	return folder_setup(state);
}

/* --- verbs --- */

static bool there(const char *folder, const char *name)
{
	return access(folder_path(folder, name), F_OK) == 0;
}

static void expect_incarnation(const char *folder, uint32_t count)
{
	struct sl_store *store = open_made(folder);
	assert_int_equal(sl_store_incarnation(store), count);
	sl_store_close(store);
}

/* "2: 10 40": so many members differ, and the first of them. */
static void expect_changes(struct sl_store *store, const char *text)
{
	sl_id ids[SL_STORE_CHANGES_NAMED];
	char found[64];
	uint32_t count = sl_store_roster_changes(store, ids);
	int used = snprintf(found, sizeof found, "%u:", count);
	for (uint32_t i = 0; i < count && i < SL_STORE_CHANGES_NAMED; i++)
		used += snprintf(found + used, sizeof found - (size_t)used, " %u", ids[i]);
	assert_string_equal(found, text);
}

/* --- run, identity, roster, lock --- */

TEST_WITH(only_its_user_may_read, setup, folder_teardown)
{
	struct stat status;
	char folder[1024];
	snprintf(folder, sizeof folder, "%s/state", (const char *)*state);
	struct sl_store *store = open_made(folder);
	assert_memory_equal(asked, "fsync folder;fsync file;", 24); /* the one that holds it */
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 3);
	assert_int_equal(stat(folder, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(stat(folder_path(folder, DATABASE), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(stat(folder_path(folder, DATABASE "-wal"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	sl_store_close(store);
	void *inner = strdup(folder);
	folder_teardown(&inner);
}

TEST_WITH(another_run_is_refused, setup, folder_teardown)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	struct sl_error error;
	expect_incarnation(*state, 1);
	owner.run = "another";
	assert_int_equal(sl_store_open(&store, *state, &owner, &error), SL_ERR_REFUSED);
	assert_string_equal(error.text, folder_path(*state, DATABASE
						    ": holds the records of run " RUN ", not of another; "
						    "give each run a state folder of its own"));
	expect_incarnation(*state, 2); /* the lock is given back, no start was counted */
}

TEST_WITH(another_identity_is_refused, setup, folder_teardown)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	struct sl_error error;
	char text[512], pin[SL_PIN_TEXT_BYTES];
	expect_incarnation(*state, 1);
	sl_roster_pin_text(owner.pin, pin);
	owner.pin[31]++;
	assert_int_equal(sl_store_open(&store, *state, &owner, &error), SL_ERR_REFUSED);
	snprintf(text, sizeof text,
		 DATABASE
		 ": holds the records of another identity, %s; give each learner a state folder of its own",
		 pin);
	assert_string_equal(error.text, folder_path(*state, text));
	expect_incarnation(*state, 2);
}

static struct sl_store_owner owner_with(uint8_t roster_key, uint8_t own_key, bool swapped)
{
	struct sl_store_owner owner = made_owner(); /* made_roster: its first member is the owner */
	memset(owner.roster->members[swapped ? 1 : 0].pin, roster_key, SL_HASH_BYTES);
	memset(owner.pin, own_key, SL_HASH_BYTES);
	return owner;
}

/* The same id with another key, which the roster names: the records are its own. Not if another id has the
 * key. */
TEST_WITH(a_renewed_key, setup, folder_teardown)
{
	static const struct {
		uint8_t roster_key, own_key;
		bool swapped;
		int code;
	} cases[] = {{8, 9, false, SL_ERR_REFUSED}, /* not in the roster */
		     {9, 9, true, SL_ERR_REFUSED},  /* of another id */
		     {9, 9, false, SL_OK},
		     {9, 9, false, SL_OK},
		     {7, 7, false, SL_ERR_REFUSED}}; /* back: no commit yet */
	struct sl_store_owner owner = owner_with(7, 7, false);
	struct sl_store *store;
	struct sl_error error;
	assert_int_equal(sl_store_open(&store, *state, &owner, &error), SL_OK);
	sl_store_close(store);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		owner = owner_with(cases[i].roster_key, cases[i].own_key, cases[i].swapped);
		assert_int_equal(sl_store_open(&store, *state, &owner, &error), cases[i].code);
		sl_store_close(store);
	}
}

TEST_WITH(another_roster_is_told_until_a_commit, setup, folder_teardown)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	expect_incarnation(*state, 1);
	for (int again = 0; again < 2; again++) {
		owner.roster = made_roster(4, 0);
		assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_OK);
		expect_changes(store, "1: 40");
		expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 2);
		if (again == 0)
			sl_store_close(store);
	}
	expect_committed(store, 1);
	expect_changes(store, "0:");
	sl_store_close(store);
	owner.roster = made_roster(4, 0);
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_OK);
	expect_changes(store, "0:");
	assert_int_equal(sl_store_incarnation(store), 4);
	sl_store_close(store);
	store = open_made(*state);
	expect_changes(store, "1: 40");
	sl_store_close(store);
}

/* Added and removed members, and members with another key. */
TEST_WITH(changed_members_are_named, setup, folder_teardown)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store = open_made(*state); /* 10, 20, 30 */
	sl_store_close(store);
	owner.roster = made_roster(2, 0);
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_OK);
	expect_changes(store, "1: 30");
	sl_store_close(store);
	owner.roster = made_roster(3, 0);
	owner.roster->members[1].pin[31]++;
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_OK);
	expect_changes(store, "1: 20");
	sl_store_close(store);
	owner.roster = made_roster(3, 10); /* 20, 30, 40, with the keys of 10, 20, 30 */
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_OK);
	expect_changes(store, "4: 10 20 30 40");
	sl_store_close(store);
	owner.roster = made_roster(SL_LEARNERS_MAX, 5);
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_OK);
	expect_changes(store, "2003: 10 15 20 25");
	expect_committed(store, 1);
	sl_store_close(store);
	owner.roster = made_roster(SL_LEARNERS_MAX, 5);
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_OK);
	expect_changes(store, "0:");
	sl_store_close(store);
}

TEST_WITH(the_second_is_told_who_was_first, setup, folder_teardown)
{
	char text[256];
	struct sl_store *store = open_made(*state);
	snprintf(text, sizeof text,
		 "lock: another starlingd is running on this state folder, as process %ld; end it first",
		 (long)getpid());
	expect_open(*state, SL_ERR_BUSY, text);
	assert_int_equal(truncate(folder_path(*state, "lock"), 0), 0);
	expect_open(*state, SL_ERR_BUSY,
		    "lock: another starlingd is running on this state folder; end it first");
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 2);
	sl_store_close(store);
	expect_incarnation(*state, 2);
}

/* Another program has the file open: it blocks a start; later it has to wait. */
TEST_WITH(another_program, setup, folder_teardown)
{
	sqlite3 *other;
	expect_incarnation(*state, 1);
	assert_int_equal(sqlite3_open(folder_path(*state, DATABASE), &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN; SELECT * FROM learner", NULL, NULL, NULL), SQLITE_OK);
	expect_open(*state, SL_ERR_BUSY, DATABASE ": another program has it open; end it first");
	assert_int_equal(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
	struct sl_store *store = open_made(*state);
	assert_int_equal(sqlite3_open(folder_path(*state, DATABASE), &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "SELECT * FROM learner", NULL, NULL, NULL), SQLITE_BUSY);
	expect_recorded(store, SL_PERSIST_PREPARED, 1, 1, 2);
	sl_store_close(store);
	assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

/* To look leaves all files as they are, and sees what is in the log only. */
TEST_WITH(a_look_beside_a_learner, setup, folder_teardown)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *looking, *store = open_made(*state);
	for (sl_round t = 1; t < 4; t++) {
		expect_committed(store, t);
		size_t files = folder_count(*state);
		assert_int_equal(sl_store_peek(&looking, *state, &owner, NULL), SL_OK);
		expect_last(looking, t);
		sl_store_close(looking);
		assert_int_equal(folder_count(*state), files);
		assert_true(there(*state, DATABASE "-wal"));
	}
	sl_store_close(store);
	assert_false(there(*state, DATABASE "-wal"));
	assert_int_equal(sl_store_peek(&looking, *state, &owner, NULL), SL_OK);
	expect_last(looking, 3);
	assert_false(there(*state, DATABASE "-wal"));
	assert_false(there(*state, DATABASE "-shm"));
	sl_store_close(looking);
	expect_incarnation(*state, 2);
}

/* A folder that is copied while the learner runs: with its log, or the last records are missing. */
TEST_WITH(the_log_belongs_to_the_records, setup, folder_teardown)
{
	size_t sizes[2];
	struct sl_store *store = open_made(*state);
	expect_committed(store, 1);
	uint8_t *database = folder_get(*state, DATABASE, &sizes[0]),
		*log = folder_get(*state, DATABASE "-wal", &sizes[1]);
	expect_committed(store, 2);
	sl_store_close(store);
	remove(folder_path(*state, DATABASE));
	folder_put(*state, DATABASE, database, sizes[0]);
	folder_put(*state, DATABASE "-wal", log, sizes[1]);
	store = open_made(*state);
	expect_last(store, 1);
	sl_store_close(store);
	free(database);
	free(log);
}

TEST_WITH(the_log_is_bounded, setup, folder_teardown)
{
	struct stat status;
	struct sl_store *store = open_made(*state);
	off_t most = 0;
	for (sl_round t = 1; t <= 200; t++) {
		expect_recorded(store, SL_PERSIST_PREPARED, t, 1, 500);
		expect_recorded(store, SL_PERSIST_RELEASED, t, 1, 500);
		expect_committed(store, t);
		assert_int_equal(stat(folder_path(*state, DATABASE "-wal"), &status), 0);
		most = status.st_size > most ? status.st_size : most;
		assert_int_equal(sl_store_rest(store, SL_STORE_LOG_PAGES, NULL), SL_OK);
	}
	assert_in_range(most, SL_STORE_LOG_PAGES * 4096, 2 * SL_STORE_LOG_PAGES * 4096);
	assert_int_equal(stat(folder_path(*state, DATABASE "-wal"), &status), 0);
	sl_store_close(store);
}

/* --- how it comes to be --- */

#define ERASED "overwrite attempt.key;"

TEST_WITH(made_whole_then_named, setup, folder_teardown)
{
	struct sl_store *store = open_made(*state);
	assert_string_equal(asked, "fsync file;name " DATABASE ";fsync folder;" ERASED "fsync folder;");
	asked[0] = '\0';
	sl_store_close(store);
	store = open_made(*state);
	assert_string_equal(asked, ERASED ERASED); /* at the end and at the start */
	sl_store_close(store);
}

TEST_WITH(a_failed_fsync_names_nothing, setup, folder_teardown)
{
	fsyncs_left = 0;
	expect_open(*state, SL_ERR_IO,
		    DATABASE ": Input/output error; check the disk, then start the learner again");
	assert_false(there(*state, DATABASE));
	fsyncs_left = 1;
	expect_open(*state, SL_ERR_IO,
		    DATABASE ": Input/output error; check the disk, then start the learner again");
	fsyncs_left = 0;
	expect_open(*state, SL_ERR_IO,
		    "has-records: Input/output error; check the disk, then start the learner again");
	expect_incarnation(*state, 2); /* that start was counted */
}

/* A new store removes the files that an earlier store or a crash left. */
TEST_WITH(leftovers_go, setup, folder_teardown)
{
	folder_put(*state, DATABASE ".tmp", "half", 4);
	folder_put(*state, DATABASE "-wal", "of another", 10);
	expect_incarnation(*state, 1);
	assert_false(there(*state, DATABASE ".tmp"));
	expect_incarnation(*state, 2);
}

TEST_WITH(one_that_is_gone_is_missed, setup, folder_teardown)
{
	expect_incarnation(*state, 1);
	remove(folder_path(*state, DATABASE));
	expect_open(
		*state, SL_ERR_NOTFOUND,
		DATABASE
		": is gone, and with it what this learner has promised to others; put it back, or move the "
		"state folder away and start again: the others show this learner what it has signed");
	assert_false(there(*state, DATABASE));
}

/* Open the mark, which is a copy or not, as a start does; return true if there is something to note. */
static bool look(const char *folder, bool expected, bool note)
{
	bool copied;
	int mark = sl_folder_open_mark(folder, &copied);
	assert_int_equal(copied, expected);
	if (note)
		sl_folder_own(mark);
	else if (mark >= 0)
		close(mark);
	return mark >= 0;
}

/* Each start would say it again if the mark kept the name of the other one. */
TEST_WITH(a_copied_folder_is_noticed_once, setup, folder_teardown)
{
	char command[512];
	expect_incarnation(*state, 1);
	assert_true(look(*state, false, true)); /* at first an empty mark, of an earlier program */
	assert_false(look(*state, false, true));
	snprintf(command, sizeof command, "cd '%s' && cp has-records copy && mv copy has-records",
		 (const char *)*state);
	assert_int_equal(system(command), 0);
	assert_true(look(*state, true, false));
	assert_true(look(*state, true, true)); /* until it was said */
	assert_false(look(*state, false, true));
	expect_incarnation(*state, 2);
}

TEST_WITH(names_have_a_length, setup, folder_teardown)
{
	struct sl_store_owner owner = made_owner();
	struct sl_store *store;
	char folder[SL_PATH_BYTES + 1], run[SL_NAME_BYTES + 1];
	memset(folder, 'x', sizeof folder - 1);
	memset(run, 'x', sizeof run - 1);
	folder[SL_PATH_BYTES] = run[SL_NAME_BYTES] = '\0';
	expect_open(folder, SL_ERR_RANGE, NULL);
	owner.run = run;
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_ERR_RANGE);
	run[SL_NAME_BYTES - 1] = '\0';
	assert_int_equal(sl_store_open(&store, *state, &owner, NULL), SL_OK);
	sl_store_close(store);
}

/* Removed before the zeros are on the disk, the key would stay there. */
TEST_WITH(a_key_is_overwritten_before_its_file_goes, setup, folder_teardown)
{
	static const char erased[] = ERASED "overwrite " SL_STATE_FILE ";remove " SL_STATE_FILE ";";
	folder_put(*state, SL_STATE_FILE, "a key", 5);
	struct sl_store *store = open_made(*state);
	assert_non_null(strstr(asked, erased));
	folder_put(*state, SL_STATE_FILE, "a key", 5);
	asked[0] = '\0';
	sl_store_close(store);
	assert_string_equal(asked, erased);
}
