#include "common/graph/forest.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/graph/keepers.h"

#define NONE UINT32_MAX
#define PRICES 480u	 /* for so many edges above the budget; further ones cost as much as the last */
#define EDGES_MORE 4u	 /* in the budget, where parts are small */
#define WEIGHT_BITS 40	 /* of the largest weight for the bound */
#define BOUND_TREES 300u /* minimum spanning trees for the bound */

/* A tree that is growing. A vertex beside it waits in a heap: first come the least cost, the nearest to the
 * root, the least number. */
struct growth {
	const struct sl_graph *graph;
	uint64_t *price;  /* n; of one more edge at a vertex */
	uint64_t *cost;	  /* n; of the cheapest edge to the tree; UINT64_MAX: none is known */
	uint32_t *parent; /* n; the other end of that edge */
	uint32_t *level;  /* n; steps to the root over that edge */
	uint32_t *place;  /* n; in the heap; NONE: in the tree, or in neither */
	uint32_t *heap;
	uint32_t waiting; /* in the heap */
	uint32_t *order;  /* n; the vertices in the order in which they joined */
	uint32_t joined;
	uint32_t spent;	  /* of these so many, from the first on, have no free edge */
	uint64_t total;	  /* cost of the tree */
	uint32_t *degree; /* n; edges in the tree */
	uint32_t *load;	  /* n; edges in all trees so far */
	uint32_t to_come; /* trees: at a vertex, an edge is set aside for each */
	uint32_t budget;  /* edges of a vertex that are free, over all trees; 0: prices stay as they are */
	uint64_t prices[PRICES];
};

/* The heights of the two tallest branches below each vertex. */
struct branches {
	uint32_t *tallest, *next; /* n; with the edge to the child; 0: there is none */
	uint32_t *child;	  /* n; on the tallest branch */
};

size_t sl_forest_bytes(uint32_t n, uint32_t most)
{
	size_t words = 2 * (size_t)most + 1 + 7 + 3, keepers = sl_keepers_scratch(n);
	return words * n * sizeof(uint32_t) + 2 * n * sizeof(uint64_t) + keepers + 15 * SL_ARENA_ALIGNMENT;
}

static int growth_init(struct growth *g, const struct sl_graph *graph, struct sl_arena *arena)
{
	uint32_t n = graph->n;
	*g = (struct growth){.graph = graph};
	g->price = SL_ARENA_TAKE(arena, n, uint64_t);
	g->cost = SL_ARENA_TAKE(arena, n, uint64_t);
	g->level = SL_ARENA_TAKE(arena, n, uint32_t);
	g->place = SL_ARENA_TAKE(arena, n, uint32_t);
	g->heap = SL_ARENA_TAKE(arena, n, uint32_t);
	g->order = SL_ARENA_TAKE(arena, n, uint32_t);
	g->load = SL_ARENA_TAKE(arena, n, uint32_t);
	g->parent = SL_ARENA_TAKE(arena, n, uint32_t);
	g->degree = SL_ARENA_TAKE(arena, n, uint32_t);
	uint64_t price = 16;
	for (uint32_t k = 1; k < PRICES; k++, price += price / 16)
		g->prices[k] = price;
	return g->degree != NULL && g->parent != NULL && g->load != NULL && g->order != NULL &&
			       g->heap != NULL && g->place != NULL && g->level != NULL && g->cost != NULL &&
			       g->price != NULL
		       ? SL_OK
		       : SL_ERR_NOMEM;
}

/* --- the heap --- */

static bool before(const struct growth *g, uint32_t v, uint32_t u)
{
	if (g->cost[v] != g->cost[u])
		return g->cost[v] < g->cost[u];
	return g->level[v] != g->level[u] ? g->level[v] < g->level[u] : v < u;
}

static void put(struct growth *g, uint32_t at, uint32_t v)
{
	g->heap[at] = v;
	g->place[v] = at;
}

static void rise(struct growth *g, uint32_t v)
{
	uint32_t at = g->place[v];
	for (; at > 0 && before(g, v, g->heap[(at - 1) / 2]); at = (at - 1) / 2)
		put(g, at, g->heap[(at - 1) / 2]);
	put(g, at, v);
}

