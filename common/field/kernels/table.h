/* table.h - the inner loops, as one table of functions per instruction set. Private to this room and to
 * common/dp, whose loops follow the same choice.
 *
 * Vectors are elements of Z_p unless stated otherwise, and do not overlap. Every table computes the same
 * bits. Loops that the compiler vectorizes well are in plain.h and compiled for each set; the others are
 * written by hand.
 */
#pragma once

#include "common/field/field.h"
#include "common/field/metropolis.h"
#include "common/field/vector_hash.h"

#define SL_KERNEL_BLOCK 512u /* elements per block of a blocked loop: they stay in the first-level cache */
#define SL_DOT_POINTS 3u     /* outputs of one dot */
#define SL_DOT_WORDS 4u	     /* a prepared weight, at most */

/* out[r][l] = sum over k < terms of weight[r][k] row_k[l]. */
struct sl_dot {
	const struct sl_field *field;
	uint32_t points, terms;	 /* 1 <= points <= SL_DOT_POINTS; terms <= SL_LEARNERS_MAX */
	const uint64_t *weights; /* prepared, point by point: each takes SL_DOT_WORDS terms words */
	const uint64_t *first;	 /* row 0 */
	const uint64_t *rows;	 /* rows 1.., `stride` elements apart */
	size_t stride, count;
};

#define SL_ENCODE_LANES 8u /* floats that the widest instruction set encodes at a time */

/* Up to SL_KERNEL_BLOCK floats. */
struct sl_floats {
	const struct sl_field *field;
	const float *theta, *base; /* base: NULL for zeros */
	size_t count;		   /* a multiple of SL_ENCODE_LANES */
	double scale, range;
	uint64_t weight; /* rint(range * scale) < 2^52, times weight, is at most (p-1)/2 */
};

/* What encoding has lost. */
struct sl_encoded {
	double loss;	   /* the largest error of rounding, times the scale */
	uint32_t vanished; /* values that are not 0 and are rounded to 0 */
};

/* Updates of floats in steps of `step`, a power of two, of which `edge` are the range. */
struct sl_updates {
	const float *base; /* B */
	size_t count;
	double step, edge;
};

enum sl_draw { SL_DRAW, SL_DRAW_ADD, SL_DRAW_SUBTRACT };

struct sl_kernels {
	const char *name;

	/* Encode the floats, weighted and rounded, and add to `encoded`. Return false if a |theta - base| is
	 * above the range or no number: x is then undefined, and nothing is added. */
	bool (*encode)(const struct sl_floats *floats, uint64_t *x, struct sl_encoded *encoded);

	/* Return the largest |a_l - b_l|; b: NULL for zeros. What is no number is left out. */
	double (*change)(const float *a, const float *b, size_t count);

	/* Set theta = B + centred(z) / weight * step, for p < 2^52. Each operation but the product, which is
	 * exact, is rounded once; of z = 0, B, also if that is -0. */
	void (*decode)(const struct sl_field *field, const struct sl_updates *updates, const uint64_t *z,
		       double weight, float *theta);
	/* Set `rest` to what rounding theta - B to steps leaves out; 0 of a value beyond the range. */
	void (*rest)(const struct sl_updates *updates, const float *theta, float *rest);

	/* Write `blocks` blocks of the ChaCha20 key stream of `nonce`, from block `first` on. */
	void (*stream)(const uint8_t key[static SL_KEY_BYTES], uint64_t nonce, uint64_t first, uint8_t *out,
		       size_t blocks);
	/* Write those of `count` packed candidates (prg.h) that are below p to `out`, in order, or add them
	 * to what is there, or subtract them; `out` has room for all. Return their number. */
	size_t (*sift)(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out,
		       enum sl_draw how);

	/* Return the largest |centred(z_l)|. */
	uint64_t (*magnitude)(const struct sl_field *field, const uint64_t *z, size_t count);

	/* Set s += v, s -= v. */
	void (*add)(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count);
	void (*subtract)(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count);
	/* Set s = w v, where v may be s, or s += w v (add). v may be sums of up to sl_kernels_rows_lazy
	 * elements, not reduced. */
	void (*multiply)(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count,
			 uint64_t w, bool add);

	/* Return the sum of a_l b_l mod p over count <= SL_KERNEL_BLOCK elements. */
	uint64_t (*inner)(const struct sl_field *field, const uint64_t *a, const uint64_t *b, size_t count);

	/* Write the n weights of a point in the form that `dot` reads: SL_DOT_WORDS n words, some of which
	 * may be unused. */
	void (*prepare)(const struct sl_field *field, const uint64_t *weights, size_t n, uint64_t *prepared);
	void (*dot)(const struct sl_dot *dot, uint64_t *const *out);

	/* Set `total` to the sum, not reduced, of `rows` <= sl_kernels_rows_lazy packed vectors over their
	 * elements at .. at + count - 1, count <= SL_KERNEL_BLOCK; `at` is a multiple of 8. */
	void (*gather)(const struct sl_field *field, uint64_t *total, const uint8_t *const *packed,
		       uint32_t rows, size_t at, size_t count);
	/* Return the greatest of `count` packed numbers. `take` also adds them to s (add) or stores them
	 * there. */
	uint64_t (*greatest)(const struct sl_field *field, const uint8_t *packed, size_t count);
	uint64_t (*take)(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count,
			 bool add);

	/* Hash a block of every strand (vector_hash.h) into the states h; with it, `bytes` of each are
	 * hashed. */
	void (*strands)(uint64_t (*h)[SL_STRANDS], const uint8_t *block, uint64_t bytes, bool last);

	/* As sl_metropolis_step. */
	void (*mix)(int64_t *state, size_t count, const uint8_t *const *states,
		    const struct sl_divisor *divisors, uint32_t degree);
};

extern const struct sl_kernels sl_kernels_portable, sl_kernels_avx2, sl_kernels_avx512;

/* Return the table in use. */
const struct sl_kernels *sl_kernels(void);

/* Return the number of elements that may be added before they are multiplied: their sum stays below 2^52 if p
 * allows a few, otherwise below 2^64. */
static inline uint32_t sl_kernels_rows_lazy(const struct sl_field *field)
{
	uint64_t rows = (field->bits <= 48 ? (UINT64_C(1) << 52) : UINT64_MAX) / field->p;
	return rows < SL_LEARNERS_MAX ? (uint32_t)rows : SL_LEARNERS_MAX;
}
