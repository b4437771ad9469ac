#include "daemon/application/vector_check.h"

#include <inttypes.h>
#include <math.h>

#include "common/field/ranges.h"
#include "daemon/application/tensor_list.h"

#define PLACE_BYTES 320u

/* The largest magnitudes that are encoded. */
struct limits {
	double most;	  /* of floats */
	int64_t most_int; /* of int64 */
};

/* Return the largest absolute value that is encoded: with differential privacy, any, since coordinates are
 * clamped; with decimals, clipping_range, and of int64, which have no decimals, that times 10^decimals; of
 * exact values, what the limbs hold. The first round of updates may be exact, too; but in a model with the
 * fewest bits, which is the largest, a later round takes more. */
static struct limits limits_of(const struct sl_settings *s, enum sl_values values, size_t n)
{
	bool decimals = s->decimals != SL_DECIMALS_AUTO, bounded = s->clipping != SL_CLIPPING_CLAMP;
	if (s->dp != SL_DP_USE_OFF)
		return (struct limits){INFINITY, INT64_MAX};
	if (values == SL_VALUES_UPDATE || !decimals) {
		struct sl_exact plain = sl_ranges_exact(SL_CLASS_PLAIN, n, SL_EXACT_BITS),
				fine = sl_ranges_exact(SL_CLASS_SMALL, n, SL_EXACT_BITS);
		bool large = values == SL_VALUES_UPDATE && plain.bits == 64;
		struct sl_exact exact = large ? fine : plain;
		return (struct limits){nextafter(ldexp(1, (int)exact.bits + exact.bottom), 0), INT64_MAX};
	}
	if (!bounded)
		return (struct limits){INFINITY, INT64_MAX};
	double most_int = floor(s->clipping_range * pow(10, s->decimals));
	return (struct limits){s->clipping_range, most_int < 0x1p63 ? (int64_t)most_int : INT64_MAX};
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
		if (values[i] > most || values[i] < (most == INT64_MAX ? INT64_MIN : -most))
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

static int refuse_float(const char *place, double value, const struct sl_settings *s,
			const struct limits *limits, struct sl_error *error)
{
	if (!isfinite(value))
		return sl_err_set(error, SL_ERR_RANGE,
				  "%s is not a finite number: the training has diverged, or it is a "
				  "constant, such as a mask: leave it out of the model",
				  place);
	if (s->decimals == SL_DECIMALS_AUTO)
		return sl_err_set(error, SL_ERR_RANGE, "%s is %g, too large to be averaged: scale it down",
				  place, value);
	return sl_err_set(error, SL_ERR_RANGE,
			  "%s is %g, beyond clipping_range %g: raise clipping_range, unless the training has "
			  "diverged",
			  place, value, limits->most);
}

/* Check a run of elements of one dtype. */
static int check_run(const struct sl_tensors *tensors, const struct sl_tensor_run *run, const void *model,
		     const struct sl_settings *settings, const struct limits *limits, struct sl_error *error)
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
	return refuse_float(place, run->dtype == SL_FLOAT32 ? (double)f[at] : d[at], settings, limits, error);
}

int sl_vector_check(const struct sl_settings *settings, enum sl_values values,
		    const struct sl_tensors *tensors, const void *model, size_t n, struct sl_error *error)
{
	struct limits limits = limits_of(settings, values, n);
	struct sl_tensor_run run = {0};
	int rc = SL_OK;
	while (rc == SL_OK && sl_tensors_next(tensors, n, &run))
		rc = check_run(tensors, &run, model, settings, &limits, error);
	return rc;
}
