#include "common/base/bytes.h"
#include "common/mixing/engine.h"

static_assert(UINT64_MAX / SL_LEARNERS_MAX / SL_LEARNERS_MAX / 2 / SL_STATE_BYTES > SL_ELEMENTS_MAX &&
		      UINT64_MAX / SL_HOP_BYTES_MAX / 2 > 8 * SL_LEARNERS_MAX,
	      "prices fit");

/* --- exchanges and windows --- */

static uint64_t exact_exchanges(const struct sl_engine_costs *c)
{
	return c->degree;
}

static uint64_t metropolis_exchanges(const struct sl_engine_costs *c)
{
	return c->k > SL_ITERATIONS_MAX ? 0 : c->k;
}

static uint64_t forest_exchanges(const struct sl_engine_costs *c)
{
	return 2 * (uint64_t)c->depth;
}

/* Return the hops of CHECK: a Challenge and a Checksum from each participant to all others, along a tree. */
static uint64_t check_hops(const struct sl_engine_costs *c)
{
	return 4 * (uint64_t)c->depth;
}

static uint64_t exact_hops(const struct sl_engine_costs *c)
{
	return sl_engine_partial_sums(SL_ENGINE_EXACT, c->degree) ? c->degree - 1 + check_hops(c) : 0;
}

static uint64_t forest_hops(const struct sl_engine_costs *c)
{
	return 2 * (uint64_t)c->depth + check_hops(c);
}

/* Two chunks of each tree, one that goes up and one that comes down, and enough that a sender need not wait
 * for the first one to come down again: at least SL_FOREST_WINDOW_BYTES, or a long path is never full. */
static uint32_t forest_window(const struct sl_engine_costs *c)
{
	if (c->trees == 0)
		return SL_WINDOW;
	uint64_t chunk = sl_packed_bytes(sl_engine_forest_elements(c->elements, c->trees), c->bits);
	uint64_t least = SL_WINDOW + 2 * (c->trees - 1) + 2 * c->depth,
		 filling = (SL_FOREST_WINDOW_BYTES + chunk - 1) / chunk,
		 window = least > filling ? least : filling;
	return window < SL_FOREST_WINDOW_MAX ? (uint32_t)window : SL_FOREST_WINDOW_MAX;
}

/* --- the choice --- */

/* Return the bytes that the busiest learner sends, and those that it could send during the hops. By forest, a
 * chunk has to come all the way up and down before the last of a vector, for which the others do not wait. */
static uint64_t price_of(enum sl_engine engine, const struct sl_engine_costs *c)
{
	uint64_t exchanges = sl_engine_exchanges(engine, c),
		 hop = c->hop_bytes > 0 ? c->hop_bytes : SL_HOP_BYTES,
		 waits = sl_engine_rows[engine].hops(c) * hop,
		 vector = sl_packed_bytes(c->elements, sl_engine_bits(engine, c->bits));
	if (sl_engine_rows[engine].to_all)
		return exchanges * c->busiest * vector + waits;
	uint32_t trees = c->trees > 0 ? c->trees : 1, deposits = c->failed ? c->busiest : 1;
	uint64_t chunk = sl_packed_bytes(sl_engine_forest_elements(c->elements, trees), c->bits);
	return vector * c->load / trees + vector * deposits + exchanges * chunk + waits;
}

/* The last engine can always run. */
static const enum sl_engine last = (enum sl_engine)(SL_ENGINES - 1);

static enum sl_engine cheapest(enum sl_engine wanted, const struct sl_engine_costs *costs)
{
	enum sl_engine best = last;
	for (enum sl_engine e = 0; e < last; e++)
		if ((sl_engine_rows[wanted].candidates & SL_ENGINE_SET(e)) != 0 &&
		    sl_engine_exchanges(e, costs) != 0 && price_of(e, costs) <= price_of(best, costs))
			best = e;
	return best;
}

