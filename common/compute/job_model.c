#include "common/compute/job_model.h"

#include <assert.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/tensors.h"
#include "common/compute/blocks.h"
#include "common/compute/job_noise.h"
#include "common/compute/state.h"
#include "common/field/vector.h"

#define NONE UINT32_MAX
#define VISIBLE_BITS 13 /* no warning of a change that is below 2^-13 of the largest value of its tensor */
#define IN_A_ROW 3u	/* rounds: zeros in the place of a tensor, or cuts, will not pass by themselves */

const void *sl_job_model_base(const struct sl_workspace *workspace, const struct sl_view *view)
{
	return sl_view_has_base(view) ? workspace->committed : NULL;
}

/* Return the encoding of the view with what this learner knows. */
static struct sl_encoding encoding_of(const struct sl_workspace *workspace, const struct sl_view *view)
{
	struct sl_encoding encoding = view->encoding;
	encoding.weight = workspace->weight;
	encoding.clamp = workspace->clamp;
	encoding.ranges = &workspace->ranges;
	encoding.exponents = sl_view_ranged(view) ? sl_workspace_exponents(workspace) : NULL;
	sl_job_noise_encoding(workspace, view, &encoding);
	return encoding;
}

static int encode(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		  size_t count, uint64_t *x, struct sl_encode_note *note)
{
	struct sl_encoding encoding = encoding_of(workspace, view);
	return (sl_encoding_is_noisy(&encoding) ? sl_encoding_noisy_part : sl_encoding_encode_part)(
		&view->field, &encoding, &workspace->tensors, workspace->trained,
		sl_job_model_base(workspace, view), workspace->n, first, count, x, note);
}

void sl_job_model_encode(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
			 size_t count, uint64_t *x)
{
	struct sl_encode_note note;
	int rc = encode(workspace, view, first, count, x, &note);
	assert(rc == SL_OK); /* the model is as it was when it was checked */
	sl_job_noise_add(workspace, view, first, count, x);
}

/* ---- what the trained model changes ---- */

/* Return the largest |a_l - b_l|; b: NULL, zeros. */
static double double_update(const double *a, const double *b, size_t count)
{
	double most = 0;
	for (size_t l = 0; l < count; l++) {
		double update = fabs(a[l] - (b == NULL ? 0 : b[l]));
		most = update > most ? update : most;
	}
	return most;
}

static double integer_update(const int64_t *a, const int64_t *b, size_t count)
{
	double most = 0;
	for (size_t l = 0; l < count; l++) {
		int64_t from = b == NULL ? 0 : b[l];
		uint64_t up = (uint64_t)a[l] - (uint64_t)from;
		double update = (double)(a[l] < from ? -up : up);
		most = update > most ? update : most;
	}
	return most;
}

/* Return the largest difference of the values of a run of `model` to those of `base`; NULL: to zeros. */
static double change_of(const struct sl_tensor_run *run, const void *model, const void *base)
{
	const void *trained = (const uint8_t *)model + run->offset;
	const void *from = base == NULL ? NULL : (const uint8_t *)base + run->offset;
	switch (run->dtype) {
	case SL_FLOAT32:
		return sl_encoding_change(trained, from, run->count);
	case SL_FLOAT64:
		return double_update(trained, from, run->count);
	case SL_INT64:
		return integer_update(trained, from, run->count);
	}
	return 0;
}

struct change {
	const struct sl_tensor_run *run;
	const void *model, *base;
	double most[SL_WORKERS_MAX];
};

static uint32_t change_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	struct change *change = blocks->context;
	double *most = &change->most[block->worker];
	struct sl_tensor_run run = *change->run;
	run.offset += block->first * sl_tensors_dtype_bytes(run.dtype);
	run.count = block->count;
	*most = fmax(*most, change_of(&run, change->model, change->base));
	return 0;
}

