/* A learner that owed something and made no progress is not waited for again before it has made some
 * (ROUND.md §7.4 Discover): its disk may hang, while its link is up and its Hello says that it is ready.
 */
#include <stdio.h>

#include "common/core/attempt.h"
#include "common/core/penalty.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

/* Of four learners, the Ready of 4 is missing: a quorum of 3 remains. The first time, a link state for the
 * next attempt is progress. */
#define HANG                                                                                                 \
	"ready from 2 3\n"                                                                                   \
	"check done\n"                                                                                       \
	"check done\n"                                                                                       \
	"deadline +60000 -> persist aborted t1 a1, RECOVERING stalled 4, *PENALTY 4*\n"                      \
	"durable aborted\n"                                                                                  \
	"abort of 2 r1 a1 from 2\n"                                                                          \
	"abort of 3 r1 a1 from 3\n"                                                                          \
	"deadline +2000 -> *OVER*TRAIN*\n"                                                                   \
	"hello t1 ready from 2 3\n"                                                                          \
	"trained -> *AGREE, link state of 1 a2 to 2 3*"

CASE(a_ready_is_missing, driver_ready(driver_new(4, 4)),
     HANG "\n"
	  "link state a2 names 1 3 from 2\n"
	  "link state a2 names 1 2 from 3 -> *compute analysis*")

/* The last link state that the learner signed names these candidates. */
static void expect_candidates(struct driver *p, const char *ids)
{
	const struct sl_link_state *own = &driver_sent(p, SL_MSG_LINK_STATE)->link_state;
	char text[64] = "";
	for (uint32_t i = 0; i < own->count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u", i > 0 ? " " : "",
			 own->candidates[i]);
	assert_string_equal(text, ids);
}

/* Let the present attempt end with the Ready of 4 missing. */
static void let_4_hang(struct driver *p, const char *candidates)
{
	play(p, HANG);
	expect_candidates(p, candidates);
}

/* It is left out of this round, whatever it signs. */
TEST(out_of_this_round)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	let_4_hang(p, "2 3");
	play(p, "link state of 4 a2 i2 from 4\n"
		"link down 4\n"
		"link up 4\n"
		"hello t1 ready from 4\n"
		"link state a3 from 2 -> *AGREE, link state of 1 a3*");
	expect_candidates(p, "2 3");
	driver_free(p);
}

/* An Abort may have its cause at another learner: the first one is excused, the second one is not. */
TEST(aborts_of_one_signer)
{
	struct driver *p = driver_share(driver_new(4, 4));
	play(p, "abort a1 of 4 from 4 -> *FAILED aborted 4, persist aborted t1 a1, wipe*\n"
		"durable aborted\n"
		"encode done\n"
		"secrets done\n"
		"deadline +30000 -> AGREE, link state of 1 a2*");
	expect_candidates(p, "2 3 4");
	play(p, "link state a2 from 2 3 4\n"
		"analysis done -> *SHARE*\n"
		"abort a2 of 4 from 4 -> *FAILED aborted 4, *PENALTY 4*AGREE, *link state of 1 a3*");
	expect_candidates(p, "2 3");
	driver_free(p);
}

/* An Abort of the attempt that is about to begin: its signer cannot be in its view. */
TEST(an_abort_beforehand)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up all\n"
		"abort a1 of 4 from 4\n"
		"hello t1 ready from all\n"
		"trained -> *LEFT OUT aborted 4, *AGREE*");
	expect_candidates(p, "2 3");
	driver_free(p);
}

/* Without it there is no quorum: it stays a candidate. */
TEST(one_that_the_quorum_needs)
{
	struct driver *p = driver_new(4, 4);
	p->config.parameters.quorum = 4;
	driver_ready(p);
	let_4_hang(p, "2 3 4");
	driver_free(p);
}

/* In SHARE, the neighbour from which the least has come gets a penalty: the others may wait for its shares.
 */