static void sink(struct growth *g, uint32_t v)
{
	uint32_t at = g->place[v], below;
	for (; (below = 2 * at + 1) < g->waiting; at = below) {
		if (below + 1 < g->waiting && before(g, g->heap[below + 1], g->heap[below]))
			below++;
		if (!before(g, g->heap[below], v))
			break;
		put(g, at, g->heap[below]);
	}
	put(g, at, v);
}

/* --- one tree --- */

static void set_price(struct growth *g, uint32_t v)
{
	uint32_t edges = g->load[v] + 1 + g->to_come;
	uint32_t above = edges > g->budget ? edges - g->budget : 0;
	if (g->budget > 0)
		g->price[v] = g->prices[above < PRICES ? above : PRICES - 1];
}

/* Let `v` hang from `u` if that is better than where it would hang now. */
static bool offer(struct growth *g, uint32_t v, uint32_t u)
{
	uint64_t cost = g->price[u] + g->price[v];
	uint32_t level = g->level[u] + 1;
	if (cost > g->cost[v] || (cost == g->cost[v] && level >= g->level[v]))
		return false;
	g->cost[v] = cost;
	g->level[v] = level;
	g->parent[v] = u;
	return true;
}

/* Offer `v` to its neighbours outside the tree. */
static void extend(struct growth *g, uint32_t v)
{
	const uint32_t *neighbours = sl_graph_neighbours(g->graph, v);
	for (uint32_t k = 0; k < sl_graph_degree(g->graph, v); k++) {
		uint32_t u = neighbours[k];
		bool fresh = g->cost[u] == UINT64_MAX;
		if ((!fresh && g->place[u] == NONE) || !offer(g, u, v))
			continue;
		if (fresh)
			put(g, g->waiting++, u);
		rise(g, u);
	}
}

/* Return the first vertex of the tree with a free edge, or NONE. */
static uint32_t first_free(struct growth *g)
{
	while (g->spent < g->joined && g->price[g->order[g->spent]] > 0)
		g->spent++;
	return g->spent < g->joined ? g->order[g->spent] : NONE;
}

/* Return whether the first of the heap costs more by now, after finding its cheapest edge again. The first
 * vertex of the tree with a free edge is tried before the others: in a dense graph they are many. */
static bool dearer(struct growth *g, uint32_t v)
{
	if (g->price[v] + g->price[g->parent[v]] == g->cost[v])
		return false;
	uint32_t free = first_free(g);
	bool found = free != NONE && sl_graph_adjacent(g->graph, v, free);
	g->cost[v] = UINT64_MAX;
	if (found)
		offer(g, v, free);
	for (uint32_t k = 0; !found && k < sl_graph_degree(g->graph, v); k++) {
		uint32_t u = sl_graph_neighbours(g->graph, v)[k];
		if (g->cost[u] != UINT64_MAX && g->place[u] == NONE)
			offer(g, v, u);
	}
	sink(g, v);
	return true;
}

/* Take the first of the heap into the tree. */
static void join(struct growth *g, uint32_t v)
{
	uint32_t last = g->heap[--g->waiting];
	g->place[last] = 0;
	if (last != v)
		sink(g, last);
	g->place[v] = NONE;
	g->order[g->joined++] = v;
	uint32_t u = g->parent[v];
	if (u == v)
		return;
	g->total += g->cost[v];
	g->degree[v]++;
	g->degree[u]++;
	g->load[v]++;
	g->load[u]++;
	set_price(g, v);
	set_price(g, u);
}

/* Grow a tree from `root`. Return false if it does not span the graph. */
static bool grow(struct growth *g, uint32_t root)
{
	for (uint32_t v = 0; v < g->graph->n; v++) {
		g->cost[v] = UINT64_MAX;
		g->place[v] = NONE;
		g->degree[v] = 0;
		set_price(g, v);
	}
	g->joined = g->waiting = g->spent = 0;
	g->total = 0;
	g->cost[root] = 2 * g->price[root];
	g->level[root] = 0;
	g->parent[root] = root;
	put(g, g->waiting++, root);
	while (g->waiting > 0) {
		uint32_t v = g->heap[0];
		if (dearer(g, v))
			continue;
		join(g, v);
		extend(g, v);
	}
	return g->joined == g->graph->n;
}

