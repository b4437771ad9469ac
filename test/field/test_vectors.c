/* Runs every step of the round on every case of a vectors file and compares all intermediate values.
 *
 * The file is test/data/vectors.json.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/field/encoding.h"
#include "common/field/metropolis.h"
#include "common/field/share.h"
#include "common/mixing/spectrum.h"
#include "test/field/vectors_case.h"
#include "test/lib/test.h"

#define ARENA_BYTES ((size_t)256 << 20)

static uint64_t weight_total(struct round *v)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < v->learners; i++)
		total += (uint64_t)vector_integer(vector_at(member(v, "m"), i));
	return total;
}

static void check_encoding(struct round *v)
{
	bool literal = strcmp(json_string_value(member(v, "mode")), "literal") == 0;
	struct sl_encoding encoding = {.kind = SL_ENCODING_PAPER,
				       .decimals = (uint32_t)vector_integer(member(v, "sigma")),
				       .clipping_range = HUGE_VAL,
				       .weight_total = weight_total(v)};
	float *theta = take(v, v->n, sizeof *theta);
	uint64_t *x = take(v, v->n + 1, sizeof *x);
	for (uint32_t i = 0; i < v->learners; i++) {
		struct sl_encode_note note;
		encoding.weight = (uint64_t)vector_integer(vector_at(member(v, "m"), i));
		for (size_t l = 0; l < v->n; l++)
			theta[l] = (float)vector_real(vector_at(vector_at(member(v, "theta_hex"), i), l));
		if (literal)
			holds(v, "encode", i,
			      sl_encoding_encode(&v->field, &encoding, theta, v->n, x, &note) == SL_OK);
		for (size_t l = 0; l < v->n; l++) {
			v->x[i * v->n + l] = (uint64_t)entry(v, "enc_mod_p", i, l);
			if (literal) {
				same(v, "enc_mod_p", i, l, x[l], v->x[i * v->n + l]);
				same(v, "enc", i, l, sl_field_centred(&v->field, x[l]),
				     entry(v, "enc", i, l));
			}
		}
	}
}

/* Coins that come out as the case's coefficients. */
struct scripted {
	const uint64_t *values;
	size_t count, next, width;
};

static void play(void *context, uint8_t *bytes, size_t n)
{
	struct scripted *s = context;
	for (size_t at = 0; at + s->width <= n; at += s->width) {
		uint64_t value = s->next < s->count ? s->values[s->next++] : 0;
		sl_bytes_pack(bytes + at, &value, 1, (uint32_t)s->width);
	}
}

static void share_by_coins(struct round *v, const struct sl_sharing *sharing, const uint64_t *x,
			   const uint64_t *rows, uint64_t *const *shares)
{
	struct sl_prg *randomness = take(v, sharing->degree, sizeof *randomness);
	struct scripted *scripts = take(v, sharing->degree, sizeof *scripts);
	uint64_t *scratch = take(v, sl_share_scratch(sharing->degree), sizeof *scratch);
	for (size_t k = 0; k < sharing->degree; k++) {
		scripts[k] = (struct scripted){rows + k * v->n, v->n, 0, v->field.bytes};
		sl_prg_open_source(&randomness[k], play, &scripts[k]);
	}
	sl_share(sharing, SL_SHARING_SHAMIR, randomness, x, v->n, shares, scratch);
}

