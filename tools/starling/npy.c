#include "tools/starling/npy.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6u
#define ALIGNMENT 64u
#define EXACT_MOST 9007199254740992.0 /* 2^53 */

/* ---- writing ---- */

size_t sl_npy_header(enum sl_dtype dtype, uint32_t dimensions, const uint64_t *shape,
		     char header[static SL_NPY_HEADER_BYTES])
{
	static const char *const types[] = {[SL_FLOAT32] = "<f4", [SL_FLOAT64] = "<f8", [SL_INT64] = "<i8"};
	size_t start = MAGIC_BYTES + 4;
	memcpy(header, MAGIC "\x01", MAGIC_BYTES + 2); /* with the zero of the version */
	size_t used =
		start + (size_t)snprintf(header + start, SL_NPY_HEADER_BYTES - start,
					 "{'descr': '%s', 'fortran_order': False, 'shape': (", types[dtype]);
	for (uint32_t d = 0; d < dimensions; d++)
		used += (size_t)snprintf(header + used, SL_NPY_HEADER_BYTES - used, "%" PRIu64 ", ",
					 shape[d]);
	if (dimensions > 0)
		used -= dimensions == 1 ? 1 : 2; /* (3,) and (3, 2) */
	used += (size_t)snprintf(header + used, SL_NPY_HEADER_BYTES - used, "), }");
	while ((used + 1) % ALIGNMENT != 0)
		header[used++] = ' ';
	header[used++] = '\n';
	header[MAGIC_BYTES + 2] = (char)((used - start) & 0xff);
	header[MAGIC_BYTES + 3] = (char)((used - start) >> 8);
	return used;
}

int sl_npy_write(const char *path, const struct sl_npy *array)
{
	char header[SL_NPY_HEADER_BYTES];
	size_t bytes = sl_npy_header(SL_FLOAT64, array->dimensions, array->shape, header);
	FILE *file = fopen(path, "we");
	if (file == NULL)
		return -1;
	bool good = fwrite(header, bytes, 1, file) == 1 &&
		    fwrite(array->values, sizeof *array->values, array->elements, file) == array->elements;
	return fclose(file) == 0 && good ? 0 : -1;
}

/* ---- reading ---- */

struct element {
	char kind; /* 'f', 'i', 'u' */
	unsigned bytes;
};

/* Return what follows the key in the header, without blanks before it; NULL: it is not there. */
static const char *value_of(const char *header, const char *key)
{
	const char *at = strstr(header, key);
	if (at == NULL)
		return NULL;
	at += strlen(key);
	return at + strspn(at, " :");
}

static bool parse_type(const char *at, struct element *element)
{
	char order, quote;
	if (at == NULL || sscanf(at, "'%c%c%u%c", &order, &element->kind, &element->bytes, &quote) != 4 ||
	    quote != '\'' || order == '>')
		return false;
	unsigned b = element->bytes;
	return element->kind == 'f' ? b == 4 || b == 8
				    : (element->kind == 'i' || element->kind == 'u') &&
					      (b == 1 || b == 2 || b == 4 || b == 8);
}

static bool parse_shape(const char *at, struct sl_npy *array)
{
	array->elements = 1;
	if (at == NULL || *at++ != '(')
		return false;
	for (at += strspn(at, ", "); *at != ')'; at += strspn(at, ", ")) {
		char *end;
		uint64_t length = strtoull(at, &end, 10);
		if (end == at || array->dimensions == SL_TENSOR_DIMENSIONS_MAX ||
		    __builtin_mul_overflow(array->elements, length, &array->elements))
			return false;
		array->shape[array->dimensions++] = length;
		at = end;
	}
	return array->elements > 0 && array->elements < SL_ELEMENTS_MAX;
}

static double element_at(const char *bytes, const struct element *element)
{
	union {
		float f;
		double d;
		int64_t i;
		uint64_t u;
	} v = {.u = 0};
	memcpy(&v, bytes, element->bytes);
	if (element->kind == 'f')
		return element->bytes == 4 ? (double)v.f : v.d;
	unsigned rest = 64 - 8 * element->bytes;
	return element->kind == 'u' ? (double)v.u : (double)((int64_t)(v.u << rest) >> rest);
}

/* The functions that return a text return the flaw that they found, or NULL. */
static const char *read_values(FILE *file, const struct element *element, struct sl_npy *array)
{
	char bytes[8];
	array->whole = element->kind != 'f';
	array->values = malloc(array->elements * sizeof *array->values);
	if (array->values == NULL)
		return "out of memory";
	for (size_t i = 0; i < array->elements; i++) {
		if (fread(bytes, element->bytes, 1, file) != 1)
			return "shorter than its header says";
		array->values[i] = element_at(bytes, element);
		if (!isfinite(array->values[i]))
			return "an element is not a finite number";
		if (array->whole && fabs(array->values[i]) >= EXACT_MOST)
			return "an integer is beyond 2^53";
	}
	return fgetc(file) == EOF ? NULL : "longer than its header says";
}

static const char *read_array(FILE *file, struct sl_npy *array)
{
	unsigned char start[MAGIC_BYTES + 4];
	char header[4096];
	struct element element;
	if (fread(start, sizeof start, 1, file) != 1 || memcmp(start, MAGIC, MAGIC_BYTES) != 0)
		return "not an .npy file";
	size_t bytes = start[MAGIC_BYTES + 2] + 256u * start[MAGIC_BYTES + 3];
	if (start[MAGIC_BYTES] != 1 || bytes >= sizeof header || fread(header, 1, bytes, file) != bytes)
		return "not an .npy file of version 1";
	header[bytes] = '\0';
	if (!parse_type(value_of(header, "'descr'"), &element))
		return "not an array of float32, float64 or integers, little-endian";
	const char *order = value_of(header, "'fortran_order'");
	if (order == NULL || strncmp(order, "False", 5) != 0)
		return "not in row-major order: save numpy.ascontiguousarray(x)";
	if (!parse_shape(value_of(header, "'shape'"), array))
		return "an empty or too large shape";
	return read_values(file, &element, array);
}

int sl_npy_read(const char *path, struct sl_npy *array, struct sl_error *error)
{
	*array = (struct sl_npy){0};
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	const char *wrong = read_array(file, array);
	fclose(file);
	if (wrong == NULL)
		return SL_OK;
	free(array->values);
	array->values = NULL;
	return sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
}
