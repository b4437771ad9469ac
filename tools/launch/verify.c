#include "tools/launch/verify.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "tools/launch/verify_exact.h"
#include "tools/launch/verify_mean.h"
#include "tools/lib/range_check.h"
#include "tools/launch/verify_value.h"
#include "tools/lib/checkpoint_check.h"

#define CHUNK 8192u /* elements read at a time: memory stays at Z */

/* The sum of the models times their weights. */
struct sum {
	enum sl_values values;	      /* of the encoding */
	struct sl_tensor_file model;  /* a checkpoint: dtypes in the order of the elements */
	__int128 *z;		      /* n: with decimals, times 10^decimals; of updates, in steps */
	struct bignum_st **exact;     /* n: of exact values; NULL where there are none */
	int *bottoms;		      /* by tensor: log2 of the unit of exact values */
	double *base;		      /* updates: n values of the last committed model */
	int64_t *first;		      /* updates: n sums of first limbs */
	struct sl_range_grid *grids;  /* updates: by tensor */
	struct sl_tensor_file before; /* updates: the round before, with the exponents */
	uint32_t learners;
	uint64_t weight;
	struct sl_verify_scale scale;
	struct sl_verify_mean mean;
};

/* state/trained-000003.model: the weight, 8 bytes, and the elements as in a checkpoint. */
struct dump {
	FILE *file;
	char path[PATH_MAX];
	uint64_t weight;
};

static void round_path(const struct sl_verify *v, uint32_t learner, const char *kind, const char *suffix,
		       char *path)
{
	char file[64];
	snprintf(file, sizeof file, "state/%s-%06u.%s", kind, v->round, suffix);
	sl_run_folder_path(v->folder, learner, file, path);
}

static size_t width(enum sl_dtype dtype)
{
	return dtype == SL_FLOAT32 ? 4 : 8;
}

static int dump_open(struct dump *dump, const struct sl_verify *v, uint32_t learner, const struct sum *sum,
		     struct sl_error *error)
{
	uint64_t bytes = sizeof dump->weight;
	struct stat st;
	for (size_t i = 0; i < sum->model.count; i++)
		bytes += sum->model.places[i].bytes;
	round_path(v, learner, "trained", "model", dump->path);
	dump->file = fopen(dump->path, "re");
	if (dump->file == NULL)
		return sl_err_set(error, errno == ENOENT ? SL_ERR_NOTFOUND : SL_ERR_IO, "%s: %s", dump->path,
				  strerror(errno));
	if (fstat(fileno(dump->file), &st) == 0 && (uint64_t)st.st_size == bytes &&
	    fread(&dump->weight, sizeof dump->weight, 1, dump->file) == 1)
		return SL_OK;
	fclose(dump->file);
	return sl_err_set(error, SL_ERR_FORMAT, "%s: not a weight and a model like the one that is committed",
			  dump->path);
}

/* Return true if the values of a tensor are exact. */
static bool is_exact(const struct sum *sum, size_t tensor)
{
	return sum->values == SL_VALUES_EXACT ||
	       (sum->values == SL_VALUES_UPDATE && sl_range_check_always_exact(&sum->model.places[tensor]));
}

/* Add the integer of an update, times the weight: the difference of two doubles, rounded to a multiple of the
 * step. */
static bool add_update(struct sum *sum, size_t tensor, size_t at, double value, uint64_t weight)
{
	struct sl_range_grid *grid = &sum->grids[tensor];
	volatile double u = value - sum->base[at];
	double scaled = nearbyint(ldexp(u, -grid->step));
	if (fabs(scaled) > grid->most)
		scaled = copysign(grid->most, scaled);
	grid->change = fmax(grid->change, fabs(u));
	sum->z[at] += (__int128)scaled * (__int128)weight;
	int64_t unit = INT64_C(1) << grid->lower, steps = (int64_t)scaled + unit / 2;
	int64_t limb = steps / unit - (steps % unit < 0); /* rounded down */
	return !__builtin_mul_overflow(limb, weight, &limb) &&
	       !__builtin_add_overflow(sum->first[at], limb, &sum->first[at]);
}

