/* leakage.h - what a coalition learns from completed rounds (ROUND.md §2.3 What a coalition learns; the
 * paper's Theorem).
 *
 * In a round over a connected graph G a coalition A learns exactly the sums of x over the components of G -
 * A, and nothing beyond the total iff there is one. Over rounds with unchanged models it learns the span of
 * all those sums mod p, kept here as a reduced row echelon basis. When models change, call sl_leakage_forget:
 * each round then stands alone.
 *
 * A "combination" is one coefficient in [0, p) per vertex; those of the coalition's own models are known
 * anyway and do not count. Owns nothing: its arrays (a little over 8 n^2 bytes) live in the arena handed to
 * sl_leakage_init.
 */
#pragma once

#include "common/field/field.h"
#include "common/graph/graph.h"

#define SL_LEAKAGE_NONE UINT32_MAX

struct sl_leakage {
	struct sl_field field;
	uint32_t n;		/* vertices: the roster */
	uint32_t rank;		/* of the span; n - |A|: all models are revealed */
	uint32_t unled;		/* number of honest vertices that lead no row */
	uint32_t *unled_vertex; /* these, ascending: the only ones at which a row may differ from its unit
				   vector */
	bool *coalition;	/* n: whether a vertex is in A */
	bool *out;		/* n: whether it is in A, or took no part in the round */
	uint64_t **row;		/* n: the basis row that leads with the vertex, or NULL */
	uint64_t *rows;		/* room for n rows of n */
	uint64_t *rest;		/* n, to work in */
	uint32_t *label, *list;
};

/* Return the bytes of arena that an audit over `n` vertices takes. */
size_t sl_leakage_bytes(uint32_t n);

/* Begin an audit over vertices 0..n-1 for the empty coalition, which learns what every learner learns.
 * SL_ERR_NOMEM. */
int sl_leakage_init(struct sl_leakage *leakage, uint32_t n, const struct sl_field *field,
		    struct sl_arena *arena);

/* Set A and forget every round. Repeated members count once. SL_ERR_RANGE for a member >= n; nothing is
 * changed then. */
int sl_leakage_coalition(struct sl_leakage *leakage, const uint32_t *members, size_t count);

/* Forget every round, because the models have changed. Keeps A. */
void sl_leakage_forget(struct sl_leakage *leakage);

/* Add a completed round (or an exposed attempt, in which as many masked states left) of `participants` (n
 * entries; NULL: all) over the graph's edges among them; graph->n is the audit's n. Return the number of
 * components of G - A, 0 when no honest vertex took part; more than 1 means that A learned more than the
 * total. group (n entries, or NULL): component of each vertex, from 0 in order of its least vertex;
 * SL_LEAKAGE_NONE for the coalition and vertices that did not take part. */
uint32_t sl_leakage_round(struct sl_leakage *leakage, const struct sl_graph *graph, const bool *participants,
			  uint32_t *group);

/* Return whether the combination lies in the span. */
bool sl_leakage_knows(struct sl_leakage *leakage, const uint64_t *combination);

/* Return whether the span reveals the model of `v`; false for members of A, which know their own. */
bool sl_leakage_reveals(const struct sl_leakage *leakage, uint32_t v);

/* Return the basis row that leads with `v` (n coefficients, 1 at v, 0 before it), or NULL. */
const uint64_t *sl_leakage_row(const struct sl_leakage *leakage, uint32_t v);

/* Write the row of `v`, times the least of 1..most that makes every coefficient an integer in [-most, most],
 * into coefficients (n), for a sentence: "x3 + x7", "2 x1 - x4". Return false when no such factor or no row
 * exists. */
bool sl_leakage_integers(const struct sl_leakage *leakage, uint32_t v, int32_t most, int32_t *coefficients);
