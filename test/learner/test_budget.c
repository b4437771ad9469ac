/* The budget: what is allowed, what becomes of the learner, and what is logged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/real.h"
#include "common/setup/core_config.h"
#include "daemon/learner/budget.h"
#include "daemon/learner/daemon.h"
#include "daemon/observe/report_log.h"
#include "test/lib/test.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define START 7u /* the learner's */
#define ROUNDS 20u
#define DELTA 1e-5
#define LEARNERS 6u
#define COLLUDING 2u

/* --- a learner of a run that has budget for 20 rounds --- */

static struct sl_daemon *learner;
static struct sl_settings settings;
static struct sl_view view;
static struct sl_record logged[4];
static size_t records;

void __wrap_sl_report_log_record(struct sl_observe *observe, const struct sl_record *record)
{
	(void)observe;
	assert_true(records < 4);
	memcpy(&logged[records++], record, offsetof(struct sl_record, words));
}

void __wrap_sl_report_log_round(struct sl_observe *observe, enum sl_record_kind kind, sl_round t)
{
	struct sl_record record;
	sl_record_init(&record, kind);
	record.round = t;
	__wrap_sl_report_log_record(observe, &record);
}

static uint32_t finished;

void __wrap_sl_daemon_finish(struct sl_daemon *daemon)
{
	assert_ptr_equal(daemon, learner);
	finished++;
}

const struct sl_ledger *__wrap_sl_store_ledger(const struct sl_store *store)
{
	(void)store;
	return &learner->budget.ledger;
}

/* The noise is the least that keeps the budget. */
static void set_parameters(struct sl_parameters *p)
{
	const struct sl_dp_target target = {8, DELTA, 1, ROUNDS};
	const struct sl_dp_terms terms = {.unit = SL_DP_RECORD,
					  .dimension = 1000,
					  .clip = 1,
					  .learners = LEARNERS,
					  .colluding = COLLUDING};
	*p = (struct sl_parameters){.n = 1000,
				    .values = SL_VALUES_NOISY,
				    .encoding = SL_ENCODING_WEIGHTED,
				    .max_weight = 1,
				    .tolerance = COLLUDING,
				    .dp_unit = SL_DP_RECORD,
				    .dp_clip = sl_real_bits(1),
				    .dp_noise = sl_real_bits(sl_dp_scale_noise(&terms, &target))};
}

static int setup(void **state)
{
	static struct sl_layout layout;
	(void)state;
	settings = (struct sl_settings){.dp = SL_DP_USE_RECORD,
					.dp_epsilon = 8,
					.dp_delta = DELTA,
					.dp_sampling = 1,
					.dp_spent = SL_DP_SPENT_END};
	learner = calloc(1, sizeof *learner);
	learner->settings = learner->observe.of.settings = &settings;
	learner->core_config.roster_size = LEARNERS;
	learner->core_config.incarnation = START;
	learner->workspace.weight = 1;
	set_parameters(&learner->core_config.parameters);
	view = (struct sl_view){.t = 1, .a = 1, .n = LEARNERS, .agreed = learner->core_config.parameters};
	sl_view_set_encoding(&view, &layout);
	sl_event_queue_init(&learner->event_queue);
	sl_budget_open(learner);
	records = finished = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sl_event_queue_close(&learner->event_queue);
	free(learner);
	return 0;
}

/* --- verbs --- */

/* PREPARED of an attempt of a view of `n` learners. */
static void charge(sl_round t, sl_attempt a)
{
	struct sl_ledger ledger = learner->budget.ledger;
	const struct sl_dp_round round = sl_view_charge(&view, settings.dp_sampling);
	sl_ledger_charge(&ledger, START, t, a, &round);
	sl_budget_take(learner, &ledger);
}

static void charge_rounds(sl_round to)
{
	for (sl_round t = 1; t <= to; t++, records = 0) {
		assert_false(sl_budget_ends(learner, t));
		view.t = t;
		assert_false(sl_budget_weigh(learner, &view));
		charge(t, 1);
	}
}

static void expect_record(size_t at, enum sl_record_kind kind)
{
	assert_true(at < records);
	assert_int_equal(logged[at].kind, kind);
}

static const struct sl_event *queued(void)
{
	const struct sl_queued_event *first = learner->event_queue.first;
	return first == NULL ? NULL : &first->event;
}

/* --- cases --- */

