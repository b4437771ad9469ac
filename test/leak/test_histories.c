/* What a coalition learns in several attempts of one round: what each of them allows; and, if the reuse rule
 * decides on the models (PROTOCOL.md §9.5 The reuse rule), only sums over all others, no model being in two.
 */
#include "common/protocol/release_log.h"
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
		if (attempt_bears(&attempt, c))
			return attempt;
	}
}

/* --- the reuse rule --- */

/* Return true if the learner's release log allows it to use the model again. */
static bool reusable(const struct history *history, uint32_t learner, uint32_t draw, const uint32_t *aborts,
		     uint32_t c)
{
	uint64_t members[HISTORY_ATTEMPTS], aborted[HISTORY_ATTEMPTS];
	struct sl_release_log release_log = {0};
	for (uint32_t k = 0; k < history->count; k++) {
		const struct attempt *attempt = &history->attempts[k];
		members[k] = attempt->present;
		aborted[k] = aborts[k] & attempt->present;
		if ((attempt->released & attempt->present) >> learner & 1)
			release_log.used[release_log.count++] =
				(struct sl_used){k + 1, attempt->draw[learner], &members[k], &aborted[k]};
	}
	return sl_release_log_may_reuse(&release_log, draw, c, 1);
}

/* Let each learner use its last model or the next one, by the reuse rule for c colluders. */
static void choose_models(const struct history *history, struct attempt *attempt, uint32_t *draws,
			  const uint32_t *aborts, uint32_t c)
{
	for (uint32_t i = 0; i < history->learners; i++) {
		if (!reusable(history, i, draws[i], aborts, c))
			draws[i]++;
		attempt->draw[i] = draws[i];
	}
}

