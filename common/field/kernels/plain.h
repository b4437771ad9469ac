/* plain.h - the loops of table.h in plain C, compiled by each including file for its own instruction set.
 *
 * Every other kernel has to give the same bits. Each function is a field of struct sl_kernels.
 */
#pragma once

#include <endian.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/field/kernels/encode.h"
#include "common/field/kernels/strands.h"
#include "common/field/kernels/table.h"
#include "common/field/montgomery.h"

#define SL_PLAIN_WHOLE 26u /* bits of p up to which 2,000 products stay below 2^63 */
#define SL_PLAIN_INNER 27u /* bits of p up to which SL_KERNEL_BLOCK products stay below 2^64 */

static inline size_t sl_plain_block(size_t count, size_t at)
{
	return count - at < SL_KERNEL_BLOCK ? count - at : SL_KERNEL_BLOCK;
}

/* --- updates --- */

/* Return a double of |v| < 2^51: the doubles from 2^52 on are the integers. Few machines have this conversion
 * for vectors. */
static inline double sl_plain_double(int64_t v)
{
	uint64_t bits = (uint64_t)v + (UINT64_C(0x4338) << 48);
	double sum; /* 1.5 2^52 + v */
	memcpy(&sum, &bits, sizeof sum);
	return sum - 0x1.8p52;
}

/* Return a or b; without a branch, which would keep a loop from being vectorized. */
static inline float sl_plain_choose(bool first, float a, float b)
{
	uint32_t of_a, of_b;
	memcpy(&of_a, &a, sizeof a);
	memcpy(&of_b, &b, sizeof b);
	of_b ^= (of_a ^ of_b) & -(uint32_t)first;
	memcpy(&b, &of_b, sizeof b);
	return b;
}

static inline void sl_plain_decode(const struct sl_field *field, const struct sl_updates *updates,
				   const uint64_t *z, double weight, float *theta)
{
	const struct sl_field f = *field; /* which no store to theta can change */
	const struct sl_updates of = *updates;
	for (size_t l = 0; l < of.count; l++) {
		double mean = sl_plain_double(sl_field_centred(&f, z[l])) / weight;
		float to = (float)((double)of.base[l] + mean * of.step);
		theta[l] = sl_plain_choose(z[l] == 0, of.base[l], to);
	}
}

static inline void sl_plain_rest(const struct sl_updates *updates, const float *theta, float *rest)
{
	const struct sl_updates of = *updates;
	double scale = 1 / of.step;
	for (size_t l = 0; l < of.count; l++) {
		double u = (double)theta[l] - (double)of.base[l], steps = rint(u * scale);
		rest[l] = sl_plain_choose(!(fabs(steps) <= of.edge), 0, (float)(u - steps * of.step));
	}
}

/* --- randomness --- */

static inline void sl_plain_stream(const uint8_t key[static SL_KEY_BYTES], uint64_t nonce, uint64_t first,
				   uint8_t *out, size_t blocks)
{
	static const uint8_t zeros[2048]; /* what a stream holds (prg.h), so that one call does */
	uint8_t bytes[crypto_stream_chacha20_NONCEBYTES];
	nonce = htole64(nonce);
	memcpy(bytes, &nonce, sizeof bytes);
	for (size_t n; blocks > 0; blocks -= n, first += n, out += 64 * n) {
		n = blocks < sizeof zeros / 64 ? blocks : sizeof zeros / 64;
		crypto_stream_chacha20_xor_ic(out, zeros, 64 * n, bytes, first, key);
	}
}

/* Store every word; the next one overwrites a rejected one. A branch would be unpredictable for p just above
 * a power of two. */
static inline size_t sl_plain_keep(const struct sl_field *field, uint64_t *v, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		v[kept] = v[i];
		kept += v[kept] < field->p;
	}
	return kept;
}

static inline size_t sl_plain_sift_into(const struct sl_field *field, const uint8_t *packed, size_t count,
					uint64_t *out)
{
	uint64_t mask = UINT64_MAX >> (64 - field->bits), worst = 0;
	sl_bytes_unpack(out, packed, count, 8 * field->draw_bytes);
	for (size_t i = 0; i < count; i++) {
		out[i] &= mask;
		worst = out[i] > worst ? out[i] : worst;
	}
	return worst < field->p ? count : sl_plain_keep(field, out, count);
}

