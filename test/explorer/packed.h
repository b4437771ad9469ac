/* packed.h - vectors of integers without gaps (base/bytes.h), changed one by one: only tests do. */
#pragma once

#include "common/base/bytes.h"

/* Overwrite packed integer `i`. */
static inline void packed_replace(uint8_t *packed, size_t i, uint32_t bits, uint64_t value)
{
	for (size_t b = 0, at = i * bits; b < bits; b++, at++)
		packed[at / 8] = (uint8_t)((packed[at / 8] & ~(1u << at % 8)) | (value >> b & 1) << at % 8);
}