/* Learner i: coefficients -> H, delta, S; adds its shares into the masked states. */
static void check_learner_shares(struct round *v, uint32_t i)
{
	uint32_t degree = sl_graph_degree(&v->graph, i);
	json_t *closed = vector_at(member(v, "closed_neighbours"), i),
	       *given = vector_at(member(v, "coeffs"), i);
	sl_id *neighbours = take(v, degree, sizeof *neighbours);
	uint64_t *rows = take(v, degree * v->n, sizeof *rows), *h = take(v, v->n, sizeof *h);
	uint64_t **shares = take(v, degree + 1, sizeof *shares);
	struct sl_sharing sharing;
	for (uint32_t r = 0; r <= degree; r++)
		shares[r] = take(v, v->n, sizeof **shares);
	for (uint32_t r = 0; r < degree; r++)
		neighbours[r] = v->ids[sl_graph_neighbours(&v->graph, i)[r]];
	for (size_t l = 0; l < v->n; l++)
		for (size_t k = 0; k < degree; k++)
			rows[k * v->n + l] = (uint64_t)vector_integer(vector_at(vector_at(given, l), k));
	holds(v, "sharing", i,
	      sl_share_init(&sharing, &v->field, v->ids[i], neighbours, degree, v->arena) == SL_OK);
	share_by_coins(v, &sharing, v->x + i * v->n, rows, shares);
	for (uint32_t position = 0, r = 0; position <= degree; position++) {
		sl_id id = (sl_id)vector_integer(vector_at(closed, position));
		uint32_t point = id == v->ids[i] ? degree : r++;
		same(v, "point", i, position, sharing.points[point], id);
		same(v, "delta", i, position, sharing.delta[point], entry(v, "delta", i, position));
		sl_share_evaluate(&sharing, point, v->x + i * v->n, rows, v->n, v->n, h);
		for (size_t l = 0; l < v->n; l++) {
			json_t *H = vector_at(vector_at(member(v, "H"), i), l);
			json_t *S = vector_at(vector_at(member(v, "S"), i), l);
			uint64_t *s0 = &v->s0[vertex_of(v, id) * v->n + l];
			same(v, "H", i, l, h[l], vector_integer(vector_at(H, position)));
			same(v, "S", i, l, shares[point][l], vector_integer(vector_at(S, position)));
			*s0 = sl_field_add(&v->field, *s0, shares[point][l]);
		}
	}
}

static void check_masked_states(struct round *v)
{
	for (size_t l = 0; l < v->n; l++) {
		wide sum = 0;
		for (uint32_t i = 0; i < v->learners; i++) {
			same(v, "s0", i, l, v->s0[i * v->n + l], entry(v, "s0", i, l));
			sum += v->s0[i * v->n + l];
		}
		same(v, "sum_s0", 0, l, sum, vector_integer(vector_at(member(v, "sum_s0"), l)));
	}
}

/* Each row against 1/(max degree + 1) exactly; the diagonal by the row's sum, over the common denominator. */
static void check_weights(struct round *v)
{
	for (uint32_t i = 0; i < v->learners; i++) {
		wide common = 1, sum = 0;
		for (uint32_t r = 0; r < sl_graph_degree(&v->graph, i); r++)
			common = common_multiple(
				common,
				sl_graph_metropolis(&v->graph, i, sl_graph_neighbours(&v->graph, i)[r]));
		for (uint32_t j = 0, r = 0; j < v->learners; j++) {
			wide num, den;
			vector_ratio(vector_at(vector_at(member(v, "mh"), i), j), &num, &den);
			bool linked = r < sl_graph_degree(&v->graph, i) &&
				      sl_graph_neighbours(&v->graph, i)[r] == j;
			if (linked)
				same(v, "mh", i, j, num * sl_graph_metropolis(&v->graph, i, j), den);
			else if (j != i)
				same(v, "mh", i, j, num, 0);
			sum += num * (common / den);
			r += linked;
		}
		same(v, "mh row sum", i, 0, sum, common);
	}
}

