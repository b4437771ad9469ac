#include "common/field/kernels/plain.h"

const struct sl_kernels sl_kernels_avx2 = {
	.name = "avx2",
	.stream = plain_stream,
	.sift = plain_sift,
	.add = plain_add,
	.subtract = plain_subtract,
	.multiply = plain_multiply,
	.prepare = plain_prepare,
	.dot = plain_dot,
	.gather = plain_gather,
	.greatest = plain_greatest,
	.take = plain_take,
	.mix = plain_mix,
};