/* Add one element, times the weight. Return false if it is no number or out of any range. */
static bool add_element(struct sum *sum, size_t tensor, size_t at, enum sl_dtype dtype,
			const uint8_t *element, uint64_t weight)
{
	double value = sl_verify_mean_value(dtype, element);
	int64_t term;
	if (is_exact(sum, tensor))
		return sl_verify_exact_add(&sum->exact[at], sum->bottoms[tensor], dtype, element, weight);
	if (sum->values == SL_VALUES_UPDATE)
		return isfinite(value) && add_update(sum, tensor, at, value, weight);
	if (!isfinite(value) || (dtype != SL_INT64 && sum->scale.clip == 0 &&
				 fabs(value) * pow(10, sum->scale.decimals) >= 0x1p62))
		return false;
	return !__builtin_mul_overflow(sl_verify_value(&sum->scale, dtype, element), weight, &term) &&
	       !__builtin_add_overflow(sum->z[at], term, &sum->z[at]);
}

static int add_elements(struct sum *sum, const struct dump *dump, struct sl_error *error)
{
	uint8_t element[8];
	size_t at = 0;
	for (size_t i = 0; i < sum->model.count; i++) {
		const struct sl_tensor_place *place = &sum->model.places[i];
		for (uint64_t left = place->bytes; left > 0; left -= width(place->dtype), at++) {
			if (fread(element, width(place->dtype), 1, dump->file) != 1)
				return sl_err_set(error, SL_ERR_IO, "%s: ends early", dump->path);
			bool counts = sum->values != SL_VALUES_MODEL ||
				      dump->weight > 0; /* its magnitude, if not its values */
			if (counts && !add_element(sum, i, at, place->dtype, element, dump->weight))
				return sl_err_set(error, SL_ERR_INVALID, "%s: element %zu is too large",
						  dump->path, at);
		}
		if (sum->values == SL_VALUES_UPDATE && !is_exact(sum, i))
			sl_range_check_count(&sum->grids[i], sum->before.places[i].range);
	}
	return SL_OK;
}

static int add_learner(struct sum *sum, const struct sl_verify *v, uint32_t learner, struct sl_error *error)
{
	struct dump dump;
	int rc = dump_open(&dump, v, learner, sum, error);
	if (rc != SL_OK)
		return rc;
	if (v->encoding.kind == SL_ENCODING_PAPER)
		dump.weight = 1; /* Z_n is 0 */
	sum->weight += dump.weight;
	sum->learners++;
	rc = add_elements(sum, &dump, error);
	fclose(dump.file);
	return rc;
}

/* Fill in what the elements are multiplied with and divided by. */
static void set_scale(struct sum *sum, const struct sl_verify *v)
{
	bool paper = v->encoding.kind == SL_ENCODING_PAPER;
	sum->values = v->encoding.values;
	sum->scale.decimals = v->encoding.decimals;
	sum->scale.clip = v->encoding.clamp ? v->encoding.clipping_range : 0;
	for (uint32_t i = 0; paper && i < v->folder->learners; i++)
		sum->scale.learners += sl_bit(v->who, i);
}

static int set_mean(struct sum *sum, const struct sl_verify *v, struct sl_error *error)
{
	sum->mean = (struct sl_verify_mean){
		.scale = 1, .weight = v->encoding.kind == SL_ENCODING_PAPER ? 1 : sum->weight};
	for (uint32_t d = 0; sum->values == SL_VALUES_MODEL && d < v->encoding.decimals; d++)
		sum->mean.scale *= 10; /* other values have no decimals */
	return sum->mean.weight > 0
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_INVALID, "the models have no mean: the total weight is 0");
}

/* Return coordinate `at` of Z, or 0 if the mean of it would be below 0 in a non-negative tensor. */
static int64_t coordinate(const struct sum *sum, const struct sl_tensor_place *place, size_t at)
{
	return place->nonnegative && sum->z[at] < 0 ? 0 : (int64_t)sum->z[at];
}

/* Return the value of coordinate `at` of the new model, as ROUND.md §4.6 Decoding has it. */
static double update_mean(const struct sum *sum, size_t tensor, size_t at)
{
	volatile double mean = (double)sum->z[at] / (double)sum->weight;
	volatile double model = sum->base[at] + ldexp(mean, sum->grids[tensor].step);
	return sum->z[at] == 0 ? sum->base[at] : model; /* the sum of 0 and -0 would be 0 */
}

