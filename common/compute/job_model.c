#include "common/compute/job_model.h"

#include <assert.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/tensors.h"
#include "common/field/vector.h"

#define LANES 8u
#define BLOCK 2048u /* elements on the stack */

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Return B of the view: the model that `previous` names, NULL before the first commit. */
static const void *base_of(const struct sl_workspace *workspace, const struct sl_view *view)
{
	return sodium_is_zero(view->previous, sizeof view->previous) ? NULL : workspace->committed;
}

static int encode(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		  size_t count, uint64_t *x, struct sl_encode_note *note)
{
	struct sl_encoding encoding = view->encoding;
	encoding.weight = workspace->weight;
	encoding.clamp = workspace->clamp;
	return sl_encoding_encode_part(&view->field, &encoding, &workspace->tensors, workspace->trained,
				       base_of(workspace, view), workspace->n, first, count, x, note);
}

void sl_job_model_encode(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
			 size_t count, uint64_t *x)
{
	struct sl_encode_note note;
	int rc = encode(workspace, view, first, count, x, &note);
	assert(rc == SL_OK); /* the model is as it was when it was checked */
}

/* Return the largest |a_l - b_l|. Independent maxima let the processor compare several at a time. */
static double float_update(const float *a, const float *b, size_t count)
{
	float most[LANES] = {0};
	size_t l = 0;
	for (; l + LANES <= count; l += LANES)
		for (size_t k = 0; k < LANES; k++) {
			float update = fabsf(a[l + k] - b[l + k]);
			most[k] = update > most[k] ? update : most[k];
		}
	for (; l < count; l++)
		most[0] = fmaxf(most[0], fabsf(a[l] - b[l]));
	for (size_t k = 1; k < LANES; k++)
		most[0] = fmaxf(most[0], most[k]);
	return (double)most[0];
}

static double double_update(const double *a, const double *b, size_t count)
{
	double most = 0;
	for (size_t l = 0; l < count; l++) {
		double update = fabs(a[l] - b[l]);
		most = update > most ? update : most;
	}
	return most;
}

static double largest_update(const struct sl_workspace *workspace)
{
	double most = 0;
	for (struct sl_tensor_run run = {0}; sl_tensors_next(&workspace->tensors, workspace->n, &run);) {
		const void *trained = (const uint8_t *)workspace->trained + run.offset;
		const void *committed = (const uint8_t *)workspace->committed + run.offset;
		if (run.dtype == SL_FLOAT32)
			most = fmax(most, float_update(trained, committed, run.count));
		else if (run.dtype == SL_FLOAT64)
			most = fmax(most, double_update(trained, committed, run.count));
	}
	return most;
}

/* A place in the model: the tensor, and what is known of it. */
struct tensor_cursor {
	uint32_t tensor;
	size_t seen;   /* elements of it that were passed */
	size_t offset; /* of its first element, in bytes */
	bool kept;     /* one of them is not 0 in the encoding */
};

/* Return true if one of the elements is not 0. */
static bool any(const uint64_t *x, size_t count)
{
	size_t l = 0;
	while (l < count && x[l] == 0)
		l++;
	return l < count;
}

/* Return true if the trained values of the tensor at the cursor differ from `base`; NULL: zeros. */
static bool has_changed(const struct sl_workspace *workspace, const void *base,
			const struct tensor_cursor *cursor, size_t bytes)
{
	const uint8_t *trained = (const uint8_t *)workspace->trained + cursor->offset;
	if (base == NULL)
		return bytes > 0 && (*trained != 0 || memcmp(trained, trained + 1, bytes - 1) != 0);
	return memcmp(trained, (const uint8_t *)base + cursor->offset, bytes) != 0;
}

