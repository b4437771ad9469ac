/* Jobs on the vectors of one learner: deposits are made, checked, opened and added up (ROUND.md §5.6
 * Deposits), and secrets are wiped after their last use (§14.2 What is kept and for how long). */
#include <stdlib.h>
#include <string.h>

#include <math.h>
#include <sodium.h>

#include "test/lib/encoding.h"
#include "test/explorer/packed.h"
#include "common/base/bytes.h"
#include "common/compute/job_model.h"
#include "common/compute/payload.h"
#include "common/field/key_share.h"
#include "common/field/vector_hash.h"
#include "common/protocol/key_tree.h"
#include "test/compute/attempt.h"
#include "test/lib/test.h"

/* --- deposits --- */

static void deposit_hash(struct attempt *a, uint32_t i, uint8_t hash[static SL_HASH_BYTES])
{
	uint8_t *packed = malloc(sl_slot_state_bytes(&a->view));
	attempt_deposit(a, i, packed);
	sl_canonical_deposit(&a->workspace.scope, packed, sl_slot_state_bytes(&a->view), NULL, hash);
	free(packed);
}

/* Return true if the slot of i has the hash of its deposit. */
static bool passes(struct attempt *a, uint32_t i)
{
	uint8_t hash[SL_HASH_BYTES];
	deposit_hash(a, i, hash);
	return attempt_run(a, (struct sl_job){.kind = SL_JOB_CHECK, .chunk = i, .expected = hash}).code ==
	       SL_OK;
}

TEST_WITH(own_deposit, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	uint8_t hash[SL_HASH_BYTES], chunk[(3 * 36 + 7) / 8];
	attempt_set_state(a, a->state[0]);
	attempt_run_well(a, SL_JOB_DEPOSIT, 1);
	attempt_run_well(a, SL_JOB_DEPOSIT, 0);
	struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_COMMITMENT});
	deposit_hash(a, 0, hash);
	assert_memory_equal(result.hash, hash, SL_HASH_BYTES);
	assert_true(passes(a, 0));
	for (size_t l = 0; l < ELEMENTS; l++)
		assert_int_equal(attempt_state(a, l), a->state[0][l]); /* it is mixed from there */
	struct sl_payload payload = {.source = SL_SOURCE_SLOT, .at = (size_t)SL_CHUNK_ELEMENTS * 36 / 8};
	struct sl_chunk sent = {.index = 1, .size = sizeof chunk};
	sl_payload_write(&a->workspace, &a->view, &payload, &sent, NULL, chunk);
	assert_memory_equal(chunk, sl_slot_chunk(&a->workspace.state_file, &a->view, 0, 1), sizeof chunk);
}

static uint8_t *slots; /* the first byte */
static bool used[(LEARNERS * (size_t)ELEMENTS * 36) / 8 + 3 * SL_SLOT_ALIGN];

static void note_used(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size; at++)
		used[bytes + at - slots] = true;
}

/* Return true if the whole slot of `position` was said to be used since the last call. */
static bool whole_used(struct attempt *a, uint32_t position)
{
	size_t first = (size_t)(sl_slot_state(&a->workspace.state_file, position) - slots);
	bool whole = true;
	for (size_t at = 0; at < sl_slot_state_bytes(&a->view); at++)
		whole &= used[first + at];
	memset(used, 0, sizeof used);
	return whole;
}

