#include "tools/paper/ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/field/vector.h"
#include "common/field/metropolis.h"
#include "common/mixing/minimal_polynomial.h"
#include "common/mixing/spectrum.h"
#include "common/base/random.h"
#include "tools/paper/reproduce.h"

#define STATES SL_WAY_STATES

static size_t count_of(const struct sl_trial *t)
{
	return (size_t)t->graph->n * STATES;
}

int sl_ways_trial_open(struct sl_trial *t, const struct sl_graph *graph, double mu, uint64_t p)
{
	*t = (struct sl_trial){.graph = graph, .mu = mu, .k = sl_spectrum_iterations(p, graph->n, mu)};
	assert(graph->n <= SL_PAPER_LEARNERS);
	int rc = sl_field_init(&t->field, p);
	t->s = calloc(count_of(t), sizeof *t->s);
	t->sums = calloc(STATES, sizeof *t->sums);
	if (rc != SL_OK || t->s == NULL || t->sums == NULL)
		return rc != SL_OK ? rc : SL_ERR_NOMEM;
	uint64_t random = sl_random_seed(p, graph->n, t->k);
	for (size_t i = 0; i < count_of(t); i++) {
		t->s[i] = sl_random_next(&random) % p; /* not secret */
		t->sums[i % STATES] = sl_field_add(&t->field, t->sums[i % STATES], t->s[i]);
	}
	return SL_OK;
}

void sl_ways_trial_close(struct sl_trial *t)
{
	free(t->s);
	free(t->sums);
}

/* ---- float64 ---- */

/* a_ii s_i + sum_j a_ij s_j with a_ii = 1 - sum_j a_ij. Since a_ij are rounded, rows do not quite add up
 * to 1. */
static void step_product(const struct sl_graph *g, const double *s, double *next)
{
	for (uint32_t i = 0; i < g->n; i++) {
		double others = 0, sum[STATES] = {0};
		for (uint32_t r = 0; r < sl_graph_degree(g, i); r++) {
			uint32_t j = sl_graph_neighbours(g, i)[r];
			double a = 1.0 / sl_graph_metropolis(g, i, j);
			others += a;
			for (uint32_t l = 0; l < STATES; l++)
				sum[l] += a * s[(size_t)j * STATES + l];
		}
		for (uint32_t l = 0; l < STATES; l++)
			next[(size_t)i * STATES + l] = (1 - others) * s[(size_t)i * STATES + l] + sum[l];
	}
}

static void step_difference(const struct sl_graph *g, const double *s, double *next)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const double *own = s + (size_t)i * STATES;
		double sum[STATES] = {0};
		for (uint32_t r = 0; r < sl_graph_degree(g, i); r++) {
			uint32_t j = sl_graph_neighbours(g, i)[r];
			double a = 1.0 / sl_graph_metropolis(g, i, j);
			for (uint32_t l = 0; l < STATES; l++)
				sum[l] += a * (s[(size_t)j * STATES + l] - own[l]);
		}
		for (uint32_t l = 0; l < STATES; l++)
			next[(size_t)i * STATES + l] = own[l] + sum[l];
	}
}

static uint32_t wrong_reals(const struct sl_trial *t,
			    void (*step)(const struct sl_graph *, const double *, double *))
{
	size_t count = count_of(t);
	double *memory = calloc(2 * count, sizeof *memory), *s = memory, *next = memory + count;
	uint32_t wrong = 0;
	if (memory == NULL)
		abort();
	for (size_t i = 0; i < count; i++)
		s[i] = (double)t->s[i];
	for (uint64_t k = 0; k < t->k; k++) {
		step(t->graph, s, next);
		double *kept = s;
		s = next;
		next = kept;
	}
	for (size_t i = 0; i < count; i++)
		wrong += (uint64_t)floor(t->graph->n * s[i] + 0.5) % t->field.p != t->sums[i % STATES];
	free(memory);
	return wrong;
}

/* ---- fixed point: `metropolis` ---- */

static void step_fixed(const struct sl_graph *g, const int64_t *old, int64_t *next)
{
	const uint8_t *states[SL_PAPER_LEARNERS];
	struct sl_divisor divisors[SL_PAPER_LEARNERS];
	for (uint32_t i = 0; i < g->n; i++) {
		for (uint32_t r = 0; r < sl_graph_degree(g, i); r++) {
			uint32_t j = sl_graph_neighbours(g, i)[r];
			states[r] = (const uint8_t *)(old + (size_t)j * STATES);
			sl_metropolis_divisor_init(&divisors[r], sl_graph_metropolis(g, i, j));
		}
		memcpy(next + (size_t)i * STATES, old + (size_t)i * STATES, STATES * sizeof *next);
		sl_metropolis_step(next + (size_t)i * STATES, STATES, states, divisors,
				   sl_graph_degree(g, i));
	}
}

