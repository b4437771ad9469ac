#include "common/mixing/minimal_polynomial.h"

#include <assert.h>
#include <string.h>

#include "common/field/prg.h"

#define VECTORS 5u /* of n: x, next, sum, projection, and the inverses */
#define SERIES 6u  /* of n: the sequence takes two; C, B, a spare, and a product */
#define PIECES 12u
#define NEVER (UINT32_MAX / 2)

static_assert(SL_HASH_BYTES == SL_KEY_BYTES, "a seed is the key of a random stream");

struct weighted {
	uint32_t a, b;
	uint64_t weight; /* w_ab */
};

/* W, and working memory. */
struct walk {
	const struct sl_field *field;
	uint32_t n, edges;
	struct weighted *edge;
	uint64_t *x, *next;   /* W^k y, and the one after it */
	uint64_t *sum;	      /* r(W) y */
	uint64_t *projection; /* u of u^T W^k v */
	uint64_t *inverse;    /* of 1..n */
};

/* Berlekamp-Massey: C of length L is the shortest generator of the terms read, B the generator before L last
 * grew. */
struct massey {
	const struct sl_field *field;
	uint64_t *sequence; /* room for 2 n */
	uint64_t *c, *b, *spare;
	uint32_t n;
	uint32_t read;	      /* terms of the sequence */
	uint32_t length;      /* of C */
	uint32_t length_b;    /* of B */
	uint32_t shift;	      /* terms since B was replaced */
	uint64_t discrepancy; /* of B */
};

size_t sl_minimal_polynomial_scratch(uint32_t n, uint32_t edges)
{
	return ((size_t)n + 1) * (VECTORS + SERIES) * sizeof(uint64_t) +
	       (size_t)edges * sizeof(struct weighted) + PIECES * SL_ARENA_ALIGNMENT;
}

/* Invert 1..n: 1/d = -(p div d) / (p mod d), from the inverses below d. */
static void invert_all(const struct sl_field *field, uint32_t n, uint64_t *inverse)
{
	inverse[1] = 1;
	for (uint32_t d = 2; d <= n; d++)
		inverse[d] = field->p - sl_field_mul(field, field->p / d, inverse[field->p % d]);
}

static void weigh_edges(struct walk *walk, const struct sl_graph *graph)
{
	for (uint32_t v = 0; v < graph->n; v++)
		for (uint32_t k = 0; k < sl_graph_degree(graph, v); k++) {
			uint32_t u = sl_graph_neighbours(graph, v)[k];
			if (u > v)
				walk->edge[walk->edges++] = (struct weighted){
					v, u, walk->inverse[sl_graph_metropolis(graph, v, u)]};
		}
}

static int walk_init(struct walk *walk, const struct sl_graph *graph, const struct sl_field *field,
		     struct sl_arena *scratch)
{
	size_t n = graph->n;
	*walk = (struct walk){.field = field, .n = graph->n};
	walk->edge = SL_ARENA_TAKE(scratch, graph->edges, struct weighted);
	walk->x = SL_ARENA_TAKE(scratch, n, uint64_t);
	walk->next = SL_ARENA_TAKE(scratch, n, uint64_t);
	walk->sum = SL_ARENA_TAKE(scratch, n, uint64_t);
	walk->projection = SL_ARENA_TAKE(scratch, n, uint64_t);
	walk->inverse = SL_ARENA_TAKE(scratch, n + 1, uint64_t);
	if (walk->edge == NULL || walk->x == NULL || walk->next == NULL || walk->sum == NULL ||
	    walk->projection == NULL || walk->inverse == NULL)
		return SL_ERR_NOMEM;
	invert_all(field, graph->n, walk->inverse);
	weigh_edges(walk, graph);
	return SL_OK;
}

/* Set x = W x: along every edge flows w (x_b - x_a), in both directions. */
static void step(struct walk *walk)
{
	const struct sl_field *field = walk->field;
	uint64_t *x = walk->x, *next = walk->next;
	memcpy(next, x, walk->n * sizeof *next);
	for (uint32_t e = 0; e < walk->edges; e++) {
		uint32_t a = walk->edge[e].a, b = walk->edge[e].b;
		uint64_t flow = sl_field_mul(field, walk->edge[e].weight, sl_field_sub(field, x[b], x[a]));
		next[a] = sl_field_add(field, next[a], flow);
		next[b] = sl_field_sub(field, next[b], flow);
	}
	walk->x = next;
	walk->next = x;
}

