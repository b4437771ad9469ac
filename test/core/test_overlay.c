/* With more learners in range than max_degree, all compute the same sparse graph (ROUND.md §7.5 Overlay).
 * It has no cut vertex. */
#include <string.h>

#include "test/core/driver.h"
#include "test/lib/test.h"

#include "common/base/bytes.h"
#include "common/core/state.h"
#include "common/graph/connectivity.h"
#include "test/simulator/check.h"
#include "test/core/verbs.h"

#define MOST 100u

static struct sl_sim *build(uint64_t seed, uint32_t learners, uint64_t max_degree, uint64_t rounds)
{
	struct sl_sim_options o = {.seed = seed, .learners = learners, .delay_ms = 5};
	o.parameters.rounds = rounds;
	o.parameters.max_degree = max_degree;
	o.parameters.n = 1;
	return sl_sim_new(&o);
}

static uint32_t degree_of(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t i)
{
	uint32_t degree = 0;
	for (uint32_t j = 0; j < sim->n; j++)
		degree += page->edge[(size_t)i * sim->n + j];
	return degree;
}

static uint32_t kappa_of(const struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	static uint8_t memory[4 << 20];
	static struct sl_edge edges[MOST * MOST / 2];
	struct sl_arena arena;
	struct sl_graph graph;
	uint32_t kappa = 0;
	size_t count = 0;
	sl_arena_init(&arena, memory, sizeof memory);
	for (uint32_t a = 0; a < page->n; a++)
		for (uint32_t b = a + 1; b < page->n; b++)
			if (page->edge[(size_t)page->members[a] * sim->n + page->members[b]])
				edges[count++] = (struct sl_edge){a, b};
	assert_int_equal(sl_graph_init(&graph, page->n, edges, count, &arena), SL_OK);
	assert_int_equal(sl_connectivity(&graph, 3, &kappa, NULL, &arena), SL_OK);
	return kappa;
}

static void expect_overlay(struct sl_sim *sim, uint64_t max_degree)
{
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next) {
		assert_int_equal(page->n, sim->n);
		for (uint32_t i = 0; i < sim->n; i++)
			assert_in_range(degree_of(sim, page, i), 2, max_degree);
		if (kappa_of(sim, page) < 2)
			sl_sim_fail(sim, "t%u a%u has a cut vertex", page->t, page->a);
	}
}

static void in_range_of_all(uint64_t seed, uint32_t learners, uint64_t max_degree)
{
	struct sl_sim *sim = build(seed, learners, max_degree, 2);
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	expect_overlay(sim, max_degree);
	for (uint32_t i = 0; i < learners; i++) {
		const struct sl_report *report =
			&sl_sim_expect(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE)->report;
		assert_int_equal(report->committed.learners, learners);
		assert_int_equal(report->a, 1);
	}
	sl_sim_free(sim);
}

TEST(all_in_range)
{
	for (uint64_t max_degree = 4; max_degree <= 8; max_degree++)
		in_range_of_all(4000 + max_degree, 20, max_degree);
	in_range_of_all(4017, 17, 16);
	in_range_of_all(4018, 18, 16);
	in_range_of_all(4100, 100, 4);
}

/* --- in range of some --- */

/* Each pair is in range with probability percent / 100. */
static struct sl_sim *in_range_of_some(uint64_t seed, uint32_t learners, uint64_t max_degree,
				       uint32_t percent)
{
	static struct sl_edge edges[MOST * MOST / 2];
	struct sl_sim *sim = build(seed, learners, max_degree, 1);
	uint64_t random = seed;
	size_t count = 0;
	for (uint32_t i = 0; i < learners; i++) {
		sim->learners[i].host.config.range_by_control = true;
		sim->learners[i].host.config.parameters.privacy_check = 1;
		for (uint32_t j = i + 1; j < learners; j++)
			if (sl_sim_random(&random) % 100 < percent)
				edges[count++] = (struct sl_edge){i, j};
	}
	sl_sim_start(sim);
	sl_sim_playback_edges(sim, edges, count);
	return sim;
}

static uint32_t times_refused(const struct sl_sim *sim)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		count += sl_sim_find(sim, i, SL_REPORT_FAILED, SL_REASON_TOLERANCE) != NULL ||
			 sl_sim_find(sim, i, SL_REPORT_FAILED, SL_REASON_PRUNED) != NULL;
	return count;
}