/* Each job says which bytes of slots it has written or read: the shell need not keep them in memory. */
TEST_WITH(used_slots, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	uint8_t seed[SL_HASH_BYTES] = {7}, *out = malloc(sl_slot_state_bytes(&a->view));
	slots = a->workspace.state_file.base;
	a->workspace.state_file.used = note_used;
	assert_false(whole_used(a, 0));
	for (uint32_t m = 0; m < 2; m++)
		attempt_run_well(a, SL_JOB_DEPOSIT, m);
	assert_true(whole_used(a, 0));
	attempt_run_well(a, SL_JOB_COMMITMENT, 0);
	assert_true(whole_used(a, 0));
	attempt_fetch(a, 1, 1, 0);
	assert_false(whole_used(a, 1));
	attempt_fetch_all(a);
	assert_true(whole_used(a, 1));
	assert_true(passes(a, 1) && whole_used(a, 1));
	attempt_run_well(a, SL_JOB_SUM, 0);
	assert_true(whole_used(a, 2));
	struct sl_job checksum = {.kind = SL_JOB_CHECKSUM, .expected = seed};
	assert_true(attempt_run(a, checksum).code == SL_OK && whole_used(a, 1));
	for (a->view.steps = 1, a->view.engine = SL_ENGINE_EXACT; a->view.steps <= 2; a->view.steps++) {
		for (uint32_t m = 0; m < 2; m++)
			attempt_run_well(a, SL_JOB_MIX, m);
		assert_true(whole_used(a, 1));
	}
	struct sl_payload payload = {.source = SL_SOURCE_SLOT, .row = 2};
	struct sl_chunk all = {.size = sl_slot_state_bytes(&a->view)};
	sl_payload_write(&a->workspace, &a->view, &payload, &all, NULL, out);
	assert_true(whole_used(a, 2));
	free(out);
}

/* Every bit of a slot counts, and an empty one does not pass. */
TEST_WITH(fetched_has_the_hash, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	assert_false(passes(a, 1));
	attempt_fetch(a, 1, 1, 1);
	assert_false(passes(a, 1));
	attempt_fetch(a, 1, 1, 0);
	assert_true(passes(a, 1));
	assert_false(passes(a, 2));
	uint8_t *slot = sl_slot_state(&a->workspace.state_file, 1);
	size_t bytes = sl_slot_state_bytes(&a->view);
	for (size_t at = 0; at < bytes; at += 1 + at / 8) {
		slot[at] ^= 4;
		assert_false(passes(a, 1));
		slot[at] ^= 4;
	}
	slot[bytes - 1] ^= 4;
	assert_false(passes(a, 1));
}

/* A deposit outside the field does not pass, even if it has the hash. */
TEST_WITH(deposited_is_of_the_field, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	size_t bytes = sl_slot_state_bytes(&a->view);
	uint8_t hash[SL_HASH_BYTES], *slot = sl_slot_state(&a->workspace.state_file, 1);
	struct sl_job job = {.kind = SL_JOB_CHECK, .chunk = 1, .expected = hash};
	attempt_fetch_all(a);
	for (uint32_t l = 0; l < ELEMENTS; l += ELEMENTS - 1) {
		packed_replace(slot, l, a->view.field.bits, PRIME);
		sl_canonical_deposit(&a->workspace.scope, slot, bytes, NULL, hash);
		assert_int_equal(attempt_run(a, job).code, SL_ERR_INVALID);
		attempt_fetch_all(a);
	}
	slot[bytes - 1] |= 0x10; /* the first bit that fills */
	sl_canonical_deposit(&a->workspace.scope, slot, bytes, NULL, hash);
	assert_int_equal(attempt_run(a, job).code, SL_ERR_INVALID);
}

/* --- keys --- */

/* Each neighbour's share is a leaf under the root, and theta = 2 of them give the key. */
TEST_WITH(own_secrets, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	const struct sl_secrets *own = &a->workspace.secrets;
	static const sl_id holders[] = {2, 3};
	uint8_t shares[2][SL_KEY_SHARE_BYTES], key[SL_KEY_BYTES], sent[SL_KEY_SHARE_BYTES + SL_HASH_BYTES];
	assert_int_equal(own->count, 2);
	for (uint32_t r = 0; r < 2; r++) {
		const uint8_t *share = own->shares[r].bytes;
		assert_int_equal(own->shares[r].size, sizeof sent);
		memcpy(shares[r], share, SL_KEY_SHARE_BYTES);
		assert_true(sl_key_tree_check(&a->workspace.scope, 1, 9, 1, holders[r], r, 2, share,
					      share + SL_KEY_SHARE_BYTES, SL_HASH_BYTES, own->root));
		sl_payload_write(&a->workspace, &a->view,
				 &(struct sl_payload){.source = SL_SOURCE_KEY_SHARES, .row = r},
				 &(struct sl_chunk){.size = sizeof sent}, NULL, sent);
		assert_memory_equal(sent, share, sizeof sent);
	}
	assert_int_equal(sl_key_share_combine(holders, (const uint8_t(*)[SL_KEY_SHARE_BYTES])shares, 2, key),
			 SL_OK);
	assert_memory_equal(key, own->key, sizeof key);
	assert_memory_not_equal(own->key, own->challenge, sizeof key);
	attempt_run_well(a, SL_JOB_ENCODE, 0);
	attempt_run_well(a, SL_JOB_SECRETS, 0);
	assert_memory_not_equal(key, own->key, sizeof key); /* fresh in every attempt */
}

