/* Claims of one participant of a run hold up the others for a bounded time, and have nobody else blamed. */
#include <string.h>

#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

#define CLAIMER 4u
#define VICTIM 0u
#define CLAIMED_ROUNDS 12
#define ROUND_MS 1000u /* a round takes less, without what CLAIMER does */

static struct sl_sim *against_claimer(bool (*tap)(struct sl_sim *, uint32_t, uint32_t, struct sl_message *))
{
	struct sl_sim_options o = {.seed = 5, .learners = 5, .parameters.rounds = CLAIMED_ROUNDS};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = tap;
	sim->liars = true;
	sim->learners[CLAIMER].liar = true;
	sl_sim_start(sim);
	return sim;
}

/* The others give penalties to CLAIMER alone. */
static void end_against_claimer(struct sl_sim *sim)
{
	for (size_t k = 0; k < sim->note_count; k++)
		if (sim->notes[k].report.kind == SL_REPORT_PENALTY && sim->notes[k].learner != CLAIMER)
			assert_int_equal(sim->notes[k].set & ~(UINT64_C(1) << CLAIMER), 0);
	sl_sim_free(sim);
}

/* --- a round that is never shown --- */

/* CLAIMER says to VICTIM that it is in the next round, and shows it no result. */
static bool claim_next(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	if (i != CLAIMER || j != VICTIM)
		return true;
	if (m->kind == SL_MSG_HELLO)
		m->hello.t++;
	return m->kind != SL_MSG_ROUND && m->kind != SL_MSG_DIGEST && m->kind != SL_MSG_RESULT;
}

/* Trainings are so long that no pause (ROUND.md §11.2 The exchange) is left from one round to the next.
 * VICTIM takes part in most rounds. With this seed, no learner gives it a penalty. */
TEST(a_round_that_is_never_shown)
{
	struct sl_sim *sim = against_claimer(claim_next);
	for (sl_round t = 1; t < CLAIMED_ROUNDS; t++) {
		for (uint32_t i = 0; i < sim->n; i++)
			sim->learners[i].training_ms = 200000;
		sl_sim_run_until_commit(sim, 1, t);
	}
	assert_in_range(sl_sim_count(sim, VICTIM, SL_REPORT_COMMITTED, SL_REASON_NONE, NULL), 9,
			CLAIMED_ROUNDS - 1);
	end_against_claimer(sim);
}

/* --- a round that is left and entered again --- */

/* Say Hello to `j`, as CLAIMER, with another round or incarnation. */
static void say_hello(struct sl_sim *sim, uint32_t j, sl_round t, uint32_t incarnation, uint32_t ms)
{
	const struct sl_scope *scope = &sim->learners[CLAIMER].host.config.scope;
	struct sl_message m = {.kind = SL_MSG_HELLO};
	m.hello.id = sim->ids[CLAIMER];
	m.hello.incarnation = incarnation;
	m.hello.t = t;
	m.hello.a = 1;
	m.hello.status = SL_PEER_STATUS_READY;
	memcpy(m.hello.run, scope->run, sizeof m.hello.run);
	memcpy(m.hello.roster, scope->roster, sizeof m.hello.roster);
	sl_sim_echo(sim, CLAIMER, j, &m, ms);
}

/* In each attempt CLAIMER says that it is in the next round, and then that it is not. */
static bool claim_and_return(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (i != CLAIMER || m->kind != SL_MSG_KEY_SHARE)
		return true;
	say_hello(sim, j, m->chunk.t + 1, 1, 0);
	say_hello(sim, j, m->chunk.t, 1, 30);
	return false;
}

TEST(a_round_that_is_left_and_entered_again)
{
	struct sl_sim *sim = against_claimer(claim_and_return);
	sl_sim_run_until_commit(sim, 0, CLAIMED_ROUNDS - 1);
	for (uint32_t i = 0; i < CLAIMER; i++)
		assert_int_equal(sl_sim_count(sim, i, SL_REPORT_FAILED, SL_REASON_COMMITTED, NULL), 2);
	end_against_claimer(sim);
}

