/* The masked states of an attempt, as jobs keep, check and add them up (PROTOCOL.md §10 Recovery). */
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/compute/job.h"
#include "common/mixing/spectrum.h"
#include "test/lib/test.h"

#define N 3u
#define ELEMENTS (SL_CHUNK_ELEMENTS + 3u) /* two chunks */
#define P ((UINT64_C(1) << 36) - 5)

/* Learner 0 of three that all know each other, whose masked states come to 0 in every coordinate, and to the
 * weight N. */
struct attempt {
	struct sl_view view;
	struct sl_workspace workspace;
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

static int setup(void **state)
{
	static const uint32_t neighbours[] = {1, 2};
	struct attempt *a = *state = calloc(1, sizeof *a);
	a->view = (struct sl_view){.n = N,
				   .elements = ELEMENTS,
				   .chunks = 2,
				   .max_weight = 1,
				   .degree = 2,
				   .neighbours = neighbours};
	a->view.encoding = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16, .weight_total = N};
	a->view.engine = SL_ENGINE_METROPOLIS;
	assert_int_equal(sl_field_init(&a->view.field, P), SL_OK);
	a->view.fraction = sl_spectrum_fraction_bits(a->view.field.bits);
	a->workspace = (struct sl_workspace){.n = ELEMENTS - 1, .source = source, .source_context = a};
	a->workspace.s = calloc(ELEMENTS, sizeof *a->workspace.s);
	a->workspace.states = calloc(2, sizeof *a->workspace.states);
	a->workspace.x = calloc(ELEMENTS, sizeof *a->workspace.x);
	a->workspace.weights = calloc(3, sizeof *a->workspace.weights);
	a->workspace.divisors = calloc(2, sizeof *a->workspace.divisors);
	for (uint32_t r = 0; r < 2; r++)
		sl_metropolis_divisor_init(&a->workspace.divisors[r], N);
	a->workspace.state_file.slot_bytes = sl_slot_bytes(&a->view);
	a->workspace.state_file.base = calloc(N, a->workspace.state_file.slot_bytes);
	draw_states(a);
	return 0;
}

static int teardown(void **state)
{
	struct attempt *a = *state;
	free(a->workspace.s);
	free(a->workspace.x);
	free(a->workspace.weights);
	free(a->workspace.states);
	free(a->workspace.divisors);
	free(a->workspace.state_file.base);
	free(a);
	return 0;
}

static struct sl_job_result run(struct attempt *a, struct sl_job job)
{
	struct sl_job_result result;
	job.view = &a->view;
	sl_job_run(&a->workspace, &job, &result);
	return result;
}

/* What learner i has committed to. */
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

/* Whether the slot of i is taken for what i has committed to. */
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

/* What learner i says in the first iteration: its masked state; for metropolis with f bits of fraction. */
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

TEST_WITH(sealed_is_what_is_committed_to, setup, teardown)
{
	struct attempt *a = *state;
	uint8_t hash[SL_HASH_BYTES];
	a->zeros = 2;	    /* zeros are no nonce: they stand for a slot that is not there */
	a->view.degree = 0; /* no shares were made */
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

/* Whatever exact makes of them then. */
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

/* A neighbour's state is of the field in every iteration. */
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

/* Who commits to what is no element has committed to nothing. */
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

/* Not the sum of three models within clip. */
TEST_WITH(a_sum_is_judged, setup, teardown)
{
	struct attempt *a = *state;
	a->state[0][7] = sl_field_add(&a->view.field, a->state[0][7], P / 2);
	fetch_all(a);
	assert_int_equal(run(a, (struct sl_job){.kind = SL_JOB_SUM}).code, SL_ERR_INVALID);
}
