#include "common/base/tensors.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *file_name;
	size_t bytes;
} dtypes[] = {
#define ROW(dtype, name, file_name, type) [dtype] = {name, file_name, sizeof(type)},
	SL_DTYPES(ROW)
#undef ROW
};
#define COUNT (sizeof dtypes / sizeof *dtypes)

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "models lie in files as they lie in memory");

const char *sl_tensors_dtype_name(enum sl_dtype dtype)
{
	return dtypes[dtype].name;
}

const char *sl_tensors_dtype_file_name(enum sl_dtype dtype)
{
	return dtypes[dtype].file_name;
}

size_t sl_tensors_dtype_bytes(enum sl_dtype dtype)
{
	return dtypes[dtype].bytes;
}

bool sl_tensors_dtype_parse(const char *name, enum sl_dtype *dtype)
{
	for (size_t i = 0; name != NULL && i < COUNT; i++) {
		*dtype = (enum sl_dtype)i;
		if (strcmp(name, dtypes[i].name) == 0)
			return true;
	}
	return false;
}

bool sl_tensors_dtype_parse_file(const char *name, enum sl_dtype *dtype)
{
	for (size_t i = 0; name != NULL && i < COUNT; i++) {
		*dtype = (enum sl_dtype)i;
		if (strcmp(name, dtypes[i].file_name) == 0)
			return true;
	}
	return false;
}

struct sl_tensor *sl_tensors_copy(const struct sl_tensors *tensors)
{
	size_t size = (tensors->count + 1) * sizeof *tensors->items;
	for (uint32_t i = 0; i < tensors->count; i++)
		size += strlen(tensors->items[i].name) + 1;
	struct sl_tensor *copy = malloc(size);
	char *name = copy == NULL ? NULL : (char *)(copy + tensors->count + 1);
	for (uint32_t i = 0; copy != NULL && i < tensors->count; i++) {
		copy[i] = tensors->items[i];
		copy[i].name = name;
		name = stpcpy(name, tensors->items[i].name) + 1;
	}
	return copy;
}

void sl_tensors_ascii(char *text)
{
	for (; *text != '\0'; text++)
		*text = *text >= ' ' && *text <= '~' ? *text : '?';
}

const char *sl_tensors_label(const char *name, char label[static SL_TENSOR_LABEL_BYTES])
{
	size_t length = strlen(name), part = (SL_TENSOR_LABEL_BYTES - sizeof "...") / 2;
	if (length < SL_TENSOR_LABEL_BYTES)
		return strcpy(label, name);
	snprintf(label, SL_TENSOR_LABEL_BYTES, "%.*s...%s", (int)part, name, name + length - part);
	sl_tensors_ascii(label);
	return label;
}

void sl_tensors_begin(const struct sl_tensors *tensors, struct sl_tensor_begin *begins)
{
	struct sl_tensor_begin at = {0};
	for (uint32_t i = 0; i < tensors->count; i++) {
		const struct sl_tensor *tensor = &tensors->items[i];
		begins[i] = at;
		at.element += sl_tensor_elements(tensor);
		at.offset += sl_tensor_elements(tensor) * dtypes[tensor->dtype].bytes;
	}
}

bool sl_tensors_at(const struct sl_tensors *tensors, uint32_t k, struct sl_tensor_run *run)
{
	bool known = tensors != NULL && tensors->begins != NULL && k < tensors->count;
	*run = (struct sl_tensor_run){.apart = run->apart};
	if (!known)
		return false;
	run->tensor = k;
	run->first = tensors->begins[k].element;
	run->offset = tensors->begins[k].offset;
	return true;
}

void sl_tensors_seek(const struct sl_tensors *tensors, size_t element, struct sl_tensor_run *run)
{
	uint32_t low = 0, high = tensors != NULL && tensors->begins != NULL ? tensors->count : 0;
	while (high - low > 1) { /* the tensor is one of low .. high - 1 */
		uint32_t middle = low + (high - low) / 2;
		if (tensors->begins[middle].element <= element)
			low = middle;
		else
			high = middle;
	}
	sl_tensors_at(tensors, low, run);
}

bool sl_tensors_next(const struct sl_tensors *tensors, size_t n, struct sl_tensor_run *run)
{
	run->first += run->count;
	run->offset += run->count * dtypes[run->dtype].bytes;
	run->count = 0;
	if (tensors == NULL || tensors->count == 0) {
		run->count = n - run->first;
		run->tensor = 1;
		return run->count > 0;
	}
	for (; run->tensor < tensors->count; run->tensor++) {
		const struct sl_tensor *tensor = &tensors->items[run->tensor];
		bool other = tensor->dtype != run->dtype || tensor->nonnegative != run->nonnegative;
		if (run->count > 0 && (other || run->apart))
			break;
		run->dtype = tensor->dtype;
		run->nonnegative = tensor->nonnegative;
		run->count += sl_tensor_elements(tensor);
	}
	assert(run->first + run->count <= n);
	return run->count > 0;
}

struct sl_tensor_run sl_tensors_part(const struct sl_tensor_run *run, size_t first, size_t count)
{
	struct sl_tensor_run part = *run;
	size_t end = run->first + run->count, last = first + count;
	part.first = first < run->first ? run->first : first < end ? first : end;
	last = last < part.first ? part.first : last < end ? last : end;
	part.count = last - part.first;
	part.offset += (part.first - run->first) * dtypes[run->dtype].bytes;
	return part;
}

size_t sl_tensors_offset(const struct sl_tensors *tensors, size_t n, size_t element)
{
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(tensors, element, &run); sl_tensors_next(tensors, n, &run);)
		if (element < run.first + run.count)
			return sl_tensors_part(&run, element, 0).offset;
	return run.offset;
}

size_t sl_tensors_bytes(const struct sl_tensors *tensors, size_t n)
{
	return sl_tensors_offset(tensors, n, n);
}

bool sl_tensors_aligned(const struct sl_tensors *tensors)
{
	size_t least = sizeof(int64_t);
	for (uint32_t i = 0; i < tensors->count; i++) {
		if (dtypes[tensors->items[i].dtype].bytes > least)
			return false;
		least = dtypes[tensors->items[i].dtype].bytes;
	}
	return true;
}
