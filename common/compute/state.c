#include "common/compute/state.h"

#include "common/field/vector.h"

void sl_state_take(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		   size_t count, uint64_t *out)
{
	sl_vector_unpack(&view->field, sl_state_at(workspace, view, first), count, out);
}

void sl_state_put(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		  size_t count, const uint64_t *elements)
{
	sl_bytes_pack(sl_state_at(workspace, view, first), elements, count, view->field.bits);
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
