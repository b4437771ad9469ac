/* Jobs on the vectors of one learner: masked states are stored, checked and added up (PROTOCOL.md §10
 * Recovery), and secrets are wiped after their last use (§14.2 What is kept and for how long). */
#include <stdlib.h>
#include <string.h>

#include <math.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "common/compute/job.h"
#include "common/mixing/spectrum.h"
#include "test/lib/test.h"

#define N 3u
#define ELEMENTS (SL_CHUNK_ELEMENTS + 3u) /* two chunks */
#define P ((UINT64_C(1) << 36) - 5)
#define GRAPH_BYTES 4096u

/* Learner 0 of three on a complete graph. The masked states `state` add up to 0 in every coordinate, and to
 * the weight N. */
struct attempt {
	struct sl_view view;
	struct sl_workspace workspace;
	void *graph;
	uint64_t state[N][ELEMENTS];
	uint8_t nonce[N][SL_NONCE_BYTES];
	uint64_t random;
	uint32_t zeros; /* nonces of zeros that are drawn first */
};

static uint64_t draw(struct attempt *a)
{
	a->random = a->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return a->random >> 16;
}

static void source(void *context, uint8_t *bytes, size_t n)
{
	struct attempt *a = context;
	for (size_t k = 0; k < n; k++)
		bytes[k] = a->zeros > 0 ? 0 : (uint8_t)draw(a);
	a->zeros -= a->zeros > 0;
}

static void draw_states(struct attempt *a)
{
	for (uint32_t l = 0; l < ELEMENTS; l++) {
		uint64_t first = draw(a) % P, second = draw(a) % P, total = l + 1 < ELEMENTS ? 0 : N;
		a->state[0][l] = first;
		a->state[1][l] = second;
		a->state[2][l] =
			sl_field_sub(&a->view.field, total, sl_field_add(&a->view.field, first, second));
	}
}

static void make_view(struct attempt *a, enum sl_sharing_kind kind)
{
	static const struct sl_edge edges[] = {{0, 1}, {0, 2}, {1, 2}};
	static sl_id ids[] = {1, 2, 3};
	struct sl_arena arena;
	a->graph = malloc(GRAPH_BYTES);
	sl_arena_init(&arena, a->graph, GRAPH_BYTES);
	a->view = (struct sl_view){.n = N,
				   .ids = ids,
				   .elements = ELEMENTS,
				   .chunks = 2,
				   .max_weight = 1,
				   .degree = 2,
				   .sharing = kind,
				   .engine = SL_ENGINE_METROPOLIS};
	a->view.encoding = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16, .weight_total = N};
	a->view.agreed.tolerance = 1;
	assert_int_equal(sl_graph_init(&a->view.graph, N, edges, 3, &arena), SL_OK);
	assert_int_equal(sl_field_init(&a->view.field, P), SL_OK);
	a->view.fraction = sl_spectrum_fraction_bits(a->view.field.bits);
	a->view.neighbours = sl_graph_neighbours(&a->view.graph, 0);
}

static struct sl_job_result run(struct attempt *a, struct sl_job job)
{
	struct sl_job_result result;
	job.view = &a->view;
	sl_job_run(&a->workspace, &job, &result);
	return result;
}

static void run_well(struct attempt *a, enum sl_job_kind kind, uint32_t chunk)
{
	assert_int_equal(run(a, (struct sl_job){.kind = kind, .chunk = chunk}).code, SL_OK);
}

