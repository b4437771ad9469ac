/* encode.h - models to field elements and back (protocol 2).
 *
 * weighted: x_l = m * rint(theta_l * 10^sigma) mod p for l < n, x_n = m.
 * literal:  x_l = trunc(10^sigma * w * theta_l) mod p from the exact rational w = m / m_total (the paper's),
 * x_n = 0.
 */
#pragma once

#include "common/field/field.h"

enum sl_encoding_kind { SL_ENCODING_WEIGHTED, SL_ENCODING_PAPER };

struct sl_encoding {
	enum sl_encoding_kind kind;
	uint32_t decimals;     /* decimal digits, <= SL_DECIMALS_MAX */
	double clipping_range; /* |theta| <= clip */
	bool clamp;	       /* clip_policy: clamp and count instead of refusing */
	uint64_t weight;       /* m_i */
	uint64_t weight_total; /* literal only: sum of all m_j, known beforehand */
};

/* What encoding saw: the first offending coordinate, or how many were clamped. */
struct sl_encode_note {
	size_t index;
	double value;
	size_t clamped;
};

/* theta: n floats; x: n+1 elements out. SL_ERR_INVALID for a NaN or an infinity, SL_ERR_RANGE for |theta| >
 * clip (note->index, note->value say where); nothing ever wraps. x is unspecified after an error. */
int sl_encoding_encode(const struct sl_field *field, const struct sl_encoding *encoding, const float *theta,
		       size_t n, uint64_t *x, struct sl_encode_note *note);

/* The committed mean from Z (n+1 elements): centred(Z_l) / (10^sigma * Z_n), or / 10^sigma for literal;
 * the same bits on every machine. SL_ERR_INVALID when the total weight Z_n is 0 (weighted). */
int sl_encoding_decode(const struct sl_field *field, const struct sl_encoding *encoding, const uint64_t *z,
		       size_t n, float *theta);

/* The bound of protocol 2: p > 1 + 2*10^sigma*clip*M and p > M, M = learners * max_weight (literal: without M
 * in the first). Returns whether p meets it; *least is the smallest integer p that would (saturating at
 * UINT64_MAX), *decimals_most the largest sigma that this p allows (-1: none). Either may be NULL. */
bool sl_encoding_bound(uint64_t p, const struct sl_encoding *encoding, uint64_t learners, uint64_t max_weight,
		       uint64_t *least, int *decimals_most);

/* `p: auto`: the smallest of 2^31-1, 2^36-5, 2^40-87, 2^44-17, 2^61-1 that meets the bound and has at most
 * `bits_max` bits; 0 when none does. */
uint64_t sl_encoding_modulus(const struct sl_encoding *encoding, uint64_t learners, uint64_t max_weight,
			     uint32_t bits_max);
