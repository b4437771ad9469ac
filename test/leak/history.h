/* history.h - the attempts of one round: participants, their models and releases; and what F2 and F3 allow a
 * coalition to learn of it (ROUND.md §2.3 What a coalition learns).
 *
 * Sets of learners are bit masks. Shares no code with the product.
 */
#pragma once

#include "test/leak/matrix.h"
#include "test/graph/brute.h"

#define HISTORY_LEARNERS 12
#define HISTORY_ATTEMPTS 48

struct attempt {
	struct brute graph;		   /* over all learners of the history */
	uint32_t present;		   /* participants; the graph is connected on them */
	uint32_t draw[HISTORY_LEARNERS];   /* the model that each uses, from 0 */
	uint32_t released;		   /* by the learners' own records, their deposit key may have left */
	uint32_t shown;			   /* their deposit key has left */
	uint32_t deposited;		   /* their deposit has left */
	uint32_t opened[HISTORY_LEARNERS]; /* holders that showed their key share of this learner's key */
	uint32_t tolerance;		   /* c of the thresholds; 0: there are no key shares */
};

/* What the vectors consist of (ROUND.md §4.3 Limbs and ranges). */
enum form {
	FORM_DECIMALS, /* any elements, and the weight */
	FORM_EXACT,    /* the limbs of an exact value, and the weight */
	FORM_RANGED,   /* five limbs of an update, its counts, and the weight */
	FORM_NOISY,    /* as DECIMALS; each learner adds noise to all but the weight */
	FORMS
};

struct history {
	uint32_t learners, draws; /* largest number of models of a learner */
	size_t elements;	  /* of a vector */
	enum form form;
	uint32_t count;
	struct attempt attempts[HISTORY_ATTEMPTS];
};

/* Return an attempt of all learners with an edge in `graph`, with their models 0; `released` have released.
 */
struct attempt attempt_of(const struct brute *graph, uint32_t released);
/* Return the same without the participants in `gone`. */
struct attempt attempt_without(const struct attempt *attempt, uint32_t gone);
/* Return the number of key shares that open the deposit of participant i. */
uint32_t attempt_threshold(const struct attempt *attempt, uint32_t i);
/* Return the participants whose deposit key the coalition can compute from its own key shares and those that
 * were opened, with the threshold of ROUND.md §5.7. */
uint32_t attempt_opened(const struct attempt *attempt, uint32_t coalition);
/* Return the participants whose masked state the coalition knows. */
uint32_t attempt_known(const struct attempt *attempt, uint32_t coalition);
/* Return true if no c participants separate the others (ROUND.md §7.9 Privacy check). */
bool attempt_tolerates(const struct attempt *attempt, uint32_t c);
struct history history_of(uint32_t learners, size_t elements);
/* Return one whose models have one value, in vectors of `form`. */
struct history history_in(uint32_t learners, enum form form);
void history_add(struct history *history, const struct attempt *attempt);

static inline uint32_t all_of(uint32_t learners)
{
	return (1u << learners) - 1;
}
/* Return true if `graph` is connected on `present`. */
static inline bool connected(const struct brute *graph, uint32_t present)
{
	uint32_t gone = all_of(graph->n) & ~present;
	return present != 0 && brute_reach(graph, (uint32_t)__builtin_ctz(present), gone) == present;
}

/* The columns of models: one for each learner, training and coordinate. */
static inline size_t history_model(const struct history *history, uint32_t learner, uint32_t draw,
				   size_t element)
{
	return ((size_t)learner * history->draws + draw) * history->elements + element;
}
static inline size_t history_models(const struct history *history)
{
	return history_model(history, history->learners, 0, 0);
}

/* Return what the coalition may learn, over the columns of models, reduced: of each attempt, the sums over
 * those components of the others in which all have released, by their records (F2, F3). */
struct matrix history_allowed(const struct history *history, const struct sl_field *field,
			      uint32_t coalition);
/* Return the results: the sum over the others in each completed attempt. */
struct matrix history_results(const struct history *history, const struct sl_field *field,
			      uint32_t coalition);
/* Return true if no model of the others is in two attempts that all of them released. */
bool history_exposed_once(const struct history *history, uint32_t coalition);