static void check_spectrum(struct round *v)
{
	double mu, slem = vector_real(member(v, "slem"));
	wide bound = vector_integer(member(v, "K_bound"));
	struct sl_arena scratch = {.base = take(v, 1, sl_spectrum_scratch(v->learners)),
				   .size = sl_spectrum_scratch(v->learners)};
	holds(v, "mu", 0, sl_spectrum_mu(&v->graph, &scratch, &mu) == SL_OK && fabs(mu - slem) < 1e-9);
	same(v, "K_bound from slem", 0, 0, sl_spectrum_iterations(v->field.p, v->learners, slem), bound);
	if (v->field.bits <=
	    SL_MIXING_P_BITS_MAX) /* beyond, rounding mu = 0 up costs an iteration, in no use */
		same(v, "K_bound", 0, 0, sl_spectrum_iterations(v->field.p, v->learners, mu), bound);
}

static void mix_once(struct round *v, int64_t *X, int64_t *old)
{
	const uint8_t **states = take(v, v->learners, sizeof *states);
	struct sl_divisor *divisors = take(v, v->learners, sizeof *divisors);
	memcpy(old, X, v->learners * v->n * sizeof *X);
	for (uint32_t i = 0; i < v->learners; i++) {
		uint32_t degree = sl_graph_degree(&v->graph, i);
		for (uint32_t r = 0; r < degree; r++) {
			uint32_t j = sl_graph_neighbours(&v->graph, i)[r];
			states[r] = (const uint8_t *)(old + j * v->n);
			sl_metropolis_divisor_init(&divisors[r], sl_graph_metropolis(&v->graph, i, j));
		}
		sl_metropolis_step(X + i * v->n, v->n, states, divisors, degree);
	}
}

static void check_trace_at(struct round *v, json_t *trace, uint64_t k, const int64_t *X)
{
	char key[24];
	snprintf(key, sizeof key, "%llu", (unsigned long long)k);
	json_t *want = json_object_get(vector_member(trace, "X"), key);
	for (uint32_t i = 0; want != NULL && i < v->learners; i++)
		for (size_t l = 0; l < v->n; l++)
			same(v, key, i, l, X[i * v->n + l], vector_integer(vector_at(vector_at(want, i), l)));
	holds(v, "trace at K", 0, want != NULL || k != v->K);
}

static void check_mixing(struct round *v, json_t *trace)
{
	uint32_t f = (uint32_t)vector_integer(vector_member(trace, "f"));
	int64_t *X = take(v, v->learners * v->n, sizeof *X), *old = take(v, v->learners * v->n, sizeof *X);
	uint64_t *z = take(v, v->n, sizeof *z);
	sl_metropolis_open(v->s0, f, v->learners * v->n, X);
	for (uint64_t k = 1; k <= v->K; k++) {
		size_t mark = sl_arena_mark(v->arena);
		mix_once(v, X, old);
		sl_arena_reset(v->arena, mark);
		check_trace_at(v, trace, k, X);
	}
	for (uint32_t i = 0; i < v->learners; i++) {
		sl_metropolis_close(&v->field, v->learners, f, X + i * v->n, v->n, z);
		for (size_t l = 0; l < v->n; l++)
			same(v, "z_per_learner", i, l, z[l], entry(v, "z_per_learner", i, l));
	}
}

static void check_decoding(struct round *v)
{
	struct sl_encoding encoding = {.kind = SL_ENCODING_PAPER,
				       .decimals = (uint32_t)vector_integer(member(v, "sigma"))};
	bool literal = strcmp(json_string_value(member(v, "mode")), "literal") == 0;
	uint64_t *z = take(v, v->n + 1, sizeof *z);
	float *theta = take(v, v->n, sizeof *theta);
	for (size_t l = 0; l < v->n; l++) {
		for (uint32_t i = 0; i < v->learners; i++)
			z[l] = sl_field_add(&v->field, z[l], v->s0[i * v->n + l]);
		same(v, "z", 0, l, z[l], vector_integer(vector_at(member(v, "z"), l)));
		same(v, "z_signed", 0, l, sl_field_centred(&v->field, z[l]),
		     vector_integer(vector_at(member(v, "z_signed"), l)));
	}
	if (!literal) { /* the sum of the weights is the last element */
		encoding.kind = SL_ENCODING_WEIGHTED;
		z[v->n] = weight_total(v);
	}
	holds(v, "decode", 0, sl_encoding_decode(&v->field, &encoding, z, v->n, theta) == SL_OK);
	for (size_t l = 0; l < v->n; l++) {
		wide num, den;
		vector_ratio(vector_at(member(v, "theta_out"), l), &num, &den);
		double want = (double)num / (double)den;
		holds(v, "theta_out", l,
		      fabs((double)theta[l] - want) <= (double)FLT_EPSILON / 2 * fabs(want));
	}
}

