#include "test/leak/history.h"

struct attempt attempt_of(const struct brute *graph, uint32_t released)
{
	struct attempt attempt = {.graph = *graph};
	assert_true(graph->n <= HISTORY_LEARNERS);
	for (uint32_t i = 0; i < HISTORY_LEARNERS; i++)
		attempt.present |= (uint32_t)(graph->adjacent[i] != 0) << i;
	attempt.released = attempt.shown = released & attempt.present;
	attempt.deposited = attempt.present;
	return attempt;
}

struct attempt attempt_without(const struct attempt *attempt, uint32_t gone)
{
	struct attempt rest = *attempt;
	for (uint32_t i = 0; i < rest.graph.n; i++)
		rest.graph.adjacent[i] = gone >> i & 1 ? 0 : rest.graph.adjacent[i] & ~gone;
	rest.present &= ~gone;
	rest.deposited &= ~gone;
	rest.released &= ~gone;
	rest.shown &= ~gone;
	return rest;
}

uint32_t attempt_threshold(const struct attempt *attempt, uint32_t i)
{
	uint32_t half = (uint32_t)__builtin_popcount(attempt->graph.adjacent[i]) / 2 + 1;
	return half > attempt->tolerance + 1 ? half : attempt->tolerance + 1;
}

uint32_t attempt_opened(const struct attempt *attempt, uint32_t coalition)
{
	uint32_t set = 0;
	for (uint32_t i = 0; attempt->tolerance > 0 && i < attempt->graph.n; i++) {
		uint32_t shares = attempt->graph.adjacent[i] & (attempt->opened[i] | coalition);
		set |= (uint32_t)((uint32_t)__builtin_popcount(shares) >= attempt_threshold(attempt, i)) << i;
	}
	return set & attempt->deposited;
}

uint32_t attempt_known(const struct attempt *attempt, uint32_t coalition)
{
	return attempt->shown | attempt_opened(attempt, coalition);
}

bool attempt_tolerates(const struct attempt *attempt, uint32_t c)
{
	if ((uint32_t)__builtin_popcount(attempt->present) < c + 2)
		return false;
	for (uint32_t gone = 0; gone <= all_of(attempt->graph.n); gone++)
		if ((uint32_t)__builtin_popcount(gone) <= c &&
		    !connected(&attempt->graph, attempt->present & ~gone))
			return false;
	return true;
}

struct history history_of(uint32_t learners, size_t elements)
{
	return (struct history){.learners = learners, .draws = 1, .elements = elements};
}

struct history history_in(uint32_t learners, enum form form)
{
	static const size_t elements[FORMS] = {[FORM_DECIMALS] = 1 + 1,
					       [FORM_NOISY] = 1 + 1,
					       [FORM_EXACT] = 6 + 1,
					       [FORM_RANGED] = 5 + 16 + 1};
	struct history history = history_of(learners, elements[form]);
	history.form = form;
	return history;
}

void history_add(struct history *history, const struct attempt *attempt)
{
	assert_true(history->count < HISTORY_ATTEMPTS && attempt->graph.n == history->learners);
	assert_true(connected(&attempt->graph, attempt->present));
	history->attempts[history->count++] = *attempt;
	for (uint32_t i = 0; i < history->learners; i++)
		if (attempt->draw[i] >= history->draws)
			history->draws = attempt->draw[i] + 1;
}

static void add_sum(const struct history *history, const struct attempt *attempt, uint32_t members,
		    struct matrix *sums)
{
	for (size_t l = 0; l < history->elements; l++) {
		uint64_t *row = matrix_add(sums);
		for (uint32_t i = 0; i < history->learners; i++)
			if (members >> i & 1)
				row[history_model(history, i, attempt->draw[i], l)] = 1;
	}
}

struct matrix history_allowed(const struct history *history, const struct sl_field *field, uint32_t coalition)
{
	struct matrix sums = matrix_of(field, history_models(history));
	for (const struct attempt *a = history->attempts; a < history->attempts + history->count; a++) {
		uint32_t left = a->present & ~coalition;
		while (left != 0) {
			uint32_t gone = all_of(history->learners) & ~a->present;
			uint32_t part =
				brute_reach(&a->graph, (uint32_t)__builtin_ctz(left), gone | coalition);
			if ((part & ~(a->released | attempt_opened(a, coalition))) == 0)
				add_sum(history, a, part, &sums);
			left &= ~part;
		}
	}
	matrix_reduce(&sums);
	return sums;
}

static bool exposed(const struct attempt *attempt, uint32_t coalition)
{
	uint32_t released = attempt->released | attempt_opened(attempt, coalition);
	return (attempt->present & ~coalition & ~released) == 0;
}

bool history_exposed_once(const struct history *history, uint32_t coalition)
{
	for (const struct attempt *a = history->attempts; a < history->attempts + history->count; a++)
		for (const struct attempt *b = history->attempts; b < a; b++)
			for (uint32_t i = 0; i < history->learners; i++)
				if (exposed(a, coalition) && exposed(b, coalition) &&
				    a->draw[i] == b->draw[i] &&
				    (a->present & b->present & ~coalition) >> i & 1)
					return false;
	return true;
}

struct matrix history_results(const struct history *history, const struct sl_field *field, uint32_t coalition)
{
	struct matrix sums = matrix_of(field, history_models(history));
	for (const struct attempt *a = history->attempts; a < history->attempts + history->count; a++)
		if (exposed(a, coalition))
			add_sum(history, a, a->present & ~coalition, &sums);
	matrix_reduce(&sums);
	return sums;
}
