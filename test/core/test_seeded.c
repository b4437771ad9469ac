/* `sharing: seeded` (ROUND.md §5.2 Sharing): each neighbour gets a key instead of a vector; Z is the same.
 */
#include <sodium.h>

#include "common/compute/state.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

#define MANY (9 * SL_CHUNK_ELEMENTS) /* and one more: ten chunks, two jobs each way */

static struct driver *seeded(uint32_t learners, uint64_t n)
{
	struct driver *p = driver_new(learners, n);
	p->config.parameters.sharing = SL_SHARING_SEEDED;
	return driver_agree(p);
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

/* --- one core, step by step --- */

TEST(seeds_go_first)
{
	struct driver *p = seeded(3, MANY);
	play(p, "analysis done\n"
		"encode done -> ENCODED, share 0 to 2 3, compute share");
	assert_int_equal(p->actions.items[1].send.message.chunk.size, SL_KEY_BYTES);
	play(p, "secrets done -> key share to 2 3");
	play(p, "share 0 from 3 -> compute gather\n"
		"gather done ->\n"
		"share done -> compute share"); /* the seed of 2 is missing */
	assert_int_equal(p->chunk[SL_JOB_SHARE], SL_SEED_CHUNKS);
	play(p, "share done ->\n"
		"share 0 from 2 -> compute gather, compute expand\n"
		"gather done ->\n"
		"expand done -> compute deposit, *, compute expand"); /* of the chunks that are complete */
	assert_int_equal(p->chunk[SL_JOB_EXPAND], SL_SEED_CHUNKS);
	play(p, "expand done ->\n"
		"deposit done -> deposit of 1 3 to 2 3, compute deposit");
	driver_free(p);
}

/* If the neighbours' seeds are here in time, each part of the vector is finished before the next. */
CASE(seeds_expand_side_by_side, seeded(2, MANY),
     "analysis done\n"
     "share 0 from 2 -> compute gather\n"
     "encode done -> ENCODED, share 0 to 2, compute share\n"
     "gather done\n"
     "share done -> compute expand\n"
     "expand done -> compute share\n"
     "share done -> compute expand\n"
     "secrets done -> key share to 2, compute deposit, *\n"
     "deposit done -> deposit of 1 3 to 2, compute deposit")

CASE(seeds_come_once, seeded(3, MANY),
     "analysis done\n"
     "encode done\n"
     "share 1 from 2 -> REJECTED 2: a share out of order, drop\n"
     "share 0 size -31 from 2 -> REJECTED 2: a share of the wrong size, drop\n"
     "share 0 size -1 from 2 -> REJECTED 2: a share of the wrong size, drop\n"
     "share 0 size +1 from 2 -> REJECTED 2: a share of the wrong size, drop\n"
     "share 0 size +131040 from 2 -> REJECTED 2: a share of the wrong size, drop\n" /* a chunk of a vector */
     "share 0 v238 from 2 -> drop\n"
     "share 0 from 2 -> compute gather\n"
     "share 0 from 2 -> REJECTED 2: a share out of order, drop\n"
     "share 1 from 2 -> REJECTED 2: a share out of order, drop")

/* Some neighbours have agreed on the view before; 2 sends each seed twice, first for a view that it has left.
 */
CASE(seeds_come_early, seeded(4, MANY),
     "share 0 v238 from 2 2 ->\n"
     "share 0 from 2 -> drop\n"
     "share 0 from 2 ->\n"
     "share 0 from 3 4 ->\n"
     "analysis done -> VIEW, SHARE, compute encode, compute secrets, REJECTED 2: a share out of order, "
     "compute gather, drop\n"
     "gather done ->\n"
     "encode done -> ENCODED, share 0 to 2 3 4, compute share\n"
     "share done -> compute expand")

TEST(a_seed_is_missing)
{
	struct driver *p = seeded(3, 4);
	play(p, "analysis done\n"
		"encode done\n"
		"secrets done\n"
		"key share from 3\n"
		"share 0 from 3\n"
		"gather done\n"
		"share done\n"
		"due +10000\n"
		"deadline +10000 -> FAILED stalled 2, *");
	driver_free(p);
}

/* --- whole rounds --- */

#define CAPTURED 512u
static struct {
	uint8_t z[CAPTURED];
	uint32_t closed;
} result;

static void capture(struct sl_sim *sim, uint32_t i, struct sl_job_result *r)
{
	const struct sl_workspace *workspace = &sim->learners[i].host.workspace;
	if (r->kind != SL_JOB_CLOSE)
		return;
	size_t bytes = sl_state_packed(sim->learners[i].host.view);
	assert_true(bytes <= sizeof result.z);
	if (result.closed++ == 0)
		memcpy(result.z, workspace->s, bytes);
	assert_memory_equal(result.z, workspace->s, bytes);
}

static void run(uint64_t p, const char *topology, uint64_t n, enum sl_sharing_kind kind)
{
	struct sl_sim_options o = {.seed = p % 1000 + n, .learners = 6, .topology = topology};
	o.parameters.p = p;
	o.parameters.n = n;
	o.parameters.sharing = kind;
	o.parameters.decimals = 2;
	struct sl_sim *sim = sl_sim_new(&o);
	result.closed = 0;
	sim->tap_result = capture;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	assert_int_equal(result.closed, 6);
	sl_sim_free(sim);
}

/* The same models give the same Z with each sharing. */
TEST(one_sum)
{
	static const uint64_t primes[] = {1020431, SL_P_MERSENNE31, (UINT64_C(1) << 36) - 5,
					  (UINT64_C(1) << 44) - 17};
	static const char *const topologies[] = {"complete", "ring", "line", "star"};
	uint8_t z[CAPTURED];
	for (uint32_t k = 0; k < 16; k++)
		for (enum sl_sharing_kind kind = SL_SHARING_SHAMIR; kind <= SL_SHARING_SEEDED; kind++) {
			uint64_t n = 1 + 3 * k;
			run(primes[k % 4], topologies[k / 4], n, kind);
			if (kind != SL_SHARING_SHAMIR)
				assert_memory_equal(z, result.z, (n + 1) * sizeof *z);
			memcpy(z, result.z, sizeof z);
		}
}

#define LEARNERS 5u
static struct {
	uint32_t count;
	uint8_t key[LEARNERS * LEARNERS][SL_KEY_BYTES];
} sent;

static bool hear(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)i;
	(void)j;
	if (m->kind != SL_MSG_SHARE || sim->options.parameters.sharing != SL_SHARING_SEEDED)
		return true;
	assert_true(m->chunk.size == SL_KEY_BYTES && sent.count < LEARNERS * LEARNERS);
	for (uint32_t k = 0; k < sent.count; k++)
		assert_memory_not_equal(sent.key[k], m->chunk.bytes, SL_KEY_BYTES);
	memcpy(sent.key[sent.count++], m->chunk.bytes, SL_KEY_BYTES);
	return true;
}

static uint64_t forecast(uint64_t n, enum sl_sharing_kind kind)
{
	struct sl_sim_options o = {.seed = n, .learners = LEARNERS, .parameters.n = n};
	o.parameters.sharing = kind;
	o.parameters.p = SL_P_MERSENNE31;
	struct sl_sim *sim = sl_sim_new(&o);
	sent.count = 0;
	sim->tap = hear;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	uint64_t bytes = sl_sim_expect(sim, 0, SL_REPORT_VIEW, SL_REASON_NONE)->report.view.bytes;
	sl_sim_free(sim);
	return bytes;
}

/* Each neighbour gets 32 bytes of its own, for every n; the forecast shrinks accordingly. */
TEST(n_does_not_matter)
{
	for (uint64_t n = 1; n <= MANY; n *= 10) {
		uint64_t bytes = forecast(n, SL_SHARING_SEEDED);
		assert_int_equal(sent.count, LEARNERS * (LEARNERS - 1));
		assert_int_equal(forecast(n, SL_SHARING_OS) - bytes,
				 (LEARNERS - 1) * (sl_packed_bytes(n + 1, 31) - SL_KEY_BYTES));
	}
}
