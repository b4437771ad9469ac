/* Faults of the peer that is asked in catch-up (ROUND.md §11 Catch-up): at whichever message, the learner
 * gets the right model from another peer. */
#include <string.h>

#include "test/lib/test.h"
#include "test/core/verbs.h"

#define AWAY 3u
#define CHUNKS (SL_WINDOW + 1u)
#define A_CHUNK (SL_RESULT_BYTES / sizeof(float))
#define MANY ((CHUNKS - 1) * A_CHUNK + 3)
#define TWO (A_CHUNK + 3) /* chunks */
#define FEW 8u

#define CLOSE_PRIME UINT64_C(2147483629) /* as wide as p, and close: its model is wrong by little */

enum change {
	FLIP_FIRST,
	FLIP_LAST,
	NEXT_INDEX,
	FAR_INDEX,
	SHORTER,
	ANOTHER_VIEW,
	ANOTHER_ROUND,
	OTHER_PRIME,
	NO_PRIME,
	OTHER_EDGES,
	OTHER_PREVIOUS,
	OTHER_TOTAL,
	OTHER_STRANDS,
	OTHER_RESULT,
	OTHER_VIEW,
	OTHER_ATTEMPT
};

static void change_message(const struct sl_sim *sim, struct sl_message *m, enum change how);

/* The fault of the first peer that is asked. */
static struct {
	enum fault { NOTHING, LOSE, LOSE_ASK, FALL_SILENT, CUT, CHANGE } fault;
	uint32_t at; /* which of its messages, from 0 */
	enum change how;
	enum sl_message_kind kind; /* CHANGE: only of these */
	uint32_t server, said, asked;
	bool done;
} trouble;

static bool meddle(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	bool kind = m->kind == trouble.kind;
	switch (trouble.fault) {
	case LOSE:
		trouble.done |= trouble.said == trouble.at;
		return trouble.said++ != trouble.at;
	case FALL_SILENT:
		trouble.done |= trouble.said == trouble.at;
		return trouble.said++ < trouble.at;
	case CUT:
		if (trouble.said++ != trouble.at)
			return true;
		sl_sim_cut(sim, i, j);
		trouble.done = true;
		return false;
	case CHANGE:
		if (kind && trouble.said++ == trouble.at) {
			change_message(sim, m, trouble.how);
			trouble.done = true;
		}
		return true;
	default:
		return true;
	}
}

static bool tap(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (i == AWAY && m->kind == SL_MSG_REQUEST) {
		trouble.server = trouble.server == UINT32_MAX ? j : trouble.server;
		bool lost = trouble.fault == LOSE_ASK && j == trouble.server && trouble.asked++ == trouble.at;
		trouble.done |= lost;
		return !lost;
	}
	bool answer = i == trouble.server && j == AWAY &&
		      (m->kind == SL_MSG_ROUND || m->kind == SL_MSG_DIGEST || m->kind == SL_MSG_RESULT);
	return !answer || meddle(sim, i, j, m);
}

/* Run until all have committed round 2 but AWAY, which is isolated after round 1. */
static void miss_round_2(struct sl_sim *sim)
{
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	sl_sim_isolate(sim, AWAY);
	for (uint32_t i = 0; i < AWAY; i++)
		sim->learners[i].silent = true;
	for (uint32_t i = 0; i < AWAY; i++)
		sl_sim_run_until_commit(sim, i, 2);
}

/* AWAY comes back after round 2, in which the others stay. Two of them are asked at once, and the first one
 * is the quickest. Return the last report of AWAY. */
static const struct sl_sim_note *come_back(struct sl_sim **made, uint64_t seed, uint64_t n)
{
	struct sl_sim_options o = {.seed = seed, .learners = 4, .delay_ms = 5};
	o.parameters.rounds = 3;
	o.parameters.n = n;
	o.parameters.sharing = SL_SHARING_OS;
	struct sl_sim *sim = *made = sl_sim_new(&o);
	trouble.server = UINT32_MAX;
	trouble.said = trouble.asked = 0;
	trouble.done = false;
	miss_round_2(sim);
	sim->tap = tap;
	for (uint32_t i = 1; i < AWAY; i++)
		sl_sim_link(sim, i, AWAY)->slow_ms = sl_sim_link(sim, AWAY, i)->slow_ms = 1000;
	sl_sim_rejoin(sim, AWAY);
	return sl_sim_run_until_report(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE);
}

static void expect_caught_up(struct sl_sim *sim, const struct sl_sim_note *note)
{
	assert_int_equal(note->report.caught_up.t, 2);
	assert_int_equal(note->report.caught_up.learners, 3);
	assert_int_equal(sim->learners[AWAY].host.committed, 2); /* the checker has compared the model */
	assert_true(sim->now < 120000000);
}

/* --- at every message --- */

