/* What coalitions learn in simulated rounds under faults, from all messages of the cores: of each attempt
 * what F2 and F3 allow; and c colluders only sums over all others, no model being in two. */
#include "test/leak/watch.h"
#include "test/lib/test.h"

#define FIRST 51u /* of the seeds from here on, some end attempts in the middle of a release */
#define SEEDS 6u
#define SEEDS_NIGHTLY 40u
#define TOLERANCE 1 /* the simulator's */

static uint32_t released_by_all, released_in_part, attempts;

static void count(const struct history *history)
{
	attempts += history->count;
	for (const struct attempt *a = history->attempts; a < history->attempts + history->count; a++) {
		released_by_all += a->shown == a->present;
		released_in_part += a->shown != 0 && a->shown != a->present;
	}
}

/* Check coalitions of up to c. Larger ones can open deposits of attempts in which shares for them were lost,
 * and learn less than F2 allows. */
static void ask(const struct watch *watch)
{
	const struct run_options *options = &watch->run.options;
	for (uint32_t coalition = 0; coalition < all_of(options->learners); coalition++) {
		int size = __builtin_popcount(coalition);
		if (size <= TOLERANCE && !map_as_allowed(&watch->map, coalition))
			fail_msg("seed %lu: not what coalition %x may learn", options->seed, coalition);
		if (size <= TOLERANCE && !map_only_results(&watch->map, coalition))
			fail_msg("seed %lu: coalition %x learns more than results", options->seed, coalition);
	}
}

static struct run_options options_of(uint64_t seed, bool noisy)
{
	return (struct run_options){.seed = seed,
				    .learners = 4 + (uint32_t)(seed % 2),
				    .floats = 1 + (uint32_t)(seed / 4 % 2),
				    .rounds = 4,
				    .noisy = noisy,
				    .kind = (enum sl_sharing_kind)(seed / 2 % 3),
				    .mixing = (enum sl_engine)(seed / 3 % SL_ENGINES)};
}

static void ask_seeds(uint64_t first, uint32_t seeds, bool noisy)
{
	attempts = released_by_all = released_in_part = 0;
	for (uint64_t seed = first; seed < first + seeds; seed++) {
		struct run_options options = options_of(seed, noisy);
		struct watch watch;
		watch_open(&watch, &options);
		count(&watch.run.history);
		ask(&watch);
		watch_close(&watch);
	}
	assert_true(attempts > released_by_all + released_in_part && released_by_all >= seeds &&
		    released_in_part > seeds / 20);
}

TEST(seeds)
{
	ask_seeds(FIRST, SEEDS, false);
}

TEST_NIGHTLY(more_seeds)
{
	ask_seeds(FIRST + SEEDS, SEEDS_NIGHTLY, false);
}

/* Sums with noise tell nothing else. */
TEST(seeds_with_noise)
{
	ask_seeds(FIRST, SEEDS, true);
}

/* A learner of weight 0 adds noise and sends what it would send of zeros, but for the weight. */
TEST(weight_0_is_not_seen)
{
	for (uint64_t seed = FIRST; seed < FIRST + SEEDS; seed++) {
		struct run_options options = options_of(seed, true);
		struct run with, without;
		run_play(&with, &options, NULL, 0);
		options.weightless = 2;
		run_play(&without, &options, NULL, 0);
		assert_true(with.digest == without.digest && with.output_count == without.output_count);
		assert_memory_equal(with.rows, without.rows, with.output_count * sizeof *with.rows);
		for (size_t o = 0; o < with.output_count; o++)
			if (with.rows[o].element < options.floats)
				assert_int_equal(with.outputs[o], without.outputs[o]);
		run_free(&with);
		run_free(&without);
	}
}

/* A state that is sent without a record is noticed. */
TEST(unrecorded)
{
	struct run_options options = options_of(1, false);
	struct watch watch;
	watch_open(&watch, &options);
	struct attempt *attempt =
		&watch.run.history.attempts[watch.run.history.count - 1]; /* no later one tells the same */
	while (attempt->released != attempt->present || (attempt->present & 2u) == 0)
		attempt--;
	assert_true(map_as_allowed(&watch.map, 1) && map_only_results(&watch.map, 1));
	attempt->released &= ~2u;
	assert_false(map_as_allowed(&watch.map, 1) || map_only_results(&watch.map, 1));
	watch_close(&watch);
}