/* Write the mean of coordinate `at`, without decimals, to `element`. */
static bool mean_of(const struct sum *sum, size_t tensor, const struct sl_tensor_place *place, size_t at,
		    uint8_t *element)
{
	static const uint8_t zero[8];
	if (is_exact(sum, tensor)) {
		if (!sl_verify_exact_mean(sum->exact[at], sum->bottoms[tensor], sum->weight, place->dtype,
					  element))
			return false;
	} else {
		double wide = update_mean(sum, tensor, at);
		float single = (float)wide;
		memcpy(element, place->dtype == SL_FLOAT32 ? (const void *)&single : &wide,
		       width(place->dtype));
	}
	if (place->nonnegative && sl_verify_mean_value(place->dtype, element) <= 0)
		memcpy(element, zero, width(place->dtype));
	return true;
}

static bool holds(const struct sum *sum, size_t tensor, const struct sl_tensor_place *place, size_t at,
		  const uint8_t *element, double *about)
{
	uint8_t mean[8];
	if (sum->values == SL_VALUES_MODEL) {
		int64_t z = coordinate(sum, place, at);
		*about = sl_verify_mean_about(&sum->mean, place->dtype, z);
		return sl_verify_mean_holds(&sum->mean, place->dtype, z, element);
	}
	bool known = mean_of(sum, tensor, place, at, mean);
	*about = known ? sl_verify_mean_value(place->dtype, mean) : NAN;
	return known && memcmp(element, mean, width(place->dtype)) == 0;
}

/* Compare `count` elements from `first` on. */
static int compare_elements(const struct sum *sum, const char *path, size_t tensor,
			    const struct sl_tensor_place *place, const uint8_t *elements, size_t first,
			    size_t count, struct sl_error *error)
{
	enum sl_dtype dtype = place->dtype;
	int digits = dtype == SL_FLOAT32 ? 9 : 17;
	double about;
	for (size_t i = 0; i < count; i++, elements += width(dtype)) {
		if (!holds(sum, tensor, place, first + i, elements, &about))
			return sl_err_set(error, SL_ERR_INVALID,
					  "%s: parameter %zu is %.*g, the exact mean is %.*g", path,
					  first + i, digits, sl_verify_mean_value(dtype, elements), digits,
					  about);
	}
	return SL_OK;
}

static int compare_tensor(const struct sum *sum, const char *path, FILE *file, size_t tensor,
			  const struct sl_tensor_place *place, size_t first, struct sl_error *error)
{
	uint8_t read[CHUNK * 8];
	int rc = SL_OK;
	for (uint64_t at = 0; rc == SL_OK && at < place->bytes;) {
		size_t bytes = place->bytes - at < sizeof read ? (size_t)(place->bytes - at) : sizeof read;
		size_t count = bytes / width(place->dtype);
		if (fread(read, 1, bytes, file) != bytes)
			return sl_err_set(error, SL_ERR_IO, "%s: ends early", path);
		rc = compare_elements(sum, path, tensor, place, read, first, count, error);
		first += count;
		at += bytes;
	}
	return rc;
}

static int compare_model(const struct sum *sum, const char *path, const struct sl_tensor_file *tensors,
			 struct sl_error *error)
{
	size_t first = 0;
	int rc = SL_OK;
	for (size_t i = 0; rc == SL_OK && i < tensors->count; i++) {
		const struct sl_tensor_place *place = &tensors->places[i];
		rc = compare_tensor(sum, path, tensors->file, i, place, first, error);
		first += place->bytes / width(place->dtype);
	}
	return rc;
}

/* Return the largest sum of the tensor in units of the first limb's step, rounded as the first limb is. */
static double most_of(const struct sum *sum, size_t first, size_t count)
{
	double most = 0;
	for (size_t l = first; l < first + count; l++)
		most = fmax(most, fabs((double)sum->first[l]));
	return most;
}

/* Return the exponent that a tensor has after a round of updates; its elements begin at `at`. */
static int next_range(const struct sum *sum, const struct sl_verify *v, size_t tensor, size_t at)
{
	const struct sl_tensor_place *place = &sum->model.places[tensor];
	struct sl_range_end end = {.range = sum->before.places[tensor].range,
				   .bits = (int)v->encoding.update_bits,
				   .learners = sum->learners,
				   .backed = v->tolerance + 1,
				   .most = most_of(sum, at, place->bytes / width(place->dtype)),
				   .weight = (double)sum->weight};
	return sl_range_check_exponent(&sum->grids[tensor], &end);
}

/* Return the largest absolute value of a tensor in the file. */
static double largest_value(const struct sl_tensor_file *tensors, const struct sl_tensor_place *place)
{
	double most = 0;
	uint8_t element[8];
	for (uint64_t at = 0; at < place->bytes && fread(element, width(place->dtype), 1, tensors->file) == 1;
	     at += width(place->dtype))
		most = fmax(most, fabs(sl_verify_mean_value(place->dtype, element)));
	return most;
}

