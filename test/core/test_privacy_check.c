/* What is refused before the first share, and models that cannot be encoded: the reason, with its numbers. */
#include <math.h>
#include <stdio.h>

#include "test/lib/test.h"
#include "tools/sim/sim.h"

static struct sl_sim *build(uint64_t p, uint32_t decimals, double clipping_range)
{
	struct sl_sim_options o = {.seed = 21, .learners = 4, .clipping_range = clipping_range};
	o.parameters.p = p;
	o.parameters.decimals = decimals;
	return sl_sim_new(&o);
}

static const struct sl_report *refusal(struct sl_sim *sim, enum sl_reason reason)
{
	const struct sl_report *report = &sl_sim_run_until_report(sim, 0, SL_REPORT_FAILED, reason)->report;
	assert_int_equal(report->phase, SL_PHASE_AGREE);
	assert_int_equal(sim->learners[0].host.committed, 0);
	return report;
}

static void mix_by(struct sl_sim *sim, uint64_t mixing)
{
	for (uint32_t i = 0; i < sim->n; i++)
		sim->learners[i].host.config.parameters.mixing = mixing;
}

/* --- the prime --- */

TEST(test_p_bound)
{
	struct sl_sim *sim = build(1020431, 4, 16);
	sl_sim_start(sim);
	const struct sl_report *report = refusal(sim, SL_REASON_P_BOUND);
	assert_int_equal(report->why.p_bound.p, 1020431);
	assert_int_equal(report->why.p_bound.least, 2 + 2 * 10000 * 16 * 4);
	assert_int_equal(report->why.p_bound.decimals, 4);
	assert_int_equal(report->why.p_bound.learners, 4);
	assert_int_equal(report->why.p_bound.decimals_most, 3);
	sl_sim_free(sim);
}

TEST(test_p_auto_finds_none)
{
	for (uint64_t mixing = SL_ENGINE_EXACT; mixing <= SL_ENGINE_AUTO; mixing++) {
		struct sl_sim *sim = build(0, 12, 1e9);
		mix_by(sim, mixing);
		sl_sim_start(sim);
		assert_int_equal(refusal(sim, SL_REASON_P_BOUND)->why.p_bound.p, 0);
		sl_sim_free(sim);
	}
}

/* Between 2^44 and 2^61, metropolis has none. */
TEST(test_p_auto_of_an_engine)
{
	struct sl_sim *sim = build(0, 12, 16);
	mix_by(sim, SL_ENGINE_METROPOLIS);
	sl_sim_start(sim);
	assert_int_equal(refusal(sim, SL_REASON_P_BOUND)->why.p_bound.p, 0);
	sl_sim_free(sim);
	sim = build(0, 12, 16);
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	assert_int_equal(sl_sim_expect(sim, 0, SL_REPORT_VIEW, SL_REASON_NONE)->report.view.p,
			 (UINT64_C(1) << 61) - 1);
	sl_sim_free(sim);
}

TEST(test_p_not_above_ids)
{
	struct sl_sim *sim = build(7, 1, 0.01); /* meets the bound, but learner 11 is no point of Z_7 */
	sl_sim_start(sim);
	const struct sl_report *report = refusal(sim, SL_REASON_P_IDS);
	assert_int_equal(report->why.p_ids.p, 7);
	assert_int_equal(report->why.p_ids.largest, 11);
	sl_sim_free(sim);
}

TEST(test_p_not_prime)
{
	struct sl_sim *sim = build(UINT64_C(2147483649), 4, 16);
	sl_sim_start(sim);
	refusal(sim, SL_REASON_P_BOUND);
	sl_sim_free(sim);
}

/* --- the width rule and K --- */

TEST(test_width)
{
	struct sl_sim_options o = {
		.seed = 22, .learners = 60, .topology = "line", .parameters.mixing = SL_ENGINE_METROPOLIS};
	o.parameters.p = (UINT64_C(1) << 44) - 17;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	const struct sl_report *report = refusal(sim, SL_REASON_WIDTH);
	assert_int_equal(report->why.width.fraction, 62 - 44);
	assert_true(report->why.width.need > ldexp(1, 18));
	assert_true(report->why.width.p_bits_most < 44 &&
		    ldexp(1, 62 - (int)report->why.width.p_bits_most) >= report->why.width.need);
	sl_sim_free(sim);
}

