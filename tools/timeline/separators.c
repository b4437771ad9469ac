#include "tools/timeline/separators.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/graph/blocks.h"
#include "tools/lib/command.h"

#define BICONNECTED 2u /* the certificate keeps what one lost vertex separates */

static void list_edges(struct sl_separators *s, const struct sl_attempt_row *row)
{
	size_t words = sl_bit_words(row->count), degrees = 0;
	for (size_t i = 0; i < row->count * words; i++)
		degrees += (size_t)__builtin_popcountll(row->adjacent[i]);
	s->edges = sl_command_memory(degrees / 2 + 1, sizeof *s->edges);
	for (uint32_t a = 0; a < row->count; a++)
		for (uint32_t b = a + 1; b < row->count; b++)
			if (sl_bit(row->adjacent + a * words, b))
				s->edges[s->edge_count++] = (struct sl_edge){a, b};
}

static int by_ends(const void *a, const void *b)
{
	const struct sl_edge *x = a, *y = b;
	if (x->a != y->a)
		return (x->a > y->a) - (x->a < y->a);
	return (x->b > y->b) - (x->b < y->b);
}

/* A block of two vertices is a bridge: its top, and the one below it. */
static void list_bridges(struct sl_separators *s, const struct sl_blocks *blocks, uint32_t n)
{
	uint32_t *size = sl_command_memory(blocks->count + 1u, sizeof *size);
	uint32_t *below = sl_command_memory(blocks->count + 1u, sizeof *below);
	for (uint32_t v = 0; v < n; v++) {
		if (blocks->parent[v] == SL_NONE)
			continue;
		size[blocks->above[v]]++;
		below[blocks->above[v]] = v;
	}
	for (uint32_t b = 0; b < blocks->count; b++) {
		if (size[b] != 1)
			continue;
		uint32_t v = below[b], top = blocks->top[b];
		s->bridges[s->bridge_count++] = (struct sl_edge){v < top ? v : top, v < top ? top : v};
	}
	qsort(s->bridges, s->bridge_count, sizeof *s->bridges, by_ends);
	free(size);
	free(below);
}

void sl_separators_init(struct sl_separators *s, const struct sl_attempt_row *row)
{
	struct sl_graph graph;
	struct sl_sparse_certificate sparse;
	struct sl_blocks blocks;
	struct sl_arena arena;
	uint32_t n = row->count;
	*s = (struct sl_separators){0};
	list_edges(s, row);
	s->vertices = sl_command_memory(n + 1u, sizeof *s->vertices);
	s->bridges = sl_command_memory(n + 1u, sizeof *s->bridges);
	if (n < 2)
		return;
	size_t bytes = 4 * ((size_t)n + s->edge_count + SL_ARENA_ALIGNMENT) * 2 * sizeof(uint32_t) +
		       sl_sparse_certificate_bytes(n, (size_t)BICONNECTED * n) + sl_blocks_bytes(n);
	void *memory = sl_command_memory(1, bytes);
	sl_arena_init(&arena, memory, bytes);
	int rc = sl_graph_init(&graph, n, s->edges, s->edge_count, &arena);
	assert(rc == SL_OK);
	rc = sl_sparse_certificate_init(&sparse, &graph, BICONNECTED, 0, &arena);
	assert(rc == SL_OK);
	rc = sl_blocks_init(&blocks, n, &arena);
	assert(rc == SL_OK);
	sl_blocks_find(&blocks, &sparse, 0);
	for (uint32_t v = 0; v < n; v++)
		if (sl_blocks_cut(&blocks, v))
			s->vertices[s->vertex_count++] = v;
	list_bridges(s, &blocks, n);
	free(memory);
}

void sl_separators_close(struct sl_separators *separators)
{
	free(separators->vertices);
	free(separators->edges);
	free(separators->bridges);
}
