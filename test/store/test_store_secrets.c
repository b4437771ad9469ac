/* Secrets of an attempt: no file holds them as they are, and none the key to them after its end. */
#include "daemon/store/state_file.h"
#include "test/lib/test.h"
#include "test/store/open_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_FILE "attempt.key"

/* The bytes that `file` of the folder holds of `what`. */
static bool holds(const char *folder, const char *file, const uint8_t *what, size_t bytes)
{
	size_t size = 0;
	if (access(folder_path(folder, file), F_OK) != 0)
		return false;
	uint8_t *all = folder_get(folder, file, &size);
	bool found = all != NULL && memmem(all, size, what, bytes) != NULL;
	free(all);
	return found;
}

static bool on_disk(const char *folder, const uint8_t *what, size_t bytes)
{
	static const char *const names[] = {DATABASE, DATABASE "-wal", KEY_FILE, SL_STATE_FILE};
	bool found = false;
	for (int i = 0; i < 4; i++)
		found = found || holds(folder, names[i], what, bytes);
	return found;
}

static void expect_no_secret(const char *folder, const struct sl_secrets *secrets)
{
	assert_false(on_disk(folder, secrets->key, sizeof secrets->key));
	assert_false(on_disk(folder, secrets->challenge, sizeof secrets->challenge));
	for (uint32_t r = 0; r < secrets->count; r++)
		assert_true(secrets->shares[r].size == 0 ||
			    !on_disk(folder, secrets->shares[r].bytes, SL_KEY_SHARE_BYTES));
}

/* Write a state file as the learner does. */
static void put_state_file(const char *folder, const uint8_t *key)
{
	struct sl_state_file file;
	assert_int_equal(sl_state_file_open(&file, folder, 2, 4096, NULL), SL_OK);
	assert_int_equal(sl_state_file_reserve(&file, 0, NULL), SL_OK);
	sl_state_file_put_key(&file, key);
	sl_state_file_close(&file);
}

/* No file holds them as they are, neither before nor after the end of the attempt; after it, none the key. */
static void expect_erased(const char *folder, bool commit, uint32_t count)
{
	struct sl_persist made = made_persist(SL_PERSIST_PREPARED, 3, 1, count);
	uint8_t key[SL_SEAL_KEY_BYTES];
	expect_recorded(store, SL_PERSIST_PREPARED, 3, 1, count);
	expect_recorded(store, SL_PERSIST_RELEASED, 3, 1, count);
	expect_no_secret(folder, made.secrets);
	assert_int_equal(sl_store_key(store, key, NULL), SL_OK);
	put_state_file(folder, key);
	assert_true(holds(folder, KEY_FILE, key, sizeof key));
	assert_true(holds(folder, SL_STATE_FILE, key, sizeof key));
	if (commit)
		expect_committed(store, 3);
	else
		expect_recorded(store, SL_PERSIST_OVER, 3, 1, 3);
	for (int closed = 0; closed < 2; closed++) {
		expect_no_secret(folder, made.secrets);
		assert_false(on_disk(folder, key, sizeof key));
		reopen(folder);
	}
}

TEST_WITH(secrets_are_erased_when_an_attempt_is_over, setup, teardown)
{
	expect_erased(*state, false, 3);
}

/* With a row of several pages. */
TEST_WITH(secrets_are_erased_when_a_round_is_committed, setup, teardown)
{
	expect_erased(*state, true, 500);
}

/* Write the key back into both files, as a loss of power may, under second names too: what a file holds when
 * its name is removed stays on the disk. */
static void bring_back(const char *folder, const uint8_t *key)
{
	put_state_file(folder, key);
	folder_put(folder, KEY_FILE, key, SL_SEAL_KEY_BYTES);
	remove(folder_path(folder, "key"));
	remove(folder_path(folder, "states"));
	assert_int_equal(link(folder_path(folder, KEY_FILE), folder_path(folder, "key")), 0);
	assert_int_equal(link(folder_path(folder, SL_STATE_FILE), folder_path(folder, "states")), 0);
}

static void expect_kept(const char *folder, const uint8_t *key, bool kept)
{
	assert_int_equal(holds(folder, "key", key, SL_SEAL_KEY_BYTES), kept);
	assert_int_equal(holds(folder, "states", key, SL_SEAL_KEY_BYTES), kept);
	assert_int_equal(access(folder_path(folder, SL_STATE_FILE), F_OK), kept ? 0 : -1);
}

/* Both copies of the key come back: a start and an end without open attempt overwrite them. */
TEST_WITH(a_key_that_comes_back_is_erased, setup, teardown)
{
	uint8_t key[SL_SEAL_KEY_BYTES];
	expect_recorded(store, SL_PERSIST_PREPARED, 3, 1, 3);
	assert_int_equal(sl_store_key(store, key, NULL), SL_OK);
	bring_back(*state, key);
	reopen(*state);
	expect_kept(*state, key, true);
	expect_recorded(store, SL_PERSIST_OVER, 3, 1, 3);
	sl_store_close(store);
	expect_kept(*state, key, false);
	bring_back(*state, key);
	store = open_made(*state);
	expect_kept(*state, key, false);
	bring_back(*state, key);
	sl_store_close(store);
	expect_kept(*state, key, false);
	store = open_made(*state);
}
