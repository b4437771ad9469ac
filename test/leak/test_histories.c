/* What a coalition learns in several attempts of one round: what each of them allows; and, if rule B decides
 * on the models (ROUND.md §9.4 Rule B: when a model may be used again), only sums over all others, no
 * model being in two.
 */
#include "common/core/over.h"
#include "test/leak/probe.h"
#include "test/lib/test.h"

static void expect_allowed(const struct probe *probe, uint32_t coalition)
{
	if (!map_as_allowed(&probe->map, coalition))
		fail_msg("p %lu, %u attempts: not what coalition %x may learn", probe->replay.field.p,
			 probe->map.history->count, coalition);
}

/* --- any models and releases --- */

/* Check two attempts with all sets of releases and all coalitions. */
static void ask_pair(struct history *history, const struct sl_field *field, enum sl_sharing_kind kind)
{
	struct attempt *first = &history->attempts[0], *second = &history->attempts[1];
	struct probe probe;
	probe_open(&probe, history, field, kind, MISTAKE_NONE);
	for (uint32_t a = 0; a <= all_of(history->learners); a++)
		for (uint32_t b = 0; b <= all_of(history->learners); b++) {
			first->released = first->shown = a & first->present;
			second->released = second->shown = b & second->present;
			for (uint32_t coalition = 0; coalition <= all_of(history->learners); coalition++)
				expect_allowed(&probe, coalition);
		}
	probe_close(&probe);
}

/* All pairs of attempts of three: graphs, models and releases. */
TEST(pairs_of_three)
{
	struct sl_field field = field_of(5);
	for (uint32_t models = 0; models < 8; models++)
		for (uint64_t one = 1; one < graphs_on(3); one++)
			for (uint64_t two = 1; two < graphs_on(3); two++) {
				struct brute first = brute_numbered(3, one), second = brute_numbered(3, two);
				struct attempt a = attempt_of(&first, 0), b = attempt_of(&second, 0);
				struct history history = history_of(3, 1);
				for (uint32_t i = 0; i < 3; i++)
					b.draw[i] = models >> i & 1;
				history_add(&history, &a);
				history_add(&history, &b);
				ask_pair(&history, &field, (enum sl_sharing_kind)(models % 3));
			}
}

static struct attempt any_attempt(uint32_t n, uint32_t c, uint64_t *seed)
{
	for (;;) {
		struct brute graph = brute_random(n, 30 + (uint32_t)(any64(seed) % 71), seed);
		struct attempt attempt = attempt_of(&graph, 0);
		if (any64(seed) % 2 == 0)
			attempt = attempt_without(&attempt, 1u << any64(seed) % n);
		if (attempt_tolerates(&attempt, c))
			return attempt;
	}
}

/* --- rule B --- */

/* What the learners of an attempt that ended have signed: sets of learners. */
struct signatures {
	uint32_t aborts;  /* Aborts */
	uint32_t unready; /* those of them that name no Ready */
};

/* Return the product's answer: true if the models may be used again. */
static bool may_reuse(const struct attempt *attempt, const struct signatures *signatures, uint32_t c)
{
	struct sl_edge edges[HISTORY_LEARNERS * HISTORY_LEARNERS];
	uint32_t place[HISTORY_LEARNERS];
	uint8_t marks[HISTORY_LEARNERS] = {0};
	struct sl_arena arena = arena_of(8192);
	struct sl_view view = {.agreed = {.tolerance = c}};
	size_t count = 0;
	for (uint32_t i = 0; i < attempt->graph.n; i++)
		if (attempt->present >> i & 1) {
			marks[view.n] = (uint8_t)((signatures->aborts >> i & 1 ? SL_ABORT_UNRELEASED : 0) |
						  (signatures->unready >> i & 1 ? SL_OVER_UNREADY : 0));
			place[i] = view.n++;
			for (uint32_t j = 0; j < i; j++)
				if (brute_has(&attempt->graph, i, j))
					edges[count++] = (struct sl_edge){place[j], place[i]};
		}
	assert_int_equal(sl_graph_init(&view.graph, view.n, edges, count, &arena), SL_OK);
	bool may = sl_over_reusable(&view, marks);
	arena_free(&arena);
	return may;
}

/* A rule of that form: `least` learners are out, by Aborts without a Ready or by their own and those of
 * `more` holders beyond those that leave fewer than theta. */
struct rule {
	uint32_t least, more;
};

