/* An augmented schedule: what it had, what it lacked, and no more. */
#include "test/lib/test.h"
#include "test/topology/schedules.h"

#include "tools/topology/augment.h"
#include "tools/topology/figures.h"

static void augmented_is(const char *text, uint32_t c, const char *expected, const char *expected_added)
{
	struct sl_schedule schedule = schedule_of(text), augmented, added;
	struct sl_error error = {0};
	assert_int_equal(sl_augment_schedule(&schedule, c, &augmented, &added, &error), SL_OK);
	char *got = print_schedule(&augmented), *got_added = print_schedule(&added);
	assert_string_equal(got, expected);
	assert_string_equal(got_added, expected_added);
	free(got);
	free(got_added);
	sl_schedule_close(&schedule);
	sl_schedule_close(&augmented);
	sl_schedule_close(&added);
}

TEST(test_a_step_that_suffices_is_as_it_was)
{
	augmented_is("learners 4\nstep 1-2 2-3 3-4 1-4\nstep 1-2 2-3 3-4\n", 1,
		     "learners 4\nstep 1-2 1-4 2-3 3-4\nstep 1-2 1-4 2-3 3-4\n",
		     "learners 4\nstep\nstep 1-4\n");
	augmented_is("learners 2\nstep\n", 0, "learners 2\nstep 1-2\n", "learners 2\nstep 1-2\n");
	augmented_is("learners 3\nstep 1-2 2-3\n", 0, "learners 3\nstep 1-2 2-3\n", "learners 3\nstep\n");
}

static void check_steps(const char *family, uint32_t c)
{
	struct sl_schedule schedule = draw_schedule(family, 15, 4), augmented, added;
	struct sl_error error = {0};
	struct sl_figures figures;
	const struct sl_figures_request request = {.analysis.kappa_most = c + 1, .p = 1020431};
	assert_int_equal(sl_augment_schedule(&schedule, c, &augmented, &added, &error), SL_OK);
	assert_int_equal(sl_figures_open(&figures, &augmented, &request), SL_OK);
	assert_true(augmented.steps == 4 && added.steps == 4);
	for (uint32_t s = 0; s < 4; s++) {
		assert_int_equal(sl_schedule_count(&augmented, s),
				 sl_schedule_count(&schedule, s) + sl_schedule_count(&added, s));
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
	struct sl_schedule schedule = schedule_of("learners 4\nstep 1-2\n"), augmented, added;
	struct sl_error error = {0};
	assert_int_equal(sl_augment_schedule(&schedule, 3, &augmented, &added, &error), SL_ERR_INVALID);
	assert_string_equal(error.text, "4 learners cannot tolerate 3 that collude: at least 5 are needed");
	assert_null(augmented.edges);
	assert_int_equal(sl_augment_schedule(&schedule, 2, &augmented, &added, &error), SL_OK);
	assert_int_equal(sl_schedule_count(&augmented, 0), 6);
	sl_schedule_close(&schedule);
	sl_schedule_close(&augmented);
	sl_schedule_close(&added);
}
