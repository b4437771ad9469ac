/* exact (ROUND.md §8.3 exact): s is x(k); the sum over k grows in workspace->second, and a chunk's
 * last MIX moves it to s. */
#include <string.h>

#include "common/compute/job_mix_row.h"
#include "common/compute/state.h"
#include "common/field/vector.h"

static int open_weights(struct sl_workspace *workspace, const struct sl_view *view)
{
	const struct sl_field *field = &view->field;
	uint64_t own = 1;
	workspace->weights = SL_ARENA_TAKE(&workspace->scratch, view->degree + 1, uint64_t);
	if (workspace->weights == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t d = sl_graph_metropolis(&view->graph, view->self, view->neighbours[r]);
		workspace->weights[r] = sl_field_inverse(field, d); /* d <= N < p */
		own = sl_field_sub(field, own, workspace->weights[r]);
	}
	workspace->weights[view->degree] = own;
	return SL_OK;
}

/* Return true if one exchange is enough: W is 1/N everywhere, as on a complete graph and on no other, and Z =
 * N W x, the sum of all deposits. */
static bool plain_sum(const struct sl_view *view)
{
	return view->steps == 1;
}

static uint32_t check_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	const struct sl_buffer *b = blocks->context;
	size_t at = block->first - (size_t)b->index * SL_CHUNK_ELEMENTS;
	return !sl_vector_valid(&blocks->view->field,
				b->bytes + sl_packed_bytes(at, blocks->view->field.bits), block->count);
}

static int take(struct sl_workspace *workspace, const struct sl_view *view, struct sl_buffer *b)
{
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .context = b};
	return sl_blocks_run_chunk(&blocks, b->index, check_block) == 0 ? SL_OK : SL_ERR_INVALID;
}

static void step(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_block *block,
		 uint64_t k)
{
	const struct sl_room *room = &workspace->rooms[block->worker];
	size_t at = block->first, count = block->count;
	if (plain_sum(view))
		return;
	uint64_t *state = room->s, *sum = workspace->second + at;
	const uint64_t *part = workspace->analysis.r;
	uint8_t *packed = sl_state_at(workspace, view, at);
	sl_vector_unpack(&view->field, packed, count, state);
	if (k == 0) {
		memcpy(sum, state, count * sizeof *sum);
		sl_vector_scale(&view->field, sum, count, part[0]);
	}
	sl_vector_update(&view->field, state, sum, part[k + 1], count, room->states, workspace->weights,
			 view->degree);
	sl_bytes_pack(packed, k + 1 == view->steps ? sum : state, count, view->field.bits);
}

const struct sl_job_mix_row sl_job_mix_exact = {
	.open = open_weights, .adds = plain_sum, .take = take, .step = step};
