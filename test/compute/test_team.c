/* Jobs that several workers share: all bits are the same for any number of them, in whatever order the parts
 * run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/base/bytes.h"
#include "daemon/runtime/pool.h"
#include "test/compute/attempt.h"
#include "test/lib/test.h"

static const uint32_t workers[] = {2, 3, 8};

/* A team whose parts run one by one, the last first. */
static void run_backwards(struct sl_team *team, uint32_t parts, sl_team_part part, void *context)
{
	for (uint32_t k = parts; k-- > 0;)
		part(context, k, k % team->workers);
}

/* All that the jobs of an attempt write. */
struct trace {
	struct attempt *a;
	crypto_generichash_state hash;
	uint8_t digest[SL_HASH_BYTES];
};

static void note(struct trace *trace, const void *bytes, size_t size)
{
	crypto_generichash_update(&trace->hash, bytes, size);
}

/* Run a job; note its result, s and the second vector. */
static void run(struct trace *trace, struct sl_job job)
{
	struct attempt *a = trace->a;
	struct sl_job_result result = attempt_run(a, job);
	note(trace, &result.code, sizeof result.code);
	note(trace, &result.from, sizeof result.from);
	note(trace, &result.real, sizeof result.real);
	note(trace, result.hash, sizeof result.hash);
	note(trace, &result.total, sizeof result.total);
	note(trace, result.strands, sizeof result.strands);
	note(trace, &result.note.index, sizeof result.note.index);
	note(trace, &result.note.clamped, sizeof result.note.clamped);
	note(trace, &result.note.rounding, sizeof result.note.rounding);
	note(trace, &result.update, sizeof result.update);
	if (result.values != NULL)
		note(trace, result.values,
		     (a->view.degree + 2) * sl_view_points(&a->view) * sizeof *result.values);
	note(trace, a->workspace.s, a->workspace.s_bytes);
	note(trace, a->workspace.second, ELEMENTS * sizeof *a->workspace.second);
	note(trace, a->workspace.committed, (ELEMENTS - 1) * sizeof(float));
	note(trace, a->workspace.state_file.base, LEARNERS * a->workspace.state_file.slot_bytes);
}

static void share(struct trace *trace)
{
	struct attempt *a = trace->a;
	uint8_t *packed = malloc(sl_slot_state_bytes(&a->view));
	struct sl_buffer second = {.from = 1, .bytes = packed}, first = {.next = &second, .bytes = packed};
	sl_bytes_pack(packed, a->state[1], ELEMENTS, a->view.field.bits);
	run(trace, (struct sl_job){.kind = SL_JOB_ENCODE});
	run(trace, (struct sl_job){.kind = SL_JOB_SECRETS});
	memcpy(a->keys[0], a->workspace.secrets.key, SL_KEY_BYTES);
	for (uint32_t m = 0; m < 2; m = sl_view_share_end(&a->view, m)) {
		run(trace, (struct sl_job){.kind = SL_JOB_SHARE, .chunk = m});
		for (uint32_t r = 0; r < 2; r++)
			note(trace, a->workspace.shares[r], sl_view_share_bytes(&a->view, m));
	}
	run(trace, (struct sl_job){.kind = SL_JOB_GATHER, .buffers = &first});
	if (a->view.sharing == SL_SHARING_SEEDED)
		run(trace, (struct sl_job){.kind = SL_JOB_EXPAND});
	for (uint32_t m = 0; m < 2; m++)
		run(trace, (struct sl_job){.kind = SL_JOB_DEPOSIT, .chunk = m});
	run(trace, (struct sl_job){.kind = SL_JOB_COMMITMENT});
	free(packed);
}

/* Mix from the deposits, then from states if there is another exchange. */
static void mix(struct trace *trace, enum sl_engine engine, uint64_t steps)
{
	struct attempt *a = trace->a;
	bool up = engine == SL_ENGINE_FOREST;
	uint8_t *packed = calloc(ELEMENTS, sizeof(uint64_t));
	struct sl_buffer second = {.from = 1, .iteration = 1, .bytes = packed},
			 first = {.next = &second, .iteration = 1, .bytes = packed};
	a->view.engine = engine;
	a->view.steps = steps;
	sl_bytes_pack(packed, a->state[1], ELEMENTS, a->view.field.bits);
	attempt_set_state(a, a->state[0]);
	for (uint32_t m = 0; m < 2 && !up; m++)
		run(trace, (struct sl_job){.kind = SL_JOB_MIX, .chunk = m});
	if (steps > 1)
		run(trace, (struct sl_job){.kind = SL_JOB_MIX, .iteration = 1, .buffers = &first});
	if (!up)
		run(trace, (struct sl_job){.kind = SL_JOB_CLOSE});
	free(packed);
}

