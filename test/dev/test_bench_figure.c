/* Samples, their median and spread; the load of other programs. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "test/lib/test.h"
#include "tools/dev/bench/figure.h"
#include "tools/dev/bench/machine.h"

static struct sl_figure of(const double *samples, uint32_t count)
{
	struct sl_figure figure = {.name = "f", .unit = "s"};
	for (uint32_t i = 0; i < count; i++)
		sl_figure_add(&figure, samples[i]);
	return figure;
}

TEST(the_middle_one_of_an_odd_number)
{
	struct sl_figure figure = of((const double[]){5, 1, 9, 2, 7}, 5);
	struct sl_spread s = sl_figure_spread(&figure);
	assert_true(s.least == 1 && s.median == 5 && s.most == 9);
	assert_true(figure.samples[0] == 5); /* in the order in which they came */
}

TEST(the_mean_of_the_two_in_the_middle)
{
	struct sl_figure figure = of((const double[]){4, 1, 2, 9}, 4);
	assert_true(sl_figure_spread(&figure).median == 3);
}

TEST(nothing_is_no_number)
{
	struct sl_figure figure = of(NULL, 0);
	assert_true(isnan(sl_figure_spread(&figure).median));
	json_t *json = sl_figure_json(&figure);
	assert_true(json_is_null(json));
	json_decref(json);
}

TEST(what_is_too_much_is_not_kept)
{
	struct sl_figure figure = {.count = 0};
	for (uint32_t i = 0; i < SL_SAMPLES_MOST + 5; i++)
		sl_figure_add(&figure, i);
	assert_int_equal(figure.count, SL_SAMPLES_MOST);
	assert_true(sl_figure_spread(&figure).most == SL_SAMPLES_MOST - 1);
}

TEST(json_has_every_sample)
{
	struct sl_figure figure = of((const double[]){3, 1, 2}, 3);
	json_t *json = sl_figure_json(&figure);
	assert_true(json_real_value(json_object_get(json, "median")) == 2);
	assert_int_equal(json_array_size(json_object_get(json, "samples")), 3);
	json_decref(json);
}

/* Two processors for 10 s of 3: all took 4 s, this program 1. */
TEST(others_are_all_but_our_own)
{
	struct sl_machine machine;
	struct sl_cpu_clock from = {100, 50, 7}, to = {110, 54, 8};
	sl_machine_look(&machine);
	double part = sl_machine_cpu_others(&from, &to);
	assert_true(fabs(part - 3.0 / (10.0 * (double)machine.processors)) < 1e-12);
	to.own_s = 20; /* clocks of different grain */
	assert_true(sl_machine_cpu_others(&from, &to) == 0);
	to = (struct sl_cpu_clock){110, 5000, 7};
	assert_true(sl_machine_cpu_others(&from, &to) == 1);
	assert_true(sl_machine_cpu_others(&from, &from) == 0);
}
