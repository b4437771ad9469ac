/* `sharing: seeded` (PROTOCOL.md §5 Randomness and shares): a seed to each neighbour in place of a vector,
 * and the same sum. */
#include <stdlib.h>

#include <sodium.h>

#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "tools/sim/sim.h"

#define EXPECT(text, trace) assert_string_equal(trace, text)
#define MANY (9 * SL_CHUNK_ELEMENTS) /* and one more: ten chunks, two jobs each way */

static struct driver *driver_seeded(uint32_t learners, uint64_t n)
{
	struct driver *p = driver_build(learners, n);
	p->config.parameters.sharing = SL_SHARING_SEEDED;
	driver_start(p);
	return p;
}

static struct driver *driver_analysed(uint32_t learners, uint64_t n)
{
	struct driver *p = driver_seeded(learners, n);
	driver_agree(p);
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	return p;
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
	struct driver *p = driver_analysed(3, MANY);
	EXPECT("encode done -> share 0 to 2 3, compute share", tell_done(p, SL_JOB_ENCODE, SL_OK));
	assert_int_equal(p->actions.items[0].send.message.chunk.size, SL_KEY_BYTES);
	EXPECT("share 0 from 3 -> compute gather", tell_payload(p, 3, SL_MSG_SHARE, 0, 0));
	EXPECT("gather done ->", tell_done(p, SL_JOB_GATHER, SL_OK));
	EXPECT("share done -> compute share", tell_done(p, SL_JOB_SHARE, SL_OK)); /* 2's seed is missing */
	assert_int_equal(p->chunk[SL_JOB_SHARE], SL_SEED_CHUNKS);
	EXPECT("share done ->", tell_done(p, SL_JOB_SHARE, SL_OK));
	EXPECT("share 0 from 2 -> compute gather, compute expand", tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("gather done ->", tell_done(p, SL_JOB_GATHER, SL_OK));
	EXPECT("expand done -> compute expand", tell_done(p, SL_JOB_EXPAND, SL_OK));
	assert_int_equal(p->chunk[SL_JOB_EXPAND], SL_SEED_CHUNKS);
	EXPECT("expand done -> READY, compute commitment", tell_done(p, SL_JOB_EXPAND, SL_OK));
	driver_free(p, 0);
}

/* Where theirs are here in time, each part of the vector is done with before the next. */
TEST(seeds_expand_side_by_side)
{
	struct driver *p = driver_analysed(2, MANY);
	EXPECT("share 0 from 2 -> compute gather", tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("encode done -> share 0 to 2, compute share", tell_done(p, SL_JOB_ENCODE, SL_OK));
	tell_done(p, SL_JOB_GATHER, SL_OK);
	EXPECT("share done -> compute expand", tell_done(p, SL_JOB_SHARE, SL_OK));
	EXPECT("expand done -> compute share", tell_done(p, SL_JOB_EXPAND, SL_OK));
	EXPECT("share done -> compute expand", tell_done(p, SL_JOB_SHARE, SL_OK));
	EXPECT("expand done -> READY, compute commitment", tell_done(p, SL_JOB_EXPAND, SL_OK));
	driver_free(p, 0);
}

TEST(seeds_come_once)
{
	struct driver *p = driver_analysed(3, MANY);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	EXPECT("share 1 from 2 -> REJECTED 2: a share out of order, drop",
	       tell_payload(p, 2, SL_MSG_SHARE, 1, 0));
	EXPECT("share 0 from 2 -> compute gather", tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("share 0 from 2 -> REJECTED 2: a share out of order, drop",
	       tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("share 1 from 2 -> REJECTED 2: a share out of order, drop",
	       tell_payload(p, 2, SL_MSG_SHARE, 1, 0));
	driver_free(p, 0);
}

static const char *tell_seed(struct driver *p, size_t size, uint8_t view)
{
	struct sl_message m = {.kind = SL_MSG_SHARE, .chunk = {.t = 1, .a = 1}};
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	memcpy(m.chunk.view, p->view->h, SL_HASH_BYTES);
	m.chunk.view[0] ^= view;
	buffer->size = size;
	buffer->bytes = calloc(1, size);
	return tell(p,
		    (struct sl_event){.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &m, .buffer = buffer});
}

TEST(seeds_have_one_size)
{
	struct driver *p = driver_analysed(3, MANY);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	const size_t wrong[] = {1, SL_KEY_BYTES - 1, SL_KEY_BYTES + 1,
				SL_CHUNK_ELEMENTS * p->view->field.bytes};
	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
		EXPECT("share 0 from 2 -> REJECTED 2: a share of the wrong size, drop",
		       tell_seed(p, wrong[k], 0));
	EXPECT("share 0 from 2 -> drop", tell_seed(p, SL_KEY_BYTES, 1)); /* of another view */
	EXPECT("share 0 from 2 -> compute gather", tell_seed(p, SL_KEY_BYTES, 0));
	driver_free(p, 0);
}

/* A neighbour that closed its view first. What is of the right view and no seed is told from one. */
TEST(seeds_come_early)
{
	struct driver *p = driver_seeded(4, MANY);
	driver_agree(p);
	for (uint8_t view = 0; view < 2; view++)
		for (int times = 0; times < 2; times++)
			EXPECT("share 0 from 2 ->", tell_seed(p, SL_KEY_BYTES, view));
	EXPECT("share 0 from 3 ->", tell_payload(p, 3, SL_MSG_SHARE, 0, 0));
	EXPECT("share 0 from 4 ->", tell_payload(p, 4, SL_MSG_SHARE, 0, 0));
	EXPECT("analysis done -> VIEW, SHARE, compute encode, REJECTED 2: a share out of order, compute "
	       "gather, drop",
	       tell_done(p, SL_JOB_ANALYSE, SL_OK));
	EXPECT("gather done ->", tell_done(p, SL_JOB_GATHER, SL_OK)); /* nothing to add them to yet */
	EXPECT("encode done -> share 0 to 2 3 4, compute share", tell_done(p, SL_JOB_ENCODE, SL_OK));
	EXPECT("share done -> compute expand", tell_done(p, SL_JOB_SHARE, SL_OK));
	driver_free(p, 0);
}

TEST(a_seed_is_owed)
{
	struct driver *p = driver_analysed(3, 4);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	tell_payload(p, 3, SL_MSG_SHARE, 0, 0);
	tell_done(p, SL_JOB_GATHER, SL_OK);
	tell_done(p, SL_JOB_SHARE, SL_OK);
	assert_int_equal(sl_core_deadline(p->core), p->now + p->config.stall_timeout_ms);
	tell_time(p, p->config.stall_timeout_ms);
	assert_non_null(strstr(p->trace.text, "FAILED stalled"));
	const struct sl_report *report = &p->actions.items[0].report;
	assert_true(sl_bit(report->set, 1) && !sl_bit(report->set, 2));
	driver_free(p, 0);
}

/* --- whole rounds --- */

#define CAPTURED 64u
static struct {
	uint64_t z[CAPTURED];
	uint32_t closed;
} result;

static void capture(struct sl_sim *sim, uint32_t i, struct sl_job_result *r)
{
	const struct sl_workspace *workspace = &sim->learners[i].host.workspace;
	size_t bytes = (workspace->n + 1) * sizeof *workspace->s;
	if (r->kind != SL_JOB_CLOSE)
		return;
	if (result.closed++ == 0)
		memcpy(result.z, workspace->s, bytes);
	assert_memory_equal(result.z, workspace->s, bytes);
}

static void play(uint64_t p, const char *topology, uint64_t n, enum sl_sharing_kind kind)
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

/* The same models, and Z is the same whatever the shares are. */
TEST(one_sum)
{
	static const uint64_t primes[] = {1020431, SL_P_MERSENNE31, (UINT64_C(1) << 36) - 5,
					  (UINT64_C(1) << 44) - 17};
	static const char *const topologies[] = {"complete", "ring", "line", "star"};
	uint64_t z[CAPTURED];
	for (uint32_t k = 0; k < 16; k++)
		for (enum sl_sharing_kind kind = SL_SHARING_SHAMIR; kind <= SL_SHARING_SEEDED; kind++) {
			uint64_t n = 1 + 3 * k;
			play(primes[k % 4], topologies[k / 4], n, kind);
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

/* 32 bytes in all, whatever n is, and others for each neighbour; and what is forecast is as much less. */
TEST(n_does_not_matter)
{
	for (uint64_t n = 1; n <= MANY; n *= 10) {
		uint64_t bytes = forecast(n, SL_SHARING_SEEDED);
		assert_int_equal(sent.count, LEARNERS * (LEARNERS - 1));
		assert_int_equal(forecast(n, SL_SHARING_ADDITIVE) - bytes,
				 (LEARNERS - 1) * (4 * (n + 1) - SL_KEY_BYTES));
	}
}
