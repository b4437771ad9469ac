#include "common/model/tensor_header.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/limits.h"

#define METADATA "__metadata__"
#define NONNEGATIVE "nonnegative" /* in the metadata: the names of such tensors, a JSON list */

/* ---- writing ---- */

static uint64_t bytes_of(const struct sl_tensor *tensor)
{
	return sl_tensors_dtype_bytes(tensor->dtype) * sl_tensor_elements(tensor);
}

/* Return the entry of a tensor whose elements begin at `begin` bytes; NULL: out of memory. */
static json_t *entry_of(const struct sl_tensor *tensor, uint64_t begin)
{
	json_t *shape = json_array();
	int rc = 0;
	for (uint32_t d = 0; d < tensor->dimensions; d++)
		rc |= json_array_append_new(shape, json_integer((json_int_t)tensor->shape[d]));
	if (rc != 0) {
		json_decref(shape);
		return NULL;
	}
	return json_pack("{s:[I,I],s:s,s:o}", "data_offsets", (json_int_t)begin,
			 (json_int_t)(begin + bytes_of(tensor)), "dtype",
			 sl_tensors_dtype_file_name(tensor->dtype), "shape", shape);
}

/* Name the non-negative tensors in the metadata; without any, there is no such entry. */
static int put_nonnegative(json_t *metadata, const struct sl_tensors *tensors)
{
	json_t *names = json_array();
	int rc = names == NULL ? -1 : 0;
	json_object_del(metadata, NONNEGATIVE);
	for (uint32_t i = 0; i < tensors->count && rc == 0; i++)
		if (tensors->items[i].nonnegative)
			rc = json_array_append_new(names, json_string(tensors->items[i].name));
	if (rc == 0 && json_array_size(names) > 0) {
		char *text = json_dumps(names, JSON_COMPACT);
		rc = json_object_set_new(metadata, NONNEGATIVE, json_string(text));
		free(text);
	}
	json_decref(names);
	return rc;
}

json_t *sl_tensor_header_make(json_t *metadata, const struct sl_tensors *tensors)
{
	json_t *header = json_pack("{s:o}", METADATA, metadata);
	uint64_t begin = 0;
	int rc = header == NULL ? -1 : put_nonnegative(metadata, tensors);
	for (uint32_t i = 0; i < tensors->count && rc == 0; i++) {
		const struct sl_tensor *tensor = &tensors->items[i];
		rc = json_object_set_new(header, tensor->name, entry_of(tensor, begin));
		begin += bytes_of(tensor);
	}
	if (rc == 0)
		return header;
	json_decref(header);
	return NULL;
}

/* ---- reading ---- */

/* A tensor, whose name is that of the header, and its bytes within the data. */
struct entry {
	struct sl_tensor tensor;
	json_int_t begin, end;
	size_t index; /* in the header */
};

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->begin != b->begin)
		return a->begin > b->begin ? 1 : -1;
	if (a->end != b->end)
		return a->end > b->end ? 1 : -1;
	return a->index > b->index ? 1 : -1;
}

/* Set the shape; *bytes is the size of an element, and becomes that of the tensor. */
static const char *shape_parse(const json_t *shape, struct sl_tensor *tensor, json_int_t *bytes)
{
	json_t *side;
	size_t d;
	if (json_array_size(shape) > SL_TENSOR_DIMENSIONS_MAX)
		return "a shape is not that of a tensor";
	tensor->dimensions = (uint32_t)json_array_size(shape);
	json_array_foreach(shape, d, side)
	{
		json_int_t length = json_integer_value(side);
		if (!json_is_integer(side) || length < 0 || __builtin_mul_overflow(*bytes, length, bytes))
			return "a shape is not that of a tensor";
		tensor->shape[d] = (uint64_t)length;
	}
	return NULL;
}

