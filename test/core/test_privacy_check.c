/* Refusals before the first share, and models that cannot be encoded: the reason and its numbers. */
#include <math.h>

#include "test/lib/test.h"
#include "test/core/verbs.h"

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

TEST(p_bound)
{
	struct sl_sim *sim = build(1020431, 4, 16);
	sl_sim_start(sim);
	const struct sl_report *report = refusal(sim, SL_REASON_P_BOUND);
	assert_int_equal(report->why.p_bound.p, 1020431);
	assert_int_equal(report->why.p_bound.least, 2 + 2 * 10000 * 16 * 4);
	assert_int_equal(report->why.p_bound.digits, 4);
	assert_int_equal(report->why.p_bound.learners, 4);
	assert_int_equal(report->why.p_bound.digits_most, 3);
	sl_sim_free(sim);
}

/* The p of the view, or that of the refusal; 0: `auto` finds none. */
TEST(choice_of_p)
{
	static const struct {
		uint64_t configured;
		uint32_t decimals;
		double clipping_range;
		enum sl_engine mixing;
		enum sl_reason reason;
		uint64_t p;
	} cases[] = {
		{0, 12, 1e18, SL_ENGINE_EXACT, SL_REASON_P_BOUND, 0}, /* even without decimals */
		{0, 12, 1e13, SL_ENGINE_METROPOLIS, SL_REASON_P_BOUND, 0},
		{0, 12, 1e18, SL_ENGINE_FOREST, SL_REASON_P_BOUND, 0},
		{0, 12, 1e18, SL_ENGINE_AUTO, SL_REASON_P_BOUND, 0},
		{0, 12, 16, SL_ENGINE_METROPOLIS, SL_REASON_P_BOUND, 0},
		{0, 12, 16, SL_ENGINE_EXACT, SL_REASON_NONE, (UINT64_C(1) << 55) - 55},
		{7, 1, 0.01, SL_ENGINE_EXACT, SL_REASON_P_IDS,
		 7}, /* meets the bound, but there is an id 11 */
		{2147483649, 4, 16, SL_ENGINE_EXACT, SL_REASON_P_BOUND, 2147483649}, /* not prime */
	};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct sl_sim *sim = build(cases[k].configured, cases[k].decimals, cases[k].clipping_range);
		mix_by(sim, cases[k].mixing);
		sl_sim_start(sim);
		uint64_t p;
		if (cases[k].reason == SL_REASON_NONE) {
			sl_sim_run_until_done(sim);
			p = sl_sim_expect(sim, 0, SL_REPORT_VIEW, SL_REASON_NONE)->report.view.p;
		} else if (cases[k].reason == SL_REASON_P_IDS) {
			const struct sl_report *report = refusal(sim, SL_REASON_P_IDS);
			p = report->why.p_ids.p;
			assert_int_equal(report->why.p_ids.largest, 11);
		} else {
			p = refusal(sim, SL_REASON_P_BOUND)->why.p_bound.p;
		}
		assert_int_equal(p, cases[k].p);
		sl_sim_free(sim);
	}
}

/* --- the width rule and K --- */

TEST(width)
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

TEST(width_on_short_line)
{
	struct sl_sim_options o = {
		.seed = 23, .learners = 12, .topology = "line", .parameters.mixing = SL_ENGINE_METROPOLIS};
	o.parameters.p = (UINT64_C(1) << 44) - 17;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

TEST(iterations)
{
	struct sl_sim_options o = {.seed = 24, .learners = 3, .parameters.mixing = SL_ENGINE_METROPOLIS};
	o.parameters.k = SL_ITERATIONS_MAX + 1;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	assert_int_equal(refusal(sim, SL_REASON_ITERATIONS)->why.iterations.limit, SL_ITERATIONS_MAX);
	sl_sim_free(sim);
}

/* --- models --- */

static const struct sl_report *with_model(struct sl_sim *sim, float value, enum sl_reason reason)
{
	sl_sim_start(sim);
	sl_sim_run_until_phase(sim, 1, SL_PHASE_DISCOVER);
	((float *)sim->learners[1].host.workspace.trained)[3] = value;
	sl_sim_run_until_stopped(sim, 1, SL_ERR_RANGE);
	assert_int_equal(sim->learners[1].host.committed, 0);
	return &sl_sim_expect(sim, 1, SL_REPORT_FAILED, reason)->report;
}

TEST(not_a_number)
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

TEST(above_clip)
{
	struct sl_sim *sim = build(0, 0, 0);
	const struct sl_report *report = with_model(sim, -16.5f, SL_REASON_CLIP);
	assert_int_equal(report->why.model.index, 3);
	assert_true(report->why.model.value == -16.5);
	sl_sim_free(sim);
}

TEST(clamped)
{
	struct sl_sim *sim = build(0, 0, 0);
	sim->learners[1].host.workspace.clamp = true;
	sl_sim_start(sim);
	sl_sim_run_until_phase(sim, 1, SL_PHASE_DISCOVER);
	float *trained = sim->learners[1].host.workspace.trained;
	trained[3] = 16.00001f;
	trained[5] = -16.00001f;
	sl_sim_run_until_done(sim);
	assert_int_equal(sl_sim_expect(sim, 1, SL_REPORT_CLAMPED, SL_REASON_NONE)->report.clamped.count, 2);
	sl_sim_expect_none(sim, 0, SL_REPORT_CLAMPED, SL_REASON_NONE);
	sl_sim_free(sim);
}

TEST(weight_above_max)
{
	struct sl_sim *sim = build(0, 0, 0);
	sim->learners[1].host.workspace.weight = 2;
	sl_sim_start(sim);
	sl_sim_run_until_stopped(sim, 1, SL_ERR_RANGE);
	const struct sl_report *report = &sl_sim_expect(sim, 1, SL_REPORT_FAILED, SL_REASON_WEIGHT)->report;
	assert_int_equal(report->why.weight.weight, 2);
	assert_int_equal(report->why.weight.most, 1);
	sl_sim_free(sim);
}