TEST(the_least_shares)
{
	struct driver *p = driver_share(driver_new(4, 6 * SL_CHUNK_ELEMENTS));
	play(p, "share done\n"
		"share 0 from 2 3\n"
		"gather done\n"
		"gather done\n"
		"share done\n"
		"share done\n"
		"deadline +10000 -> *FAILED stalled 4, *PENALTY 4*");
	driver_free(p);
}

/* 4 has signed no link state of this round: it may wait for a straggler. 2 ends the attempt `ms` later. */
static void expect_penalty(sl_ms ms, bool penalized)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up all\n"
		"hello t1 ready from all\n"
		"trained\n"
		"link state from 2 3");
	assert_int_equal(sl_core_deadline(p->core), p->now + 70000);
	play(p,
	     "deadline +%u\n"
	     "link state a2 from 2 -> FAILED superseded 2, *AGREE, link state of 1 a2*",
	     (unsigned)ms);
	assert_int_equal(driver_says(p, "PENALTY 4"), penalized);
	driver_free(p);
}

/* After straggler_timeout and half of stall_timeout all learners may be through with waiting, and end the
 * attempt for want of its link state, a little earlier or later. */
TEST(one_that_may_wait_for_a_straggler)
{
	expect_penalty(64999, false);
	expect_penalty(65000, true);
	expect_penalty(69999, true);
}

static void let_fail(struct driver *p, uint32_t count)
{
	p->core->out = &p->actions;
	for (uint32_t k = 0; k < count; k++) {
		uint64_t only = 1 << 3;
		p->actions.count = 0;
		sl_penalty_failed(p->core, &only, SL_REASON_SLOW);
	}
}

/* After `failures` and 64 rounds in which 4 took part, it fails again: left out of this round alone, or not.
 */
static bool all_forgotten(uint32_t failures)
{
	struct driver *p = driver_new(4, 4);
	play(p, "start");
	let_fail(p, failures);
	for (uint32_t k = 0; k < 64; k++) {
		p->core->t++;
		sl_penalty_clear(p->core, 3);
	}
	assert_false(sl_penalty_out(p->core, 3));
	let_fail(p, 1);
	assert_true(sl_penalty_out(p->core, 3));
	p->core->t++;
	bool forgotten = !sl_penalty_out(p->core, 3);
	driver_free(p);
	return forgotten;
}

static bool is_out_after_pruning(enum sl_membership_change change)
{
	struct driver *p = driver_agree(driver_new(4, 4));
	p->core->config.membership_change = change;
	let_fail(p, 3);
	assert_true(sl_penalty_out(p->core, 3));
	sl_attempt_abort(p->core, SL_REASON_PRUNED, true);
	bool out = sl_penalty_out(p->core, 3);
	driver_free(p);
	return out;
}

/* In the round in which it failed, a commit clears nothing. */
TEST(a_commit_of_the_failed_round)
{
	struct driver *p = driver_new(4, 4);
	play(p, "start");
	let_fail(p, 1);
	sl_penalty_clear(p->core, 3);
	assert_true(sl_penalty_out(p->core, 3));
	driver_free(p);
}

/* It is not waited for in the next round, if it has not come to it. */
TEST(one_that_hung_is_not_awaited)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up 4\n"
		"hello t1 ready from 4");
	let_fail(p, 1);
	p->core->t += 2;
	sl_penalty_update(p->core);
	assert_int_equal(sl_penalty_regard(p->core, 3), SL_REGARD_OPTIONAL);
	p->core->peers[3].t = p->core->t;
	sl_penalty_update(p->core);
	assert_int_equal(sl_penalty_regard(p->core, 3), SL_REGARD_AWAITED);
	driver_free(p);
}

/* 4 trains in each round until the window has closed. It is waited for once in the rounds 1, 2, 4, 8, 16
 * and 32. */
