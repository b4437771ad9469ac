#include "common/math/share.h"

#include <assert.h>
#include <sodium.h>

#define BLOCK 256u	    /* coordinates done at a time: 20 rows of coefficients are 40 KiB */
#define STRIDE (BLOCK + 8u) /* not a power of two: one coordinate's column would fall into one cache set */

/* A constant factor w with floor(w 2^64 / p): a product mod p without a division (Shoup). */
struct factor {
	uint64_t w, scaled, p;
};

static struct factor factor_of(const struct sl_field *field, uint64_t w)
{
	return (struct factor){w, (uint64_t)(((unsigned __int128)w << 64) / field->p), field->p};
}

/* a w mod p, or that plus p; a may be any 64-bit number. */
static inline uint64_t times_lazy(const struct factor *f, uint64_t a)
{
	uint64_t q = (uint64_t)((unsigned __int128)a * f->scaled >> 64);
	return a * f->w - q * f->p;
}

static inline uint64_t reduce_once(uint64_t a, uint64_t p)
{
	return a >= p ? a - p : a;
}

/* delta_r = prod over j != r of point_j / (point_j - point_r): the weight of point r at 0. */
static uint64_t lagrange(const struct sl_sharing *sharing, uint32_t r)
{
	const struct sl_field *field = &sharing->field;
	uint64_t top = 1, bottom = 1;
	for (uint32_t j = 0; j <= sharing->degree; j++) {
		if (j == r)
			continue;
		top = sl_mul(field, top, sharing->points[j]);
		bottom = sl_mul(field, bottom, sl_sub(field, sharing->points[j], sharing->points[r]));
	}
	return sl_mul(field, top, sl_inverse(field, bottom));
}

static bool points_valid(const struct sl_sharing *sharing)
{
	for (uint32_t r = 0; r <= sharing->degree; r++) {
		if (sharing->points[r] == 0 || sharing->points[r] >= sharing->field.p)
			return false;
		for (uint32_t j = 0; j < r; j++)
			if (sharing->points[j] == sharing->points[r])
				return false;
	}
	return true;
}

int sl_sharing_init(struct sl_sharing *sharing, const struct sl_field *field, sl_id self,
		    const sl_id *neighbours, uint32_t degree, struct sl_arena *arena)
{
	if (degree == 0)
		return SL_ERR_INVALID;
	size_t mark = sl_arena_mark(arena), points = (size_t)degree + 1;
	*sharing = (struct sl_sharing){.field = *field, .degree = degree};
	sharing->points = SL_TAKE(arena, points, sl_id);
	sharing->delta = SL_TAKE(arena, points, uint64_t);
	if (sharing->points == NULL || sharing->delta == NULL) {
		sl_arena_reset(arena, mark);
		return SL_ERR_NOMEM;
	}
	for (uint32_t r = 0; r < degree; r++)
		sharing->points[r] = neighbours[r];
	sharing->points[degree] = self;
	if (!points_valid(sharing)) {
		sl_arena_reset(arena, mark);
		return SL_ERR_INVALID;
	}
	for (uint32_t r = 0; r <= degree; r++)
		sharing->delta[r] = lagrange(sharing, r);
	return SL_OK;
}

void sl_share_evaluate(const struct sl_sharing *sharing, uint32_t r, const uint64_t *x,
		       const uint64_t *coefficients, size_t stride, size_t count, uint64_t *h)
{
	assert(r <= sharing->degree);
	uint64_t p = sharing->field.p;
	struct factor point = factor_of(&sharing->field, sharing->points[r]);
	for (size_t l = 0; l < count; l++) {
		uint64_t sum = 0; /* Horner, lazily: below 3p < 2^63 throughout */
		for (size_t k = sharing->degree; k-- > 0;)
			sum = times_lazy(&point, sum + coefficients[k * stride + l]);
		h[l] = reduce_once(reduce_once(sum + x[l], p), p);
	}
}

size_t sl_share_scratch(uint32_t degree)
{
	return (size_t)degree * STRIDE + degree +
	       1; /* a block of every coefficient, and the weights of one point */
}

/* weights[k] = scale delta_r point_r^k: the weighted share of point r is their product with (x, c_1, ..,
 * c_tau). */
static void weigh(const struct sl_sharing *sharing, uint32_t r, uint64_t scale, uint64_t *weights)
{
	uint64_t p = sharing->field.p;
	struct factor point = factor_of(&sharing->field, sharing->points[r]);
	weights[0] = sl_mul(&sharing->field, sharing->delta[r], scale);
	for (uint32_t k = 1; k <= sharing->degree; k++)
		weights[k] = reduce_once(times_lazy(&point, weights[k - 1]), p);
}

static inline uint64_t fold31(uint64_t a)
{
	return (a & SL_P_MERSENNE31) + (a >> 31);
}

/* Below 2^31: the cast lets the compiler use a 32 x 32 -> 64 multiplication, two or more to a vector. */
static inline uint64_t times31(uint64_t a, uint64_t w)
{
	return (a & UINT32_MAX) * (w & UINT32_MAX);
}

