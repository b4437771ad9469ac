/* The privacy check (ROUND.md §7.9 Privacy check; F2 of §2.3 What a coalition learns): refusals name the
 * cut and the missing edges. */
#include "test/graph/brute.h"

#include "common/base/bytes.h"
#include "test/lib/test.h"
#include "test/simulator/check.h"
#include "test/core/driver.h"
#include "test/core/verbs.h"

static struct sl_sim *build(struct sl_sim_options options, bool warn)
{
	struct sl_sim *sim = sl_sim_new(&options);
	for (uint32_t i = 0; i < sim->n; i++)
		sim->learners[i].host.config.parameters.privacy_check = !warn;
	sl_sim_start(sim);
	return sim;
}

static struct sl_sim *begin(uint32_t learners, const char *topology, uint64_t c)
{
	return build(
		(struct sl_sim_options){
			.seed = 41, .learners = learners, .topology = topology, .parameters.tolerance = c},
		false);
}

static const struct sl_sim_note *refusal(struct sl_sim *sim, uint32_t i, enum sl_reason reason)
{
	const struct sl_sim_note *note = sl_sim_expect(sim, i, SL_REPORT_FAILED, reason);
	assert_int_equal(note->report.phase, SL_PHASE_AGREE);
	sl_sim_expect_none(sim, i, SL_REPORT_EXPOSED, reason);
	sl_sim_expect_none(sim, i, SL_REPORT_VIEW, SL_REASON_NONE);
	return note;
}

static bool none_shared(const struct sl_sim *sim)
{
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		for (uint32_t i = 0; i < sim->n; i++)
			if (page->of[i].x != NULL)
				return false;
	return true;
}

/* Cut and missing edges are named by roster index; learner 0 is absent. */
TEST(names)
{
	static const struct sl_edge line[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
	struct sl_sim *sim = sl_sim_new(
		&(struct sl_sim_options){.seed = 41, .learners = 6, .edges = line, .edge_count = 5});
	for (uint32_t i = 0; i < 6; i++)
		sim->learners[i].host.config.parameters.privacy_check = 1;
	sim->learners[0].host.stopped = sim->learners[0].silent = true;
	sl_sim_start(sim);
	sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, SL_REASON_TOLERANCE);
	for (uint32_t i = 1; i < 6; i++) {
		const struct sl_sim_note *note = refusal(sim, i, SL_REASON_TOLERANCE);
		assert_int_equal(note->set, 0x1c);
		assert_int_equal(note->report.why.tolerance.edge_count, 1);
		assert_int_equal(note->edges[0].a, 1);
		assert_int_equal(note->edges[0].b, 5);
	}
	sl_sim_free(sim);
}

/* --- privacy_check: warn --- */

/* `warn` reports the same as `enforce`, and goes on. */
static void warns(uint32_t learners, const char *topology, uint64_t c, enum sl_reason reason)
{
	struct sl_sim *refused = begin(learners, topology, c);
	sl_sim_run_until_all_say(refused, SL_REPORT_FAILED, reason);
	const struct sl_sim_note no = *refusal(refused, learners - 1, reason);
	struct sl_sim *sim = build(
		(struct sl_sim_options){
			.seed = 41, .learners = learners, .topology = topology, .parameters.tolerance = c},
		true);
	sl_sim_run_until_done(sim);
	for (uint32_t i = 0; i < learners; i++) {
		const struct sl_sim_note *yes = sl_sim_expect(sim, i, SL_REPORT_EXPOSED, reason);
		sl_sim_expect_none(sim, i, SL_REPORT_FAILED, reason);
		assert_int_equal(yes->report.why.tolerance.learners, no.report.why.tolerance.learners);
		assert_int_equal(yes->report.why.tolerance.kappa, no.report.why.tolerance.kappa);
		assert_int_equal(yes->report.why.tolerance.tolerance, no.report.why.tolerance.tolerance);
		assert_int_equal(yes->report.why.tolerance.missing, no.report.why.tolerance.missing);
		assert_int_equal(yes->set, no.set);
		assert_int_equal(yes->report.why.tolerance.edge_count, no.report.why.tolerance.edge_count);
		assert_memory_equal(yes->edges, no.edges,
				    no.report.why.tolerance.edge_count * sizeof *no.edges);
	}
	sl_sim_free(refused);
	sl_sim_free(sim);
}

