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

#define FILE_NAME "attempt.states"
#define SLOT 8192u
#define FRONT SL_STATE_FILE_KEY_ROOM

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

static struct sl_state_file open_state_file(const char *folder, uint32_t slots)
{
	struct sl_state_file state_file;
	struct sl_error error = {0};
	assert_ok(sl_state_file_open(&state_file, folder, slots, SLOT, &error), error);
	return state_file;
}

static void write_slot(struct sl_state_file *state_file, uint32_t slot, int byte)
{
	struct sl_error error = {0};
	assert_ok(sl_state_file_reserve(state_file, slot, &error), error);
	memset(state_file->base + slot * SLOT, byte, SLOT);
}

static void expect_slot(const struct sl_state_file *state_file, uint32_t slot, int byte)
{
	for (size_t i = 0; i < SLOT; i++)
		assert_int_equal(state_file->base[slot * SLOT + i], byte);
}

/* --- tests --- */

TEST_WITH(what_was_written_is_found, setup, folder_teardown)
{
	struct stat status;
	struct sl_state_file state_file = open_state_file(*state, 3);
	expect_slot(&state_file, 0, 0);
	write_slot(&state_file, 1, 0xa5);
	sl_state_file_close(&state_file);
	assert_int_equal(stat(folder_path(*state, FILE_NAME), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(status.st_size, FRONT + 3 * SLOT);
	state_file = open_state_file(*state, 3);
	expect_slot(&state_file, 0, 0);
	expect_slot(&state_file, 1, 0xa5);
	expect_slot(&state_file, 2, 0);
	sl_state_file_close(&state_file);
	sl_state_file_close(&state_file);
}

/* The slots of learners that have not sent anything are holes. */
TEST_WITH(it_takes_as_much_room_as_was_written, setup, folder_teardown)
{
	struct stat status;
	struct sl_state_file state_file = open_state_file(*state, 1000);
	write_slot(&state_file, 500, 1);
	sl_state_file_close(&state_file);
	assert_int_equal(stat(folder_path(*state, FILE_NAME), &status), 0);
	assert_in_range(status.st_blocks * 512, SLOT, 3 * SLOT);
}

/* Of another view, or cut: nothing of it is believed. */
TEST_WITH(another_size_is_begun_again, setup, folder_teardown)
{
	struct sl_state_file state_file = open_state_file(*state, 3);
	write_slot(&state_file, 0, 0xa5);
	sl_state_file_close(&state_file);
	state_file = open_state_file(*state, 4);
	expect_slot(&state_file, 0, 0);
	write_slot(&state_file, 0, 0xa5);
	sl_state_file_close(&state_file);
	assert_int_equal(truncate(folder_path(*state, FILE_NAME), FRONT + 4 * SLOT - 1), 0);
	state_file = open_state_file(*state, 4);
	expect_slot(&state_file, 0, 0);
	sl_state_file_close(&state_file);
}

TEST_WITH(room_is_made_once, setup, folder_teardown)
{
	struct sl_state_file state_file = open_state_file(*state, 3);
	assert_string_equal(asked, "");
	write_slot(&state_file, 2, 1);
	write_slot(&state_file, 2, 2);
	write_slot(&state_file, 0, 3);
	assert_string_equal(asked, "room 20480+8192;room 0+12288;");
	sl_state_file_close(&state_file);
}

/* The name once: it stays the same. */
TEST_WITH(a_slot_is_synchronised_with_its_name, setup, folder_teardown)
{
	struct sl_state_file state_file = open_state_file(*state, 3);
	write_slot(&state_file, 2, 1);
	asked[0] = '\0';
	assert_int_equal(sl_state_file_sync(&state_file, NULL), SL_OK);
	assert_string_equal(asked, "slot;folder;");
	assert_int_equal(sl_state_file_sync(&state_file, NULL), SL_OK);
	assert_string_equal(asked, "slot;folder;slot;");
	sl_state_file_close(&state_file);
	state_file = open_state_file(*state, 3);
	assert_int_equal(sl_state_file_sync(&state_file, NULL), SL_OK);
	assert_string_equal(asked,
			    "slot;folder;slot;slot;folder;"); /* a crash may have been before the first */
	sl_state_file_close(&state_file);
}

/* In one place, whatever the shape: what is written there overwrites the key of an earlier attempt. */
TEST_WITH(a_key_is_kept, setup, folder_teardown)
{
	uint8_t key[SL_SEAL_KEY_BYTES];
	memset(key, 0xb7, sizeof key);
	struct sl_state_file state_file = open_state_file(*state, 3);
	write_slot(&state_file, 0, 0xa5);
	sl_state_file_put_key(&state_file, key);
	expect_slot(&state_file, 0, 0xa5);
	sl_state_file_close(&state_file);
	for (uint32_t slots = 3; slots > 1; slots--) {
		state_file = open_state_file(*state, slots);
		assert_memory_equal(sl_state_file_key(&state_file), key, sizeof key);
		expect_slot(&state_file, 0, slots == 3 ? 0xa5 : 0);
		sl_state_file_close(&state_file);
	}
}

TEST_WITH(a_full_disk_is_an_error, setup, folder_teardown)
{
	struct sl_state_file state_file = open_state_file(*state, 3);
	struct sl_error error;
	fails = 0;
	assert_int_equal(sl_state_file_reserve(&state_file, 1, &error), SL_ERR_IO);
	assert_string_equal(error.text,
			    folder_path(*state, FILE_NAME
					": No space left on device; make room (df -h and df -i show what "
					"is full), then start the learner again"));
	for (int call = 0; call < 2; call++) {
		fails = call;
		assert_int_equal(sl_state_file_sync(&state_file, &error), SL_ERR_IO);
		assert_string_equal(error.text, folder_path(*state, FILE_NAME
							    ": Input/output error; check the disk, then "
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
	assert_int_equal(sl_state_file_open(&state_file, folder, 3, SLOT, &error), SL_ERR_IO);
	assert_string_equal(error.text, folder_path(*state, "no/" FILE_NAME
							    ": No such file or directory; make the folder"));
	assert_int_equal(state_file.slots, 0);
}
