/* What a learner says of a refusal, and the evidence that it keeps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "daemon/learner/daemon.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

static struct sl_member members[] = {
	{.id = 2, .name = "ana"}, {.id = 5, .name = "bo"}, {.id = 9, .name = "cy"}};
static const struct sl_settings settings = {.clipping_range = 16};
static const uint8_t own[SL_HASH_BYTES] = {0xab, 0xcd}, other[SL_HASH_BYTES] = {0x12, 0x34},
		     none[SL_HASH_BYTES];

static struct sl_daemon daemon_of(const struct sl_settings *s)
{
	return (struct sl_daemon){.settings = s, .roster = {.members = members, .size = 3}};
}

static void expect(struct sl_report report, const char *sentence)
{
	struct sl_daemon daemon = daemon_of(&settings);
	char text[512];
	sl_reason_text(&daemon, &report, text, sizeof text);
	assert_string_equal(text, sentence);
}

static uint64_t bits(double value)
{
	uint64_t raw;
	memcpy(&raw, &value, sizeof raw);
	return raw;
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

TEST(test_differences)
{
	expect((struct sl_report){.reason = SL_REASON_PARAMETER, .peer = 1, .word = "decimals", .n = {4, 3}},
	       "bo (5) has decimals 3, this learner 4");
	expect((struct sl_report){.reason = SL_REASON_PARAMETER,
				  .peer = 1,
				  .word = "clipping_range",
				  .n = {bits(16), bits(0.5)}},
	       "bo (5) has clipping_range 0.5, this learner 16");
	expect((struct sl_report){.reason = SL_REASON_PARAMETER, .peer = 0, .word = "sharing", .n = {0, 1}},
	       "ana (2) has sharing additive, this learner shamir");
	expect((struct sl_report){.reason = SL_REASON_PARAMETER, .peer = 0, .word = "sharing", .n = {2, 0}},
	       "ana (2) has sharing shamir, this learner seeded");
	expect((struct sl_report){.reason = SL_REASON_PARAMETER,
				  .peer = 0,
				  .word = "mixing",
				  .n = {SL_ENGINE_EXACT, SL_ENGINE_METROPOLIS}},
	       "ana (2) has mixing metropolis, this learner exact");
	expect(
		(struct sl_report){
			.reason = SL_REASON_PARAMETER, .peer = 0, .word = "iterations_rule", .n = {0, 1}},
		"ana (2) has k_rule fixed, this learner floor");
	expect((struct sl_report){.reason = SL_REASON_PARAMETER, .peer = 2, .word = "n", .n = {8, 7}},
	       "cy (9) has a model (setting `hidden`) of size 7, this learner 8");
	expect(
		(struct sl_report){
			.reason = SL_REASON_ROSTER, .peer = 2, .n = {3, 4}, .hash = own, .hash2 = other},
		"cy (9) has another roster: 4 learners (123400000000), here 3 (abcd00000000); compare the "
		"roster files");
	expect((struct sl_report){.reason = SL_REASON_HISTORY, .peer = 2, .t = 7, .hash = own, .hash2 = none},
	       "cy (9) starts round 7 from another committed model: the initial one, here abcd00000000");
}

/* metropolis goes up to 2^44, and nobody else is held to it. */
TEST(test_field)
{
	expect((struct sl_report){.reason = SL_REASON_P_BOUND, .n = {7, 3200002, 4, 10}, .real = -1},
	       "p = 7 is too small for 10 learners at sigma 4: p of at least 3200002 (and at most 2^61), or "
	       "no sigma does");
	expect((struct sl_report){.reason = SL_REASON_P_BOUND, .n = {0, 3200002, 4, 10}},
	       "no prime up to 2^61 holds the sum of 10 models at sigma 4: p > 3200001 is needed; lower "
	       "sigma, clip or max_weight");
}

