/* What follows from a view's agreed parameters and its edges. */
#include "common/protocol/view.h"

#include <string.h>

void sl_view_set_encoding(struct sl_view *view)
{
	const struct sl_parameters *p = &view->agreed;
	view->encoding = (struct sl_encoding){.kind = (enum sl_encoding_kind)p->encoding,
					      .decimals = (uint32_t)p->decimals,
					      .weight_total = view->n};
	memcpy(&view->encoding.clipping_range, &p->clipping_range, sizeof p->clipping_range);
	view->sharing = (enum sl_sharing_kind)p->sharing;
	view->max_weight = p->max_weight;
	view->elements = p->n + 1;
	view->chunks = (uint32_t)((view->elements + SL_CHUNK_ELEMENTS - 1) / SL_CHUNK_ELEMENTS);
}

void sl_view_set_engine(struct sl_view *view)
{
	view->engine = sl_engine_choose((enum sl_engine)view->agreed.mixing, &view->costs, &view->steps);
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
