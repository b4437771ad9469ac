#include "common/graph/generate.h"

#include <math.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/random.h"

#define UNIT (1 << 20)		/* side of the square in which learners move */
#define SPEED_LEAST (UNIT / 50) /* per step */
#define SPEED_SPREAD (UNIT / 12)
#define SWITCHES_PER_EDGE 20u /* enough to mix the circulant; changing it changes the graph of every seed */

static uint64_t seeded(uint64_t seed, uint64_t which)
{
	uint64_t state = seed;
	state = sl_random_next(&state) ^ which * UINT64_C(0xd1342543de82ef95);
	return sl_random_next(&state);
}

/* ---- families given by a rule on the pair a < b ---- */

static uint32_t grid_columns(uint32_t n)
{
	uint32_t columns = 1;
	while (columns * columns < n)
		columns++;
	return columns;
}

static bool adjacent(const struct sl_family *topology, uint32_t n, uint32_t a, uint32_t b)
{
	uint32_t k = (uint32_t)topology->parameter, gap = b - a, columns;
	switch (topology->kind) {
	case SL_FAMILY_COMPLETE:
		return true;
	case SL_FAMILY_RING:
		return gap == 1 || gap == n - 1;
	case SL_FAMILY_LINE:
		return gap == 1;
	case SL_FAMILY_STAR:
		return a == 0;
	case SL_FAMILY_GRID:
		columns = grid_columns(n);
		return gap == columns || (gap == 1 && b % columns != 0);
	case SL_FAMILY_NEAREST:
		return gap <= k / 2 || gap >= n - k / 2;
	case SL_FAMILY_NEIGHBOURS:
		return gap % (2 * n / k) == 1 || gap % (2 * n / k) == 2 * n / k - 1;
	default:
		return false;
	}
}

/* ---- regular: a circulant, then many random switches ---- */

struct lattice {
	uint32_t n;
	uint64_t *bits; /* n * n, symmetric */
};

static bool has(const struct lattice *m, uint32_t a, uint32_t b)
{
	return sl_bit(m->bits, (size_t)a * m->n + b);
}

static void set(struct lattice *m, uint32_t a, uint32_t b)
{
	sl_bit_set(m->bits, (size_t)a * m->n + b);
	sl_bit_set(m->bits, (size_t)b * m->n + a);
}

static void clear(struct lattice *m, uint32_t a, uint32_t b)
{
	sl_bit_clear(m->bits, (size_t)a * m->n + b);
	sl_bit_clear(m->bits, (size_t)b * m->n + a);
}

/* Write a circulant: d-regular, and connected for every valid d >= 2 because its offsets include 1. */
static size_t circulant(struct lattice *m, uint32_t d, struct sl_edge *edges)
{
	size_t count = 0;
	for (uint32_t a = 0; a < m->n; a++)
		for (uint32_t offset = 1; offset <= d / 2; offset++)
			edges[count++] = (struct sl_edge){a, (a + offset) % m->n};
	for (uint32_t a = 0; d % 2 == 1 && a < m->n / 2; a++)
		edges[count++] = (struct sl_edge){a, a + m->n / 2};
	for (size_t e = 0; e < count; e++)
		set(m, edges[e].a, edges[e].b);
	return count;
}

/* Replace a-b, c-d by a-d, c-b where that leaves a simple graph, `tries` times. Degrees do not change. */
static void switch_edges(struct lattice *m, struct sl_edge *edges, size_t count, size_t tries,
			 uint64_t *random)
{
	while (tries-- > 0) {
		struct sl_edge *e = &edges[sl_random_below(random, (uint32_t)count)],
			       *f = &edges[sl_random_below(random, (uint32_t)count)];
		struct sl_edge g = *f;
		if (sl_random_next(random) & 1)
			g = (struct sl_edge){f->b, f->a};
		if (e->a == g.a || e->a == g.b || e->b == g.a || e->b == g.b || has(m, e->a, g.b) ||
		    has(m, g.a, e->b))
			continue;
		clear(m, e->a, e->b);
		clear(m, g.a, g.b);
		*f = (struct sl_edge){g.a, e->b};
		e->b = g.b;
		set(m, e->a, e->b);
		set(m, f->a, f->b);
	}
}

/* Write a random ring. For d = 2, switching nearly always leaves several rings. */
static size_t random_ring(struct lattice *m, struct sl_edge *edges, uint32_t *order, uint64_t *random)
{
	for (uint32_t v = 0; v < m->n; v++) {
		uint32_t at = sl_random_below(random, v + 1);
		order[v] = order[at];
		order[at] = v;
	}
	for (uint32_t v = 0; v < m->n; v++) {
		edges[v] = (struct sl_edge){order[v], order[(v + 1) % m->n]};
		set(m, edges[v].a, edges[v].b);
	}
	return m->n;
}

