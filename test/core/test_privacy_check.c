/* What is refused before the first share, and models that cannot be encoded: the reason, with its numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "tools/sim/sim.h"

static struct sim *build(uint64_t p, uint32_t sigma, double clip)
{
	struct sim_options o = {.seed = 21, .learners = 4, .clip = clip};
	o.parameters.p = p;
	o.parameters.sigma = sigma;
	return sim_new(&o);
}

static const struct sl_report *refusal(struct sim *sim, enum sl_reason reason)
{
	const struct sl_report *report = &sim_run_until_report(sim, 0, SL_REPORT_FAILED, reason)->report;
	assert_int_equal(report->phase, SL_PHASE_FREEZE);
	assert_int_equal(sim->learners[0].committed, 0);
	return report;
}

static void mix_by(struct sim *sim, uint64_t mixing)
{
	for (uint32_t i = 0; i < sim->n; i++)
		sim->learners[i].config.parameters.mixing = mixing;
}

/* --- the prime --- */

static void test_p_bound(void **state)
{
	(void)state;
	struct sim *sim = build(1020431, 4, 16);
	sim_start(sim);
	const struct sl_report *report = refusal(sim, SL_REASON_P_BOUND);
	assert_int_equal(report->why.p_bound.p, 1020431);
	assert_int_equal(report->why.p_bound.least, 2 + 2 * 10000 * 16 * 4);
	assert_int_equal(report->why.p_bound.sigma, 4);
	assert_int_equal(report->why.p_bound.learners, 4);
	assert_int_equal(report->why.p_bound.sigma_most, 3);
	sim_free(sim);
}

static void test_p_auto_finds_none(void **state)
{
	(void)state;
	for (uint64_t mixing = SL_ENGINE_EXACT; mixing <= SL_ENGINE_AUTO; mixing++) {
		struct sim *sim = build(0, 12, 1e9);
		mix_by(sim, mixing);
		sim_start(sim);
		assert_int_equal(refusal(sim, SL_REASON_P_BOUND)->why.p_bound.p, 0);
		sim_free(sim);
	}
}

/* Between 2^44 and 2^61, metropolis has none. */
static void test_p_auto_of_an_engine(void **state)
{
	(void)state;
	struct sim *sim = build(0, 12, 16);
	mix_by(sim, SL_ENGINE_METROPOLIS);
	sim_start(sim);
	assert_int_equal(refusal(sim, SL_REASON_P_BOUND)->why.p_bound.p, 0);
	sim_free(sim);
	sim = build(0, 12, 16);
	sim_start(sim);
	sim_run_until_done(sim);
	assert_int_equal(sim_expect(sim, 0, SL_REPORT_VIEW, SL_REASON_NONE)->report.view.p, (UINT64_C(1) << 61) - 1);
	sim_free(sim);
}

static void test_p_not_above_ids(void **state)
{
	(void)state;
	struct sim *sim = build(7, 1, 0.01); /* meets the bound, but learner 11 is no point of Z_7 */
	sim_start(sim);
	const struct sl_report *report = refusal(sim, SL_REASON_P_IDS);
	assert_int_equal(report->why.p_ids.p, 7);
	assert_int_equal(report->why.p_ids.largest, 11);
	sim_free(sim);
}

static void test_p_not_prime(void **state)
{
	(void)state;
	struct sim *sim = build(UINT64_C(2147483649), 4, 16);
	sim_start(sim);
	refusal(sim, SL_REASON_P_BOUND);
	sim_free(sim);
}

/* --- the width rule and K --- */

static void test_width(void **state)
{
	(void)state;
	struct sim_options o = {.seed = 22, .learners = 60, .topology = "line", .parameters.mixing = SL_ENGINE_METROPOLIS};
	o.parameters.p = (UINT64_C(1) << 44) - 17;
	struct sim *sim = sim_new(&o);
	sim_start(sim);
	const struct sl_report *report = refusal(sim, SL_REASON_WIDTH);
	assert_int_equal(report->why.width.fraction, 62 - 44);
	assert_true(report->why.width.need > ldexp(1, 18));
	assert_true(report->why.width.p_bits_most < 44 &&
		    ldexp(1, 62 - (int)report->why.width.p_bits_most) >= report->why.width.need);
	sim_free(sim);
}

static void test_width_on_short_line(void **state)
{
	(void)state;
	struct sim_options o = {.seed = 23, .learners = 12, .topology = "line", .parameters.mixing = SL_ENGINE_METROPOLIS};
	o.parameters.p = (UINT64_C(1) << 44) - 17;
	struct sim *sim = sim_new(&o);
	sim_start(sim);
	sim_run_until_done(sim);
	sim_free(sim);
}