TEST(test_privacy_check)
{
	static const struct sl_edge edges[] = {{0, 1}, {1, 2}};
	uint64_t hub = 1, two = 3;
	expect((struct sl_report){.reason = SL_REASON_TOLERANCE,
				  .n = {1, 1, 2},
				  .set = &hub,
				  .edges = edges,
				  .edge_count = 2},
	       "this graph does not tolerate c = 1: ana (2) alone would learn sums of parts of the others; "
	       "it needs 2 more edges: "
	       "2-5, 5-9");
	expect((struct sl_report){.reason = SL_REASON_TOLERANCE,
				  .n = {1, 1, 1},
				  .set = &two,
				  .edges = edges,
				  .edge_count = 1},
	       "this graph does not tolerate c = 1: each of ana (2), bo (5) would learn sums of parts of the "
	       "others; it needs 1 more "
	       "edge: 2-5");
	expect((struct sl_report){.reason = SL_REASON_TOLERANCE,
				  .n = {2, 2, 9},
				  .set = &two,
				  .edges = edges,
				  .edge_count = 2},
	       "this graph does not tolerate c = 2: ana (2), bo (5) together would learn sums of parts of "
	       "the others; it needs 9 more "
	       "edges: 2-5, 5-9 and 7 more");
	expect((struct sl_report){.reason = SL_REASON_FEW, .n = {2, 1}},
	       "2 learners are too few for c = 1: with fewer than 3, the mean itself tells c of them about "
	       "the others");
	expect((struct sl_report){.reason = SL_REASON_ITERATIONS_RULE, .n = {10, 80}},
	       "k is fixed at 10, and this graph needs K = 80: raise k, or set k_rule: floor");
}

/* Why a released attempt goes on without mixing, or a prepared one ends. */
TEST(test_recovery)
{
	expect((struct sl_report){.reason = SL_REASON_ABORTED, .peer = 1}, "bo (5) has given it up");
	expect((struct sl_report){.reason = SL_REASON_JOINED, .peer = 2},
	       "cy (9) brings the masked states together");
	expect((struct sl_report){.reason = SL_REASON_BAD_STATE, .peer = 0},
	       "ana (2) sent a masked state that is not of the field");
	expect((struct sl_report){.reason = SL_REASON_RESTARTED},
	       "this learner was started again in the middle of it");
	expect((struct sl_report){.reason = SL_REASON_OPERATOR_ABORT}, "the operator has abandoned it");
	expect((struct sl_report){.reason = SL_REASON_MARGIN, .real = 0.4},
	       "rounding came within 0.100 of a half; mixing's result is not taken");
	expect((struct sl_report){.reason = SL_REASON_USED_UP, .n = {16}},
	       "this learner's masked state has left in 16 attempts of this round, and no more fit on "
	       "record: it takes part again "
	       "when the round is committed");
}

static const char *hex_of(const json_t *statement, const char *field)
{
	return json_string_value(json_object_get(statement, field));
}

/* Both statements, whole: with the roster, anybody can check the signatures. */
TEST_WITH(test_evidence, folder_setup, folder_teardown)
{
	struct sl_settings s = settings;
	snprintf(s.run, sizeof s.run, "first");
	snprintf(s.state, sizeof s.state, "%s", (const char *)*state);
	struct sl_daemon daemon = daemon_of(&s);
	sl_id names[] = {2, 9};
	struct sl_link_state first = {.id = 5,
				      .t = 4,
				      .a = 2,
				      .count = 2,
				      .candidates = names,
				      .signature = {1}},
			     second = first;
	second.count = 1;
	second.signature[0] = 2;
	struct sl_report report = {.peer = 1, .evidence = {&first, &second}};
	char name[64], path[1200], hash[2 * SL_HASH_BYTES + 1];
	uint8_t covered[SL_HASH_BYTES];
	struct sl_error error;
	assert_int_equal(sl_evidence_write(&daemon, &report, name, sizeof name, &error), SL_OK);
	assert_string_equal(name, "evidence-5-round-000004-attempt-2.json");
	snprintf(path, sizeof path, "%s/%s", s.state, name);
	json_t *file = json_load_file(path, 0, NULL), *both = json_object_get(file, "link_states");
	assert_int_equal(json_array_size(both), 2);
	sl_canonical_link_state(&daemon.core_config.scope, &second, covered);
	sodium_bin2hex(hash, sizeof hash, covered, sizeof covered);
	assert_string_equal(hex_of(json_array_get(both, 1), "signed"), hash);
	assert_memory_equal(hex_of(json_array_get(both, 0), "signature"), "0100", 4);
	assert_memory_equal(hex_of(json_array_get(both, 1), "signature"), "0200", 4);
	assert_int_equal(json_array_size(json_object_get(json_array_get(both, 0), "candidates")), 2);
	json_decref(file);
	snprintf(s.state, sizeof s.state, "%s/nowhere", (const char *)*state);
	assert_int_equal(sl_evidence_write(&daemon, &report, name, sizeof name, &error), SL_ERR_IO);
}
