/* What a server of catch-up may fail to do, or do wrong (PROTOCOL.md §11 Catch-up): at whichever message, the
 * learner ends up with the right model, from somebody else. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "tools/sim/sim.h"

#define AWAY 3u
#define CHUNKS (SL_WINDOW + 1u)
#define MANY ((CHUNKS - 1) * SL_CHUNK_ELEMENTS + 3)
#define FEW 8u

/* What is the matter with the first one asked. */
static struct {
	enum fault { NOTHING, LOSE, LOSE_ASK, FALL_SILENT, CUT, CHANGE } fault;
	uint32_t at; /* which of its messages, from 0 */
	void (*change)(const struct sl_sim *sim, struct sl_message *m);
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
			trouble.change(sim, m);
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
	bool answer =
		i == trouble.server && j == AWAY && (m->kind == SL_MSG_DIGEST || m->kind == SL_MSG_RESULT);
	return !answer || meddle(sim, i, j, m);
}

/* Round 2 is over, and AWAY comes back to it; the others stay where they are. Returns what it says in the
 * end. */
static const struct sl_sim_note *come_back(struct sl_sim **made, uint64_t seed, uint64_t n)
{
	struct sl_sim_options o = {.seed = seed, .learners = 4, .delay_ms = 5};
	o.parameters.rounds = 3;
	o.parameters.n = n;
	o.parameters.sharing = SL_SHARING_ADDITIVE;
	struct sl_sim *sim = *made = sl_sim_new(&o);
	trouble.server = UINT32_MAX;
	trouble.said = trouble.asked = 0;
	trouble.done = false;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	sl_sim_isolate(sim, AWAY);
	for (uint32_t i = 0; i < AWAY; i++)
		sim->learners[i].silent = true;
	for (uint32_t i = 0; i < AWAY; i++)
		sl_sim_run_until_commit(sim, i, 2);
	sim->tap = tap;
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

/* Until the transfer is over before the fault is due. */
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

TEST(test_a_message_is_lost)
{
	at_every_message(LOSE, 3 + CHUNKS, false);
	at_every_message(LOSE_ASK, CHUNKS, true);
}

TEST(test_it_falls_silent)
{
	at_every_message(FALL_SILENT, 3 + CHUNKS, true);
}

TEST(test_its_link_falls)
{
	at_every_message(CUT, 3 + CHUNKS, true);
}

/* --- wrong ones --- */

/* Of `kind`, the one that comes `at`-th. */
static void wrong(enum sl_message_kind kind, uint32_t at,
		  void (*change)(const struct sl_sim *, struct sl_message *))
{
	struct sl_sim *sim;
	trouble.fault = CHANGE;
	trouble.kind = kind;
	trouble.at = at;
	trouble.change = change;
	const struct sl_sim_note *note = come_back(&sim, 540 + at, kind == SL_MSG_RESULT ? MANY : FEW);
	assert_true(trouble.done);
	expect_caught_up(sim, note);
	assert_int_not_equal(note->report.peer, trouble.server);
	assert_int_equal(note->report.caught_up.signers, 3);
	assert_int_equal(sl_sim_expect(sim, AWAY, SL_REPORT_REJECTED, SL_REASON_NONE)->report.peer,
			 trouble.server);
	sl_sim_free(sim);
}

static uint8_t *bytes_of(struct sl_message *m)
{
	return (uint8_t *)(uintptr_t)m->chunk.bytes;
}

static void flip_first(const struct sl_sim *sim, struct sl_message *m)
{
	(void)sim;
	bytes_of(m)[0] ^= 1;
}

static void flip_last(const struct sl_sim *sim, struct sl_message *m)
{
	(void)sim;
	bytes_of(m)[m->chunk.size - 1] ^= 1;
}

static void off_the_field(const struct sl_sim *sim, struct sl_message *m)
{
	(void)sim;
	memset(bytes_of(m) + 4, 0xff, 4);
}

static void next_index(const struct sl_sim *sim, struct sl_message *m)
{
	(void)sim;
	m->chunk.index++;
}

static void far_index(const struct sl_sim *sim, struct sl_message *m)
{
	(void)sim;
	m->chunk.index = UINT32_MAX;
}

static void shorter(const struct sl_sim *sim, struct sl_message *m)
{
	(void)sim;
	m->chunk.size--;
}

static void of_another_view(const struct sl_sim *sim, struct sl_message *m)
{
	(void)sim;
	m->chunk.view[3] ^= 1;
}

static void of_another_round(const struct sl_sim *sim, struct sl_message *m)
{
	(void)sim;
	m->chunk.t++;
}

TEST(test_wrong_results)
{
	static void (*const changes[])(const struct sl_sim *, struct sl_message *) = {
		flip_first, flip_last, off_the_field,	next_index,
		far_index,  shorter,   of_another_view, of_another_round};
	for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
		for (uint32_t at = 0; at < CHUNKS; at += CHUNKS - 1)
			wrong(SL_MSG_RESULT, at, changes[k]);
	wrong(SL_MSG_RESULT, 1, flip_first);
}

static void other_prime(const struct sl_sim *sim, struct sl_message *m)
{
	m->digest.p =
		UINT64_C(2147483629); /* as wide, and close: a model that it decodes is wrong by little */
	sl_sim_sign(sim, m);
}

static void no_prime(const struct sl_sim *sim, struct sl_message *m)
{
	m->digest.p = 4;
	sl_sim_sign(sim, m);
}

static void more_learners(const struct sl_sim *sim, struct sl_message *m)
{
	m->digest.learners = 4;
	sl_sim_sign(sim, m);
}

static void no_learners(const struct sl_sim *sim, struct sl_message *m)
{
	m->digest.learners = 0;
	sl_sim_sign(sim, m);
}

static void other_result(const struct sl_sim *sim, struct sl_message *m)
{
	m->digest.digest[0] ^= 1;
	sl_sim_sign(sim, m);
}

static void other_view(const struct sl_sim *sim, struct sl_message *m)
{
	m->digest.view[0] ^= 1;
	sl_sim_sign(sim, m);
}

static void other_attempt(const struct sl_sim *sim, struct sl_message *m)
{
	m->digest.a++;
	sl_sim_sign(sim, m);
}

/* Its own, and those that it passes on. */
TEST(test_wrong_digests)
{
	static void (*const changes[])(const struct sl_sim *, struct sl_message *) = {
		other_prime, no_prime, more_learners, no_learners, other_result, other_view, other_attempt};
	for (size_t k = 0; k < sizeof changes / sizeof *changes; k++)
		for (uint32_t at = 0; at < 3; at++)
			wrong(SL_MSG_DIGEST, at, changes[k]);
}

/* In round 2; what it passes on later, when it serves, is not touched. */
static bool lie_about_the_prime(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind == SL_MSG_DIGEST && i == 1 && j != AWAY && m->digest.t == 2)
		other_prime(sim, m);
	return true;
}

/* The result was right, so the round was committed; but who shows its digest would not be believed. */
TEST(test_a_neighbour_lied)
{
	struct sl_sim_options o = {.seed = 560, .learners = 4, .parameters.rounds = 3};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = lie_about_the_prime;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	sl_sim_isolate(sim, AWAY);
	for (uint32_t i = 0; i < AWAY; i++)
		sim->learners[i].silent = true;
	for (uint32_t i = 0; i < AWAY; i++)
		sl_sim_run_until_commit(sim, i, 2);
	sl_sim_restore(sim, 0, AWAY);
	const struct sl_sim_note *note =
		sl_sim_run_until_report(sim, AWAY, SL_REPORT_CAUGHT_UP, SL_REASON_NONE);
	assert_int_equal(note->report.peer, 0);
	assert_int_equal(note->report.caught_up.signers, 2);
	sl_sim_expect_none(sim, AWAY, SL_REPORT_REJECTED, SL_REASON_NONE);
	sl_sim_free(sim);
}
