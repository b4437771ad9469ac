/* A key that was shown once is known after the next start, and none that the roster does not pin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "daemon/net/identity.h"
#include "daemon/net/keys.h"
#include "test/lib/test.h"

#define LEARNERS 3

static struct sl_member members[LEARNERS];
static const struct sl_roster roster = {.members = members, .size = LEARNERS};
static uint8_t shown[LEARNERS][SL_KEY_BYTES];
static char folder[32], path[64];
static struct sl_keys keys;

static void open_keys(void)
{
	struct sl_error error;
	assert_int_equal(sl_keys_open(&keys, &roster, folder, &error), SL_OK);
}

static void open_again(void)
{
	sl_keys_close(&keys);
	open_keys();
}

static int setup(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LEARNERS; i++) {
		randombytes_buf(shown[i], SL_KEY_BYTES);
		sl_identity_pin(shown[i], members[i].pin);
	}
	strcpy(folder, "/tmp/starling-keys-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/keys", folder);
	open_keys();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sl_keys_close(&keys);
	unlink(path);
	return rmdir(folder);
}

static bool knows(uint32_t i)
{
	const uint8_t *key = sl_keys_of(&keys, i);
	return key != NULL && memcmp(key, shown[i], SL_KEY_BYTES) == 0;
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

TEST_WITH(kept_over_a_start, setup, teardown)
{
	assert_null(sl_keys_of(&keys, 2));
	assert_true(sl_keys_learn(&keys, 2, shown[2]));
	assert_true(sl_keys_learn(&keys, 2, shown[2]));
	assert_false(sl_keys_learn(&keys, 2, shown[1]));
	open_again();
	assert_true(knows(2));
	assert_false(knows(1));
	assert_true(sl_keys_learn(&keys, 0, shown[0]));
	open_again();
	assert_true(knows(0) && knows(2));
}

TEST_WITH(only_what_is_pinned, setup, teardown)
{
	assert_false(sl_keys_learn(&keys, 1, shown[2]));
	assert_null(sl_keys_of(&keys, 1));
	for (uint32_t i = 0; i < LEARNERS; i++)
		sl_keys_learn(&keys, i, shown[i]);
	members[1].pin[0] ^= 1; /* another one in its place */
	open_again();
	assert_true(knows(0) && knows(2));
	assert_null(sl_keys_of(&keys, 1));
}

TEST_WITH(damage_is_not_believed, setup, teardown)
{
	for (uint32_t i = 0; i < LEARNERS; i++)
		sl_keys_learn(&keys, i, shown[i]);
	assert_int_equal(truncate(path, 2 * SL_KEY_BYTES - 1), 0);
	open_again();
	assert_true(knows(0));
	assert_false(knows(1) || knows(2));
	assert_true(sl_keys_learn(&keys, 1, shown[1]));
	open_again();
	assert_true(knows(0) && knows(1));
}

TEST_WITH(without_a_file, setup, teardown)
{
	struct sl_error error;
	sl_keys_close(&keys);
	assert_int_equal(sl_keys_open(&keys, &roster, "/dev/null", &error), SL_OK);
	assert_true(sl_keys_learn(&keys, 1, shown[1]));
	assert_true(knows(1));
}

/* The first member goes and another one comes at the end: the keys are of other lines. */
TEST_WITH(kept_over_a_change_of_the_roster, setup, teardown)
{
	for (uint32_t i = 0; i < LEARNERS; i++)
		assert_true(sl_keys_learn(&keys, i, shown[i]));
	struct sl_member first = members[0];
	memmove(members, members + 1, (LEARNERS - 1) * sizeof *members);
	memmove(shown, shown + 1, (LEARNERS - 1) * sizeof *shown);
	memset(members[LEARNERS - 1].pin, 1, SL_HASH_BYTES);
	for (int starts = 0; starts < 2; starts++) {
		open_again();
		assert_true(knows(0) && knows(1));
		assert_null(sl_keys_of(&keys, LEARNERS - 1));
	}
	members[LEARNERS - 1] = first;
}
