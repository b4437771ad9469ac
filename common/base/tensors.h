/* tensors.h - how the n elements of a model are laid out: named tensors, one after the other, each in
 * row-major order and little-endian.
 *
 * Tensors of 8-byte elements precede those of 4-byte elements, so that every element is aligned and there are
 * no gaps. The memory of a model and the data of its checkpoint are the same bytes.
 */
#pragma once

#include <string.h>

#include "common/base/types.h"

#define SL_TENSOR_NAME_BYTES 1024u /* with its terminating zero */
#define SL_TENSOR_LABEL_BYTES 128u /* of a name in a message */
#define SL_TENSOR_DIMENSIONS_MAX 8u

/* X(dtype, name, name in safetensors, type in C) */
#define SL_DTYPES(X)                                                                                         \
	X(SL_FLOAT32, "float32", "F32", float)                                                               \
	X(SL_FLOAT64, "float64", "F64", double)                                                              \
	X(SL_INT64, "int64", "I64", int64_t)

#define SL_DTYPE_NAME(dtype, name, file_name, type) dtype,
enum sl_dtype { SL_DTYPES(SL_DTYPE_NAME) };
#undef SL_DTYPE_NAME

struct sl_tensor {
	const char *name; /* UTF-8 */
	enum sl_dtype dtype;
	uint32_t dimensions; /* 0: a single number */
	uint64_t shape[SL_TENSOR_DIMENSIONS_MAX];
	bool nonnegative; /* declared: committed values below 0 become 0 (ROUND.md §4.6 Decoding) */
};

/* Where a tensor begins. */
struct sl_tensor_begin {
	size_t element, offset; /* in bytes */
};

/* The tensors of a model in the order of their elements; the trainer owns `items`. Without items, a model is
 * n elements of float32; the functions below take NULL in the same sense. */
struct sl_tensors {
	const struct sl_tensor *items;
	uint32_t count;
	const struct sl_tensor_begin *begins; /* of each tensor; NULL: not known, and found by counting */
};

/* Neighbouring tensors of one dtype and one declaration. */
struct sl_tensor_run {
	enum sl_dtype dtype;
	size_t first, count; /* elements */
	size_t offset;	     /* of the first element, in bytes */
	uint32_t tensor;     /* the tensor after the run */
	bool nonnegative;
	bool apart; /* set by the caller: a run for each tensor, tensor - 1 */
};

/* Tensors of this prefix are metrics that are averaged: a float64 each. */
#define SL_METRIC_PREFIX "metric:"

/* Return true if a tensor is a metric. */
static inline bool sl_tensor_is_metric(const struct sl_tensor *tensor)
{
	return strncmp(tensor->name, SL_METRIC_PREFIX, sizeof SL_METRIC_PREFIX - 1) == 0;
}

/* Return the elements of a tensor. */
static inline uint64_t sl_tensor_elements(const struct sl_tensor *tensor)
{
	uint64_t elements = 1;
	for (uint32_t d = 0; d < tensor->dimensions; d++)
		elements *= tensor->shape[d];
	return elements;
}

/* Return the name of a dtype, "float32"; its name in safetensors files, "F32"; the bytes of an element. */
const char *sl_tensors_dtype_name(enum sl_dtype dtype);
const char *sl_tensors_dtype_file_name(enum sl_dtype dtype);
size_t sl_tensors_dtype_bytes(enum sl_dtype dtype);

/* Set *dtype by its name, or by its name in files; return false for an unknown name or NULL. */
bool sl_tensors_dtype_parse(const char *name, enum sl_dtype *dtype);
bool sl_tensors_dtype_parse_file(const char *name, enum sl_dtype *dtype);

/* Return a copy of the items with their names in one piece of memory, to be freed; NULL: out of memory. */
struct sl_tensor *sl_tensors_copy(const struct sl_tensors *tensors);

/* Put '?' for each byte that a terminal or a log might not show. */
void sl_tensors_ascii(char *text);

/* Write a name to `label` as it stands in a message: of a long one the begin and the end, in ASCII, as a cut
 * might split a character. Return `label`. */
const char *sl_tensors_label(const char *name, char label[static SL_TENSOR_LABEL_BYTES]);

/* Set the begins of all tensors. */
void sl_tensors_begin(const struct sl_tensors *tensors, struct sl_tensor_begin *begins);

/* Set `run`, so that the next one begins with tensor `k`. Return false, and begin with the first tensor, if
 * the begins are not known. `apart` is kept. */
bool sl_tensors_at(const struct sl_tensors *tensors, uint32_t k, struct sl_tensor_run *run);
/* Set `run` so that the next one has element `element`, or comes before it. */
void sl_tensors_seek(const struct sl_tensors *tensors, size_t element, struct sl_tensor_run *run);

/* Go to the next run of a model of `n` elements; begin with a zeroed `run`, or one
 * that was set as above. Return false after the last. A run has at least one element. */
bool sl_tensors_next(const struct sl_tensors *tensors, size_t n, struct sl_tensor_run *run);

/* Return the part of `run` within the elements first .. first + count - 1; its count may be 0. */
struct sl_tensor_run sl_tensors_part(const struct sl_tensor_run *run, size_t first, size_t count);

/* Return the bytes before element `element`, which is at most `n`. */
size_t sl_tensors_offset(const struct sl_tensors *tensors, size_t n, size_t element);

/* Return the bytes of a model of `n` elements. */
size_t sl_tensors_bytes(const struct sl_tensors *tensors, size_t n);

/* Return true if no tensor of 8-byte elements follows one of 4-byte elements. */
bool sl_tensors_aligned(const struct sl_tensors *tensors);
