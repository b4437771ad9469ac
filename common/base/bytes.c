#include "common/base/bytes.h"

/* Each loop has one width, so that the compiler turns it into plain or vector loads and stores. */

static void pack4(uint8_t *restrict out, const uint64_t *restrict in, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t v = htole32((uint32_t)in[i]);
		memcpy(out + 4 * i, &v, sizeof v);
	}
}

static void unpack4(uint64_t *restrict out, const uint8_t *restrict in, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t v;
		memcpy(&v, in + 4 * i, sizeof v);
		out[i] = le32toh(v);
	}
}

/* Write eight bytes per integer, of which the next integer overwrites the excess; write the last few byte by
 * byte. */
static void pack_any(uint8_t *restrict out, const uint64_t *restrict in, size_t count, uint32_t width)
{
	size_t i = 0;
	for (; (count - i) * width >= 8; i++) {
		uint64_t v = htole64(in[i]);
		memcpy(out + i * width, &v, sizeof v);
	}
	for (; i < count; i++)
		for (uint32_t b = 0; b < width; b++)
			out[i * width + b] = (uint8_t)(in[i] >> (8 * b));
}

static void unpack_any(uint64_t *restrict out, const uint8_t *restrict in, size_t count, uint32_t width)
{
	uint64_t mask = UINT64_MAX >> (64 - 8 * width);
	size_t i = 0;
	for (; (count - i) * width >= 8; i++) {
		uint64_t v;
		memcpy(&v, in + i * width, sizeof v);
		out[i] = le64toh(v) & mask;
	}
	for (; i < count; i++) {
		out[i] = 0;
		for (uint32_t b = 0; b < width; b++)
			out[i] |= (uint64_t)in[i * width + b] << (8 * b);
	}
}

void sl_bytes_pack(uint8_t *out, const uint64_t *in, size_t count, uint32_t width)
{
	assert(width >= 1 && width <= 8);
	if (width == 4) /* the usual field, 2^31-1 */
		pack4(out, in, count);
	else
		pack_any(out, in, count, width);
}

void sl_bytes_unpack(uint64_t *out, const uint8_t *in, size_t count, uint32_t width)
{
	assert(width >= 1 && width <= 8);
	if (width == 4)
		unpack4(out, in, count);
	else
		unpack_any(out, in, count, width);
}
