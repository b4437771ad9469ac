/* Samples, and what they come to. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/dev/bench/figure.h"
#include "tools/dev/bench/machine.h"

static struct sl_figure of(const double *samples, uint32_t count)
{
	struct sl_figure figure = {.name = "f", .unit = "s"};
	for (uint32_t i = 0; i < count; i++)
		sl_figure_add(&figure, samples[i]);
	return figure;
}

static void the_middle_one_of_an_odd_number(void **state)
{
	(void)state;
	struct sl_figure figure = of((const double[]){5, 1, 9, 2, 7}, 5);
	struct sl_spread s = sl_figure_spread(&figure);
	assert_true(s.least == 1 && s.median == 5 && s.most == 9);
	assert_true(figure.samples[0] == 5); /* in the order in which they came */
}

static void the_mean_of_the_two_in_the_middle(void **state)
{
	(void)state;
	struct sl_figure figure = of((const double[]){4, 1, 2, 9}, 4);
	assert_true(sl_figure_spread(&figure).median == 3);
}

static void nothing_is_no_number(void **state)
{
	(void)state;
	struct sl_figure figure = of(NULL, 0);
	assert_true(isnan(sl_figure_spread(&figure).median));
	json_t *json = sl_figure_json(&figure);
	assert_true(json_is_null(json));
	json_decref(json);
}

static void what_is_too_much_is_not_kept(void **state)
{
	(void)state;
	struct sl_figure figure = {.count = 0};
	for (uint32_t i = 0; i < SL_SAMPLES_MOST + 5; i++)
		sl_figure_add(&figure, i);
	assert_int_equal(figure.count, SL_SAMPLES_MOST);
	assert_true(sl_figure_spread(&figure).most == SL_SAMPLES_MOST - 1);
}

static void json_has_every_sample(void **state)
{
	(void)state;
	struct sl_figure figure = of((const double[]){3, 1, 2}, 3);
	json_t *json = sl_figure_json(&figure);
	assert_true(json_real_value(json_object_get(json, "median")) == 2);
	assert_int_equal(json_array_size(json_object_get(json, "samples")), 3);
	json_decref(json);
}

/* Two processors for 10 s of 3: all took 4 s, this program 1. */
static void others_are_all_but_our_own(void **state)
{
	(void)state;
	struct sl_machine machine;
	struct sl_cpu_clock from = {100, 50, 7}, to = {110, 54, 8};
	sl_machine_look(&machine);
	double part = sl_cpu_others(&from, &to);
	assert_true(fabs(part - 3.0 / (10.0 * (double)machine.processors)) < 1e-12);
	to.own_s = 20; /* clocks of different grain */
	assert_true(sl_cpu_others(&from, &to) == 0);
	to = (struct sl_cpu_clock){110, 5000, 7};
	assert_true(sl_cpu_others(&from, &to) == 1);
	assert_true(sl_cpu_others(&from, &from) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_middle_one_of_an_odd_number), cmocka_unit_test(the_mean_of_the_two_in_the_middle),
		cmocka_unit_test(nothing_is_no_number),		   cmocka_unit_test(what_is_too_much_is_not_kept),
		cmocka_unit_test(json_has_every_sample),	   cmocka_unit_test(others_are_all_but_our_own),
	};
	return cmocka_run_group_tests_name("bench figure", tests, NULL, NULL);
}