/* Do change_of on all workers. */
static double change_over(struct sl_workspace *workspace, const struct sl_tensor_run *run, const void *model,
			  const void *base)
{
	struct change change = {.run = run, .model = model, .base = base};
	struct sl_blocks blocks = {.workspace = workspace, .context = &change};
	double most = 0;
	sl_blocks_run(&blocks, 0, run->count, change_block);
	for (uint32_t w = 0; w < sl_workers(workspace); w++)
		most = fmax(most, change.most[w]);
	return most;
}

/* Note the magnitude of the update of a tensor. Return true if the range cuts it by what can be seen. */
static bool note_magnitude(struct sl_workspace *workspace, const struct sl_encoding *encoding,
			   const struct sl_tensor_run *run, double change)
{
	uint32_t k = run->tensor - 1;
	bool exact = sl_encoding_is_exact(encoding, k);
	uint32_t magnitude = exact ? 0 : sl_ranges_magnitude(change, encoding->exponents[k]);
	workspace->ranges.own[k] = (uint8_t)magnitude;
	return magnitude == SL_MAGNITUDES - 1 &&
	       ldexp(change, VISIBLE_BITS) > change_over(workspace, run, workspace->committed, NULL);
}

/* Return the quantization step of a tensor in a round of models. */
static double step_of(const struct sl_encoding *encoding, const struct sl_tensor_run *run)
{
	if (sl_encoding_has_limbs(encoding))
		return ldexp(1, sl_encoding_exact(encoding, run->tensor - 1).bottom);
	return run->dtype == SL_INT64 ? 1 : sl_encoding_step(encoding);
}

/* Return true if the result before this one has zeros in the place of a tensor. */
static bool is_lost(const struct sl_tensor_run *run, const void *base)
{
	return base != NULL && change_of(run, base, NULL) == 0;
}

/* Note that round t is in a row for `tensor`; NONE: it ends the row. Another attempt counts once. */
static void note_in_a_row(struct sl_in_a_row *row, uint32_t tensor, sl_round t)
{
	if (tensor == NONE)
		row->rounds = 0;
	else if (row->rounds == 0 || tensor != row->tensor)
		*row = (struct sl_in_a_row){tensor, 1, t};
	else if (row->t != t)
		*row = (struct sl_in_a_row){tensor, row->rounds + 1, t};
}

/* Note what the model changes: the magnitudes of the updates, or, in a round of models, the tensors that are
 * 0 as a whole in the encoding and should not. */
static void look_at_tensors(struct sl_workspace *workspace, const struct sl_view *view,
			    struct sl_job_result *result)
{
	const void *base = sl_job_model_base(workspace, view);
	struct sl_encoding encoding = encoding_of(workspace, view);
	uint32_t lost = NONE, watched = workspace->zeroed.tensor;
	result->update = base != NULL ? 0 : NAN;
	for (struct sl_tensor_run run = {.apart = true};
	     sl_tensors_next(&workspace->tensors, workspace->n, &run);) {
		double change = base == NULL ? 0 : change_over(workspace, &run, workspace->trained, base);
		if (run.dtype != SL_INT64 && base != NULL)
			result->update = fmax(result->update, change);
		if (sl_view_ranged(view)) { /* what rounding leaves out is in the next update */
			result->far |= note_magnitude(workspace, &encoding, &run, change);
			continue;
		}
		double most = change_over(workspace, &run, workspace->trained, NULL);
		if (most > 0 && most <= step_of(&encoding, &run) / 2 && workspace->weight > 0) {
			uint32_t k = run.tensor - 1;
			result->first_frozen = result->frozen == 0 ? k : result->first_frozen;
			result->frozen++;
			lost = (lost == NONE || k == watched) && is_lost(&run, base) ? k : lost;
		}
	}
	if (!sl_workspace_over(workspace)) /* this is kept from attempt to attempt */
		note_in_a_row(&workspace->zeroed, lost, view->t);
}

