#include "common/compute/job_mix.h"

#include "common/base/bytes.h"
#include "common/field/vector.h"

#define BLOCK 1024u

/* --- what is sent --- */

/* X(0) of metropolis. */
static void shift(const struct sl_view *view, const uint64_t *s, size_t count, uint8_t *out)
{
	int64_t state[BLOCK];
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		sl_metropolis_open(s + at, view->fraction, n, state);
		memcpy(out + at * SL_STATE_BYTES, state, n * SL_STATE_BYTES);
	}
}

void sl_job_mix_state(const struct sl_workspace *workspace, const struct sl_view *view,
		      const struct sl_chunk *chunk, uint8_t *out)
{
	const uint64_t *s = workspace->s + (size_t)chunk->index * SL_CHUNK_ELEMENTS;
	size_t count = sl_view_chunk_elements(view, chunk->index);
	if (view->engine != SL_ENGINE_METROPOLIS && chunk->iteration == 0)
		memcpy(out, sl_slot_chunk(&workspace->state_file, view, view->self, chunk->index),
		       count * view->field.bytes);
	else if (view->engine != SL_ENGINE_METROPOLIS)
		sl_bytes_pack(out, s, count, view->field.bytes);
	else if (chunk->iteration != 0)
		memcpy(out, s, count * SL_STATE_BYTES);
	else
		shift(view, s, count, out);
}

/* --- what comes --- */

/* Back; SL_ERR_INVALID: it is not of the field. */
static int unshift(const struct sl_view *view, const uint8_t *bytes, size_t count, uint8_t *out)
{
	uint64_t element[BLOCK], below = (UINT64_C(1) << view->fraction) - 1;
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		sl_bytes_unpack(element, bytes + at * SL_STATE_BYTES, n, SL_STATE_BYTES);
		for (size_t l = 0; l < n; l++) {
			if ((element[l] & below) != 0 || element[l] >> view->fraction >= view->field.p)
				return SL_ERR_INVALID;
			element[l] >>= view->fraction;
		}
		sl_bytes_pack(out + at * view->field.bytes, element, n, view->field.bytes);
	}
	return SL_OK;
}

int sl_job_mix_backup(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_buffer *b)
{
	uint32_t position = view->neighbours[b->from];
	uint8_t *out = sl_slot_chunk(&workspace->state_file, view, position, b->index);
	size_t count = sl_view_chunk_elements(view, b->index);
	if (view->engine != SL_ENGINE_METROPOLIS)
		memcpy(out, b->bytes, count * view->field.bytes);
	else if (unshift(view, b->bytes, count, out) != SL_OK)
		return SL_ERR_INVALID;
	if (b->index == 0)
		memcpy(sl_slot_nonce(&workspace->state_file, position), b->nonce, SL_NONCE_BYTES);
	return SL_OK;
}

/* --- the iterations --- */

static void weigh(struct sl_workspace *workspace, const struct sl_view *view)
{
	const struct sl_field *field = &view->field;
	uint64_t own = 1;
	for (uint32_t r = 0; r < view->degree; r++) {
		uint32_t d = sl_graph_metropolis(&view->graph, view->self, view->neighbours[r]);
		sl_metropolis_divisor_init(&workspace->divisors[r], d);
		workspace->weights[r] = sl_field_inverse(field, d); /* d <= N < p */
		own = sl_field_sub(field, own, workspace->weights[r]);
	}
	workspace->weights[view->degree] = own;
}

int sl_job_mix_open(struct sl_workspace *workspace, const struct sl_view *view)
{
	struct sl_arena *arena = &workspace->scratch;
	workspace->divisors = SL_ARENA_TAKE(arena, view->degree, struct sl_divisor);
	workspace->weights = SL_ARENA_TAKE(arena, view->degree + 1, uint64_t);
	workspace->states = SL_ARENA_TAKE(arena, view->degree, const uint8_t *);
	if (workspace->divisors == NULL || workspace->weights == NULL || workspace->states == NULL)
		return SL_ERR_NOMEM;
	weigh(workspace, view);
	return SL_OK;
}

/* By tree; and one exchange of exact is enough where W is 1/N everywhere, on a complete graph and on no
 * other: Z = N W x. */
static bool plain_sum(const struct sl_view *view)
{
	return view->engine == SL_ENGINE_TREE || (view->engine == SL_ENGINE_EXACT && view->steps == 1);
}

/* Z itself, come down the tree. */
static bool is_sum(const struct sl_view *view, const struct sl_buffer *b)
{
	return view->engine == SL_ENGINE_TREE && b->iteration == SL_TREE_DOWN;
}

/* SL_ERR_INVALID: its elements are not of the field. */
static int take(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_buffer *b)
{
	uint64_t *s = workspace->s + (size_t)b->index * SL_CHUNK_ELEMENTS;
	size_t count = sl_view_chunk_elements(view, b->index);
	workspace->states[b->from] = b->bytes;
	if (b->iteration == 0 && sl_job_mix_backup(workspace, view, b) != SL_OK)
		return SL_ERR_INVALID;
	if (view->engine == SL_ENGINE_METROPOLIS)
		return SL_OK;
	if (plain_sum(view))
		return sl_vector_take(&view->field, s, b->bytes, count, !is_sum(view, b));
	return sl_vector_valid(&view->field, b->bytes, count) ? SL_OK : SL_ERR_INVALID;
}

static void step_metropolis(struct sl_workspace *workspace, const struct sl_view *view, size_t at,
			    size_t count, uint64_t k)
{
	int64_t *state = (int64_t *)workspace->s + at;
	if (k == 0)
		sl_metropolis_open(workspace->s + at, view->fraction, count, state);
	sl_metropolis_step(state, count, workspace->states, workspace->divisors, view->degree);
}

static void step_exact(struct sl_workspace *workspace, const struct sl_view *view, size_t at, size_t count,
		       uint64_t k)
{
	const uint64_t *part = workspace->analysis.part;
	uint64_t *state = workspace->s + at, *sum = workspace->x + at;
	if (k == 0) {
		memcpy(sum, state, count * sizeof *sum);
		sl_vector_scale(&view->field, sum, count, part[0]);
	}
	sl_vector_update(&view->field, state, sum, part[k + 1], count, workspace->states, workspace->weights,
			 view->degree);
	if (k + 1 == view->steps)
		memcpy(state, sum, count * sizeof *sum);
}

void sl_job_mix_step(struct sl_workspace *workspace, const struct sl_view *view, const struct sl_job *job,
		     struct sl_job_result *result)
{
	size_t at = (size_t)job->chunk * SL_CHUNK_ELEMENTS, count = sl_view_chunk_elements(view, job->chunk);
	for (const struct sl_buffer *b = job->buffers; b != NULL && result->code == SL_OK; b = b->next) {
		result->code = take(workspace, view, b);
		result->from = b->from;
	}
	if (result->code != SL_OK || plain_sum(view))
		return;
	if (view->engine == SL_ENGINE_METROPOLIS)
		step_metropolis(workspace, view, at, count, job->buffers->iteration);
	else
		step_exact(workspace, view, at, count, job->buffers->iteration);
}

double sl_job_mix_close(struct sl_workspace *workspace, const struct sl_view *view)
{
	if (view->engine != SL_ENGINE_METROPOLIS)
		return 0; /* it is Z already */
	return sl_metropolis_close(&view->field, view->n, view->fraction, (const int64_t *)workspace->s,
				   view->elements, workspace->s);
}