/* One fold for three products: 2^33 + 2^31 + 3 * 2^62 < 2^64. */
static void combine31(const uint64_t *weights, uint32_t degree, const uint64_t *restrict x,
		      const uint64_t *restrict rows, size_t count, uint64_t *restrict out)
{
	uint32_t k = 0;
	for (size_t l = 0; l < count; l++)
		out[l] = times31(x[l], weights[0]);
	for (; k + 3 <= degree; k += 3) {
		const uint64_t *a = rows + (size_t)k * STRIDE, *b = a + STRIDE, *c = b + STRIDE;
		uint64_t u = weights[k + 1], v = weights[k + 2], w = weights[k + 3];
		for (size_t l = 0; l < count; l++)
			out[l] = fold31(out[l]) + times31(a[l], u) + times31(b[l], v) + times31(c[l], w);
	}
	for (; k < degree; k++) {
		const uint64_t *a = rows + (size_t)k * STRIDE;
		for (size_t l = 0; l < count; l++)
			out[l] = fold31(out[l]) + times31(a[l], weights[k + 1]);
	}
	for (size_t l = 0; l < count; l++)
		out[l] = reduce_once(fold31(fold31(out[l])), SL_P_MERSENNE31);
}

/* Montgomery: what p needs for T / 2^64 mod p. */
struct montgomery {
	uint64_t p;
	uint64_t minus_inverse; /* -1/p mod 2^64 */
	uint64_t run; /* products that may be added between two corrections: run * p^2 <= p * 2^64 */
};

static struct montgomery montgomery_of(uint64_t p)
{
	uint64_t inverse = p; /* right in 3 bits; each step doubles them */
	for (int i = 0; i < 5; i++)
		inverse *= 2 - p * inverse;
	return (struct montgomery){.p = p, .minus_inverse = -inverse, .run = UINT64_MAX / p};
}

/* T < p 2^64, to below p. */
static inline uint64_t montgomery_reduce(const struct montgomery *m, unsigned __int128 t)
{
	uint64_t u = (uint64_t)t * m->minus_inverse;
	return reduce_once((uint64_t)((t + (unsigned __int128)u * m->p) >> 64), m->p);
}

/* Any p < 2^61: the sum stays below 2 p 2^64 < 2^126, one correction per run brings it below p 2^64. */
static void combine(const struct montgomery *m, const uint64_t *weights, uint32_t degree, const uint64_t *x,
		    const uint64_t *rows, size_t count, uint64_t *out)
{
	unsigned __int128 limit = (unsigned __int128)m->p << 64;
	for (size_t l = 0; l < count; l++) {
		unsigned __int128 sum = (unsigned __int128)weights[0] * x[l];
		for (size_t k = 0; k < degree;) {
			size_t end = degree - k > m->run ? k + m->run : degree;
			for (; k < end; k++)
				sum += (unsigned __int128)weights[k + 1] * rows[k * STRIDE + l];
			if (sum >= limit)
				sum -= limit;
		}
		out[l] = montgomery_reduce(m, sum);
	}
}

/* Algorithm 1 and its Lagrange weights in one product; the same numbers as delta_r * sl_share_evaluate. */
static void shamir(const struct sl_sharing *sharing, const struct montgomery *m, const uint64_t *x, size_t at,
		   size_t count, uint64_t *const *shares, uint64_t *rows, uint64_t *weights)
{
	bool fast = sharing->field.mersenne31;
	uint64_t scale = fast ? 1 : (uint64_t)(((unsigned __int128)1 << 64) % sharing->field.p);
	for (uint32_t r = 0; r <= sharing->degree; r++) {
		weigh(sharing, r, scale, weights);
		if (fast)
			combine31(weights, sharing->degree, x + at, rows, count, shares[r] + at);
		else
			combine(m, weights, sharing->degree, x + at, rows, count, shares[r] + at);
	}
}

static void additive(const struct sl_sharing *sharing, struct sl_coins *coins, const uint64_t *x, size_t at,
		     size_t count, uint64_t *const *shares)
{
	uint64_t p = sharing->field.p, *own = shares[sharing->degree] + at;
	for (size_t l = 0; l < count; l++)
		own[l] = x[at + l];
	for (uint32_t r = 0; r < sharing->degree; r++) {
		const uint64_t *share = shares[r] + at;
		sl_coins_draw(&coins[r], &sharing->field, shares[r] + at, count);
		for (size_t l = 0; l < count; l++)
			own[l] = reduce_once(own[l] + p - share[l], p);
	}
}

void sl_share(const struct sl_sharing *sharing, enum sl_sharing_kind kind, struct sl_coins *coins,
	      const uint64_t *x, size_t count, uint64_t *const *shares, uint64_t *scratch)
{
	struct montgomery m = montgomery_of(sharing->field.p);
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		if (kind == SL_SHARING_ADDITIVE) {
			additive(sharing, coins, x, at, n, shares);
			continue;
		}
		for (uint32_t k = 0; k < sharing->degree; k++)
			sl_coins_draw(&coins[k], &sharing->field, scratch + (size_t)k * STRIDE, n);
		shamir(sharing, &m, x, at, n, shares, scratch, scratch + (size_t)sharing->degree * STRIDE);
	}
	if (kind == SL_SHARING_SHAMIR)
		sodium_memzero(scratch, sl_share_scratch(sharing->degree) * sizeof *scratch);
}