/* Return the vertex with the least load, of these the one with the most neighbours, of these the first. */
static uint32_t least_loaded(const struct growth *g)
{
	uint32_t best = 0;
	for (uint32_t v = 1; v < g->graph->n; v++)
		if (g->load[v] < g->load[best] ||
		    (g->load[v] == g->load[best] &&
		     sl_graph_degree(g->graph, v) > sl_graph_degree(g->graph, best)))
			best = v;
	return best;
}

/* --- the root --- */

static void measure(const struct growth *g, struct branches *b)
{
	for (uint32_t v = 0; v < g->graph->n; v++)
		b->tallest[v] = b->next[v] = 0;
	for (uint32_t k = g->joined; k-- > 1;) {
		uint32_t v = g->order[k], u = g->parent[v], height = b->tallest[v] + 1;
		if (height > b->tallest[u]) {
			b->next[u] = b->tallest[u];
			b->tallest[u] = height;
			b->child[u] = v;
		} else if (height > b->next[u]) {
			b->next[u] = height;
		}
	}
}

/* Move the root to the centre, over the tallest branch as long as the rest stays lower. Return the depth. */
static uint32_t move_root(struct growth *g, struct branches *b)
{
	measure(g, b);
	uint32_t root = g->order[0], rest = b->next[root];
	while (b->tallest[root] > rest + 1) {
		uint32_t child = b->child[root];
		g->parent[root] = child;
		root = g->parent[child] = child;
		rest = b->next[child] > rest + 1 ? b->next[child] : rest + 1;
	}
	return b->tallest[root] > rest ? b->tallest[root] : rest;
}

/* --- all trees --- */

/* Return the edges of a vertex that are free over all trees: the average and 1/10 of it. Where few trees were
 * asked for, the parts are small: some edges more cost less than deeper trees. A single tree is for depth
 * alone. */
static uint32_t budget_of(uint32_t n, uint32_t trees, bool few)
{
	uint32_t average = (2 * trees * (n - 1) + n - 1) / n;
	return trees == 1 ? n : average + average / 10 + (few ? EDGES_MORE : 0);
}

struct forester {
	struct growth growth;
	struct branches branches;
	struct sl_forest tried; /* its `parent` is an array of its own */
};

/* Move the root of the grown tree, and count its edges. */
static void finish(struct forester *f)
{
	uint32_t depth = move_root(&f->growth, &f->branches);
	f->tried.depth = depth > f->tried.depth ? depth : f->tried.depth;
	for (uint32_t v = 0; v < f->tried.n; v++)
		if (f->growth.load[v] > f->tried.busiest)
			f->tried.busiest = f->growth.load[v];
}

/* Grow all trees. Return false if they do not span the graph. */
static bool try(struct forester *f, uint32_t budget)
{
	struct growth *g = &f->growth;
	uint32_t n = f->tried.n;
	f->tried.depth = f->tried.busiest = 0;
	memset(g->load, 0, n * sizeof *g->load);
	g->budget = budget;
	for (uint32_t t = 0; t < f->tried.trees; t++) {
		g->to_come = f->tried.trees - 1 - t;
		g->parent = f->tried.parent + (size_t)t * n;
		if (!grow(g, least_loaded(g)))
			return false;
		finish(f);
	}
	return true;
}

static void keep(const struct forester *f, struct sl_forest *forest)
{
	memcpy(forest->parent, f->tried.parent, (size_t)forest->trees * forest->n * sizeof *forest->parent);
	forest->depth = f->tried.depth;
	forest->busiest = f->tried.busiest;
}

/* Grow trees with the budget of a regular graph. Where a vertex exceeds it much, try a budget of one edge,
 * and keep what is better: prices that count from the first edge leave to such a vertex only the edges that
 * no other can carry. Not with few trees: those would become deep. */
