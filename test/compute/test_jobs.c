/* Jobs on the vectors of one learner: deposits are made, checked, opened and added up (PROTOCOL.md §5.6
 * Deposits), and secrets are wiped after their last use (§14.2 What is kept and for how long). */
#include <stdlib.h>
#include <string.h>

#include <math.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "common/compute/job.h"
#include "common/compute/job_mix.h"
#include "common/compute/payload.h"
#include "common/field/key_share.h"
#include "common/mixing/spectrum.h"
#include "common/protocol/key_tree.h"
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
	uint8_t keys[N][SL_KEY_BYTES]; /* deposit keys */
	uint64_t random;
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
		bytes[k] = (uint8_t)draw(a);
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
	a->view = (struct sl_view){.t = 1,
				   .a = 9,
				   .n = N,
				   .ids = ids,
				   .elements = ELEMENTS,
				   .chunks = 2,
				   .state_chunks = 2,
				   .state_elements = SL_CHUNK_ELEMENTS,
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
	job.keys = (const uint8_t(*)[SL_KEY_BYTES])a->keys;
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
	source(a, a->keys[1], 2 * SL_KEY_BYTES);
	run_well(a, SL_JOB_ENCODE, 0);
	run_well(a, SL_JOB_SECRETS, 0);
	memcpy(a->keys[0], w->secrets.key, SL_KEY_BYTES);
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

/* --- deposits --- */

/* Write the deposit of learner i to `packed`, chunk by chunk: the masks are streams of their own. */
static void deposit(struct attempt *a, uint32_t i, uint8_t *packed)
{
	uint64_t *masked = malloc(sizeof a->state[i]);
	memcpy(masked, a->state[i], sizeof a->state[i]);
	for (uint32_t m = 0; m < a->view.chunks; m++) {
		struct sl_prg mask;
		sl_prg_open_at(&mask, a->keys[i], m + 1);
		sl_prg_add(&mask, &a->view.field, masked + (size_t)m * SL_CHUNK_ELEMENTS,
			   sl_view_chunk_elements(&a->view, m));
	}
	sl_bytes_pack(packed, masked, ELEMENTS, a->view.field.bits);
	free(masked);
}

static void deposit_hash(struct attempt *a, uint32_t i, uint8_t hash[static SL_HASH_BYTES])
{
	uint8_t *packed = malloc(sl_slot_state_bytes(&a->view));
	deposit(a, i, packed);
	sl_canonical_deposit(&a->workspace.scope, packed, sl_slot_state_bytes(&a->view), hash);
	free(packed);
}

/* Return true if the slot of i has the hash of its deposit. */
static bool passes(struct attempt *a, uint32_t i)
{
	uint8_t hash[SL_HASH_BYTES];
	deposit_hash(a, i, hash);
	return run(a, (struct sl_job){.kind = SL_JOB_CHECK, .chunk = i, .expected = hash}).code == SL_OK;
}

/* Fetch some chunks of the deposits of learners 1 and 2 by one job. */
static void fetch(struct attempt *a, uint32_t first, uint32_t last, uint32_t chunk)
{
	struct sl_buffer buffers[N];
	for (uint32_t i = first; i <= last; i++) {
		size_t start = sl_packed_bytes((size_t)chunk * SL_CHUNK_ELEMENTS, a->view.field.bits);
		uint8_t *packed = malloc(sl_slot_state_bytes(&a->view));
		deposit(a, i, packed);
		buffers[i] = (struct sl_buffer){.index = chunk, .from = i, .origin = i + 1, .memory = packed};
		buffers[i].size =
			sl_packed_bytes(sl_view_chunk_elements(&a->view, chunk), a->view.field.bits);
		buffers[i].bytes = packed + start;
		buffers[i].next = i < last ? &buffers[i + 1] : NULL;
	}
	struct sl_job job = {.kind = SL_JOB_FETCH, .buffers = &buffers[first]};
	assert_int_equal(run(a, job).code, SL_OK);
	for (uint32_t i = first; i <= last; i++)
		free(buffers[i].memory);
}

static void fetch_all(struct attempt *a)
{
	for (uint32_t m = 0; m < a->view.chunks; m++)
		fetch(a, 0, N - 1, m);
}

TEST_WITH(own_deposit, setup, teardown)
{
	struct attempt *a = *state;
	uint8_t hash[SL_HASH_BYTES], chunk[(3 * 36 + 7) / 8];
	memcpy(a->workspace.s, a->state[0], sizeof a->state[0]);
	run_well(a, SL_JOB_DEPOSIT, 1);
	run_well(a, SL_JOB_DEPOSIT, 0);
	struct sl_job_result result = run(a, (struct sl_job){.kind = SL_JOB_COMMITMENT});
	deposit_hash(a, 0, hash);
	assert_memory_equal(result.hash, hash, SL_HASH_BYTES);
	assert_true(passes(a, 0));
	assert_memory_equal(a->workspace.s, a->state[0], sizeof a->state[0]); /* it is mixed from there */
	struct sl_payload payload = {.source = SL_SOURCE_SLOT, .at = (size_t)SL_CHUNK_ELEMENTS * 36 / 8};
	struct sl_chunk sent = {.index = 1, .size = sizeof chunk};
	sl_payload_write(&a->workspace, &a->view, &payload, &sent, NULL, chunk);
	assert_memory_equal(chunk, sl_slot_chunk(&a->workspace.state_file, &a->view, 0, 1), sizeof chunk);
}

/* Every bit of a slot counts, and an empty one does not pass. */
TEST_WITH(fetched_has_the_hash, setup, teardown)
{
	struct attempt *a = *state;
	assert_false(passes(a, 1));
	fetch(a, 1, 1, 1);
	assert_false(passes(a, 1));
	fetch(a, 1, 1, 0);
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
TEST_WITH(deposited_is_of_the_field, setup, teardown)
{
	struct attempt *a = *state;
	uint8_t hash[SL_HASH_BYTES], *slot = sl_slot_state(&a->workspace.state_file, 1);
	fetch_all(a);
	for (uint32_t l = 0; l < ELEMENTS; l += ELEMENTS - 1) {
		uint64_t wrong = P;
		sl_bytes_replace(slot, l, a->view.field.bits, wrong);
		sl_canonical_deposit(&a->workspace.scope, slot, sl_slot_state_bytes(&a->view), hash);
		struct sl_job job = {.kind = SL_JOB_CHECK, .chunk = 1, .expected = hash};
		assert_int_equal(run(a, job).code, SL_ERR_INVALID);
		fetch_all(a);
	}
}

/* --- keys --- */

/* Each neighbour's share is a leaf under the root, and theta = 2 of them give the key. */
TEST_WITH(own_secrets, setup, teardown)
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
	run_well(a, SL_JOB_ENCODE, 0);
	run_well(a, SL_JOB_SECRETS, 0);
	assert_memory_not_equal(key, own->key, sizeof key); /* fresh in every attempt */
}

/* --- mixing --- */

/* Mix chunk m from the slots of both neighbours. */
static struct sl_job_result mix_first(struct attempt *a, uint32_t m)
{
	return run(a, (struct sl_job){.kind = SL_JOB_MIX, .chunk = m});
}

/* On a complete graph exact is done after one exchange. */
TEST_WITH(first_exchange_of_exact, setup, teardown)
{
	struct attempt *a = *state;
	a->view.engine = SL_ENGINE_EXACT;
	a->view.steps = 1;
	fetch_all(a);
	memcpy(a->workspace.s, a->state[0], sizeof a->state[0]);
	for (uint32_t m = 0; m < 2; m++)
		assert_int_equal(mix_first(a, m).code, SL_OK);
	for (uint32_t l = 0; l < ELEMENTS; l++)
		assert_int_equal(a->workspace.s[l], l + 1 < ELEMENTS ? 0 : N);
}

/* x(1) = W x(0), and the sum over k has its first two terms. */
TEST_WITH(first_exchange_of_longer_exact, setup, teardown)
{
	struct attempt *a = *state;
	const struct sl_field *field = &a->view.field;
	uint64_t third = sl_field_inverse(field, 3);
	a->view.engine = SL_ENGINE_EXACT;
	a->view.steps = 2;
	a->workspace.analysis.r[0] = 5;
	a->workspace.analysis.r[1] = 7;
	fetch_all(a);
	memcpy(a->workspace.s, a->state[0], sizeof a->state[0]);
	for (uint32_t m = 0; m < 2; m++)
		assert_int_equal(mix_first(a, m).code, SL_OK);
	for (uint32_t l = 0; l < ELEMENTS; l++) {
		uint64_t next = sl_field_mul(field, third, l + 1 < ELEMENTS ? 0 : N);
		assert_int_equal(a->workspace.s[l], next);
		assert_int_equal(a->workspace.x[l],
				 sl_field_add(field, sl_field_mul(field, 5, a->state[0][l]),
					      sl_field_mul(field, 7, next)));
	}
}

/* X(1) = X(0) + sum of trunc((X_j - X_0) / 3). */
TEST_WITH(first_exchange_of_metropolis, setup, teardown)
{
	struct attempt *a = *state;
	fetch_all(a);
	memcpy(a->workspace.s, a->state[0], sizeof a->state[0]);
	for (uint32_t m = 0; m < 2; m++)
		assert_int_equal(mix_first(a, m).code, SL_OK);
	for (uint32_t l = 0; l < ELEMENTS; l++) {
		int64_t x[N], next;
		for (uint32_t i = 0; i < N; i++)
			x[i] = (int64_t)(a->state[i][l] << a->view.fraction);
		next = x[0] + (x[1] - x[0]) / 3 + (x[2] - x[0]) / 3;
		assert_int_equal((int64_t)a->workspace.s[l], next);
	}
}

/* The spread is that of states alone, of the first elements, to two digits; exact has none. */
TEST_WITH(spread, setup, teardown)
{
	struct attempt *a = *state;
	fetch_all(a);
	double most = 0;
	for (uint32_t l = 0; l < 256; l++)
		for (uint32_t i = 1; i < N; i++)
			most = fmax(most, fabs((double)a->state[i][l] - (double)a->state[0][l]));
	memcpy(a->workspace.s, a->state[0], sizeof a->state[0]);
	a->view.steps = 3;
	struct sl_job_result result = mix_first(a, 0);
	assert_true(fabs(result.real / (N * most) - 1) < 0.05);
	assert_true(result.real == sl_spectrum_two_digits(result.real));
	assert_true(isnan(mix_first(a, 1).real)); /* of the first chunk only */
	a->view.engine = SL_ENGINE_EXACT;
	assert_true(isnan(mix_first(a, 0).real));
}

/* Of K exchanges at most SL_SPREADS_MAX have a spread, the first and the last among them. */
TEST_WITH(spreads_are_few, setup, teardown)
{
	static const uint64_t steps[] = {1, 2, 99, 100, 101, 199, 200, 5000};
	struct attempt *a = *state;
	uint8_t *bytes = calloc(SL_CHUNK_ELEMENTS, SL_STATE_BYTES);
	struct sl_buffer second = {.from = 1, .bytes = bytes};
	struct sl_buffer first = {.bytes = bytes, .next = &second};
	for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
		uint32_t count = 0;
		a->view.steps = steps[k];
		for (uint64_t i = 1; i < steps[k]; i++) { /* exchange 0 is from the slots */
			struct sl_job job = {.kind = SL_JOB_MIX, .iteration = i, .buffers = &first};
			bool has = !isnan(run(a, job).real);
			assert_true(has || i + 1 < steps[k]);
			count += has;
		}
		assert_true(count < SL_SPREADS_MAX && (count + 1 == steps[k] || count >= SL_SPREADS_MAX / 2));
	}
	free(bytes);
}

