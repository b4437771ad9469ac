#include "common/compute/job_share.h"

#include <assert.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "common/compute/blocks.h"
#include "common/compute/job_model.h"
#include "common/compute/state.h"
#include "common/field/vector.h"

#define ALIGN 64u /* alignment of an array in an arena, at most */

static bool seeded(const struct sl_view *view)
{
	return view->sharing == SL_SHARING_SEEDED;
}

static size_t block_elements(const struct sl_view *view)
{
	return sl_blocks_least(view->elements, SL_BLOCK_ELEMENTS);
}

/* Return the bytes of the room of a worker. */
static size_t room_bytes(const struct sl_view *view)
{
	size_t points = view->degree + 1, block = block_elements(view) * sizeof(uint64_t);
	size_t rows = points * (block + sizeof(uint64_t *) + ALIGN) + 2 * (block + ALIGN);
	return rows + sl_share_scratch(view->degree) * sizeof(uint64_t) +
	       view->degree * (sizeof(struct sl_prg) + sizeof(uint8_t *)) + 6 * ALIGN;
}

size_t sl_job_share_bytes(const struct sl_view *view, uint32_t workers)
{
	size_t points = view->degree + 1, shares = points * (sl_view_share_bytes(view, 0) + ALIGN);
	size_t randomness = points * (2 * sizeof(struct sl_prg) + 2 * sizeof(sl_id) + 2 * sizeof(uint64_t));
	return shares + randomness + workers * (sizeof(struct sl_room) + room_bytes(view)) + 16 * ALIGN;
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

static void take_room(struct sl_arena *arena, const struct sl_view *view, struct sl_room *room)
{
	size_t block = block_elements(view);
	room->s = SL_ARENA_TAKE(arena, block, uint64_t);
	room->x = SL_ARENA_TAKE(arena, block, uint64_t);
	room->rows = SL_ARENA_TAKE(arena, view->degree + 1, uint64_t *);
	room->scratch = SL_ARENA_TAKE(arena, sl_share_scratch(view->degree), uint64_t);
	room->streams = SL_ARENA_TAKE(arena, view->degree, struct sl_prg);
	room->states = SL_ARENA_TAKE(arena, view->degree, const uint8_t *);
	for (uint32_t r = 0; !arena->full && r <= view->degree; r++) /* MIX needs all rows */
		room->rows[r] = SL_ARENA_TAKE(arena, block, uint64_t);
}

static int take_memory(struct sl_workspace *workspace, const struct sl_view *view)
{
	struct sl_arena *arena = &workspace->scratch;
	workspace->randomness = SL_ARENA_TAKE(arena, view->degree, struct sl_prg);
	workspace->theirs = SL_ARENA_TAKE(arena, view->degree, struct sl_prg);
	workspace->shares = SL_ARENA_TAKE(arena, view->degree, uint8_t *);
	workspace->rooms = SL_ARENA_TAKE(arena, sl_workers(workspace), struct sl_room);
	for (uint32_t r = 0; !arena->full && r < view->degree; r++)
		workspace->shares[r] = SL_ARENA_TAKE(arena, sl_view_share_bytes(view, 0), uint8_t);
	for (uint32_t w = 0; !arena->full && w < sl_workers(workspace); w++)
		take_room(arena, view, &workspace->rooms[w]);
	return arena->full ? SL_ERR_NOMEM : SL_OK;
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
		rc = take_memory(workspace, view);
	if (rc != SL_OK)
		return rc;
	assert(!seeded(view) || !workspace->randomness_from_os); /* without keys there is no seed to send */
	open_prg(workspace, view->degree);
	for (uint32_t r = 0; seeded(view) && r < view->degree; r++)
		memcpy(workspace->shares[r], workspace->randomness[r].key, SL_KEY_BYTES);
	return SL_OK;
}

/* Make the shares of a block, and add the own one to s. */
static uint32_t make_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	struct sl_workspace *workspace = blocks->workspace;
	const struct sl_view *view = blocks->view;
	const struct sl_room *room = &workspace->rooms[block->worker];
	uint32_t bits = view->field.bits;
	size_t first = block->first, count = block->count;
	struct sl_prg *streams = sl_blocks_streams(workspace, block, workspace->randomness, view->degree);
	sl_job_model_encode(workspace, view, first, count, room->x);
	sl_share(&workspace->sharing, view->sharing, streams, room->x, count, room->rows, room->scratch);
	sl_state_take(workspace, view, first, count, room->s);
	sl_vector_add(&view->field, room->s, room->rows[view->degree], count);
	sl_state_put(workspace, view, first, count, room->s);
	for (uint32_t r = first_row(view); r < view->degree; r++)
		sl_bytes_pack(workspace->shares[r] + sl_packed_bytes(first % SL_CHUNK_ELEMENTS, bits),
			      room->rows[r], count, bits);
	sl_blocks_close(workspace, block, view->degree);
	return 0;
}