TEST(warn)
{
	warns(6, "star", 1, SL_REASON_TOLERANCE);
	warns(6, "line", 1, SL_REASON_TOLERANCE);
	warns(7, "ring", 2, SL_REASON_TOLERANCE);
	warns(2, "complete", 1, SL_REASON_FEW);
	warns(3, "line", 2, SL_REASON_FEW);
}

/* --- after a refusal --- */

/* The view is 2 - 1 - 3; 4 does not answer. */
static struct driver *refused_driver(void)
{
	struct driver *p = driver_new(4, 4);
	p->config.parameters.privacy_check = 1;
	p->analysis.kappa = p->analysis.cut_count = 1;
	play(p, "link up 2 3\n"
		"hello t1 ready from 2 3\n"
		"link down 4\n"
		"trained\n"
		"link state names 1 from 2\n"
		"link state names 1 from 3 -> *compute analysis*\n"
		"analysis done -> FAILED tolerance 1, wipe, DISCOVER, links 2 3 4, hello t1 ready to 2 3");
	return p;
}

/* Waiting does not cure it: there is no other attempt without a change. */
CASE(no_change, refused_driver(),
     "deadline +10000 -> WAITING 4\n"
     "deadline +3600000 -> WAITING 4\n"
     "hello t1 ready from 2 ->\n"
     "link state names 1 from 2 ->\n")

/* Nor does it where vectors have too many elements, which follows from the link states, too. */
CASE(too_many_elements, driver_new(4, SL_ELEMENTS_MAX),
     "link up all\n"
     "hello t1 ready from all\n"
     "trained\n"
     "link state from all -> *FAILED elements, wipe, DISCOVER*\n"
     "deadline +10000 -> WAITING\n"
     "deadline +3600000 -> WAITING")

/* Other candidates are a change; so is an attempt of another learner, or a learner that has started again. */
CASE(more_candidates, refused_driver(),
     "link up 4\n"
     "hello t1 training from 4 ->\n"
     "hello t1 ready from 4 -> AGREE, link state of 1 a2 to 2 3 4")

CASE(fewer_candidates, refused_driver(), "link down 3 -> *AGREE, link state of 1 a2 to 2*")

CASE(an_attempt_of_another, refused_driver(),
     "link state a2 names 1 from 2 -> AGREE, link state of 1 a2 to 2 3*")

CASE(another_start, refused_driver(),
     "deadline +60000\n"
     "link state i2 names 1 from 2 -> AGREE, link state of 1 a2 to 2 3*")

/* Missing link states may come: the next attempt follows after a pause. */
TEST(pause_after_a_refusal)
{
	struct driver *p = driver_new(4, 4);
	play(p, "link up 2 3\n"
		"hello t1 ready from 2 3\n"
		"link down 4\n"
		"trained\n"
		"link state names 1 from 2\n"
		"deadline +70000 -> FAILED flood 3, PENALTY 3, wipe, DISCOVER, links 2 3 4, hello t1 ready "
		"to 2 3");
	sl_ms pause = sl_core_deadline(p->core) - p->now;
	assert_true(pause >= 250 && pause <= 500);
	play(p,
	     "deadline +%u ->\n"
	     "deadline +1 -> AGREE, link state of 1 a2 to 2 3",
	     (uint32_t)pause - 1);
	driver_free(p);
}