/* Encode a block, and add its note to that of the worker. */
static uint32_t check_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	uint64_t x[SL_BLOCK_ELEMENTS];
	struct sl_encode_note *notes = blocks->context, *all = &notes[block->worker], part;
	int rc = encode(blocks->workspace, blocks->view, block->first, block->count, x, &part);
	sodium_memzero(x, sizeof x);
	all->clamped += part.clamped;
	all->vanished += part.vanished;
	all->rounding = fmax(all->rounding, part.rounding);
	return rc == SL_OK ? 0 : 1 + (uint32_t)(block->first / SL_BLOCK_ELEMENTS);
}

/* Encode all blocks; the first that fails once more, for its error and its note. */
static int check_blocks(struct sl_workspace *workspace, const struct sl_view *view,
			struct sl_encode_note *all)
{
	uint64_t x[SL_BLOCK_ELEMENTS];
	struct sl_encode_note notes[SL_WORKERS_MAX] = {0};
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .context = notes};
	uint32_t failed = sl_blocks_run(&blocks, 0, (size_t)view->elements, check_block);
	*all = (struct sl_encode_note){0};
	if (failed > 0) {
		size_t first = (size_t)(failed - 1) * SL_BLOCK_ELEMENTS;
		return encode(workspace, view, first,
			      sl_blocks_least(view->elements - first, SL_BLOCK_ELEMENTS), x, all);
	}
	for (uint32_t w = 0; w < sl_workers(workspace); w++) {
		all->clamped += notes[w].clamped;
		all->vanished += notes[w].vanished;
		all->rounding = fmax(all->rounding, notes[w].rounding);
	}
	return SL_OK;
}

int sl_job_model_check(struct sl_workspace *workspace, const struct sl_view *view,
		       struct sl_job_result *result)
{
	result->update = NAN;
	if (!sl_encoding_is_noisy(&view->encoding))
		look_at_tensors(workspace, view, result);
	int rc = check_blocks(workspace, view, &result->note);
	if (!sl_workspace_over(workspace)) /* cuts of up to 1 % of the values do not count */
		note_in_a_row(&workspace->cut, result->note.clamped > workspace->n / 100 ? 0 : NONE, view->t);
	result->far |= workspace->cut.rounds >= IN_A_ROW;
	result->zeroed = rc == SL_OK && !workspace->zeros_allowed && workspace->zeroed.rounds >= IN_A_ROW;
	if (result->zeroed) {
		result->first_frozen = workspace->zeroed.tensor;
		rc = SL_ERR_RANGE;
	}
	result->update = rc == SL_OK ? result->update : NAN;
	return rc;
}

/* ---- the initial model ---- */

/* Set the exponents of the initial model. Return true if it is zeros, which have none. */
static bool begin_ranges(const struct sl_workspace *workspace)
{
	const struct sl_ranges *ranges = &workspace->ranges;
	bool zeros = true;
	memset(ranges->value, 0, ranges->count * sizeof *ranges->value);
	for (struct sl_tensor_run run = {.apart = true};
	     sl_tensors_next(&workspace->tensors, workspace->n, &run);) {
		double most = change_of(&run, workspace->committed, NULL);
		ranges->value[run.tensor - 1] = most;
		zeros = zeros && most == 0;
	}
	sl_ranges_first(ranges, &workspace->tensors, ranges->value, sl_workspace_exponents(workspace));
	return zeros;
}

uint64_t sl_job_model_begin(const struct sl_workspace *workspace)
{
	if (workspace->ranges.count > 0 && begin_ranges(workspace))
		return 0;
	return sl_canonical_initial(&workspace->scope, workspace->committed, sl_workspace_bytes(workspace));
}