static bool search(struct forester *f, struct sl_forest *forest)
{
	uint32_t wanted = forest->n < SL_FOREST_TREES_MAX ? forest->n : SL_FOREST_TREES_MAX;
	bool few = forest->trees < wanted;
	uint32_t budget = budget_of(forest->n, forest->trees, few);
	if (!try(f, budget))
		return false;
	keep(f, forest);
	if (!few && forest->busiest > budget + budget / 16 && try(f, 1) && f->tried.busiest < forest->busiest)
		keep(f, forest);
	return true;
}

static int fill(struct sl_forest *forest, const struct sl_graph *graph, struct sl_arena *scratch)
{
	uint32_t n = graph->n;
	struct forester f = {.tried = *forest};
	f.tried.parent = SL_ARENA_TAKE(scratch, (size_t)n * forest->trees, uint32_t);
	f.branches.tallest = SL_ARENA_TAKE(scratch, n, uint32_t);
	f.branches.next = SL_ARENA_TAKE(scratch, n, uint32_t);
	f.branches.child = SL_ARENA_TAKE(scratch, n, uint32_t);
	if (growth_init(&f.growth, graph, scratch) != SL_OK || f.tried.parent == NULL ||
	    f.branches.tallest == NULL || f.branches.next == NULL || f.branches.child == NULL)
		return SL_ERR_NOMEM;
	return search(&f, forest) ? sl_keepers_choose(graph, forest->keeper, scratch) : SL_ERR_INVALID;
}

int sl_forest_init(struct sl_forest *forest, const struct sl_graph *graph, uint32_t most,
		   struct sl_arena *arena)
{
	uint32_t n = graph->n;
	assert(most >= 1 && most <= SL_FOREST_TREES_MAX);
	if (n == 0)
		return SL_ERR_INVALID;
	size_t begun = sl_arena_mark(arena);
	*forest = (struct sl_forest){.n = n, .trees = graph->edges + 1 == n ? 1 : most < n ? most : n};
	forest->parent = SL_ARENA_TAKE(arena, (size_t)n * forest->trees, uint32_t);
	forest->keeper = SL_ARENA_TAKE(arena, n, uint32_t);
	size_t kept = sl_arena_mark(arena);
	int rc = forest->parent == NULL || forest->keeper == NULL ? SL_ERR_NOMEM : fill(forest, graph, arena);
	sl_arena_reset(arena, rc == SL_OK ? kept : begun);
	return rc;
}

/* --- the bound --- */

/* Make a vertex's weight e^log. Return the sum of the weights. */
static double weigh(struct growth *g, const double *log)
{
	double most = log[0], sum = 0;
	for (uint32_t v = 1; v < g->graph->n; v++)
		most = log[v] > most ? log[v] : most;
	for (uint32_t v = 0; v < g->graph->n; v++) {
		g->price[v] = (uint64_t)ldexp(exp(log[v] - most), WEIGHT_BITS);
		sum += (double)g->price[v];
	}
	return sum;
}

int sl_forest_bound(const struct sl_graph *graph, double *bound, struct sl_arena *scratch)
{
	struct growth g;
	size_t mark = sl_arena_mark(scratch);
	double *log = SL_ARENA_TAKE(scratch, graph->n, double);
	int rc = graph->n == 0 ? SL_ERR_INVALID
		 : log == NULL ? SL_ERR_NOMEM
			       : growth_init(&g, graph, scratch);
	*bound = 0;
	for (uint32_t t = 0; rc == SL_OK && t < BOUND_TREES; t++) {
		double sum = weigh(&g, log);
		if (!grow(&g, 0))
			rc = SL_ERR_INVALID;
		else if ((double)g.total / sum > *bound)
			*bound = (double)g.total / sum;
		for (uint32_t v = 0; v < graph->n; v++)
			log[v] += g.degree[v] / sqrt(t + 1.0);
	}
	sl_arena_reset(scratch, mark);
	return rc;
}