/* Chunks are as the forest has them: here three. What comes up is added, Z is taken. */
TEST_WITH(chunk_of_a_forest, setup, teardown)
{
	struct attempt *a = *state;
	uint32_t chunk = sl_engine_forest_elements(ELEMENTS, 3);
	uint8_t *packed = malloc(sl_slot_state_bytes(&a->view)), *out = malloc(sl_slot_state_bytes(&a->view));
	a->view.engine = SL_ENGINE_FOREST;
	a->view.state_elements = chunk;
	a->view.state_chunks = 3;
	assert_true(chunk < SL_CHUNK_ELEMENTS);
	memcpy(a->workspace.s, a->state[0], sizeof a->state[0]);
	sl_bytes_pack(packed, a->state[2] + chunk, chunk, a->view.field.bits);
	struct sl_buffer b = {.from = 1, .index = 1, .iteration = SL_FOREST_UP, .bytes = packed};
	struct sl_job job = {.kind = SL_JOB_MIX, .chunk = 1, .iteration = SL_FOREST_UP, .buffers = &b};
	assert_int_equal(run(a, job).code, SL_OK);
	for (uint32_t l = 0; l < ELEMENTS; l++) {
		uint64_t sum = sl_field_add(&a->view.field, a->state[0][l], a->state[2][l]);
		bool within = l >= chunk && l < 2 * chunk;
		assert_int_equal(a->workspace.s[l], within ? sum : a->state[0][l]);
	}
	b.iteration = job.iteration = SL_FOREST_DOWN;
	assert_int_equal(run(a, job).code, SL_OK);
	assert_memory_equal(a->workspace.s + chunk, a->state[2] + chunk, chunk * sizeof *a->workspace.s);
	assert_int_equal(a->workspace.s[2 * chunk], a->state[0][2 * chunk]);
	sl_job_mix_write(&a->workspace, &a->view, &(struct sl_chunk){.index = 1}, out);
	assert_memory_equal(out, packed, sl_packed_bytes(chunk, a->view.field.bits));
	free(out);
	free(packed);
}