/* --- checksums --- */

/* phi of the own masked state, of those kept, and of Z; and the first ones add up to the last. */
TEST_WITH(checksums, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	const struct sl_field *field = &a->view.field;
	static uint32_t keepers[] = {1, 2, 0};
	uint8_t seed[SL_HASH_BYTES] = {7};
	attempt_fetch_all(a);
	assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_SUM}).code, SL_OK);
	struct sl_job job = {.kind = SL_JOB_CHECKSUM, .expected = seed};
	struct sl_job_result result = attempt_run(a, job);
	uint32_t points = sl_view_points(&a->view);
	assert_int_equal(result.code, SL_OK);
	static uint8_t memory[1 << 16];
	struct sl_checksum checksum;
	struct sl_arena arena;
	uint64_t phi[LEARNERS + 1][SL_CHECKSUM_POINTS_MAX] = {0};
	sl_arena_init(&arena, memory, sizeof memory);
	assert_int_equal(sl_checksum_init(&checksum, field, points, ELEMENTS, seed, &arena), SL_OK);
	for (uint32_t i = 0; i < LEARNERS; i++)
		sl_checksum_add(&checksum, a->state[i], 0, ELEMENTS, phi[i]);
	for (uint32_t k = 0; k < points; k++) {
		for (uint32_t i = 0; i < LEARNERS; i++)
			phi[LEARNERS][k] = sl_field_add(field, phi[LEARNERS][k], phi[i][k]);
		for (uint32_t i = 0; i <= LEARNERS; i++)
			assert_int_equal(result.values[i * points + k], phi[i][k]);
	}
	uint64_t total = result.values[LEARNERS * points];
	a->view.deposits_forest = true; /* only that of the last one is kept */
	a->view.keeper = keepers;
	uint64_t kept = result.values[2 * points];
	result = attempt_run(a, job);
	assert_int_equal(result.values[points], kept);
	assert_int_equal(result.values[2 * points], total);
}

/* --- sums --- */

TEST_WITH(each_is_added_once, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	uint8_t hash[SL_HASH_BYTES], strands[SL_STRANDS_BYTES];
	size_t bytes = sl_slot_state_bytes(&a->view);
	uint8_t *z = calloc(1, bytes);
	packed_replace(z, ELEMENTS - 1, a->view.field.bits, LEARNERS);
	float *mean = calloc(ELEMENTS - 1, sizeof *mean);
	sl_canonical_strands(z, bytes, strands);
	sl_canonical_result(&a->workspace.scope, a->view.h, LEARNERS, strands, mean,
			    (ELEMENTS - 1) * sizeof *mean, hash);
	attempt_fetch_all(a);
	for (int twice = 0; twice < 2; twice++) {
		struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_SUM});
		assert_int_equal(result.code, SL_OK);
		assert_int_equal(result.total, LEARNERS);
		assert_memory_equal(a->workspace.s, z, bytes);
		assert_memory_equal(result.strands, strands, sizeof strands);
		assert_memory_equal(result.hash, hash, SL_HASH_BYTES);
		memset(a->workspace.committed, 0xff, (ELEMENTS - 1) * sizeof *mean);
		attempt_run_well(a, SL_JOB_ACCEPT, 0);
		assert_memory_equal(a->workspace.committed, mean, (ELEMENTS - 1) * sizeof *mean);
	}
	free(mean);
	free(z);
}