/* Encode a model. */
static int setup_kind(void **state, enum sl_sharing_kind kind)
{
	struct attempt *a = *state = calloc(1, sizeof *a);
	struct sl_workspace *w = &a->workspace;
	make_view(a, kind);
	size_t scratch = sl_job_scratch(&a->view);
	*w = (struct sl_workspace){.n = ELEMENTS - 1, .weight = 1, .source = source, .source_context = a};
	w->trained = calloc(ELEMENTS, sizeof(float));
	w->x = calloc(ELEMENTS, sizeof *w->x);
	w->s = calloc(ELEMENTS, sizeof *w->s);
	sl_arena_init(&w->scratch, calloc(1, scratch), scratch);
	w->state_file.slot_bytes = sl_slot_bytes(&a->view);
	w->state_file.base = calloc(N, w->state_file.slot_bytes);
	for (size_t l = 0; l + 1 < ELEMENTS; l++)
		((float *)w->trained)[l] = 1.5f + (float)(l % 9);
	draw_states(a);
	run_well(a, SL_JOB_ENCODE, 0);
	return 0;
}

static int setup(void **state)
{
	return setup_kind(state, SL_SHARING_SHAMIR);
}

static int setup_seeded(void **state)
{
	return setup_kind(state, SL_SHARING_SEEDED);
}

static int teardown(void **state)
{
	struct attempt *a = *state;
	free(a->graph);
	free(a->workspace.trained);
	free(a->workspace.x);
	free(a->workspace.s);
	free(a->workspace.scratch.base);
	free(a->workspace.state_file.base);
	free(a);
	return 0;
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

/* --- slots --- */

/* Compute the commitment of learner i. */
static void commit(struct attempt *a, uint32_t i, uint8_t hash[static SL_HASH_BYTES])
{
	size_t bytes = sl_slot_state_bytes(&a->view);
	uint8_t *packed = malloc(bytes);
	sl_bytes_pack(packed, a->state[i], ELEMENTS, a->view.field.bytes);
	sl_canonical_commitment(&a->workspace.scope, packed, bytes, a->nonce[i], hash);
	free(packed);
}

static void draw_nonce(struct attempt *a, uint32_t i)
{
	source(a, a->nonce[i], SL_NONCE_BYTES);
}

/* Return true if the slot of i matches its commitment. */
static bool passes(struct attempt *a, uint32_t i)
{
	uint8_t hash[SL_HASH_BYTES];
	commit(a, i, hash);
	return run(a, (struct sl_job){.kind = SL_JOB_CHECK, .chunk = i, .expected = hash}).code == SL_OK;
}

static struct sl_buffer piece(struct attempt *a, uint32_t i, uint32_t chunk, uint32_t width)
{
	struct sl_buffer b = {.index = chunk, .origin = i + 1};
	size_t count = sl_view_chunk_elements(&a->view, chunk);
	b.size = count * width;
	b.bytes = malloc(b.size);
	sl_bytes_pack(b.bytes, a->state[i] + (size_t)chunk * SL_CHUNK_ELEMENTS, count, width);
	if (chunk == 0)
		memcpy(b.nonce, a->nonce[i], SL_NONCE_BYTES);
	return b;
}

static void fetch(struct attempt *a, uint32_t i, uint32_t chunk)
{
	struct sl_buffer b = piece(a, i, chunk, a->view.field.bytes);
	b.from = i;
	assert_int_equal(run(a, (struct sl_job){.kind = SL_JOB_FETCH, .buffers = &b}).code, SL_OK);
	free(b.bytes);
}

static void fetch_all(struct attempt *a)
{
	for (uint32_t i = 0; i < N; i++) {
		draw_nonce(a, i);
		fetch(a, i, 0);
		fetch(a, i, 1);
	}
}

/* Return a chunk of learner i's state of exchange 0: its masked state; for metropolis with f bits of
 * fraction. */
static struct sl_buffer first_state(struct attempt *a, uint32_t i, uint32_t chunk)
{
	struct sl_buffer b = piece(a, i, chunk, (uint32_t)sl_view_mixing_width(&a->view));
	uint64_t *x = (uint64_t *)(void *)b.bytes;
	for (size_t l = 0; a->view.engine == SL_ENGINE_METROPOLIS && l < b.size / SL_STATE_BYTES; l++)
		x[l] <<= a->view.fraction;
	b.from = i - 1;
	return b;
}

static struct sl_job_result mix_first(struct attempt *a, uint32_t chunk, uint64_t wrong)
{
	struct sl_buffer one = first_state(a, 1, chunk), two = first_state(a, 2, chunk);
	memcpy(two.bytes, &wrong, wrong == 0 ? 0 : sizeof wrong);
	one.next = &two;
	struct sl_job_result result =
		run(a, (struct sl_job){.kind = SL_JOB_MIX, .chunk = chunk, .buffers = &one});
	free(one.bytes);
	free(two.bytes);
	return result;
}

TEST_WITH(commitment_of_the_slot, setup, teardown)
{
	struct attempt *a = *state;
	uint8_t hash[SL_HASH_BYTES];
	a->zeros = 2; /* a nonce of zeros stands for an empty slot */
	memcpy(a->workspace.s, a->state[0], sizeof a->state[0]);
	struct sl_job_result result = run(a, (struct sl_job){.kind = SL_JOB_COMMITMENT});
	memcpy(a->nonce[0], sl_slot_nonce(&a->workspace.state_file, 0), SL_NONCE_BYTES);
	commit(a, 0, hash);
	assert_memory_equal(result.hash, hash, SL_HASH_BYTES);
	assert_true(passes(a, 0));
}

TEST_WITH(first_states_are_kept, setup, teardown)
{
	struct attempt *a = *state;
	draw_nonce(a, 1);
	draw_nonce(a, 2);
	assert_int_equal(mix_first(a, 0, 0).code, SL_OK);
	assert_false(passes(a, 1));
	assert_int_equal(mix_first(a, 1, 0).code, SL_OK);
	assert_true(passes(a, 1) && passes(a, 2));
}

TEST_WITH(first_states_of_exact, setup, teardown)
{
	struct attempt *a = *state;
	const uint64_t wrong[] = {P, UINT64_C(0xffffffffff)};
	a->view.engine = SL_ENGINE_EXACT;
	for (a->view.steps = 1; a->view.steps <= 2; a->view.steps++) {
		memset(a->workspace.state_file.base, 0, N * a->workspace.state_file.slot_bytes);
		first_states_are_kept(state);
		assert_int_equal(mix_first(a, 0, P - 1).code, SL_OK);
		for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
			struct sl_job_result result = mix_first(a, 0, wrong[k]);
			assert_int_equal(result.code, SL_ERR_INVALID);
			assert_int_equal(result.from, 1);
		}
	}
}

