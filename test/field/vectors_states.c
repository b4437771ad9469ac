/* The consensus states as exact rationals over one common denominator: what the fixed-point states approach.
 */
#include <stdio.h>
#include <string.h>

#include "common/field/encoding.h"
#include "test/field/vectors_case.h"

wide common_multiple(wide a, wide b)
{
	wide x = a, y = b;
	while (y != 0) {
		wide rest = x % y;
		x = y;
		y = rest;
	}
	return a / x * b;
}

static wide common_denominator(struct round *v)
{
	wide common = 1;
	for (uint32_t i = 0; i < v->learners; i++)
		for (uint32_t r = 0; r < sl_graph_degree(&v->graph, i); r++)
			common = common_multiple(
				common,
				sl_graph_metropolis(&v->graph, i, sl_graph_neighbours(&v->graph, i)[r]));
	return common;
}

/* S = s * common^k: one iteration multiplies the denominator by `common`. */
static void mix_exactly(struct round *v, wide *S, const wide *old, wide common)
{
	for (uint32_t i = 0; i < v->learners; i++)
		for (size_t l = 0; l < v->n; l++) {
			wide own = old[i * v->n + l], next = own * common;
			for (uint32_t r = 0; r < sl_graph_degree(&v->graph, i); r++) {
				uint32_t j = sl_graph_neighbours(&v->graph, i)[r];
				next += (old[j * v->n + l] - own) *
					(common / sl_graph_metropolis(&v->graph, i, j));
			}
			S[i * v->n + l] = next;
		}
}

/* num/den is in lowest terms: S/scale is the same number iff it reduces to it. */
static void check_state(struct round *v, size_t i, size_t l, wide S, wide scale, json_t *want)
{
	wide num, den;
	vector_ratio(want, &num, &den);
	wide divisor = S == 0 ? scale : S / (common_multiple(S, scale) / scale);
	same(v, "s_k numerator", i, l, S / divisor, num);
	same(v, "s_k denominator", i, l, scale / divisor, den);
}

static void check_at(struct round *v, uint64_t k, const wide *S, wide scale)
{
	char key[24];
	snprintf(key, sizeof key, "%llu", (unsigned long long)k);
	json_t *states = json_object_get(member(v, "s_k"), key),
	       *rounded = json_object_get(member(v, "z_at_k"), key);
	holds(v, "s_k is there", 0, states != NULL || k > v->K);
	for (uint32_t i = 0; i < v->learners; i++)
		for (size_t l = 0; l < v->n; l++) {
			wide s = S[i * v->n + l], z = (2 * (wide)v->learners * s + scale) / (2 * scale);
			if (states != NULL)
				check_state(v, i, l, s, scale, vector_at(vector_at(states, i), l));
			if (rounded != NULL)
				same(v, "z_at_k", i, l, z % v->field.p,
				     vector_integer(vector_at(vector_at(rounded, i), l)));
		}
}

void check_rational_states(struct round *v)
{
	size_t count = v->learners * v->n;
	wide *S = take(v, count, sizeof *S), *old = take(v, count, sizeof *S), common = common_denominator(v),
	     scale = 1;
	for (size_t i = 0; i < count; i++)
		S[i] = v->s0[i];
	for (uint64_t k = 1; k <= 3 && k <= v->K; k++) {
		memcpy(old, S, count * sizeof *S);
		mix_exactly(v, S, old, common);
		scale *= common;
		check_at(v, k, S, scale);
	}
}

/* The paper's bound with the largest |theta| of this case alone (eq. p bound). */
void check_p_bound(struct round *v)
{
	struct sl_encoding encoding = {.kind = SL_ENCODING_WEIGHTED,
				       .decimals = (uint32_t)vector_integer(member(v, "sigma")),
				       .clipping_range = 1e-12 /* a clip of 0 is no clip */};
	for (uint32_t i = 0; i < v->learners; i++)
		for (size_t l = 0; l < v->n; l++) {
			double theta = vector_real(vector_at(vector_at(member(v, "theta_hex"), i), l));
			double size = theta < 0 ? -theta : theta;
			encoding.clipping_range =
				size > encoding.clipping_range ? size : encoding.clipping_range;
		}
	holds(v, "p_bound_holds", 0,
	      sl_encoding_bound(v->field.p, &encoding, v->learners, 1, NULL, NULL) ==
		      json_is_true(member(v, "p_bound_holds")));
}

/* The same weights as elements of Z_p (PROTOCOL.md §8 Engines, exact): the field's own arithmetic, on every
 * prime of the file. */
static uint64_t field_weight(struct round *v, uint32_t i, uint32_t j)
{
	uint64_t left = 1;
	for (uint32_t r = 0; r < sl_graph_degree(&v->graph, i); r++) {
		uint32_t neighbour = sl_graph_neighbours(&v->graph, i)[r];
		uint64_t weight = sl_field_inverse(&v->field,
						   sl_graph_metropolis(&v->graph, i, neighbour) % v->field.p);
		if (neighbour == j)
			return weight;
		left = sl_field_sub(&v->field, left, weight);
	}
	return i == j ? left : 0;
}

static void mix_in_field(struct round *v, uint64_t *x, const uint64_t *old)
{
	for (uint32_t i = 0; i < v->learners; i++)
		for (size_t l = 0; l < v->n; l++) {
			uint64_t sum = 0;
			for (uint32_t j = 0; j < v->learners; j++)
				sum = sl_field_add(
					&v->field, sum,
					sl_field_mul(&v->field, field_weight(v, i, j), old[j * v->n + l]));
			x[i * v->n + l] = sum;
		}
}

void check_field_mixing(struct round *v)
{
	size_t count = v->learners * v->n;
	uint64_t *x = take(v, count, sizeof *x), *old = take(v, count, sizeof *old);
	json_t *zp = member(v, "zp"), *W = vector_member(zp, "W");
	for (uint32_t i = 0; i < v->learners; i++)
		for (uint32_t j = 0; j < v->learners; j++)
			same(v, "W mod p", i, j, field_weight(v, i, j),
			     vector_integer(vector_at(vector_at(W, i), j)));
	memcpy(x, v->s0, count * sizeof *x);
	for (uint64_t k = 1; k <= 3; k++) {
		char key[4] = {(char)('0' + k)};
		json_t *want = vector_member(vector_member(zp, "x"), key);
		memcpy(old, x, count * sizeof *x);
		mix_in_field(v, x, old);
		for (size_t e = 0; e < count; e++)
			same(v, "x mod p", e / v->n, e % v->n, x[e],
			     vector_integer(vector_at(vector_at(want, e / v->n), e % v->n)));
	}
}