/* The plan fits: each of the rounds for which the noise was chosen, and no other one. */
TEST_WITH(as_many_rounds_as_were_planned, setup, teardown)
{
	charge_rounds(ROUNDS);
	assert_true(learner->observe.spent.epsilon > 7.9 && learner->observe.spent.epsilon <= 8);
	assert_null(queued());
	assert_true(sl_budget_ends(learner, ROUNDS + 1));
	assert_int_equal(records, 1);
	expect_record(0, SL_RECORD_BUDGET_SPENT);
	assert_int_equal(logged[0].round, ROUNDS + 1);
	assert_true(logged[0].budget == 8 && logged[0].epsilon == learner->observe.spent.epsilon);
	assert_int_equal(queued()->kind, SL_EVENT_LAST_ROUND);
	assert_int_equal(queued()->round, ROUNDS);
	assert_true(learner->budget.ended);
}

/* Attempts that did not commit are paid for. */
TEST_WITH(attempts_count, setup, teardown)
{
	charge_rounds(ROUNDS - 1);
	charge(ROUNDS - 1, 2);
	assert_true(sl_budget_ends(learner, ROUNDS));
}

/* In another start, the rounds of which there is no record are paid for before the next one. */
TEST_WITH(the_gap_counts, setup, teardown)
{
	learner->budget.ledger = (struct sl_ledger){0};
	assert_false(sl_budget_ends(learner, ROUNDS));
	assert_true(sl_budget_ends(learner, ROUNDS + 1));
	view.t = ROUNDS + 1;
	view.a = 1;
	assert_true(sl_budget_weigh(learner, &view));
	view.t = ROUNDS;
	view.a = 2;
	learner->workspace.weight = 1;
	assert_false(sl_budget_weigh(learner, &view));
	assert_int_equal(learner->workspace.weight, 1);
}

TEST_WITH(zeros, setup, teardown)
{
	settings.dp_spent = SL_DP_SPENT_ZEROS;
	charge_rounds(ROUNDS);
	for (sl_round t = ROUNDS + 1; t < ROUNDS + 3; t++) {
		assert_false(sl_budget_ends(learner, t));
		learner->workspace.weight = 1; /* as the training says */
		view.t = t;
		assert_true(sl_budget_weigh(learner, &view));
		assert_int_equal(learner->workspace.weight, 0);
		sl_budget_zeros(learner, t);
		sl_budget_take(learner, &learner->budget.ledger); /* is not charged */
	}
	assert_int_equal(records, 1);
	expect_record(0, SL_RECORD_BUDGET_ZEROS);
	assert_int_equal(logged[0].round, ROUNDS + 1);
	assert_null(queued());
}

/* When all send zeros, there is no mean: the run ends. */
TEST_WITH(zeros_of_all, setup, teardown)
{
	struct sl_report report = {.kind = SL_REPORT_FAILED, .reason = SL_REASON_WEIGHTLESS, .t = ROUNDS + 1};
	sl_budget_failed(learner, &report); /* the own vector counted */
	assert_int_equal(records + finished, 0);
	settings.dp_spent = SL_DP_SPENT_ZEROS;
	sl_budget_zeros(learner, ROUNDS + 1);
	report.reason = SL_REASON_STALLED;
	sl_budget_failed(learner, &report);
	assert_int_equal(finished, 0);
	report.reason = SL_REASON_WEIGHTLESS;
	for (int again = 0; again < 2; again++)
		sl_budget_failed(learner, &report);
	assert_int_equal(finished, 1);
	assert_int_equal(records, 3);
	expect_record(1, SL_RECORD_BUDGET_SPENT);
	assert_int_equal(logged[1].round, ROUNDS + 1);
	expect_record(2, SL_RECORD_FINISHED_SPENT);
}

/* The view has the last word, whatever dp_spent says: it may be dearer than a round of all. */
TEST_WITH(a_view_that_is_too_dear, setup, teardown)
{
	charge_rounds(ROUNDS - 1);
	assert_false(sl_budget_ends(learner, ROUNDS));
	view.t = ROUNDS;
	view.scale.sigma /= 2;
	assert_true(sl_budget_weigh(learner, &view));
	assert_int_equal(learner->workspace.weight, 0);
}

/* Sampling is believed for the budget; what is spent without it is shown beside it. */
TEST_WITH(sampling_is_believed, setup, teardown)
{
	settings.dp_sampling = 0.01;
	charge_rounds(2 * ROUNDS);
	assert_true(learner->observe.spent.epsilon < 4);
	assert_true(learner->observe.spent.epsilon_unsampled > 8);
	settings.dp_sampling = 1;
	assert_true(sl_budget_ends(learner, 2 * ROUNDS + 1) == false);
}

