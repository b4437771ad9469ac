/* npz.h - tensors as numpy.savez writes them: a zip file of .npy files (npy.h), not compressed.
 *
 *      for each tensor    local header, "NAME.npy", header and elements
 *      for each tensor    entry of the directory, "NAME.npy"
 *      the end            number of entries, place of the directory
 *
 * All sizes have 32 bits: the largest model is smaller. */
#pragma once

#include <stdio.h>

#include "tools/starling/model_file.h"

/* Write the tensors to `out`; return -1 after an error of the stream. */
int sl_npz_write(FILE *out, const struct sl_model_file *file);
