#include "common/field/kernels/plain.h"

const struct sl_kernels sl_kernels_portable = {
	.name = "portable",
	.stream = sl_plain_stream,
	.sift = sl_plain_sift,
	.add = sl_plain_add,
	.subtract = sl_plain_subtract,
	.multiply = sl_plain_multiply,
	.prepare = sl_plain_prepare,
	.dot = sl_plain_dot,
	.gather = sl_plain_gather,
	.greatest = sl_plain_greatest,
	.take = sl_plain_take,
	.mix = sl_plain_mix,
};
