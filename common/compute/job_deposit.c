#include "common/compute/job_deposit.h"

#include <sodium.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/compute/state.h"
#include "common/field/key_share.h"
#include "common/field/vector.h"
#include "common/protocol/key_tree.h"

#define BLOCK 1024u /* elements on the stack */
#define ALIGN 64u   /* alignment of an array in an arena, at most */

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* --- keys --- */

size_t sl_job_deposit_bytes(const struct sl_view *view)
{
	size_t neighbour = sizeof(struct sl_held_share) + SL_KEY_SHARE_BYTES + sizeof(sl_id);
	size_t points = sl_view_points(view);
	size_t values = (view->degree + 2) * points * sizeof(uint64_t);
	return view->degree * neighbour + sl_key_tree_nodes(view->degree) * SL_HASH_BYTES + values +
	       sl_checksum_bytes((uint32_t)points, view->elements) + 8 * ALIGN;
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

void sl_job_deposit_open(struct sl_prg *mask, const uint8_t key[static SL_KEY_BYTES], uint32_t m)
{
	sl_prg_open_at(mask, key, (uint64_t)m + 1);
}

void sl_job_deposit_mask(struct sl_workspace *workspace, const struct sl_view *view, uint32_t m)
{
	size_t first = (size_t)m * SL_CHUNK_ELEMENTS, count = sl_view_chunk_elements(view, m);
	uint8_t *out = sl_slot_chunk(&workspace->state_file, view, view->self, m);
	uint64_t *masked = sl_state_take(workspace, view, first, count);
	struct sl_prg mask;
	sl_job_deposit_open(&mask, workspace->secrets.key, m);
	sl_prg_add(&mask, &view->field, masked, count);
	sl_bytes_pack(out, masked, count, view->field.bits);
	sl_prg_close(&mask);
	sl_slot_used(&workspace->state_file, out, sl_packed_bytes(count, view->field.bits));
}

int sl_job_deposit_unmask(struct sl_prg *mask, const struct sl_field *field, const uint8_t *deposit,
			  size_t count, uint64_t *out)
{
	if (sl_vector_take(field, out, deposit, count, false) != SL_OK)
		return SL_ERR_INVALID;
	sl_prg_subtract(mask, field, out, count);
	return SL_OK;
}

int sl_job_deposit_add(struct sl_workspace *workspace, const struct sl_view *view, uint32_t position,
		       const uint8_t key[static SL_KEY_BYTES], uint32_t m, uint64_t *s)
{
	size_t count = sl_view_chunk_elements(view, m);
	uint32_t bits = view->field.bits;
	const uint8_t *deposit = sl_slot_chunk(&workspace->state_file, view, position, m);
	struct sl_prg mask;
	int rc = SL_OK;
	sl_job_deposit_open(&mask, key, m);
	for (size_t at = 0; rc == SL_OK && at < count; at += BLOCK) {
		size_t n = min(count - at, BLOCK);
		rc = sl_vector_take(&view->field, s + at, deposit + sl_packed_bytes(at, bits), n, true);
		if (rc == SL_OK)
			sl_prg_subtract(&mask, &view->field, s + at, n);
	}
	sl_prg_close(&mask);
	sl_slot_used(&workspace->state_file, deposit, sl_packed_bytes(count, bits));
	return rc;
}

static bool valid(const struct sl_workspace *workspace, const struct sl_view *view, uint32_t position)
{
	bool valid = true;
	for (uint32_t m = 0; valid && m < view->chunks; m++) {
		const uint8_t *chunk = sl_slot_chunk(&workspace->state_file, view, position, m);
		size_t count = sl_view_chunk_elements(view, m);
		valid = sl_vector_valid(&view->field, chunk, count);
		sl_slot_used(&workspace->state_file, chunk, sl_packed_bytes(count, view->field.bits));
	}
	return valid;
}

int sl_job_deposit_check(const struct sl_workspace *workspace, const struct sl_view *view, uint32_t position,
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

/* Add the checksum of chunk `m` of a masked state, from its slot, to phi. */
static int sum_slot(const struct sl_workspace *workspace, const struct sl_view *view,
		    const struct sl_checksum *checksum, uint32_t position, const uint8_t *key, uint32_t m,
		    uint64_t *phi)
{
	uint64_t state[BLOCK];
	size_t first = (size_t)m * SL_CHUNK_ELEMENTS, count = sl_view_chunk_elements(view, m);
	const uint8_t *deposit = sl_slot_chunk(&workspace->state_file, view, position, m);
	struct sl_prg mask;
	int rc = SL_OK;
	sl_job_deposit_open(&mask, key, m);
	for (size_t at = 0; rc == SL_OK && at < count; at += BLOCK) {
		size_t n = min(count - at, BLOCK);
		rc = sl_job_deposit_unmask(&mask, &view->field,
					   deposit + sl_packed_bytes(at, view->field.bits), n, state);
		if (rc == SL_OK)
			sl_checksum_add(checksum, state, first + at, n, phi);
	}
	sl_prg_close(&mask);
	sl_slot_used(&workspace->state_file, deposit, sl_packed_bytes(count, view->field.bits));
	return rc;
}

/* Add the checksum of Z to phi. */
static void sum_result(const struct sl_workspace *workspace, const struct sl_view *view,
		       const struct sl_checksum *checksum, uint64_t *phi)
{
	for (uint32_t m = 0; m < view->chunks; m++) {
		size_t first = (size_t)m * SL_CHUNK_ELEMENTS, count = sl_view_chunk_elements(view, m);
		sl_checksum_add(checksum, sl_state_take(workspace, view, first, count), first, count, phi);
	}
}

static int sum_state(const struct sl_workspace *workspace, const struct sl_job *job,
		     const struct sl_checksum *checksum, uint32_t position, uint64_t *phi)
{
	int rc = SL_OK;
	for (uint32_t m = 0; rc == SL_OK && m < job->view->chunks; m++)
		rc = sum_slot(workspace, job->view, checksum, position, job->keys[position], m, phi);
	return rc;
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
	result->points = points;
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
		sum_result(workspace, view, &checksum, phi + points);
	sl_arena_reset(&workspace->scratch, mark);
}