TEST(half_in_range)
{
	for (uint64_t seed = 0; seed < 2; seed++) {
		struct sl_sim *sim = in_range_of_some(4200 + seed, 40, 16, 50);
		sl_sim_run_until_done(sim);
		expect_overlay(sim, 16);
		assert_int_equal(times_refused(sim), 0);
		sl_sim_free(sim);
	}
}

/* If few of the chosen peers choose the learner, the others may have to go on without it; or the privacy
 * check refuses the view, and would refuse it in every attempt of the round. The learners then offer the full
 * graph.
 */
TEST(too_thin)
{
	uint32_t refused = 0;
	for (uint64_t seed = 0; seed < 6; seed++) {
		struct sl_sim *sim = in_range_of_some(4300 + seed, 40, 4 + seed % 3, 50);
		sl_sim_run_until_round(sim, 1);
		assert_true(sim->now < 20000000);
		refused += times_refused(sim) > 0;
		sl_sim_free(sim);
	}
	assert_true(refused > 0);
}

/* --- some are busy --- */

/* Return the time, in ms, at which all that do not train for ever have committed a round: the first `busy` of
 * `learners` do. */
static uint64_t commit_beside(uint32_t busy, uint32_t learners, uint64_t max_degree)
{
	struct sl_sim *sim = build(4500, learners, max_degree, 1);
	for (uint32_t i = 0; i < busy; i++)
		sim->learners[i].silent = true;
	sl_sim_start(sim);
	for (uint32_t i = busy; i < learners; i++)
		sl_sim_run_until_commit(sim, i, 1);
	uint64_t ms = sim->now / 1000;
	sl_sim_free(sim);
	return ms;
}

/* In the overlay of many, more than half of the chosen peers may train, though most learners do not: those
 * that have begun an attempt show it. */
TEST(many_train)
{
	for (uint32_t learners = 41; learners <= 101; learners += 60) {
		uint32_t busy = (learners - 1) * 9 / 20;
		uint64_t all = commit_beside(busy, learners, learners - 1);
		assert_in_range(commit_beside(busy, learners, 16), 1, 2 * all);
	}
}

/* --- a partition in an open attempt --- */

/* Learners in an open attempt sign no link state that would end the silence of the others: they dial their
 * neighbours all the same. */
TEST(halves_meet_again)
{
	struct sl_sim *sim = build(4600, 8, 4, 1);
	sl_sim_start(sim);
	sl_sim_run_until_phase(sim, 0, SL_PHASE_MIX);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = 4; j < 8; j++)
			sl_sim_cut(sim, i, j);
	sl_sim_elapse(sim, 120000);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(sim->learners[i].host.committed, 0);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = 4; j < 8; j++)
			sl_sim_restore(sim, i, j);
	sl_sim_run_until_round(sim, 1);
	sl_sim_free(sim);
}

/* The overlay of the attempt was that of those that answered. A learner that starts again in it does not know
 * who that was, and its neighbours are not all in the overlay of the roster. */
TEST(a_start_in_an_open_attempt)
{
	uint32_t others = 0;
	for (uint32_t i = 0; i < 7; i++) {
		struct sl_sim *sim = build(4700, 8, 4, 1);
		sim->learners[7].host.stopped = true;
		sl_sim_start(sim);
		sl_sim_run_until_phase(sim, i, SL_PHASE_MIX);
		sl_sim_crash(sim, i);
		sl_sim_restart(sim, i);
		sl_sim_run_until_report(sim, i, SL_REPORT_RESUMED, SL_REASON_NONE);
		for (uint32_t j = 0; j < 8; j++) {
			bool wanted = sl_bit(sim->learners[i].host.wanted, j);
			bool neighbour = sim->attempts->edge[(size_t)i * sim->n + j] ||
					 sim->attempts->edge[(size_t)j * sim->n + i];
			assert_true(wanted || !neighbour);
			others += !wanted && j != i;
		}
		sl_sim_free(sim);
	}
	assert_true(others > 0); /* it does not dial all */
}

/* --- the same for all, and another one each round --- */

static void edges_of(struct sl_sim *sim, sl_round t, bool edge[MOST * MOST])
{
	const struct sl_sim_attempt *page = sim->attempts;
	while (page != NULL && page->t != t)
		page = page->next;
	assert_non_null(page);
	memcpy(edge, page->edge, (size_t)sim->n * sim->n * sizeof *edge);
}

