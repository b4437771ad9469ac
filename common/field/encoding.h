/* encoding.h - models to field elements and back (PROTOCOL.md §4.2 Encoding, §4.6 Decoding).
 *
 * weighted: x_l = m * rint(u_l * scale) mod p for l < n, the last element m; of an int64, x_l = m * u_l.
 *           values: model   u = theta, scale = 10^decimals
 *           values: update  u = theta - B, B: the last committed model; scale = 2^(update_bits - e), a
 *                           power of two, where 2^e is the range of the tensor, beyond which u is cut.
 *                           ranges.h says what else the vector has.
 *                           Before the first commit, B = 0 and scale = 2^update_bits / clipping_range
 *
 * paper:    x_l = trunc(10^decimals * w * theta_l) mod p from the exact rational w = m / m_total (the
 *           paper's), x_n = 0; int64 and updates are refused.
 *
 * Products are exact and are rounded once, ties to even: every machine comes to the same elements.
 */
#pragma once

#include "common/base/tensors.h"
#include "common/field/field.h"
#include "common/field/ranges.h"

enum sl_encoding_kind { SL_ENCODING_WEIGHTED, SL_ENCODING_PAPER };
enum sl_values { SL_VALUES_MODEL, SL_VALUES_UPDATE };

struct sl_encoding {
	enum sl_encoding_kind kind;
	enum sl_values values;
	uint32_t decimals;     /* model: decimal digits, <= SL_DECIMALS_MAX */
	uint32_t update_bits;  /* update: bits below the clipping range, <= SL_UPDATE_BITS_MAX */
	double clipping_range; /* |u| <= clipping_range; of int64, clipping_range * scale. Of updates, the
				  power of two that sl_encoding_range gives */
	bool clamp;	       /* clipping: clamp and count instead of refusing */
	uint64_t weight;       /* m_i; 0: the model does not count */
	uint64_t weight_total; /* paper only: sum of all m_j, known in advance */
	const struct sl_ranges *ranges; /* update: layout and own magnitudes; NULL: clipping_range counts */
	const int16_t *exponents;	/* .. of the ranges of the tensors, e */
};

static inline bool sl_encoding_updates(const struct sl_encoding *encoding)
{
	return encoding->values == SL_VALUES_UPDATE;
}

/* Result of encoding: the first refused coordinate, or the number of clamped ones and what rounding
 * has cost the coordinates of float32 and float64 (weighted only). */
struct sl_encode_note {
	size_t index;
	double value;
	size_t clamped;
	double rounding; /* largest |u - rint(u * scale) / scale| */
	size_t vanished; /* coordinates that are not 0 and were rounded to 0 */
};

/* Return the elements of a vector: n and the weight, and with ranges those in between. */
static inline uint64_t sl_encoding_elements(const struct sl_encoding *encoding, size_t n)
{
	return n + 1 + (encoding->ranges == NULL ? 0 : sl_ranges_extra(encoding->ranges));
}

/* Encode the n elements of `model`, which consists of `tensors` (NULL: of float32), into n+1 elements `x`.
 * base: B; NULL: zeros; unused with values: model. Return SL_ERR_INVALID for a NaN or an infinity, and for
 * int64 with `paper`; SL_ERR_RANGE for |u| beyond the clipping range (note->index and note->value name the
 * coordinate); no value ever wraps. After an error x is unspecified. */
int sl_encoding_encode(const struct sl_field *field, const struct sl_encoding *encoding,
		       const struct sl_tensors *tensors, const void *model, const void *base, size_t n,
		       uint64_t *x, struct sl_encode_note *note);
/* Encode the elements first .. first + count - 1 of sl_encoding_elements alone, into `count` elements `x`.
 * The note is of them. */
int sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *encoding,
			    const struct sl_tensors *tensors, const void *model, const void *base, size_t n,
			    size_t first, size_t count, uint64_t *x, struct sl_encode_note *note);

/* With ranges: write what rounding leaves out of the update in the elements first .. first + count - 1 of the
 * n to those of `rest`, a vector like the model; 0 for a value that was cut. */
void sl_encoding_rest_part(const struct sl_encoding *encoding, const struct sl_tensors *tensors,
			   const void *model, const void *base, size_t n, size_t first, size_t count,
			   void *rest);