/* ENCODE compares with the committed model, from round 2 on. */
TEST_WITH(largest_update, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	float *trained = a->workspace.trained, *committed = a->workspace.committed;
	memcpy(committed, trained, ELEMENTS * sizeof *committed);
	assert_true(isnan(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).update));
	a->view.t = 2;
	a->view.previous[0] = 1;
	assert_true(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).update == 0);
	static const size_t places[] = {0, 9, ELEMENTS - 2}; /* the last one has no full group after it */
	for (size_t i = 0; i < 3; i++) {
		committed[places[i]] -= (float)(i + 1) * 0.25f;
		assert_true(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).update ==
			    (double)(i + 1) * 0.25);
	}
}

/* Encode a model of round t; `tiny`, `before`: the tensor has, and that before it, one value that is rounded
 * to 0. */
static struct sl_job_result encode_tiny(struct attempt *a, sl_round t, bool tiny, bool before)
{
	float *model = a->workspace.trained;
	a->view.t = t;
	model[0] = before ? 1.0F / 40 : 1;
	model[10] = tiny ? 1.0F / 40 : 0;
	return attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
}

/* The fourth encoding in a row of a tensor as zeros, whose place in the last three results has zeros, is an
 * error. Attempts at one round count once; a tensor of zeros and one that others keep do not count. */
TEST_WITH(zeroed_tensors, attempt_setup, attempt_teardown)
{
	static const struct sl_tensor items[] = {
		{.name = "kept", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {10}},
		{.name = "tiny", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {ELEMENTS - 11}}};
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	w->tensors = (struct sl_tensors){.items = items, .count = 2};
	free(w->trained);
	free(w->committed);
	w->trained = calloc(ELEMENTS, sizeof(float));
	w->committed = calloc(ELEMENTS, sizeof(float));
	a->view.encoding = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .decimals = 1, .clipping_range = 1, .weight = 1};
	assert_int_equal(encode_tiny(a, 1, true, false).frozen, 1);
	assert_int_equal(w->zeroed.rounds, 0); /* no result has zeros yet */
	a->view.previous[0] = 1;
	((float *)w->committed)[0] = 1;
	for (sl_round t = 2; t <= 9; t++) {
		assert_int_equal(encode_tiny(a, t, t != 4, false).code, SL_OK); /* 4: nothing was trained */
		assert_int_equal(encode_tiny(a, t, t != 4, false).code, SL_OK);
		assert_int_equal(w->zeroed.rounds, t < 4 ? t - 1 : t == 4 ? 0 : 1);
		if (t > 4) { /* the result of the next one has other values there */
			((float *)w->committed)[ELEMENTS - 2] = 1;
			assert_int_equal(encode_tiny(a, t, true, false).frozen, 1);
			assert_int_equal(w->zeroed.rounds, 0);
			((float *)w->committed)[ELEMENTS - 2] = 0;
		}
	}
	for (sl_round t = 10; t <= 11; t++)
		assert_int_equal(encode_tiny(a, t, true, false).code, SL_OK);
	struct sl_job_result result = encode_tiny(a, 12, true, false);
	assert_true(result.code == SL_ERR_RANGE && result.zeroed && result.first_frozen == 1);
	w->zeros_allowed = true;
	result = encode_tiny(a, 12, true, false);
	assert_true(result.code == SL_OK && !result.zeroed && result.frozen == 1);
	w->zeros_allowed = false;
	((float *)w->committed)[0] = 0; /* a tensor before it does not take its place */
	result = encode_tiny(a, 13, true, true);
	assert_true(result.zeroed && result.frozen == 2 && result.first_frozen == 1);
}

/* A tensor of values up to half a step is frozen; one of zeros, or that keeps a value, is not.
 * Tensors and blocks end at different elements. */
