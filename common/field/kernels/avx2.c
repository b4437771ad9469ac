#include "common/field/kernels/plain.h"

const struct sl_kernels sl_kernels_avx2 = {.name = "avx2", PLAIN_KERNELS};