/* Return the learners that abort: honest ones that have not released, and all colluders. */
static uint32_t aborts_of(const struct attempt *attempt, uint32_t coalition)
{
	return attempt->present & (~attempt->released | coalition);
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

/* Two attempts, the second without `gone`. `released` and the coalition release the first one, all the
 * second. */
static struct history retried(const struct attempt *attempt, uint32_t released, uint32_t gone,
			      uint32_t coalition, uint32_t c)
{
	struct history history = history_of(attempt->graph.n, 1);
	struct attempt first = *attempt, second = attempt_without(attempt, gone);
	uint32_t draws[HISTORY_LEARNERS] = {0};
	first.released = first.shown = released | (coalition & first.present);
	uint32_t aborts = aborts_of(&first, coalition);
	history_add(&history, &first);
	second.released = second.shown = second.present;
	choose_models(&history, &second, draws, &aborts, c);
	history_add(&history, &second);
	return history;
}

/* Retry an attempt that tolerates c without `gone`, for all sets of releases and all coalitions of c. */
static void ask_retries(const struct attempt *attempt, uint32_t c, uint32_t gone,
			const struct sl_field *field)
{
	struct attempt second = attempt_without(attempt, gone);
	if (!attempt_bears(attempt, c) || !attempt_bears(&second, c))
		return;
	for (uint32_t coalition = 0; coalition <= all_of(attempt->graph.n); coalition++) {
		uint32_t others = attempt->present & ~coalition, released = others;
		if ((uint32_t)__builtin_popcount(coalition) > c)
			continue;
		do {
			struct history history = retried(attempt, released, gone, coalition, c);
			struct probe probe;
			probe_open(&probe, &history, field, SL_SHARING_ADDITIVE, MISTAKE_NONE);
			if (!map_only_results(&probe.map, coalition))
				fail_msg("c %u: retried without %x after %x had released, %x learn more than "
					 "sums",
					 c, gone, released, coalition);
			probe_close(&probe);
			released = (released - 1) & others;
		} while (released != others);
	}
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

static void ask_all_retries(uint32_t n)
{
	struct sl_field field = field_of(7);
	for (uint64_t number = 0; number < graphs_on(n); number++) {
		struct brute graph = brute_numbered(n, number);
		struct attempt attempt = attempt_of(&graph, 0);
		if (!first_of_its_shape(n, number))
			continue;
		for (uint32_t c = 1; c <= 2; c++)
			for (uint32_t gone = 0; gone <= n; gone++)
				ask_retries(&attempt, c, gone < n ? 1u << gone : 0, &field);
	}
}

TEST(retries)
{
	ask_all_retries(3);
	ask_all_retries(4);
}

TEST_NIGHTLY(retries_of_five)
{
	ask_all_retries(5);
}

/* Rounds of five attempts: all release in some, some fail before; models by the reuse rule. */
TEST(long_rounds)
{
	uint64_t seed = 9;
	struct sl_field field = field_of(7);
	for (int time = 0; time < 60; time++) {
		uint32_t n = 4 + (uint32_t)(time % 2), c = 1 + (uint32_t)(any64(&seed) % (n - 3));
		uint32_t coalition = 0, draws[HISTORY_LEARNERS] = {0}, aborts[HISTORY_ATTEMPTS];
		struct history history = history_of(n, 1);
		struct probe probe;
		while ((uint32_t)__builtin_popcount(coalition) < c)
			coalition |= 1u << any64(&seed) % n;
		for (uint32_t k = 0; k < 5; k++) {
			struct attempt attempt = any_attempt(n, c, &seed);
			choose_models(&history, &attempt, draws, aborts, c);
			attempt.released = attempt.present &
					   (uint32_t)(any64(&seed) % 2 ? ~0u : any64(&seed) | coalition);
			attempt.shown = attempt.released;
			aborts[k] = aborts_of(&attempt, coalition);
			history_add(&history, &attempt);
		}
		probe_open(&probe, &history, &field, (enum sl_sharing_kind)(time % 2), MISTAKE_NONE);
		assert_true(map_only_results(&probe.map, coalition));
		for (uint32_t other = 0; other <= all_of(n); other++)
			expect_allowed(&probe, other);
		probe_close(&probe);
	}
}

/* --- mistakes are found --- */

/* All have released; one colluder aborts. If one Abort too few is asked for, the model of the learner that is
 * missing in the retry is known. */
TEST(one_abort_too_few)
{
	struct sl_field field = field_of(7);
	struct brute whole = brute_numbered(5, graphs_on(5) - 1);
	struct attempt attempt = attempt_of(&whole, 0);
	uint32_t coalition = 1, gone = 4;
	for (EACH_KIND(kind)) {
		struct probe probe;
		struct history history = retried(&attempt, all_of(5), gone, coalition, 0);
		probe_open(&probe, &history, &field, kind, MISTAKE_NONE);
		assert_false(map_only_results(&probe.map, coalition));
		assert_true(knows(&probe, coalition, 2, 0));
		assert_false(knows(&probe, coalition, 1, 0));
		probe_close(&probe);
		history = retried(&attempt, all_of(5), gone, coalition, 1);
		probe_open(&probe, &history, &field, kind, MISTAKE_NONE);
		assert_true(map_only_results(&probe.map, coalition));
		assert_false(knows(&probe, coalition, 2, 0));
		probe_close(&probe);
	}
}

/* A release is on no record. */
TEST(shown_but_not_recorded)
{
	struct sl_field field = field_of(7);
	struct brute whole = brute_numbered(4, graphs_on(4) - 1);
	struct attempt attempt = attempt_of(&whole, 0);
	struct history history = retried(&attempt, 0, 2, 1, 1);
	struct probe probe;
	history.attempts[0].shown = all_of(4);
	probe_open(&probe, &history, &field, SL_SHARING_SHAMIR, MISTAKE_NONE);
	assert_false(map_only_results(&probe.map, 1));
	assert_false(map_as_allowed(&probe.map, 1));
	assert_true(knows(&probe, 1, 1, 0));
	history.attempts[0].shown &= ~8u; /* all but one: that reveals nothing */
	assert_true(map_only_results(&probe.map, 1));
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