/* --- another start over the same link --- */

/* CLAIMER says to VICTIM, beside each link state, that it has started again. */
static bool claim_start(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (i != CLAIMER || j != VICTIM || m->kind != SL_MSG_LINK_STATE ||
	    m->link_state.id != sim->ids[CLAIMER])
		return true;
	say_hello(sim, j, m->link_state.t, 1000, 0);
	return true;
}

TEST(another_start_over_the_same_link)
{
	struct sl_sim *sim = against_claimer(claim_start);
	sl_sim_run_until_commit(sim, VICTIM, CLAIMED_ROUNDS - 1);
	assert_int_equal(sl_sim_count(sim, VICTIM, SL_REPORT_COMMITTED, SL_REASON_NONE, NULL),
			 CLAIMED_ROUNDS - 1);
	assert_in_range(sim->now / 1000, 0, CLAIMED_ROUNDS * ROUND_MS); /* no stall */
	end_against_claimer(sim);
}

/* --- a key that cannot be opened --- */

/* CLAIMER signs for another deposit key than its key shares give, and does not release it. */
static bool sign_for_another_key(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	if (m->kind == SL_MSG_READY && m->ready.id == sim->ids[CLAIMER] && i == CLAIMER) {
		m->ready.key_hash[0] ^= 1;
		sl_sim_sign(sim, m);
	}
	return i != CLAIMER || m->kind != SL_MSG_KEY;
}

/* The others release, cannot open it, and end the attempt; in most rounds they go on without it. */
TEST(a_key_that_cannot_be_opened)
{
	struct sl_sim *sim = against_claimer(sign_for_another_key);
	sl_sim_run_until_commit(sim, VICTIM, CLAIMED_ROUNDS - 1);
	for (uint32_t i = 0; i < CLAIMER; i++)
		assert_int_equal(sl_sim_count(sim, i, SL_REPORT_OVER, SL_REASON_NONE, NULL), 2);
	end_against_claimer(sim);
}

/* --- a training without end --- */

/* CLAIMER says that it trains, and signs nothing. */
static bool train_on(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	if (i == CLAIMER && m->kind == SL_MSG_HELLO)
		m->hello.status = SL_PEER_STATUS_TRAINING;
	return i != CLAIMER || m->kind != SL_MSG_LINK_STATE || m->link_state.id != sim->ids[CLAIMER] ||
	       m->link_state.count == 0;
}

/* It costs straggler_timeout in the rounds 1, 2, 4 and 8, not in each. */
TEST(a_training_without_end)
{
	struct sl_sim *sim = against_claimer(train_on);
	sl_sim_run_until_commit(sim, VICTIM, CLAIMED_ROUNDS - 1);
	assert_in_range(sim->now / 1000, 4 * 60000, 4 * 60000 + CLAIMED_ROUNDS * ROUND_MS);
	end_against_claimer(sim);
}

/* --- records that are not passed on --- */

static bool keep_records(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	bool record = m->kind == SL_MSG_LINK_STATE || m->kind == SL_MSG_READY || m->kind == SL_MSG_DIGEST;
	(void)j;
	return i != CLAIMER || !record || *(sl_id *)sl_message_role(m, SL_ROLE_SIGNER) == sim->ids[i];
}

/* CLAIMER cuts the tree of each view. Each round takes some seconds more: no attempt ends for it. */
TEST(records_that_are_not_passed_on)
{
	struct sl_sim_options o = {
		.seed = 3, .learners = 9, .topology = "ring", .parameters.rounds = CLAIMED_ROUNDS};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = keep_records;
	sim->liars = true;
	sim->learners[CLAIMER].liar = true;
	sl_sim_start(sim);
	sl_sim_run_until_commit(sim, VICTIM, CLAIMED_ROUNDS);
	assert_in_range(sim->now / 1000, 0, CLAIMED_ROUNDS * 4 * ROUND_MS);
	end_against_claimer(sim);
}

