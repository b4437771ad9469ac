/* The overlay is max_degree / 2 cyclic orders of the roster, derived from its hash and the round, the same
 * for all learners. In each order a learner offers an edge to the peer before it and to the peer after it. If
 * all learners are in range, that is a random regular graph: a union of Hamiltonian cycles, connected, and
 * fast to mix. If not, each order closes over the peers in range, and an offer may not be returned. If the
 * privacy check refuses the result, it would refuse it again; so for the rest of the round all peers in range
 * are offered an edge. */
#include "common/core/overlay.h"

#include <sodium.h>

/* Return the place of learner `id` in an order. */
static uint64_t place(uint64_t seed, sl_id id)
{
	uint64_t z = seed + id * UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t order_seed(const struct sl_core *core, uint32_t order)
{
	uint8_t hash[16], what[SL_HASH_BYTES + 8];
	uint64_t seed;
	memcpy(what, core->config.scope.roster, SL_HASH_BYTES);
	memcpy(what + SL_HASH_BYTES, &core->t, 4);
	memcpy(what + SL_HASH_BYTES + 4, &order, 4);
	crypto_generichash(hash, sizeof hash, what, sizeof what, NULL, 0);
	memcpy(&seed, hash, sizeof seed);
	return seed;
}

/* Add to `offered` the peers of `from` after and before this learner on the circle: distances are mod 2^64.
 */
static void offer_in_order(const struct sl_core *core, uint32_t order, const uint64_t *from,
			   uint64_t *offered)
{
	uint64_t seed = order_seed(core, order), own = place(seed, core->config.ids[core->config.self]);
	uint64_t nearest = UINT64_MAX, farthest = 0;
	uint32_t after = UINT32_MAX, before = UINT32_MAX;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (!sl_bit(from, i))
			continue;
		uint64_t distance = place(seed, core->config.ids[i]) - own;
		if (after == UINT32_MAX || distance < nearest) {
			nearest = distance;
			after = i;
		}
		if (before == UINT32_MAX || distance > farthest) {
			farthest = distance;
			before = i;
		}
	}
	sl_bit_set(offered, after);
	sl_bit_set(offered, before);
}

bool sl_overlay_thins(const struct sl_core *core, const uint64_t *from)
{
	return !core->full_graph &&
	       sl_bit_count(from, sl_core_words(core)) > core->config.parameters.max_degree;
}

void sl_overlay(const struct sl_core *core, const uint64_t *from, uint64_t *offered)
{
	if (!sl_overlay_thins(core, from)) {
		memcpy(offered, from, sl_core_set_bytes(core));
		return;
	}
	memset(offered, 0, sl_core_set_bytes(core));
	for (uint32_t order = 0; order < core->config.parameters.max_degree / 2; order++)
		offer_in_order(core, order, from, offered);
}