/* Without change, an hour brings one attempt. A new edge brings the next at once. */
TEST(patience)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct sl_sim *sim = build(
			(struct sl_sim_options){.seed = 41 + seed, .learners = 6, .topology = "line"}, false);
		sl_sim_elapse(sim, 3600000 + seed * 1700);
		for (uint32_t i = 0; i < 6; i++) {
			const struct sl_sim_note *note = NULL;
			assert_int_equal(sl_sim_count(sim, i, SL_REPORT_FAILED, SL_REASON_TOLERANCE, &note),
					 1);
		}
		uint64_t since = sim->now;
		sl_sim_join(sim, 0, 5);
		sl_sim_run_until_round(sim, 1);
		for (uint32_t i = 0; i < 6; i++) {
			assert_int_equal(sl_sim_expect(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.a,
					 2);
			sl_sim_expect_none(sim, i, SL_REPORT_FAILED, SL_REASON_FLOOD);
		}
		if (sim->now > since + 5000000)
			sl_sim_fail(sim, "committed after %llu ms",
				    (unsigned long long)((sim->now - since) / 1000));
		sl_sim_free(sim);
	}
}

/* --- the others go on --- */

/* Five of which one has a single link: the others commit every round, and it catches up. */
TEST(a_single_link)
{
	static const struct sl_edge edges[] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}};
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = build((struct sl_sim_options){.seed = 50 + seed,
								   .learners = 5,
								   .edges = edges,
								   .edge_count = 7,
								   .parameters.rounds = 5},
					   false);
		sl_sim_run_until_round(sim, 5);
		for (uint32_t i = 0; i < 5; i++) {
			const struct sl_sim_note *note = NULL;
			uint32_t left_out = sl_sim_count(sim, i, SL_REPORT_LEFT_OUT, SL_REASON_PRUNED, &note);
			uint32_t commits = sl_sim_count(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE, &note);
			assert_int_equal(commits, i == 4 ? 0 : 5);
			assert_true(i == 4 ? left_out == 0 : left_out >= 1 && left_out <= 5);
			if (i == 4)
				note = sl_sim_expect(sim, 4, SL_REPORT_FAILED, SL_REASON_PRUNED);
			else
				note = sl_sim_expect(sim, i, SL_REPORT_LEFT_OUT, SL_REASON_PRUNED);
			assert_int_equal(note->set, 1 << 4);
			assert_int_equal(note->report.why.tolerance.tolerance, 1);
			assert_int_equal(note->report.why.tolerance.edge_count, 1);
			assert_true(note->edges[0].a == 4 || note->edges[0].b == 4);
		}
		sl_sim_free(sim);
	}
}

/* A triangle is safe, but no quorum of six: all name what is missing. */
TEST(a_part_below_the_quorum)
{
	static const struct sl_edge edges[] = {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
	struct sl_sim *sim = build(
		(struct sl_sim_options){.seed = 70, .learners = 6, .edges = edges, .edge_count = 6}, false);
	sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, SL_REASON_TOLERANCE);
	assert_true(none_shared(sim));
	sl_sim_free(sim);
}

/* --- every graph of up to five learners, against every coalition --- */

/* Return true if no c learners learn more than the sum over all others (F2). */
static bool safe(const struct brute *graph, uint32_t c)
{
	for (uint32_t out = 0; out < 1u << graph->n; out++) {
		uint32_t size = (uint32_t)__builtin_popcount(out);
		if (size > c || size == graph->n)
			continue;
		if (size + 1 == graph->n || brute_components(graph, out) > 1)
			return false; /* one model, or the sum of some */
	}
	return true;
}

static bool parts(const struct brute *graph, uint32_t out)
{
	return brute_components(graph, out) > 1;
}

/* The reported learners are cut vertices (kappa = 1) or a smallest cut, and the reported edges suffice. */
static void expect_advice(const struct brute *graph, const struct sl_sim_note *note, uint32_t c)
{
	uint32_t weak = (uint32_t)note->set, kappa = note->report.why.tolerance.kappa;
	struct brute mended = *graph;
	assert_int_equal(kappa, brute_kappa(graph));
	assert_true(kappa == 1 || (uint32_t)__builtin_popcount(weak) == kappa);
	for (uint32_t v = 0; v < graph->n; v++)
		if (kappa == 1)
			assert_int_equal(weak >> v & 1, parts(graph, 1u << v));
	assert_true(kappa == 1 || parts(graph, weak));
	assert_int_equal(note->report.why.tolerance.edge_count, note->report.why.tolerance.missing);
	for (uint32_t e = 0; e < note->report.why.tolerance.edge_count; e++) {
		assert_false(brute_has(&mended, note->edges[e].a, note->edges[e].b));
		brute_join(&mended, note->edges[e].a, note->edges[e].b);
	}
	assert_true(safe(&mended, c));
}

