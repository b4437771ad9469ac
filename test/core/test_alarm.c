/* A false alarm: after the release one learner says that it recovers, or lies in its Checksum. The others go
 * on, at the price of one deposit more for each learner (ROUND.md §8.7 Checking what was passed on, §10.2
 * Deposits).
 */
#include "test/core/verbs.h"
#include "test/lib/test.h"

#define N 20u
#define LIAR (N - 1)
#define ROUNDS 4u

static struct {
	uint32_t deposits[ROUNDS + 1]; /* sent, by round */
	bool have;		       /* the liar says in each round that it recovers, */
	sl_round lies_until;	       /* .. or signs a false checksum in the rounds up to this one */
	uint32_t checksum;	       /* .. of the masked state at this place among its checksums */
} alarm;

/* Say to each learner that this one recovers, and holds nothing; go on all the same. */
static void cry(struct sl_sim *sim, uint32_t i, uint32_t j, const struct sl_key *key)
{
	uint8_t none[SL_LEARNERS_MAX / 8] = {0};
	struct sl_message m = {.kind = SL_MSG_HAVE};
	m.have.t = key->t;
	m.have.a = key->a;
	memcpy(m.have.view, key->view, SL_HASH_BYTES);
	m.have.held = m.have.keys = none;
	m.have.size = m.have.keys_size = (sim->n + 7) / 8;
	sl_sim_echo(sim, i, j, &m, 20);
}

static bool tap(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind == SL_MSG_DEPOSIT && m->chunk.index == 0)
		alarm.deposits[m->chunk.t]++;
	if (i != LIAR)
		return true;
	if (m->kind == SL_MSG_KEY && alarm.have && m->key.origin == sim->ids[LIAR])
		cry(sim, i, j, &m->key);
	if (m->kind == SL_MSG_CHECKSUM && m->checksums.id == sim->ids[LIAR] &&
	    m->checksums.t <= alarm.lies_until) {
		size_t one =
			m->checksums.size / 2; /* two masked states: its own, and the one that it keeps */
		((uint8_t *)(uintptr_t)m->checksums.values)[alarm.checksum * one] ^= 1;
		sl_sim_sign(sim, m);
	}
	return true;
}

/* With a max_degree below N, a learner is linked to some of the others only. */
static struct sl_sim *play_rounds(uint64_t max_degree)
{
	struct sl_sim_options o = {.seed = 9, .learners = N};
	o.parameters.rounds = ROUNDS;
	o.parameters.mixing = SL_ENGINE_FOREST;
	o.parameters.max_degree = max_degree;
	struct sl_sim *sim = sl_sim_new(&o);
	memset(alarm.deposits, 0, sizeof alarm.deposits);
	sim->tap = tap;
	sim->liars = true;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	return sim;
}

/* Each round costs two deposits of each learner at most, and is committed in its first attempt. */
static void expect_cheap(struct sl_sim *sim)
{
	for (sl_round t = 1; t <= ROUNDS; t++)
		assert_in_range(alarm.deposits[t], N - 1, 2 * N);
	for (size_t k = 0; k < sim->note_count; k++)
		if (sim->notes[k].report.kind == SL_REPORT_COMMITTED)
			assert_int_equal(sim->notes[k].report.a, 1);
}

/* All others have given a penalty to the liar, and to no other learner. */
static void expect_blame(struct sl_sim *sim)
{
	for (uint32_t i = 0; i < N; i++) {
		uint32_t blamed = 0;
		for (size_t k = 0; k < sim->note_count; k++) {
			const struct sl_sim_note *note = &sim->notes[k];
			if (note->learner != i || note->report.kind != SL_REPORT_PENALTY)
				continue;
			assert_true(note->set == UINT64_C(1) << LIAR);
			blamed++;
		}
		assert_true(i == LIAR || blamed > 0);
	}
}

TEST(one_that_says_it_recovers)
{
	alarm.have = true;
	struct sl_sim *sim = play_rounds(N);
	for (uint32_t i = 0; i < LIAR; i++)
		sl_sim_expect_none(sim, i, SL_REPORT_RECOVERING, SL_REASON_JOINED);
	expect_cheap(sim);
	expect_blame(sim);
	sl_sim_free(sim);
	alarm.have = false;
}

/* Owner or keeper lies: whose masked state is disputed, is fetched, and no other one. */
TEST(one_that_signs_a_false_checksum)
{
	for (uint64_t degree = 8; degree <= N; degree += N - 8)
		for (alarm.checksum = 0; alarm.checksum < 2; alarm.checksum++) {
			alarm.lies_until = ROUNDS;
			struct sl_sim *sim = play_rounds(degree);
			expect_cheap(sim);
			expect_blame(sim);
			sl_sim_free(sim);
		}
	alarm.lies_until = 0;
}
