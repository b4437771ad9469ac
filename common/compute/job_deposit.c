#include "common/compute/job_deposit.h"

#include <sodium.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/compute/blocks.h"
#include "common/compute/state.h"
#include "common/field/key_share.h"
#include "common/field/vector.h"
#include "common/protocol/key_tree.h"

#define NONE UINT32_MAX
#define ALIGN 64u /* alignment of an array in an arena, at most */

/* --- keys --- */

size_t sl_job_deposit_bytes(const struct sl_view *view, uint32_t workers)
{
	size_t neighbour = sizeof(struct sl_held_share) + SL_KEY_SHARE_BYTES + sizeof(sl_id);
	size_t points = sl_view_points(view);
	size_t values = (view->degree + 2 + workers) * points * sizeof(uint64_t);
	return view->degree * neighbour + sl_key_tree_nodes(view->degree) * SL_HASH_BYTES + values +
	       sl_checksum_bytes((uint32_t)points, view->elements) + 9 * ALIGN;
}

static void split(struct sl_workspace *workspace, const struct sl_view *view, const sl_id *holders,
		  uint8_t (*shares)[SL_KEY_SHARE_BYTES])
{
	struct sl_secrets *own = &workspace->secrets;
	struct sl_prg coefficients;
	uint8_t key[SL_KEY_BYTES];
	workspace->source(workspace->source_context, key, sizeof key);
	sl_prg_open(&coefficients, key);
	sl_key_share_split(own->key, sl_view_threshold(view, view->self), holders, view->degree,
			   &coefficients, shares);
	sl_prg_close(&coefficients);
	sodium_memzero(key, sizeof key);
}

int sl_job_deposit_secrets(struct sl_workspace *workspace, const struct sl_view *view)
{
	struct sl_arena *arena = &workspace->scratch;
	struct sl_secrets *own = &workspace->secrets;
	own->count = view->degree;
	own->shares = SL_ARENA_TAKE(arena, view->degree, struct sl_held_share);
	workspace->values = SL_ARENA_TAKE(arena, (view->degree + 2) * (size_t)sl_view_points(view), uint64_t);
	size_t mark = sl_arena_mark(arena);
	sl_id *holders = SL_ARENA_TAKE(arena, view->degree, sl_id);
	uint8_t *shares = SL_ARENA_TAKE(arena, (size_t)view->degree * SL_KEY_SHARE_BYTES, uint8_t);
	uint8_t *nodes = SL_ARENA_TAKE(arena, sl_key_tree_nodes(view->degree) * SL_HASH_BYTES, uint8_t);
	if (own->shares == NULL || workspace->values == NULL || holders == NULL || shares == NULL ||
	    nodes == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t r = 0; r < view->degree; r++)
		holders[r] = view->ids[view->neighbours[r]];
	workspace->source(workspace->source_context, own->key, sizeof own->key);
	workspace->source(workspace->source_context, own->challenge, sizeof own->challenge);
	split(workspace, view, holders, (uint8_t(*)[SL_KEY_SHARE_BYTES])shares);
	for (uint32_t r = 0; r < view->degree; r++)
		memcpy(own->shares[r].bytes, shares + (size_t)r * SL_KEY_SHARE_BYTES, SL_KEY_SHARE_BYTES);
	sl_key_tree_build(&workspace->scope, view->t, view->a, view->ids[view->self], holders, view->degree,
			  own->shares, own->root, (uint8_t(*)[SL_HASH_BYTES])nodes);
	sodium_memzero(shares, (size_t)view->degree * SL_KEY_SHARE_BYTES);
	sl_arena_reset(arena, mark);
	return SL_OK;
}

/* --- masks --- */

void sl_job_deposit_used(const struct sl_workspace *workspace, const struct sl_view *view, uint32_t position,
			 uint32_t m)
{
	sl_slot_used(&workspace->state_file, sl_slot_chunk(&workspace->state_file, view, position, m),
		     sl_packed_bytes(sl_view_chunk_elements(view, m), view->field.bits));
}

/* Return the place of a block in the slot of `position`. */
static uint8_t *place(const struct sl_blocks *blocks, const struct sl_block *block, uint32_t position)
{
	return sl_slot_state(&blocks->workspace->state_file, position) +
	       sl_packed_bytes(block->first, blocks->view->field.bits);
}

static uint32_t mask_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	struct sl_workspace *workspace = blocks->workspace;
	const struct sl_view *view = blocks->view;
	uint64_t *s = workspace->rooms[block->worker].s;
	struct sl_prg mask;
	sl_state_take(workspace, view, block->first, block->count, s);
	sl_blocks_stream(&mask, workspace->secrets.key, block->first);
	sl_prg_add(&mask, &view->field, s, block->count);
	sl_bytes_pack(place(blocks, block, view->self), s, block->count, view->field.bits);
	sl_prg_close(&mask);
	return 0;
}

void sl_job_deposit_mask(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m)
{
	struct sl_blocks blocks = {.workspace = workspace, .view = view};
	sl_blocks_run_chunk(&blocks, m, mask_block);
	sl_job_deposit_used(workspace, view, view->self, m);
}

