/* exact (PROTOCOL.md §8.3 exact): s is x(k); the sum over k grows in vault->x, and a chunk's last MIX moves it to s. */
#include <string.h>

#include "common/compute/job_mix_row.h"
#include "common/field/vector.h"

static int open_weights(struct sl_vault *vault, const struct sl_view *view)
{
	const struct sl_field *field = &view->field;
	uint64_t own = 1;
	vault->weights = SL_TAKE(&vault->scratch, view->degree + 1, uint64_t);
	if (vault->weights == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t d = sl_metropolis(&view->graph, view->self, view->neighbours[r]);
		vault->weights[r] = sl_inverse(field, d); /* d <= N < p */
		own = sl_sub(field, own, vault->weights[r]);
	}
	vault->weights[view->degree] = own;
	return SL_OK;
}

/* Return true if one exchange is enough: W is 1/N everywhere, as on a complete graph and on no other, and Z = N W x. */
static bool plain_sum(const struct sl_view *view)
{
	return view->steps == 1;
}

static int take(struct sl_vault *vault, const struct sl_view *view, const struct sl_buffer *b)
{
	size_t count = sl_chunk_elements(view, b->index);
	if (plain_sum(view))
		return sl_take_packed(&view->field, vault->s + (size_t)b->index * SL_CHUNK_ELEMENTS, b->bytes, count, true);
	return sl_packed_valid(&view->field, b->bytes, count) ? SL_OK : SL_ERR_INVALID;
}

static void step(struct sl_vault *vault, const struct sl_view *view, size_t at, size_t count, uint64_t k)
{
	if (plain_sum(view))
		return;
	const uint64_t *part = vault->survey.r;
	uint64_t *state = vault->s + at, *sum = vault->x + at;
	if (k == 0) {
		memcpy(sum, state, count * sizeof *sum);
		sl_scale(&view->field, sum, count, part[0]);
	}
	sl_blend_step(&view->field, state, sum, part[k + 1], count, vault->states, vault->weights, view->degree);
	if (k + 1 == view->steps)
		memcpy(state, sum, count * sizeof *sum);
}

const struct sl_job_mix_row sl_job_mix_exact = {.open = open_weights, .take = take, .step = step};