/* --- vectors --- */

static inline void sl_plain_add(const struct sl_field *field, uint64_t *restrict s,
				const uint64_t *restrict v, size_t count)
{
	for (size_t l = 0; l < count; l++)
		s[l] = sl_field_add(field, s[l], v[l]);
}

static inline void sl_plain_subtract(const struct sl_field *field, uint64_t *restrict s,
				     const uint64_t *restrict v, size_t count)
{
	for (size_t l = 0; l < count; l++)
		s[l] = sl_field_sub(field, s[l], v[l]);
}

/* As `sift` of the table, by a loop that writes to `out`. */
static inline __attribute__((always_inline)) size_t
sl_plain_draw(size_t (*sift)(const struct sl_field *, const uint8_t *, size_t, uint64_t *),
	      const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out,
	      enum sl_draw how)
{
	uint64_t drawn[SL_KERNEL_BLOCK];
	size_t kept = 0;
	if (how == SL_DRAW)
		return sift(field, packed, count, out);
	for (size_t at = 0, n; at < count; at += SL_KERNEL_BLOCK, kept += n) {
		n = sift(field, packed + at * field->draw_bytes, sl_plain_block(count, at), drawn);
		(how == SL_DRAW_ADD ? sl_plain_add : sl_plain_subtract)(field, out + kept, drawn, n);
	}
	sodium_memzero(drawn, (count < SL_KERNEL_BLOCK ? count : SL_KERNEL_BLOCK) * sizeof *drawn);
	return kept;
}

static inline size_t sl_plain_sift(const struct sl_field *field, const uint8_t *packed, size_t count,
				   uint64_t *out, enum sl_draw how)
{
	return sl_plain_draw(sl_plain_sift_into, field, packed, count, out, how);
}

static inline void sl_plain_multiply(const struct sl_field *field, uint64_t *s, const uint64_t *v,
				     size_t count, uint64_t w, bool add)
{
	struct sl_factor factor = sl_factor_of(field, w);
	for (size_t l = 0; l < count; l++) {
		uint64_t product = sl_factor_times(&factor, v[l]);
		s[l] = add ? sl_field_add(field, s[l], product) : product;
	}
}

/* --- sums of products --- */

static inline void sl_plain_prepare(const struct sl_field *field, const uint64_t *weights, size_t n,
				    uint64_t *prepared)
{
	struct sl_factor scale = sl_factor_of(field, (uint64_t)(((unsigned __int128)1 << 64) % field->p));
	for (size_t k = 0; k < n; k++)
		prepared[k] = sl_factor_times(&scale, weights[k]);
}

/* Return a w for factors below 2^32: the masks let the compiler use 32 x 32 -> 64 multiplications, several
 * per vector. */
static inline uint64_t sl_plain_times32(uint64_t a, uint64_t w)
{
	return (a & UINT32_MAX) * (w & UINT32_MAX);
}

/* Add the products of `rows` rows and their weights to out, p < 2^31. `spare` is 0, or the largest multiple
 * of p up to 2^62: it is taken away above itself, which keeps a sum below 2^62 + p, and with a product below
 * 2^63. */
static inline __attribute__((always_inline)) void sl_plain_add_products(const struct sl_dot *dot,
									const uint64_t *w, uint32_t k,
									uint32_t rows, uint64_t spare,
									uint64_t *restrict out)
{
	const uint64_t *restrict row = dot->rows + (size_t)(k - 1) * dot->stride;
	size_t stride = dot->stride, count = dot->count;
	for (size_t l = 0; l < count; l++) {
		uint64_t sum = out[l];
		for (uint32_t r = 0; r < rows; r++) {
			sum += sl_plain_times32(row[r * stride + l], w[k + r]);
			if (spare != 0)
				sum -= (int64_t)sum >= (int64_t)spare ? spare : 0;
		}
		out[l] = sum;
	}
}

