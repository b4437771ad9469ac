/* The evidence that a learner keeps of a peer that signed two different link states for one attempt. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sodium.h>

#include "daemon/learner/evidence.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

static const char *hex_of(const json_t *statement, const char *field)
{
	return json_string_value(json_object_get(statement, field));
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

/* The file holds both statements in full: with the roster, the signatures can be checked. */
TEST_WITH(test_evidence, folder_setup, folder_teardown)
{
	struct sl_settings s = {.clipping_range = 16};
	snprintf(s.run, sizeof s.run, "first");
	snprintf(s.state, sizeof s.state, "%s", (const char *)*state);
	struct sl_scope scope = {.run = {1}, .roster = {2}};
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
	assert_int_equal(sl_evidence_write(&s, &scope, &report, name, sizeof name, &error), SL_OK);
	assert_string_equal(name, "evidence-5-round-000004-attempt-2.json");
	snprintf(path, sizeof path, "%s/%s", s.state, name);
	json_t *file = json_load_file(path, 0, NULL), *both = json_object_get(file, "link_states");
	assert_int_equal(json_array_size(both), 2);
	sl_canonical_message(&scope, &(struct sl_message){SL_MSG_LINK_STATE, {.link_state = second}},
			     covered);
	sodium_bin2hex(hash, sizeof hash, covered, sizeof covered);
	assert_string_equal(hex_of(json_array_get(both, 1), "signed"), hash);
	assert_memory_equal(hex_of(json_array_get(both, 0), "signature"), "0100", 4);
	assert_memory_equal(hex_of(json_array_get(both, 1), "signature"), "0200", 4);
	assert_int_equal(json_array_size(json_object_get(json_array_get(both, 0), "candidates")), 2);
	json_decref(file);
	snprintf(s.state, sizeof s.state, "%s/nowhere", (const char *)*state);
	assert_int_equal(sl_evidence_write(&s, &scope, &report, name, sizeof name, &error), SL_ERR_IO);
}