static void test_iterations(void **state)
{
	(void)state;
	struct sim_options o = {.seed = 24, .learners = 3, .parameters.mixing = SL_ENGINE_METROPOLIS};
	o.parameters.k = SL_ITERATIONS_MAX + 1;
	struct sim *sim = sim_new(&o);
	sim_start(sim);
	assert_int_equal(refusal(sim, SL_REASON_ITERATIONS)->why.iterations.limit, SL_ITERATIONS_MAX);
	sim_free(sim);
}

static void thin_margin(struct sim *sim, uint32_t i, struct sl_job_result *result)
{
	(void)sim;
	if (i == 0 && result->kind == SL_JOB_CLOSE)
		result->real = 0.375;
}

static void test_margin(void **state)
{
	(void)state;
	struct sim *sim = build(0, 0, 0);
	mix_by(sim, SL_ENGINE_METROPOLIS);
	sim->tap_result = thin_margin;
	sim_start(sim);
	sim_run_until_round(sim, 1);
	assert_true(sim_expect(sim, 0, SL_REPORT_RECOVERING, SL_REASON_MARGIN)->report.why.margin.distance == 0.375);
	if (sim_find(sim, 0, SL_REPORT_CAUGHT_UP, SL_REASON_NONE) == NULL)
		sim_expect(sim, 0, SL_REPORT_RECOVERED, SL_REASON_NONE);
	sim_free(sim);
}

/* --- models --- */

static const struct sl_report *with_model(struct sim *sim, float value, enum sl_reason reason)
{
	sim_start(sim);
	sim_run_until_phase(sim, 1, SL_PHASE_DISCOVER);
	sim->learners[1].vault.trained[3] = value;
	sim_run_until_stopped(sim, 1, SL_ERR_INVALID);
	assert_int_equal(sim->learners[1].committed, 0);
	return &sim_expect(sim, 1, SL_REPORT_FAILED, reason)->report;
}

static void test_not_a_number(void **state)
{
	(void)state;
	struct sim *sim = build(0, 0, 0);
	const struct sl_report *report = with_model(sim, NAN, SL_REASON_MODEL);
	assert_int_equal(report->why.model.index, 3);
	assert_true(isnan(report->why.model.value));
	sim_free(sim);
	sim = build(0, 0, 0);
	assert_true(isinf(with_model(sim, -INFINITY, SL_REASON_MODEL)->why.model.value));
	sim_free(sim);
}

static void test_above_clip(void **state)
{
	(void)state;
	struct sim *sim = build(0, 0, 0);
	const struct sl_report *report = with_model(sim, -16.5f, SL_REASON_CLIP);
	assert_int_equal(report->why.model.index, 3);
	assert_true(report->why.model.value == -16.5);
	sim_free(sim);
}

/* The others go on without the learner whose model is unfit. */
static void test_others_go_on(void **state)
{
	(void)state;
	struct sim *sim = build(0, 0, 0);
	with_model(sim, NAN, SL_REASON_MODEL);
	sim->learners[1].silent = true;
	sim_run_until_round(sim, 1);
	assert_int_equal(sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners, 3);
	sim_run_until_done(sim);
	sim_free(sim);
}

static void test_clamped(void **state)
{
	(void)state;
	struct sim *sim = build(0, 0, 0);
	sim->learners[1].vault.clamp = true;
	sim_start(sim);
	sim_run_until_phase(sim, 1, SL_PHASE_DISCOVER);
	sim->learners[1].vault.trained[3] = 16.00001f;
	sim->learners[1].vault.trained[5] = -16.00001f;
	sim_run_until_done(sim);
	assert_int_equal(sim_expect(sim, 1, SL_REPORT_CLAMPED, SL_REASON_NONE)->report.clamped.count, 2);
	sim_expect_none(sim, 0, SL_REPORT_CLAMPED, SL_REASON_NONE);
	sim_free(sim);
}

static void test_weight_above_max(void **state)
{
	(void)state;
	struct sim *sim = build(0, 0, 0);
	sim->learners[1].vault.weight = 2;
	sim_start(sim);
	sim_run_until_stopped(sim, 1, SL_ERR_INVALID);
	const struct sl_report *report = &sim_expect(sim, 1, SL_REPORT_FAILED, SL_REASON_WEIGHT)->report;
	assert_int_equal(report->why.weight.weight, 2);
	assert_int_equal(report->why.weight.most, 1);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_p_bound),		  cmocka_unit_test(test_p_auto_finds_none),
		cmocka_unit_test(test_p_auto_of_an_engine),
		cmocka_unit_test(test_p_not_above_ids),	  cmocka_unit_test(test_p_not_prime),
		cmocka_unit_test(test_width),		  cmocka_unit_test(test_width_on_short_line),
		cmocka_unit_test(test_iterations),	  cmocka_unit_test(test_margin),
		cmocka_unit_test(test_not_a_number),	  cmocka_unit_test(test_above_clip),
		cmocka_unit_test(test_others_go_on),	  cmocka_unit_test(test_clamped),
		cmocka_unit_test(test_weight_above_max),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
