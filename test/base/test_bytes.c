/* Packed integers, byte by byte: nothing but their own bytes is touched, whatever the width and the length.
 */
#include <stddef.h>
#include <stdint.h>

#include "common/base/bytes.h"
#include "test/lib/test.h"

#define COUNT 70u

TEST(packing)
{
	uint64_t v[COUNT], back[COUNT];
	uint8_t bytes[8 * COUNT + 2];
	for (uint32_t width = 1; width <= 8; width++)
		for (size_t n = 0; n <= COUNT; n++) {
			for (size_t i = 0; i < n; i++)
				v[i] = (UINT64_C(0x9e3779b97f4a7c15) * (i + width + 1)) >> (64 - 8 * width);
			memset(bytes, 0x5a, sizeof bytes);
			sl_bytes_pack(bytes + 1, v, n, width);
			assert_true(bytes[0] == 0x5a && bytes[1 + n * width] == 0x5a);
			for (size_t b = 0; b < n * width; b++)
				assert_int_equal(bytes[1 + b], (uint8_t)(v[b / width] >> (8 * (b % width))));
			sl_bytes_unpack(back, bytes + 1, n, width);
			assert_memory_equal(back, v, n * sizeof *v);
		}
}
