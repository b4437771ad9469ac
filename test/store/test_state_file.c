/* The file of an attempt's deposits: what comes back, what is durable when, and a disk that is full. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/state_file.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define FILE_7_2 "attempt-000007-000002.states"
#define SLOT 8192u

/* --- what is asked of the system, in order --- */

static char asked[256];
static int fails; /* the call that many from now fails with ENOSPC or EIO; below 0: none */

static void note(const char *what)
{
	size_t used = strlen(asked);
	snprintf(asked + used, sizeof asked - used, "%s;", what);
}

int __real_fsync(int fd);
int __real_msync(void *address, size_t size, int flags);
int __real_posix_fallocate64(int fd, off_t at, off_t size);

static bool failing(void)
{
	errno = EIO;
	return fails-- == 0;
}

int __wrap_fsync(int fd)
{
	note("folder");
	return failing() ? -1 : __real_fsync(fd);
}

int __wrap_msync(void *address, size_t size, int flags)
{
	note("slot");
	assert_int_equal(flags, MS_SYNC);
	return failing() ? -1 : __real_msync(address, size, flags);
}

int __wrap_posix_fallocate64(int fd, off_t at, off_t size)
{
	char text[64];
	snprintf(text, sizeof text, "room %lld+%lld", (long long)at, (long long)size);
	note(text);
	return failing() ? ENOSPC : __real_posix_fallocate64(fd, at, size);
}

static int setup(void **state)
{
	asked[0] = '\0';
	fails = -1;
	return folder_setup(state);
}

/* --- verbs --- */

static struct sl_state_file open_state_file(const char *folder, sl_round t, sl_attempt a, uint32_t slots)
{
	struct sl_state_file state_file;
	struct sl_error error = {0};
	if (sl_state_file_open(&state_file, folder, t, a, slots, SLOT, &error) != SL_OK)
		fail_msg("%s", error.text);
	return state_file;
}

static void write_slot(struct sl_state_file *state_file, uint32_t slot, int byte)
{
	struct sl_error error = {0};
	if (sl_state_file_reserve(state_file, slot, &error) != SL_OK)
		fail_msg("%s", error.text);
	memset(state_file->base + slot * SLOT, byte, SLOT);
}

static void expect_slot(const struct sl_state_file *state_file, uint32_t slot, int byte)
{
	for (size_t i = 0; i < SLOT; i++)
		assert_int_equal(state_file->base[slot * SLOT + i], byte);
}

static bool there(const char *folder, const char *name)
{
	return access(folder_path(folder, name), F_OK) == 0;
}

/* --- tests --- */

