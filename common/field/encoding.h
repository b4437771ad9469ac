/* encoding.h - models to field elements and back (ROUND.md §4.2 Encoding, §4.6 Decoding).
 *
 * weighted: m times an integer, mod p; the last element m.
 *           values: model, with decimals   x_l = m * rint(theta_l * 10^decimals); of an int64, m * theta_l
 *           exact round                    m * the limbs of theta_l (exact.h)
 *           ranged round                   m * the limbs of rint((theta_l - B_l) / step) (ranges.h), B:
 *                                          the committed model, 2^e the range of the tensor, beyond which
 *                                          an update is cut
 *           ranges.h says what else a vector with limbs has.
 *           noisy                          floor(v_l / step + u_l), u uniform, or rint(factor v_l / step);
 *                                          v: theta, or theta - B where updates are summed. Cut to `most`;
 *                                          zeros if m, which is 0 or 1, is 0. The caller adds the noise.
 *
 * paper:    x_l = trunc(10^decimals * w * theta_l) mod p from the exact rational w = m / m_total (the
 *           paper's), x_n = 0; int64 and limbs are refused.
 *
 * Products are exact and are rounded once, ties to even: every machine comes to the same elements.
 */
#pragma once

#include "common/base/tensors.h"
#include "common/field/field.h"
#include "common/field/ranges.h"

enum sl_encoding_kind { SL_ENCODING_WEIGHTED, SL_ENCODING_PAPER };
/* MODEL: with decimals; UPDATE: ranged rounds, the first one exact without an initial model; EXACT: each
 * round is exact; NOISY, NOISY_UPDATE: models and updates that noise is added to. */
enum sl_values {
	SL_VALUES_MODEL,
	SL_VALUES_UPDATE,
	SL_VALUES_EXACT,
	SL_VALUES_NOISY,
	SL_VALUES_NOISY_UPDATE,
};

static inline bool sl_values_have_limbs(uint64_t values)
{
	return values == SL_VALUES_UPDATE || values == SL_VALUES_EXACT;
}
static inline bool sl_values_are_noisy(uint64_t values)
{
	return values >= SL_VALUES_NOISY;
}

/* How vectors that noise is added to are encoded (ROUND.md §4.9 Noise). */
struct sl_noisy {
	int step;	       /* 2^step */
	uint64_t most, room;   /* largest magnitude of an element, and of a share of noise */
	double factor;	       /* own: the vector is scaled by it */
	const uint8_t *dither; /* own: SL_KEY_BYTES, the key of u, for this vector alone; NULL: no dither */
};

struct sl_encoding {
	enum sl_encoding_kind kind;
	enum sl_values values;
	uint32_t decimals;     /* model: decimal digits, <= SL_DECIMALS_MAX */
	uint32_t update_bits;  /* with limbs: bits of the first one, <= SL_UPDATE_BITS_MAX */
	double clipping_range; /* model: |theta| <= clipping_range; of int64, clipping_range * 10^decimals */
	bool clamp;	       /* clipping: clamp and count instead of refusing */
	uint64_t weight;       /* m_i; 0: the model does not count */
	uint64_t weight_total; /* paper only: sum of all m_j, known in advance */
	const struct sl_ranges *ranges; /* with limbs: layout and own magnitudes */
	const int16_t *exponents;	/* of the ranges of the tensors, e; NULL: exact round */
	struct sl_noisy noisy;
};

/* Return true if values have limbs: in ranged and in exact rounds. */
static inline bool sl_encoding_has_limbs(const struct sl_encoding *encoding)
{
	return sl_values_have_limbs(encoding->values);
}
static inline bool sl_encoding_is_noisy(const struct sl_encoding *encoding)
{
	return sl_values_are_noisy(encoding->values);
}
/* Return true if tensor `tensor` is exact. */
static inline bool sl_encoding_is_exact(const struct sl_encoding *encoding, uint32_t tensor)
{
	return encoding->exponents == NULL ||
	       sl_ranges_always_exact((enum sl_tensor_class)encoding->ranges->class[tensor]);
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

/* Return the elements of a vector: n and the weight, and with limbs those in between. */
static inline uint64_t sl_encoding_elements(const struct sl_encoding *encoding, size_t n)
{
	return n + 1 +
	       (!sl_encoding_has_limbs(encoding)
			? 0
			: sl_layout_extra(&encoding->ranges->layout, encoding->exponents != NULL,
					  encoding->update_bits));
}

/* Encode the n elements of `model`, which consists of `tensors` (NULL: of float32): the elements first ..
 * first + count - 1 of sl_encoding_elements, into `count` elements `x`. base: B; of a ranged round. Return
 * SL_ERR_INVALID for a NaN or an infinity, and for int64 with `paper`; SL_ERR_RANGE for a value
 * beyond the clipping range, or too large for the field or for its limbs (note->index and note->value name
 * the coordinate); no value ever wraps. After an error x is unspecified. The note is of these elements. */
int sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *encoding,
			    const struct sl_tensors *tensors, const void *model, const void *base, size_t n,
			    size_t first, size_t count, uint64_t *x, struct sl_encode_note *note);

/* The same of a vector that noise is added to; SL_ERR_INVALID for a NaN or an infinity, and nothing else is
 * refused. base: B, or NULL. */
