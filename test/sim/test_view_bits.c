/* The bits of limbs that a view agrees on, by round and modulus (ROUND.md §4.8 Precision). */
#include "common/field/encoding.h"
#include "test/lib/test.h"
#include "test/core/verbs.h"

#define ROUNDS 6u
#define LEARNERS 3u

/* A run of rounds with the bits of the first limb that each must have. */
struct course {
	enum sl_values values;
	uint64_t setting, p;
	enum sl_sim_initial initial;
	uint64_t bits[ROUNDS];
};

static void expect_bits(const struct course *c)
{
	struct sl_sim_options o = {.seed = 71, .learners = LEARNERS, .initial = c->initial};
	uint32_t rounds = 0;
	o.parameters.rounds = ROUNDS;
	o.parameters.n = 100;
	o.parameters.values = c->values;
	o.parameters.update_bits = c->setting;
	o.parameters.p = c->p;
	struct sl_sim *sim = sl_sim_new(&o);
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	for (size_t i = 0; i < sim->note_count; i++) {
		const struct sl_report *report = &sim->notes[i].report;
		if (sim->notes[i].learner != 0 || report->kind != SL_REPORT_COMMITTED)
			continue;
		assert_true(rounds < ROUNDS);
		assert_int_equal(report->committed.update_bits, c->bits[rounds]);
		assert_int_equal(report->t, ++rounds);
	}
	assert_int_equal(rounds, ROUNDS);
	sl_sim_free(sim);
}

/* The first round is exact; the ranges of the second are those of values, and of two more known roughly. */
TEST(ranged_rounds)
{
	expect_bits(&(struct course){
		.values = SL_VALUES_UPDATE, .setting = 12, .bits = {32, 30, 18, 18, 12, 12}});
	expect_bits(
		&(struct course){.values = SL_VALUES_UPDATE, .setting = 5, .bits = {32, 23, 11, 11, 5, 5}});
	expect_bits(&(struct course){.values = SL_VALUES_UPDATE,
				     .setting = 40,
				     .bits = {32, 48, 46, 46, 40, 40}}); /* 48 at most */
}

/* With a common initial model the first round is ranged, too. */
TEST(ranged_from_the_start)
{
	expect_bits(&(struct course){.values = SL_VALUES_UPDATE,
				     .setting = 12,
				     .initial = SL_SIM_COMMON,
				     .bits = {30, 30, 18, 18, 12, 12}});
}

/* A modulus that is set is for the bits that are set, and limbs of exact rounds are as wide as it allows. */
TEST(a_given_modulus)
{
	const uint64_t p = (UINT64_C(1) << 24) - 3;
	const struct sl_encoding encoding = {.values = SL_VALUES_EXACT, .update_bits = 32};
	const struct sl_addends addends = {.learners = LEARNERS, .max_weight = 1, .n = 100};
	uint32_t exact = sl_encoding_lower(p, &encoding, &addends, 61);
	assert_int_equal(exact, 21);
	expect_bits(&(struct course){
		.values = SL_VALUES_UPDATE, .setting = 12, .p = p, .bits = {21, 12, 12, 12, 12, 12}});
	expect_bits(&(struct course){
		.values = SL_VALUES_UPDATE, .setting = 23, .p = p, .bits = {21, 21, 21, 21, 21, 21}});
	expect_bits(&(struct course){.values = SL_VALUES_EXACT, .p = p, .bits = {21, 21, 21, 21, 21, 21}});
}

TEST(exact_rounds)
{
	expect_bits(&(struct course){.values = SL_VALUES_EXACT, .bits = {32, 32, 32, 32, 32, 32}});
}