/* A neighbour's state is of the field in every exchange. */
TEST_WITH(states_are_of_the_field, setup, teardown)
{
	struct attempt *a = *state;
	a->view.engine = SL_ENGINE_EXACT;
	fetch_all(a);
	memset(sl_slot_chunk(&a->workspace.state_file, &a->view, 2, 1), 0xff, 8);
	for (a->view.steps = 1; a->view.steps <= 2; a->view.steps++) {
		struct sl_job_result result = mix_first(a, 1);
		assert_int_equal(result.code, SL_ERR_INVALID);
		assert_int_equal(result.from, 1);
	}
	uint8_t *one = calloc(SL_CHUNK_ELEMENTS, sizeof(uint64_t)),
		*two = calloc(SL_CHUNK_ELEMENTS, sizeof(uint64_t));
	struct sl_buffer second = {.from = 1, .iteration = 1, .bytes = two};
	struct sl_buffer first = {.from = 0, .iteration = 1, .bytes = one, .next = &second};
	struct sl_job job = {.kind = SL_JOB_MIX, .iteration = 1, .buffers = &first};
	assert_int_equal(run(a, job).code, SL_OK);
	memset(one, 0xff, 8);
	struct sl_job_result result = run(a, job);
	assert_int_equal(result.code, SL_ERR_INVALID);
	assert_int_equal(result.from, 0);
	free(one);
	free(two);
}

