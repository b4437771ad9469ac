/* npy.h - arrays as numpy writes them: a header in the syntax of Python, then the elements.
 *
 *      "\x93NUMPY" 1 0   length H of the header, 2 bytes, little-endian
 *      H bytes           {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }, blanks, a newline
 *      the rest          the elements in row-major order
 *
 * The data begin at a multiple of 64 bytes. */
#pragma once

#include <stdio.h>

#include "common/base/err.h"
#include "common/base/tensors.h"

struct sl_npy {
	uint32_t dimensions; /* 0: a single number */
	uint64_t shape[SL_TENSOR_DIMENSIONS_MAX];
	size_t elements;
	bool whole;	/* the elements are integers */
	double *values; /* to be freed */
};

/* Read an array of float32, float64 or integers of at most 32 bits, or of 64 bits whose values a double
 * holds. Errors name the file. */
int sl_npy_read(const char *path, struct sl_npy *array, struct sl_error *error);

#define SL_NPY_HEADER_BYTES 512u
/* Write the header of a tensor; return its bytes. */
size_t sl_npy_header(enum sl_dtype dtype, uint32_t dimensions, const uint64_t *shape,
		     char header[static SL_NPY_HEADER_BYTES]);

/* Write an array of float64 to a new file; errno after -1. */
int sl_npy_write(const char *path, const struct sl_npy *array);
