#include "common/compute/state.h"

#include "common/field/vector.h"

static size_t packed_room(const struct sl_view *view)
{
	return (sl_state_packed(view) + 7) / 8 * 8;
}

size_t sl_state_bytes(const struct sl_view *view)
{
	size_t chunk = view->elements < SL_CHUNK_ELEMENTS ? (size_t)view->elements : SL_CHUNK_ELEMENTS;
	return packed_room(view) + chunk * sizeof(uint64_t);
}

uint64_t *sl_state_chunk(const struct sl_workspace *workspace, const struct sl_view *view)
{
	return (uint64_t *)(void *)(workspace->s + packed_room(view));
}

uint64_t *sl_state_take(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
			size_t count)
{
	uint64_t *chunk = sl_state_chunk(workspace, view);
	sl_vector_unpack(&view->field, sl_state_at(workspace, view, first), count, chunk);
	return chunk;
}

void sl_state_put(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		  size_t count)
{
	sl_bytes_pack(sl_state_at(workspace, view, first), sl_state_chunk(workspace, view), count,
		      view->field.bits);
}

uint64_t sl_state_element(const struct sl_workspace *workspace, const struct sl_view *view, size_t l)
{
	return sl_bytes_element(workspace->s, l, view->field.bits);
}

size_t sl_state_second(const struct sl_view *view)
{
	bool longer = view->engine == SL_ENGINE_EXACT && view->steps > 1;
	return longer || view->engine == SL_ENGINE_METROPOLIS ? (size_t)view->elements : 0;
}
