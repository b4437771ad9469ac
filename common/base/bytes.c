#include "common/base/bytes.h"

static void pack4(uint8_t *out, const uint64_t *in, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t v = (uint32_t)in[i];
		uint8_t b[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
		memcpy(out + 4 * i, b, 4);
	}
}

void sl_pack(uint8_t *out, const uint64_t *in, size_t count, uint32_t width)
{
	assert(width >= 1 && width <= 8);
	if (width == 4) { /* the usual field, 2^31-1: a loop the compiler turns into plain stores */
		pack4(out, in, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		for (uint32_t b = 0; b < width; b++)
			out[i * width + b] = (uint8_t)(in[i] >> (8 * b));
}

void sl_unpack(uint64_t *out, const uint8_t *in, size_t count, uint32_t width)
{
	assert(width >= 1 && width <= 8);
	for (size_t i = 0; i < count; i++) {
		uint64_t v = 0;
		for (uint32_t b = 0; b < width; b++)
			v |= (uint64_t)in[i * width + b] << (8 * b);
		out[i] = v;
	}
}
