/* kernels.h - which instruction set the loops of math use. All give the same bits; by default the best that
 * there is.
 *
 * Math reads no environment: a shell that lets people choose calls sl_kernels_choose before anything else is
 * computed.
 */
#pragma once

#include "common/base/err.h"

#define SL_KERNELS_NAMES "portable, avx2, avx512" /* for messages */

/* "portable", "avx2", "avx512", or NULL for the best. SL_ERR_NOTFOUND: no such name. SL_ERR_REFUSED: this
 * machine cannot. */
int sl_kernels_choose(const char *name);
/* The name of those in use. */
const char *sl_kernels_name(void);