static struct sl_sim *with_roster(uint64_t seed, uint8_t roster)
{
	struct sl_sim *sim = build(seed, 20, 8, 2);
	for (uint32_t i = 0; i < 20; i++)
		sim->learners[i].host.config.scope.roster[0] = roster;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	return sim;
}

TEST(computed_alike)
{
	static bool edge[2][3][2][MOST * MOST];
	for (uint8_t roster = 0; roster < 2; roster++)
		for (uint64_t run = 0; run < 3; run++) {
			struct sl_sim *sim = with_roster(4410 + run, roster);
			for (sl_round t = 1; t <= 2; t++)
				edges_of(sim, t, edge[roster][run][t - 1]);
			sl_sim_free(sim);
		}
	for (uint64_t run = 1; run < 3; run++) /* in every order of arrival */
		for (int t = 0; t < 2; t++)
			assert_memory_equal(edge[0][run][t], edge[0][0][t], sizeof edge[0][0][t]);
	assert_memory_not_equal(edge[0][0][0], edge[0][0][1], sizeof edge[0][0][0]);
	assert_memory_not_equal(edge[0][0][0], edge[1][0][0], sizeof edge[0][0][0]);
}

/* The first learner finds no peer. Peers that answer later end their silence. */
TEST(first_of_all)
{
	struct driver *p = driver_new(6, 4);
	p->config.parameters.max_degree = SL_DEGREE_LEAST;
	play(p, "link down all\n"
		"trained");
	bool begun = false;
	for (sl_id id = 2; id <= 6; id++) {
		play(p,
		     "link up %u\n"
		     "hello t1 ready from %u",
		     id, id);
		begun |= driver_says(p, "AGREE");
	}
	assert_true(begun);
	driver_free(p);
}

/* --- pruning --- */

/* Of four, pruning leaves out this one: it offers all its edges if the others wait for it. */
static bool offers_all_edges(enum sl_membership_change change)
{
	struct driver *p = driver_agree(driver_new(4, 4));
	p->core->config.membership_change = change;
	p->analysis.kept[0] = 0xe;
	p->analysis.kept_count = 3;
	play(p, "analysis done");
	assert_int_equal(driver_report(p, SL_REPORT_FAILED)->reason, SL_REASON_PRUNED);
	bool all = p->core->full_graph;
	driver_free(p);
	return all;
}

TEST(all_edges_where_all_wait)
{
	assert_false(offers_all_edges(SL_MEMBERSHIP_WARN));
	assert_true(offers_all_edges(SL_MEMBERSHIP_WAIT));
	assert_true(offers_all_edges(SL_MEMBERSHIP_COHORT));
}

/* Of seven peers, it has chosen 2, 7 and 8. */
static struct driver *thin(void)
{
	struct driver *p = driver_new(8, 4);
	p->config.parameters.max_degree = 4;
	return p;
}

/* Who waits dials again: a partition may have ended. */
CASE(peers_are_dialled_again, thin(),
     "start -> links *\n"
     "trained\n"
     "deadline +10000 -> links 2 7 8, WAITING 2 7 8\n"
     "deadline +10000 -> links 2 7 8, WAITING 2 7 8")

/* The chosen peers train; others, which have chosen this learner, suffice. */
CASE(others_than_the_chosen, thin(),
     "start -> links 2 7 8, *\n"
     "trained\n"
     "link up 2 3 4 5 7 8\n"
     "hello t1 training from 2 7 8\n"
     "hello t1 ready from 3 4 5\n"
     "deadline +60000 -> *AGREE*")

/* Most of the chosen peers train; c + 1 others have begun an attempt. */
CASE(others_have_begun, thin(),
     "link up 2 7 8\n"
     "hello t1 training from 7 8\n"
     "hello t1 ready from 2\n"
     "trained\n"
     "deadline +20000\n"
     "link state of 4 a1 from 2\n"
     "deadline +40000 -> *WAITING*\n"
     "link state of 5 a1 from 2\n"
     "deadline +2000 -> *AGREE*")

/* In an open attempt, a neighbour that is silent is dialled again. */
CASE(a_silent_neighbour, driver_ready(thin()), "link down 2 -> links 2 7 8")
