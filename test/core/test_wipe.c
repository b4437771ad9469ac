/* Secrets are wiped after their last use (PROTOCOL.md §14.2 What is kept and for how long): encodings, own
 * shares and coefficients by the job that uses them; streams, seeds and the last rows when all shares are
 * made; the rest with the attempt. */
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/compute/job.h"
#include "common/mixing/spectrum.h"
#include "test/lib/test.h"

#define MODEL 6u
#define ARENA_BYTES 4096u

/* Learner 0 of three that all know each other. */
struct attempt {
	struct sl_view view;
	struct sl_workspace workspace;
	void *graph;
	uint8_t zeros[1u << 20];
};

static void source(void *context, uint8_t *bytes, size_t n)
{
	(void)context;
	memset(bytes, 0x5a, n);
}

static void make_view(struct attempt *a, enum sl_sharing_kind kind)
{
	static const struct sl_edge edges[] = {{0, 1}, {0, 2}, {1, 2}};
	static sl_id ids[] = {1, 2, 3};
	struct sl_arena arena;
	a->graph = malloc(ARENA_BYTES);
	sl_arena_init(&arena, a->graph, ARENA_BYTES);
	a->view = (struct sl_view){
		.n = 3, .ids = ids, .degree = 2, .elements = MODEL + 1, .chunks = 1, .max_weight = 1};
	a->view.encoding = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16, .weight_total = 3};
	a->view.agreed.tolerance = 1;
	assert_int_equal(sl_graph_init(&a->view.graph, 3, edges, 3, &arena), SL_OK);
	assert_int_equal(sl_field_init(&a->view.field, SL_P_MERSENNE31), SL_OK);
	a->view.fraction = sl_spectrum_fraction_bits(a->view.field.bits);
	a->view.neighbours = sl_graph_neighbours(&a->view.graph, 0);
	a->view.sharing = kind;
}

static int setup_kind(void **state, enum sl_sharing_kind kind)
{
	struct attempt *a = *state = calloc(1, sizeof *a);
	make_view(a, kind);
	size_t scratch = sl_job_scratch(&a->view);
	assert_true(scratch <= sizeof a->zeros);
	a->workspace = (struct sl_workspace){.n = MODEL, .weight = 1, .source = source};
	a->workspace.trained = calloc(MODEL, sizeof *a->workspace.trained);
	a->workspace.x = calloc(MODEL + 1, sizeof *a->workspace.x);
	a->workspace.s = calloc(MODEL + 1, sizeof *a->workspace.s);
	sl_arena_init(&a->workspace.scratch, calloc(1, scratch), scratch);
	a->workspace.state_file.slot_bytes = sl_slot_bytes(&a->view);
	a->workspace.state_file.base = calloc(a->view.n, a->workspace.state_file.slot_bytes);
	for (size_t l = 0; l < MODEL; l++)
		a->workspace.trained[l] = 1.5f + (float)l;
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

static void run(struct attempt *a, enum sl_job_kind kind)
{
	struct sl_job_result result;
	sl_job_run(&a->workspace, &(struct sl_job){.kind = kind, .view = &a->view}, &result);
	assert_int_equal(result.code, SL_OK);
}

static bool wiped(const struct attempt *a, const void *bytes, size_t size)
{
	return memcmp(bytes, a->zeros, size) == 0;
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

TEST_WITH(when_the_shares_are_out, setup, teardown)
{
	struct attempt *a = *state;
	size_t vector = (MODEL + 1) * sizeof *a->workspace.x;
	run(a, SL_JOB_ENCODE);
	assert_false(wiped(a, a->workspace.x, vector));
	run(a, SL_JOB_SHARE);
	assert_true(wiped(a, a->workspace.x, vector));
	assert_false(wiped(a, a->workspace.s, vector));
	for (uint32_t r = 0; r <= 2; r++)
		assert_true(wiped(a, a->workspace.rows[r], vector));
	assert_false(wiped(a, a->workspace.shares[0], (MODEL + 1) * a->view.field.bytes)); /* to be sent */
	assert_true(wiped(a, a->workspace.share_scratch, sl_share_scratch(2) * sizeof(uint64_t)));
}

/* The neighbours' seeds. */
static void gather(struct attempt *a)
{
	uint8_t seed[2][SL_KEY_BYTES];
	struct sl_buffer second = {.from = 1, .size = SL_KEY_BYTES, .bytes = seed[1]};
	struct sl_buffer first = {.next = &second, .from = 0, .size = SL_KEY_BYTES, .bytes = seed[0]};
	struct sl_job_result result;
	memset(seed, 0x17, sizeof seed);
	sl_job_run(&a->workspace,
		   &(struct sl_job){.kind = SL_JOB_GATHER, .view = &a->view, .buffers = &first}, &result);
	assert_int_equal(result.code, SL_OK);
}

static bool prg_wiped(const struct attempt *a, const struct sl_prg *randomness)
{
	return wiped(a, randomness->key, sizeof randomness->key) &&
	       wiped(a, randomness->buffer, sizeof randomness->buffer);
}

TEST_WITH(when_all_shares_are_made, setup_seeded, teardown)
{
	struct attempt *a = *state;
	run(a, SL_JOB_ENCODE);
	for (uint32_t r = 0; r < 2; r++)
		assert_false(wiped(a, a->workspace.shares[r], SL_KEY_BYTES));
	run(a, SL_JOB_SHARE);
	gather(a);
	run(a, SL_JOB_EXPAND);
	for (uint32_t r = 0; r < 2; r++)
		assert_false(prg_wiped(a, &a->workspace.randomness[r]) ||
			     prg_wiped(a, &a->workspace.theirs[r]));
	run(a, SL_JOB_COMMITMENT);
	for (uint32_t r = 0; r < 2; r++) {
		assert_true(prg_wiped(a, &a->workspace.randomness[r]) &&
			    prg_wiped(a, &a->workspace.theirs[r]));
		assert_true(wiped(a, a->workspace.shares[r], SL_KEY_BYTES));
	}
}

/* Seeds that came early, of an attempt that this learner's model is unfit for, have nowhere to go. */
TEST_WITH(when_nothing_is_encoded, setup_seeded, teardown)
{
	struct attempt *a = *state;
	struct sl_job_result result;
	run(a, SL_JOB_ENCODE);
	sl_job_wipe(&a->workspace);
	a->workspace.weight = 0;
	sl_job_run(&a->workspace, &(struct sl_job){.kind = SL_JOB_ENCODE, .view = &a->view}, &result);
	assert_int_equal(result.code, SL_ERR_REFUSED);
	gather(a);
	assert_true(wiped(a, a->workspace.scratch.base, a->workspace.scratch.size));
}

TEST_WITH(when_the_attempt_is_over, setup, teardown)
{
	struct attempt *a = *state;
	size_t vector = (MODEL + 1) * sizeof *a->workspace.x;
	for (int shared = 0; shared < 2; shared++) {
		run(a, SL_JOB_ENCODE);
		if (shared == 1)
			run(a, SL_JOB_SHARE);
		sl_job_wipe(&a->workspace);
		assert_true(wiped(a, a->workspace.x, vector));
		assert_true(wiped(a, a->workspace.s, vector));
		assert_true(wiped(a, a->workspace.scratch.base, a->workspace.scratch.size));
	}
}

TEST_WITH(when_the_attempt_is_over_seeded, setup_seeded, teardown)
{
	when_the_attempt_is_over(state);
}
