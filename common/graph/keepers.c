#include "common/graph/keepers.h"

#define NONE UINT32_MAX

struct search {
	const struct sl_graph *graph;
	uint32_t *keeper;
	uint32_t *kept;	 /* n; deposits at a vertex */
	uint32_t *owner; /* n; the vertex that wants this one as keeper, NONE where it was not reached */
	uint32_t *queue; /* n; vertices that need a keeper, or could change theirs */
};

size_t sl_keepers_scratch(uint32_t n)
{
	return 3 * (n * sizeof(uint32_t) + SL_ARENA_ALIGNMENT);
}

/* Return the position of the first neighbour after `v` in cyclic order. */
static uint32_t next_of(const struct sl_graph *graph, uint32_t v)
{
	uint32_t k = 0;
	while (k < sl_graph_degree(graph, v) && sl_graph_neighbours(graph, v)[k] < v)
		k++;
	return k;
}

/* Make `u` keep the deposit of owner[u]; the keeper that this one leaves has room for its own owner, and so
 * on, up to the vertex that had no keeper. */
static void shift(struct search *s, uint32_t u)
{
	s->kept[u]++;
	while (u != NONE) {
		uint32_t v = s->owner[u], before = s->keeper[v];
		s->keeper[v] = u;
		u = before;
	}
}

/* Queue the vertices whose deposits `u` keeps. */
static uint32_t queue_kept(struct search *s, uint32_t u, uint32_t queued)
{
	for (uint32_t k = 0; k < sl_graph_degree(s->graph, u); k++)
		if (s->keeper[sl_graph_neighbours(s->graph, u)[k]] == u)
			s->queue[queued++] = sl_graph_neighbours(s->graph, u)[k];
	return queued;
}

/* Find a keeper for `v` where no vertex keeps more than `most`; others may get another. */
static bool place(struct search *s, uint32_t v, uint32_t most)
{
	uint32_t queued = 1;
	for (uint32_t u = 0; u < s->graph->n; u++)
		s->owner[u] = NONE;
	s->queue[0] = v;
	for (uint32_t at = 0; at < queued; at++) {
		uint32_t w = s->queue[at], degree = sl_graph_degree(s->graph, w), next = next_of(s->graph, w);
		for (uint32_t k = 0; k < degree; k++) {
			uint32_t u = sl_graph_neighbours(s->graph, w)[(next + k) % degree];
			if (s->owner[u] != NONE)
				continue;
			s->owner[u] = w;
			if (s->kept[u] < most) {
				shift(s, u);
				return true;
			}
			queued = queue_kept(s, u, queued);
		}
	}
	return false;
}

int sl_keepers_choose(const struct sl_graph *graph, uint32_t *keeper, struct sl_arena *scratch)
{
	uint32_t n = graph->n, most = 1;
	size_t mark = sl_arena_mark(scratch);
	struct search s = {.graph = graph, .keeper = keeper};
	s.kept = SL_ARENA_TAKE(scratch, n, uint32_t);
	s.owner = SL_ARENA_TAKE(scratch, n, uint32_t);
	s.queue = SL_ARENA_TAKE(scratch, n, uint32_t);
	bool room = s.kept != NULL && s.owner != NULL && s.queue != NULL;
	for (uint32_t v = 0; room && v < n; v++)
		keeper[v] = sl_graph_degree(graph, v) == 0 ? v : NONE;
	for (uint32_t v = 0; room && v < n; v++)
		while (keeper[v] == NONE && !place(&s, v, most))
			most++;
	sl_arena_reset(scratch, mark);
	return room ? SL_OK : SL_ERR_NOMEM;
}
