#include "common/graph/sparse_certificate.h"

#include <assert.h>
#include <string.h>

#define PIECES 10u

/* The vertices not yet scanned, in one list per score. */
struct waiting {
	uint32_t best; /* every list above it is empty */
	uint32_t *head;
	uint32_t *next, *previous, *score;
};

static void insert(struct waiting *w, uint32_t v)
{
	uint32_t *head = &w->head[w->score[v]];
	w->next[v] = *head;
	w->previous[v] = SL_NONE;
	if (*head != SL_NONE)
		w->previous[*head] = v;
	*head = v;
	if (w->score[v] > w->best)
		w->best = w->score[v];
}

static void take_out(struct waiting *w, uint32_t v)
{
	if (w->previous[v] != SL_NONE)
		w->next[w->previous[v]] = w->next[v];
	else
		w->head[w->score[v]] = w->next[v];
	if (w->next[v] != SL_NONE)
		w->previous[w->next[v]] = w->previous[v];
}

static uint32_t take_best(struct waiting *w)
{
	while (w->head[w->best] == SL_NONE)
		w->best--;
	uint32_t v = w->head[w->best];
	take_out(w, v);
	return v;
}

static int take_waiting(struct waiting *w, uint32_t n, uint32_t k, struct sl_arena *scratch)
{
	w->best = 0;
	w->head = SL_ARENA_TAKE(scratch, (size_t)k + 1, uint32_t);
	w->next = SL_ARENA_TAKE(scratch, n, uint32_t);
	w->previous = SL_ARENA_TAKE(scratch, n, uint32_t);
	w->score = SL_ARENA_TAKE(scratch, n, uint32_t);
	if (w->head == NULL || w->next == NULL || w->previous == NULL || w->score == NULL)
		return SL_ERR_NOMEM;
	memset(w->head, 0xff, ((size_t)k + 1) * sizeof *w->head);
	for (uint32_t v = n; v-- > 0;)
		insert(w, v);
	return SL_OK;
}

static void scan(struct sl_sparse_certificate *s, const struct sl_graph *graph, uint32_t k, struct waiting *w)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t v = take_best(w);
		const uint32_t *neighbours = sl_graph_neighbours(graph, v);
		s->order[i] = v;
		s->rank[v] = i;
		for (uint32_t j = 0; j < sl_graph_degree(graph, v); j++) {
			uint32_t u = neighbours[j];
			if (s->rank[u] != SL_NONE || w->score[u] == k)
				continue;
			take_out(w, u);
			w->score[u]++;
			insert(w, u);
			sl_sparse_certificate_add(s, v, u);
		}
	}
}

static int take(struct sl_sparse_certificate *s, uint32_t n, size_t edges, struct sl_arena *arena)
{
	if (edges > UINT32_MAX / 2)
		return SL_ERR_NOMEM;
	*s = (struct sl_sparse_certificate){.n = n, .arcs_max = (uint32_t)(2 * edges)};
	s->after = SL_ARENA_TAKE(arena, 2 * edges, uint32_t);
	s->to = SL_ARENA_TAKE(arena, 2 * edges, uint32_t);
	s->first = SL_ARENA_TAKE(arena, n, uint32_t);
	s->degree = SL_ARENA_TAKE(arena, n, uint32_t);
	s->order = SL_ARENA_TAKE(arena, n, uint32_t);
	s->rank = SL_ARENA_TAKE(arena, n, uint32_t);
	if (s->after == NULL || s->to == NULL || s->first == NULL || s->degree == NULL || s->order == NULL ||
	    s->rank == NULL)
		return SL_ERR_NOMEM;
	memset(s->first, 0xff, n * sizeof *s->first);
	memset(s->rank, 0xff, n * sizeof *s->rank);
	return SL_OK;
}

int sl_sparse_certificate_init(struct sl_sparse_certificate *sparse, const struct sl_graph *graph, uint32_t k,
			       size_t more, struct sl_arena *arena)
{
	struct waiting waiting;
	size_t before = sl_arena_mark(arena), kept = (size_t)k * graph->n;
	if (kept > graph->edges)
		kept = graph->edges;
	int err = take(sparse, graph->n, kept + more, arena);
	size_t mark = sl_arena_mark(arena);
	if (err == SL_OK)
		err = take_waiting(&waiting, graph->n, k, arena);
	if (err == SL_OK)
		scan(sparse, graph, k, &waiting);
	sl_arena_reset(arena, err == SL_OK ? mark : before);
	return err;
}

/* 8 words per vertex are enough: k <= n, since no vertex has n neighbours. */
size_t sl_sparse_certificate_bytes(uint32_t n, size_t edges)
{
	return (8 * ((size_t)n + 1) + 4 * edges) * sizeof(uint32_t) + PIECES * SL_ARENA_ALIGNMENT;
}

bool sl_sparse_certificate_has(const struct sl_sparse_certificate *sparse, uint32_t a, uint32_t b)
{
	for (SL_ARCS(sparse, arc, a))
		if (sparse->to[arc] == b)
			return true;
	return false;
}

uint32_t sl_sparse_certificate_earlier(const struct sl_sparse_certificate *sparse, uint32_t v)
{
	uint32_t count = 0;
	for (SL_ARCS(sparse, arc, v))
		count += sparse->rank[sparse->to[arc]] < sparse->rank[v];
	return count;
}

static void link_arc(struct sl_sparse_certificate *s, uint32_t arc, uint32_t from)
{
	s->after[arc] = s->first[from];
	s->first[from] = arc;
	s->degree[from]++;
}

static void unlink_arc(struct sl_sparse_certificate *s, uint32_t arc, uint32_t from)
{
	uint32_t *link = &s->first[from];
	while (*link != arc)
		link = &s->after[*link];
	*link = s->after[arc];
	s->degree[from]--;
}

void sl_sparse_certificate_drop(struct sl_sparse_certificate *sparse, uint32_t edge)
{
	unlink_arc(sparse, 2 * edge, sl_sparse_certificate_a(sparse, edge));
	unlink_arc(sparse, 2 * edge + 1, sl_sparse_certificate_b(sparse, edge));
}

void sl_sparse_certificate_restore(struct sl_sparse_certificate *sparse, uint32_t edge)
{
	link_arc(sparse, 2 * edge, sl_sparse_certificate_a(sparse, edge));
	link_arc(sparse, 2 * edge + 1, sl_sparse_certificate_b(sparse, edge));
}

void sl_sparse_certificate_add(struct sl_sparse_certificate *sparse, uint32_t a, uint32_t b)
{
	uint32_t arc = sparse->arcs;
	assert(arc + 2 <= sparse->arcs_max);
	sparse->to[arc] = b;
	sparse->to[arc + 1] = a;
	sparse->arcs += 2;
	sl_sparse_certificate_restore(sparse, arc / 2);
}