/* --- checksums --- */

/* phi of the own masked state, of those kept, and of Z; and the first ones add up to the last. */
TEST_WITH(checksums, setup, teardown)
{
	struct attempt *a = *state;
	const struct sl_field *field = &a->view.field;
	static uint32_t keepers[] = {1, 2, 0};
	uint8_t seed[SL_HASH_BYTES] = {7};
	fetch_all(a);
	assert_int_equal(run(a, (struct sl_job){.kind = SL_JOB_SUM}).code, SL_OK);
	struct sl_job job = {.kind = SL_JOB_CHECKSUM, .expected = seed};
	struct sl_job_result result = run(a, job);
	assert_int_equal(result.code, SL_OK);
	assert_int_equal(result.points, sl_view_points(&a->view));
	static uint8_t memory[1 << 16];
	struct sl_checksum checksum;
	struct sl_arena arena;
	uint64_t phi[N + 1][SL_CHECKSUM_POINTS_MAX] = {0};
	sl_arena_init(&arena, memory, sizeof memory);
	assert_int_equal(sl_checksum_init(&checksum, field, result.points, ELEMENTS, seed, &arena), SL_OK);
	for (uint32_t i = 0; i < N; i++)
		sl_checksum_add(&checksum, a->state[i], 0, ELEMENTS, phi[i]);
	for (uint32_t k = 0; k < result.points; k++) {
		for (uint32_t i = 0; i < N; i++)
			phi[N][k] = sl_field_add(field, phi[N][k], phi[i][k]);
		for (uint32_t i = 0; i <= N; i++)
			assert_int_equal(result.values[i * result.points + k], phi[i][k]);
	}
	uint64_t total = result.values[N * result.points];
	a->view.deposits_forest = true; /* only that of the last one is kept */
	a->view.keeper = keepers;
	uint64_t kept = result.values[2 * result.points];
	result = run(a, job);
	assert_int_equal(result.values[result.points], kept);
	assert_int_equal(result.values[2 * result.points], total);
}

/* --- sums --- */

TEST_WITH(each_is_added_once, setup, teardown)
{
	struct attempt *a = *state;
	uint8_t hash[SL_HASH_BYTES];
	uint64_t *z = calloc(ELEMENTS, sizeof *z);
	z[ELEMENTS - 1] = N;
	sl_canonical_result(&a->workspace.scope, a->view.h, z, ELEMENTS, a->view.field.bits, hash);
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
	assert_false(wiped(a->workspace.shares[0], sl_packed_bytes(3, a->view.field.bits))); /* to be sent */
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
		run_well(a, SL_JOB_SECRETS, 0);
		if (shared == 1)
			share(a);
		sl_job_wipe(&a->workspace);
		assert_true(wiped(a->workspace.x, ELEMENTS * sizeof *a->workspace.x));
		assert_true(wiped(a->workspace.s, ELEMENTS * sizeof *a->workspace.s));
		assert_true(wiped(a->workspace.scratch.base, a->workspace.scratch.size));
		assert_true(wiped(&a->workspace.secrets, sizeof a->workspace.secrets));
	}
}

TEST_WITH(when_the_attempt_is_over_seeded, setup_seeded, teardown)
{
	when_the_attempt_is_over(state);
}