/* Return the largest set of vertices that is safe by itself, at least `least`; 0: there is none. */
static uint32_t largest_part(const struct brute *graph, uint32_t c, uint32_t least)
{
	uint32_t best = 0;
	for (uint32_t set = 1; set < 1u << graph->n; set++) {
		struct brute part = {0};
		uint32_t name[BRUTE_MOST];
		for (uint32_t v = 0; v < graph->n; v++)
			if (set >> v & 1)
				name[v] = part.n++;
		for (uint32_t u = 0; u < graph->n; u++)
			for (uint32_t v = u + 1; v < graph->n; v++)
				if ((set >> u & 1) && (set >> v & 1) && brute_has(graph, u, v))
					brute_join(&part, name[u], name[v]);
		if (part.n >= least && part.n > (uint32_t)__builtin_popcount(best) && safe(&part, c))
			best = set;
	}
	return best;
}

/* All learners find the same part. Those outside it wait, or adopt the result of the others. */
static void expect_part(struct sl_sim *sim, uint32_t size, uint32_t c)
{
	uint64_t kept = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		sl_sim_run_until_commit(sim, i, 1);
	for (uint32_t i = 0; i < sim->n; i++) {
		const struct sl_sim_note *note = sl_sim_find(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE);
		kept |= (uint64_t)(note != NULL) << i;
		if (note != NULL)
			assert_int_equal(note->report.committed.learners, size);
	}
	assert_int_equal(__builtin_popcountll(kept), size);
	assert_true(size >= c + 2);
	for (uint32_t i = 0; i < sim->n; i++)
		if (sl_bit(&kept, i))
			assert_int_equal(sl_sim_expect(sim, i, SL_REPORT_LEFT_OUT, SL_REASON_PRUNED)->set,
					 ((1u << sim->n) - 1) & ~kept);
}

static void try_graph(const struct brute *graph, uint64_t number, uint32_t c)
{
	uint32_t least = graph->n / 2 + 1 > c + 2 ? graph->n / 2 + 1 : c + 2;
	uint32_t part = largest_part(graph, c, least);
	struct sl_edge edges[10];
	struct sl_sim_options o = {.seed = number, .learners = graph->n, .edges = edges, .delay_ms = 5};
	o.parameters.tolerance = c;
	o.parameters.n = 1;
	for (uint32_t u = 0; u < graph->n; u++)
		for (uint32_t v = u + 1; v < graph->n; v++)
			if (brute_has(graph, u, v))
				edges[o.edge_count++] = (struct sl_edge){u, v};
	struct sl_sim *sim = build(o, false);
	if (safe(graph, c)) {
		sl_sim_run_until_all_say(sim, SL_REPORT_VIEW, SL_REASON_NONE);
		sl_sim_run_until_round(sim, 1);
	} else if (part != 0) {
		expect_part(sim, (uint32_t)__builtin_popcount(part), c);
	} else {
		enum sl_reason reason = graph->n < c + 2 ? SL_REASON_FEW : SL_REASON_TOLERANCE;
		sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, reason);
		for (uint32_t i = 0; i < graph->n; i++)
			if (reason == SL_REASON_TOLERANCE)
				expect_advice(graph, refusal(sim, i, reason), c);
		assert_true(none_shared(sim));
	}
	sl_sim_free(sim);
}

TEST(all_small_graphs)
{
	uint32_t tried = 0;
	for (uint32_t n = 2; n <= 5; n++)
		for (uint64_t number = 0; number < UINT64_C(1) << pairs_of(n); number++)
			for (uint32_t c = 1; c <= 2; c++) {
				struct brute graph = brute_numbered(n, number);
				if (brute_components(&graph, 0) > 1)
					continue;
				try_graph(&graph, number, c);
				tried++;
			}
	assert_int_equal(tried, 2 * (1 + 4 + 38 + 728));
}
