/* Reports about other learners: stale ones and equivocations (GROUP.md §12.5 Equivocation and evidence). */
#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

static struct sl_sim *build(uint64_t seed, uint32_t learners, const char *topology, uint64_t rounds)
{
	struct sl_sim_options o = {
		.seed = seed, .learners = learners, .topology = topology, .parameters.rounds = rounds};
	return sl_sim_new(&o);
}

static void restore_all(struct sl_sim *sim, uint32_t i)
{
	for (uint32_t j = 0; j < sim->n; j++)
		if (sl_sim_link(sim, i, j)->possible)
			sl_sim_restore(sim, i, j);
}

/* --- left behind --- */

/* The last learner is away for two rounds. When it is back, its round and digest reach all, also without a
 * link to it.
 */
static void left_behind(uint64_t seed, const char *topology)
{
	struct sl_sim *sim = build(seed, 6, topology, 7);
	sl_sim_start(sim);
	sl_sim_run_until_commit(sim, 5, 1);
	sl_sim_isolate(sim, 5);
	for (uint32_t i = 0; i < 5; i++)
		sl_sim_run_until_commit(sim, i, 3);
	restore_all(sim, 5);
	sl_sim_run_until_round(sim, 7);
	for (uint32_t i = 0; i < 5; i++) {
		const struct sl_sim_note *note = NULL;
		assert_int_equal(sl_sim_count(sim, i, SL_REPORT_STALE, SL_REASON_NONE, &note), 1);
		assert_int_equal(note->report.peer, 5);
		assert_int_equal(note->report.stale.t, 2);
		assert_memory_equal(note->report.stale.digest, sim->digests[1], SL_HASH_BYTES);
	}
	sl_sim_expect_none(sim, 5, SL_REPORT_STALE, SL_REASON_NONE);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

TEST(stale)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		left_behind(1800 + seed, "line");
		left_behind(1820 + seed, "ring");
	}
}

/* Each learner of a rolling restart fetches what it missed, round by round: that it is behind is said once
 * for each start. */
TEST(stale_once_for_each_start)
{
	struct driver *p = driver_new(3, 4);
	p->config.committed = 4;
	play(p, "link up 2 3\n"
		"link state of 2 t2 n0 from 3 -> STALE 2, *\n"
		"link state of 2 t3 n0 from 3 -> link state of 2 a1 to 2\n"
		"link state of 2 t4 i2 n0 from 3 -> STALE 2, *");
	driver_free(p);
}

TEST(none_is_stale)
{
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct sl_sim *sim = build(1840 + seed, 6, "line", 4);
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		for (uint32_t i = 0; i < 6; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_STALE, SL_REASON_NONE);
		sl_sim_free(sim);
	}
}

/* --- two signatures for one attempt --- */

/* The evidence has both link states, and their candidates. */
static void expect_evidence(const struct driver *p, uint8_t first, uint8_t second)
{
	const struct sl_report *report = driver_report(p, SL_REPORT_EVIDENCE);
	assert_int_equal(report->peer, 1);
	for (int k = 0; k < 2; k++) {
		const struct sl_link_state *state = &report->evidence[k].link_state;
		assert_int_equal(state->id, 2);
		assert_int_equal(state->count, k == 0 ? first : second);
		assert_int_equal(state->signature[0], state->count); /* so marks the driver */
		for (uint32_t c = 0; c < state->count; c++)
			assert_true(state->candidates[c] == (c == 0 ? 1 : 2 + c));
	}
}

/* Evidence is reported once a round, so that an equivocating learner cannot fill the disk. */
TEST(evidence_in_train)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up 2 3 4\n"
		"link state names 1 from 2\n"
		"link state of 2 names 1 from 3 ->\n"
		"link state of 2 names 1 3 from 3 -> EVIDENCE 2");
	expect_evidence(p, 1, 2);
	play(p, "link state of 2 names 1 3 from 3 ->\n"
		"link state of 2 from 4 ->\n"
		"link state a2 names 1 from 2\n"
		"link state of 2 a2 names 1 3 from 3 ->");
	driver_free(p);
}

/* A Ready, and an Abort that says that there is none: in either order, once. One that names it is none. */
TEST(evidence_of_a_ready_and_an_abort)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	play(p, "ready from 2\n"
		"abort of 2 a1 from 3 -> *EVIDENCE 2, *\n"
		"ready of 3 a1 from 2\n"
		"abort of 3 r1 a1 from 4");
	driver_free(p);
}

TEST(evidence_in_share)
{
	struct driver *p = driver_share(driver_new(3, 4));
	play(p, "link state of 2 a1 names 1 from 3 -> EVIDENCE 2, FAILED equivocation 2, *");
	expect_evidence(p, 2, 1);
	play(p, "link state of 2 a1 names 1 from 3 ->");
	driver_free(p);
}

/* 0 names one candidate fewer to 1 than to the others. */
static bool equivocate(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind == SL_MSG_LINK_STATE && i == 0 && j == 1 && m->link_state.a == 1 &&
	    m->link_state.id == sim->ids[0]) {
		m->link_state.count--;
		sl_sim_sign(sim, m);
	}
	return true;
}

TEST(evidence_in_a_crowd)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = build(1850 + seed, 4, "complete", 1);
		uint32_t seen = 0;
		sim->tap = equivocate;
		sim->liars = true;
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		for (uint32_t i = 1; i < 4; i++) {
			const struct sl_sim_note *note = NULL;
			uint32_t count = sl_sim_count(sim, i, SL_REPORT_EVIDENCE, SL_REASON_NONE, &note);
			assert_true(count <= 1);
			seen += count;
			if (count == 0)
				continue;
			assert_int_equal(note->report.peer, 0);
			assert_int_equal(note->evidence[0].id, sim->ids[0]);
			assert_int_equal(note->evidence[0].count + note->evidence[1].count, 3 + 2);
			assert_memory_not_equal(note->evidence[0].signature, note->evidence[1].signature,
						SL_SIG_BYTES);
		}
		assert_true(seen > 0);
		sl_sim_free(sim);
	}
}