int sl_encoding_noisy_part(const struct sl_field *field, const struct sl_encoding *encoding,
			   const struct sl_tensors *tensors, const void *model, const void *base, size_t n,
			   size_t first, size_t count, uint64_t *x, struct sl_encode_note *note);

/* Of a ranged round: write what rounding leaves out of the update in the elements first .. first + count - 1
 * of the n to those of `rest`, a vector like the model; 0 for a value that was cut, and of exact tensors. */
void sl_encoding_rest_part(const struct sl_encoding *encoding, const struct sl_tensors *tensors,
			   const void *model, const void *base, size_t n, size_t first, size_t count,
			   void *rest);
/* Return the largest |a_l - b_l|; b: NULL for zeros. What is no number is left out. */
double sl_encoding_change(const float *a, const float *b, size_t count);
/* Add such a vector of n elements to `model`; an element that would be no number stays as it is. */
void sl_encoding_rest_add(const struct sl_tensors *tensors, void *model, const void *rest, size_t n);

/* Decode the committed mean from Z: the elements first .. first + count - 1 of the n, from the `count`
 * elements `z`, to `part`, which is their part of the model. Without limbs: centred(Z_l) / (10^decimals *
 * Z_n), or / 10^decimals for paper; of int64, centred(Z_l) / Z_n, rounded to the nearest integer, halves to
 * the even one. The bits are the same on every machine. total: Z_n. packed: all of Z, packed at the bits of
 * p, for the lower limbs; NULL without limbs. base: B; of a ranged round, where the mean of the updates is
 * added to it. Return SL_ERR_INVALID if the total weight is 0 (weighted). */
int sl_encoding_decode_part(const struct sl_field *field, const struct sl_encoding *encoding,
			    const struct sl_tensors *tensors, const uint64_t *z, const uint8_t *packed,
			    uint64_t total, const void *base, size_t n, size_t first, size_t count,
			    void *part);

/* Return the factor, at most 1, with which a vector of n elements, rounded, has at most `norm` steps; 0 for
 * one that is not finite. The norm of the integers is compared exactly. */
double sl_encoding_factor(const struct sl_encoding *encoding, const struct sl_tensors *tensors,
			  const void *model, const void *base, size_t n, double norm);

/* Return the quantization step: of noisy vectors, 2^step; 10^-decimals; of a ranged round, as a part of a
 * range; of an exact one, 0. */
double sl_encoding_step(const struct sl_encoding *encoding);
/* Return how the updates of a tensor that is not exact are encoded in a ranged round. */
struct sl_grid sl_encoding_grid(const struct sl_encoding *encoding, uint32_t tensor);
/* Return how the values of an exact tensor are encoded. */
struct sl_exact sl_encoding_exact(const struct sl_encoding *encoding, uint32_t tensor);
/* With limbs: return how many a value of a tensor has. */
uint32_t sl_encoding_limbs(const struct sl_encoding *encoding, uint32_t tensor);
/* Return the digits of the scale: decimals or update_bits; make them `digits`. */
uint32_t sl_encoding_digits(const struct sl_encoding *encoding);
void sl_encoding_set_digits(struct sl_encoding *encoding, uint32_t digits);

/* Return the largest magnitude of an element of weight 1: rint(10^decimals * clipping_range), which the
 * encoder makes of a parameter at the end of the range; with limbs, 2^update_bits; of the sum with `paper`:
 * floor(10^decimals * clipping_range); noisy: with the room for a share of noise. UINT64_MAX: no modulus
 * holds it. */
uint64_t sl_encoding_largest(const struct sl_encoding *encoding);

/* What a modulus has to hold the sum of. */
struct sl_addends {
	uint64_t learners, max_weight;
	uint64_t n;	     /* parameters of a model, >= 1 */
	uint64_t largest_id; /* 0: of no importance */
};

/* Return true if p meets the bound p > 1 + 2*largest*M and p > M, where M = learners
 * * max_weight (paper: without M and rint in the first); ROUND.md §4.5 Bounds on the modulus. Write to
 * `least` the smallest integer that meets it (saturating at UINT64_MAX), and to `digits_most` the largest
 * digits that this p allows (-1: none). Either may be NULL. */
bool sl_encoding_bound(uint64_t p, const struct sl_encoding *encoding, const struct sl_addends *addends,
		       uint64_t *least, int *digits_most);

/* Return the modulus for `auto`, of at most `bits_max` bits (ROUND.md §4.5 Bounds on the modulus): the
 * smallest of the table that exceeds the bound by the spare bits; if none does, the largest that meets the
 * bound; 0 if there is none. */
uint64_t sl_encoding_modulus(const struct sl_encoding *encoding, const struct sl_addends *addends,
			     uint32_t bits_max);

/* Return the most digits (decimals or update_bits), up to those of `encoding`, that `p` holds; p = 0: for
 * which sl_encoding_modulus finds a prime of at most `bits_max` bits. Those of `encoding` if there are none.
 */
uint32_t sl_encoding_lower(uint64_t p, const struct sl_encoding *encoding, const struct sl_addends *addends,
			   uint32_t bits_max);

/* Return the largest prime below 2^bits, SL_P_BITS_LEAST <= bits <= SL_P_BITS_MAX. */
uint64_t sl_encoding_prime(uint32_t bits);