TEST_WITH(frozen_tensors, attempt_setup, attempt_teardown)
{
	static const struct sl_tensor items[] = {
		{.name = "same", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {3001}},
		{.name = "none", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {0}},
		{.name = "frozen", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {2500}},
		{.name = "kept", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {2500}},
		{.name = "last", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {ELEMENTS - 1 - 8001}}};
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	size_t n = ELEMENTS - 1;
	w->tensors = (struct sl_tensors){.items = items, .count = 5};
	size_t bytes = sl_tensors_bytes(&w->tensors, n);
	free(w->trained);
	free(w->committed);
	w->trained = calloc(1, bytes);
	w->committed = calloc(1, bytes);
	a->view.encoding = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .decimals = 1, .clipping_range = 1, .weight = 1};
	((double *)w->trained)[3001 + 2499] = 1.0 / 40;
	float *floats = (float *)((double *)w->trained + 5501);
	floats[0] = 0.5F;
	floats[2500 + 5] = -1.0F / 40;
	struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_int_equal(result.code, SL_OK);
	assert_true(result.frozen == 2 && result.first_frozen == 2);
	memcpy(w->committed, w->trained, bytes);
	a->view.previous[0] = 1;
	((double *)w->trained)[3001] += 1.0 / 40;
	floats[2500 + 6] = 1;
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.frozen == 1 && result.first_frozen == 2);
	a->view.max_weight = 2;
	w->weight = 0; /* all is 0 in the encoding of a model that does not count */
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_true(result.code == SL_OK && result.frozen == 0);
}

/* The model of Z is hashed by CLOSE and SUM, which leave the committed model as it is, and takes the
 * place of that by ACCEPT. Each is done by parts, which cut the tensors anywhere. */
TEST_WITH(decoded_in_place, attempt_setup, attempt_teardown)
{
	static const struct sl_tensor items[] = {
		{.name = "a", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {3001}},
		{.name = "b", .dtype = SL_INT64, .dimensions = 1, .shape = {2}},
		{.name = "c", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {ELEMENTS - 1 - 3003}}};
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	size_t n = ELEMENTS - 1;
	w->tensors = (struct sl_tensors){.items = items, .count = 3};
	size_t bytes = sl_tensors_bytes(&w->tensors, n);
	uint8_t hash[SL_HASH_BYTES], strands[SL_STRANDS_BYTES], *want = malloc(bytes), *base = malloc(bytes);
	uint64_t *z = malloc(ELEMENTS * sizeof *z);
	free(w->committed);
	w->committed = calloc(1, bytes);
	for (size_t l = 0; l < 3001; l++)
		((double *)w->committed)[l] = 0.5 * (double)l;
	memcpy(base, w->committed, bytes);
	a->view.previous[0] = 1;
	for (size_t l = 0; l < n; l++) {
		z[l] = sl_field_lift(&a->view.field, l % 2 == 0 ? l % 4000 : -(l % 4000));
		a->state[0][l] = sl_field_add(&a->view.field, a->state[0][l], z[l]);
	}
	z[n] = LEARNERS;
	attempt_fetch_all(a);
	struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_SUM});
	assert_int_equal(result.code, SL_OK);
	assert_memory_equal(w->committed, base, bytes);
	assert_int_equal(sl_encoding_decode(&a->view.field, &a->view.encoding, &w->tensors, z, n, want),
			 SL_OK);
	assert_memory_not_equal(want, base, bytes);
	sl_canonical_result(&w->scope, a->view.h, LEARNERS, result.strands, want, bytes, hash);
	assert_memory_equal(result.hash, hash, sizeof hash);
	attempt_run_well(a, SL_JOB_ACCEPT, 0);
	assert_memory_equal(w->committed, want, bytes);
	sl_canonical_strands(want, bytes, strands);
	assert_memory_equal(w->strands, strands, sizeof strands);
	free(want);
	free(base);
	free(z);
}

