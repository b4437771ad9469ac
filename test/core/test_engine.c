/* All engines yield the same sum. */
#include <string.h>

#include "test/lib/test.h"
#include "test/core/verbs.h"

struct graph {
	struct sl_edge edges[64];
	uint32_t n, count;
};

/* Return a random tree with some more edges. */
static struct graph random_graph(uint64_t *seed)
{
	struct graph g = {.n = 3 + (uint32_t)(sl_sim_random(seed) % 8)};
	bool has[16][16] = {0};
	uint64_t more = sl_sim_random(seed) % (2 * g.n);
	for (uint32_t v = 1; v < g.n + more; v++) {
		uint32_t a = v < g.n ? v : (uint32_t)(sl_sim_random(seed) % g.n),
			 b = (uint32_t)(sl_sim_random(seed) % (v < g.n ? v : g.n));
		if (a == b || has[a][b])
			continue;
		has[a][b] = has[b][a] = true;
		g.edges[g.count++] = (struct sl_edge){a, b};
	}
	return g;
}

static struct sl_sim_options options_of(const struct graph *g, uint64_t number)
{
	static const uint64_t primes[] = {
		31, 37, 1020431, 2147483647, (UINT64_C(1) << 44) - 17, (UINT64_C(1) << 61) - 1};
	struct sl_sim_options o = {
		.seed = number + 1, .learners = g->n, .edges = g->edges, .edge_count = g->count};
	o.parameters = (struct sl_parameters){.p = primes[number % 6],
					      .n = 1 + number % 5,
					      .rounds = 1,
					      .decimals = number % 6 < 2    ? 1
							  : number % 6 == 2 ? 2
									    : 4,
					      .max_weight = 1,
					      .sharing = number / 6 % 3};
	o.clipping_range = number % 6 < 2 ? 0.1 : 16;
	return o;
}

struct outcome {
	enum sl_engine engine;
	uint64_t steps, z[8];
};

static void expect_smooth(const struct sl_sim *sim)
{
	for (size_t k = 0; k < sim->note_count; k++) {
		enum sl_report_kind kind = sim->notes[k].report.kind;
		assert_true(kind != SL_REPORT_REJECTED && kind != SL_REPORT_RECOVERING &&
			    kind != SL_REPORT_FAILED);
	}
}

/* Return the engine and the model of a round; the checker verifies Z. */
static struct outcome outcome_of(const struct sl_sim_options *o)
{
	struct sl_sim *sim = sl_sim_new(o);
	for (uint32_t i = 0; i < sim->n; i++)
		sim->learners[i].host.config.parameters.privacy_check = 0; /* allows lines and stars */
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	const struct sl_report *r = &sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report;
	struct outcome outcome = {.engine = r->committed.engine, .steps = r->committed.exchanges};
	for (uint32_t i = 0; i < sim->n; i++) {
		const struct sl_sim_learner *l = &sim->learners[i];
		assert_int_equal(l->host.committed, 1);
		for (uint64_t e = 0; e < o->parameters.n; e++) {
			uint64_t bits = 0;
			memcpy(&bits, (const float *)l->host.workspace.committed + e, sizeof(float));
			assert_true(i == 0 || outcome.z[e] == bits);
			outcome.z[e] = bits;
		}
	}
	expect_smooth(sim);
	sl_sim_free(sim);
	return outcome;
}

TEST(same_on_random_graphs)
{
	uint64_t seed = 7;
	uint32_t took[SL_ENGINES] = {0}, instead[SL_ENGINES] = {0};
	for (uint64_t number = 0; number < 240; number++) {
		struct graph g = random_graph(&seed);
		struct sl_sim_options o = options_of(&g, number);
		struct outcome first = {0};
		for (enum sl_engine wanted = SL_ENGINE_EXACT; wanted <= SL_ENGINE_AUTO; wanted++) {
			if (wanted == SL_ENGINE_METROPOLIS && o.parameters.p >> SL_MIXING_P_BITS_MAX != 0)
				continue;
			o.parameters.mixing = wanted;
			struct outcome outcome = outcome_of(&o);
			took[outcome.engine]++;
			instead[outcome.engine] += wanted == SL_ENGINE_EXACT && outcome.engine != wanted;
			if (wanted == SL_ENGINE_EXACT)
				first = outcome;
			assert_memory_equal(outcome.z, first.z, sizeof first.z);
		}
	}
	assert_true(took[SL_ENGINE_EXACT] > 200 && took[SL_ENGINE_METROPOLIS] > 160 &&
		    took[SL_ENGINE_FOREST] > 240 && instead[SL_ENGINE_METROPOLIS] > 0);
}