TEST(test_width_on_short_line)
{
	struct sl_sim_options o = {
		.seed = 23, .learners = 12, .topology = "line", .parameters.mixing = SL_ENGINE_METROPOLIS};
	o.parameters.p = (UINT64_C(1) << 44) - 17;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

TEST(test_iterations)
{
	struct sl_sim_options o = {.seed = 24, .learners = 3, .parameters.mixing = SL_ENGINE_METROPOLIS};
	o.parameters.k = SL_ITERATIONS_MAX + 1;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	assert_int_equal(refusal(sim, SL_REASON_ITERATIONS)->why.iterations.limit, SL_ITERATIONS_MAX);
	sl_sim_free(sim);
}

static void thin_margin(struct sl_sim *sim, uint32_t i, struct sl_job_result *result)
{
	(void)sim;
	if (i == 0 && result->kind == SL_JOB_CLOSE)
		result->real = 0.375;
}

TEST(test_margin)
{
	struct sl_sim *sim = build(0, 0, 0);
	mix_by(sim, SL_ENGINE_METROPOLIS);
	sim->tap_result = thin_margin;
	sl_sim_start(sim);
	sl_sim_run_until_round(sim, 1);
	assert_true(
		sl_sim_expect(sim, 0, SL_REPORT_RECOVERING, SL_REASON_MARGIN)->report.why.margin.distance ==
		0.375);
	if (sl_sim_find(sim, 0, SL_REPORT_CAUGHT_UP, SL_REASON_NONE) == NULL)
		sl_sim_expect(sim, 0, SL_REPORT_RECOVERED, SL_REASON_NONE);
	sl_sim_free(sim);
}

/* --- models --- */

static const struct sl_report *with_model(struct sl_sim *sim, float value, enum sl_reason reason)
{
	sl_sim_start(sim);
	sl_sim_run_until_phase(sim, 1, SL_PHASE_DISCOVER);
	sim->learners[1].host.workspace.trained[3] = value;
	sl_sim_run_until_stopped(sim, 1, SL_ERR_INVALID);
	assert_int_equal(sim->learners[1].host.committed, 0);
	return &sl_sim_expect(sim, 1, SL_REPORT_FAILED, reason)->report;
}

TEST(test_not_a_number)
{
	struct sl_sim *sim = build(0, 0, 0);
	const struct sl_report *report = with_model(sim, NAN, SL_REASON_MODEL);
	assert_int_equal(report->why.model.index, 3);
	assert_true(isnan(report->why.model.value));
	sl_sim_free(sim);
	sim = build(0, 0, 0);
	assert_true(isinf(with_model(sim, -INFINITY, SL_REASON_MODEL)->why.model.value));
	sl_sim_free(sim);
}

TEST(test_above_clip)
{
	struct sl_sim *sim = build(0, 0, 0);
	const struct sl_report *report = with_model(sim, -16.5f, SL_REASON_CLIP);
	assert_int_equal(report->why.model.index, 3);
	assert_true(report->why.model.value == -16.5);
	sl_sim_free(sim);
}

/* The others go on without the learner whose model is unfit. */
TEST(test_others_go_on)
{
	struct sl_sim *sim = build(0, 0, 0);
	with_model(sim, NAN, SL_REASON_MODEL);
	sim->learners[1].silent = true;
	sl_sim_run_until_round(sim, 1);
	assert_int_equal(
		sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report.committed.learners, 3);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

TEST(test_clamped)
{
	struct sl_sim *sim = build(0, 0, 0);
	sim->learners[1].host.workspace.clamp = true;
	sl_sim_start(sim);
	sl_sim_run_until_phase(sim, 1, SL_PHASE_DISCOVER);
	sim->learners[1].host.workspace.trained[3] = 16.00001f;
	sim->learners[1].host.workspace.trained[5] = -16.00001f;
	sl_sim_run_until_done(sim);
	assert_int_equal(sl_sim_expect(sim, 1, SL_REPORT_CLAMPED, SL_REASON_NONE)->report.clamped.count, 2);
	sl_sim_expect_none(sim, 0, SL_REPORT_CLAMPED, SL_REASON_NONE);
	sl_sim_free(sim);
}

TEST(test_weight_above_max)
{
	struct sl_sim *sim = build(0, 0, 0);
	sim->learners[1].host.workspace.weight = 2;
	sl_sim_start(sim);
	sl_sim_run_until_stopped(sim, 1, SL_ERR_INVALID);
	const struct sl_report *report = &sl_sim_expect(sim, 1, SL_REPORT_FAILED, SL_REASON_WEIGHT)->report;
	assert_int_equal(report->why.weight.weight, 2);
	assert_int_equal(report->why.weight.most, 1);
	sl_sim_free(sim);
}
