/* What a schedule lacks, and no more; augment.sh shows what is written. */
#include <string.h>

#include "test/lib/test.h"
#include "test/topology/schedules.h"

#include "tools/topology/augment.h"
#include "tools/topology/figures.h"

static void added_is(const char *text, uint32_t c, const char *expected)
{
	struct sl_schedule schedule = schedule_of(text), added;
	struct sl_error error = {0};
	assert_int_equal(sl_augment_schedule(&schedule, c, &added, &error), SL_OK);
	char *got = print_schedule(&added);
	assert_string_equal(got, expected);
	free(got);
	sl_schedule_close(&schedule);
	sl_schedule_close(&added);
}

TEST(test_a_step_that_suffices_gets_nothing)
{
	added_is("learners 4\nstep 1-2 2-3 3-4 1-4\nstep 1-2 2-3 3-4\n", 1, "learners 4\nstep\nstep 1-4\n");
	added_is("learners 2\nstep\n", 0, "learners 2\nstep 1-2\n");
	added_is("learners 3\nstep 1-2 2-3\n", 0, "learners 3\nstep\n");
}

/* Return the schedule with what was added; links that it had are not added again. */
static struct sl_schedule joined(const struct sl_schedule *schedule, const struct sl_schedule *added)
{
	struct sl_edge edges[15 * 14];
	struct sl_schedule all;
	sl_schedule_init(&all, schedule->learners);
	assert_int_equal(added->steps, schedule->steps);
	for (uint32_t s = 0; s < schedule->steps; s++) {
		size_t had = sl_schedule_count(schedule, s), more = sl_schedule_count(added, s);
		memcpy(edges, sl_schedule_edges(schedule, s), had * sizeof *edges);
		memcpy(edges + had, sl_schedule_edges(added, s), more * sizeof *edges);
		assert_int_equal(sl_schedule_add(&all, edges, had + more), SL_OK);
		assert_int_equal(sl_schedule_count(&all, s), had + more);
	}
	return all;
}

static void check_steps(const char *family, uint32_t c)
{
	struct sl_schedule schedule = draw_schedule(family, 15, 4), added;
	struct sl_error error = {0};
	struct sl_figures figures;
	const struct sl_figures_request request = {.analysis.kappa_most = c + 1, .p = 1020431};
	assert_int_equal(sl_augment_schedule(&schedule, c, &added, &error), SL_OK);
	struct sl_schedule augmented = joined(&schedule, &added);
	assert_int_equal(sl_figures_open(&figures, &augmented, &request), SL_OK);
	for (uint32_t s = 0; s < 4; s++) {
		assert_int_equal(sl_figures_step(&figures, s), SL_OK);
		assert_int_equal(sl_privacy_check(15, figures.analysis.kappa, c), SL_PRIVACY_KEPT);
	}
	sl_figures_close(&figures);
	sl_schedule_close(&schedule);
	sl_schedule_close(&augmented);
	sl_schedule_close(&added);
}

TEST(test_every_step_passes_the_privacy_check)
{
	static const char *const families[] = {"complete", "ring", "line", "star", "grid", "geometric:0.2"};
	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		for (uint32_t c = 0; c < 4; c++)
			check_steps(families[i], c);
}

TEST(test_too_few_learners)
{
	struct sl_schedule schedule = schedule_of("learners 4\nstep 1-2\n"), added;
	struct sl_error error = {0};
	assert_int_equal(sl_augment_schedule(&schedule, 3, &added, &error), SL_ERR_INVALID);
	assert_string_equal(error.text, "4 learners cannot tolerate 3 that collude: at least 5 are needed");
	sl_schedule_close(&added);
	assert_int_equal(sl_augment_schedule(&schedule, 2, &added, &error), SL_OK);
	assert_int_equal(sl_schedule_count(&added, 0), 5);
	sl_schedule_close(&schedule);
	sl_schedule_close(&added);
}