static int regular(struct lattice *m, uint32_t d, uint64_t *random, struct sl_arena *scratch)
{
	uint32_t *order = SL_ARENA_TAKE(scratch, m->n, uint32_t);
	struct sl_edge *edges = SL_ARENA_TAKE(scratch, (size_t)m->n * d / 2 + 1, struct sl_edge);
	if (order == NULL || edges == NULL)
		return SL_ERR_NOMEM;
	if (d == 2 && m->n > 2)
		return random_ring(m, edges, order, random) > 0 ? SL_OK : SL_ERR_INVALID;
	size_t count = circulant(m, d, edges);
	uint32_t components = 0;
	while (components != 1) { /* a random d-regular graph with d >= 3 is connected nearly always */
		struct sl_graph graph;
		size_t mark = sl_arena_mark(scratch);
		switch_edges(m, edges, count, SWITCHES_PER_EDGE * count, random);
		int err = sl_graph_init(&graph, m->n, edges, count, scratch);
		if (err != SL_OK)
			return err;
		components = sl_graph_components(&graph, NULL, scratch);
		if (components == 0)
			return SL_ERR_NOMEM;
		sl_arena_reset(scratch, mark);
	}
	return SL_OK;
}

/* ---- geometric: random waypoint, in whole units so that no machine rounds differently ---- */

struct walker {
	int64_t x, y, to_x, to_y, speed;
	uint64_t random;
};

static void aim(struct walker *w)
{
	w->to_x = sl_random_below(&w->random, UNIT);
	w->to_y = sl_random_below(&w->random, UNIT);
	w->speed = SPEED_LEAST + sl_random_below(&w->random, SPEED_SPREAD);
}

static void walk(struct walker *w)
{
	int64_t dx = w->to_x - w->x, dy = w->to_y - w->y;
	int64_t distance =
		(int64_t)sqrt((double)(dx * dx + dy * dy)); /* exact operand, correctly rounded root */
	if (distance <= w->speed) {
		w->x = w->to_x;
		w->y = w->to_y;
		aim(w);
		return;
	}
	w->x += dx * w->speed / distance;
	w->y += dy * w->speed / distance;
}

static int geometric(struct lattice *m, double radius, uint64_t seed, uint32_t step, struct sl_arena *scratch)
{
	struct walker *walkers = SL_ARENA_TAKE(scratch, m->n, struct walker);
	int64_t reach = (int64_t)(radius * UNIT);
	if (walkers == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t v = 0; v < m->n; v++) {
		struct walker *w = &walkers[v];
		w->random = seeded(seed, v);
		w->x = sl_random_below(&w->random, UNIT);
		w->y = sl_random_below(&w->random, UNIT);
		aim(w);
		for (uint32_t s = 0; s < step; s++)
			walk(w);
		for (uint32_t u = 0; u < v; u++) {
			int64_t dx = walkers[u].x - w->x, dy = walkers[u].y - w->y;
			if (dx * dx + dy * dy <= reach * reach)
				set(m, u, v);
		}
	}
	return SL_OK;
}

/* ---- the edges in order ---- */

static int collect(const struct sl_family *topology, const struct lattice *m, struct sl_edge *edges,
		   size_t capacity, size_t *count)
{
	size_t found = 0;
	for (uint32_t a = 0; a < m->n; a++) {
		for (uint32_t b = a + 1; b < m->n; b++) {
			if (m->bits != NULL ? !has(m, a, b) : !adjacent(topology, m->n, a, b))
				continue;
			if (found == capacity)
				return SL_ERR_FULL;
			edges[found++] = (struct sl_edge){a, b};
		}
	}
	*count = found;
	return SL_OK;
}

int sl_generate(const struct sl_family *topology, uint32_t n, uint64_t seed, uint32_t step,
		struct sl_edge *edges, size_t capacity, size_t *count, struct sl_arena *scratch)
{
	if (sl_family_fault(topology, n) != NULL)
		return SL_ERR_INVALID;
	struct lattice m = {.n = n};
	size_t mark = sl_arena_mark(scratch);
	bool drawn = topology->kind == SL_FAMILY_REGULAR || topology->kind == SL_FAMILY_GEOMETRIC;
	int err = SL_OK;
	if (drawn) {
		uint64_t random = seeded(seed, step);
		m.bits = SL_ARENA_TAKE(scratch, sl_bit_words((size_t)n * n), uint64_t);
		if (m.bits == NULL)
			err = SL_ERR_NOMEM;
		else if (topology->kind == SL_FAMILY_REGULAR)
			err = regular(&m, (uint32_t)topology->parameter, &random, scratch);
		else
			err = geometric(&m, topology->parameter, seed, step, scratch);
	}
	if (err == SL_OK)
		err = collect(topology, &m, edges, capacity, count);
	sl_arena_reset(scratch, mark);
	return err;
}
