/* ranges.h - how each tensor of a model is encoded: the layout of vectors, and the ranges from which the
 * quantization steps of updates follow (ROUND.md §4.3 Limbs and ranges).
 *
 * Two kinds of rounds have limbs. In an exact round all values are sent as they are (exact.h). In a ranged
 * round updates are: the committed result has, after the model, one exponent e for each tensor (int16,
 * little-endian), and the next round encodes an update of that tensor in steps of 2^(e - bits of all its
 * limbs), up to 2^e. Its vector has SL_MAGNITUDES more elements for each tensor. In one of them, chosen by
 * the size of its update, a learner has 1; from the sums all learners compute the next exponents.
 *
 *   x = | n first limbs | lower limbs | SL_MAGNITUDES counts by tensor, of a ranged round | weight |
 */
#pragma once

#include "common/base/tensors.h"
#include "common/field/exact.h"

#define SL_MAGNITUDES 16u
#define SL_RANGE_LEAST (-960) /* so that every step, and its inverse, is a double */
#define SL_RANGE_MOST 1020
#define SL_RANGE_FIRST_ROOM 8  /* bits above the values of a model, whose updates are not known yet */
#define SL_LIMBS_BITS 60u      /* of all limbs of an update */
#define SL_EXACT_BITS 32u      /* of a limb in an exact round, if the modulus holds them, .. */
#define SL_EXACT_BITS_LEAST 8u /* .. and that it must hold */

/* What the limbs of a tensor depend on. */
enum sl_tensor_class {
	SL_CLASS_PLAIN,	      /* floats */
	SL_CLASS_SMALL,	      /* small tensors of floats */
	SL_CLASS_NONNEGATIVE, /* other non-negative tensors of floats, such as second moments */
	SL_CLASS_METRIC,      /* numbers that are no updates: exact in each round */
	SL_CLASS_INTEGER,     /* int64: exact in each round */
	SL_CLASS_COUNT
};

/* The layout of the vectors, which follows from the tensors alone. */
struct sl_layout {
	uint64_t n;
	uint32_t tensors;		   /* 0: no round has limbs */
	uint64_t elements[SL_CLASS_COUNT]; /* of all tensors of a class */
};

struct sl_ranges {
	struct sl_layout layout;
	uint32_t count;			    /* of tensors; 0: values: model, with decimals */
	uint8_t *class;			    /* by tensor: enum sl_tensor_class */
	uint64_t (*before)[SL_CLASS_COUNT]; /* by tensor: elements of each class before it */
	uint64_t *most; /* by tensor: largest |centred(Z_l)| of the first limbs of the last Z */
	double *value;	/* by tensor: largest absolute value that the last Z decodes to */
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
 * elements, as many as have together at most 1/192 of the model, or 1024 elements. */
void sl_ranges_set(struct sl_ranges *ranges, const struct sl_tensors *tensors, size_t n, void *memory);

/* Return the limbs of an update of a tensor of `class`; 0: it is exact. */
static inline uint32_t sl_ranges_limb_count(enum sl_tensor_class class)
{
	static const uint8_t limbs[SL_CLASS_COUNT] = {
		[SL_CLASS_PLAIN] = 1, [SL_CLASS_SMALL] = 5, [SL_CLASS_NONNEGATIVE] = 3};
	return limbs[class];
}
/* Return true if the tensors of `class` are exact in a ranged round, too. */
static inline bool sl_ranges_always_exact(enum sl_tensor_class class)
{
	return sl_ranges_limb_count(class) == 0;
}
/* Return how the exact values of a tensor of `class` are encoded, in a model of n elements. */
struct sl_exact sl_ranges_exact(enum sl_tensor_class class, uint64_t n, uint32_t limb_bits);
/* Return the elements of all lower limbs, with `bits` in the first limb. */
uint64_t sl_ranges_lower(const struct sl_layout *layout, bool ranged, uint32_t bits);
/* Return those of the tensors before tensor `k`. */
uint64_t sl_ranges_lower_before(const struct sl_ranges *ranges, bool ranged, uint32_t bits, uint32_t k);
/* Return the last tensor whose lower limbs begin at the lower limb `at` or before it. */
uint32_t sl_ranges_lower_tensor(const struct sl_ranges *ranges, bool ranged, uint32_t bits, size_t at);
/* Return the elements that vectors have beside n values and the weight. */
static inline uint64_t sl_layout_extra(const struct sl_layout *layout, bool ranged, uint32_t bits)
{
	return sl_ranges_lower(layout, ranged, bits) +
	       (ranged ? (uint64_t)SL_MAGNITUDES * layout->tensors : 0);
}
/* Return the element with the first count of tensor `k` in vectors of a ranged round. */
static inline size_t sl_ranges_counts_at(const struct sl_ranges *ranges, uint32_t bits, uint32_t k)
{
	return (size_t)(ranges->layout.n + sl_ranges_lower(&ranges->layout, true, bits)) +
	       (size_t)SL_MAGNITUDES * k;
}
/* Return the bytes of the exponents. */
static inline size_t sl_ranges_bytes(const struct sl_ranges *ranges)
{
	return ranges->count * sizeof(int16_t);
}

/* An update in limbs: an integer of `bits` + lower bits, of which the first limb has `bits` and each other
 * one `lower`. Each limb is the nearest to what is left, so that it may be negative. */
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

/* How the updates of a tensor are encoded: in steps of 2^step, of which `edge` are the range. */
struct sl_grid {
	struct sl_limbs limbs;
	int step;
	int64_t edge;
};
/* Return that of a tensor with the range 2^exponent and `bits` in the first of `limbs` limbs. */
struct sl_grid sl_ranges_grid(uint32_t limbs, int exponent, uint32_t bits);

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
/* Return the exponent for the next round, of a tensor whose range was 2^range with `bits` bits. */
int16_t sl_ranges_next(const struct sl_range_sums *sums, int range, uint32_t bits);
/* Set the exponents after an exact round, or of an initial model, from the largest absolute values `most` of
 * the tensors: ranges are 2^8 times as large; those of zeros are the largest of the others. Tensors with
 * several limbs have bits to spare for updates that are larger than their values: 30, as a variance of raw
 * values may grow 2^32 times in the first round, but no more than up to 2^38; 12 if they are zeros, and none
 * if they are declared non-negative, too. Exact tensors have the exponent 0. */
void sl_ranges_first(const struct sl_ranges *ranges, const struct sl_tensors *tensors, const double *most,
		     int16_t *exponents);
