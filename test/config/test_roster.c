/* Rosters: order, hash, and errors with the place of the mistake. The place of a quoted word is that behind
 * its quote. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include "common/config/roster.h"
#include "common/config/yaml.h"

#define KEY_A "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define KEY_C "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define LINE(id, name, address, key)                                                                         \
	"- {id: " id ", name: " name ", address: \"" address "\", key: \"" key "\"}\n"
#define A LINE("1", "a", "10.0.0.1:7400", KEY_A)
#define B LINE("2", "b", "[2001:db8::2]:7400", KEY_B)
#define C LINE("30", "c", "c.example.org:65535", KEY_C)

static int load_file(const char *path, struct sl_roster *roster, struct sl_error *error)
{
	struct sl_yaml yaml;
	int code = sl_yaml_open(&yaml, path, error);
	assert_int_equal(code, SL_OK);
	code = sl_roster_read(&yaml, yaml.root, roster, 2, SL_LEARNERS_MAX, error);
	sl_yaml_close(&yaml);
	return code;
}

static void load(const char *text, struct sl_roster *roster)
{
	struct sl_error error = {0};
	folder_put("r.yaml", text);
	assert_ok(load_file("r.yaml", roster, &error), error);
}

static void expect_error(const char *text, const char *message)
{
	struct sl_roster roster;
	struct sl_error error = {0};
	folder_put("r.yaml", text);
	assert_int_not_equal(load_file("r.yaml", &roster, &error), SL_OK);
	assert_string_equal(error.text, message);
	assert_null(roster.members);
}

TEST_WITH(sorts_by_id, folder_enter, folder_leave)
{
	struct sl_roster roster;
	load("# ours\n" C A B, &roster);
	assert_int_equal(roster.size, 3);
	assert_int_equal(roster.members[0].id, 1);
	assert_int_equal(roster.members[2].id, 30);
	assert_string_equal(roster.members[1].address, "[2001:db8::2]:7400");
	assert_string_equal(roster.members[2].name, "c");
	assert_int_equal(roster.members[1].pin[31], 0xbb);
	assert_int_equal(sl_roster_find(&roster, 30), 2);
	assert_int_equal(sl_roster_find(&roster, 3), -1);
	sl_roster_close(&roster);
	assert_int_equal(sl_roster_find(&roster, 1), -1);
}

TEST_WITH(hashes_who_and_not_where, folder_enter, folder_leave)
{
	struct sl_roster one, other;
	load(A B, &one);
	load(LINE("2", "bb", "elsewhere:1", KEY_B) A, &other);
	assert_memory_equal(one.hash, other.hash, sizeof one.hash);
	sl_roster_close(&other);
	load(A LINE("2", "b", "[2001:db8::2]:7400", KEY_C), &other);
	assert_memory_not_equal(one.hash, other.hash, sizeof one.hash);
	sl_roster_close(&other);
	load(A B C, &other);
	assert_memory_not_equal(one.hash, other.hash, sizeof one.hash);
	sl_roster_close(&other);
	sl_roster_close(&one);
}

TEST_WITH(block_style_is_the_same, folder_enter, folder_leave)
{
	struct sl_roster roster;
	load("- id: 1\n  name: a\n  address: h:1\n  key: " KEY_A
	     "\n- id: 2\n  name: b\n  address: h:2\n  key: " KEY_B "\n",
	     &roster);
	assert_int_equal(roster.size, 2);
	sl_roster_close(&roster);
}

TEST_WITH(refuses_repetition, folder_enter, folder_leave)
{
	expect_error(A LINE("1", "b", "h:1", KEY_B), "r.yaml:2:8: id 1 is repeated; 'a' has it");
	expect_error(A LINE("2", "a", "h:1", KEY_B), "r.yaml:2:17: name 'a' is repeated; learner 1 has it");
	expect_error(A LINE("2", "b", "10.0.0.1:7400", KEY_B),
		     "r.yaml:2:30: address '10.0.0.1:7400' is repeated; learner 1 has it");
	expect_error(A B LINE("3", "c", "h:1", KEY_B), "r.yaml:3:42: key is repeated; learner 2 has it");
}

TEST_WITH(refuses_values, folder_enter, folder_leave)
{
	expect_error(LINE("0", "a", "h:1", KEY_A) B,
		     "r.yaml:1:8: id must be a whole number from 1 to 4294967295, not '0'");
	expect_error(A LINE("4294967296", "b", "h:1", KEY_B),
		     "r.yaml:2:8: id must be a whole number from 1 to 4294967295, not '4294967296'");
	expect_error(LINE("1", "a b", "h:1", KEY_A) B,
		     "r.yaml:1:17: 'a b' is not a name; letters, digits, '.', '_' and '-' are allowed");
	expect_error(LINE("1", "..", "h:1", KEY_A) B, "r.yaml:1:17: '..' is not a name; it begins with '.'");
	expect_error(LINE("1", "a", "h:70000", KEY_A) B,
		     "r.yaml:1:30: 'h:70000' is not an address; the port must be 1 to 65535");
	expect_error(LINE("1", "a", "::1:80", KEY_A) B,
		     "r.yaml:1:30: '::1:80' is not an address; expected HOST:PORT or [IPV6]:PORT");
	expect_error(LINE("1", "a", "h:1", "sha256:AA") B,
		     "r.yaml:1:42: key must be sha256: and 64 hexadecimal digits in lower case");
}

TEST_WITH(refuses_keys, folder_enter, folder_leave)
{
	expect_error("- {id: 1, nmae: a}\n" B, "r.yaml:1:11: unknown key 'nmae'; did you mean 'name'?");
	expect_error("- {id: 1, id: 1}\n" B, "r.yaml:1:11: duplicate key 'id', first given in line 1");
	expect_error("- {id: 1, name: a, address: \"h:1\"}\n" B, "r.yaml:1:3: missing key 'key'");
	expect_error("- 1\n- 2\n", "r.yaml:1:3: expected 'key: value' lines");
}

TEST_WITH(refuses_sizes, folder_enter, folder_leave)
{
	expect_error(A, "r.yaml:1:1: lists 1 learners; 2 to 2000 are possible");
	expect_error("[]\n", "r.yaml:1:1: lists 0 learners; 2 to 2000 are possible");
	expect_error("learners: 2\n",
		     "r.yaml:1:1: expected a list of learners, one '- {id, name, address, key}' a line");
}

TEST_WITH(prints_what_it_reads, folder_enter, folder_leave)
{
	struct sl_roster roster;
	struct sl_member member;
	char text[SL_MEMBER_TEXT_BYTES];
	load(A B, &roster);
	sl_roster_member_text(&roster.members[1], text);
	assert_string_equal(text, "- {id: 2, name: b, address: \"[2001:db8::2]:7400\", key: \"" KEY_B "\"}");
	folder_put("one.yaml", text);
	assert_int_equal(sl_roster_member_load("one.yaml", &member, NULL), SL_OK);
	assert_memory_equal(&member, &roster.members[1], sizeof member);
	sl_roster_close(&roster);
}

TEST_WITH(takes_the_most, folder_enter, folder_leave)
{
	struct sl_roster roster;
	FILE *file = fopen("big.yaml", "we");
	assert_non_null(file);
	for (unsigned i = SL_LEARNERS_MAX; i >= 1; i--)
		fprintf(file, "- {id: %u, name: n%u, address: \"h:%u\", key: \"sha256:%064x\"}\n", i, i, i,
			i);
	fclose(file);
	assert_int_equal(load_file("big.yaml", &roster, NULL), SL_OK);
	assert_int_equal(roster.size, SL_LEARNERS_MAX);
	assert_int_equal(sl_roster_find(&roster, 1234), 1233);
	sl_roster_close(&roster);
}

TEST_WITH(deployed_example_loads, folder_enter, folder_leave)
{
	struct sl_roster roster;
	struct sl_error error = {0};
	assert_ok(load_file(SL_SOURCE_ROOT "/deploy/roster.yaml", &roster, &error), error);
	sl_roster_close(&roster);
}

TEST_WITH(splits_addresses, folder_enter, folder_leave)
{
	struct sl_roster roster;
	char one[SL_ADDRESS_BYTES];
	load(LINE("1", "a", "10.0.0.1:7400,[2001:db8::2]:7400", KEY_A) B, &roster);
	assert_int_equal(sl_roster_address_at(roster.members[0].address, 0, one), 2);
	assert_string_equal(one, "10.0.0.1:7400");
	assert_int_equal(sl_roster_address_at(roster.members[0].address, 3, one), 2);
	assert_string_equal(one, "[2001:db8::2]:7400");
	assert_int_equal(sl_roster_address_at("h:1,  h:2, h:3", 1, one), 3);
	assert_string_equal(one, "h:2");
	sl_roster_close(&roster);
	expect_error(LINE("1", "a", "h:1, h:2, h:3, h:4, h:5", KEY_A) B,
		     "r.yaml:1:30: a learner has at most 4 addresses, not 5");
	expect_error(LINE("1", "a", "h:1, nowhere", KEY_A) B,
		     "r.yaml:1:30: 'nowhere' is not an address; expected HOST:PORT or [IPV6]:PORT");
	expect_error(LINE("1", "a", "h:1,", KEY_A) B,
		     "r.yaml:1:30: '' is not an address; expected HOST:PORT or [IPV6]:PORT");
	expect_error(LINE("1", "a", "2001:db8::2:7400", KEY_A) B,
		     "r.yaml:1:30: '2001:db8::2:7400' is not an address; expected HOST:PORT or [IPV6]:PORT");
	expect_error(LINE("1", "a", "[10.0.0.1]:7400", KEY_A) B,
		     "r.yaml:1:30: '[10.0.0.1]:7400' is not an address; expected HOST:PORT or [IPV6]:PORT");
}
