/* Runs every step of the round on every case of test/data/vectors.json and compares all intermediate values.
 * Every number of that file is a decimal string, some wider than 64 bits. A file of another shape ends the
 * program. */
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "test/lib/encoding.h"
#include "common/field/metropolis.h"
#include "common/field/share.h"
#include "common/field/vector.h"
#include "common/mixing/spectrum.h"
#include "test/graph/unit.h"
#include "test/lib/test.h"

#define ARENA_BYTES ((size_t)256 << 20)

typedef __int128 wide;

/* ---- the file ---- */

static json_t *vector_member(json_t *object, const char *name)
{
	json_t *member = json_object_get(object, name);
	if (member == NULL)
		fail_msg("no member %s", name);
	return member;
}

static json_t *vector_at(json_t *array, size_t i)
{
	json_t *element = json_array_get(array, i);
	assert_non_null(element);
	return element;
}

static json_t *at2(json_t *array, size_t i, size_t j)
{
	return vector_at(vector_at(array, i), j);
}

static wide parse(const char *text, char end)
{
	bool negative = *text == '-';
	wide value = 0;
	size_t digits = 0;
	for (text += negative; *text >= '0' && *text <= '9'; text++, digits++)
		value = value * 10 + (*text - '0');
	assert_true(digits > 0 && digits <= 38 && *text == end);
	return negative ? -value : value;
}

/* Return a decimal integer, a string or a JSON integer. */
static wide vector_integer(json_t *value)
{
	return json_is_integer(value) ? json_integer_value(value) : parse(json_string_value(value), '\0');
}

/* Read "num/den" or "num". */
static void vector_ratio(json_t *value, wide *num, wide *den)
{
	const char *text = json_string_value(value), *slash = strchr(text, '/');
	*num = parse(text, slash != NULL ? '/' : '\0');
	*den = slash != NULL ? parse(slash + 1, '\0') : 1;
}

/* Return a decimal or hexadecimal fraction. */
static double vector_real(json_t *value)
{
	char *end;
	double real = strtod(json_string_value(value), &end);
	assert_int_equal(*end, '\0');
	return real;
}

/* ---- a case ---- */

/* What is read once, and what the steps leave for the next. */
struct round {
	json_t *json;
	const char *name;
	uint32_t learners;
	size_t n;
	struct sl_field field;
	struct sl_graph graph;
	sl_id *ids;
	uint64_t *x;  /* encodings, [learner][coordinate] */
	uint64_t *s0; /* initial masked states */
	uint64_t K;
	struct sl_arena *arena;
};

/* Return zeroed memory from the arena of the case. */
static void *take(struct round *v, size_t count, size_t bytes)
{
	void *piece = sl_arena_take(v->arena, count, bytes);
	assert_non_null(piece);
	return piece;
}

/* Fail with case, learner, coordinate and both values if these differ. */
static void same(struct round *v, const char *what, size_t learner, size_t coordinate, wide got, wide want)
{
	if (got != want)
		fail_msg("%s: %s: learner %zu, coordinate %zu: got %lld, expected %lld", v->name, what,
			 learner, coordinate, (long long)got, (long long)want);
}

static void holds(struct round *v, const char *what, size_t learner, bool truth)
{
	same(v, what, learner, 0, truth, true);
}

static json_t *member(struct round *v, const char *name)
{
	return vector_member(v->json, name);
}

/* Return element [i][l] of a member. */
static wide entry(struct round *v, const char *name, size_t i, size_t l)
{
	return vector_integer(at2(member(v, name), i, l));
}

/* Return the position of an id; the number of learners if there is none. */
static uint32_t vertex_of(struct round *v, sl_id id)
{
	uint32_t i = 0;
	while (i < v->learners && v->ids[i] != id)
		i++;
	return i;
}