static inline __attribute__((always_inline)) void
sl_plain_dot_small(const struct sl_dot *dot, const uint64_t *w, uint64_t spare, uint64_t *restrict out)
{
	uint64_t p = dot->field->p, minus_inverse = sl_montgomery_of(p).minus_inverse;
	size_t count = dot->count;
	uint32_t k = 1;
	for (size_t l = 0; l < count; l++)
		out[l] = sl_plain_times32(dot->first[l], w[0]);
	for (; k + 4 <= dot->terms; k += 4)
		sl_plain_add_products(dot, w, k, 4, spare, out);
	for (; k < dot->terms; k++)
		sl_plain_add_products(dot, w, k, 1, spare, out);
	for (size_t l = 0; l < count; l++) { /* Montgomery, by 2^32 at a time */
		uint64_t sum = out[l];
		sum = (sum + sl_plain_times32(sl_plain_times32(sum, minus_inverse), p)) >> 32;
		sum = (sum + sl_plain_times32(sl_plain_times32(sum, minus_inverse), p)) >> 32;
		out[l] = sl_factor_reduce(sum, p);
	}
}

/* For any p < 2^61 the sum stays below 2 p 2^64 < 2^126; one correction per run brings it below p 2^64. */
static inline uint64_t sl_plain_dot_one(const struct sl_dot *dot, const struct sl_montgomery *m,
					const uint64_t *w, size_t l)
{
	unsigned __int128 limit = (unsigned __int128)m->p << 64,
			  sum = (unsigned __int128)w[0] * dot->first[l];
	for (size_t k = 1; k < dot->terms;) {
		size_t end = dot->terms - k > m->run ? k + m->run : dot->terms;
		for (; k < end; k++)
			sum += (unsigned __int128)w[k] * dot->rows[(k - 1) * dot->stride + l];
		if (sum >= limit)
			sum -= limit;
	}
	return sl_montgomery_reduce(m, sum);
}

static inline void sl_plain_dot(const struct sl_dot *dot, uint64_t *const *out)
{
	struct sl_montgomery m = sl_montgomery_of(dot->field->p);
	uint64_t spare = (UINT64_C(1) << 62) / m.p * m.p;
	for (uint32_t r = 0; r < dot->points; r++) {
		const uint64_t *w = dot->weights + (size_t)r * SL_DOT_WORDS * dot->terms;
		if (dot->field->bits <= SL_PLAIN_WHOLE)
			sl_plain_dot_small(dot, w, 0, out[r]);
		else if (dot->field->bits <= 31)
			sl_plain_dot_small(dot, w, spare, out[r]);
		else
			for (size_t l = 0; l < dot->count; l++)
				out[r][l] = sl_plain_dot_one(dot, &m, w, l);
	}
}

static inline uint64_t sl_plain_inner27(const struct sl_field *field, const uint64_t *restrict a,
					const uint64_t *restrict b, size_t count)
{
	uint64_t sum = 0;
	for (size_t l = 0; l < count; l++)
		sum += sl_plain_times32(a[l], b[l]);
	return sum % field->p;
}

/* Products of 62 bits are added by halves of 32 bits, which the compiler vectorizes. */
static inline uint64_t sl_plain_inner32(const struct sl_field *field, const uint64_t *restrict a,
					const uint64_t *restrict b, size_t count)
{
	uint64_t low = 0, high = 0;
	for (size_t l = 0; l < count; l++) {
		uint64_t product = sl_plain_times32(a[l], b[l]);
		low += product & UINT32_MAX;
		high += product >> 32;
	}
	return (uint64_t)((((unsigned __int128)high << 32) + low) % field->p);
}

/* Sums of 64 products stay below 2^128. */
static inline uint64_t sl_plain_inner(const struct sl_field *field, const uint64_t *a, const uint64_t *b,
				      size_t count)
{
	unsigned __int128 low = 0, high = 0;
	assert(count <= SL_KERNEL_BLOCK);
	if (field->bits <= SL_PLAIN_INNER)
		return sl_plain_inner27(field, a, b, count);
	if (field->bits <= 32)
		return sl_plain_inner32(field, a, b, count);
	for (size_t l = 0; l < count;) {
		unsigned __int128 sum = 0;
		for (size_t end = count - l < 64 ? count : l + 64; l < end; l++)
			sum += (unsigned __int128)a[l] * b[l];
		low += (uint64_t)sum;
		high += (uint64_t)(sum >> 64);
	}
	high = high % field->p * (((unsigned __int128)1 << 64) % field->p) + low;
	return (uint64_t)(high % field->p);
}

/* --- packed vectors --- */

