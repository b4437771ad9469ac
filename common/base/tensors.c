#include "common/base/tensors.h"

#include <assert.h>
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
	size_t bytes = 0;
	for (struct sl_tensor_run run = {0}; sl_tensors_next(tensors, n, &run);)
		bytes += sl_tensors_part(&run, 0, element).count * dtypes[run.dtype].bytes;
	return bytes;
}

size_t sl_tensors_bytes(const struct sl_tensors *tensors, size_t n)
{
	struct sl_tensor_run run = {0};
	while (sl_tensors_next(tensors, n, &run))
		;
	return run.offset;
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