/* A neighbour's state is of the field in every exchange. */
TEST_WITH(later_states_are_of_the_field, setup, teardown)
{
	struct attempt *a = *state;
	a->view.engine = SL_ENGINE_EXACT;
	a->view.steps = 3;
	struct sl_buffer one = first_state(a, 1, 0), two = first_state(a, 2, 0);
	one.next = &two;
	one.iteration = two.iteration = 1;
	assert_int_equal(run(a, (struct sl_job){.kind = SL_JOB_MIX, .buffers = &one}).code, SL_OK);
	memset(one.bytes, 0xff, a->view.field.bytes);
	struct sl_job_result result = run(a, (struct sl_job){.kind = SL_JOB_MIX, .buffers = &one});
	assert_int_equal(result.code, SL_ERR_INVALID);
	assert_int_equal(result.from, 0);
	free(one.bytes);
	free(two.bytes);
}

TEST_WITH(first_states_are_of_the_field, setup, teardown)
{
	struct attempt *a = *state;
	uint64_t one = UINT64_C(1) << a->view.fraction;
	const uint64_t wrong[] = {1, one | 1, one - 1, P * one};
	assert_int_equal(mix_first(a, 0, (P - 1) * one).code, SL_OK);
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
		struct sl_job_result result = mix_first(a, 0, wrong[k]);
		assert_int_equal(result.code, SL_ERR_INVALID);
		assert_int_equal(result.from, 1);
	}
}

