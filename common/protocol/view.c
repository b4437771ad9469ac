#include "common/protocol/view.h"

#include <string.h>

#include "common/base/bytes.h"
#include "common/base/real.h"

bool sl_view_has_base(const struct sl_view *view)
{
	static const uint8_t none[SL_HASH_BYTES];
	return view->agreed.values != SL_VALUES_NOISY &&
	       (view->agreed.initial != 0 || memcmp(view->previous, none, sizeof none) != 0);
}

bool sl_view_ranged(const struct sl_view *view)
{
	return view->agreed.values == SL_VALUES_UPDATE && sl_view_has_base(view);
}

/* ---- noise ---- */

struct sl_dp_terms sl_view_terms(const struct sl_parameters *p, uint32_t learners)
{
	return (struct sl_dp_terms){.unit = (enum sl_dp_unit)p->dp_unit,
				    .dimension = (double)p->n,
				    .clip = sl_real_of(p->dp_clip),
				    .noise = sl_real_of(p->dp_noise),
				    .range = sl_real_of(p->dp_range),
				    .learners = learners,
				    .colluding =
					    p->tolerance < learners ? (uint32_t)p->tolerance : learners - 1};
}

static void set_noise(struct sl_view *view)
{
	const struct sl_dp_terms terms = sl_view_terms(&view->agreed, view->n);
	struct sl_noisy *noisy = &view->encoding.noisy;
	*noisy = (struct sl_noisy){.room = UINT64_MAX / 4, .factor = 1};
	if (sl_dp_scale_choose(&terms, &view->scale) != SL_OK)
		return;
	noisy->step = view->scale.step;
	noisy->most = view->scale.most;
	noisy->room = view->scale.room;
}

struct sl_dp_round sl_view_charge(const struct sl_view *view, double sampled)
{
	const struct sl_dp_terms terms = sl_view_terms(&view->agreed, view->n);
	return sl_dp_scale_round(&terms, &view->scale, sampled);
}

void sl_view_set_encoding(struct sl_view *view, const struct sl_layout *layout)
{
	const struct sl_parameters *p = &view->agreed;
	bool ranged = sl_view_ranged(view), limbs = sl_values_have_limbs(p->values);
	view->encoding =
		(struct sl_encoding){.kind = (enum sl_encoding_kind)p->encoding,
				     .values = limbs && !ranged ? SL_VALUES_EXACT : (enum sl_values)p->values,
				     .decimals = (uint32_t)p->decimals,
				     .update_bits = (uint32_t)p->update_bits,
				     .weight_total = view->n};
	view->encoding.clipping_range = sl_real_of(p->clipping_range);
	if (sl_encoding_is_noisy(&view->encoding))
		set_noise(view);
	view->sharing = (enum sl_sharing_kind)p->sharing;
	view->max_weight = p->max_weight;
	view->elements = p->n + 1 + (limbs ? sl_layout_extra(layout, ranged, view->encoding.update_bits) : 0);
	view->chunks = (uint32_t)((view->elements + SL_CHUNK_ELEMENTS - 1) / SL_CHUNK_ELEMENTS);
}

void sl_view_set_engine(struct sl_view *view)
{
	view->engine = sl_engine_choose((enum sl_engine)view->agreed.mixing, &view->costs, &view->steps);
	view->state_elements = view->engine == SL_ENGINE_FOREST
				       ? sl_engine_forest_elements(view->elements, view->costs.trees)
				       : SL_CHUNK_ELEMENTS;
	view->state_chunks = (uint32_t)((view->elements + view->state_elements - 1) / view->state_elements);
}

static bool adjacent(const struct sl_view *view, uint32_t a, uint32_t b)
{
	const uint32_t *neighbours = sl_graph_neighbours(&view->graph, a);
	for (uint32_t k = 0; k < sl_graph_degree(&view->graph, a); k++)
		if (neighbours[k] == b)
			return true;
	return false;
}

bool sl_view_keeper(const struct sl_view *view, uint32_t owner, uint32_t keeper)
{
	if (owner == keeper)
		return false;
	if (!view->deposits_forest)
		return adjacent(view, owner, keeper);
	return view->keeper[owner] == keeper;
}

static bool is_lost(const struct sl_view *view, uint32_t position, const uint64_t *lost)
{
	return lost != NULL && sl_bit(lost, view->members[position]);
}

/* Return the number of losses around the participant at `position`, itself among them, that leave its masked
 * state within reach: holders can open its key, and a keeper has its deposit. */
static int64_t tolerates_around(const struct sl_view *view, uint32_t position, const uint64_t *lost)
{
	const uint32_t *neighbours = sl_graph_neighbours(&view->graph, position);
	int64_t holders = 0, keepers = 0;
	for (uint32_t k = 0; k < sl_graph_degree(&view->graph, position); k++) {
		bool here = !is_lost(view, neighbours[k], lost);
		holders += here;
		keepers += here && (!view->deposits_forest || sl_view_keeper(view, position, neighbours[k]));
	}
	int64_t spare = holders - sl_view_threshold(view, position) + 1;
	return (spare < keepers ? spare : keepers) - is_lost(view, position, lost);
}

uint32_t sl_view_tolerates(const struct sl_view *view, const uint64_t *lost)
{
	int64_t left = view->n, least;
	for (uint32_t i = 0; i < view->n; i++)
		left -= is_lost(view, i, lost);
	least = left - (int64_t)sl_view_digests(view->n, view->agreed.tolerance, view->agreed.forgetful);
	for (uint32_t i = 0; i < view->n; i++) {
		int64_t around = tolerates_around(view, i, lost);
		least = around < least ? around : least;
	}
	return least > 0 ? (uint32_t)least : 0;
}

int sl_view_neighbour(const struct sl_view *view, uint32_t roster_index)
{
	uint32_t position = view->position[roster_index], low = 0, high = view->degree;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (view->neighbours[middle] < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low < view->degree && view->neighbours[low] == position ? (int)low : -1;
}
