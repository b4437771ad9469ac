/* What a coalition learns in several rounds if no model ever changes, from the shares that it got and the
 * masked states that were shown: sums over whole atoms; and with membership_change wait and cohort nothing
 * about a learner alone (GROUP.md §12.7 Privacy over several sums). */
#include "test/leak/probe.h"
#include "test/leak/run.h"
#include "test/lib/test.h"

#define LEARNERS 7u
#define ROUNDS 4u
#define SEEDS 4u

/* Return the others that took part in the same sums as learner `i`; the coalition knows its own models. */
static uint32_t atom_of(const struct history *history, uint32_t coalition, uint32_t i)
{
	uint32_t atom = all_of(history->learners);
	for (const struct attempt *a = history->attempts; a < history->attempts + history->count; a++)
		if ((a->present & ~coalition & ~attempt_known(a, coalition)) == 0)
			atom &= a->present >> i & 1 ? a->present : ~a->present;
	return coalition >> i & 1 ? 0 : atom & ~coalition;
}

/* Two inputs with the same sum over each atom cannot be told apart: each thing learnt has one coefficient for
 * an atom. */
static void expect_whole_atoms(const struct history *history, const struct matrix *merged, uint32_t coalition)
{
	for (uint32_t i = 0; i < history->learners; i++)
		for (uint32_t j = 0; j < history->learners; j++)
			for (size_t r = 0; r < merged->rows && atom_of(history, coalition, i) >> j & 1; r++)
				assert_int_equal(matrix_row(merged, r)[i], matrix_row(merged, r)[j]);
}

/* Return how many of the others' models the coalition knows. */
static uint32_t known(const struct probe *probe, uint32_t coalition)
{
	const struct history *history = probe->map.history;
	struct matrix learned = map_learned(&probe->map, coalition), merged = map_merged(history, &learned);
	uint32_t count = 0;
	expect_whole_atoms(history, &merged, coalition);
	for (uint32_t i = 0; i < history->learners; i++) {
		uint64_t model[LEARNERS] = {0};
		model[i] = 1;
		count += !(coalition >> i & 1) && matrix_spans(&merged, model);
	}
	matrix_free(&learned);
	matrix_free(&merged);
	return count;
}

struct totals {
	uint32_t known;	  /* models */
	uint32_t changes; /* attempts with others than the one before */
};

/* Let learners go away and come back in simulated rounds, and compute the shares of their attempts. */
static void play(struct totals *totals, uint64_t seed, enum sl_membership_change change)
{
	struct sl_field field = field_of(RUN_FIELD);
	struct run_options options = {.seed = seed,
				      .learners = LEARNERS,
				      .floats = 1,
				      .rounds = ROUNDS,
				      .kind = (enum sl_sharing_kind)(seed % 3),
				      .absences = true,
				      .change = change};
	struct run run;
	struct probe probe;
	run_play(&run, &options, NULL, 0);
	const struct attempt *attempts = run.history.attempts;
	for (uint32_t a = 1; a < run.history.count; a++)
		totals->changes += attempts[a].present != attempts[a - 1].present;
	probe_open(&probe, &run.history, &field, options.kind, MISTAKE_NONE);
	for (uint32_t i = 0; i < LEARNERS; i++)
		totals->known += known(&probe, 1u << i);
	probe_close(&probe);
	run_free(&run);
}

static struct totals play_seeds(enum sl_membership_change change)
{
	struct totals totals = {0};
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		play(&totals, seed, change);
	assert_true(totals.changes > 0);
	return totals;
}

/* The control: a model is known. */
TEST(warn_tells_models)
{
	assert_true(play_seeds(SL_MEMBERSHIP_WARN).known > 0);
}

TEST(wait_and_cohort_tell_none)
{
	assert_int_equal(play_seeds(SL_MEMBERSHIP_WAIT).known, 0);
	assert_int_equal(play_seeds(SL_MEMBERSHIP_COHORT).known, 0);
}
