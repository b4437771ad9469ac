/* Part g: three things as the paper prints them, tried as printed. */
#include "tools/paper/printed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/field/share.h"
#include "common/mixing/spectrum.h"
#include "common/base/random.h"
#include "tools/paper/document.h"
#include "tools/paper/step.h"

/* ---- c_tau != 0: Lemma 2, by counting every polynomial over a small field ---- */

#define SMALL_P 7u
#define TAU 2u
#define PAIRS (SMALL_P * SMALL_P)

/* count[x][h1 h2]: how many polynomials of secret x give two colluders these shares. */
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

/* The largest total variation distance between what two secrets lead to; 0: the shares say nothing. */
static double distance_of(uint32_t count[SMALL_P][PAIRS])
{
	double most = 0;
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

int sl_printed_share_distance(bool zero_allowed, double *distance)
{
	static const sl_id neighbours[TAU] = {1, 2};
	uint8_t memory[4096];
	struct sl_arena arena;
	struct sl_field field;
	struct sl_sharing sharing;
	uint32_t count[SMALL_P][PAIRS] = {{0}};
	sl_arena_init(&arena, memory, sizeof memory);
	int rc = sl_field_init(&field, SMALL_P);
	if (rc == SL_OK)
		rc = sl_share_init(&sharing, &field, 3, neighbours, TAU, &arena);
	if (rc != SL_OK)
		return rc;
	count_shares(&sharing, zero_allowed, count);
	*distance = distance_of(count);
	return SL_OK;
}

static int lemma(struct sl_paper *r, struct sl_error *error)
{
	double printed, uniform;
	int rc = sl_printed_share_distance(false, &printed);
	if (rc == SL_OK)
		rc = sl_printed_share_distance(true, &uniform);
	if (rc != SL_OK)
		return sl_err_set(error, rc, "shares over a field of 7: %s", sl_err_text(rc));
	sl_document_text(r,
			 "Shares. The paper draws the highest coefficient from 1..p-1. Then any τ shares "
			 "exclude one secret. All polynomials "
			 "over p = %u with τ = %u, counted: the shares of two colluders have a total "
			 "variation distance of %.4f between two "
			 "secrets. With all coefficients uniform, as here, it is %.4f: Lemma 2 holds.",
			 SMALL_P, TAU, printed, uniform);
	if (uniform != 0)
		sl_paper_broken(r, "shares with uniform coefficients tell of the secret: distance %g",
				uniform);
	sl_paper_claim(r, 'g', printed == 0 ? SL_HOLDS : SL_HOLDS_NOT,
		       "τ shares tell nothing (Lemma 2), with c_τ ≠ 0 as printed", "distance 0",
		       "%.4f at p = 7, τ = 2 (1/6 = %.4f); 0 with c_τ uniform", printed, 1.0 / 6);
	return SL_OK;
}

/* ---- the update rule with s_i for s_j ---- */

#define STATES 16u

static void draw_states(double *s, uint32_t n, uint64_t p, double *sums)
{
	uint64_t random = sl_random_seed(p, n, STATES);
	for (uint32_t i = 0; i < n * STATES; i++) {
		s[i] = floor(sl_random_in(&random, 0, (double)p));
		sums[i % STATES] += s[i];
	}
}

/* One iteration with the state of j, as meant, or that of i, as printed. */
static void update(const struct sl_graph *g, bool printed, const double *s, double *next)
{
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t l = 0; l < STATES; l++) {
			double own = 1, sum = 0;
			for (uint32_t r = 0; r < sl_graph_degree(g, i); r++) {
				uint32_t j = sl_graph_neighbours(g, i)[r];
				double a = 1.0 / sl_graph_metropolis(g, i, j);
				own -= a;
				sum += a * s[(printed ? i : j) * STATES + l];
			}
			next[i * STATES + l] = own * s[i * STATES + l] + sum;
		}
}

uint32_t sl_printed_update_right(const struct sl_graph *g, bool printed, uint64_t p, uint64_t k)
{
	size_t count = (size_t)g->n * STATES;
	double *s = calloc(2 * count, sizeof *s), *next = s + count, sums[STATES] = {0};
	uint32_t right = 0;
	if (s == NULL)
		abort();
	draw_states(s, g->n, p, sums);
	for (; k > 0; k--) {
		update(g, printed, s, next);
		for (size_t i = 0; i < count; i++)
			s[i] = next[i];
	}
	for (uint32_t i = 0; i < count; i++)
		right += floor(g->n * s[i] + 0.5) == sums[i % STATES];
	free(s);
	return right;
}

static void tell_rule(struct sl_paper *r, const struct sl_graph *graph, double mu)
{
	uint64_t k = sl_spectrum_iterations(SL_PAPER_P, graph->n, mu);
	uint32_t all = graph->n * STATES;
	uint32_t printed = sl_printed_update_right(graph, true, SL_PAPER_P, k),
		 meant = sl_printed_update_right(graph, false, SL_PAPER_P, k);
	sl_document_text(r,
			 "The update rule prints s_i where s_j is meant; as printed, no learner ever moves, "
			 "since the weights of a row add up "
			 "to 1. 40 neighbours, %" PRIu64
			 " iterations, real numbers: %u of %u states come out right as printed, %u as meant.",
			 k, printed, all, meant);
	sl_paper_claim(r, 'g',
		       printed == all ? SL_HOLDS
		       : meant == all ? SL_MISPRINT
				      : SL_HOLDS_NOT,
		       "the update rule reaches the mean (it prints s_i for s_j)", "all states",
		       "as printed %u of %u, as meant %u of %u", printed, all, meant, all);
}

static int rule(struct sl_paper *r, struct sl_error *error)
{
	struct sl_step_graph graph;
	struct sl_eigen eigen;
	int rc = sl_step_graph_named(&graph, "neighbours:40", SL_PAPER_LEARNERS, error);
	if (rc == SL_OK && (rc = sl_spectrum_eigen(&graph.graph, &eigen)) != SL_OK)
		sl_err_set(error, rc, "40 neighbours: %s", sl_err_text(rc));
	if (rc == SL_OK)
		tell_rule(r, &graph.graph, eigen.mu);
	sl_step_graph_close(&graph);
	return rc;
}

int sl_paper_printed(struct sl_paper *r, struct sl_error *error)
{
	sl_document_heading(r, "g. As printed");
	int rc = lemma(r, error);
	if (rc == SL_OK)
		rc = rule(r, error);
	if (rc == SL_OK)
		rc = sl_reals_printed(r, error);
	return rc;
}
