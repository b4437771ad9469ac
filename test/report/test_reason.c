/* Reasons as sentences: cause, then remedy. */
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/field/field.h"
#include "common/report/modulus.h"
#include "common/report/reason.h"
#include "test/lib/test.h"

static struct sl_member members[] = {
	{.id = 2, .name = "ana"}, {.id = 5, .name = "bo"}, {.id = 9, .name = "cy"}};
static const struct sl_roster roster = {.members = members, .size = 3};
#define OWN                                                                                                  \
	{                                                                                                    \
		0xab, 0xcd                                                                                   \
	}
#define OTHER                                                                                                \
	{                                                                                                    \
		0x12, 0x34                                                                                   \
	}

static void expect(struct sl_report report, const char *sentence)
{
	char text[512];
	sl_reason_text(&roster, &report, text, sizeof text);
	assert_string_equal(text, sentence);
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

TEST(test_differences)
{
	struct sl_report other = {.reason = SL_REASON_OTHER_MODEL,
				  .peer = 2,
				  .why.other = {.model = true, .own_n = 8, .their_n = 7}};
	expect(other,
	       "cy (9) has a model of size 7, this learner one of size 8; start the same program with the "
	       "same settings at all learners");
	other.why.other.their_n = 8;
	expect(other,
	       "cy (9) has another model: start the same program with the same settings at all learners");
	other.why.other.model = false;
	other.why.other.own_values = SL_VALUES_UPDATE;
	other.why.other.their_values = SL_VALUES_EXACT;
	expect(other,
	       "cy (9) averages exact models, this learner updates: start programs that ask for the same "
	       "values at all learners");
	expect((struct sl_report){.reason = SL_REASON_ROSTER, .peer = 2, .why.roster = {3, 4, OWN, OTHER}},
	       "cy (9) has another roster or other shared settings: 4 learners (123400000000), here 3 "
	       "(abcd00000000); compare roster.yaml, and starlingd.yaml if the roster has no settings");
	expect((struct sl_report){.reason = SL_REASON_HISTORY, .peer = 2, .t = 7, .why.history = {OWN, {0}}},
	       "cy (9) starts round 7 from another committed model: the initial one, here abcd00000000; the "
	       "one whose state folder is moved away takes the model of the others");
}

/* The remedy names a prime: 3200002, the least integer, is even. */
TEST(test_field)
{
	struct sl_report report = {.reason = SL_REASON_P_BOUND,
				   .why.p_bound = {7, 3200002, SL_VALUES_MODEL, 4, -1, 10, 61}};
	expect(report, "modulus 7 is too small to hold the sum of 10 models with 4 decimals: raise it to a "
		       "prime of at least 3200003");
	report.why.p_bound.digits_most = 3;
	expect(report, "modulus 7 is too small to hold the sum of 10 models with 4 decimals: raise it to a "
		       "prime of at least 3200003, "
		       "or lower decimals to 3");
	report.why.p_bound.bits_most = 21; /* below 3200003 */
	expect(report,
	       "modulus 7 is too small to hold the sum of 10 models with 4 decimals: lower decimals to 3");
	report.why.p_bound.values = SL_VALUES_UPDATE;
	expect(report,
	       "modulus 7 is too small to hold the sum of 10 models with 4 update_bits: lower update_bits "
	       "to 3");
	report.why.p_bound.values = SL_VALUES_MODEL;
	report.why.p_bound.p = 2147483647;
	expect(report, "modulus 2147483647 is too large: the engine takes one below 2^21");
	report.why.p_bound.p = 0;
	expect(report, "no prime below 2^21 can hold the sum of 10 models with 4 decimals: lower decimals, "
		       "clipping_range or "
		       "max_weight");
}

static void expect_modulus(uint64_t p, sl_id largest, enum sl_engine engine, const char *text)
{
	struct sl_settings s = {
		.modulus = p, .decimals = 4, .clipping_range = 16, .max_weight = 1, .mixing = engine};
	struct sl_error error;
	int rc = sl_modulus_check(&s, 10, largest, &error);
	assert_int_equal(rc, text == NULL ? SL_OK : SL_ERR_RANGE);
	assert_true(text == NULL || strstr(error.text, text) != NULL);
}

/* What --check, the start of a daemon and the launcher refuse. */
TEST(test_modulus)
{
	expect_modulus(0, 10, SL_ENGINE_METROPOLIS, NULL);
	expect_modulus(3200003, 10, SL_ENGINE_EXACT, NULL);
	expect_modulus(3199997, 10, SL_ENGINE_EXACT,
		       "raise it to a prime of at least 3200003, or lower decimals to 3");
	expect_modulus(3200003, 3200003, SL_ENGINE_EXACT, "raise it above 3200003");
	expect_modulus((UINT64_C(1) << 61) - 1, 10, SL_ENGINE_EXACT, NULL);
	expect_modulus((UINT64_C(1) << 61) - 1, 10, SL_ENGINE_METROPOLIS,
		       "too large: the engine takes one below 2^44");
}

/* 15.96 with one decimal is encoded as 160: a thousand of them wrapped modulo 319211. */
TEST(test_modulus_rounds_as_the_encoder)
{
	struct sl_settings s = {.modulus = 319211, .decimals = 1, .clipping_range = 15.96, .max_weight = 1};
	struct sl_error error;
	assert_int_equal(sl_modulus_check(&s, 1000, 1000, &error), SL_ERR_RANGE);
	assert_non_null(strstr(error.text, "320009"));
	s.modulus = 320009;
	assert_int_equal(sl_modulus_check(&s, 1000, 1000, &error), SL_OK);
}

TEST(test_privacy_check)
{
	static const struct sl_edge edges[] = {{0, 1}, {1, 2}};
	uint64_t hub = 1, two = 3;
	expect((struct sl_report){.reason = SL_REASON_TOLERANCE,
				  .set = &hub,
				  .why.tolerance = {3, 1, 1, 2, 2, edges}},
	       "tolerance 1 is not met: ana (2) alone could learn sums over parts of the others' models; "
	       "missing links: 2-5, 5-9");
	expect((struct sl_report){.reason = SL_REASON_TOLERANCE,
				  .set = &two,
				  .why.tolerance = {3, 1, 1, 1, 1, edges}},
	       "tolerance 1 is not met: any one of ana (2), bo (5) could learn sums over parts of the "
	       "others' models; missing link: 2-5");
	expect((struct sl_report){.reason = SL_REASON_TOLERANCE,
				  .set = &two,
				  .why.tolerance = {3, 2, 2, 9, 2, edges}},
	       "tolerance 2 is not met: ana (2), bo (5) together could learn sums over parts of the others' "
	       "models; missing links: 2-5, 5-9 and 7 more");
	expect((struct sl_report){.reason = SL_REASON_PRUNED,
				  .set = &two,
				  .why.tolerance = {4, 1, 1, 2, 2, edges}},
	       "ana (2), bo (5) left out, with too few links for tolerance 1; missing links: 2-5, 5-9");
	expect((struct sl_report){.reason = SL_REASON_FEW, .why.tolerance = {.learners = 2, .tolerance = 1}},
	       "2 learners are too few for tolerance 1: colluding learners could compute the remaining model "
	       "from the mean; at least 3 must take part");
	expect((struct sl_report){.reason = SL_REASON_ITERATIONS_RULE, .why.iterations = {80, 10}},
	       "iterations is fixed at 10 and this graph needs 80: raise iterations, or set iterations_rule: "
	       "at_least");
}

/* Why a released attempt goes on without mixing, or a prepared one ends. */
TEST(test_recovery)
{
	uint64_t two = 6;
	expect((struct sl_report){.reason = SL_REASON_STALLED, .set = &two},
	       "timed out waiting for data from bo (5), cy (9)");
	expect((struct sl_report){.reason = SL_REASON_ABORTED, .peer = 1}, "bo (5) has aborted the attempt");
	expect((struct sl_report){.reason = SL_REASON_MUTE, .peer = 2},
	       "cy (9) is connected and says nothing: its program may hang");
	expect((struct sl_report){.reason = SL_REASON_JOINED, .peer = 2},
	       "cy (9) is recovering the attempt already");
	expect((struct sl_report){.reason = SL_REASON_BAD_STATE, .peer = 0},
	       "ana (2) sent a sum with a value outside the field");
	expect((struct sl_report){.reason = SL_REASON_RESTARTED},
	       "this learner was restarted during the attempt");
	expect((struct sl_report){.reason = SL_REASON_OPERATOR_ABORT},
	       "the operator has aborted the attempt");
	expect((struct sl_report){.reason = SL_REASON_MARGIN, .why.margin = {0.4}},
	       "rounding margin too small (0.100 from a tie); the exact sum is recovered instead");
}

/* Every reason has a sentence of its own, and it fits. */
TEST(test_all_reasons)
{
	static char texts[SL_REASON_MEMORY + 1][512];
	uint64_t one = 1;
	for (int reason = SL_REASON_LINK; reason <= SL_REASON_MEMORY; reason++) {
		struct sl_report report = {.reason = (enum sl_reason)reason, .set = &one};
		sl_reason_text(&roster, &report, texts[reason], sizeof texts[reason]);
		assert_true(strlen(texts[reason]) > 0);
		for (int other = SL_REASON_LINK; other < reason; other++)
			assert_string_not_equal(texts[reason], texts[other]);
	}
}

TEST(test_names)
{
	struct sl_member many[12];
	struct sl_roster crowd = {.members = many, .size = 12};
	uint64_t none = 0, all = 0xfff;
	char text[256];
	for (uint32_t i = 0; i < 12; i++)
		many[i] = (struct sl_member){.id = i + 1, .name = {(char)('a' + i)}};
	assert_string_equal(sl_reason_names(&crowd, &all, text, sizeof text),
			    "a (1), b (2), c (3), d (4), e (5), f (6), g (7), h (8) and 4 more");
	assert_string_equal(sl_reason_names(&crowd, &none, text, sizeof text), "none");
	assert_string_equal(sl_reason_names(&crowd, NULL, text, sizeof text), "none");
	sl_reason_names(&crowd, &all, text, 20); /* cut, not beyond */
	assert_string_equal(text, "a (1), b (2), c (3)");
}

TEST(test_unlinked)
{
	const uint64_t one = 2, two = 5;
	char text[256];
	sl_reason_unlinked(&roster, &one, text, sizeof text);
	assert_string_equal(text, "not connected: bo (5): start it, or check its links");
	sl_reason_unlinked(&roster, &two, text, sizeof text);
	assert_string_equal(text, "not connected: ana (2), cy (9): start them, or check their links");
}