/* Have some values clamped, in several blocks. */
static void exceed(struct attempt *a)
{
	a->workspace.clamp = true;
	for (size_t l = 0; l + 1 < ELEMENTS; l += 1000)
		((float *)a->workspace.trained)[l] = 100;
}

/* Do all jobs of an attempt on `team`. */
static void trace_of(enum sl_sharing_kind kind, struct sl_team *team, uint8_t digest[static SL_HASH_BYTES])
{
	static const uint8_t seed[SL_HASH_BYTES] = {7};
	void *state;
	assert_int_equal(attempt_setup(&state), 0);
	struct trace trace = {.a = state};
	struct attempt *a = trace.a;
	crypto_generichash_init(&trace.hash, NULL, 0, SL_HASH_BYTES);
	a->view.sharing = kind;
	a->workspace.randomness_from_os = kind == SL_SHARING_OS;
	a->workspace.team = team;
	a->workspace.analysis.r[0] = 5;
	a->workspace.analysis.r[1] = 7;
	exceed(a);
	share(&trace);
	if (kind == SL_SHARING_SEEDED) {
		attempt_set_noise(a, 0.05, SL_DP_LEARNER);
		share(&trace);
	}
	memcpy(a->keys[0], a->keys[1], SL_KEY_BYTES);
	attempt_fetch_all(a);
	run(&trace, (struct sl_job){.kind = SL_JOB_CHECK, .chunk = 1, .expected = seed});
	mix(&trace, SL_ENGINE_METROPOLIS, 2);
	mix(&trace, SL_ENGINE_EXACT, 2);
	mix(&trace, SL_ENGINE_FOREST, 2);
	mix(&trace, SL_ENGINE_EXACT, 1);
	run(&trace, (struct sl_job){.kind = SL_JOB_ENCODE});
	run(&trace, (struct sl_job){.kind = SL_JOB_SECRETS});
	run(&trace, (struct sl_job){.kind = SL_JOB_CHECKSUM, .expected = seed});
	run(&trace, (struct sl_job){.kind = SL_JOB_SUM});
	run(&trace, (struct sl_job){.kind = SL_JOB_ACCEPT});
	crypto_generichash_final(&trace.hash, digest, SL_HASH_BYTES);
	attempt_teardown(&state);
}

TEST(all_jobs)
{
	uint8_t alone[SL_HASH_BYTES], together[SL_HASH_BYTES];
	for (enum sl_sharing_kind kind = SL_SHARING_SHAMIR; kind <= SL_SHARING_SEEDED; kind++) {
		trace_of(kind, NULL, alone);
		for (size_t k = 0; k < sizeof workers / sizeof *workers; k++) {
			struct sl_team backwards = {workers[k], run_backwards};
			struct sl_pool pool;
			trace_of(kind, &backwards, together);
			assert_memory_equal(together, alone, SL_HASH_BYTES);
			assert_int_equal(sl_pool_open(&pool, workers[k]), 0);
			trace_of(kind, &pool.team, together);
			sl_pool_close(&pool);
			assert_memory_equal(together, alone, SL_HASH_BYTES);
		}
	}
}

/* The first of several faults in the vector is named, not the first that was met. */
TEST_WITH(first_fault, attempt_setup, attempt_teardown)
{
	struct attempt *a = *state;
	struct sl_team backwards = {3, run_backwards};
	size_t third = sl_packed_bytes(2 * (size_t)SL_BLOCK_ELEMENTS, a->view.field.bits);
	a->workspace.team = &backwards;
	((float *)a->workspace.trained)[5000] = ((float *)a->workspace.trained)[20000] = NAN;
	struct sl_job_result result = attempt_run(a, (struct sl_job){.kind = SL_JOB_ENCODE});
	assert_int_not_equal(result.code, SL_OK);
	assert_int_equal(result.note.index, 5000);
	a->view.engine = SL_ENGINE_EXACT;
	a->view.steps = 1;
	attempt_fetch_all(a);
	memset(sl_slot_chunk(&a->workspace.state_file, &a->view, 2, 0) + third, 0xff, 8);
	memset(sl_slot_chunk(&a->workspace.state_file, &a->view, 1, 0) + 2 * third, 0xff, 8);
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_MIX});
	assert_int_equal(result.code, SL_ERR_INVALID);
	assert_int_equal(result.from, 1); /* neighbour 1 is learner 2 */
	result = attempt_run(a, (struct sl_job){.kind = SL_JOB_SUM});
	assert_int_equal(result.code, SL_ERR_INVALID);
	assert_int_equal(result.from, 2);
}
