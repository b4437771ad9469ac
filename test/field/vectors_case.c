#include "test/field/vectors_case.h"

#include <stdio.h>
#include <stdlib.h>

void *take(struct round *v, size_t count, size_t bytes)
{
	void *piece = sl_arena_take(v->arena, count, bytes);
	if (piece == NULL) {
		fprintf(stderr, "%s: too large for this test\n", v->name);
		exit(2);
	}
	return piece;
}

void same(struct round *v, const char *what, size_t learner, size_t coordinate, wide got, wide want)
{
	v->checks++;
	if (got == want)
		return;
	v->wrong++;
	printf("%s: %s: learner %zu, coordinate %zu: got %s, expected %s\n", v->name, what, learner,
	       coordinate, wide_text(got), wide_text(want));
}

void holds(struct round *v, const char *what, size_t learner, bool truth)
{
	same(v, what, learner, 0, truth, true);
}

json_t *member(struct round *v, const char *name)
{
	return vector_member(v->json, name);
}

wide entry(struct round *v, const char *name, size_t i, size_t l)
{
	return vector_integer(vector_at(vector_at(member(v, name), i), l));
}

uint32_t vertex_of(struct round *v, sl_id id)
{
	uint32_t i = 0;
	while (i < v->learners && v->ids[i] != id)
		i++;
	return i;
}

void open_case(struct round *v)
{
	v->name = json_string_value(member(v, "name"));
	v->learners = (uint32_t)vector_integer(member(v, "N"));
	v->n = (size_t)vector_integer(member(v, "n"));
	v->K = (uint64_t)vector_integer(member(v, "K"));
	v->ids = take(v, v->learners, sizeof *v->ids);
	v->x = take(v, v->learners * v->n, sizeof *v->x);
	v->s0 = take(v, v->learners * v->n, sizeof *v->s0);
	for (uint32_t i = 0; i < v->learners; i++)
		v->ids[i] = (sl_id)vector_integer(vector_at(member(v, "ids"), i));
	json_t *pairs = member(v, "edges");
	size_t count = json_array_size(pairs);
	struct sl_edge *edges = take(v, count, sizeof *edges);
	for (size_t e = 0; e < count; e++) {
		json_t *pair = vector_at(pairs, e);
		edges[e].a = vertex_of(v, (sl_id)vector_integer(vector_at(pair, 0)));
		edges[e].b = vertex_of(v, (sl_id)vector_integer(vector_at(pair, 1)));
	}
	holds(v, "field", 0, sl_field_init(&v->field, (uint64_t)vector_integer(member(v, "p"))) == SL_OK);
	holds(v, "graph", 0, sl_graph_init(&v->graph, v->learners, edges, count, v->arena) == SL_OK);
}
