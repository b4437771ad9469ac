#include "daemon/application/tensor_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/tensor_bytes.h"
#include "daemon/application/metrics.h"

#define SHAPE_BYTES 192u

static int read_shape(const json_t *shape, struct sl_tensor *tensor)
{
	size_t d;
	json_t *side;
	tensor->dimensions = (uint32_t)json_array_size(shape);
	if (!json_is_array(shape) || json_array_size(shape) > SL_TENSOR_DIMENSIONS_MAX)
		return SL_ERR_INVALID;
	json_array_foreach(shape, d, side)
	{
		json_int_t length = json_integer_value(side);
		if (!json_is_integer(side) || length < 0)
			return SL_ERR_INVALID;
		tensor->shape[d] = (uint64_t)length;
	}
	return SL_OK;
}

static int read_tensor(const json_t *entry, struct sl_tensor *tensor, struct sl_error *error)
{
	const char *name = json_string_value(json_object_get(entry, "name"));
	char label[SL_TENSOR_LABEL_BYTES];
	if (name == NULL || *name == '\0' || strlen(name) >= SL_TENSOR_NAME_BYTES)
		return sl_err_set(error, SL_ERR_INVALID, "a tensor needs a name of 1 to %u bytes",
				  SL_TENSOR_NAME_BYTES - 1);
	tensor->name = name;
	sl_tensors_label(name, label);
	if (strcmp(name, "__metadata__") == 0 || /* a key of checkpoints */
	    strncmp(name, SL_METRIC_PREFIX, sizeof SL_METRIC_PREFIX - 1) == 0)
		return sl_err_set(error, SL_ERR_INVALID, "a tensor cannot have the name %s", label);
	if (read_shape(json_object_get(entry, "shape"), tensor) != SL_OK)
		return sl_err_set(error, SL_ERR_INVALID,
				  "tensor %s: the shape is a list of at most %u lengths", label,
				  SL_TENSOR_DIMENSIONS_MAX);
	const json_t *dtype = json_object_get(entry, "dtype");
	if (dtype != NULL && !sl_tensors_dtype_parse(json_string_value(dtype), &tensor->dtype))
		return sl_err_set(error, SL_ERR_INVALID, "tensor %s: the dtype is float32, float64 or int64",
				  label);
	const json_t *nonnegative = json_object_get(entry, "nonnegative");
	if (nonnegative != NULL && !json_is_boolean(nonnegative))
		return sl_err_set(error, SL_ERR_INVALID, "tensor %s: nonnegative is true or false", label);
	tensor->nonnegative = json_is_true(nonnegative);
	return SL_OK;
}

/* Add the elements of `tensor` to *sum. SL_ERR_RANGE: too many, or it would be without a later length of 0.
 */
static int add_elements(const struct sl_tensor *tensor, uint64_t *sum)
{
	uint64_t elements = 1;
	for (uint32_t d = 0; d < tensor->dimensions; d++) {
		if (tensor->shape[d] > SL_PARAMETERS_MAX)
			return SL_ERR_RANGE;
		elements *= tensor->shape[d]; /* both are at most 2^30 */
		if (elements > SL_PARAMETERS_MAX)
			return SL_ERR_RANGE;
	}
	*sum += elements;
	return *sum > SL_PARAMETERS_MAX ? SL_ERR_RANGE : SL_OK;
}

/* The names of the tensors of metrics. */
typedef char metric_names[SL_METRICS_MAX][sizeof SL_METRIC_PREFIX + SL_METRIC_NAME_BYTES];

static int read_metric(const json_t *entry, char *full, size_t size, struct sl_tensor *tensor,
		       struct sl_error *error)
{
	const char *name = json_string_value(entry);
	if (name == NULL || *name == '\0' || strlen(name) >= SL_METRIC_NAME_BYTES)
		return sl_err_set(error, SL_ERR_INVALID,
				  "a metric that is averaged needs a name of 1 to %u bytes",
				  SL_METRIC_NAME_BYTES - 1);
	snprintf(full, size, SL_METRIC_PREFIX "%s", name);
	*tensor = (struct sl_tensor){.name = full, .dtype = SL_FLOAT64};
	return SL_OK;
}

/* Add the name to the set `names`. */
static int add_name(const struct sl_tensor *tensor, json_t *names, struct sl_error *error)
{
	char label[SL_TENSOR_LABEL_BYTES];
	if (json_object_get(names, tensor->name) != NULL)
		return sl_err_set(error, SL_ERR_INVALID, "two tensors have the name %s",
				  sl_tensors_label(tensor->name, label));
	json_object_set_new(names, tensor->name, json_true());
	return SL_OK;
}