TEST_WITH(no_budget, setup, teardown)
{
	settings.dp_epsilon = 0;
	charge_rounds(3 * ROUNDS);
	charge(3 * ROUNDS, 2);
	assert_int_equal(records, 1);
	expect_record(0, SL_RECORD_CHARGED_FREELY);
	assert_true(isnan(logged[0].budget) && logged[0].epsilon > 8);
}

TEST_WITH(without_noise, setup, teardown)
{
	settings = (struct sl_settings){.dp = SL_DP_USE_OFF, .dp_epsilon = 8};
	view.encoding.values = SL_VALUES_EXACT;
	assert_false(sl_budget_ends(learner, 1000));
	assert_false(sl_budget_weigh(learner, &view));
	assert_int_equal(learner->workspace.weight, 1);
	sl_budget_open(learner);
	assert_true(isnan(learner->observe.spent.epsilon));
}

/* What the application is told: the sum has z clip sqrt(N / (N - c)) noise, and what rounding adds. */
TEST_WITH(noise_of_the_mean, setup, teardown)
{
	struct sl_parameters *p = &learner->core_config.parameters;
	p->dp_clip = sl_real_bits(10);
	p->dp_noise = sl_real_bits(5);
	double noise = sl_budget_noise(learner, 6, 5), least = 5 * 10 * sqrt(6.0 / 4) / 5;
	assert_true(noise > least && noise < 1.05 * least);
	settings.dp = SL_DP_USE_OFF;
	assert_true(sl_budget_noise(learner, 6, 5) == 0);
}

/* --- what is logged --- */

TEST_WITH(a_charge, setup, teardown)
{
	charge(1, 1);
	assert_int_equal(records, 1);
	expect_record(0, SL_RECORD_CHARGED);
	assert_int_equal(logged[0].round, 1);
	assert_int_equal(logged[0].attempt, 1);
	assert_true(logged[0].epsilon > 0 && logged[0].epsilon < 8 && logged[0].budget == 8);
	assert_true(logged[0].delta == DELTA);
	assert_true(learner->observe.counters.dp_epsilon[0] == logged[0].epsilon);
	assert_true(learner->observe.counters.dp_budget[0] == 8);
	assert_true(learner->observe.counters.dp_charges[0] == 1);
}

static void expect_gap(size_t at, sl_round from, sl_round to, uint64_t guessed)
{
	expect_record(at, SL_RECORD_LEDGER_GAP);
	assert_int_equal(logged[at].from, from);
	assert_int_equal(logged[at].to, to);
	assert_int_equal(logged[at].guessed, guessed);
	expect_record(at + 1, SL_RECORD_CHARGED);
}

TEST_WITH(a_gap, setup, teardown)
{
	charge(5, 2);
	expect_gap(0, 1, 4, 4);
	learner->budget.ledger.incarnation = START - 1;
	charge(6, 4);
	expect_gap(2, 5, 5, 1);
}

TEST(modulus_for_the_noise)
{
	struct sl_core_config config = {.roster_size = LEARNERS};
	const struct sl_settings noisy = {.dp = SL_DP_USE_RECORD};
	struct sl_error error;
	set_parameters(&config.parameters);
	assert_int_equal(sl_core_config_check(&config, &noisy, &error), SL_OK);
	config.parameters.p = 65537;
	assert_int_equal(sl_core_config_check(&config, &noisy, &error), SL_ERR_RANGE);
	assert_non_null(strstr(error.text, "65537 is too small for the sum of 6 vectors"));
	config.parameters.p = (UINT64_C(1) << 61) - 1;
	assert_int_equal(sl_core_config_check(&config, &noisy, &error), SL_OK);
	config.parameters.mixing = SL_ENGINE_METROPOLIS;
	assert_int_equal(sl_core_config_check(&config, &noisy, &error), SL_ERR_RANGE);
	config.parameters.p = 0;
	assert_int_equal(sl_core_config_check(&config, &noisy, &error), SL_OK);
	config.parameters.dp_range =
		sl_real_bits(5e12); /* below 2^54 steps: one vector, not six, would have room */
	assert_int_equal(sl_core_config_check(&config, &noisy, &error), SL_ERR_RANGE);
	assert_non_null(strstr(error.text, "no modulus below 2^44"));
}
