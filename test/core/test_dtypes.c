/* Models of mixed dtypes, in every engine and with every sharing: all learners commit the same bytes, and the
 * simulator compares each element with the plain mean. Integers are compared exactly here. */
#include "test/lib/test.h"
#include "test/core/verbs.h"

#define LEARNERS 5u
#define INTEGERS 3u

static const struct sl_tensor items[] = {
	{.name = "count", .dtype = SL_INT64},
	{.name = "mean", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {2}},
	{.name = "votes", .dtype = SL_INT64, .dimensions = 1, .shape = {INTEGERS - 1}},
	{.name = "w", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {3}}};
static const size_t places[INTEGERS] = {0, 3, 4}; /* of the integers, in units of 8 bytes */

/* Return the integer nearest to sum / weight, ties to even. */
static int64_t nearest(int64_t sum, int64_t weight)
{
	int64_t low = sum / weight - (sum % weight < 0), rest = sum - low * weight;
	return low + (2 * rest > weight || (2 * rest == weight && low % 2 != 0));
}

static void expect_means(const struct sl_sim *sim)
{
	int64_t sums[INTEGERS] = {0}, weights = 0;
	for (uint32_t i = 0; i < LEARNERS; i++) {
		const struct sl_workspace *w = &sim->learners[i].host.workspace;
		weights += (int64_t)w->weight;
		for (size_t k = 0; k < INTEGERS; k++)
			sums[k] += (int64_t)w->weight * ((const int64_t *)w->trained)[places[k]];
	}
	for (uint32_t i = 0; i < LEARNERS; i++)
		for (size_t k = 0; k < INTEGERS; k++)
			assert_int_equal(
				((const int64_t *)sim->learners[i].host.workspace.committed)[places[k]],
				nearest(sums[k], weights));
}

static void expect_round(enum sl_engine engine, enum sl_sharing_kind sharing, enum sl_values values)
{
	struct sl_sim *sim = sl_sim_new(&(struct sl_sim_options){.seed = 3 + engine,
								 .learners = LEARNERS,
								 .tensors = {.items = items, .count = 4},
								 .parameters = {.n = INTEGERS + 5,
										.max_weight = 6,
										.mixing = engine,
										.sharing = sharing,
										.values = values}});
	sim->learners[2].host.workspace.weight = 0;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	expect_means(sim);
	sl_sim_free(sim);
}

TEST(every_engine_and_sharing)
{
	for (enum sl_engine engine = SL_ENGINE_EXACT; engine <= SL_ENGINE_AUTO; engine++)
		for (enum sl_sharing_kind sharing = 0; sharing < SL_SHARING_KINDS; sharing++)
			for (enum sl_values values = SL_VALUES_MODEL; values <= SL_VALUES_EXACT; values++)
				expect_round(engine, sharing, values);
}