bool sl_job_deposit_unmask(const struct sl_blocks *blocks, const struct sl_block *block, uint32_t position,
			   uint64_t *s, bool add)
{
	const struct sl_field *field = &blocks->view->field;
	struct sl_prg mask;
	if (sl_vector_take(field, s, place(blocks, block, position), block->count, add) != SL_OK)
		return false;
	sl_blocks_stream(&mask, blocks->job->keys[position], block->first);
	sl_prg_subtract(&mask, field, s, block->count);
	sl_prg_close(&mask);
	return true;
}

static uint32_t check_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	const uint32_t *position = blocks->context;
	return !sl_vector_valid(&blocks->view->field, place(blocks, block, *position), block->count);
}

static bool valid(struct sl_workspace *workspace, const struct sl_view *view, uint32_t position)
{
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .context = &position};
	bool valid = true;
	for (uint32_t m = 0; valid && m < view->chunks; m++) {
		valid = sl_blocks_run_chunk(&blocks, m, check_block) == 0;
		sl_job_deposit_used(workspace, view, position, m);
	}
	return valid;
}

int sl_job_deposit_check(struct sl_workspace *workspace, const struct sl_view *view, uint32_t position,
			 const uint8_t *expected)
{
	const uint8_t *deposit = sl_slot_state(&workspace->state_file, position);
	uint8_t hash[SL_HASH_BYTES];
	sl_canonical_deposit(&workspace->scope, deposit, sl_slot_state_bytes(view),
			     workspace->state_file.used, hash);
	if (memcmp(hash, expected, sizeof hash) != 0)
		return SL_ERR_NOTFOUND;
	return valid(workspace, view, position) ? SL_OK : SL_ERR_INVALID;
}

/* --- checksums --- */

/* The checksum of one masked state, or of Z. */
struct sum {
	const struct sl_checksum *checksum;
	uint32_t position; /* NONE: Z */
	uint64_t *phi;	   /* by worker, `points` numbers each */
};

static uint32_t sum_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	uint64_t state[SL_BLOCK_ELEMENTS];
	const struct sum *sum = blocks->context;
	if (sum->position == NONE)
		sl_state_take(blocks->workspace, blocks->view, block->first, block->count, state);
	else if (!sl_job_deposit_unmask(blocks, block, sum->position, state, false))
		return 1;
	sl_checksum_add(sum->checksum, state, block->first, block->count,
			sum->phi + (size_t)block->worker * sum->checksum->points);
	return 0;
}

/* Write the checksum of the masked state of `position`, or of Z, to `phi`. */
static int sum_state(struct sl_workspace *workspace, const struct sl_job *job,
		     const struct sl_checksum *checksum, uint32_t position, uint64_t *phi)
{
	const struct sl_view *view = job->view;
	uint32_t points = checksum->points, workers = sl_workers(workspace), failed = 0;
	size_t mark = sl_arena_mark(&workspace->scratch);
	struct sum sum = {checksum, position,
			  SL_ARENA_TAKE(&workspace->scratch, (size_t)workers * points, uint64_t)};
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .job = job, .context = &sum};
	for (uint32_t m = 0; sum.phi != NULL && failed == 0 && m < view->chunks; m++) {
		failed = sl_blocks_run_chunk(&blocks, m, sum_block);
		if (position != NONE)
			sl_job_deposit_used(workspace, view, position, m);
	}
	for (uint32_t w = 0; sum.phi != NULL && w < workers; w++)
		sl_vector_add(&view->field, phi, sum.phi + (size_t)w * points, points);
	sl_arena_reset(&workspace->scratch, mark);
	return sum.phi == NULL ? SL_ERR_NOMEM : failed == 0 ? SL_OK : SL_ERR_INVALID;
}

void sl_job_deposit_checksum(struct sl_workspace *workspace, const struct sl_job *job,
			     struct sl_job_result *result)
{
	const struct sl_view *view = job->view;
	struct sl_checksum checksum;
	size_t mark = sl_arena_mark(&workspace->scratch);
	uint32_t points = sl_view_points(view);
	uint64_t *phi = workspace->values;
	memset(phi, 0, (view->degree + 2) * points * sizeof *phi);
	result->values = phi;
	result->code = sl_checksum_init(&checksum, &view->field, points, view->elements, job->expected,
					&workspace->scratch);
	bool single = job->chunk > 0;
	if (result->code == SL_OK)
		result->code =
			sum_state(workspace, job, &checksum, single ? job->chunk - 1 : view->self, phi);
	for (uint32_t r = 0; result->code == SL_OK && !single && r < view->degree; r++)
		if (sl_view_keeps(view, r)) {
			result->from = r;
			phi += points;
			result->code = sum_state(workspace, job, &checksum, view->neighbours[r], phi);
		}
	if (result->code == SL_OK && !single)
		result->code = sum_state(workspace, job, &checksum, NONE, phi + points);
	sl_arena_reset(&workspace->scratch, mark);
}
