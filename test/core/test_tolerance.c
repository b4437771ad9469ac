/* The privacy check (PROTOCOL.md §7.9 Privacy check; F2 of §2.3 What a coalition learns): shares only where
 * no c learners can single out others, says who could, and which edges are missing. */
#include "test/graph/brute.h"

#include "common/base/bytes.h"
#include "test/lib/test.h"
#include "tools/sim/check.h"
#include "test/core/driver.h"

static struct sl_sim *build(struct sl_sim_options options, bool warn)
{
	struct sl_sim *sim = sl_sim_new(&options);
	for (uint32_t i = 0; i < sim->n; i++)
		sim->learners[i].host.config.privacy_check_warns = warn;
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

static bool nobody_shared(const struct sl_sim *sim)
{
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		for (uint32_t i = 0; i < sim->n; i++)
			if (page->of[i].x != NULL)
				return false;
	return true;
}

/* What everybody says of it: the same. */
static const struct sl_sim_note *refused(struct sl_sim *sim, uint64_t kappa, uint64_t c, uint64_t weak,
					 uint64_t missing)
{
	sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, SL_REASON_TOLERANCE);
	for (uint32_t i = 0; i < sim->n; i++) {
		const struct sl_sim_note *note = refusal(sim, i, SL_REASON_TOLERANCE);
		assert_int_equal(note->report.why.tolerance.kappa, kappa);
		assert_int_equal(note->report.why.tolerance.tolerance, c);
		assert_int_equal(note->report.why.tolerance.missing, missing);
		assert_int_equal(note->report.why.tolerance.edge_count, missing);
		assert_int_equal(note->set, weak);
	}
	assert_true(nobody_shared(sim));
	return sl_sim_find(sim, 0, SL_REPORT_FAILED, SL_REASON_TOLERANCE);
}

/* With the edges that the refusal names, and no others. */
static void mend(struct sl_sim *sim, const struct sl_sim_note *note)
{
	uint32_t edges = 0, missing = note->report.why.tolerance.edge_count;
	struct sl_edge missed[SL_ADVICE_MAX];
	memcpy(missed, note->edges, sizeof missed);
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = i + 1; j < sim->n; j++)
			edges += sl_sim_link(sim, i, j)->possible;
	for (uint32_t e = 0; e < missing; e++) {
		assert_false(sl_sim_link(sim, missed[e].a, missed[e].b)->possible);
		sl_sim_join(sim, missed[e].a, missed[e].b);
	}
	sl_sim_run_until_round(sim, 1);
	assert_int_equal(sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.edges,
			 edges + missing);
	sl_sim_run_until_done(sim);
}

TEST(test_star)
{
	struct sl_sim *sim = begin(6, "star", 1);
	mend(sim, refused(sim, 1, 1, 1 << 0, 4));
	sl_sim_free(sim);
}

TEST(test_line)
{
	struct sl_sim *sim = begin(6, "line", 1);
	mend(sim, refused(sim, 1, 1, 0x1e, 1));
	sl_sim_free(sim);
}

/* Who is weak and what is missing is said of the roster, not of those who are there: 0 is not. */
TEST(test_names)
{
	static const struct sl_edge line[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
	struct sl_sim *sim = sl_sim_new(
		&(struct sl_sim_options){.seed = 41, .learners = 6, .edges = line, .edge_count = 5});
	for (uint32_t i = 0; i < 6; i++)
		sim->learners[i].host.config.privacy_check_warns = false;
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

TEST(test_ring)
{
	struct sl_sim *sim = begin(6, "ring", 1);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
	sim = begin(6, "ring", 2);
	sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, SL_REASON_TOLERANCE);
	const struct sl_sim_note *note = refusal(sim, 0, SL_REASON_TOLERANCE);
	uint32_t cut = (uint32_t)note->set;
	assert_int_equal(__builtin_popcount(cut), 2);
	assert_false((cut & cut >> 1) != 0 || cut == 0x21); /* no two neighbours */
	mend(sim, refused(sim, 2, 2, cut, note->report.why.tolerance.missing));
	sl_sim_free(sim);
}

/* Fewer than c+2: whatever the graph, c of them learn the last one's model. */
static void too_few(uint32_t learners, uint32_t absent, uint64_t c)
{
	struct sl_sim_options o = {.seed = 42, .learners = learners, .parameters.tolerance = c};
	struct sl_sim *sim = sl_sim_new(&o);
	for (uint32_t i = 0; i < learners; i++)
		sim->learners[i].host.config.privacy_check_warns = false;
	for (uint32_t i = learners - absent; i < learners; i++)
		sim->learners[i].host.stopped = sim->learners[i].silent = true;
	sl_sim_start(sim);
	sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, SL_REASON_FEW);
	for (uint32_t i = 0; i < learners - absent; i++) {
		const struct sl_report *report = &refusal(sim, i, SL_REASON_FEW)->report;
		assert_int_equal(report->why.tolerance.learners, learners - absent);
		assert_int_equal(report->why.tolerance.tolerance, c);
	}
	assert_true(nobody_shared(sim));
	sl_sim_free(sim);
}