bool sl_job_model_far(const struct sl_workspace *workspace)
{
	const int16_t *exponents = sl_workspace_exponents(workspace);
	bool far = false;
	if (workspace->ranges.count == 0)
		return false;
	for (struct sl_tensor_run run = {.apart = true};
	     !far && sl_tensors_next(&workspace->tensors, workspace->n, &run);) {
		uint32_t k = run.tensor - 1;
		double most = change_of(&run, workspace->trained, workspace->committed);
		far = !sl_ranges_always_exact((enum sl_tensor_class)workspace->ranges.class[k]) &&
		      most > ldexp(1, exponents[k]);
	}
	return far;
}

/* ---- the committed model ---- */

/* Note the largest sums of the tensors among the elements first .. first + count - 1 of Z. */
static void note_most(const struct sl_workspace *workspace, const struct sl_view *view, const uint64_t *sums,
		      size_t first, size_t count)
{
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(&workspace->tensors, first, &run);
	     run.first + run.count < first + count &&
	     sl_tensors_next(&workspace->tensors, workspace->n, &run);) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		uint64_t *most = &workspace->ranges.most[run.tensor - 1],
			 found = sl_vector_magnitude(&view->field, sums + (some.first - first), some.count);
		*most = found > *most ? found : *most;
	}
}

/* Note the largest values of the tensors among the decoded elements first .. first + count - 1. */
static void note_values(const struct sl_workspace *workspace, const void *model, size_t first, size_t count)
{
	const struct sl_tensors *tensors = &workspace->tensors;
	size_t before = sl_tensors_offset(tensors, workspace->n, first);
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(tensors, first, &run);
	     run.first + run.count < first + count && sl_tensors_next(tensors, workspace->n, &run);) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		double *most = &workspace->ranges.value[run.tensor - 1];
		some.offset -= some.count > 0 ? before : 0;
		if (some.count > 0)
			*most = fmax(*most, change_of(&some, model, NULL));
	}
}

/* Return the exponent of a tensor after a ranged round. */
static int16_t next_exponent(const struct sl_workspace *workspace, const struct sl_view *view,
			     const struct sl_encoding *encoding, uint32_t tensor)
{
	struct sl_range_sums sums = {.most = workspace->ranges.most[tensor],
				     .weight = sl_state_element(workspace, view, (size_t)view->elements - 1),
				     .learners = view->n,
				     .backed = (uint32_t)view->agreed.tolerance + 1};
	size_t first = sl_ranges_counts_at(encoding->ranges, encoding->update_bits, tensor);
	for (uint32_t b = 0; b < SL_MAGNITUDES; b++)
		sums.counts[b] = sl_state_element(workspace, view, first + b);
	return sl_ranges_next(&sums, encoding->exponents[tensor], encoding->update_bits);
}

/* Set the exponents that the model of Z has. */
static void find_exponents(const struct sl_workspace *workspace, const struct sl_view *view)
{
	const struct sl_ranges *ranges = &workspace->ranges;
	struct sl_encoding encoding = encoding_of(workspace, view);
	if (encoding.exponents == NULL) {
		sl_ranges_first(ranges, &workspace->tensors, ranges->value, ranges->next);
		return;
	}
	for (uint32_t k = 0; k < ranges->count; k++)
		ranges->next[k] = sl_encoding_is_exact(&encoding, k)
					  ? encoding.exponents[k]
					  : next_exponent(workspace, view, &encoding, k);
}

/* Decode the elements first .. first + count - 1 of Z, which go to `sums`, to `model`, which has room for as
 * many of 8 bytes. Return their bytes. */
static size_t decode(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		     size_t count, uint64_t *sums, uint64_t *model)
{
	const struct sl_tensors *tensors = &workspace->tensors;
	size_t n = workspace->n;
	struct sl_encoding encoding = encoding_of(workspace, view);
	sl_state_take(workspace, view, first, count, sums);
	int rc = sl_encoding_decode_part(&view->field, &encoding, tensors, sums, workspace->s,
					 sl_state_element(workspace, view, (size_t)view->elements - 1),
					 sl_job_model_base(workspace, view), n, first, count, model);
	assert(rc == SL_OK); /* the total weight is not 0 */
	return sl_tensors_offset(tensors, n, first + count) - sl_tensors_offset(tensors, n, first);
}