/* Draw x uniformly among the vectors that sum to zero. */
static void draw_balanced(struct walk *walk, struct sl_prg *randomness)
{
	uint64_t total = 0;
	sl_prg_fill(randomness, walk->field, walk->x, walk->n - 1);
	for (uint32_t v = 0; v + 1 < walk->n; v++)
		total = sl_field_add(walk->field, total, walk->x[v]);
	walk->x[walk->n - 1] = sl_field_sub(walk->field, 0, total);
}

/* Add factor * from to `into`. */
static void add_multiple(const struct sl_field *field, uint64_t *into, uint64_t factor, const uint64_t *from,
			 size_t count)
{
	for (size_t k = 0; k < count; k++)
		into[k] = sl_field_add(field, into[k], sl_field_mul(field, factor, from[k]));
}

static uint64_t dot(const struct sl_field *field, const uint64_t *a, const uint64_t *b, uint32_t n)
{
	uint64_t sum = 0;
	for (uint32_t v = 0; v < n; v++)
		sum = sl_field_add(field, sum, sl_field_mul(field, a[v], b[v]));
	return sum;
}

/* Set sum = r(W) y for a random y that sums to zero. Return whether it is 0. */
static bool annihilates(struct walk *walk, struct sl_prg *randomness, const uint64_t *r, uint32_t degree)
{
	draw_balanced(walk, randomness);
	memset(walk->sum, 0, walk->n * sizeof *walk->sum);
	for (uint32_t k = 0; k <= degree; k++) {
		if (k > 0)
			step(walk);
		add_multiple(walk->field, walk->sum, r[k], walk->x, walk->n);
	}
	for (uint32_t v = 0; v < walk->n; v++)
		if (walk->sum[v] != 0)
			return false;
	return true;
}

static int massey_init(struct massey *massey, const struct sl_field *field, uint32_t n,
		       struct sl_arena *scratch)
{
	*massey = (struct massey){.field = field, .n = n};
	massey->sequence = SL_ARENA_TAKE(scratch, 2 * (size_t)n, uint64_t);
	massey->c = SL_ARENA_TAKE(scratch, n, uint64_t);
	massey->b = SL_ARENA_TAKE(scratch, n, uint64_t);
	massey->spare = SL_ARENA_TAKE(scratch, n, uint64_t);
	bool taken =
		massey->sequence != NULL && massey->c != NULL && massey->b != NULL && massey->spare != NULL;
	return taken ? SL_OK : SL_ERR_NOMEM;
}

static void massey_open(struct massey *massey)
{
	memset(massey->c, 0, massey->n * sizeof *massey->c);
	memset(massey->b, 0, massey->n * sizeof *massey->b);
	massey->c[0] = massey->b[0] = 1;
	massey->read = massey->length = massey->length_b = 0;
	massey->shift = 1;
	massey->discrepancy = 1;
}

/* Return the discrepancy of C at the last term read: s_i + c_1 s_(i-1) + .. + c_L s_(i-L). */
static uint64_t discrepancy_of(const struct massey *massey)
{
	const uint64_t *last = massey->sequence + massey->read - 1;
	uint64_t sum = 0;
	for (uint32_t k = 0; k <= massey->length; k++)
		sum = sl_field_add(massey->field, sum,
				   sl_field_mul(massey->field, massey->c[k], *(last - k)));
	return sum;
}

/* Subtract discrepancy / that of B * t^shift B from C; where C must grow, the old C becomes B. */
static void massey_correct(struct massey *massey, uint64_t discrepancy)
{
	const struct sl_field *field = massey->field;
	bool grows = 2 * massey->length < massey->read;
	uint64_t ratio = sl_field_mul(field, discrepancy, sl_field_inverse(field, massey->discrepancy));
	uint64_t *old = massey->spare;
	assert(massey->shift + massey->length_b < massey->n); /* W has no longer generator */
	if (grows)
		memcpy(old, massey->c, massey->n * sizeof *old);
	add_multiple(field, massey->c + massey->shift, field->p - ratio, massey->b, massey->length_b + 1);
	if (!grows)
		return;
	massey->spare = massey->b;
	massey->b = old;
	massey->length_b = massey->length;
	massey->length = massey->read - massey->length;
	massey->discrepancy = discrepancy;
	massey->shift = 0;
}

static void massey_read(struct massey *massey, uint64_t term)
{
	massey->sequence[massey->read++] = term;
	uint64_t discrepancy = discrepancy_of(massey);
	if (discrepancy != 0)
		massey_correct(massey, discrepancy);
	massey->shift++;
}