TEST_WITH(what_was_written_is_found, setup, folder_teardown)
{
	struct stat status;
	struct sl_state_file state_file = open_state_file(*state, 7, 2, 3);
	expect_slot(&state_file, 0, 0);
	write_slot(&state_file, 1, 0xa5);
	sl_state_file_close(&state_file);
	assert_int_equal(stat(folder_path(*state, FILE_7_2), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(status.st_size, 3 * SLOT);
	state_file = open_state_file(*state, 7, 2, 3);
	expect_slot(&state_file, 0, 0);
	expect_slot(&state_file, 1, 0xa5);
	expect_slot(&state_file, 2, 0);
	sl_state_file_remove(&state_file);
	assert_int_equal(folder_count(*state), 0);
	sl_state_file_remove(&state_file);
	sl_state_file_close(&state_file);
}

/* The slots of learners that have not sent anything are holes. */
TEST_WITH(it_takes_as_much_room_as_was_written, setup, folder_teardown)
{
	struct stat status;
	struct sl_state_file state_file = open_state_file(*state, 7, 2, 1000);
	write_slot(&state_file, 500, 1);
	sl_state_file_close(&state_file);
	assert_int_equal(stat(folder_path(*state, FILE_7_2), &status), 0);
	assert_in_range(status.st_blocks * 512, SLOT, 3 * SLOT);
}

/* Of another view, or cut: nothing of it is believed. */
TEST_WITH(another_size_is_begun_again, setup, folder_teardown)
{
	struct sl_state_file state_file = open_state_file(*state, 7, 2, 3);
	write_slot(&state_file, 0, 0xa5);
	sl_state_file_close(&state_file);
	state_file = open_state_file(*state, 7, 2, 4);
	expect_slot(&state_file, 0, 0);
	write_slot(&state_file, 0, 0xa5);
	sl_state_file_close(&state_file);
	assert_int_equal(truncate(folder_path(*state, FILE_7_2), 4 * SLOT - 1), 0);
	state_file = open_state_file(*state, 7, 2, 4);
	expect_slot(&state_file, 0, 0);
	sl_state_file_close(&state_file);
}

TEST_WITH(room_is_made_once_and_a_slot_is_synchronised_with_its_name, setup, folder_teardown)
{
	struct sl_state_file state_file = open_state_file(*state, 7, 2, 3);
	assert_string_equal(asked, "");
	write_slot(&state_file, 2, 1);
	write_slot(&state_file, 2, 2);
	write_slot(&state_file, 0, 3);
	assert_string_equal(asked, "room 16384+8192;room 0+8192;");
	asked[0] = '\0';
	assert_int_equal(sl_state_file_sync(&state_file, 2, NULL), SL_OK);
	assert_string_equal(asked, "slot;folder;");
	sl_state_file_close(&state_file);
}

/* The same room under another name, with what it held: nothing is written. */
TEST_WITH(a_file_is_used_again, setup, folder_teardown)
{
	struct stat before, after;
	struct sl_state_file state_file = open_state_file(*state, 7, 2, 3);
	write_slot(&state_file, 0, 0xa5);
	write_slot(&state_file, 2, 0xa5);
	assert_int_equal(stat(folder_path(*state, FILE_7_2), &before), 0);
	asked[0] = '\0';
	assert_int_equal(sl_state_file_reuse(&state_file, 9, 1, NULL), SL_OK);
	expect_slot(&state_file, 0, 0xa5);
	write_slot(&state_file, 2, 1);
	assert_string_equal(asked, "");
	assert_int_equal(folder_count(*state), 1);
	assert_int_equal(stat(folder_path(*state, "attempt-000009-000001.states"), &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_int_equal(sl_state_file_sync(&state_file, 2, NULL), SL_OK);
	assert_string_equal(asked, "slot;folder;"); /* its new name, too */
	sl_state_file_close(&state_file);
	state_file = open_state_file(*state, 9, 1, 3);
	expect_slot(&state_file, 2, 1);
	sl_state_file_remove(&state_file);
}

TEST_WITH(a_file_that_is_gone_is_not_used_again, setup, folder_teardown)
{
	struct sl_error error;
	struct sl_state_file state_file = open_state_file(*state, 7, 2, 3);
	assert_int_equal(unlink(folder_path(*state, FILE_7_2)), 0);
	assert_int_equal(sl_state_file_reuse(&state_file, 9, 1, &error), SL_ERR_IO);
	assert_string_equal(error.text,
			    folder_path(*state, FILE_7_2 ": No such file or directory; check the disk, then "
							 "start the learner again"));
	sl_state_file_close(&state_file);
}

TEST_WITH(a_full_disk_is_an_error, setup, folder_teardown)
{
	struct sl_state_file state_file = open_state_file(*state, 7, 2, 3);
	struct sl_error error;
	fails = 0;
	assert_int_equal(sl_state_file_reserve(&state_file, 1, &error), SL_ERR_IO);
	assert_string_equal(error.text, folder_path(*state, FILE_7_2
						    ": No space left on device; make room, then start the "
						    "learner again"));
	for (int call = 0; call < 2; call++) {
		fails = call;
		assert_int_equal(sl_state_file_sync(&state_file, 1, &error), SL_ERR_IO);
		assert_string_equal(error.text,
				    folder_path(*state, FILE_7_2 ": Input/output error; check the disk, then "
								 "start the learner again"));
	}
	sl_state_file_close(&state_file);
}

TEST_WITH(no_folder, setup, folder_teardown)
{
	struct sl_state_file state_file;
	struct sl_error error;
	char folder[256];
	snprintf(folder, sizeof folder, "%s", folder_path(*state, "no"));
	assert_int_equal(sl_state_file_open(&state_file, folder, 7, 2, 3, SLOT, &error), SL_ERR_IO);
	assert_string_equal(error.text,
			    folder_path(*state,
					"no/" FILE_7_2 ": No such file or directory; check the disk, then "
					"start the learner again"));
	assert_int_equal(state_file.t, 0);
}

static bool of_7_or_9(const void *context, sl_round t, sl_attempt a)
{
	assert_ptr_equal(context, &fails);
	return t == 7 || (t == 9 && a == 1);
}

TEST_WITH(leftovers_are_swept, setup, folder_teardown)
{
	static const char *const names[] = {FILE_7_2,
					    "attempt-000009-000001.states",
					    "attempt-000009-000002.states",
					    "attempt-000001-000001.states",
					    "attempt-1-1.states",
					    "attempt-000001-000001.states.x"};
	for (int i = 0; i < 6; i++)
		folder_put(*state, names[i], "x", 1);
	sl_state_file_sweep(*state, of_7_or_9, &fails);
	for (int i = 0; i < 6; i++)
		assert_int_equal(there(*state, names[i]), i < 2 || i > 3);
}

TEST_WITH(the_largest_numbers, setup, folder_teardown)
{
	struct sl_state_file state_file = open_state_file(*state, SL_ROUNDS_MAX, SL_ATTEMPTS_MAX, 2);
	sl_state_file_close(&state_file);
	assert_true(there(*state, "attempt-1000000-16777216.states"));
	sl_state_file_sweep(*state, of_7_or_9, &fails);
	assert_int_equal(folder_count(*state), 0);
}
