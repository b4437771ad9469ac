#include "tools/paper/ways.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/random.h"
#include "common/field/metropolis.h"
#include "common/field/share.h"
#include "common/mixing/spectrum.h"
#include "tools/paper/paper.h"

#define STATES SL_WAY_STATES

static size_t count_of(const struct sl_ways_trial *t)
{
	return (size_t)t->graph->n * STATES;
}

int sl_ways_trial_open(struct sl_ways_trial *t, const struct sl_graph *graph, double mu, uint64_t p)
{
	*t = (struct sl_ways_trial){.graph = graph, .mu = mu, .k = sl_spectrum_iterations(p, graph->n, mu)};
	assert(graph->n <= SL_PAPER_LEARNERS);
	int rc = sl_field_init(&t->field, p);
	if (rc != SL_OK)
		return rc;
	t->s = sl_command_memory(count_of(t), sizeof *t->s);
	t->sums = sl_command_memory(STATES, sizeof *t->sums);
	uint64_t random = sl_random_seed(p, graph->n, t->k);
	for (size_t i = 0; i < count_of(t); i++) {
		t->s[i] = sl_random_next(&random) % p; /* not secret */
		t->sums[i % STATES] = sl_field_add(&t->field, t->sums[i % STATES], t->s[i]);
	}
	return SL_OK;
}

void sl_ways_trial_close(struct sl_ways_trial *t)
{
	free(t->s);
	free(t->sums);
}

/* ---- float64 ---- */

/* a_ii s_i + sum_j a_ij s_j with a_ii = 1 - sum_j a_ij. Since a_ij are rounded, rows do not quite add up
 * to 1. */
static void step_reals(const struct sl_graph *g, enum sl_way way, const double *s, double *next)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const double *own = s + (size_t)i * STATES;
		double others = 0, sum[STATES] = {0};
		for (uint32_t r = 0; r < sl_graph_degree(g, i); r++) {
			uint32_t j = sl_graph_neighbours(g, i)[r];
			const double *from = way == SL_WAY_PRINTED ? own : s + (size_t)j * STATES;
			double a = 1.0 / sl_graph_metropolis(g, i, j);
			others += a;
			for (uint32_t l = 0; l < STATES; l++)
				sum[l] += a * (from[l] - (way == SL_WAY_DIFFERENCE ? own[l] : 0));
		}
		for (uint32_t l = 0; l < STATES; l++)
			next[(size_t)i * STATES + l] =
				(way == SL_WAY_DIFFERENCE ? 1 : 1 - others) * own[l] + sum[l];
	}
}

static uint32_t wrong_reals(const struct sl_ways_trial *t, enum sl_way way)
{
	size_t count = count_of(t);
	double *memory = sl_command_memory(2 * count, sizeof *memory), *s = memory, *next = memory + count;
	uint32_t wrong = 0;
	for (size_t i = 0; i < count; i++)
		s[i] = (double)t->s[i];
	for (uint64_t k = 0; k < t->k; k++) {
		step_reals(t->graph, way, s, next);
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

static uint32_t wrong_fixed(const struct sl_ways_trial *t)
{
	size_t count = count_of(t);
	uint32_t f = sl_spectrum_fraction_bits(t->field.bits), wrong = 0;
	int64_t *memory = sl_command_memory(2 * count, sizeof *memory), *x = memory, *next = memory + count;
	uint64_t z;
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

uint32_t sl_ways_wrong(const struct sl_ways_trial *t, enum sl_way way)
{
	if (way != SL_WAY_FIXED)
		return wrong_reals(t, way);
	if (t->field.bits > sl_spectrum_p_bits(sl_spectrum_width_need(t->graph, t->mu)))
		return SL_WAY_REFUSED;
	return wrong_fixed(t);
}

/* ---- c_tau != 0: Lemma 2, by counting every polynomial over a small field ---- */

#define SMALL_P 7u
#define TAU 2u
#define PAIRS (SMALL_P * SMALL_P)

/* Count in count[x][h1 h2] the polynomials of secret x that give two colluders these shares. */
static void count_shares(const struct sl_sharing *sharing, bool zero_allowed, uint32_t count[SMALL_P][PAIRS])
{
	uint64_t h[TAU];
	for (uint64_t x = 0; x < SMALL_P; x++)
		for (uint64_t c2 = zero_allowed ? 0 : 1; c2 < SMALL_P; c2++)
			for (uint64_t c1 = 0; c1 < SMALL_P; c1++) {
				uint64_t coefficients[TAU] = {c1, c2};
				for (uint32_t r = 0; r < TAU; r++)
					sl_share_evaluate(sharing, r, &x, coefficients, 1, 1, &h[r]);
				count[x][h[0] * SMALL_P + h[1]]++;
			}
}

double sl_ways_share_distance(bool zero_allowed)
{
	static const sl_id neighbours[TAU] = {1, 2};
	uint8_t memory[4096];
	struct sl_arena arena;
	struct sl_field field;
	struct sl_sharing sharing;
	uint32_t count[SMALL_P][PAIRS] = {{0}};
	double most = 0;
	sl_arena_init(&arena, memory, sizeof memory);
	int rc = sl_field_init(&field, SMALL_P);
	if (rc == SL_OK)
		rc = sl_share_init(&sharing, &field, 3, neighbours, TAU, &arena);
	assert(rc == SL_OK);
	count_shares(&sharing, zero_allowed, count);
	for (uint32_t x = 0; x < SMALL_P; x++)
		for (uint32_t y = 0; y < SMALL_P; y++) {
			double apart = 0, all = 0;
			for (uint32_t pair = 0; pair < PAIRS; pair++) {
				apart += fabs((double)count[x][pair] - (double)count[y][pair]);
				all += count[x][pair];
			}
			most = fmax(most, apart / 2 / all);
		}
	return most;
}
