/* npz.h - tensors as numpy.savez writes them: a zip file of .npy files, not compressed.
 *
 *      for each tensor    local header, "NAME.npy", .npy file
 *      for each tensor    entry of the directory, "NAME.npy"
 *      the end            number of entries, place of the directory
 *
 * All sizes have 32 bits: the largest model is smaller. An .npy file is a header in the syntax of Python,
 * then the elements, which begin at a multiple of 64 bytes:
 *
 *      "\x93NUMPY" 1 0   length H of the header, 2 bytes, little-endian
 *      H bytes           {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }, blanks, a newline
 *      the rest          the elements in row-major order */
#pragma once

#include <stdio.h>

#include "tools/starling/model_file.h"

/* Write the tensors to `out`; return -1 after an error of the stream. */
int sl_npz_write(FILE *out, const struct sl_model_file *file);