TEST(a_straggler_in_each_round)
{
	uint64_t waits = 0, late = 1 << 3;
	struct driver *p = driver_new(4, 4);
	play(p, "link up 4\n"
		"hello t1 training from 4");
	for (sl_round t = 1; t < 64; t++) {
		p->core->t = p->core->peers[3].t = t;
		for (int attempt = 0; attempt < 3; attempt++) {
			sl_penalty_update(p->core);
			if (sl_penalty_regard(p->core, 3) != SL_REGARD_AWAITED)
				continue;
			assert_false(sl_bit(&waits, t));
			sl_bit_set(&waits, t);
			sl_penalty_late(p->core, &late);
		}
	}
	assert_int_equal(waits, 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16 | UINT64_C(1) << 32);
	driver_free(p);
}

/* 2 and 3 are too few for a quorum of four with this learner; over 2 it reaches 5. */
TEST(a_quorum_over_others)
{
	for (int edge = 0; edge <= 1; edge++) {
		struct driver *p = driver_new(6, 4);
		play(p,
		     "link up 2 3 4\n"
		     "hello t1 ready from 2 3 4\n"
		     "link state names 1 5 from 2\n"
		     "link state of 5 names %u from 2",
		     edge ? 2 : 6);
		let_fail(p, 1);
		sl_penalty_update(p->core);
		assert_int_equal(sl_penalty_ignored(p->core, 3), edge);
		driver_free(p);
	}
}

/* Under `wait` and `cohort` the others may wait for those that pruning leaves out. */
TEST(penalties_end_where_all_wait)
{
	assert_true(is_out_after_pruning(SL_MEMBERSHIP_WARN));
	assert_false(is_out_after_pruning(SL_MEMBERSHIP_WAIT));
	assert_false(is_out_after_pruning(SL_MEMBERSHIP_COHORT));
}

/* 64 failures are counted, and no more. */
TEST(the_most_failures)
{
	assert_true(all_forgotten(64));
	assert_true(all_forgotten(200));
}

#define HUNG 4u

/* Learner HUNG has a hung disk: its link states and Hellos are there, and its Readys are not. */
static bool swallow_ready(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	return !(m->kind == SL_MSG_READY && m->ready.id == sim->ids[HUNG] && i == HUNG);
}

static struct sl_sim *begin_seed(uint64_t seed, uint64_t quorum, sl_round rounds)
{
	struct sl_sim_options o = {.seed = seed,
				   .learners = 5,
				   .topology = "complete",
				   .parameters = {.rounds = rounds, .quorum = quorum}};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = swallow_ready;
	sl_sim_start(sim);
	return sim;
}

static struct sl_sim *begin(uint64_t quorum, sl_round rounds)
{
	return begin_seed(77, quorum, rounds);
}

static bool names(const struct sl_link_state *state, sl_id id)
{
	bool named = false;
	for (uint32_t k = 0; k < state->count; k++)
		named |= state->candidates[k] == id;
	return named;
}

/* A learner that has given y points, the last one in round t, offers HUNG no edge up to round t + 2^(y-1)
 * - 1.
 */
static bool check_offer(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	uint64_t points = 0, last = 0;
	for (size_t k = 0; k < sim->note_count; k++)
		if (sim->notes[k].learner == i && sim->notes[k].report.kind == SL_REPORT_PENALTY) {
			points++;
			last = sim->notes[k].report.t;
		}
	if (i != HUNG && m->kind == SL_MSG_LINK_STATE && m->link_state.id == sim->ids[i] && points > 0 &&
	    m->link_state.t > last && names(&m->link_state, sim->ids[HUNG]))
		assert_in_range(m->link_state.t, last + (1u << (points - 1)), UINT32_MAX);
	return swallow_ready(sim, i, j, m);
}

/* It costs each of the others that waits for it in vain a deadline in rounds 1, 2, 4, 8 and 16, or later, and
 * takes part in none. One that is told of the end by another learner has given no point, and tries it again.
 */
