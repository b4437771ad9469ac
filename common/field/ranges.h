/* ranges.h - the range of each tensor, from which its quantization step follows, with values: update
 * (PROTOCOL.md §4.3 Ranges of the tensors).
 *
 * The committed result has, after the model, one exponent e for each tensor (int16, little-endian): the next
 * round encodes an update of that tensor in steps of 2^(e - bits), up to 2^e. A vector
 * has SL_MAGNITUDES more elements for each tensor. In one of them, chosen by the size of its update, a
 * learner has 1; from the sums all learners compute the next exponents.
 *
 *   x = | n values | lower limbs of small tensors and of int64 | SL_MAGNITUDES counts by tensor | weight |
 */
#pragma once

#include "common/base/tensors.h"

#define SL_MAGNITUDES 16u
#define SL_RANGE_LEAST (-960) /* so that every step, and its inverse, is a double */
#define SL_RANGE_MOST 1020
#define SL_LIMBS_INTEGER 4u /* of int64 */
#define SL_LIMBS_FINE 2u    /* of small tensors of floats, and of non-negative ones, such as variances */
#define SL_LIMBS_BITS 60u   /* of all limbs of a value */

/* The layout of the vectors, which follows from the tensors alone. */
struct sl_ranges {
	uint32_t count; /* of tensors; 0: values: model, without ranges */
	uint8_t *limbs; /* by tensor, >= 1 */
	uint64_t lower; /* elements of all lower limbs */
	uint64_t *most; /* by tensor: largest |centred(Z_l)| of the first limbs of the last Z */
	int16_t *next;	/* by tensor: exponent of the result that the last Z decodes to */
	uint8_t *own;	/* by tensor: magnitude of the own update; secret */
};

/* Return the number of tensors: 1 for a model without a list. */
static inline uint32_t sl_ranges_count(const struct sl_tensors *tensors)
{
	return tensors == NULL || tensors->count == 0 ? 1 : tensors->count;
}
/* Return the bytes of memory that *ranges of these tensors takes. */
size_t sl_ranges_memory(const struct sl_tensors *tensors);
/* Set *ranges for a model of n elements, with its arrays in `memory`. Small are the tensors with the fewest
 * elements, as many as have together at most 1/64 of the model, or 1024 elements. */
void sl_ranges_set(struct sl_ranges *ranges, const struct sl_tensors *tensors, size_t n, void *memory);

/* Return the elements that vectors have beside n values and the weight. */
static inline uint64_t sl_ranges_extra(const struct sl_ranges *ranges)
{
	return ranges->lower + (uint64_t)SL_MAGNITUDES * ranges->count;
}
/* Return the element with the first count of tensor `k`, in vectors of n values. */
static inline size_t sl_ranges_counts_at(const struct sl_ranges *ranges, size_t n, uint32_t k)
{
	return n + (size_t)ranges->lower + (size_t)SL_MAGNITUDES * k;
}
/* Return the bytes of the exponents. */
static inline size_t sl_ranges_bytes(const struct sl_ranges *ranges)
{
	return ranges->count * sizeof(int16_t);
}

/* A value in limbs: an integer of `bits` + lower bits, of which the first limb has `bits` and each other one
 * `lower`. Each limb is the nearest to what is left, so that it may be negative. */
struct sl_limbs {
	uint32_t count, bits, lower;
};
struct sl_limbs sl_ranges_limbs(uint32_t count, uint32_t bits);
/* Return the bits below limb `limb`. */
static inline uint32_t sl_limbs_below(const struct sl_limbs *limbs, uint32_t limb)
{
	return limbs->lower * (limbs->count - 1 - limb);
}
/* Return limb `limb` of `whole`, |whole| <= 2^SL_LIMBS_BITS. */
int64_t sl_ranges_limb(const struct sl_limbs *limbs, int64_t whole, uint32_t limb);

/* How the values of a tensor are encoded: in steps of 2^step, of which `edge` are the range. */
struct sl_grid {
	struct sl_limbs limbs;
	int step;
	int64_t edge;
};
/* Return that of a tensor with `limbs` limbs, the range 2^exponent and `bits` in the first limb. The step of
 * int64 is at least 1. */
struct sl_grid sl_ranges_grid(uint32_t limbs, int exponent, uint32_t bits, enum sl_dtype dtype);

/* Return the least e with |value| <= 2^e; value: finite, not 0. */
int sl_ranges_above(double value);
/* Return the magnitude of an update, whose largest absolute value is `most`, relative to the range 2^range: 0
 * for 0, then 1 up to 2^(range - 24), and 15 above 2^(range + 2). */
uint32_t sl_ranges_magnitude(double most, int range);

/* What is known of a tensor when Z is. */
struct sl_range_sums {
	uint64_t counts[SL_MAGNITUDES]; /* of the learners by magnitude */
	uint64_t most;			/* largest |centred(Z_l)| of the first limbs */
	uint64_t weight;		/* Z_n */
	uint32_t learners;		/* N */
	uint32_t backed;		/* c + 1 */
};
#define SL_RANGE_NONE INT16_MAX
/* Return the exponent for the next round, of a tensor whose range was 2^range with `bits` bits. */
int16_t sl_ranges_next(const struct sl_range_sums *sums, int range, uint32_t bits);
/* Return the exponent after a round of whole models with the step 2^step: 2^8 times the largest mean;
 * SL_RANGE_NONE if all are 0. */
int16_t sl_ranges_first(const struct sl_range_sums *sums, int step);
/* Return that of an initial tensor whose largest absolute value is `most`. */
int16_t sl_ranges_of_values(double most);
/* Complete the exponents of values: replace each SL_RANGE_NONE by the largest of the others, or by 0 if there
 * is none. Tensors with several limbs have bits to spare for updates that are larger than their values: 30,
 * as a variance of raw values may grow 2^32 times in the first round; 12 if they are zeros. */
void sl_ranges_complete(const struct sl_ranges *ranges, int16_t *exponents);