TEST_WITH(fetched_is_what_was_committed_to, setup, teardown)
{
	struct attempt *a = *state;
	assert_false(passes(a, 1));
	draw_nonce(a, 1);
	fetch(a, 1, 1);
	assert_false(passes(a, 1));
	fetch(a, 1, 0);
	assert_true(passes(a, 1));
	assert_false(passes(a, 2));
	uint8_t *slot = sl_slot_nonce(&a->workspace.state_file, 1);
	size_t bytes = SL_NONCE_BYTES + sl_slot_state_bytes(&a->view);
	for (size_t at = 0; at < bytes; at += 1 + at / 8) {
		slot[at] ^= 4;
		assert_false(passes(a, 1));
		slot[at] ^= 4;
	}
	slot[bytes - 1] ^= 4;
	assert_false(passes(a, 1));
}

/* A state outside the field does not pass, even if it matches its commitment. */
TEST_WITH(committed_is_of_the_field, setup, teardown)
{
	struct attempt *a = *state;
	for (uint32_t l = 0; l < ELEMENTS; l += ELEMENTS - 1) {
		draw_nonce(a, 1);
		draw_states(a);
		a->state[1][l] = P;
		fetch(a, 1, 0);
		fetch(a, 1, 1);
		assert_false(passes(a, 1));
	}
}

TEST_WITH(each_is_added_once, setup, teardown)
{
	struct attempt *a = *state;
	uint8_t hash[SL_HASH_BYTES];
	uint64_t *z = calloc(ELEMENTS, sizeof *z);
	z[ELEMENTS - 1] = N;
	sl_canonical_result(&a->workspace.scope, a->view.h, z, ELEMENTS, a->view.field.bytes, hash);
	fetch_all(a);
	for (int twice = 0; twice < 2; twice++) {
		struct sl_job_result result = run(a, (struct sl_job){.kind = SL_JOB_SUM});
		assert_int_equal(result.code, SL_OK);
		assert_int_equal(result.total, N);
		assert_memory_equal(a->workspace.s, z, ELEMENTS * sizeof *z);
		assert_memory_equal(result.hash, hash, SL_HASH_BYTES);
	}
	free(z);
}

/* ENCODE compares with the committed model, from round 2 on. */
TEST_WITH(largest_update, setup, teardown)
{
	struct attempt *a = *state;
	float *trained = a->workspace.trained, *committed = calloc(ELEMENTS, sizeof *committed);
	memcpy(committed, trained, ELEMENTS * sizeof *committed);
	a->workspace.committed = committed;
	assert_true(isnan(run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).update));
	a->view.t = 2;
	assert_true(run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).update == 0);
	static const size_t places[] = {0, 9, ELEMENTS - 2}; /* the last one has no full group after it */
	for (size_t i = 0; i < 3; i++) {
		committed[places[i]] -= (float)(i + 1) * 0.25f;
		assert_true(run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).update == (double)(i + 1) * 0.25);
	}
	free(committed);
}

/* Not the sum of three models within the clipping range. */
TEST_WITH(implausible_sum, setup, teardown)
{
	struct attempt *a = *state;
	a->state[0][7] = sl_field_add(&a->view.field, a->state[0][7], P / 2);
	fetch_all(a);
	assert_int_equal(run(a, (struct sl_job){.kind = SL_JOB_SUM}).code, SL_ERR_INVALID);
}

/* Change element 7 of the sum to `want`, given as a centred number. */
static int judged(struct attempt *a, int64_t want)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < N; i++)
		sum = sl_field_add(&a->view.field, sum, a->state[i][7]);
	uint64_t change = sl_field_sub(&a->view.field, sl_field_lift(&a->view.field, (uint64_t)want), sum);
	a->state[0][7] = sl_field_add(&a->view.field, a->state[0][7], change);
	fetch_all(a);
	return run(a, (struct sl_job){.kind = SL_JOB_SUM}).code;
}