/* Set `most` to the largest absolute values of the tensors; return that of all that are not always exact. */
static double largest_values(struct sl_tensor_file *tensors, double *most)
{
	double all = 0;
	for (size_t i = 0; i < tensors->count; i++) {
		most[i] = largest_value(tensors, &tensors->places[i]);
		all = sl_range_check_always_exact(&tensors->places[i]) ? all : fmax(all, most[i]);
	}
	return all;
}

/* Compare the exponents with those that follow from the updates and their sum; after a round of models, from
 * the mean, at whose first element the file is. */
static int compare_ranges(const struct sum *sum, const struct sl_verify *v, const char *path,
			  struct sl_tensor_file *tensors, struct sl_error *error)
{
	double *most = calloc(tensors->count, sizeof *most), others = 0;
	size_t at = 0;
	int rc = SL_OK;
	if (most == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	if (!tensors->ranged)
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: without ranges", path);
	if (sum->values == SL_VALUES_EXACT)
		others = largest_values(tensors, most);
	for (size_t i = 0; rc == SL_OK && i < tensors->count; i++) {
		const struct sl_tensor_place *place = &tensors->places[i];
		int exponent =
			sl_range_check_always_exact(place) ? 0
			: sum->values == SL_VALUES_EXACT
				? sl_range_check_first(most[i], others, sl_range_check_limbs(tensors, place),
						       place->nonnegative)
				: next_range(sum, v, i, at);
		at += place->bytes / width(place->dtype);
		if (place->range != exponent)
			rc = sl_err_set(error, SL_ERR_INVALID,
					"%s: the range of tensor %zu is 2^%d, by the updates 2^%d", path, i,
					place->range, exponent);
	}
	free(most);
	return rc;
}

static int check_model(const struct sum *sum, const struct sl_verify *v, uint32_t learner,
		       struct sl_error *error)
{
	char path[PATH_MAX];
	struct sl_tensor_file tensors;
	round_path(v, learner, "checkpoints/round", "safetensors", path);
	int rc = sl_checkpoint_check_open(path, &tensors, error);
	if (rc != SL_OK)
		return rc;
	if (tensors.n != sum->model.n)
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: %zu parameters, another learner committed %zu",
				path, tensors.n, sum->model.n);
	long begin = rc == SL_OK ? ftell(tensors.file) : 0;
	if (rc == SL_OK)
		rc = compare_model(sum, path, &tensors, error);
	if (rc == SL_OK && sum->values != SL_VALUES_MODEL)
		rc = fseek(tensors.file, begin, SEEK_SET) == 0
			     ? compare_ranges(sum, v, path, &tensors, error)
			     : sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	sl_checkpoint_check_close(&tensors);
	return rc;
}

/* Whole files: nothing in a checkpoint may differ between learners. */
static int check_same(const struct sl_verify *v, uint32_t first, uint32_t learner, struct sl_error *error)
{
	char path[PATH_MAX], other[PATH_MAX];
	round_path(v, first, "checkpoints/round", "safetensors", path);
	round_path(v, learner, "checkpoints/round", "safetensors", other);
	FILE *a = fopen(path, "re"), *b = fopen(other, "re");
	int x = EOF, y = EOF;
	while (a != NULL && b != NULL && (x = getc_unlocked(a)) == (y = getc_unlocked(b)) && x != EOF)
		;
	bool same = x == y && a != NULL && b != NULL && !ferror(a) && !ferror(b);
	if (a != NULL)
		fclose(a);
	if (b != NULL)
		fclose(b);
	return same ? SL_OK : sl_err_set(error, SL_ERR_INVALID, "%s: not the same bytes as %s", other, path);
}

static bool has_model(const struct sl_verify *v, uint32_t learner)
{
	char path[PATH_MAX];
	round_path(v, learner, "checkpoints/round", "safetensors", path);
	return access(path, F_OK) == 0;
}

/* Return the first learner from `from` on that must have the model, or has it; UINT32_MAX: there is none. */
static uint32_t next_model(const struct sl_verify *v, uint32_t from)
{
	while (from < v->folder->learners &&
	       (!sl_bit(v->who, from) || (sl_bit(v->passed, from) && !has_model(v, from))))
		from++;
	return from < v->folder->learners ? from : UINT32_MAX;
}