static const char *entry_parse(const char *name, json_t *json, struct entry *entry)
{
	const char *type;
	json_t *shape;
	struct sl_tensor *tensor = &entry->tensor;
	if (*name == '\0' || strlen(name) >= SL_TENSOR_NAME_BYTES ||
	    json_unpack(json, "{s:s,s:o,s:[I,I!]!}", "dtype", &type, "shape", &shape, "data_offsets",
			&entry->begin, &entry->end) != 0 ||
	    !json_is_array(shape))
		return "the header is not that of a model";
	tensor->name = name;
	if (!sl_tensors_dtype_parse_file(type, &tensor->dtype))
		return "a tensor is not F32, F64 or I64";
	json_int_t bytes = (json_int_t)sl_tensors_dtype_bytes(tensor->dtype), size;
	const char *wrong = shape_parse(shape, tensor, &bytes);
	if (wrong == NULL &&
	    (entry->begin < 0 || __builtin_sub_overflow(entry->end, entry->begin, &size) || size != bytes))
		wrong = "shape and data_offsets do not agree";
	return wrong;
}

/* Sort the entries by their place; set *bytes if they lie one after the other. */
static const char *entries_join(struct entry *entries, size_t count, uint64_t *bytes)
{
	json_int_t end = 0;
	uint64_t elements = 0;
	qsort(entries, count, sizeof *entries, compare);
	for (size_t i = 0; i < count; end = entries[i++].end) {
		if (entries[i].begin != end)
			return "the tensors do not lie one after the other";
		elements +=
			(uint64_t)(entries[i].end - end) / sl_tensors_dtype_bytes(entries[i].tensor.dtype);
	}
	*bytes = (uint64_t)end;
	return elements > SL_PARAMETERS_MAX ? "the model is too large" : NULL;
}

static const char *entries_parse(json_t *header, struct entry *entries, size_t *count)
{
	const char *name, *wrong = NULL;
	json_t *json;
	*count = 0;
	json_object_foreach(header, name, json)
	{
		if (wrong != NULL || strcmp(name, METADATA) == 0)
			continue;
		entries[*count].index = *count;
		wrong = entry_parse(name, json, &entries[(*count)++]);
	}
	return wrong;
}

/* Mark the tensors that the metadata name as non-negative. */
static const char *nonnegative_parse(const json_t *header, struct sl_tensor *items, size_t count)
{
	const json_t *entry = json_object_get(json_object_get(header, METADATA), NONNEGATIVE);
	json_t *names = entry != NULL && json_is_string(entry)
				? json_loads(json_string_value(entry), JSON_REJECT_DUPLICATES, NULL)
				: NULL;
	size_t listed = json_array_size(names), marked = 0;
	for (size_t i = 0; i < count && marked < listed; i++) {
		const char *name = json_string_value(json_array_get(names, marked));
		items[i].nonnegative = name != NULL && strcmp(items[i].name, name) == 0;
		marked += items[i].nonnegative;
	}
	json_decref(names);
	return entry == NULL || (listed > 0 && marked == listed)
		       ? NULL
		       : "the list of non-negative tensors does not fit the tensors";
}

const char *sl_tensor_header_read(json_t *header, struct sl_tensors *tensors, uint64_t *bytes)
{
	size_t count;
	struct entry *entries = calloc(json_object_size(header) + 1, sizeof *entries);
	struct sl_tensor *items = calloc(json_object_size(header) + 1, sizeof *items);
	const char *wrong =
		entries == NULL || items == NULL ? "out of memory" : entries_parse(header, entries, &count);
	if (wrong == NULL)
		wrong = entries_join(entries, count, bytes);
	for (size_t i = 0; wrong == NULL && i < count; i++)
		items[i] = entries[i].tensor;
	if (wrong == NULL)
		wrong = nonnegative_parse(header, items, count);
	free(entries);
	*tensors = (struct sl_tensors){0};
	if (wrong == NULL) {
		const struct sl_tensors found = {.items = items, .count = (uint32_t)count};
		*tensors = (struct sl_tensors){.items = sl_tensors_copy(&found), .count = found.count};
		wrong = tensors->items == NULL ? "out of memory" : NULL;
	}
	free(items);
	return wrong;
}
