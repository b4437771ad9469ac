#include "tools/launch/verify.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "tools/launch/verify_exact.h"
#include "tools/launch/verify_mean.h"
#include "tools/lib/range_check.h"
#include "tools/launch/verify_value.h"
#include "tools/lib/checkpoint_check.h"

/* The sum of the models times their weights. */
struct sum {
	enum sl_values values;	      /* of the encoding */
	struct sl_tensor_file model;  /* a checkpoint: dtypes in the order of the elements */
	struct sl_tensor_file before; /* updates: that of the round before, with the exponents */
	__int128 *z;		      /* n: with decimals, times 10^decimals; of updates, in steps */
	struct bignum_st **exact;     /* n: of exact values; NULL where there are none */
	int *bottoms;		      /* by tensor: log2 of the unit of exact values */
	int64_t *first;		      /* updates: n sums of first limbs */
	struct sl_range_grid *grids;  /* updates: by tensor */
	uint32_t learners;
	uint64_t weight;
	struct sl_verify_scale scale;
	struct sl_verify_mean mean;
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

static size_t count_of(const struct sl_tensor_place *place)
{
	return (size_t)place->bytes / width(place->dtype);
}

/* Return element k of a tensor. */
static const uint8_t *element_of(const struct sl_tensor_file *file, size_t tensor, size_t k)
{
	const struct sl_tensor_place *place = &file->places[tensor];
	return file->data + place->begin + k * width(place->dtype);
}

static double value_of(const struct sl_tensor_file *file, size_t tensor, size_t k)
{
	return sl_verify_mean_value(file->places[tensor].dtype, element_of(file, tensor, k));
}

/* Return true if the values of a tensor are exact. */
static bool is_exact(const struct sum *sum, size_t tensor)
{
	return sum->values == SL_VALUES_EXACT ||
	       (sum->values == SL_VALUES_UPDATE && sl_range_check_always_exact(&sum->model.places[tensor]));
}

/* Add the integer of an update, times the weight: the difference of two doubles, rounded to a multiple of the
 * step. */
static bool add_update(struct sum *sum, size_t tensor, size_t k, double value, uint64_t weight)
{
	struct sl_range_grid *grid = &sum->grids[tensor];
	size_t at = sum->model.places[tensor].first + k;
	volatile double u = value - value_of(&sum->before, tensor, k);
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
static bool add_element(struct sum *sum, size_t tensor, size_t k, const uint8_t *element, uint64_t weight)
{
	enum sl_dtype dtype = sum->model.places[tensor].dtype;
	size_t at = sum->model.places[tensor].first + k;
	double value = sl_verify_mean_value(dtype, element);
	int64_t term;
	if (is_exact(sum, tensor))
		return sl_verify_exact_add(&sum->exact[at], sum->bottoms[tensor], dtype, element, weight);
	if (sum->values == SL_VALUES_UPDATE)
		return isfinite(value) && add_update(sum, tensor, k, value, weight);
	if (!isfinite(value) || (dtype != SL_INT64 && sum->scale.clip == 0 &&
				 fabs(value) * pow(10, sum->scale.decimals) >= 0x1p62))
		return false;
	return !__builtin_mul_overflow(sl_verify_value(&sum->scale, dtype, element), weight, &term) &&
	       !__builtin_add_overflow(sum->z[at], term, &sum->z[at]);
}

/* Add a trained model that lies as the checkpoint does. */
static int add_model(struct sum *sum, const char *path, const struct sl_tensor_file *trained, uint64_t weight,
		     struct sl_error *error)
{
	bool counts = sum->values != SL_VALUES_MODEL || weight > 0; /* its magnitude, if not its values */
	for (size_t i = 0; i < trained->count; i++) {
		const struct sl_tensor_place *place = &trained->places[i];
		for (size_t k = 0; counts && k < count_of(place); k++)
			if (!add_element(sum, i, k, element_of(trained, i, k), weight))
				return sl_err_set(error, SL_ERR_INVALID, "%s: element %zu is too large", path,
						  place->first + k);
		if (sum->values == SL_VALUES_UPDATE && !is_exact(sum, i))
			sl_range_check_count(&sum->grids[i], sum->before.places[i].range);
	}
	return SL_OK;
}

/* Add state/trained-000003.model: the weight, 8 bytes, and the elements as in a checkpoint. */
static int add_learner(struct sum *sum, const struct sl_verify *v, uint32_t learner, struct sl_error *error)
{
	char path[PATH_MAX];
	struct sl_checkpoint_map map;
	struct sl_tensor_file trained = sum->model;
	uint64_t weight, bytes = sizeof weight;
	for (size_t i = 0; i < sum->model.count; i++)
		bytes += sum->model.places[i].bytes;
	round_path(v, learner, "trained", "model", path);
	int rc = sl_checkpoint_map_open(path, &map, error);
	if (rc == SL_OK && map.size != bytes)
		rc = sl_err_set(error, SL_ERR_FORMAT,
				"%s: not a weight and a model like the one that is committed", path);
	if (rc == SL_OK) {
		memcpy(&weight, map.bytes, sizeof weight);
		trained.data = map.bytes + sizeof weight;
		if (v->encoding.kind == SL_ENCODING_PAPER)
			weight = 1; /* Z_n is 0 */
		sum->weight += weight;
		sum->learners++;
		rc = add_model(sum, path, &trained, weight, error);
	}
	sl_checkpoint_map_close(&map);
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

/* Return the value of element k of the new model, as ROUND.md §4.6 Decoding has it. */
static double update_mean(const struct sum *sum, size_t tensor, size_t k)
{
	__int128 z = sum->z[sum->model.places[tensor].first + k];
	double base = value_of(&sum->before, tensor, k);
	volatile double mean = (double)z / (double)sum->weight;
	volatile double model = base + ldexp(mean, sum->grids[tensor].step);
	return z == 0 ? base : model; /* the sum of 0 and -0 would be 0 */
}

/* Write the mean of element k, without decimals, to `element`. */
static bool mean_of(const struct sum *sum, size_t tensor, size_t k, uint8_t *element)
{
	static const uint8_t zero[8];
	const struct sl_tensor_place *place = &sum->model.places[tensor];
	if (is_exact(sum, tensor)) {
		if (!sl_verify_exact_mean(sum->exact[place->first + k], sum->bottoms[tensor], sum->weight,
					  place->dtype, element))
			return false;
	} else {
		double wide = update_mean(sum, tensor, k);
		float single = (float)wide;
		memcpy(element, place->dtype == SL_FLOAT32 ? (const void *)&single : &wide,
		       width(place->dtype));
	}
	if (place->nonnegative && sl_verify_mean_value(place->dtype, element) <= 0)
		memcpy(element, zero, width(place->dtype));
	return true;
}

static bool holds(const struct sum *sum, size_t tensor, size_t k, const uint8_t *element, double *about)
{
	const struct sl_tensor_place *place = &sum->model.places[tensor];
	uint8_t mean[8];
	if (sum->values == SL_VALUES_MODEL) {
		int64_t z = coordinate(sum, place, place->first + k);
		*about = sl_verify_mean_about(&sum->mean, place->dtype, z);
		return sl_verify_mean_holds(&sum->mean, place->dtype, z, element);
	}
	bool known = mean_of(sum, tensor, k, mean);
	*about = known ? sl_verify_mean_value(place->dtype, mean) : NAN;
	return known && memcmp(element, mean, width(place->dtype)) == 0;
}

/* Compare the elements of a checkpoint with the means. */
static int compare_model(const struct sum *sum, const struct sl_tensor_file *model, const char *path,
			 struct sl_error *error)
{
	double about;
	for (size_t i = 0; i < model->count; i++) {
		const struct sl_tensor_place *place = &model->places[i];
		int digits = place->dtype == SL_FLOAT32 ? 9 : 17;
		for (size_t k = 0; k < count_of(place); k++)
			if (!holds(sum, i, k, element_of(model, i, k), &about))
				return sl_err_set(error, SL_ERR_INVALID,
						  "%s: parameter %zu is %.*g, the exact mean is %.*g", path,
						  place->first + k, digits, value_of(model, i, k), digits,
						  about);
	}
	return SL_OK;
}

/* Return the exponent that a tensor has after a round of updates: by the largest sum in units of the first
 * limb's step, rounded as the first limb is. */
static int next_range(const struct sum *sum, const struct sl_verify *v, size_t tensor)
{
	const struct sl_tensor_place *place = &sum->model.places[tensor];
	struct sl_range_end end = {.range = sum->before.places[tensor].range,
				   .bits = (int)v->encoding.update_bits,
				   .learners = sum->learners,
				   .backed = v->tolerance + 1,
				   .weight = (double)sum->weight};
	for (size_t k = 0; k < count_of(place); k++)
		end.most = fmax(end.most, fabs((double)sum->first[place->first + k]));
	return sl_range_check_exponent(&sum->grids[tensor], &end);
}

/* Return the largest absolute value of a tensor of the checkpoint. */
static double largest_value(const struct sum *sum, size_t tensor)
{
	double most = 0;
	for (size_t k = 0; k < count_of(&sum->model.places[tensor]); k++)
		most = fmax(most, fabs(value_of(&sum->model, tensor, k)));
	return most;
}

/* Compare the exponents with those that follow from the updates and their sum; after a round of models, from
 * the mean. */
static int compare_ranges(const struct sum *sum, const struct sl_verify *v, const char *path,
			  struct sl_error *error)
{
	const struct sl_tensor_file *model = &sum->model;
	double others = 0;
	if (!model->ranged)
		return sl_err_set(error, SL_ERR_INVALID, "%s: without ranges", path);
	for (size_t i = 0; sum->values == SL_VALUES_EXACT && i < model->count; i++)
		if (!sl_range_check_always_exact(&model->places[i]))
			others = fmax(others, largest_value(sum, i));
	for (size_t i = 0; i < model->count; i++) {
		const struct sl_tensor_place *place = &model->places[i];
		int exponent =
			sl_range_check_always_exact(place) ? 0
			: sum->values == SL_VALUES_EXACT
				? sl_range_check_first(largest_value(sum, i), others,
						       sl_range_check_limbs(model, place), place->nonnegative)
				: next_range(sum, v, i);
		if (place->range != exponent)
			return sl_err_set(error, SL_ERR_INVALID,
					  "%s: the range of tensor %zu is 2^%d, by the updates 2^%d", path, i,
					  place->range, exponent);
	}
	return SL_OK;
}

static bool are_alike(const struct sl_tensor_file *a, const struct sl_tensor_file *b)
{
	for (size_t i = 0; a->count == b->count && i < a->count; i++) {
		const struct sl_tensor_place *x = &a->places[i], *y = &b->places[i];
		if (x->bytes != y->bytes || (x->bytes > 0 && x->dtype != y->dtype))
			return false;
	}
	return a->count == b->count;
}

/* Compare whole files: nothing in a checkpoint may differ between learners. */
static int check_same(const struct sum *sum, const struct sl_verify *v, const char *first, uint32_t learner,
		      struct sl_error *error)
{
	char path[PATH_MAX];
	struct sl_tensor_file other;
	const struct sl_checkpoint_map *a = &sum->model.map, *b = &other.map;
	round_path(v, learner, "checkpoints/round", "safetensors", path);
	int rc = sl_checkpoint_check_open(path, &other, error);
	if (rc != SL_OK)
		return rc;
	bool same = a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
	if (!same && are_alike(&sum->model, &other))
		rc = compare_model(sum, &other, path, error);
	if (!same && rc == SL_OK)
		rc = sl_err_set(error, SL_ERR_INVALID, "%s: not the same bytes as %s", path, first);
	sl_checkpoint_check_close(&other);
	return rc;
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

/* Check the checkpoint of the learner `first`, and that those of the others are the same. */
static int check_checkpoints(const struct sum *sum, const struct sl_verify *v, uint32_t first,
			     struct sl_error *error)
{
	char path[PATH_MAX];
	round_path(v, first, "checkpoints/round", "safetensors", path);
	int rc = compare_model(sum, &sum->model, path, error);
	if (rc == SL_OK && sum->values != SL_VALUES_MODEL)
		rc = compare_ranges(sum, v, path, error);
	for (uint32_t i = first; rc == SL_OK && (i = next_model(v, i + 1)) != UINT32_MAX;)
		rc = check_same(sum, v, path, i, error);
	return rc;
}

/* Open the model of the round before, from which the updates of this one are, and find the steps; in the
 * first round the initial one. */
static int open_before(struct sum *sum, const struct sl_verify *v, uint32_t first, struct sl_error *error)
{
	struct sl_verify before = *v;
	char path[PATH_MAX];
	before.round--;
	round_path(&before, first, "checkpoints/round", "safetensors", path);
	int rc = sl_checkpoint_check_open(path, &sum->before, error);
	if (rc != SL_OK)
		return rc;
	if (!are_alike(&sum->before, &sum->model) || !sum->before.ranged)
		return sl_err_set(error, SL_ERR_FORMAT, "%s: a model of another size", path);
	sum->first = calloc(sum->model.n, sizeof *sum->first);
	sum->grids = calloc(sum->model.count, sizeof *sum->grids);
	if (sum->first == NULL || sum->grids == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	sl_range_check_grids(sum->grids, &sum->model, &sum->before, (int)v->encoding.update_bits);
	return SL_OK;
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
		rc = open_before(sum, v, first, error);
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
