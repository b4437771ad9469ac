#include "common/compute/job_share.h"

#include <assert.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "common/compute/job_model.h"
#include "common/compute/state.h"
#include "common/field/vector.h"

#define BLOCK 2048u /* elements shared at a time: a hundred rows take 1.6 MB */
#define ALIGN 64u   /* alignment of an array in an arena, at most */

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool seeded(const struct sl_view *view)
{
	return view->sharing == SL_SHARING_SEEDED;
}

static size_t block_elements(const struct sl_view *view)
{
	return min(view->elements, BLOCK);
}

size_t sl_job_share_bytes(const struct sl_view *view)
{
	size_t points = view->degree + 1, block = block_elements(view) * sizeof(uint64_t);
	size_t rows = points * (block + sl_view_share_bytes(view, 0) + 2 * (ALIGN + sizeof(void *))) + block;
	size_t randomness = points * (2 * sizeof(struct sl_prg) + 2 * sizeof(sl_id) + sizeof(uint64_t));
	return rows + randomness + sl_share_scratch(view->degree) * sizeof(uint64_t) + 16 * ALIGN;
}

/* Open the streams of the own shares: a fresh 32-byte key for each neighbour, or all bytes from the operating
 * system. */
static void open_prg(struct sl_workspace *workspace, uint32_t degree)
{
	uint8_t key[SL_KEY_BYTES];
	for (uint32_t r = 0; r < degree; r++) {
		if (workspace->randomness_from_os) {
			sl_prg_open_source(&workspace->randomness[r], workspace->source,
					   workspace->source_context);
			continue;
		}
		workspace->source(workspace->source_context, key, sizeof key);
		sl_prg_open(&workspace->randomness[r], key);
	}
	sodium_memzero(key, sizeof key);
}

/* Return the first row that is made: with seeds, only the own one (row `degree`) is. */
static uint32_t first_row(const struct sl_view *view)
{
	return seeded(view) ? view->degree : 0;
}

static bool take_rows(struct sl_workspace *workspace, const struct sl_view *view)
{
	struct sl_arena *arena = &workspace->scratch;
	bool room = true;
	for (uint32_t r = 0; room && r < view->degree; r++)
		room = (workspace->shares[r] = SL_ARENA_TAKE(arena, sl_view_share_bytes(view, 0), uint8_t)) !=
		       NULL;
	for (uint32_t r = 0; room && r <= view->degree; r++) /* MIX needs all rows */
		room = (workspace->rows[r] = SL_ARENA_TAKE(arena, block_elements(view), uint64_t)) != NULL;
	return room;
}

static int take_room(struct sl_workspace *workspace, const struct sl_view *view)
{
	struct sl_arena *arena = &workspace->scratch;
	workspace->randomness = SL_ARENA_TAKE(arena, view->degree, struct sl_prg);
	workspace->theirs = SL_ARENA_TAKE(arena, view->degree, struct sl_prg);
	workspace->shares = SL_ARENA_TAKE(arena, view->degree, uint8_t *);
	workspace->rows = SL_ARENA_TAKE(arena, view->degree + 1, uint64_t *);
	workspace->share_scratch = SL_ARENA_TAKE(arena, sl_share_scratch(view->degree), uint64_t);
	workspace->x = SL_ARENA_TAKE(arena, block_elements(view), uint64_t);
	bool room = workspace->randomness && workspace->theirs && workspace->shares && workspace->rows &&
		    workspace->share_scratch && workspace->x;
	return room && take_rows(workspace, view) ? SL_OK : SL_ERR_NOMEM;
}

int sl_job_share_open(struct sl_workspace *workspace, const struct sl_view *view)
{
	sl_id *neighbours = SL_ARENA_TAKE(&workspace->scratch, view->degree, sl_id);
	if (neighbours == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < view->degree; r++)
		neighbours[r] = view->ids[view->neighbours[r]];
	int rc = sl_share_init(&workspace->sharing, &view->field, view->ids[view->self], neighbours,
			       view->degree, &workspace->scratch);
	if (rc == SL_OK)
		rc = take_room(workspace, view);
	if (rc != SL_OK)
		return rc;
	assert(!seeded(view) || !workspace->randomness_from_os); /* without keys there is no seed to send */
	open_prg(workspace, view->degree);
	for (uint32_t r = 0; seeded(view) && r < view->degree; r++)
		memcpy(workspace->shares[r], workspace->randomness[r].key, SL_KEY_BYTES);
	return SL_OK;
}

/* Make the shares of the block that begins `at` elements into the chunk, and at element `first` of the model.
 */
static void make_block(struct sl_workspace *workspace, const struct sl_view *view, uint64_t *s, size_t first,
		       size_t at, size_t count)
{
	uint32_t bits = view->field.bits;
	const uint64_t *own = workspace->rows[view->degree];
	sl_job_model_encode(workspace, view, first, count, workspace->x);
	sl_share(&workspace->sharing, view->sharing, workspace->randomness, workspace->x, count,
		 workspace->rows, workspace->share_scratch);
	sl_vector_add(&view->field, s, own, count);
	for (uint32_t r = first_row(view); r < view->degree; r++)
		sl_bytes_pack(workspace->shares[r] + sl_packed_bytes(at, bits), workspace->rows[r], count,
			      bits);
}

static void make_chunk(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m)
{
	size_t first = (size_t)m * SL_CHUNK_ELEMENTS, count = sl_view_chunk_elements(view, m);
	uint64_t *s = sl_state_take(workspace, view, first, count);
	for (size_t at = 0; at < count; at += BLOCK)
		make_block(workspace, view, s + at, first + at, at, min(count - at, BLOCK));
	sl_state_put(workspace, view, first, count);
}

void sl_job_share_make(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m)
{
	for (uint32_t end = sl_view_share_end(view, m); m < end; m++)
		make_chunk(workspace, view, m);
	for (uint32_t r = first_row(view); r <= view->degree; r++)
		sodium_memzero(workspace->rows[r], block_elements(view) * sizeof *workspace->rows[r]);
	sodium_memzero(workspace->x, block_elements(view) * sizeof *workspace->x);
}

void sl_job_share_take(struct sl_workspace *workspace, const struct sl_buffer *buffers)
{
	for (const struct sl_buffer *b = buffers; b != NULL && workspace->theirs != NULL; b = b->next)
		sl_prg_open(&workspace->theirs[b->from], b->bytes);
}

void sl_job_share_expand(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m)
{
	for (uint32_t end = sl_view_share_end(view, m); m < end; m++) {
		size_t first = (size_t)m * SL_CHUNK_ELEMENTS, count = sl_view_chunk_elements(view, m);
		uint64_t *s = sl_state_take(workspace, view, first, count);
		for (size_t at = 0; at < count; at += BLOCK)
			for (uint32_t r = 0; r < view->degree; r++)
				sl_prg_add(&workspace->theirs[r], &view->field, s + at,
					   min(count - at, BLOCK));
		sl_state_put(workspace, view, first, count);
	}
}

void sl_job_share_close(struct sl_workspace *workspace, const struct sl_view *view)
{
	for (uint32_t r = 0; r < view->degree; r++) {
		sl_prg_close(&workspace->randomness[r]);
		sl_prg_close(&workspace->theirs[r]);
		sodium_memzero(workspace->shares[r], sl_view_share_bytes(view, 0));
	}
}
