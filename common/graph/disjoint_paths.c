#include "common/graph/disjoint_paths.h"

#include <string.h>

#define PIECES 6u

int sl_disjoint_paths_init(struct sl_disjoint_paths *disjoint, uint32_t n, struct sl_arena *arena)
{
	uint32_t **piece[PIECES] = {&disjoint->previous, &disjoint->entered,  &disjoint->left,
				    &disjoint->in_from,	 &disjoint->out_from, &disjoint->queue};
	size_t mark = sl_arena_mark(arena);
	for (uint32_t i = 0; i < PIECES; i++) {
		*piece[i] = SL_ARENA_TAKE(arena, n, uint32_t);
		if (*piece[i] == NULL) {
			sl_arena_reset(arena, mark);
			return SL_ERR_NOMEM;
		}
	}
	disjoint->search = 0;
	return SL_OK;
}

size_t sl_disjoint_paths_bytes(uint32_t n)
{
	return PIECES * (n * sizeof(uint32_t) + SL_ARENA_ALIGNMENT);
}

/* The end of a path: one vertex, or any vertex of a rank below `below`. */
struct goal {
	uint32_t from, to, below;
};

static bool reaches(const struct goal *goal, const struct sl_sparse_certificate *sparse, uint32_t v)
{
	return v == goal->to || sparse->rank[v] < goal->below;
}

/* Follow the path of `v`, whose entry is in use, backwards, through the exits that this sets free. */
static void go_back(struct sl_disjoint_paths *d, uint32_t v, uint32_t *tail)
{
	for (uint32_t u = d->previous[v]; d->left[u] != d->search; u = d->previous[v]) {
		d->left[u] = d->search;
		d->out_from[u] = v;
		d->queue[(*tail)++] = u;
		if (d->entered[u] == d->search)
			break;
		d->entered[u] = d->search;
		d->in_from[u] = u;
		v = u;
	}
}

/* Set the path from the vertex reached back to the start, and clear what the search undid. */
static void turn(struct sl_disjoint_paths *d, const struct goal *goal, uint32_t reached)
{
	for (uint32_t v = reached;;) {
		uint32_t u = d->in_from[v], w;
		if (v != goal->to)
			d->previous[v] = u;
		if (u == goal->from)
			return;
		for (w = d->out_from[u]; w != u && d->in_from[w] == w; w = d->out_from[w])
			d->previous[w] = SL_NONE;
		v = w;
	}
}

static bool find_path(struct sl_disjoint_paths *d, const struct sl_sparse_certificate *sparse,
		      const struct goal *goal)
{
	uint32_t tail = 1;
	d->search++;
	d->left[goal->from] = d->search;
	d->queue[0] = goal->from;
	for (uint32_t i = 0; i < tail; i++) {
		uint32_t u = d->queue[i];
		for (SL_ARCS(sparse, arc, u)) {
			uint32_t v = sparse->to[arc];
			if (v == goal->from || d->entered[v] == d->search)
				continue;
			d->entered[v] = d->search;
			d->in_from[v] = u;
			if (sl_disjoint_paths_used(d, v)) {
				go_back(d, v, &tail);
			} else if (reaches(goal, sparse, v)) {
				turn(d, goal, v);
				return true;
			} else {
				d->left[v] = d->search;
				d->out_from[v] = v;
				d->queue[tail++] = v;
			}
		}
	}
	return false;
}

static uint32_t count_paths(struct sl_disjoint_paths *d, const struct sl_sparse_certificate *sparse,
			    const struct goal *goal, uint32_t most)
{
	uint32_t paths = 0;
	memset(d->previous, 0xff, sparse->n * sizeof *d->previous);
	while (paths < most && find_path(d, sparse, goal))
		paths++;
	return paths;
}

uint32_t sl_disjoint_paths_pair(struct sl_disjoint_paths *disjoint,
				const struct sl_sparse_certificate *sparse, uint32_t from, uint32_t to,
				uint32_t most)
{
	const struct goal goal = {.from = from, .to = to, .below = 0};
	return count_paths(disjoint, sparse, &goal, most);
}

uint32_t sl_disjoint_paths_fan(struct sl_disjoint_paths *disjoint, const struct sl_sparse_certificate *sparse,
			       uint32_t from, uint32_t most)
{
	const struct goal goal = {.from = from, .to = SL_NONE, .below = sparse->rank[from]};
	return count_paths(disjoint, sparse, &goal, most);
}

void sl_disjoint_paths_cut(const struct sl_disjoint_paths *disjoint,
			   const struct sl_sparse_certificate *sparse, uint32_t *cut)
{
	for (uint32_t v = 0; v < sparse->n; v++)
		if (disjoint->entered[v] == disjoint->search && disjoint->left[v] != disjoint->search)
			*cut++ = v;
}