/* Read u^T W^k v for a random u and v = walk->sum. After twice as many terms as the generator can be long
 * (`most`) C is it. After `enough` more than twice C's own length it almost surely is: see find. */
static void project(struct walk *walk, struct sl_prg *randomness, struct massey *massey, uint32_t most,
		    uint32_t enough)
{
	sl_prg_fill(randomness, walk->field, walk->projection, walk->n);
	memcpy(walk->x, walk->sum, walk->n * sizeof *walk->x);
	massey_open(massey);
	while (massey->read < 2 * most && massey->read < 2 * massey->length + enough) {
		massey_read(massey, dot(walk->field, walk->projection, walk->x, walk->n));
		step(walk);
	}
}

/* r *= t^L C(1/t), the monic polynomial that C stands for. */
static void multiply(const struct massey *massey, uint64_t *r, uint32_t *degree)
{
	uint64_t *product = massey->spare;
	memset(product, 0, massey->n * sizeof *product);
	for (uint32_t k = 0; k <= massey->length; k++)
		add_multiple(massey->field, product + massey->length - k, massey->c[k], r, *degree + 1);
	*degree += massey->length;
	memcpy(r, product, (*degree + 1) * sizeof *r);
}

/* Return the number of random vectors that a wrong r passes with probability below 2^-64, r being one of at
 * most n candidates and a vector letting it pass with at most 1/p: the number of digits of n 2^64 in base p.
 */
static uint32_t checks_of(const struct sl_field *field, uint32_t n)
{
	uint32_t digits = 0;
	for (unsigned __int128 rest = (unsigned __int128)n << 64; rest != 0; rest /= field->p)
		digits++;
	return digits;
}

/* Find r. Where r(W) y is not 0, it is the start of the next projection, and the generator of that projection
 * is the factor that r lacks: a divisor of the true polynomial, so that r stays a divisor and is the
 * polynomial when all checks pass. A projection that stopped early may give another factor, but none of this
 * length that annihilates everything: only when a check fails is it in doubt, and then everything starts
 * again without stopping early. */
static void find(struct walk *walk, struct sl_prg *randomness, struct massey *massey, uint64_t *r,
		 uint32_t *degree)
{
	uint32_t checks = checks_of(walk->field, walk->n), enough = 2 * checks;
	*degree = 0;
	r[0] = 1;
	for (uint32_t passed = 0; passed < checks;) {
		if (annihilates(walk, randomness, r, *degree)) {
			passed++;
			continue;
		}
		passed = 0;
		if (*degree > 0 && enough != NEVER) {
			enough = NEVER;
			*degree = 0;
			r[0] = 1;
			continue;
		}
		assert(*degree < walk->n - 1); /* the vectors have no more dimensions */
		project(walk, randomness, massey, walk->n - 1 - *degree, enough);
		multiply(massey, r, degree);
	}
}

int sl_minimal_polynomial(const struct sl_graph *graph, const struct sl_field *field,
			  const uint8_t seed[static SL_HASH_BYTES], uint64_t *r, uint32_t *degree,
			  struct sl_arena *scratch)
{
	if (graph->n == 0 || field->p <= graph->n)
		return SL_ERR_INVALID;
	size_t mark = sl_arena_mark(scratch);
	struct walk walk;
	struct massey massey;
	int err = walk_init(&walk, graph, field, scratch);
	if (err == SL_OK)
		err = massey_init(&massey, field, graph->n, scratch);
	if (err == SL_OK) {
		struct sl_prg randomness;
		sl_prg_open(&randomness, seed);
		find(&walk, &randomness, &massey, r, degree);
		if (sl_minimal_polynomial_at_one(field, r, *degree) == 0)
			err = SL_ERR_INVALID;
	}
	sl_arena_reset(scratch, mark);
	return err;
}

uint64_t sl_minimal_polynomial_at_one(const struct sl_field *field, const uint64_t *r, uint32_t degree)
{
	uint64_t sum = 0;
	for (uint32_t k = 0; k <= degree; k++)
		sum = sl_field_add(field, sum, r[k]);
	return sum;
}

uint64_t sl_minimal_polynomial_scale(const struct sl_field *field, const uint64_t *r, uint32_t degree,
				     uint32_t learners)
{
	return sl_field_mul(field, learners % field->p,
			    sl_field_inverse(field, sl_minimal_polynomial_at_one(field, r, degree)));
}
