/* leakage.h - what a coalition learns from completed rounds (protocol 4, F2; the paper's Theorem).
 *
 * In a round over a connected graph G a coalition A learns exactly the sums of x over the components of G -
 * A, and nothing beyond the total iff there is one. Over rounds with unchanged models it learns the span of
 * all those sums mod p, kept here as a reduced row echelon basis. When a model changes, forget: each round
 * then stands alone.
 *
 * A "combination" is one coefficient in [0, p) per vertex; those of the coalition's own models are known
 * anyway and do not count. Owns nothing: its arrays (8 n^2 bytes and some) live in the arena it was made in.
 */
#pragma once

#include "common/field/field.h"
#include "common/graph/graph.h"

#define SL_LEAKAGE_NONE UINT32_MAX

struct sl_leakage {
	struct sl_field field;
	uint32_t n;		/* vertices: the roster */
	uint32_t rank;		/* of what A knows about the others' models; n - |A|: everything */
	uint32_t unled;		/* how many honest vertices lead no row */
	uint32_t *unled_vertex; /* which, ascending: the only ones at which a row may differ from its unit
				   vector */
	bool *coalition;	/* n: whether a vertex is in A */
	uint64_t **row;		/* n: the basis row that leads with the vertex, or NULL */
	uint64_t *rows;		/* room for n rows of n */
	uint64_t *rest, *work;	/* n each, to work in */
	uint32_t *label, *list;
};

/* What A knows about two learners, neither of whose models it knows: x_a + factor x_b, a < b. */
struct sl_leakage_pair {
	uint32_t a, b;
	uint64_t factor; /* 1: their sum; p - 1: their difference */
};

/* Bytes of arena that an audit over n vertices takes. */
size_t sl_leakage_bytes(uint32_t n);

/* An audit over vertices 0..n-1 of the empty coalition: what anybody learns. SL_ERR_NOMEM. */
int sl_leakage_init(struct sl_leakage *leakage, uint32_t n, const struct sl_field *field,
		    struct sl_arena *arena);

/* Sets A and forgets every round. SL_ERR_RANGE for a member >= n (nothing changed); naming one twice is
 * naming it. */
int sl_leakage_coalition(struct sl_leakage *leakage, const uint32_t *members, size_t count);

/* The models have changed: what was learned says nothing about the new ones. Keeps A. */
void sl_leakage_forget(struct sl_leakage *leakage);

/* One completed round (or an exposed attempt: as many masked states left) of `participants` (n entries; NULL:
 * all) over the graph's edges among them; graph->n is the audit's n. Returns the number of components of G -
 * A, 0 when no honest vertex took part; more than 1 means that A learned more than the total. group (n
 * entries, or NULL): which component, from 0 in order of its least vertex; SL_LEAKAGE_NONE for the coalition
 * and who did not take part. */
uint32_t sl_leakage_round(struct sl_leakage *leakage, const struct sl_graph *graph, const bool *participants,
			  uint32_t *group);

/* Whether the combination lies in the span. */
bool sl_leakage_knows(struct sl_leakage *leakage, const uint64_t *combination);

/* Whether A knows the model of v itself; false for its members, whose models are not revealed but its own. */
bool sl_leakage_reveals(const struct sl_leakage *leakage, uint32_t v);

/* The basis row that leads with v (n coefficients, 1 at v, 0 before it), or NULL. Over v ascending: the
 * basis. */
const uint64_t *sl_leakage_row(const struct sl_leakage *leakage, uint32_t v);

/* The row of v times the least of 1..most that makes every coefficient an integer in [-most, most], into
 * coefficients (n), for people to read: "x3 + x7", "2 x1 - x4". False when there is none such, or no row. */
bool sl_leakage_integers(const struct sl_leakage *leakage, uint32_t v, int32_t most, int32_t *coefficients);

/* Every pair known without either of its members being, ascending by a, then b; any factor. Writes at most
 * `capacity`, returns how many there are. */
size_t sl_leakage_pairs(struct sl_leakage *leakage, struct sl_leakage_pair *pairs, size_t capacity);
