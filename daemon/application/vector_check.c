#include "daemon/application/vector_check.h"

#include <inttypes.h>
#include <math.h>

#include "common/field/precision.h"
#include "common/mixing/engine.h"
#include "daemon/application/tensor_list.h"

#define PLACE_BYTES 320u

/* The largest magnitudes that are encoded. */
struct limits {
	double most;	  /* of floats */
	int64_t most_int; /* of int64 */
};

/* Return the largest absolute value that is encoded: of floats, clipping_range; of int64, which have no
 * decimals, that times 10^decimals. What is auto follows the vector (PROTOCOL.md §4.8 Precision).
 * Of updates, the clipping range is not that of the vector. */
static struct limits limits_of(const struct sl_settings *s, enum sl_values values)
{
	bool bounded = values != SL_VALUES_UPDATE && s->clipping != SL_CLIPPING_CLAMP &&
		       s->clipping_range != SL_CLIPPING_RANGE_AUTO;
	double most = bounded ? s->clipping_range : INFINITY,
	       most_int = bounded && s->decimals != SL_DECIMALS_AUTO ? floor(most * pow(10, s->decimals))
								     : INFINITY;
	return (struct limits){most, most_int < 0x1p63 ? (int64_t)most_int : INT64_MAX};
}

static size_t flaw_float32(const float *values, size_t count, double most)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(values[i]) || fabs((double)values[i]) > most)
			return i;
	return count;
}

static size_t flaw_float64(const double *values, size_t count, double most)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(values[i]) || fabs(values[i]) > most)
			return i;
	return count;
}

static size_t flaw_int64(const int64_t *values, size_t count, int64_t most)
{
	for (size_t i = 0; i < count; i++)
		if (values[i] > most || values[i] < -most)
			return i;
	return count;
}

static int refuse_int(const char *place, int64_t value, const struct limits *limits, struct sl_error *error)
{
	return sl_err_set(error, SL_ERR_RANGE,
			  "%s is %" PRId64 ", beyond clipping_range * 10^decimals, %" PRId64
			  ": raise clipping_range",
			  place, value, limits->most_int);
}

static int refuse_float(const char *place, double value, const struct limits *limits, struct sl_error *error)
{
	if (!isfinite(value))
		return sl_err_set(error, SL_ERR_RANGE, "%s is not a finite number: the training has diverged",
				  place);
	return sl_err_set(error, SL_ERR_RANGE,
			  "%s is %g, beyond clipping_range %g: raise clipping_range, unless the training has "
			  "diverged",
			  place, value, limits->most);
}

/* Check a run of elements of one dtype. */
static int check_run(const struct sl_tensors *tensors, const struct sl_tensor_run *run, const void *model,
		     const struct limits *limits, struct sl_error *error)
{
	char place[PLACE_BYTES];
	const void *values = (const char *)model + run->offset;
	const float *f = values;
	const double *d = values;
	const int64_t *i = values;
	size_t at = run->dtype == SL_FLOAT32   ? flaw_float32(f, run->count, limits->most)
		    : run->dtype == SL_FLOAT64 ? flaw_float64(d, run->count, limits->most)
					       : flaw_int64(i, run->count, limits->most_int);
	if (at == run->count)
		return SL_OK;
	sl_tensor_list_place(tensors, run->first + at, place, sizeof place);
	if (run->dtype == SL_INT64)
		return refuse_int(place, i[at], limits, error);
	return refuse_float(place, run->dtype == SL_FLOAT32 ? (double)f[at] : d[at], limits, error);
}

/* ---- what the field holds ---- */

/* Return the magnitude of element `at` of a run of `values`. */
static double magnitude(enum sl_dtype dtype, const void *values, size_t at)
{
	return fabs(dtype == SL_FLOAT32	  ? (double)((const float *)values)[at]
		    : dtype == SL_FLOAT64 ? ((const double *)values)[at]
					  : (double)((const int64_t *)values)[at]);
}

/* Return the index of the element of largest magnitude, and set *value to its magnitude. */
static size_t find_largest(const struct sl_tensors *tensors, const void *model, size_t n, double *value)
{
	struct sl_tensor_run run = {0};
	size_t largest = 0;
	*value = 0;
	while (sl_tensors_next(tensors, n, &run))
		for (size_t i = 0; i < run.count; i++) {
			double m = magnitude(run.dtype, (const char *)model + run.offset, i);
			if (m > *value) {
				*value = m;
				largest = run.first + i;
			}
		}
	return largest;
}

/* Return true if some modulus holds a model of this need, with as few decimals as it takes. */
static bool is_held(const struct sl_settings *s, uint32_t learners, size_t n, const struct sl_need *need)
{
	const struct sl_addends addends = {.learners = learners, .max_weight = s->max_weight, .n = n};
	struct sl_precision own = {SL_VALUES_MODEL, s->decimals, 0, s->clipping_range, false};
	uint32_t bits = sl_engine_p_bits(s->mixing);
	sl_precision_fit(&own, need);
	struct sl_encoding encoding = {
		.kind = s->encoding, .decimals = own.decimals, .clipping_range = own.clipping_range};
	if (s->modulus != SL_MODULUS_AUTO)
		return sl_encoding_bound(s->modulus, &encoding, &addends, NULL, NULL);
	encoding.decimals = sl_precision_lower(&encoding, &addends, bits);
	return sl_encoding_modulus(&encoding, &addends, bits) != 0 &&
	       (double)need->whole <= encoding.clipping_range * pow(10, encoding.decimals);
}

/* With `auto`, the range follows the model. Refuse one that no modulus holds: every attempt would fail. */
static int check_held(const struct sl_settings *s, uint32_t learners, const struct sl_tensors *tensors,
		      const void *model, size_t n, struct sl_error *error)
{
	char place[PLACE_BYTES];
	struct sl_need need;
	double value;
	if (s->clipping_range != SL_CLIPPING_RANGE_AUTO && s->decimals != SL_DECIMALS_AUTO)
		return SL_OK; /* checked when the learner started */
	sl_precision_measure(SL_VALUES_MODEL, tensors, model, NULL, n, &need);
	if (is_held(s, learners, n, &need))
		return SL_OK;
	sl_tensor_list_place(tensors, find_largest(tensors, model, n, &value), place, sizeof place);
	return sl_err_set(error, SL_ERR_RANGE,
			  "%s is of magnitude %g, too large for the sum of %u learners of max_weight %" PRIu64
			  ": lower max_weight, unless the training has diverged",
			  place, value, learners, s->max_weight);
}

int sl_vector_check(const struct sl_settings *settings, enum sl_values values, uint32_t learners,
		    const struct sl_tensors *tensors, const void *model, size_t n, struct sl_error *error)
{
	struct limits limits = limits_of(settings, values);
	struct sl_tensor_run run = {0};
	int rc = SL_OK;
	while (rc == SL_OK && sl_tensors_next(tensors, n, &run))
		rc = check_run(tensors, &run, model, &limits, error);
	if (rc != SL_OK || values == SL_VALUES_UPDATE) /* whose modulus does not depend on the range */
		return rc;
	return check_held(settings, learners, tensors, model, n, error);
}