/* Put the fault at each message, until the transfer is over before it. */
static void at_every_message(enum fault fault, uint32_t least, bool another)
{
	uint32_t at = 0;
	for (bool hit = true; hit; at++) {
		struct sl_sim *sim;
		trouble.fault = fault;
		trouble.at = at;
		const struct sl_sim_note *note = come_back(&sim, 500 + at, MANY);
		expect_caught_up(sim, note);
		if (another && trouble.done)
			assert_int_not_equal(note->report.peer, trouble.server);
		hit = trouble.done;
		sl_sim_free(sim);
	}
	assert_in_range(at - 1, least, least + 10);
}

TEST(a_message_is_lost)
{
	at_every_message(LOSE, 3 + CHUNKS, false);
	at_every_message(LOSE_ASK, CHUNKS, true);
}

TEST(it_falls_silent)
{
	at_every_message(FALL_SILENT, 3 + CHUNKS, true);
}

TEST(its_link_falls)
{
	at_every_message(CUT, 3 + CHUNKS, true);
}

/* --- wrong ones --- */

/* Change the message of `kind` that comes `at`-th. */
static void wrong(enum sl_message_kind kind, uint32_t at, enum change how)
{
	struct sl_sim *sim;
	trouble.fault = CHANGE;
	trouble.kind = kind;
	trouble.at = at;
	trouble.how = how;
	const struct sl_sim_note *note = come_back(&sim, 560 + at, kind == SL_MSG_RESULT ? TWO : FEW);
	assert_true(trouble.done);
	expect_caught_up(sim, note);
	assert_int_not_equal(note->report.peer, trouble.server);
	assert_in_range(note->report.caught_up.signers, 2, 3);
	if (how != NEXT_INDEX) /* it may be one that was due once */
		assert_int_equal(sl_sim_expect(sim, AWAY, SL_REPORT_REJECTED, SL_REASON_NONE)->report.peer,
				 trouble.server);
	sl_sim_free(sim);
}

static void change_result(enum change how, struct sl_chunk *c)
{
	uint8_t *bytes = (uint8_t *)(uintptr_t)c->bytes;
	bytes[0] ^= how == FLIP_FIRST;
	bytes[c->size - 1] ^= how == FLIP_LAST;
	c->index = how == FAR_INDEX ? UINT32_MAX : c->index + (how == NEXT_INDEX);
	c->size -= how == SHORTER;
	c->view[3] ^= how == ANOTHER_VIEW;
	c->t += how == ANOTHER_ROUND;
}

TEST(wrong_results)
{
	for (enum change how = FLIP_FIRST; how <= ANOTHER_ROUND; how++)
		for (uint32_t at = 0; at < 2; at++)
			wrong(SL_MSG_RESULT, at, how);
}

static void change_round(enum change how, struct sl_round_head *round)
{
	round->p = how == OTHER_PRIME ? CLOSE_PRIME : how == NO_PRIME ? 4 : round->p;
	round->edges[5] ^= how == OTHER_EDGES;
	round->previous[5] ^= how == OTHER_PREVIOUS;
	round->total += how == OTHER_TOTAL;
	round->strands[255] ^= how == OTHER_STRANDS;
}

static void change_digest(enum change how, struct sl_digest *d)
{
	d->digest[0] ^= how == OTHER_RESULT;
	d->view[0] ^= how == OTHER_VIEW;
	d->a += how == OTHER_ATTEMPT;
}

static void change_message(const struct sl_sim *sim, struct sl_message *m, enum change how)
{
	if (m->kind == SL_MSG_RESULT) {
		change_result(how, &m->chunk);
	} else if (m->kind == SL_MSG_ROUND) {
		change_round(how, &m->round_head);
	} else {
		change_digest(how, &m->digest);
		sl_sim_sign(sim, m);
	}
}

TEST(wrong_rounds)
{
	for (enum change how = OTHER_PRIME; how <= OTHER_STRANDS; how++)
		wrong(SL_MSG_ROUND, 0, how);
}

/* The peer's own digest, and that of another signer. */
TEST(wrong_digests)
{
	for (enum change how = OTHER_RESULT; how <= OTHER_ATTEMPT; how++)
		for (uint32_t at = 0; at < 2; at++)
			wrong(SL_MSG_DIGEST, at, how);
}

/* In round 2 only. */
static bool lie_about_the_result(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind == SL_MSG_DIGEST && i == 1 && j != AWAY && m->digest.t == 2)
		change_message(sim, m, OTHER_RESULT);
	return true;
}

/* A neighbour's wrong digest of a right result does not enter the certificate. */
TEST(a_neighbour_lied)
{
	struct sl_sim_options o = {.seed = 560, .learners = 4, .parameters.rounds = 3};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = lie_about_the_result;
	sim->liars = true;
	miss_round_2(sim);
	sl_sim_restore(sim, 0, AWAY);
	const struct sl_sim_note *note =
		sl_sim_run_until_report(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE);
	assert_int_equal(note->report.peer, 0);
	assert_in_range(note->report.caught_up.signers, 2, 3);
	sl_sim_expect_none(sim, AWAY, SL_REPORT_REJECTED, SL_REASON_NONE);
	sl_sim_free(sim);
}