static bool rule_holds(const struct attempt *attempt, const struct signatures *signatures,
		       const struct rule *rule)
{
	uint32_t out = 0;
	for (uint32_t j = 0; j < attempt->graph.n; j++) {
		uint32_t holders = attempt->graph.adjacent[j];
		uint32_t degree = (uint32_t)__builtin_popcount(holders),
			 signers = (uint32_t)__builtin_popcount(holders & signatures->aborts);
		bool sealed = (signatures->aborts >> j & 1) != 0 &&
			      signers >= degree - attempt_threshold(attempt, j) + 1 + rule->more;
		out += sealed || (signatures->unready >> j & 1) != 0;
	}
	return out >= rule->least;
}

/* Rule B of ROUND.md §9.4 with f = 0. */
static struct rule rule_b(uint32_t c)
{
	return (struct rule){.least = 1 + c, .more = c};
}

/* End the attempt in the worst way for `bound` honest learners that abort: all other honest learners release,
 * and open every key; the colluders sign Aborts all the same, and use what they hold. */
static struct signatures end_attempt(struct attempt *attempt, uint32_t bound, uint32_t coalition, uint32_t c)
{
	uint32_t released = attempt->present & ~bound & ~coalition;
	attempt->tolerance = c;
	attempt->released = attempt->shown = released | (coalition & attempt->present);
	for (uint32_t i = 0; i < attempt->graph.n; i++)
		attempt->opened[i] = released & attempt->graph.adjacent[i];
	return (struct signatures){.aborts = (bound | coalition) & attempt->present};
}

/* Return true if the coalition knows this one model. */
static bool knows(const struct probe *probe, uint32_t coalition, uint32_t learner, uint32_t draw)
{
	const struct history *history = probe->map.history;
	struct matrix learned = map_learned(&probe->map, coalition);
	uint64_t *model = calloc(history_models(history), sizeof *model);
	model[history_model(history, learner, draw, 0)] = 1;
	bool known = matrix_spans(&learned, model);
	free(model);
	matrix_free(&learned);
	return known;
}

/* Two attempts with the same models: one that ended, and one without `gone` that completed. */
static struct history reused(const struct attempt *attempt, uint32_t gone)
{
	struct history history = history_of(attempt->graph.n, 1);
	struct attempt second = attempt_without(attempt, gone);
	second.released = second.shown = second.present;
	history_add(&history, attempt);
	history_add(&history, &second);
	return history;
}

/* How often each rule allows the reuse of a model, and how often that reveals more than results. */
struct tally {
	uint32_t allowed, leaks, one_less, abort_less;
};

/* Count one end of an attempt. */
static void count_end(struct tally *tally, struct probe *probe, struct attempt *first, uint32_t coalition,
		      const struct signatures *signatures, uint32_t c)
{
	const struct rule whole = rule_b(c), less = {whole.least - 1, whole.more},
			  one = {whole.least, whole.more - 1};
	bool allowed = rule_holds(first, signatures, &whole);
	assert_int_equal(may_reuse(first, signatures, c), allowed);
	bool leaks = !map_only_results(&probe->map, coalition);
	tally->allowed += allowed;
	tally->leaks += allowed && leaks;
	tally->one_less += leaks && rule_holds(first, signatures, &less);
	tally->abort_less += leaks && rule_holds(first, signatures, &one);
}

/* Try every coalition of c, every set of honest learners that abort, and every set of signatures without a
 * Ready that such a coalition can be part of: if an honest learner signs so, no honest one has all Readys. */
static void count_ends(struct tally *tally, const struct attempt *attempt, uint32_t c, uint32_t gone,
		       const struct sl_field *field)
{
	struct history history = reused(attempt, gone);
	struct attempt *first = &history.attempts[0];
	struct probe probe;
	probe_open(&probe, &history, field, SL_SHARING_OS, MISTAKE_NONE);
	for (uint32_t coalition = 0; coalition <= all_of(attempt->graph.n); coalition++) {
		uint32_t others = attempt->present & ~coalition, bound = others;
		if ((uint32_t)__builtin_popcount(coalition) > c)
			continue;
		do {
			struct signatures signatures = end_attempt(first, bound, coalition, c);
			count_end(tally, &probe, first, coalition, &signatures, c);
			signatures.unready = coalition & attempt->present; /* it lies */
			count_end(tally, &probe, first, coalition, &signatures, c);
			signatures = end_attempt(first, others, coalition, c);
			signatures.unready = bound | (coalition & attempt->present);
			count_end(tally, &probe, first, coalition, &signatures, c);
			bound = (bound - 1) & others;
		} while (bound != others);
	}
	probe_close(&probe);
}

