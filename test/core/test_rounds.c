/* Whole rounds without faults: every family of graphs, prime, sharing and encoding; chunks; weights. */

#include "test/lib/test.h"
#include "test/core/verbs.h"

#define P_PAPER UINT64_C(1020431)
#define P_31 UINT64_C(2147483647)
#define P_44 ((UINT64_C(1) << 44) - 17)

static uint32_t runs;

static void play(const struct sl_sim_options *options)
{
	struct sl_sim *sim = sl_sim_new(options);
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, (sl_round)options->parameters.rounds);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

/* Take every prime, sharing and encoding in turn, so that each family and size meets several. */
static struct sl_sim_options variant(uint32_t learners, const char *topology)
{
	static const uint64_t primes[] = {P_PAPER, P_31, P_44, 0};
	uint32_t v = runs++;
	struct sl_sim_options o = {.seed = 1000 + v, .learners = learners, .topology = topology};
	o.parameters.rounds = 3;
	o.parameters.p = primes[v % 4];
	o.parameters.decimals = o.parameters.p == P_PAPER ? 2 : 4;
	o.parameters.sharing = v / 4 % 3;
	o.parameters.encoding = v / 12 % 2 ? SL_ENCODING_PAPER : SL_ENCODING_WEIGHTED;
	return o;
}

TEST(families)
{
	static const struct {
		const char *topology;
		uint32_t least;
	} families[] = {{"complete", 2}, {"ring", 3},	   {"line", 2},	     {"star", 2},
			{"grid", 4},	 {"regular:2", 4}, {"regular:4", 6}, {"geometric:0.9", 3}};
	for (size_t f = 0; f < sizeof families / sizeof *families; f++)
		for (uint32_t n = families[f].least; n <= 10; n++) {
			struct sl_sim_options o = variant(n, families[f].topology);
			play(&o);
		}
}

TEST(combinations)
{
	for (uint32_t v = 0; v < 24; v++) {
		struct sl_sim_options o = variant(5, "ring");
		play(&o);
	}
}

TEST(weights_by_samples)
{
	for (uint32_t v = 0; v < 8; v++) {
		struct sl_sim_options o = {.seed = 50 + v, .learners = 4, .topology = "ring"};
		o.parameters.rounds = 2;
		o.parameters.decimals = 3;
		o.parameters.max_weight = 60000; /* p: auto finds the prime */
		play(&o);
	}
}

/* Nine full chunks and five elements over: more than two windows of SL_WINDOW, and than one job's seeds. */
TEST(chunks)
{
	struct sl_sim_options o = {.seed = 3, .learners = 3, .topology = "line"};
	o.parameters.n = 9 * SL_CHUNK_ELEMENTS + 4;
	for (o.parameters.sharing = SL_SHARING_SHAMIR; o.parameters.sharing <= SL_SHARING_SEEDED;
	     o.parameters.sharing++)
		play(&o);
	o.parameters.n = SL_WINDOW * SL_CHUNK_ELEMENTS - 1; /* the last chunk is full */
	o.topology = "complete";
	o.parameters.p = P_44;
	o.parameters.sharing = SL_SHARING_SHAMIR;
	play(&o);
	o.parameters.n = 1;
	play(&o);
}

/* The same seed is the same run. */
TEST(deterministic)
{
	uint64_t steps[2], now[2];
	for (int k = 0; k < 2; k++) {
		struct sl_sim_options o = {.seed = 11, .learners = 6, .topology = "ring"};
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		steps[k] = sim->steps;
		now[k] = sim->now;
		sl_sim_free(sim);
	}
	assert_int_equal(steps[0], steps[1]);
	assert_int_equal(now[0], now[1]);
}