/* exact: every learner has the sum; wraps: all agree, on a wrong sign; k_too_small: some learner is off. */
static void check_expectation(struct round *v)
{
	const char *expect = json_string_value(member(v, "expect"));
	bool agree = true, sum_right = true;
	for (size_t l = 0; l < v->n; l++) {
		wide sum = 0, z = vector_integer(vector_at(member(v, "z"), l));
		for (uint32_t i = 0; i < v->learners; i++) {
			sum += entry(v, "enc", i, l);
			agree = agree && entry(v, "z_per_learner", i, l) == z;
		}
		sum_right = sum_right && sl_field_centred(&v->field, (uint64_t)z) == sum;
	}
	bool short_of_K = (wide)v->K < vector_integer(member(v, "K_bound"));
	if (strcmp(expect, "exact") == 0)
		holds(v, "expected exact", 0, agree && sum_right && !short_of_K);
	else if (strcmp(expect, "wraps") == 0)
		holds(v, "expected to wrap", 0, agree && !sum_right);
	else if (strcmp(expect, "k_too_small") == 0)
		holds(v, "expected K too small", 0, !agree && short_of_K);
	else
		holds(v, "known expectation", 0, false);
}

static size_t run_case(json_t *json, struct sl_arena *arena)
{
	struct round v = {.json = json, .arena = arena};
	sl_arena_reset(arena, 0);
	open_case(&v);
	json_t *trace = json_object_get(json, "fixed_point");
	bool traced = trace != NULL && vector_integer(vector_member(trace, "width_bits")) <= 64;
	if (v.wrong == 0) {
		check_encoding(&v);
		for (uint32_t i = 0; i < v.learners; i++) {
			size_t mark = sl_arena_mark(arena);
			check_learner_shares(&v, i);
			sl_arena_reset(arena, mark);
		}
		check_masked_states(&v);
		check_weights(&v);
		check_spectrum(&v);
		check_p_bound(&v);
		check_rational_states(&v);
		check_field_mixing(&v);
		if (traced)
			check_mixing(&v, trace);
		check_decoding(&v);
		check_expectation(&v);
	}
	printf("%-20s %s: %zu of %zu checks%s\n", v.name, v.wrong == 0 ? "ok" : "WRONG", v.checks - v.wrong,
	       v.checks, traced ? "" : " (no trace: wider than 64 bits)");
	return v.wrong;
}

TEST(every_case_of_the_file)
{
	json_error_t error;
	json_t *file = json_load_file(SL_SOURCE_ROOT "/test/data/vectors.json", 0, &error);
	if (file == NULL)
		fail_msg("%s:%d: %s", error.source, error.line, error.text);
	json_t *cases = vector_member(file, "cases");
	struct sl_arena arena;
	void *memory = malloc(ARENA_BYTES);
	size_t count = json_array_size(cases), wrong = 0;
	assert_non_null(memory);
	assert_string_equal(json_string_value(vector_member(file, "schema")), "ppdfl-vectors-1");
	sl_arena_init(&arena, memory, ARENA_BYTES);
	for (size_t c = 0; c < count; c++)
		wrong += run_case(vector_at(cases, c), &arena) != 0;
	printf("%zu of %zu cases right\n", count - wrong, count);
	free(memory);
	json_decref(file);
	assert_true(count > 0);
	assert_int_equal(wrong, 0);
}