TEST(a_hung_disk_costs_few_deadlines)
{
	for (uint64_t seed = 77; seed < 77 + 16; seed++) {
		struct sl_sim *sim = begin_seed(seed, 3, 20);
		sim->tap = check_offer;
		sl_sim_run_until_commit(sim, 0, 20);
		for (size_t k = 0; k < sim->note_count; k++)
			if (sim->notes[k].learner != HUNG && sim->notes[k].report.kind == SL_REPORT_PENALTY)
				assert_int_equal(sim->notes[k].set, 1u << HUNG);
		sl_sim_expect(sim, 0, SL_REPORT_PENALTY, SL_REASON_NONE);
		sl_sim_expect_none(sim, HUNG, SL_REPORT_COMMITTED, SL_REASON_NONE);
		sl_sim_free(sim);
	}
}

/* When the disk answers again, the learner takes part in the next round in which it is tried. */
TEST(a_disk_that_hung)
{
	struct sl_sim *sim = begin(3, 2);
	sl_sim_run_until_commit(sim, 0, 1);
	sim->tap = NULL;
	sl_sim_run_until_commit(sim, 0, 2);
	for (size_t k = 0; k < sim->note_count; k++)
		if (sim->notes[k].report.kind == SL_REPORT_COMMITTED)
			assert_int_equal(sim->notes[k].report.committed.learners,
					 sim->notes[k].report.t == 1 ? 4 : 5);
	sl_sim_free(sim);
}

/* It takes part in each round, and its key and its vectors never come. */
static bool withhold(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)sim;
	(void)j;
	return i != HUNG || (m->kind != SL_MSG_STATE && m->kind != SL_MSG_KEY);
}

/* The others recover without its help, in rounds 1, 2, 3, 5 and 9. */
TEST(mixing_is_held_up)
{
	struct sl_sim *sim = begin(3, 12);
	sim->tap = withhold;
	sl_sim_run_until_commit(sim, 0, 12);
	const struct sl_sim_note *note;
	assert_int_equal(sl_sim_count(sim, 0, SL_REPORT_RECOVERING, SL_REASON_STALLED, &note), 5);
	assert_int_equal(note->report.t, 9);
	sl_sim_free(sim);
}

/* Nothing goes on without it: then it is waited for. When it wakes up, all five commit. */
TEST(a_quorum_that_needs_it)
{
	struct sl_sim *sim = begin(5, 1);
	sl_sim_elapse(sim, 200000);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(sim->learners[i].host.committed, 0);
	sim->tap = NULL;
	sl_sim_run_until_commit(sim, 0, 1);
	assert_int_equal(
		sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners, 5);
	sl_sim_free(sim);
}

/* --- in graphs where no learner has a quorum of neighbours --- */

#define SPARSE 10u

static void expect_rounds_without(uint32_t out, const char *topology, uint32_t learners, sl_round rounds,
				  bool (*tap)(struct sl_sim *, uint32_t, uint32_t, struct sl_message *))
{
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct sl_sim_options o = {.seed = 60 + seed,
					   .learners = learners,
					   .topology = topology,
					   .parameters = {.rounds = rounds}};
		struct sl_sim *sim = sl_sim_new(&o);
		sim->tap = tap;
		sim->liars = true;
		sl_sim_start(sim);
		sl_sim_elapse(sim, 900000);
		for (uint32_t i = 0; i < learners; i++)
			if (i != out &&
			    sl_sim_count(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE, NULL) < rounds)
				sl_sim_fail(sim, "learner %u has taken part in too few rounds", sim->ids[i]);
		sl_sim_free(sim);
	}
}

/* A quorum is reached without it over others. */
TEST(a_hung_disk_among_few_neighbours)
{
	expect_rounds_without(HUNG, "regular:4", SPARSE, 8, swallow_ready);
}

/* It says that it is ready, and signs no link state. */
static bool swallow_link_state(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	(void)j;
	return i != HUNG || m->kind != SL_MSG_LINK_STATE || m->link_state.id != sim->ids[HUNG];
}

/* It is left out, and no other learner is left out with it. */
TEST(one_that_only_says_hello)
{
	expect_rounds_without(HUNG, "regular:4", SPARSE, 8, swallow_link_state);
	expect_rounds_without(HUNG, "complete", 6, 20, swallow_link_state);
}
