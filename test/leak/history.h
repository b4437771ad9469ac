/* history.h - the attempts of one round: who shared, with which model, and whose masked state left; and what
 * F2 and F3 allow a coalition to learn of it (PROTOCOL.md §2.3 What a coalition learns).
 *
 * Sets of learners are bit masks. Shares no code with what it judges.
 */
#pragma once

#include "test/leak/matrix.h"
#include "test/graph/brute.h"

#define HISTORY_LEARNERS 12
#define HISTORY_ATTEMPTS 48

struct attempt {
	struct brute graph;		 /* over all learners of the history */
	uint32_t present;		 /* who takes part; the graph is connected on them */
	uint32_t draw[HISTORY_LEARNERS]; /* the model that each uses, from 0 */
	uint32_t released;		 /* by their own records, a masked state of theirs may have left */
	uint32_t shown; /* it has left: a member of the view, or who works with one, has it */
};

struct history {
	uint32_t learners, draws; /* models of a learner, at most */
	size_t elements;	  /* of a vector */
	uint32_t count;
	struct attempt attempts[HISTORY_ATTEMPTS];
};

/* An attempt of everybody in `graph` that has an edge, each with its model 0, in which `released` have
 * released. */
struct attempt attempt_of(const struct brute *graph, uint32_t released);
/* The same without some of its participants. */
struct attempt attempt_without(const struct attempt *attempt, uint32_t gone);
/* Whether nobody up to c others could part those who remain: what the privacy check asks (PROTOCOL.md §7 The
 * round). */
bool attempt_bears(const struct attempt *attempt, uint32_t c);
struct history history_of(uint32_t learners, size_t elements);
void history_add(struct history *history, const struct attempt *attempt);

static inline uint32_t everybody(uint32_t learners)
{
	return (1u << learners) - 1;
}
/* Without the others. */
static inline bool connected(const struct brute *graph, uint32_t present)
{
	uint32_t gone = everybody(graph->n) & ~present;
	return present != 0 && brute_reach(graph, (uint32_t)__builtin_ctz(present), gone) == present;
}

/* Columns of models, one for each learner, draw and coordinate. */
static inline size_t history_model(const struct history *history, uint32_t learner, uint32_t draw,
				   size_t element)
{
	return ((size_t)learner * history->draws + draw) * history->elements + element;
}
static inline size_t history_models(const struct history *history)
{
	return history_model(history, history->learners, 0, 0);
}

/* What the coalition may learn, over the columns of models, reduced: of each attempt, the sums over those
 * components of the others that have released to the last (F2, F3). By the records, not by what was shown. */
struct matrix history_allowed(const struct history *history, const struct sl_field *field,
			      uint32_t coalition);
/* What it is for: the sum over the others in each attempt that completed. */
struct matrix history_results(const struct history *history, const struct sl_field *field,
			      uint32_t coalition);
/* Whether no model of the others is in two attempts that all of them released. */
bool history_exposed_once(const struct history *history, uint32_t coalition);