static void open_case(struct round *v)
{
	v->name = json_string_value(member(v, "name"));
	v->learners = (uint32_t)vector_integer(member(v, "N"));
	v->n = (size_t)vector_integer(member(v, "n"));
	v->K = (uint64_t)vector_integer(member(v, "K"));
	v->ids = take(v, v->learners, sizeof *v->ids);
	v->x = take(v, v->learners * v->n, sizeof *v->x);
	v->s0 = take(v, v->learners * v->n, sizeof *v->s0);
	for (uint32_t i = 0; i < v->learners; i++)
		v->ids[i] = (sl_id)vector_integer(vector_at(member(v, "ids"), i));
	json_t *pairs = member(v, "edges");
	size_t count = json_array_size(pairs);
	struct sl_edge *edges = take(v, count, sizeof *edges);
	for (size_t e = 0; e < count; e++) {
		json_t *pair = vector_at(pairs, e);
		edges[e].a = vertex_of(v, (sl_id)vector_integer(vector_at(pair, 0)));
		edges[e].b = vertex_of(v, (sl_id)vector_integer(vector_at(pair, 1)));
	}
	holds(v, "field", 0, sl_field_init(&v->field, (uint64_t)vector_integer(member(v, "p"))) == SL_OK);
	holds(v, "graph", 0, sl_graph_init(&v->graph, v->learners, edges, count, v->arena) == SL_OK);
}

/* ---- the steps of the round ---- */

static uint64_t weight_total(struct round *v)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < v->learners; i++)
		total += (uint64_t)vector_integer(vector_at(member(v, "m"), i));
	return total;
}

static void check_encoding(struct round *v)
{
	bool paper = strcmp(json_string_value(member(v, "mode")), "literal") == 0;
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
			theta[l] = (float)vector_real(at2(member(v, "theta_hex"), i, l));
		if (paper)
			holds(v, "encode", i,
			      sl_encoding_encode(&v->field, &encoding, NULL, theta, NULL, v->n, x, &note) ==
				      SL_OK);
		for (size_t l = 0; l < v->n; l++) {
			v->x[i * v->n + l] = (uint64_t)entry(v, "enc_mod_p", i, l);
			if (paper) {
				same(v, "enc_mod_p", i, l, x[l], v->x[i * v->n + l]);
				same(v, "enc", i, l, sl_field_centred(&v->field, x[l]),
				     entry(v, "enc", i, l));
			}
		}
	}
}

/* Random numbers that come out as the coefficients of the case. */
struct scripted {
	const uint64_t *values;
	size_t count, next, width;
};

static void play(void *context, uint8_t *bytes, size_t n)
{
	struct scripted *s = context;
	for (size_t at = 0; at + s->width <= n; at += s->width) {
		uint64_t value = s->next < s->count ? s->values[s->next++] : 0;
		sl_bytes_pack(bytes + at, &value, 1, 8 * (uint32_t)s->width);
	}
}

