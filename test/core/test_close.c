/* CLOSE accepts only sums that N models within the clipping range can have (ROUND.md §4.7 Plausibility of
 * a sum).
 */
#include <string.h>

#include "common/base/bytes.h"
#include "common/compute/state.h"
#include "common/mixing/spectrum.h"
#include "test/lib/test.h"
#include "test/simulator/lie.h"
#include "test/core/verbs.h"

#define N 3u
#define ELEMENTS 5u
#define CLIP 16
#define SCALE INT64_C(10000)
#define P ((UINT64_C(1) << 36) - 5)
#define EDGE (CLIP * SCALE)

static struct sl_view view_of(enum sl_encoding_kind kind, uint64_t max_weight)
{
	struct sl_view view = {.n = N, .elements = ELEMENTS, .chunks = 1, .max_weight = max_weight};
	view.encoding =
		(struct sl_encoding){.kind = kind, .decimals = 4, .clipping_range = CLIP, .weight_total = N};
	assert_int_equal(sl_field_init(&view.field, P), SL_OK);
	view.fraction = sl_spectrum_fraction_bits(view.field.bits);
	view.engine = SL_ENGINE_METROPOLIS;
	return view;
}

/* Close the state `s`, and make it Z. */
static struct sl_job_result run_close(const struct sl_view *view, uint64_t *s)
{
	uint64_t room[2 * ELEMENTS];
	struct sl_workspace workspace = {.n = ELEMENTS - 1, .s = (uint8_t *)room, .second = s};
	struct sl_job_result result;
	assert_true(sl_state_packed(view) <= sizeof room);
	if (view->engine == SL_ENGINE_EXACT)
		sl_bytes_pack(workspace.s, s, ELEMENTS, view->field.bits);
	sl_job_run(&workspace, &(struct sl_job){.kind = SL_JOB_CLOSE, .view = view}, &result);
	sl_bytes_unpack(s, workspace.s, ELEMENTS, view->field.bits);
	return result;
}

/* With exact, the state is the sum. */
static int close_exact(const struct sl_view *view, const int64_t sums[ELEMENTS])
{
	struct sl_view other = *view;
	uint64_t s[ELEMENTS];
	other.engine = SL_ENGINE_EXACT;
	for (size_t l = 0; l < ELEMENTS; l++)
		s[l] = sl_field_lift(&view->field, (uint64_t)sums[l]);
	struct sl_job_result result = run_close(&other, s);
	for (size_t l = 0; l < ELEMENTS; l++)
		assert_int_equal(sl_field_centred(&view->field, s[l]), sums[l]);
	assert_true(result.real == 0);
	return result.code;
}

/* With metropolis, the state is sums[l] / N. */
static int close_code(const struct sl_view *view, const int64_t sums[ELEMENTS])
{
	uint64_t s[ELEMENTS];
	for (size_t l = 0; l < ELEMENTS; l++)
		s[l] = (uint64_t)((sums[l] * (INT64_C(1) << view->fraction)) / (int64_t)N);
	struct sl_job_result result = run_close(view, s);
	for (size_t l = 0; l < ELEMENTS; l++)
		assert_int_equal(sl_field_centred(&view->field, s[l]), sums[l]);
	assert_true(result.real < 0.375);
	assert_int_equal(close_exact(view, sums), result.code);
	return result.code;
}

static int close_at(const struct sl_view *view, int64_t coordinate, int64_t total)
{
	int64_t sums[ELEMENTS] = {0, 1, -1, coordinate, total};
	return close_code(view, sums);
}

TEST(equal_weights)
{
	struct sl_view view = view_of(SL_ENCODING_WEIGHTED, 1);
	assert_int_equal(close_at(&view, 7, N), SL_OK);
	for (int64_t total = -2; total <= 6; total++)
		if (total != N)
			assert_int_equal(close_at(&view, 7, total), SL_ERR_INVALID);
}

TEST(weights_by_samples)
{
	struct sl_view view = view_of(SL_ENCODING_WEIGHTED, 50);
	int64_t nothing[ELEMENTS] = {0};
	assert_int_equal(close_at(&view, 7, 0), SL_ERR_INVALID);
	assert_int_equal(close_code(&view, nothing), SL_OK); /* all have weight 0 */
	assert_int_equal(close_at(&view, 7, 1), SL_OK);
	assert_int_equal(close_at(&view, 7, N * 50), SL_OK);
	assert_int_equal(close_at(&view, 7, N * 50 + 1), SL_ERR_INVALID);
	assert_int_equal(close_at(&view, 7, -1), SL_ERR_INVALID);
}