/* Three learners at the end of the range are the most that a sum can be. */
TEST_WITH(the_largest_sum, setup, teardown)
{
	struct attempt *a = *state;
	int64_t most = 3 * 160000;
	assert_int_equal(judged(a, most), SL_OK);
	assert_int_equal(judged(a, -most), SL_OK);
	assert_int_equal(judged(a, most + 1), SL_ERR_INVALID);
	assert_int_equal(judged(a, -most - 1), SL_ERR_INVALID);
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
		run_well(a, SL_JOB_SHARE, m);
}

TEST_WITH(when_the_shares_are_out, setup, teardown)
{
	struct attempt *a = *state;
	size_t vector = ELEMENTS * sizeof *a->workspace.x;
	assert_false(wiped(a->workspace.x, vector));
	share(a);
	assert_true(wiped(a->workspace.x, vector));
	assert_false(wiped(a->workspace.s, vector));
	for (uint32_t r = 0; r <= 2; r++)
		assert_true(wiped(a->workspace.rows[r], 3 * sizeof **a->workspace.rows));
	assert_false(wiped(a->workspace.shares[0], 3 * a->view.field.bytes)); /* to be sent */
	assert_true(wiped(a->workspace.share_scratch, sl_share_scratch(2) * sizeof(uint64_t)));
}

/* Take the neighbours' seeds. */
static void gather(struct attempt *a)
{
	uint8_t seed[2][SL_KEY_BYTES];
	struct sl_buffer second = {.from = 1, .size = SL_KEY_BYTES, .bytes = seed[1]};
	struct sl_buffer first = {.next = &second, .from = 0, .size = SL_KEY_BYTES, .bytes = seed[0]};
	memset(seed, 0x17, sizeof seed);
	assert_int_equal(run(a, (struct sl_job){.kind = SL_JOB_GATHER, .buffers = &first}).code, SL_OK);
}

static bool stream_wiped(const struct sl_prg *stream)
{
	return wiped(stream->key, sizeof stream->key) && wiped(stream->buffer, sizeof stream->buffer);
}

TEST_WITH(when_all_shares_are_made, setup_seeded, teardown)
{
	struct attempt *a = *state;
	for (uint32_t r = 0; r < 2; r++)
		assert_false(wiped(a->workspace.shares[r], SL_KEY_BYTES));
	share(a);
	gather(a);
	run_well(a, SL_JOB_EXPAND, 0);
	for (uint32_t r = 0; r < 2; r++)
		assert_false(stream_wiped(&a->workspace.randomness[r]) ||
			     stream_wiped(&a->workspace.theirs[r]));
	run_well(a, SL_JOB_COMMITMENT, 0);
	for (uint32_t r = 0; r < 2; r++) {
		assert_true(stream_wiped(&a->workspace.randomness[r]) &&
			    stream_wiped(&a->workspace.theirs[r]));
		assert_true(wiped(a->workspace.shares[r], SL_KEY_BYTES));
	}
}

/* Early seeds of an attempt in which this learner's model could not be encoded are not stored. */
TEST_WITH(when_nothing_is_encoded, setup_seeded, teardown)
{
	struct attempt *a = *state;
	sl_job_wipe(&a->workspace);
	a->workspace.weight = 0;
	assert_int_equal(run(a, (struct sl_job){.kind = SL_JOB_ENCODE}).code, SL_ERR_REFUSED);
	gather(a);
	assert_true(wiped(a->workspace.scratch.base, a->workspace.scratch.size));
}

TEST_WITH(when_the_attempt_is_over, setup, teardown)
{
	struct attempt *a = *state;
	for (int shared = 0; shared < 2; shared++) {
		run_well(a, SL_JOB_ENCODE, 0);
		if (shared == 1)
			share(a);
		sl_job_wipe(&a->workspace);
		assert_true(wiped(a->workspace.x, ELEMENTS * sizeof *a->workspace.x));
		assert_true(wiped(a->workspace.s, ELEMENTS * sizeof *a->workspace.s));
		assert_true(wiped(a->workspace.scratch.base, a->workspace.scratch.size));
	}
}

TEST_WITH(when_the_attempt_is_over_seeded, setup_seeded, teardown)
{
	when_the_attempt_is_over(state);
}
