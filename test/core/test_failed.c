/* Where an attempt of the round has failed, all neighbours keep the deposits by forest, and else one alone
 * (ROUND.md §5.6 Deposits). What one learner signs decides nothing: c + 1 participants have to say so.
 */
#include "common/core/state.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/simulator/lie.h"
#include "test/core/verbs.h"

static struct driver *by_forest(uint64_t c)
{
	struct driver *p = driver_new(6, 4);
	p->config.parameters.mixing = SL_ENGINE_FOREST;
	p->config.parameters.tolerance = c;
	p->analysis.kappa = 4;
	p->analysis.depth = p->analysis.trees = 1;
	for (uint32_t i = 0; i < 6; i++)
		p->analysis.keeper[i] = (i + 1) % 6;
	return p;
}

/* Let learner 1 agree on the view of an attempt; `signed_by`: the link states of the others. */
static void expect_one_keeper(uint64_t c, const char *signed_by, bool one)
{
	struct driver *p = by_forest(c);
	play(p, "link up all\n"
		"hello t1 ready from all");
	play(p, "%s", signed_by);
	play(p, "analysis done -> *SHARE*");
	assert_int_equal(p->view->agreed.failed, !one);
	assert_int_equal(p->view->deposits_forest, one);
	driver_free(p);
}

TEST(nothing_failed)
{
	expect_one_keeper(1,
			  "trained\n"
			  "link state a1 from all",
			  true);
}

/* The link state of a liar begins attempt 2 while this learner trains. */
TEST(a_late_attempt)
{
	expect_one_keeper(1,
			  "link state a2 from 6\n"
			  "trained -> *link state of 1 a2*\n"
			  "link state a2 from all",
			  true);
}

TEST(a_lone_liar_says_so)
{
	expect_one_keeper(1,
			  "link state a2 f1 from 6\n"
			  "trained -> *link state of 1 a2*\n"
			  "link state a2 from 2 3 4 5",
			  true);
	expect_one_keeper(2,
			  "trained\n"
			  "link state a1 f1 from 5 6\n"
			  "link state a1 from 2 3 4",
			  true);
}

TEST(more_than_c_say_so)
{
	expect_one_keeper(1,
			  "trained\n"
			  "link state a1 f1 from 5 6\n"
			  "link state a1 from 2 3 4",
			  false);
	expect_one_keeper(2,
			  "trained\n"
			  "link state a1 f1 from 4 5 6\n"
			  "link state a1 from 2 3",
			  false);
}

/* --- what a learner says of itself --- */

/* The last step signed a link state. */
static void expect_said(struct driver *p, uint64_t failed)
{
	assert_int_equal(driver_sent(p, SL_MSG_LINK_STATE)->link_state.failed, failed);
	driver_free(p);
}

/* Nothing was shared. */
TEST(the_end_of_agree_is_no_failure)
{
	struct driver *p = driver_agree(by_forest(1));
	play(p, "link down 6 -> *FAILED*link state of 1 a2*");
	expect_said(p, 0);
}

TEST(the_end_of_share)
{
	struct driver *p = driver_share(by_forest(1));
	play(p, "link down 6 -> *FAILED*link state of 1 a2*");
	expect_said(p, 1);
}

TEST(the_end_of_ready)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	play(p, "ready from 2 3\n"
		"check done\n"
		"check done\n"
		"deadline +60000 -> persist aborted t1 a1, RECOVERING stalled 4, *\n"
		"durable aborted\n"
		"abort of 2 r1 a1 from 2\n"
		"abort of 3 r1 a1 from 3\n"
		"deadline +2000 -> *OVER*TRAIN*\n"
		"hello t1 ready from 2 3\n"
		"trained -> *link state of 1 a2*");
	expect_said(p, 1);
}

/* The disk says so after a restart. */
TEST(an_abort_on_disk)
{
	struct driver *p = by_forest(1);
	p->config.aborted = 1;
	play(p, "link up all\n"
		"hello t1 ready from all\n"
		"trained -> *link state of 1 a2*");
	expect_said(p, 1);
}

/* Of the round before, nothing is said. */
TEST(the_next_round)
{
	struct driver *p = driver_new(3, 4);
	p->config.parameters.rounds = 2;
	driver_confirm(p);
	p->core->parameters.failed = 1;
	play(p, "digest from all\n"
		"accept done\n"
		"durable commit -> COMMITTED, *\n"
		"trained\n"
		"hello t2 ready from all -> *link state of 1 a1*");
	expect_said(p, 0);
}

/* --- what it costs --- */

#define N 6u

struct counts {
	uint32_t deposits[4], failed[4]; /* by round: messages; learners that said that an attempt failed */
	uint32_t liar;
};

static bool count(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	struct counts *counts = sim->context;
	(void)j;
	if (m->kind == SL_MSG_DEPOSIT)
		counts->deposits[m->chunk.t]++;
	if (m->kind == SL_MSG_LINK_STATE && m->link_state.id == sim->ids[i] && i != counts->liar)
		counts->failed[m->link_state.t] |= (uint32_t)m->link_state.failed << i;
	return true;
}

static struct sl_sim *play_forest(struct counts *counts, struct sl_sim_lies *lies)
{
	struct sl_sim_options o = {
		.seed = 5, .learners = N, .parameters = {.rounds = 3, .mixing = SL_ENGINE_FOREST}};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = count;
	sim->context = counts;
	sim->lies = lies;
	sim->liars = lies != NULL;
	sl_sim_start(sim);
	return sim;
}

/* Each round begins with attempt 2, and costs what attempt 1 would have cost. */
TEST(a_liar_that_begins_attempt_2)
{
	struct counts counts = {.liar = N - 1};
	struct sl_sim_lies lies = {
		.liar = N - 1, .lies = 1u << SL_SIM_LIE_EARLY, .rarity = 1, .flips = SL_NOBODY};
	struct sl_sim *sim = play_forest(&counts, &lies);
	for (sl_round t = 1; t <= 3; t++) {
		sl_sim_run_until_commit(sim, 0, t);
		const struct sl_sim_note *note;
		sl_sim_count(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE, &note);
		assert_int_equal(note->report.a, 2);
		assert_int_equal(counts.deposits[t], note->report.committed.learners);
	}
	sl_sim_expect_none(sim, 0, SL_REPORT_EVIDENCE, SL_REASON_NONE);
	sl_sim_free(sim);
}

/* After the end of SHARE all keep the deposits, in this round and in no other. */
TEST(a_round_with_a_failed_attempt)
{
	struct counts counts = {.liar = SL_NOBODY};
	struct sl_sim *sim = play_forest(&counts, NULL);
	sl_sim_run_until_commit(sim, 0, 1);
	sl_sim_run_until_phase(sim, 0, SL_PHASE_SHARE);
	sl_sim_cut(sim, 0, 1);
	sl_sim_restore(sim, 0, 1);
	sl_sim_run_until_done(sim);
	assert_int_equal(counts.deposits[1], N);
	assert_in_range(counts.deposits[2], N * (N - 1) - 2, N * (N - 1) + N); /* one link may be missing */
	assert_int_equal(counts.deposits[3], N);
	assert_int_equal(counts.failed[1], 0);
	assert_true((counts.failed[2] & 1) == 1);
	assert_int_equal(counts.failed[3], 0);
	sl_sim_free(sim);
}