/* Every model at the limit, in every coordinate; and a little beyond what rounding explains. */
TEST(clip)
{
	struct sl_view view = view_of(SL_ENCODING_WEIGHTED, 50);
	for (int64_t total = N; total <= N * 50; total += 7) {
		int64_t most = EDGE * total, sums[ELEMENTS] = {most, -most, most, -most, total};
		assert_int_equal(close_code(&view, sums), SL_OK);
		assert_int_equal(close_at(&view, most + total + 1, total), SL_ERR_INVALID);
		assert_int_equal(close_at(&view, -most - total - 1, total), SL_ERR_INVALID);
	}
	view = view_of(SL_ENCODING_WEIGHTED, 1);
	assert_int_equal(close_at(&view, EDGE * N, N), SL_OK);
	assert_int_equal(close_at(&view, -EDGE * N, N), SL_OK);
	assert_int_equal(close_at(&view, (EDGE + 1) * N + 1, N), SL_ERR_INVALID);
}

/* The first and the last coordinate count like any other. */
TEST(every_coordinate)
{
	struct sl_view view = view_of(SL_ENCODING_WEIGHTED, 1);
	for (size_t l = 0; l + 1 < ELEMENTS; l++) {
		int64_t sums[ELEMENTS] = {0, 0, 0, 0, N};
		sums[l] = -2 * EDGE * N;
		assert_int_equal(close_code(&view, sums), SL_ERR_INVALID);
	}
}

/* `encoding: paper`: each learner encodes its part of the mean, and no weight. */
TEST(paper)
{
	struct sl_view view = view_of(SL_ENCODING_PAPER, 1);
	assert_int_equal(close_at(&view, EDGE, 0), SL_OK);
	assert_int_equal(close_at(&view, -EDGE, 0), SL_OK);
	assert_int_equal(close_at(&view, EDGE + 2, 0), SL_ERR_INVALID);
}

/* A sum that mixing got wrong is recovered from the deposits. */
static void tamper(struct sl_sim *sim, uint32_t i, struct sl_job_result *result)
{
	(void)sim;
	if (i == 1 && result->kind == SL_JOB_CLOSE)
		result->code = SL_ERR_INVALID;
}

TEST(refused)
{
	struct sl_sim_options o = {.seed = 3, .learners = 3};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap_result = tamper;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	sl_sim_expect(sim, 1, SL_REPORT_RECOVERING, SL_REASON_RESULT);
	sl_sim_expect_none(sim, 1, SL_REPORT_OVER, SL_REASON_NONE);
	sl_sim_free(sim);
}

/* A sum that the Readys fix, and that cannot be, ends the attempt for all: they give it up. */
TEST(given_up)
{
	struct sl_sim_options o = {.seed = 3, .learners = 4};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap_result = sl_sim_refuse_sums;
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	for (uint32_t i = 0; i < sim->n; i++) {
		sl_sim_expect(sim, i, SL_REPORT_FAILED, SL_REASON_RESULT);
		sl_sim_expect(sim, i, SL_REPORT_OVER, SL_REASON_NONE);
		sl_sim_expect(sim, i, SL_REPORT_MODEL_INVALIDATED, SL_REASON_NONE);
	}
	sl_sim_free(sim);
}

/* The quorum needs a learner whose key shares are false: the attempts end one after the other, with growing
 * pauses. Without them there are two thousand in an hour. */
TEST(over_again_and_again)
{
	struct sl_sim_options o = {.seed = 3, .learners = 3};
	struct sl_sim_lies lies = {.liar = 2, .lies = 1u << SL_SIM_LIE_KEY_SHARE, .rarity = 1};
	struct sl_sim *sim = sl_sim_new(&o);
	lies.flips = SL_NOBODY;
	for (uint32_t i = 0; i < sim->n; i++)
		sim->learners[i].host.config.parameters.quorum = 3;
	sim->lies = &lies;
	sl_sim_start(sim);
	sl_sim_elapse(sim, 3600000);
	for (uint32_t i = 0; i < sim->n; i++) {
		struct sl_core_status status;
		sl_core_status(sim->learners[i].host.core, &status);
		assert_in_range(status.over, 100, 200);
	}
	sl_sim_free(sim);
}