/* A fetched model takes the place of the committed one if its digest was signed, and not before. */
TEST_WITH(fetched_model, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	struct sl_workspace *w = &a->workspace;
	struct sl_round_head round = {.total = 7};
	size_t bytes = (ELEMENTS - 1) * sizeof(float);
	float *fetched = w->fetched = malloc(bytes), *committed = w->committed;
	uint8_t hash[SL_HASH_BYTES], strands[SL_STRANDS_BYTES];
	for (size_t at = 0, index = 0; at < bytes; at += SL_RESULT_BYTES, index++) {
		size_t size = bytes - at < SL_RESULT_BYTES ? bytes - at : SL_RESULT_BYTES;
		struct sl_buffer part = {
			.index = (uint32_t)index, .bytes = (uint8_t *)w->trained + at, .size = size};
		attempt_run(a, (struct sl_job){.kind = SL_JOB_ABSORB, .buffers = &part});
	}
	sl_canonical_result(&w->scope, a->view.h, 7, round.strands, w->trained, bytes, hash);
	hash[0] ^= 1;
	struct sl_job adopt = {.kind = SL_JOB_ADOPT, .round = &round, .expected = hash};
	assert_int_equal(attempt_run(a, adopt).code, SL_ERR_INVALID);
	assert_ptr_equal(w->committed, committed);
	assert_true(sodium_is_zero(w->strands, sizeof w->strands));
	hash[0] ^= 1;
	assert_int_equal(attempt_run(a, adopt).code, SL_OK);
	assert_ptr_equal(w->committed, fetched);
	assert_memory_equal(fetched, w->trained, bytes);
	sl_canonical_strands(fetched, bytes, strands);
	assert_memory_equal(w->strands, strands, sizeof strands);
	free(committed);
	w->fetched = NULL;
}

/* Not the sum of three models within the clipping range. */
TEST_WITH(implausible_sum, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	a->state[0][7] = sl_field_add(&a->view.field, a->state[0][7], PRIME / 2);
	attempt_fetch_all(a);
	assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_SUM}).code, SL_ERR_INVALID);
}

/* --- secrets --- */

static bool wiped(const void *bytes, size_t size)
{
	return sodium_is_zero(bytes, size);
}

/* Make all shares: with seeds in one job. */
static void share(struct attempt *a)
{
	for (uint32_t m = 0; m < a->view.chunks; m = sl_view_share_end(&a->view, m))
		attempt_run_well(a, SL_JOB_SHARE, m);
}

TEST_WITH(when_the_shares_are_out, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	share(a);
	assert_true(wiped(a->workspace.rooms[0].x, 3 * sizeof(uint64_t)));
	assert_false(wiped(a->workspace.s, sl_slot_state_bytes(&a->view)));
	for (uint32_t r = 0; r <= 2; r++)
		assert_true(wiped(a->workspace.rooms[0].rows[r], 3 * sizeof(uint64_t)));
	assert_false(wiped(a->workspace.shares[0], sl_packed_bytes(3, a->view.field.bits))); /* to be sent */
	assert_true(wiped(a->workspace.rooms[0].scratch, sl_share_scratch(2) * sizeof(uint64_t)));
}

/* Take the neighbours' seeds. */
static void gather(struct attempt *a)
{
	uint8_t seed[2][SL_KEY_BYTES];
	struct sl_buffer second = {.from = 1, .size = SL_KEY_BYTES, .bytes = seed[1]};
	struct sl_buffer first = {.next = &second, .from = 0, .size = SL_KEY_BYTES, .bytes = seed[0]};
	memset(seed, 0x17, sizeof seed);
	assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_GATHER, .buffers = &first}).code,
			 SL_OK);
}

static bool stream_wiped(const struct sl_prg *stream)
{
	return wiped(stream->key, sizeof stream->key) && wiped(stream->buffer, sizeof stream->buffer);
}

TEST_WITH(when_all_shares_are_made, attempt_setup_seeded, attempt_teardown)
{
	struct attempt *a = *state;
	for (uint32_t r = 0; r < 2; r++)
		assert_false(wiped(a->workspace.shares[r], SL_KEY_BYTES));
	share(a);
	gather(a);
	attempt_run_well(a, SL_JOB_EXPAND, 0);
	for (uint32_t r = 0; r < 2; r++)
		assert_false(stream_wiped(&a->workspace.randomness[r]) ||
			     stream_wiped(&a->workspace.theirs[r]));
	attempt_run_well(a, SL_JOB_COMMITMENT, 0);
	for (uint32_t r = 0; r < 2; r++) {
		assert_true(stream_wiped(&a->workspace.randomness[r]) &&
			    stream_wiped(&a->workspace.theirs[r]));
		assert_true(wiped(a->workspace.shares[r], SL_KEY_BYTES));
	}
}