/* --- what others wait for after the release --- */

#define EACH_ROUND (CLAIMED_ROUNDS - 1) /* those that VICTIM has committed in the end */

static enum sl_message_kind withheld;
static bool to_half; /* withhold it from the learners of even index only */

static bool withhold(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	return i != CLAIMER || m->kind != withheld || (to_half && j % 2 == 1);
}

/* CLAIMER sends no message of this kind. Each round is committed, at the latest by recovery; that costs
 * `stalls` times stall_timeout in all. (Not all learners that get a penalty have earned it: ROUND.md §15.2
 * Known gaps.) */
static void expect_recovered(enum sl_engine engine, enum sl_message_kind kind, bool half, uint32_t stalls)
{
	struct sl_sim_options o = {.seed = 5, .learners = 7, .parameters.rounds = CLAIMED_ROUNDS};
	o.parameters.mixing = engine;
	struct sl_sim *sim = sl_sim_new(&o);
	withheld = kind;
	to_half = half;
	sim->tap = withhold;
	sim->liars = true;
	sim->learners[CLAIMER].liar = true;
	sl_sim_start(sim);
	sl_sim_run_until_commit(sim, VICTIM, CLAIMED_ROUNDS - 1);
	assert_in_range(sim->now / 1000, stalls * 10000, stalls * 10000 + CLAIMED_ROUNDS * ROUND_MS);
	sl_sim_free(sim);
}

TEST(a_challenge_that_is_withheld)
{
	expect_recovered(SL_ENGINE_METROPOLIS, SL_MSG_CHALLENGE, false, EACH_ROUND);
	expect_recovered(SL_ENGINE_FOREST, SL_MSG_CHALLENGE, false, EACH_ROUND);
}

TEST(a_key_that_is_withheld)
{
	expect_recovered(SL_ENGINE_EXACT, SL_MSG_KEY, true, 0);
	expect_recovered(SL_ENGINE_METROPOLIS, SL_MSG_KEY, true, 8);
	expect_recovered(SL_ENGINE_FOREST, SL_MSG_KEY, false, EACH_ROUND);
}

TEST(states_that_are_withheld)
{
	expect_recovered(SL_ENGINE_FOREST, SL_MSG_STATE, false, EACH_ROUND);
	expect_recovered(SL_ENGINE_FOREST, SL_MSG_STATE, true, 5);
}

/* --- a member that is away --- */

#define AWAY 5u

/* In each third round CLAIMER names AWAY among its candidates. */
static bool name_the_one_that_is_away(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	static sl_id candidates[8];
	struct sl_link_state *state = &m->link_state;
	(void)j;
	if (i != CLAIMER || m->kind != SL_MSG_LINK_STATE || state->id != sim->ids[CLAIMER] ||
	    state->count == 0 || state->t % 3 != 0)
		return true;
	state->candidates = candidates;
	state->count = 0;
	for (uint32_t k = 0; k < sim->n; k++)
		if (k != CLAIMER)
			candidates[state->count++] = sim->ids[k];
	sl_sim_sign(sim, m);
	return true;
}

/* The others wait for its link state as for one that may wait for a straggler, and give it penalties, and
 * then CLAIMER. */
TEST(a_member_that_is_away_is_named)
{
	struct sl_sim_options o = {.seed = 5, .learners = 7, .parameters.rounds = CLAIMED_ROUNDS};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = name_the_one_that_is_away;
	sim->liars = true;
	sim->learners[CLAIMER].liar = true;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	sl_sim_isolate(sim, AWAY);
	sl_sim_run_until_commit(sim, VICTIM, CLAIMED_ROUNDS - 1);
	assert_in_range(sim->now / 1000, 0, CLAIMED_ROUNDS / 3 * (60000 + 10000) + CLAIMED_ROUNDS * ROUND_MS);
	sl_sim_free(sim);
}