static enum sl_engine first_able(enum sl_engine wanted, const struct sl_engine_costs *costs)
{
	enum sl_engine engine = wanted;
	while (engine < last && sl_engine_exchanges(engine, costs) == 0)
		engine++;
	return engine;
}

const struct sl_engine_row sl_engine_rows[SL_ENGINES + 1] = {
	[SL_ENGINE_EXACT] =
		{
			.choice = SL_CHOICE_FIRST, /* r(1) = 0 mod p: metropolis, and where that cannot run
						      either, forest */
			.p_bits = SL_P_BITS_MAX,
			.to_all = true,
			.partial = 2, /* in the first, deposits are added */
			.candidates = SL_ENGINE_SET_ALL,
			.exchanges = exact_exchanges,
			.hops = exact_hops,
		},
	[SL_ENGINE_METROPOLIS] =
		{
			.p_bits = SL_MIXING_P_BITS_MAX,
			.state_bits = 8 * SL_STATE_BYTES,
			.to_all = true,
			.rounds = true,
			.partial = 1,
			.needs_k = true,
			.candidates = SL_ENGINE_SET(SL_ENGINE_METROPOLIS),
			.exchanges = metropolis_exchanges,
		},
	[SL_ENGINE_FOREST] =
		{
			.p_bits = SL_P_BITS_MAX,
			.partial = 1,
			.candidates = SL_ENGINE_SET(SL_ENGINE_FOREST),
			.exchanges = forest_exchanges,
			.hops = forest_hops,
			.window = forest_window,
		},
	[SL_ENGINE_AUTO] =
		{
			.choice = SL_CHOICE_CHEAPEST,
			.p_bits = SL_P_BITS_MAX,
			.to_all = true,
			.partial = 1,
			/* not metropolis: its K is known with the Readys, when the deposits are out */
			.candidates = SL_ENGINE_SET(SL_ENGINE_EXACT) | SL_ENGINE_SET(SL_ENGINE_FOREST),
		},
};

const char *sl_engine_name(enum sl_engine engine)
{
#define X(constant, name) name,
	static const char *const names[] = {SL_ENGINE_NAMES(X)};
#undef X
	return names[engine];
}

enum sl_engine sl_engine_choose(enum sl_engine wanted, const struct sl_engine_costs *costs,
				uint64_t *exchanges)
{
	enum sl_engine_choice choice = sl_engine_rows[wanted].choice;
	enum sl_engine engine = choice == SL_CHOICE_FIRST      ? first_able(wanted, costs)
				: choice == SL_CHOICE_CHEAPEST ? cheapest(wanted, costs)
							       : wanted;
	*exchanges = sl_engine_exchanges(engine, costs);
	return engine;
}

bool sl_engine_deposits_forest(enum sl_engine wanted, const struct sl_engine_costs *costs)
{
	uint64_t exchanges;
	return !costs->failed && sl_engine_rows[wanted].choice != SL_CHOICE_FIRST &&
	       sl_engine_choose(wanted, costs, &exchanges) == SL_ENGINE_FOREST;
}

uint32_t sl_engine_candidates(enum sl_engine wanted, uint32_t p_bits)
{
	uint32_t engines = sl_engine_rows[wanted].candidates;
	for (enum sl_engine e = 0; e < SL_ENGINES; e++)
		if (p_bits > sl_engine_rows[e].p_bits)
			engines &= ~SL_ENGINE_SET(e);
	return engines;
}

uint32_t sl_engine_window(enum sl_engine engine, const struct sl_engine_costs *costs)
{
	return sl_engine_rows[engine].window != NULL ? sl_engine_rows[engine].window(costs) : SL_WINDOW;
}

uint32_t sl_engine_window_most(const struct sl_engine_costs *costs)
{
	uint32_t most = 0;
	for (enum sl_engine e = 0; e < SL_ENGINES; e++)
		most = sl_engine_window(e, costs) > most ? sl_engine_window(e, costs) : most;
	return most;
}
