/* A key that was shown once is known after the next start, and none that the roster does not pin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "daemon/net/identity.h"
#include "daemon/net/keys.h"

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
		sl_pin(shown[i], members[i].pin);
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

static void kept_over_a_start(void **state)
{
	(void)state;
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

static void only_what_is_pinned(void **state)
{
	(void)state;
	assert_false(sl_keys_learn(&keys, 1, shown[2]));
	assert_null(sl_keys_of(&keys, 1));
	for (uint32_t i = 0; i < LEARNERS; i++)
		sl_keys_learn(&keys, i, shown[i]);
	members[1].pin[0] ^= 1; /* another one in its place */
	open_again();
	assert_true(knows(0) && knows(2));
	assert_null(sl_keys_of(&keys, 1));
}

static void damage_is_not_believed(void **state)
{
	(void)state;
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

static void without_a_file(void **state)
{
	(void)state;
	struct sl_error error;
	sl_keys_close(&keys);
	assert_int_equal(sl_keys_open(&keys, &roster, "/dev/null", &error), SL_OK);
	assert_true(sl_keys_learn(&keys, 1, shown[1]));
	assert_true(knows(1));
}

int main(void)
{
#define KEYS(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		KEYS(kept_over_a_start),
		KEYS(only_what_is_pinned),
		KEYS(damage_is_not_believed),
		KEYS(without_a_file),
	};
	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
