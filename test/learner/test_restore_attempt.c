/* An attempt that the end of the process has cut short, at the next start. */
#include "test/learner/learner_fixture.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "common/protocol/view_codec.h"

#define SLOT 4096u
static const char *const state_file_name = "attempt.states";

/* Attempt 3 of round 2, of learners 1, 2 and 3, without edges. */
static size_t write_view(uint8_t *bytes, size_t size)
{
	struct sl_writer w = {.bytes = bytes, .size = size};
	struct sl_parameters parameters = {.n = ELEMENTS};
	static const uint8_t previous[SL_HASH_BYTES] = {1};
	sl_bytes_put_u64(&w, 2);
	sl_bytes_put_u64(&w, 3);
	sl_bytes_put_u64(&w, MODULUS);
#define X(name) sl_bytes_put_u64(&w, parameters.name);
	SL_VIEW_NUMBERS(X)
#undef X
	sl_bytes_put(&w, previous, sizeof previous);
	sl_bytes_put_u64(&w, 3);
	for (uint64_t id = 1; id <= 3; id++) {
		sl_bytes_put_u64(&w, id);
		sl_bytes_put_u64(&w, 1);
	}
	return w.used;
}

static void record(struct sl_store *store, enum sl_persist_kind kind, const struct sl_persist *more)
{
	struct sl_persist persist = *more;
	struct sl_error error;
	persist.what = (struct sl_durable){.kind = kind, .t = 2, .a = 3};
	assert_ok(sl_store_record(store, &persist, &error), error);
}

/* After round 1, in this state; the deposit of this learner is all fives. */
static void leave_open(const char *folder, enum sl_open_state as)
{
	struct learner l;
	struct sl_error error;
	struct sl_state_file state_file;
	struct sl_scope scope = {0};
	struct sl_round_head round;
	struct sl_held_share shares[2] = {{.size = SL_KEY_SHARE_BYTES, .bytes = {9}}, {.size = 0}};
	struct sl_secrets secrets = {.key = {7}, .count = 2, .shares = shares};
	uint8_t bytes[1024], key[SL_SEAL_KEY_BYTES];
	uint32_t ids[6];
	struct sl_ready readys[3] = {
		{.id = 1, .t = 2, .a = 3}, {.id = 2, .t = 2, .a = 3}, {.id = 3, .t = 2, .a = 3}};
	learner_commit(folder, 1);
	learner_expect_started(&l, folder);
	assert_int_equal(sl_state_file_open(&state_file, folder, 3, SLOT, &error), SL_OK);
	assert_int_equal(sl_state_file_reserve(&state_file, 0, &error), SL_OK);
	memset(state_file.base, 5, 4 * (ELEMENTS + 1));
	sl_canonical_deposit(&scope, state_file.base, 4 * (ELEMENTS + 1), NULL, readys[0].deposit);
	assert_int_equal(sl_store_key(l.daemon.store, key, &error), SL_OK);
	sl_state_file_put_key(&state_file, key);
	sl_state_file_close(&state_file);
	struct sl_persist persist = {.view = bytes,
				     .view_bytes = write_view(bytes, sizeof bytes),
				     .readys = readys,
				     .ready_count = 1,
				     .secrets = &secrets,
				     .ready = true};
	assert_int_equal(sl_view_round(&scope, bytes, persist.view_bytes, 3, ids, &round), SL_OK);
	for (int i = 0; i < 3; i++)
		sl_canonical_round(&scope, &round, readys[i].view);
	record(l.daemon.store, SL_PERSIST_PREPARED, &persist);
	persist.ready_count = 3;
	if (as == SL_OPEN_RELEASED)
		record(l.daemon.store, SL_PERSIST_RELEASED, &persist);
	if (as == SL_OPEN_ABORTED)
		record(l.daemon.store, SL_PERSIST_ABORTED, &persist);
	learner_finish(&l);
}

/* Starts; the core is told of an attempt that is open in this state. */
static void expect_open(const char *folder, enum sl_open_state as, const char *said)
{
	struct learner l;
	learner_expect_started(&l, folder);
	const struct sl_core_config *config = &l.daemon.core_config;
	assert_int_equal(config->aborted, 0);
	assert_non_null(config->open);
	assert_int_equal(config->open->state, as);
	assert_int_equal(config->open->ready_count, as == SL_OPEN_RELEASED ? 3 : 1);
	assert_int_equal(config->open->secrets->key[0], 7);
	assert_int_equal(config->open->secrets->shares[0].bytes[0], 9);
	assert_non_null(l.daemon.workspace.state_file.base);
	assert_int_equal(l.daemon.workspace.state_file.slot_bytes, SLOT);
	assert_int_equal(access(folder_path(folder, state_file_name), F_OK), 0);
	if (said != NULL)
		learner_expect_said(&l, said, true);
	learner_finish(&l);
}

TEST_WITH(one_that_was_prepared_goes_on, learner_setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_PREPARED);
	expect_open(*state, SL_OPEN_PREPARED, NULL);
	expect_open(*state, SL_OPEN_PREPARED, NULL);
}

TEST_WITH(one_that_was_released_goes_on, learner_setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_RELEASED);
	expect_open(*state, SL_OPEN_RELEASED, NULL);
	remove(folder_path(*state, state_file_name));
	expect_open(*state, SL_OPEN_RELEASED, NULL); /* its keepers have what is gone */
}