/* Return true if no other numbering of the vertices gives a lower number: one graph of each shape. */
static bool first_of_its_shape(uint32_t n, uint64_t number)
{
	struct brute graph = brute_numbered(n, number);
	for (uint32_t k = 0; k < 3125; k++) { /* 5^5 maps, the permutations among them */
		uint32_t to[5], taken = 0, e = 0;
		uint64_t other = 0;
		for (uint32_t v = 0, rest = k; v < n; v++, rest /= n)
			taken |= 1u << (to[v] = rest % n);
		for (uint32_t u = 0; u < n; u++)
			for (uint32_t v = u + 1; v < n; v++, e++)
				other |= (uint64_t)brute_has(&graph, to[u], to[v]) << e;
		if (taken == all_of(n) && other < number)
			return false;
	}
	return true;
}

static struct tally count_all_ends(uint32_t n, uint32_t c)
{
	struct sl_field field = field_of(7);
	struct tally tally = {0};
	for (uint64_t number = 0; number < graphs_on(n); number++) {
		struct brute graph = brute_numbered(n, number);
		struct attempt attempt = attempt_of(&graph, 0);
		if (!first_of_its_shape(n, number) || !attempt_tolerates(&attempt, c))
			continue;
		for (uint32_t gone = 0; gone <= n; gone++) {
			struct attempt second = attempt_without(&attempt, gone < n ? 1u << gone : 0);
			if (attempt_tolerates(&second, c))
				count_ends(&tally, &attempt, c, gone < n ? 1u << gone : 0, &field);
		}
	}
	return tally;
}

/* Rule B reveals nothing, and is tight: with one participant that is out less, or with one Abort of the
 * holders less, a coalition learns more than results. */
TEST(rule_b_is_tight)
{
	for (uint32_t n = 4; n <= 5; n++)
		for (uint32_t c = 1; c <= n - 3; c++) {
			struct tally tally = count_all_ends(n, c);
			assert_true(tally.allowed > 0);
			assert_int_equal(tally.leaks, 0);
			assert_true(tally.one_less > 0 && tally.abort_less > 0);
		}
}

/* Let each learner use its last model, or the next one if rule B forbids that. */
static void choose_models(const struct history *history, struct attempt *attempt, uint32_t *draws,
			  const struct signatures *signatures, uint32_t c)
{
	const struct attempt *last = history->count > 0 ? &history->attempts[history->count - 1] : NULL;
	for (uint32_t i = 0; i < history->learners; i++) {
		if (last != NULL && last->present >> i & 1 && !may_reuse(last, signatures, c))
			draws[i]++;
		attempt->draw[i] = draws[i];
	}
}

/* Rounds of five attempts: all release in some, some fail before; models by rule B. */
TEST(long_rounds)
{
	uint64_t seed = 9;
	struct sl_field field = field_of(7);
	uint32_t again = 0;
	for (int time = 0; time < 60; time++) {
		uint32_t n = 4 + (uint32_t)(time % 2), c = 1 + (uint32_t)(any64(&seed) % (n - 3));
		uint32_t coalition = 0, draws[HISTORY_LEARNERS] = {0};
		struct history history = history_of(n, 1);
		struct signatures signatures;
		struct probe probe;
		while ((uint32_t)__builtin_popcount(coalition) < c)
			coalition |= 1u << any64(&seed) % n;
		for (uint32_t k = 0; k < 5; k++) {
			struct attempt attempt = any_attempt(n, c, &seed);
			choose_models(&history, &attempt, draws, &signatures, c);
			uint32_t bound = any64(&seed) % 3 == 0 ? 0 : (uint32_t)(any64(&seed) | any64(&seed));
			bound &= attempt.present & ~coalition;
			signatures = end_attempt(&attempt, bound, coalition, c);
			if (bound == (attempt.present & ~coalition) && any64(&seed) % 2 == 0)
				signatures.unready = bound;
			again += may_reuse(&attempt, &signatures, c);
			history_add(&history, &attempt);
		}
		probe_open(&probe, &history, &field, (enum sl_sharing_kind)(time % 2), MISTAKE_NONE);
		assert_true(map_only_results(&probe.map, coalition));
		for (uint32_t other = 0; other <= all_of(n); other++)
			expect_allowed(&probe, other);
		probe_close(&probe);
	}
	assert_true(again > 30);
}

/* --- dependent models --- */

/* Two sums that a coalition knows, of models that were trained anew in between. If training gives nearly the
 * same model, the sums reveal, nearly, the sum over those that were in one attempt only; a single one is
 * revealed. Rule B cannot prevent that: it decides on models, and these are two. */
