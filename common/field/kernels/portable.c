#include "common/field/kernels/plain.h"

const struct sl_kernels sl_kernels_portable = {.name = "portable", PLAIN_KERNELS};
