#include "common/field/share.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "common/field/factor.h"
#include "common/field/kernels/table.h"

#define BLOCK 256u /* coordinates per block: 20 rows of coefficients are 40 KiB */
/* Not a power of two, with which the column of a coordinate would fall into one cache set. */
#define STRIDE (BLOCK + 8u)
#define WEIGHTS_MOST 65536u /* words of prepared weights, 512 KiB: those of all points up to degree 127 */

const char *sl_share_kind_name(enum sl_sharing_kind kind)
{
#define X(constant, name) name,
	static const char *const names[] = {SL_SHARINGS(X)};
#undef X
	return names[kind];
}

/* Return delta_r = prod over j != r of point_j / (point_j - point_r), the weight of point r at 0. */
static uint64_t lagrange(const struct sl_sharing *sharing, uint32_t r)
{
	const struct sl_field *field = &sharing->field;
	uint64_t top = 1, bottom = 1;
	for (uint32_t j = 0; j <= sharing->degree; j++) {
		if (j == r)
			continue;
		top = sl_field_mul(field, top, sharing->points[j]);
		bottom = sl_field_mul(field, bottom,
				      sl_field_sub(field, sharing->points[j], sharing->points[r]));
	}
	return sl_field_mul(field, top, sl_field_inverse(field, bottom));
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

int sl_share_init(struct sl_sharing *sharing, const struct sl_field *field, sl_id self,
		  const sl_id *neighbours, uint32_t degree, struct sl_arena *arena)
{
	if (degree == 0)
		return SL_ERR_INVALID;
	size_t mark = sl_arena_mark(arena), points = (size_t)degree + 1;
	*sharing = (struct sl_sharing){.field = *field, .degree = degree};
	sharing->points = SL_ARENA_TAKE(arena, points, sl_id);
	sharing->delta = SL_ARENA_TAKE(arena, points, uint64_t);
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

/* --- shamir: a block of coordinates at a time --- */

/* Return the number of points whose weights are kept: all of them if they fit WEIGHTS_MOST. Otherwise every
 * block computes the weights again, a group at a time, which costs it a tenth. */
static uint32_t group_of(uint32_t degree)
{
	uint32_t most = WEIGHTS_MOST / (SL_DOT_WORDS * (degree + 1)) / SL_DOT_POINTS * SL_DOT_POINTS;
	return most >= degree ? degree : most > 0 ? most : SL_DOT_POINTS;
}

/* The scratch holds rows of coefficients, the weights of a group of points, and those of one point. */
size_t sl_share_scratch(uint32_t degree)
{
	size_t terms = (size_t)degree + 1;
	return degree * (size_t)STRIDE + group_of(degree) * SL_DOT_WORDS * terms + terms;
}

/* Set weights[k] = delta_r point_r^k for k = 0..tau: their product with (x, c_1, .., c_tau) is the weighted
 * share of point r. */
static void weigh(const struct sl_sharing *sharing, uint32_t r, uint64_t *weights)
{
	struct sl_factor point = sl_factor_of(&sharing->field, sharing->points[r]);
	weights[0] = sharing->delta[r];
	for (uint32_t k = 1; k <= sharing->degree; k++)
		weights[k] = sl_factor_times(&point, weights[k - 1]);
}

static void weigh_group(const struct sl_sharing *sharing, uint32_t r, uint32_t end, uint64_t *prepared,
			uint64_t *weights)
{
	size_t terms = (size_t)sharing->degree + 1;
	for (; r < end; r++, prepared += SL_DOT_WORDS * terms) {
		weigh(sharing, r, weights);
		sl_kernels()->prepare(&sharing->field, weights, terms, prepared);
	}
}

/* Make the shares of points r .. end - 1 in one block. */
static void evaluate_group(const struct sl_sharing *sharing, struct sl_dot *dot, uint32_t r, uint32_t end,
			   uint64_t *const *shares, size_t at)
{
	uint64_t *own = shares[sharing->degree] + at, *out[SL_DOT_POINTS];
	for (; r < end; r += dot->points) {
		dot->points = end - r < SL_DOT_POINTS ? end - r : SL_DOT_POINTS;
		for (uint32_t i = 0; i < dot->points; i++)
			out[i] = shares[r + i] + at;
		sl_kernels()->dot(dot, out);
		for (uint32_t i = 0; i < dot->points; i++)
			sl_kernels()->subtract(&sharing->field, own, out[i], dot->count);
		dot->weights += dot->points * SL_DOT_WORDS * (size_t)dot->terms;
	}
}

/* Do Algorithm 1 and its Lagrange weights in one product; the numbers equal delta_r H(point_r), where
 * H(z) = x + c_1 z + .. + c_tau z^tau. All shares of a coordinate sum to x: the learner's own share is x
 * minus the others. */
static void shamir(const struct sl_sharing *sharing, struct sl_prg *randomness, const uint64_t *x, size_t at,
		   size_t count, uint64_t *const *shares, uint64_t *scratch)
{
	uint32_t degree = sharing->degree, group = group_of(degree);
	uint64_t *prepared = scratch + (size_t)degree * STRIDE;
	uint64_t *weights = prepared + group * SL_DOT_WORDS * (size_t)(degree + 1);
	for (uint32_t k = 0; k < degree; k++)
		sl_prg_fill(&randomness[k], &sharing->field, scratch + (size_t)k * STRIDE, count);
	memcpy(shares[degree] + at, x + at, count * sizeof *x);
	for (uint32_t r = 0; r < degree; r += group) {
		uint32_t end = degree - r < group ? degree : r + group;
		struct sl_dot dot = {.field = &sharing->field,
				     .terms = degree + 1,
				     .weights = prepared,
				     .first = x + at,
				     .rows = scratch,
				     .stride = STRIDE,
				     .count = count};
		if (at == 0 || group < degree)
			weigh_group(sharing, r, end, prepared, weights);
		evaluate_group(sharing, &dot, r, end, shares, at);
	}
}

/* --- all kinds --- */

static void additive(const struct sl_sharing *sharing, struct sl_prg *randomness, const uint64_t *x,
		     size_t at, size_t count, uint64_t *const *shares)
{
	uint64_t *own = shares[sharing->degree] + at;
	memcpy(own, x + at, count * sizeof *own);
	for (uint32_t r = 0; r < sharing->degree; r++) {
		sl_prg_fill(&randomness[r], &sharing->field, shares[r] + at, count);
		sl_kernels()->subtract(&sharing->field, own, shares[r] + at, count);
	}
}

static void seeded(const struct sl_sharing *sharing, struct sl_prg *randomness, const uint64_t *x,
		   size_t count, uint64_t *own)
{
	memcpy(own, x, count * sizeof *own);
	for (uint32_t r = 0; r < sharing->degree; r++)
		sl_prg_subtract(&randomness[r], &sharing->field, own, count);
}

void sl_share(const struct sl_sharing *sharing, enum sl_sharing_kind kind, struct sl_prg *randomness,
	      const uint64_t *x, size_t count, uint64_t *const *shares, uint64_t *scratch)
{
	if (kind == SL_SHARING_SEEDED) {
		seeded(sharing, randomness, x, count, shares[sharing->degree]);
		return;
	}
	for (size_t at = 0; at < count; at += BLOCK) {
		size_t n = count - at < BLOCK ? count - at : BLOCK;
		if (kind == SL_SHARING_SHAMIR)
			shamir(sharing, randomness, x, at, n, shares, scratch);
		else
			additive(sharing, randomness, x, at, n, shares);
	}
	if (kind == SL_SHARING_SHAMIR)
		sodium_memzero(scratch, sl_share_scratch(sharing->degree) * sizeof *scratch);
}