static void wipe_room(const struct sl_room *room, const struct sl_view *view)
{
	for (uint32_t r = first_row(view); r <= view->degree; r++)
		sodium_memzero(room->rows[r], block_elements(view) * sizeof *room->rows[r]);
	sodium_memzero(room->x, block_elements(view) * sizeof *room->x);
	sodium_memzero(room->s, block_elements(view) * sizeof *room->s);
}

/* Do the work of all blocks of the SHARE or EXPAND job that begins at chunk `m`. Return true if it is the
 * last. */
static bool run_chunks(const struct sl_blocks *blocks, uint32_t m, sl_block_run run)
{
	const struct sl_view *view = blocks->view;
	uint32_t end = sl_view_share_end(view, m);
	size_t first = (size_t)m * SL_CHUNK_ELEMENTS, last = (size_t)end * SL_CHUNK_ELEMENTS;
	sl_blocks_run(blocks, first, sl_blocks_least(view->elements, last) - first, run);
	return end == view->chunks;
}

/* The operating system's bytes are taken in order. */
void sl_job_share_make(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m)
{
	struct sl_blocks blocks = {
		.workspace = workspace, .view = view, .in_order = workspace->randomness_from_os};
	if (!run_chunks(&blocks, m, make_block))
		return;
	for (uint32_t w = 0; w < sl_workers(workspace); w++)
		wipe_room(&workspace->rooms[w], view);
}

void sl_job_share_take(struct sl_workspace *workspace, const struct sl_buffer *buffers)
{
	for (const struct sl_buffer *b = buffers; b != NULL && workspace->theirs != NULL; b = b->next)
		sl_prg_open(&workspace->theirs[b->from], b->bytes);
}

static uint32_t expand_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	struct sl_workspace *workspace = blocks->workspace;
	const struct sl_view *view = blocks->view;
	uint64_t *s = workspace->rooms[block->worker].s;
	struct sl_prg *streams = sl_blocks_streams(workspace, block, workspace->theirs, view->degree);
	sl_state_take(workspace, view, block->first, block->count, s);
	for (uint32_t r = 0; r < view->degree; r++)
		sl_prg_add(&streams[r], &view->field, s, block->count);
	sl_state_put(workspace, view, block->first, block->count, s);
	sl_blocks_close(workspace, block, view->degree);
	return 0;
}

void sl_job_share_expand(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m)
{
	struct sl_blocks blocks = {.workspace = workspace, .view = view};
	run_chunks(&blocks, m, expand_block);
}

/* Packed elements of s from `first` on. */
struct packed {
	const uint8_t *bytes;
	size_t first;
};

/* Add a block of them to s. */
static uint32_t gather_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	struct sl_workspace *workspace = blocks->workspace;
	const struct sl_view *view = blocks->view;
	const struct packed *packed = blocks->context;
	const uint8_t *bytes =
		packed->bytes + sl_packed_bytes(block->first - packed->first, view->field.bits);
	uint64_t *s = workspace->rooms[block->worker].s;
	sl_state_take(workspace, view, block->first, block->count, s);
	if (sl_vector_take(&view->field, s, bytes, block->count, true) != SL_OK)
		return 1;
	sl_state_put(workspace, view, block->first, block->count, s);
	return 0;
}

int sl_job_share_add(struct sl_workspace *workspace, const struct sl_view *view, const uint8_t *bytes,
		     size_t first, size_t count)
{
	struct packed packed = {bytes, first};
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .context = &packed};
	return sl_blocks_run(&blocks, first, count, gather_block) == 0 ? SL_OK : SL_ERR_INVALID;
}

void sl_job_share_close(struct sl_workspace *workspace, const struct sl_view *view)
{
	for (uint32_t r = 0; r < view->degree; r++) {
		sl_prg_close(&workspace->randomness[r]);
		sl_prg_close(&workspace->theirs[r]);
		sodium_memzero(workspace->shares[r], sl_view_share_bytes(view, 0));
	}
}