bool sl_job_model_hash(const struct sl_workspace *workspace, const struct sl_view *view,
		       uint8_t strands[static SL_STRANDS_BYTES])
{
	uint64_t sums[SL_BLOCK_ELEMENTS], model[SL_BLOCK_ELEMENTS];
	struct sl_vector_hash hash;
	const struct sl_ranges *ranges = &workspace->ranges;
	sl_vector_hash_begin(&hash);
	if (ranges->count > 0) {
		memset(ranges->most, 0, ranges->count * sizeof *ranges->most);
		memset(ranges->value, 0, ranges->count * sizeof *ranges->value);
	}
	for (size_t at = 0, count; at < workspace->n && !sl_workspace_over(workspace); at += count) {
		count = sl_blocks_least(workspace->n - at, SL_BLOCK_ELEMENTS);
		size_t bytes = decode(workspace, view, at, count, sums, model);
		sl_vector_hash_add(&hash, (const uint8_t *)model, bytes);
		if (sl_view_ranged(view))
			note_most(workspace, view, sums, at, count);
		if (ranges->count > 0)
			note_values(workspace, model, at, count);
	}
	bool finite = !sl_workspace_over(workspace);
	for (uint32_t k = 0; k < ranges->count; k++)
		finite &= isfinite(ranges->value[k]) != 0;
	if (finite && ranges->count > 0) {
		find_exponents(workspace, view);
		sl_vector_hash_add(&hash, (const uint8_t *)ranges->next, sl_ranges_bytes(ranges));
	}
	sl_vector_hash_end(&hash, strands);
	return finite;
}

/* Return true if the rest of the own update is kept: it is in Z, and this process has encoded it. */
static bool keeps_rest(const struct sl_workspace *workspace, const struct sl_view *view)
{
	bool own = memcmp(workspace->encoded, view->h, SL_HASH_BYTES) == 0 && workspace->weight > 0;
	return sl_view_ranged(view) && own && workspace->rest != NULL;
}

void sl_job_model_add_rest(struct sl_workspace *workspace)
{
	memset(workspace->encoded, 0, SL_HASH_BYTES);
	if (workspace->rest != NULL)
		sl_encoding_rest_add(&workspace->tensors, workspace->trained, workspace->rest, workspace->n);
}

/* Write a block of the model over B, whose elements are not needed any more once the rest is kept. */
static uint32_t accept_block(const struct sl_blocks *blocks, const struct sl_block *block)
{
	struct sl_workspace *workspace = blocks->workspace;
	const struct sl_view *view = blocks->view;
	uint64_t sums[SL_BLOCK_ELEMENTS], model[SL_BLOCK_ELEMENTS];
	struct sl_encoding encoding = encoding_of(workspace, view);
	size_t to = sl_tensors_offset(&workspace->tensors, workspace->n, block->first);
	if (*(const bool *)blocks->context)
		sl_encoding_rest_part(&encoding, &workspace->tensors, workspace->trained,
				      workspace->committed, workspace->n, block->first, block->count,
				      workspace->rest);
	size_t bytes = decode(workspace, view, block->first, block->count, sums, model);
	memcpy((uint8_t *)workspace->committed + to, model, bytes);
	return 0;
}

void sl_job_model_accept(struct sl_workspace *workspace, const struct sl_view *view)
{
	bool rest = keeps_rest(workspace, view);
	struct sl_blocks blocks = {.workspace = workspace, .view = view, .context = &rest};
	sl_blocks_run(&blocks, 0, workspace->n, accept_block);
	if (workspace->ranges.count > 0)
		memcpy(sl_workspace_exponents(workspace), workspace->ranges.next,
		       sl_ranges_bytes(&workspace->ranges));
}