/* Pass `count` elements of the encoding; count each tensor that ends, has changed and is 0 as a whole. */
static void find_frozen(const struct sl_workspace *workspace, const void *base, const uint64_t *x,
			size_t count, struct tensor_cursor *cursor, struct sl_job_result *result)
{
	const struct sl_tensors *tensors = &workspace->tensors;
	while (cursor->tensor < tensors->count) {
		const struct sl_tensor *tensor = &tensors->items[cursor->tensor];
		size_t elements = sl_tensor_elements(tensor), part = min(elements - cursor->seen, count);
		size_t bytes = elements * sl_tensors_dtype_bytes(tensor->dtype);
		cursor->kept = cursor->kept || any(x, part);
		cursor->seen += part;
		x += part;
		count -= part;
		if (cursor->seen < elements)
			return;
		if (!cursor->kept && has_changed(workspace, base, cursor, bytes)) {
			result->first_frozen = result->frozen == 0 ? cursor->tensor : result->first_frozen;
			result->frozen++;
		}
		*cursor = (struct tensor_cursor){.tensor = cursor->tensor + 1,
						 .offset = cursor->offset + bytes};
	}
}

int sl_job_model_check(const struct sl_workspace *workspace, const struct sl_view *view,
		       struct sl_job_result *result)
{
	uint64_t x[BLOCK];
	struct sl_encode_note *all = &result->note, part;
	struct tensor_cursor cursor = {0};
	const void *base = sl_encoding_updates(&view->encoding) ? base_of(workspace, view) : NULL;
	int rc = SL_OK;
	*all = (struct sl_encode_note){0};
	for (size_t at = 0; rc == SL_OK && at < view->elements; at += BLOCK) {
		rc = encode(workspace, view, at, min(view->elements - at, BLOCK), x, &part);
		all->index = part.index;
		all->value = part.value;
		all->clamped += part.clamped;
		all->vanished += part.vanished;
		all->rounding = fmax(all->rounding, part.rounding);
		if (rc == SL_OK && workspace->weight > 0)
			find_frozen(workspace, base, x, min(workspace->n - at, BLOCK), &cursor, result);
	}
	sodium_memzero(x, sizeof x);
	result->update = rc == SL_OK && view->t > 1 ? largest_update(workspace) : NAN;
	return rc;
}

/* Decode the elements first .. first + count - 1 of Z to `model`, which has room for as many of 8 bytes.
 * Return their bytes. */
static size_t decode(const struct sl_workspace *workspace, const struct sl_view *view, size_t first,
		     size_t count, uint64_t *model)
{
	const struct sl_tensors *tensors = &workspace->tensors;
	uint64_t sums[BLOCK];
	uint32_t bits = view->field.bits;
	size_t n = workspace->n;
	sl_vector_unpack(&view->field, workspace->s + sl_packed_bytes(first, bits), count, sums);
	int rc = sl_encoding_decode_part(&view->field, &view->encoding, tensors, sums,
					 sl_bytes_element(workspace->s, n, bits), base_of(workspace, view), n,
					 first, count, model);
	assert(rc == SL_OK); /* the total weight is not 0 */
	return sl_tensors_offset(tensors, n, first + count) - sl_tensors_offset(tensors, n, first);
}

void sl_job_model_hash(const struct sl_workspace *workspace, const struct sl_view *view,
		       struct sl_vector_hash *hash)
{
	uint64_t model[BLOCK];
	sl_vector_hash_begin(hash);
	for (size_t at = 0, n = workspace->n; at < n; at += BLOCK) {
		size_t bytes = decode(workspace, view, at, min(n - at, BLOCK), model);
		sl_vector_hash_add(hash, (const uint8_t *)model, bytes);
	}
}

void sl_job_model_accept(const struct sl_workspace *workspace, const struct sl_view *view)
{
	uint64_t model[BLOCK];
	uint8_t *committed = workspace->committed;
	for (size_t at = 0, n = workspace->n; at < n; at += BLOCK) {
		size_t bytes = decode(workspace, view, at, min(n - at, BLOCK), model);
		memcpy(committed, model, bytes); /* B of these elements is not needed any more */
		committed += bytes;
	}
}