static const struct sl_report *mixed(struct sl_sim *sim, uint32_t learner)
{
	return &sl_sim_expect(sim, learner, SL_REPORT_MIXED, SL_REASON_NONE)->report;
}

/* Expect that the spread stays under its bound, is told for exchanges as far apart as they may be, and ends
 * where every learner rounds to the same sum; but a complete graph needs one exchange only. Return the first
 * spread. */
static double expect_converging(const struct sl_report *report)
{
	const struct sl_spreads *spreads = report->mixed.spreads;
	uint64_t steps = report->mixed.exchanges;
	assert_true(spreads->count == steps ||
		    (spreads->count > SL_SPREADS_MAX / 2 && spreads->count <= SL_SPREADS_MAX));
	for (uint32_t k = 0; k < spreads->count; k++) {
		assert_true(spreads->points[k].spread <= spreads->points[k].bound);
		assert_true(k == 0 || (spreads->points[k].exchanges > spreads->points[k - 1].exchanges &&
				       spreads->points[k].bound <= spreads->points[k - 1].bound));
	}
	assert_int_equal(spreads->points[0].exchanges, 0);
	assert_int_equal(spreads->points[spreads->count - 1].exchanges, steps - 1);
	assert_true(steps == 1 || spreads->points[spreads->count - 1].spread < 0.5);
	return spreads->points[0].spread;
}

/* At first the states are random numbers below p: the sums that two learners would take from them differ by
 * more than p. */
TEST(spread_of_metropolis)
{
	static const char *const topologies[] = {"line", "ring", "star", "grid", "complete"};
	for (size_t k = 0; k < sizeof topologies / sizeof *topologies; k++) {
		struct sl_sim_options o = {.seed = 60 + k, .learners = 9, .topology = topologies[k]};
		o.parameters.p = (UINT64_C(1) << 31) - 1;
		o.parameters.n = 2 * SL_CHUNK_ELEMENTS + 7;
		o.parameters.rounds = 1;
		o.parameters.mixing = SL_ENGINE_METROPOLIS;
		struct sl_sim *sim = sl_sim_new(&o);
		for (uint32_t i = 0; i < sim->n; i++)
			sim->learners[i].host.config.parameters.privacy_check = 0;
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		for (uint32_t i = 0; i < sim->n; i++)
			assert_true(expect_converging(mixed(sim, i)) > (double)o.parameters.p);
		expect_smooth(sim);
		sl_sim_free(sim);
	}
}

TEST(no_spread_of_other_engines)
{
	for (enum sl_engine engine = SL_ENGINE_EXACT; engine <= SL_ENGINE_FOREST;
	     engine += SL_ENGINE_FOREST) {
		struct sl_sim_options o = {.seed = 70, .learners = 5, .topology = "ring"};
		o.parameters.rounds = 1;
		o.parameters.mixing = engine;
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		sl_sim_expect_none(sim, 0, SL_REPORT_MIXED, SL_REASON_NONE);
		sl_sim_free(sim);
	}
}

/* More chunks than the window of the tree. */
TEST(chunks_by_forest)
{
	static const char *const topologies[] = {"line", "ring", "star", "grid", "complete"};
	for (size_t k = 0; k < sizeof topologies / sizeof *topologies; k++) {
		struct sl_sim_options o = {.seed = 40 + k, .learners = 6, .topology = topologies[k]};
		o.parameters.n = 20 * SL_CHUNK_ELEMENTS + 7;
		o.parameters.rounds = 1;
		o.parameters.mixing = SL_ENGINE_FOREST;
		o.parameters.sharing = SL_SHARING_SEEDED;
		struct sl_sim *sim = sl_sim_new(&o);
		for (uint32_t i = 0; i < sim->n; i++)
			sim->learners[i].host.config.parameters.privacy_check = 0;
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		assert_int_equal(
			sl_sim_expect(sim, 1, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.engine,
			SL_ENGINE_FOREST);
		expect_smooth(sim);
		sl_sim_free(sim);
	}
}