static int check_checkpoints(const struct sum *sum, const struct sl_verify *v, uint32_t first,
			     struct sl_error *error)
{
	int rc = SL_OK;
	for (uint32_t i = first; rc == SL_OK && i != UINT32_MAX; i = next_model(v, i + 1)) {
		rc = check_model(sum, v, i, error);
		if (rc == SL_OK && i != first)
			rc = check_same(v, first, i, error);
	}
	return rc;
}

static int read_values(double *values, const char *path, const struct sl_tensor_file *tensors,
		       struct sl_error *error)
{
	uint8_t element[8];
	for (size_t i = 0; i < tensors->count; i++) {
		const struct sl_tensor_place *place = &tensors->places[i];
		for (uint64_t left = place->bytes; left > 0; left -= width(place->dtype)) {
			if (fread(element, width(place->dtype), 1, tensors->file) != 1)
				return sl_err_set(error, SL_ERR_IO, "%s: ends early", path);
			*values++ = sl_verify_mean_value(place->dtype, element);
		}
	}
	return SL_OK;
}

/* Read the model of the round before, from which the updates of this one are, and find the steps; in the
 * first round the initial one. */
static int read_base(struct sum *sum, const struct sl_verify *v, uint32_t first, struct sl_error *error)
{
	struct sl_verify before = *v;
	char path[PATH_MAX];
	before.round--;
	round_path(&before, first, "checkpoints/round", "safetensors", path);
	int rc = sl_checkpoint_check_open(path, &sum->before, error);
	if (rc != SL_OK)
		return rc;
	if (sum->before.n != sum->model.n || sum->before.count != sum->model.count || !sum->before.ranged)
		return sl_err_set(error, SL_ERR_FORMAT, "%s: a model of another size", path);
	sum->base = calloc(sum->before.n, sizeof *sum->base);
	sum->first = calloc(sum->model.n, sizeof *sum->first);
	sum->grids = calloc(sum->model.count, sizeof *sum->grids);
	if (sum->base == NULL || sum->first == NULL || sum->grids == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	sl_range_check_grids(sum->grids, &sum->model, &sum->before, (int)v->encoding.update_bits);
	return read_values(sum->base, path, &sum->before, error);
}

static void forget(struct sum *sum)
{
	for (size_t l = 0; sum->exact != NULL && l < sum->model.n; l++)
		sl_verify_exact_free(sum->exact[l]);
	free(sum->exact);
	free(sum->bottoms);
	free(sum->z);
	free(sum->first);
	free(sum->grids);
	free(sum->base);
	sl_checkpoint_check_close(&sum->before);
}

static int check_round(struct sum *sum, const struct sl_verify *v, uint32_t first, struct sl_error *error)
{
	int rc = SL_OK;
	sum->z = calloc(sum->model.n, sizeof *sum->z);
	sum->exact = calloc(sum->model.n, sizeof(struct bignum_st *));
	sum->bottoms = calloc(sum->model.count, sizeof *sum->bottoms);
	if (sum->z == NULL || sum->exact == NULL || sum->bottoms == NULL)
		rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (size_t i = 0; rc == SL_OK && i < sum->model.count; i++)
		sum->bottoms[i] = sl_range_check_bottom(&sum->model, &sum->model.places[i]);
	set_scale(sum, v);
	if (rc == SL_OK && sum->values == SL_VALUES_UPDATE)
		rc = read_base(sum, v, first, error);
	for (uint32_t i = 0; rc == SL_OK && i < v->folder->learners; i++)
		if (sl_bit(v->who, i))
			rc = add_learner(sum, v, i, error);
	if (rc == SL_OK)
		rc = set_mean(sum, v, error);
	if (rc == SL_OK)
		rc = check_checkpoints(sum, v, first, error);
	forget(sum);
	return rc;
}

int sl_verify_round(const struct sl_verify *verify, struct sl_error *error)
{
	struct sum sum = {0};
	char path[PATH_MAX];
	uint32_t first = next_model(verify, 0);
	if (first == UINT32_MAX)
		return sl_err_set(error, SL_ERR_NOTFOUND, "no learner has the model of round %u",
				  verify->round);
	round_path(verify, first, "checkpoints/round", "safetensors", path);
	int rc = sl_checkpoint_check_open(path, &sum.model, error);
	if (rc != SL_OK)
		return rc;
	rc = check_round(&sum, verify, first, error);
	sl_checkpoint_check_close(&sum.model);
	return rc;
}