static int read_metrics(const json_t *list, metric_names full, struct sl_tensor *items, json_t *names,
			struct sl_error *error)
{
	int rc = SL_OK;
	if (list != NULL && (!json_is_array(list) || json_array_size(list) > SL_METRICS_MAX))
		return sl_err_set(error, SL_ERR_INVALID, "metrics is a list of at most %u names",
				  SL_METRICS_MAX);
	for (size_t i = 0; rc == SL_OK && i < json_array_size(list); i++) {
		rc = read_metric(json_array_get(list, i), full[i], sizeof full[i], &items[i], error);
		if (rc == SL_OK)
			rc = add_name(&items[i], names, error);
	}
	return rc;
}

static int read_tensors(const json_t *list, struct sl_tensor *items, json_t *names, struct sl_error *error)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		int rc = read_tensor(json_array_get(list, i), &items[i], error);
		if (rc == SL_OK)
			rc = add_name(&items[i], names, error);
		if (rc != SL_OK)
			return rc;
		if (add_elements(&items[i], &sum) != SL_OK)
			return sl_err_set(error, SL_ERR_RANGE, "a model has at most %u elements",
					  SL_PARAMETERS_MAX);
	}
	if (!sl_tensors_aligned(
		    &(struct sl_tensors){.items = items, .count = (uint32_t)json_array_size(list)}))
		return sl_err_set(
			error, SL_ERR_INVALID,
			"a tensor of float64 or int64 follows one of float32: they must precede it");
	return sum > 0 ? SL_OK : sl_err_set(error, SL_ERR_INVALID, "the model has no elements");
}

int sl_tensor_list_read(const json_t *list, const json_t *metrics, struct sl_tensors *tensors,
			struct sl_error *error)
{
	size_t count = json_array_size(metrics) + json_array_size(list);
	struct sl_tensor *items = calloc(count + 1, sizeof *items); /* their names are those of the lists */
	metric_names full;
	json_t *names = json_object();
	*tensors = (struct sl_tensors){0};
	if (items == NULL || names == NULL)
		abort(); /* out of memory: a line has at most SL_LINE_SOCKET_BYTES */
	int rc = read_metrics(metrics, full, items, names, error);
	if (rc == SL_OK)
		rc = read_tensors(list, items + json_array_size(metrics), names, error);
	json_decref(names);
	struct sl_tensors found = {.items = items, .count = (uint32_t)count};
	if (rc == SL_OK && sl_tensor_list_elements(&found) > SL_PARAMETERS_MAX)
		rc = sl_err_set(error, SL_ERR_RANGE,
				"a model has at most %u elements, its metrics among them", SL_PARAMETERS_MAX);
	if (rc == SL_OK)
		*tensors = (struct sl_tensors){.items = sl_tensors_copy(&found), .count = found.count};
	if (rc == SL_OK && tensors->items == NULL)
		abort(); /* as above */
	free(items);
	return rc;
}

uint32_t sl_tensor_list_metrics(const struct sl_tensors *tensors)
{
	uint32_t count = 0;
	while (count < tensors->count && sl_tensor_is_metric(&tensors->items[count]))
		count++;
	return count;
}

uint64_t sl_tensor_list_elements(const struct sl_tensors *tensors)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < tensors->count; i++)
		sum += sl_tensor_elements(&tensors->items[i]);
	return sum;
}

/* "[3,17]" */
static void place_text(const uint64_t *shape, uint32_t dimensions, char text[static SHAPE_BYTES])
{
	size_t used = (size_t)snprintf(text, SHAPE_BYTES, "[");
	for (uint32_t d = 0; d < dimensions; d++)
		used += (size_t)snprintf(text + used, SHAPE_BYTES - used, "%s%" PRIu64, d > 0 ? "," : "",
					 shape[d]);
	snprintf(text + used, SHAPE_BYTES - used, "]");
}

int sl_tensor_list_compare(const struct sl_tensors *known, const struct sl_tensors *other,
			   struct sl_error *error)
{
	char text[SL_ERROR_BYTES - 32];
	if (!sl_tensor_bytes_differ(other, known, known->count, text, sizeof text))
		return SL_OK;
	return sl_err_set(error, SL_ERR_INVALID, "this run has another model: %s", text);
}

void sl_tensor_list_place(const struct sl_tensors *tensors, uint64_t index, char *text, size_t size)
{
	char place[SHAPE_BYTES], label[SL_TENSOR_LABEL_BYTES];
	uint64_t at[SL_TENSOR_DIMENSIONS_MAX];
	const struct sl_tensor *tensor = tensors->items;
	while (index >= sl_tensor_elements(tensor))
		index -= sl_tensor_elements(tensor++);
	for (uint32_t d = tensor->dimensions; d-- > 0; index /= tensor->shape[d])
		at[d] = index % tensor->shape[d];
	place_text(at, tensor->dimensions, place);
	snprintf(text, size, "%s%s", sl_tensors_label(tensor->name, label),
		 tensor->dimensions > 0 ? place : "");
}
