/* table.h - the loops in which the time goes, as one table for each instruction set. Private to math.
 *
 * Vectors are elements of Z_p unless said otherwise, and do not overlap. Every table computes the same bits.
 * What a plain loop does well enough stands in plain.h and is compiled for each set; the rest is written by
 * hand.
 */
#pragma once

#include "common/field/field.h"
#include "common/field/metropolis.h"

#define SL_KERNEL_BLOCK 512u /* elements that blocked loops take at a time: they stay in the first cache */
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

struct sl_kernels {
	const char *name;

	/* `blocks` blocks of the ChaCha20 key stream, nonce 0, from block `first` on. */
	void (*stream)(const uint8_t key[static SL_KEY_BYTES], uint64_t first, uint8_t *out, size_t blocks);
	/* Of `count` packed candidates (coins.h) those below p, in order, into out, which has room for all.
	 * How many. */
	size_t (*sift)(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out);

	/* s += v, s -= v. */
	void (*add)(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count);
	void (*subtract)(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count);
	/* s = w v, where v may be s, or s += w v (add). v may be sums of up to sl_kernels_rows_lazy elements,
	 * not reduced. */
	void (*multiply)(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count,
			 uint64_t w, bool add);

	/* The n weights of a point as the table's dot wants them: SL_DOT_WORDS n words, of which it may leave
	 * some alone. */
	void (*prepare)(const struct sl_field *field, const uint64_t *weights, size_t n, uint64_t *prepared);
	void (*dot)(const struct sl_dot *dot, uint64_t *const *out);

	/* total = sum of `rows` <= sl_kernels_rows_lazy packed vectors, not reduced: of their elements at ..
	 * at + count - 1, count <= SL_KERNEL_BLOCK. */
	void (*gather)(const struct sl_field *field, uint64_t *total, const uint8_t *const *packed,
		       uint32_t rows, size_t at, size_t count);
	/* The greatest of `count` packed numbers; which are added to s, if they are elements, or stored
	 * there. */
	uint64_t (*greatest)(const struct sl_field *field, const uint8_t *packed, size_t count);
	uint64_t (*take)(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count,
			 bool add);

	/* sl_metropolis_step. */
	void (*mix)(int64_t *state, size_t count, const uint8_t *const *states,
		    const struct sl_divisor *divisors, uint32_t degree);
};

extern const struct sl_kernels sl_kernels_portable, sl_kernels_avx2, sl_kernels_avx512;

/* Those in use. */
const struct sl_kernels *sl_kernels(void);

/* How many elements may be added up before they are multiplied: below 2^52 where p allows a few, else below
 * 2^64. */
static inline uint32_t sl_kernels_rows_lazy(const struct sl_field *field)
{
	uint64_t rows = (field->bits <= 48 ? (UINT64_C(1) << 52) : UINT64_MAX) / field->p;
	return rows < SL_LEARNERS_MAX ? (uint32_t)rows : SL_LEARNERS_MAX;
}