TEST(two_sums_of_dependent_models)
{
	struct sl_field field = field_of(7);
	struct brute whole = brute_numbered(5, graphs_on(5) - 1);
	for (uint32_t gone = 0; gone <= all_of(5); gone += 2) { /* learner 0 is the coalition */
		struct attempt first = attempt_of(&whole, all_of(5)), second = attempt_without(&first, gone);
		struct history history = history_of(5, 1);
		struct probe probe;
		uint64_t left[5], some[5] = {0};
		if (!attempt_tolerates(&second, 1))
			continue;
		for (uint32_t i = 0; i < 5; i++) {
			second.draw[i] = 1;
			left[i] = gone >> i & 1;
			some[i] = i == 1; /* one that is in both, or the one that left */
		}
		history_add(&history, &first);
		history_add(&history, &second);
		probe_open(&probe, &history, &field, SL_SHARING_SHAMIR, MISTAKE_NONE);
		assert_true(map_only_results(&probe.map, 1)); /* of independent models: two sums */
		struct matrix learned = map_learned(&probe.map, 1), merged = map_merged(&history, &learned);
		assert_int_equal(merged.rows, gone == 0 ? 1 : 2);
		assert_true(matrix_spans(&merged, left));
		assert_int_equal(matrix_spans(&merged, some), gone == 2);
		matrix_free(&learned);
		matrix_free(&merged);
		probe_close(&probe);
	}
}

/* --- mistakes are found --- */

/* A key is shown by mistake, in an attempt that ended by Aborts of all. */
TEST(shown_but_not_recorded)
{
	struct sl_field field = field_of(7);
	struct brute whole = brute_numbered(4, graphs_on(4) - 1);
	struct attempt attempt = attempt_of(&whole, 0);
	struct history history = reused(&attempt, 2);
	struct probe probe;
	end_attempt(&history.attempts[0], all_of(4) & ~1u, 1, 1);
	history.attempts[0].shown = all_of(4);
	probe_open(&probe, &history, &field, SL_SHARING_SHAMIR, MISTAKE_NONE);
	assert_false(map_only_results(&probe.map, 1));
	assert_false(map_as_allowed(&probe.map, 1));
	assert_true(knows(&probe, 1, 1, 0));
	history.attempts[0].shown &= ~8u; /* all but one: that reveals nothing */
	assert_true(map_only_results(&probe.map, 1));
	probe_close(&probe);
}

/* A holder that signed an Abort opens a key all the same: its model is known with the next result. */
TEST(opened_after_an_abort)
{
	struct sl_field field = field_of(7);
	struct brute whole = brute_numbered(5, graphs_on(5) - 1);
	struct attempt attempt = attempt_of(&whole, 0);
	struct history history = reused(&attempt, 4);
	struct attempt *first = &history.attempts[0];
	struct probe probe;
	struct signatures signatures = end_attempt(first, 14, 1, 1); /* 1, 2, 3 abort, 4 releases */
	assert_true(may_reuse(first, &signatures, 1));
	probe_open(&probe, &history, &field, SL_SHARING_SEEDED, MISTAKE_NONE);
	assert_true(map_only_results(&probe.map, 1));
	assert_false(knows(&probe, 1, 2, 0));
	for (uint32_t j = 1; j <= 3; j++) /* 2 and 3 open */
		first->opened[j] |= 12 & whole.adjacent[j];
	first->opened[2] |= 2;
	first->opened[3] |= 2;
	assert_false(map_only_results(&probe.map, 1));
	assert_true(knows(&probe, 1, 2, 0));
	assert_false(knows(&probe, 1, 1, 0));
	probe_close(&probe);
}

/* New models with the same random numbers reveal the difference of two models, without any release. */
TEST(randomness_twice)
{
	struct sl_field field = field_of(7);
	struct brute whole = brute_numbered(4, graphs_on(4) - 1);
	struct attempt first = attempt_of(&whole, 2), second = first;
	struct history history = history_of(4, 1);
	second.draw[1] = 1;
	history_add(&history, &first);
	history_add(&history, &second);
	for (EACH_KIND(kind)) {
		struct probe probe;
		probe_open(&probe, &history, &field, kind, MISTAKE_RANDOMNESS_TWICE);
		assert_false(map_as_allowed(&probe.map, 1));
		struct matrix learned = map_learned(&probe.map, 1);
		uint64_t difference[8] = {[2] = 1, [3] = 6};
		assert_int_equal(learned.columns, 8);
		assert_true(matrix_spans(&learned, difference));
		matrix_free(&learned);
		probe_close(&probe);
	}
}