static void share_with(struct round *v, const struct sl_sharing *sharing, const uint64_t *x,
		       const uint64_t *rows, uint64_t *const *shares)
{
	struct sl_prg *randomness = take(v, sharing->degree, sizeof *randomness);
	struct scripted *scripts = take(v, sharing->degree, sizeof *scripts);
	uint64_t *scratch = take(v, sl_share_scratch(sharing->degree), sizeof *scratch);
	for (size_t k = 0; k < sharing->degree; k++) {
		scripts[k] = (struct scripted){rows + k * v->n, v->n, 0, v->field.draw_bytes};
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
	uint64_t *rows = take(v, degree * v->n, sizeof *rows);
	uint64_t **shares = take(v, degree + 1, sizeof *shares);
	struct sl_sharing sharing;
	for (uint32_t r = 0; r <= degree; r++)
		shares[r] = take(v, v->n, sizeof **shares);
	for (uint32_t r = 0; r < degree; r++)
		neighbours[r] = v->ids[sl_graph_neighbours(&v->graph, i)[r]];
	for (size_t l = 0; l < v->n; l++)
		for (size_t k = 0; k < degree; k++)
			rows[k * v->n + l] = (uint64_t)vector_integer(at2(given, l, k));
	holds(v, "sharing", i,
	      sl_share_init(&sharing, &v->field, v->ids[i], neighbours, degree, v->arena) == SL_OK);
	share_with(v, &sharing, v->x + i * v->n, rows, shares);
	for (uint32_t position = 0, r = 0; position <= degree; position++) {
		sl_id id = (sl_id)vector_integer(vector_at(closed, position));
		uint32_t point = id == v->ids[i] ? degree : r++;
		same(v, "point", i, position, sharing.points[point], id);
		same(v, "delta", i, position, sharing.delta[point], entry(v, "delta", i, position));
		for (size_t l = 0; l < v->n; l++) {
			uint64_t h = 0; /* H(point), by Horner's rule */
			for (size_t k = degree; k-- > 0;)
				h = sl_field_mul(&v->field, sharing.points[point],
						 sl_field_add(&v->field, h, rows[k * v->n + l]));
			h = sl_field_add(&v->field, h, v->x[i * v->n + l]);
			json_t *H = at2(member(v, "H"), i, l);
			json_t *S = at2(member(v, "S"), i, l);
			uint64_t *s0 = &v->s0[vertex_of(v, id) * v->n + l];
			same(v, "H", i, l, h, vector_integer(vector_at(H, position)));
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

/* The weights of the file: 1/(max degree + 1) between neighbours, 0 between others. */
static void check_weights(struct round *v)
{
	for (uint32_t i = 0; i < v->learners; i++)
		for (uint32_t j = 0, r = 0; j < v->learners; j++) {
			wide num, den;
			vector_ratio(at2(member(v, "mh"), i, j), &num, &den);
			bool linked = r < sl_graph_degree(&v->graph, i) &&
				      sl_graph_neighbours(&v->graph, i)[r] == j;
			if (linked)
				same(v, "mh", i, j, num * sl_graph_metropolis(&v->graph, i, j), den);
			else if (j != i)
				same(v, "mh", i, j, num, 0);
			r += linked;
		}
}

/* The paper's bound with the largest |theta| of this case alone. */
static void check_p_bound(struct round *v)
{
	struct sl_encoding encoding = {.kind = SL_ENCODING_WEIGHTED,
				       .decimals = (uint32_t)vector_integer(member(v, "sigma")),
				       .clipping_range = 1e-12 /* a clipping range of 0 is none */};
	const struct sl_addends addends = {.learners = v->learners, .max_weight = 1, .n = v->n};
	for (uint32_t i = 0; i < v->learners; i++)
		for (size_t l = 0; l < v->n; l++) {
			double theta = vector_real(at2(member(v, "theta_hex"), i, l));
			double size = theta < 0 ? -theta : theta;
			encoding.clipping_range =
				size > encoding.clipping_range ? size : encoding.clipping_range;
		}
	holds(v, "p_bound_holds", 0,
	      sl_encoding_bound(v->field.p, &encoding, &addends, NULL, NULL) ==
		      json_is_true(member(v, "p_bound_holds")));
}

/* Set the weights of learner i in Z_p, its own last; compare them with row i of the file's W. */
static void weigh(struct round *v, uint32_t i, uint64_t *weights)
{
	uint32_t degree = sl_graph_degree(&v->graph, i);
	json_t *row = vector_at(vector_member(member(v, "zp"), "W"), i);
	weights[degree] = 1;
	for (uint32_t r = 0; r < degree; r++) {
		uint32_t j = sl_graph_neighbours(&v->graph, i)[r];
		weights[r] = sl_field_inverse(&v->field, sl_graph_metropolis(&v->graph, i, j) % v->field.p);
		weights[degree] = sl_field_sub(&v->field, weights[degree], weights[r]);
		same(v, "W mod p", i, j, weights[r], vector_integer(vector_at(row, j)));
	}
	same(v, "W mod p", i, i, weights[degree], vector_integer(vector_at(row, i)));
}

/* x(1) to x(3) of the engine exact (ROUND.md §8.3 exact), on every prime of the file. */
static void check_field_mixing(struct round *v)
{
	size_t bytes = sl_packed_bytes(v->n, v->field.bits);
	uint64_t *x = take(v, v->learners * v->n, sizeof *x), *sum = take(v, v->n, sizeof *sum),
		 *weights = take(v, v->learners, sizeof *weights);
	uint8_t *packed = take(v, v->learners, bytes);
	const uint8_t **states = take(v, v->learners, sizeof *states);
	memcpy(x, v->s0, v->learners * v->n * sizeof *x);
	for (uint64_t k = 1; k <= 3; k++) {
		const char key[] = {(char)('0' + k), '\0'};
		json_t *want = vector_member(vector_member(member(v, "zp"), "x"), key);
		for (uint32_t i = 0; i < v->learners; i++)
			sl_bytes_pack(packed + i * bytes, x + i * v->n, v->n, v->field.bits);
		for (uint32_t i = 0; i < v->learners; i++) {
			uint32_t degree = sl_graph_degree(&v->graph, i);
			weigh(v, i, weights);
			for (uint32_t r = 0; r < degree; r++)
				states[r] = packed + sl_graph_neighbours(&v->graph, i)[r] * bytes;
			sl_vector_update(&v->field, x + i * v->n, sum, 0, v->n, states, weights, degree);
			for (size_t l = 0; l < v->n; l++)
				same(v, "x mod p", i, l, x[i * v->n + l], vector_integer(at2(want, i, l)));
		}
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
			same(v, key, i, l, X[i * v->n + l], vector_integer(at2(want, i, l)));
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
	bool paper = strcmp(json_string_value(member(v, "mode")), "literal") == 0;
	uint64_t *z = take(v, v->n + 1, sizeof *z);
	float *theta = take(v, v->n, sizeof *theta);
	for (size_t l = 0; l < v->n; l++) {
		for (uint32_t i = 0; i < v->learners; i++)
			z[l] = sl_field_add(&v->field, z[l], v->s0[i * v->n + l]);
		same(v, "z", 0, l, z[l], vector_integer(vector_at(member(v, "z"), l)));
		same(v, "z_signed", 0, l, sl_field_centred(&v->field, z[l]),
		     vector_integer(vector_at(member(v, "z_signed"), l)));
	}
	if (!paper) { /* the sum of the weights is the last element */
		encoding.kind = SL_ENCODING_WEIGHTED;
		z[v->n] = weight_total(v);
	}
	holds(v, "decode", 0, sl_encoding_decode(&v->field, &encoding, NULL, z, v->n, theta) == SL_OK);
	for (size_t l = 0; l < v->n; l++) {
		wide num, den;
		vector_ratio(vector_at(member(v, "theta_out"), l), &num, &den);
		double want = (double)num / (double)den;
		holds(v, "theta_out", l,
		      fabs((double)theta[l] - want) <= (double)FLT_EPSILON / 2 * fabs(want));
	}
}

static void run_case(json_t *json, struct sl_arena *arena)
{
	struct round v = {.json = json, .arena = arena};
	sl_arena_reset(arena, 0);
	open_case(&v);
	json_t *trace = json_object_get(json, "fixed_point");
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
	check_field_mixing(&v);
	if (trace != NULL && vector_integer(vector_member(trace, "width_bits")) <= 64)
		check_mixing(&v, trace);
	check_decoding(&v);
}

TEST(every_case_of_the_file)
{
	json_error_t error;
	json_t *file = json_load_file(SL_SOURCE_ROOT "/test/data/vectors.json", 0, &error);
	if (file == NULL)
		fail_msg("%s:%d: %s", error.source, error.line, error.text);
	json_t *cases = vector_member(file, "cases");
	struct sl_arena arena = arena_of(ARENA_BYTES);
	assert_string_equal(json_string_value(vector_member(file, "schema")), "ppdfl-vectors-1");
	assert_true(json_array_size(cases) > 0);
	for (size_t c = 0; c < json_array_size(cases); c++)
		run_case(vector_at(cases, c), &arena);
	arena_free(&arena);
	json_decref(file);
}
