#include "common/mixing/engine.h"

#include <assert.h>

/* What a step costs beside its bytes, in bytes: half a millisecond at 1 Gbit/s. */
#define STEP_BYTES 65536u

static_assert(UINT64_MAX / SL_ITERATIONS_MAX / SL_LEARNERS_MAX / SL_STATE_BYTES >
		      SL_ELEMENTS_MAX + STEP_BYTES,
	      "prices fit");

const char *sl_engine_name(enum sl_engine engine)
{
	static const char *const names[] = {[SL_ENGINE_EXACT] = "exact",
					    [SL_ENGINE_METROPOLIS] = "metropolis",
					    [SL_ENGINE_TREE] = "tree",
					    [SL_ENGINE_AUTO] = "auto"};
	return names[engine];
}

/* 0: it cannot, or was not asked. */
static uint64_t steps_of(enum sl_engine engine, const struct sl_engine_costs *c)
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

/* What the busiest learner sends, the steps counted in. A chunk has to come all the way up and down before
 * the last of a vector, for which the others do not wait. */
static uint64_t price_of(enum sl_engine engine, const struct sl_engine_costs *c)
{
	uint64_t steps = steps_of(engine, c), vector = c->elements * c->width;
	uint64_t chunk = c->elements < SL_CHUNK_ELEMENTS ? c->elements : SL_CHUNK_ELEMENTS;
	switch (engine) {
	case SL_ENGINE_EXACT:
		return steps * (c->busiest * vector + STEP_BYTES);
	case SL_ENGINE_METROPOLIS:
		return steps * (c->busiest * c->elements * SL_STATE_BYTES + STEP_BYTES);
	default:
		return (c->children + 2) * vector + steps * (chunk * c->width + STEP_BYTES);
	}
}

static enum sl_engine cheapest(const struct sl_engine_costs *costs)
{
	enum sl_engine best = SL_ENGINE_TREE; /* which always can */
	for (enum sl_engine e = SL_ENGINE_EXACT; e < SL_ENGINE_TREE; e++)
		if (steps_of(e, costs) != 0 && price_of(e, costs) <= price_of(best, costs))
			best = e;
	return best;
}

static enum sl_engine first_that_can(const struct sl_engine_costs *costs)
{
	enum sl_engine engine = SL_ENGINE_EXACT;
	while (engine < SL_ENGINE_TREE && steps_of(engine, costs) == 0)
		engine++;
	return engine;
}

enum sl_engine sl_engine_choose(enum sl_engine wanted, const struct sl_engine_costs *costs, uint64_t *steps)
{
	enum sl_engine engine = wanted == SL_ENGINE_AUTO    ? cheapest(costs)
				: wanted == SL_ENGINE_EXACT ? first_that_can(costs)
							    : wanted;
	*steps = steps_of(engine, costs);
	return engine;
}