TEST_WITH(one_that_was_aborted_stays_bound, learner_setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_ABORTED);
	expect_open(*state, SL_OPEN_ABORTED, NULL);
}

/* Its Ready may have left: it stays with the attempt, and does not release. */
TEST_WITH(a_prepared_deposit_that_is_lost_is_aborted, learner_setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_PREPARED);
	learner_damage(*state, state_file_name); /* beyond the deposit: no matter */
	expect_open(*state, SL_OPEN_PREPARED, NULL);
	remove(folder_path(*state, state_file_name));
	expect_open(*state, SL_OPEN_ABORTED, "its own deposit is gone or damaged");
	expect_open(*state, SL_OPEN_ABORTED, NULL);
}

#define KEY_FILE "attempt.key"

/* The key of the secrets is in two files: a loss of power may take one, a damaged disk the other. */
TEST_WITH(one_of_two_keys_is_enough, learner_setup, folder_teardown)
{
	static const uint8_t another[SL_SEAL_KEY_BYTES] = {1};
	struct learner l;
	struct sl_error error;
	leave_open(*state, SL_OPEN_RELEASED);
	remove(folder_path(*state, KEY_FILE));
	expect_open(*state, SL_OPEN_RELEASED, NULL);
	remove(folder_path(*state, state_file_name));
	expect_open(*state, SL_OPEN_RELEASED, NULL);
	folder_put(*state, KEY_FILE, another,
		   sizeof another); /* of an earlier attempt; the other one is gone */
	learner_configure(&l, *state);
	assert_int_equal(learner_start(&l, &error), SL_ERR_FORMAT);
	assert_string_equal(error.text,
			    folder_path(*state,
					"learner.db: file is damaged: attempts: the key of the secrets is "
					"gone (attempt.key); move the state folder away and start again: "
					"the others have the result, and show this learner what it has "
					"signed"));
	learner_finish(&l);
}

/* The ids mean other learners now, and the learner is Ready in that attempt. */
TEST_WITH(another_roster_or_model_waits_for_the_attempt, learner_setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	for (int what = 0; what < 3; what++) {
		leave_open(*state, what == 2 ? SL_OPEN_PREPARED : SL_OPEN_RELEASED);
		learner_configure(&l, *state);
		l.daemon.core_config.scope.roster[0] = what == 0;
		l.daemon.core_config.parameters.model = what > 0;
		assert_int_equal(learner_start(&l, &error), SL_ERR_REFUSED);
		assert_string_equal(
			error.text,
			"round 2 attempt 3 was begun with another model (setting hidden_units), or under a "
			"roster of which "
			"state/roster.yaml is no copy any more, and must end first: put back what was there "
			"until round 2 has "
			"committed");
		learner_finish(&l);
		expect_open(*state, what == 2 ? SL_OPEN_PREPARED : SL_OPEN_RELEASED, NULL);
		assert_int_equal(folder_teardown(state), 0);
		assert_int_equal(learner_setup(state), 0);
	}
}

/* What is over comes back with the Aborts that end it, and whether the model may be used again. */
TEST_WITH(what_is_over_is_remembered, learner_setup, folder_teardown)
{
	struct learner l;
	struct sl_abort aborts[2] = {{.t = 2, .a = 3, .id = 1}, {.t = 2, .a = 3, .id = 2}};
	for (int reuse = 1; reuse >= 0; reuse--) {
		struct sl_persist over = {.aborts = aborts, .abort_count = 2, .reuse = reuse};
		leave_open(*state, SL_OPEN_PREPARED);
		learner_expect_started(&l, *state);
		record(l.daemon.store, SL_PERSIST_OVER, &over);
		learner_finish(&l);
		learner_expect_started(&l, *state);
		const struct sl_core_config *config = &l.daemon.core_config;
		assert_null(config->open);
		assert_int_equal(config->aborted, 3);
		assert_int_equal(config->over_count, 1);
		assert_true(config->over[0].a == 3 && config->over[0].count == 2);
		assert_true(config->over[0].ready.id == 1 && config->over[0].aborts[1].id == 2);
		assert_int_equal(config->reuse, reuse);
		assert_int_equal(l.daemon.training.used_up, reuse ? 0 : 2);
		assert_int_not_equal(access(folder_path(*state, state_file_name), F_OK), 0);
		learner_finish(&l);
		assert_int_equal(folder_teardown(state), 0);
		assert_int_equal(learner_setup(state), 0);
	}
}

/* The deposits of a round that is committed are not needed any more. */
TEST_WITH(deposits_of_other_attempts_go, learner_setup, folder_teardown)
{
	learner_commit(*state, 1);
	folder_put(*state, state_file_name, "left", 4);
	learner_expect_start(*state, 1, 0, true, NULL);
	assert_int_not_equal(access(folder_path(*state, state_file_name), F_OK), 0);
}

/* A model that cannot be read goes back behind what was promised: that waits until the model is there again.
 */
TEST_WITH(promises_wait_for_their_round, learner_setup, folder_teardown)
{
	leave_open(*state, SL_OPEN_RELEASED);
	learner_damage(*state, "checkpoints/round-000001.safetensors");
	struct learner l;
	learner_expect_started(&l, *state);
	assert_int_equal(l.daemon.committed.through, 1);
	assert_null(l.daemon.core_config.open);
	learner_finish(&l);
	learner_commit(*state, 1);
	expect_open(*state, SL_OPEN_RELEASED, NULL);
}