static uint32_t wrong_fixed(const struct sl_trial *t)
{
	size_t count = count_of(t);
	uint32_t f = sl_spectrum_fraction_bits(t->field.bits), wrong = 0;
	int64_t *memory = calloc(2 * count, sizeof *memory), *x = memory, *next = memory + count;
	uint64_t z;
	if (memory == NULL)
		abort();
	sl_metropolis_open(t->s, f, count, x);
	for (uint64_t k = 0; k < t->k; k++) {
		step_fixed(t->graph, x, next);
		int64_t *kept = x;
		x = next;
		next = kept;
	}
	for (size_t i = 0; i < count; i++) {
		sl_metropolis_close(&t->field, t->graph->n, f, x + i, 1, &z);
		wrong += z != t->sums[i % STATES];
	}
	free(memory);
	return wrong;
}

/* ---- the field: `exact` ---- */

struct exact {
	uint64_t *x, *sum, *r;
	uint8_t *packed; /* of all learners, as sent */
	uint32_t degree;
};

static void step_exact(const struct sl_trial *t, const struct exact *e, uint64_t c)
{
	const struct sl_graph *g = t->graph;
	const uint8_t *states[SL_PAPER_LEARNERS];
	uint64_t weights[SL_PAPER_LEARNERS + 1];
	size_t bytes = (size_t)STATES * t->field.bytes;
	sl_bytes_pack(e->packed, e->x, count_of(t), t->field.bytes);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t degree = sl_graph_degree(g, i);
		weights[degree] = 1;
		for (uint32_t r = 0; r < degree; r++) {
			uint32_t j = sl_graph_neighbours(g, i)[r];
			states[r] = e->packed + j * bytes;
			weights[r] = sl_field_inverse(&t->field, sl_graph_metropolis(g, i, j));
			weights[degree] = sl_field_sub(&t->field, weights[degree], weights[r]);
		}
		sl_vector_update(&t->field, e->x + (size_t)i * STATES, e->sum + (size_t)i * STATES, c, STATES,
				 states, weights, degree);
	}
}

static uint32_t mix_exact(const struct sl_trial *t, const struct exact *e)
{
	uint32_t wrong = 0;
	for (size_t i = 0; i < count_of(t); i++)
		e->sum[i] = sl_field_mul(&t->field, e->r[0], e->x[i]);
	for (uint32_t k = 1; k <= e->degree; k++)
		step_exact(t, e, e->r[k]);
	sl_vector_scale(&t->field, e->sum, count_of(t),
			sl_minimal_polynomial_scale(&t->field, e->r, e->degree, t->graph->n));
	for (size_t i = 0; i < count_of(t); i++)
		wrong += e->sum[i] != t->sums[i % STATES];
	return wrong;
}

static uint32_t wrong_exact(const struct sl_trial *t)
{
	static const uint8_t seed[SL_HASH_BYTES];
	size_t count = count_of(t), bytes = sl_minimal_polynomial_scratch(t->graph->n, t->graph->edges);
	void *scratch = malloc(bytes);
	struct sl_arena arena;
	struct exact e = {.x = calloc(count, 8),
			  .sum = calloc(count, 8),
			  .r = calloc(t->graph->n, 8),
			  .packed = calloc(count, 8)};
	uint32_t wrong = SL_WAY_REFUSED;
	if (scratch == NULL || e.x == NULL || e.sum == NULL || e.r == NULL || e.packed == NULL)
		abort();
	memcpy(e.x, t->s, count * sizeof *e.x);
	sl_arena_init(&arena, scratch, bytes);
	if (sl_minimal_polynomial(t->graph, &t->field, seed, e.r, &e.degree, &arena) == SL_OK)
		wrong = mix_exact(t, &e);
	void *owned[] = {scratch, e.x, e.sum, e.r, e.packed};
	for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
		free(owned[i]);
	return wrong;
}

/* ---- all of them ---- */

uint32_t sl_ways_wrong(const struct sl_trial *t, enum sl_way way)
{
	switch (way) {
	case SL_WAY_PRODUCT:
		return wrong_reals(t, step_product);
	case SL_WAY_DIFFERENCE:
		return wrong_reals(t, step_difference);
	case SL_WAY_FIXED:
		if (t->field.bits > sl_spectrum_p_bits(sl_spectrum_width_need(t->graph, t->mu)))
			return SL_WAY_REFUSED;
		return wrong_fixed(t);
	default:
		return wrong_exact(t);
	}
}
