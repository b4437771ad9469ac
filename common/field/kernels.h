/* kernels.h - the instruction set of the inner loops. All sets give the same bits; the default is the best
 * supported one.
 *
 * This room reads no environment: a program with a setting calls sl_kernels_choose before any computation.
 */
#pragma once

#include "common/base/err.h"

/* Choose the set `name`, or the best for NULL. Return SL_ERR_NOTFOUND for an unknown name, SL_ERR_REFUSED if
 * this machine does not support it. */
int sl_kernels_choose(const char *name);