static inline void sl_plain_gather(const struct sl_field *field, uint64_t *restrict total,
				   const uint8_t *const *packed, uint32_t rows, size_t at, size_t count)
{
	uint64_t element[SL_KERNEL_BLOCK];
	size_t from = sl_packed_bytes(at, field->bits);
	assert(count <= SL_KERNEL_BLOCK);
	sl_bytes_unpack(total, packed[0] + from, count, field->bits);
	for (uint32_t r = 1; r < rows; r++) {
		sl_bytes_unpack(element, packed[r] + from, count, field->bits);
		for (size_t l = 0; l < count; l++)
			total[l] += element[l];
	}
}

static inline uint64_t sl_plain_magnitude(const struct sl_field *field, const uint64_t *z, size_t count)
{
	uint64_t p = field->p, most = 0;
	for (size_t l = 0; l < count; l++) {
		uint64_t magnitude = z[l] < p - z[l] ? z[l] : p - z[l];
		most = magnitude > most ? magnitude : most;
	}
	return most;
}

static inline uint64_t sl_plain_greatest(const struct sl_field *field, const uint8_t *packed, size_t count)
{
	uint64_t element[SL_KERNEL_BLOCK], greatest = 0;
	for (size_t at = 0; at < count; at += SL_KERNEL_BLOCK) {
		size_t n = sl_plain_block(count, at);
		sl_bytes_unpack(element, packed + sl_packed_bytes(at, field->bits), n, field->bits);
		for (size_t l = 0; l < n; l++)
			greatest = element[l] > greatest ? element[l] : greatest;
	}
	return greatest;
}

static inline uint64_t sl_plain_take(const struct sl_field *field, uint64_t *restrict s,
				     const uint8_t *packed, size_t count, bool add)
{
	uint64_t element[SL_KERNEL_BLOCK], greatest = 0;
	for (size_t at = 0; at < count; at += SL_KERNEL_BLOCK) {
		size_t n = sl_plain_block(count, at);
		sl_bytes_unpack(element, packed + sl_packed_bytes(at, field->bits), n, field->bits);
		for (size_t l = 0; l < n; l++) {
			greatest = element[l] > greatest ? element[l] : greatest;
			s[at + l] = add ? sl_field_add(field, s[at + l], element[l]) : element[l];
		}
	}
	sodium_memzero(element, (count < SL_KERNEL_BLOCK ? count : SL_KERNEL_BLOCK) *
					sizeof *element); /* it may be a share */
	return greatest;
}

/* --- mixing --- */

/* Add trunc((X_j - X_i) / d) to sum[l] for one neighbour j. */
static inline void sl_plain_mix_one(uint64_t *restrict sum, const uint64_t *restrict old,
				    const uint8_t *restrict wire, const struct sl_divisor *divisor,
				    size_t count)
{
	for (size_t l = 0; l < count; l++) {
		uint64_t v;
		memcpy(&v, wire + 8 * l, sizeof v);
		sum[l] += sl_metropolis_quotient(divisor, le64toh(v) - old[l]);
	}
}

static inline void sl_plain_mix(int64_t *state, size_t count, const uint8_t *const *states,
				const struct sl_divisor *divisors, uint32_t degree)
{
	uint64_t old[SL_KERNEL_BLOCK], sum[SL_KERNEL_BLOCK];
	for (size_t at = 0; at < count; at += SL_KERNEL_BLOCK) {
		size_t n = sl_plain_block(count, at);
		memcpy(old, state + at, n * sizeof *old);
		memcpy(sum, old, n * sizeof *sum);
		for (uint32_t r = 0; r < degree; r++)
			sl_plain_mix_one(sum, old, states[r] + 8 * at, &divisors[r], n);
		memcpy(state + at, sum, n * sizeof *sum);
	}
}

#define PLAIN_KERNELS                                                                                        \
	.encode = sl_plain_encode, .change = sl_plain_change, .decode = sl_plain_decode,                     \
	.rest = sl_plain_rest, .magnitude = sl_plain_magnitude, .stream = sl_plain_stream,                   \
	.sift = sl_plain_sift, .add = sl_plain_add, .subtract = sl_plain_subtract,                           \
	.multiply = sl_plain_multiply, .prepare = sl_plain_prepare, .inner = sl_plain_inner,                 \
	.dot = sl_plain_dot, .gather = sl_plain_gather, .greatest = sl_plain_greatest,                       \
	.take = sl_plain_take, .strands = sl_plain_strands, .mix = sl_plain_mix
