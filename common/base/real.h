/* real.h - a double as 64 bits: so parameters are agreed on, and settings are read. */
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint64_t sl_real_bits(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline double sl_real_of(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}