TEST(test_few)
{
	too_few(2, 0, 1);
	too_few(3, 1, 1);
	too_few(3, 0, 2);
	too_few(5, 2, 2);
	struct sl_sim *sim = begin(4, "complete", 2); /* c+2 */
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

/* --- privacy_check: warn --- */

/* The same words, in another place; and then it goes on. */
static void warns(uint32_t learners, const char *topology, uint64_t c, enum sl_reason reason)
{
	struct sl_sim *sim = begin(learners, topology, c);
	sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, reason);
	const struct sl_sim_note no = *refusal(sim, learners - 1, reason);
	sl_sim_free(sim);
	sim = build(
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
	sl_sim_free(sim);
}

TEST(test_warn)
{
	warns(6, "star", 1, SL_REASON_TOLERANCE);
	warns(6, "line", 1, SL_REASON_TOLERANCE);
	warns(7, "ring", 2, SL_REASON_TOLERANCE);
	warns(2, "complete", 1, SL_REASON_FEW);
	warns(3, "line", 2, SL_REASON_FEW);
}

/* --- after a refusal --- */

static bool says(const struct driver *p, const char *text)
{
	return strstr(p->trace.text, text) != NULL;
}

/* Between 2 and 3, who cannot reach each other; 4 does not answer. */
static struct driver *refused_driver(void)
{
	struct driver *p = driver_build(4, 4);
	p->config.privacy_check_warns = false;
	driver_start(p);
	for (sl_id id = 2; id <= 3; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_PEER_STATUS_READY);
	}
	tell_link(p, false, 4);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	tell_link_state(p, 2, 2, 1, (const sl_id[]){1, 0});
	tell_link_state(p, 3, 3, 1, (const sl_id[]){1, 0});
	assert_true(says(p, "compute analysis"));
	p->analysis.kappa = p->analysis.cut_count = 1;
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	assert_true(says(p, "FAILED tolerance 1, wipe, DISCOVER"));
	assert_false(says(p, "AGREE"));
	return p;
}

TEST(test_waits_for_its_time)
{
	struct driver *p = refused_driver();
	sl_ms pause = sl_core_deadline(p->core) - p->now;
	assert_true(pause >= 250 && pause <= 500);
	tell_time(p, pause - 1);
	assert_false(says(p, "AGREE"));
	tell_time(p, 1);
	assert_true(says(p, "AGREE, link state of 1 a2 to 2 3"));
	driver_free(p, 0);
}

TEST(test_or_for_others)
{
	struct driver *p = refused_driver();
	tell_link(p, true, 4);
	tell_hello(p, 4, 1, SL_PEER_STATUS_TRAINING);
	assert_false(says(p, "AGREE"));
	tell_hello(p, 4, 1, SL_PEER_STATUS_READY);
	assert_true(says(p, "AGREE, link state of 1 a2 to 2 3 4"));
	driver_free(p, 0);
	p = refused_driver();
	tell_link(p, false, 3); /* fewer are others, too */
	assert_true(says(p, "AGREE, link state of 1 a2 to 2"));
	driver_free(p, 0);
}

/* Nobody turns up for an hour: a try now and then, no more. When somebody does, nobody's pause stands in the
 * way, and nobody who paused is said to be missing. */
TEST(test_patience)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		uint32_t tries = 0;
		struct sl_sim *sim = build(
			(struct sl_sim_options){.seed = 41 + seed, .learners = 6, .topology = "line"}, false);
		sl_sim_elapse(sim, 3600000 + seed * 1700);
		for (size_t k = 0; k < sim->note_count; k++)
			tries += sim->notes[k].learner == 3 &&
				 sim->notes[k].report.reason == SL_REASON_TOLERANCE;
		assert_in_range(tries, 3600 / 60, 3600 / 10);
		uint64_t since = sim->now;
		sl_sim_join(sim, 0, 5);
		sl_sim_run_until_round(sim, 1);
		for (uint32_t i = 0; i < 6; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_FAILED, SL_REASON_FLOOD);
		if (sim->now > since + 5000000)
			sl_sim_fail(sim, "committed after %llu ms",
				    (unsigned long long)((sim->now - since) / 1000));
		sl_sim_free(sim);
	}
}

/* --- every graph of up to five learners, against every coalition --- */

/* c learners who pool what they see learn the sums of the components that they leave (PROTOCOL.md §2.3 What a
 * coalition learns, F2). */
static bool safe(const struct brute *graph, uint32_t c)
{
	for (uint32_t out = 0; out < 1u << graph->n; out++) {
		uint32_t size = (uint32_t)__builtin_popcount(out);
		if (size > c || size == graph->n)
			continue;
		if (size + 1 == graph->n || brute_components(graph, out) > 1)
			return false; /* somebody's own model, or the sum of some of them */
	}
	return true;
}

static bool parts(const struct brute *graph, uint32_t out)
{
	return brute_components(graph, out) > 1;
}

/* The weak ones could do it: each of them alone, or all together. And the edges that are named do help. */
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

static void try_graph(const struct brute *graph, uint64_t number, uint32_t c)
{
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
	} else {
		enum sl_reason reason = graph->n < c + 2 ? SL_REASON_FEW : SL_REASON_TOLERANCE;
		sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, reason);
		for (uint32_t i = 0; i < graph->n; i++)
			if (reason == SL_REASON_TOLERANCE)
				expect_advice(graph, refusal(sim, i, reason), c);
		assert_true(nobody_shared(sim));
	}
	sl_sim_free(sim);
}

TEST(test_all_small_graphs)
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
