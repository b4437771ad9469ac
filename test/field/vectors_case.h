/* vectors_case.h - one case of a vectors file: the graph and field read once, and the tally of its checks. */
#pragma once

#include <stdbool.h>

#include "common/field/field.h"
#include "common/graph/graph.h"
#include "test/field/vectors_json.h"

/* One case: what is read once, and what the steps leave for the next. */
struct round {
	json_t *json;
	const char *name;
	uint32_t learners;
	size_t n;
	struct sl_field field;
	struct sl_graph graph;
	sl_id *ids;
	uint64_t *x;  /* encodings, [learner][coordinate] */
	uint64_t *s0; /* initial masked states */
	uint64_t K;
	size_t checks, wrong;
	struct sl_arena *arena;
};

/* Reads names, sizes, graph and field. */
void open_case(struct round *v);

/* Zeroed memory from the case's arena; ends the program when that is too small. */
void *take(struct round *v, size_t count, size_t bytes);

/* A member of the case, and element [i][l] of a member. */
json_t *member(struct round *v, const char *name);
wide entry(struct round *v, const char *name, size_t i, size_t l);

/* The position of an id; the number of learners when it is none of them. */
uint32_t vertex_of(struct round *v, sl_id id);

/* One check; a difference is printed with case, learner, coordinate and both values. */
void same(struct round *v, const char *what, size_t learner, size_t coordinate, wide got, wide want);
void holds(struct round *v, const char *what, size_t learner, bool truth);

/* vectors_states.c: s_k and z_at_k for k = 1, 2, 3 as exact rationals; p_bound_holds. */
void check_rational_states(struct round *v);
void check_field_mixing(struct round *v); /* zp: W and x(1..3) in Z_p */
void check_p_bound(struct round *v);
wide common_multiple(wide a, wide b);
