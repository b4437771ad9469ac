#include "common/mixing/engine.h"

#include <assert.h>

/* The price of an exchange beside its bytes, in bytes: half a millisecond at 1 Gbit/s (PROTOCOL.md §8.6 The price of an
 * exchange). */
#define STEP_BYTES 65536u

static_assert(UINT64_MAX / SL_ITERATIONS_MAX / SL_LEARNERS_MAX / SL_STATE_BYTES > SL_ELEMENTS_MAX + STEP_BYTES, "prices fit");

const char *sl_engine_name(enum sl_engine engine)
{
	static const char *const names[] = {[SL_ENGINE_EXACT] = "exact",
					    [SL_ENGINE_METROPOLIS] = "metropolis",
					    [SL_ENGINE_TREE] = "tree",
					    [SL_ENGINE_AUTO] = "auto"};
	return names[engine];
}

uint64_t sl_engine_exchanges(enum sl_engine engine, const struct sl_engine_costs *c)
{
	switch (engine) {
	case SL_ENGINE_EXACT:
		return c->degree;
	case SL_ENGINE_METROPOLIS:
		return c->k > SL_ITERATIONS_MAX ? 0 : c->k;
	default:
		return 2 * (uint64_t)c->depth;
	}
}

/* Return the bytes that the busiest learner sends, plus a price for each exchange. By tree, a chunk has to come all the way
 * up and down before the last of a vector, for which the others do not wait. */
static uint64_t price_of(enum sl_engine engine, const struct sl_engine_costs *c)
{
	uint64_t exchanges = sl_engine_exchanges(engine, c), step = STEP_BYTES;
	uint64_t vectors = sl_engine_vectors(engine, exchanges, c->busiest, sl_engine_tree_most(c->children));
	if (engine == SL_ENGINE_TREE)
		step += (c->elements < SL_CHUNK_ELEMENTS ? c->elements : SL_CHUNK_ELEMENTS) * c->width;
	return vectors * c->elements * sl_engine_width(engine, c->width) + exchanges * step;
}

static enum sl_engine cheapest(const struct sl_engine_costs *costs)
{
	enum sl_engine best = SL_ENGINE_TREE; /* which can always run */
	for (enum sl_engine e = SL_ENGINE_EXACT; e < SL_ENGINE_TREE; e++)
		if (sl_engine_exchanges(e, costs) != 0 && price_of(e, costs) <= price_of(best, costs))
			best = e;
	return best;
}

static enum sl_engine first_able(const struct sl_engine_costs *costs)
{
	enum sl_engine engine = SL_ENGINE_EXACT;
	while (engine < SL_ENGINE_TREE && sl_engine_exchanges(engine, costs) == 0)
		engine++;
	return engine;
}

enum sl_engine sl_engine_choose(enum sl_engine wanted, const struct sl_engine_costs *costs, uint64_t *exchanges)
{
	enum sl_engine engine = wanted == SL_ENGINE_AUTO    ? cheapest(costs)
				: wanted == SL_ENGINE_EXACT ? first_able(costs)
							    : wanted;
	*exchanges = sl_engine_exchanges(engine, costs);
	return engine;
}