/* Early seeds of an attempt in which this learner's model could not be encoded are not stored. */
TEST_WITH(when_nothing_is_encoded, attempt_setup_seeded, attempt_teardown)
{
	struct attempt *a = *state;
	sl_job_wipe(&a->workspace);
	a->workspace.weight = 0;
	assert_int_equal(attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).code, SL_ERR_REFUSED);
	gather(a);
	assert_true(wiped(a->workspace.scratch.base, a->workspace.scratch.size));
}

TEST_WITH(when_the_attempt_is_over, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	for (int shared = 0; shared < 2; shared++) {
		attempt_run_well(a, SL_JOB_ENCODE, 0);
		attempt_run_well(a, SL_JOB_SECRETS, 0);
		a->workspace.second[ELEMENTS - 1] = 1; /* a state */
		if (shared == 1)
			share(a);
		sl_job_wipe(&a->workspace);
		assert_true(wiped(a->workspace.s, a->workspace.s_bytes));
		assert_true(wiped(a->workspace.second, ELEMENTS * sizeof *a->workspace.second));
		assert_true(wiped(a->workspace.scratch.base, a->workspace.scratch.size));
		assert_true(wiped(&a->workspace.secrets, sizeof a->workspace.secrets));
	}
}

TEST_WITH(when_the_attempt_is_over_seeded, attempt_setup_seeded, attempt_teardown)
{
	when_the_attempt_is_over(state);
}

/* --- jobs of an attempt that is over --- */

static atomic_uint wipes;

/* A team whose attempt is over after the first part. */
static void run_over(struct sl_team *team, uint32_t parts, sl_team_part part, void *context)
{
	(void)team;
	for (uint32_t k = 0; k < parts; k++) {
		part(context, k, 0);
		atomic_store(&wipes, 1);
	}
}

TEST_WITH(ends_between_two_blocks, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	struct sl_team team = {2, run_over};
	const uint8_t *slot = sl_slot_chunk(&a->workspace.state_file, &a->view, 0, 0);
	size_t block = sl_packed_bytes(SL_BLOCK_ELEMENTS, a->view.field.bits);
	atomic_store(&wipes, 0);
	a->workspace.team = &team;
	a->workspace.wipes = &wipes;
	attempt_run_well(a, SL_JOB_DEPOSIT, 0);
	assert_false(wiped(slot, block));
	assert_true(wiped(slot + block, a->workspace.state_file.slot_bytes - block));
}

/* No piece of Z or of the model is hashed, and what counts rounds counts none. */
TEST_WITH(ends_before_its_first_piece, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	struct sl_vector_hash hash;
	uint8_t nothing[SL_STRANDS_BYTES], strands[SL_STRANDS_BYTES];
	sl_vector_hash_begin(&hash);
	sl_vector_hash_end(&hash, nothing);
	atomic_store(&wipes, 1);
	a->workspace.wipes = &wipes;
	memset(a->workspace.s, 0, a->workspace.s_bytes);
	packed_replace(a->workspace.s, ELEMENTS - 1, a->view.field.bits, LEARNERS);
	a->view.engine = SL_ENGINE_EXACT;
	struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_CLOSE});
	assert_int_equal(result.code, SL_ERR_INVALID);
	assert_memory_equal(result.strands, nothing, sizeof nothing);
	assert_false(sl_job_model_hash(&a->workspace, &a->view, strands));
	assert_memory_equal(strands, nothing, sizeof nothing);
	a->workspace.zeroed = (struct sl_in_a_row){.rounds = 2};
	attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_int_equal(a->workspace.zeroed.rounds, 2);
}