/* Add such a vector of n elements to `model`; an element that would be no number stays as it is. */
void sl_encoding_add_rest(const struct sl_tensors *tensors, void *model, const void *rest, size_t n);

/* Decode the committed mean from Z (n+1 elements): centred(Z_l) / (scale * Z_n), or / scale for paper; of
 * int64, centred(Z_l) / Z_n, rounded to the nearest integer, halves to the even one; with values: update, B
 * plus that. `model` is not B. The bits are the same on every machine. Return SL_ERR_INVALID if the total
 * weight Z_n is 0 (weighted). */
int sl_encoding_decode(const struct sl_field *field, const struct sl_encoding *encoding,
		       const struct sl_tensors *tensors, const uint64_t *z, const void *base, size_t n,
		       void *model);
/* Decode the elements first .. first + count - 1 of the n alone, from the `count` elements `z`, to `part`,
 * which is their part of the model. total: Z_n. packed: all of Z, packed at the bits of p, for the lower
 * limbs; NULL without ranges. */
int sl_encoding_decode_part(const struct sl_field *field, const struct sl_encoding *encoding,
			    const struct sl_tensors *tensors, const uint64_t *z, const uint8_t *packed,
			    uint64_t total, const void *base, size_t n, size_t first, size_t count,
			    void *part);

/* Return the clipping range in force: of updates, the least power of two that is not below
 * encoding->clipping_range, from 2^-100 to 2^1023. */
double sl_encoding_range(const struct sl_encoding *encoding);
/* Return the quantization step, 1 / scale; with ranges, that of a tensor whose range is 1. */
double sl_encoding_step(const struct sl_encoding *encoding);
/* With ranges: return how the values of a tensor are encoded. */
struct sl_grid sl_encoding_grid(const struct sl_encoding *encoding, uint32_t tensor, enum sl_dtype dtype);
/* Return the quantization step of a tensor, of its last limb. */
double sl_encoding_step_of(const struct sl_encoding *encoding, uint32_t tensor, enum sl_dtype dtype);
/* With ranges: return the exponent of the range of a tensor; that of int64 has at least the bits of the
 * limbs.
 */
int sl_encoding_range_of(const struct sl_encoding *encoding, uint32_t tensor, enum sl_dtype dtype);
/* Return the digits of the scale: decimals or update_bits; make them `digits`. */
uint32_t sl_encoding_digits(const struct sl_encoding *encoding);
void sl_encoding_set_digits(struct sl_encoding *encoding, uint32_t digits);

/* Return the largest magnitude of an element of weight 1: rint(scale * clipping_range), which the encoder
 * makes of a parameter at the end of the range; with updates, 2^update_bits; of the sum with `paper`:
 * floor(scale * clipping_range). UINT64_MAX: no modulus holds it. */
uint64_t sl_encoding_largest(const struct sl_encoding *encoding);

/* What a modulus has to hold the sum of. */
struct sl_addends {
	uint64_t learners, max_weight;
	uint64_t n;	     /* parameters of a model, >= 1 */
	uint64_t largest_id; /* 0: of no importance */
};

/* Return true if p meets the bound p > 1 + 2*rint(scale*clipping_range)*M and p > M, where M = learners
 * * max_weight (paper: without M and rint in the first); PROTOCOL.md §4.5 Bounds on the modulus. Write to
 * `least` the smallest integer that meets it (saturating at UINT64_MAX), and to `digits_most` the largest
 * digits that this p allows (-1: none). Either may be NULL. */
bool sl_encoding_bound(uint64_t p, const struct sl_encoding *encoding, const struct sl_addends *addends,
		       uint64_t *least, int *digits_most);

/* Return the modulus for `auto`, of at most `bits_max` bits (PROTOCOL.md §4.5 Bounds on the modulus): the
 * smallest of the table that exceeds the bound by the spare bits; if none does, the largest that meets the
 * bound; 0 if there is none. */
uint64_t sl_encoding_modulus(const struct sl_encoding *encoding, const struct sl_addends *addends,
			     uint32_t bits_max);

/* Return the largest prime below 2^bits, SL_P_BITS_LEAST <= bits <= SL_P_BITS_MAX. */
uint64_t sl_encoding_prime(uint32_t bits);
