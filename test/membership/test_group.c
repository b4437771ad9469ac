/* Signed rosters: what is signed, which one may follow which, and errors. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/membership/group.h"
#include "common/config/yaml_text.h"
#include "test/config/settings_folder.h"
#include "test/lib/test.h"
#include "test/membership/member.h"

static uint8_t key[SL_SECRET_KEY_BYTES], other_key[SL_SECRET_KEY_BYTES]; /* of admins */

static int enter(void **state)
{
	const uint8_t seeds[2][crypto_sign_SEEDBYTES] = {{1}, {2}};
	uint8_t public_key[SL_KEY_BYTES];
	assert_true(sodium_init() >= 0);
	crypto_sign_seed_keypair(public_key, key, seeds[0]);
	crypto_sign_seed_keypair(public_key, other_key, seeds[1]);
	return folder_enter(state);
}

/* A group of two learners, version 2. */
static void make(struct sl_group *group)
{
	struct sl_error error = {0};
	struct sl_member a = member_of("anna", 0xaa), b = member_of("bo", 0xbb);
	*group = (struct sl_group){
		.name = "ward", .version = 2, .start = 3, .next_id = 1, .required = 1, .admin_count = 1};
	memcpy(group->admins[0], key + 32, SL_KEY_BYTES);
	group->settings = calloc(2, sizeof *group->settings);
	group->setting_count = 2;
	strcpy(group->settings[0].key, "tolerance");
	strcpy(group->settings[0].value, "1");
	strcpy(group->settings[1].key, "command");
	strcpy(group->settings[1].value, "python3 \"my train\".py \\ # x");
	assert_int_equal(sl_group_add(group, &a, &error), SL_OK);
	assert_int_equal(sl_group_add(group, &b, &error), SL_OK);
	assert_int_equal(sl_group_arrange(group, "roster", &error), SL_OK);
	sl_group_sign(group, key);
}

static char *text_of(const struct sl_group *group)
{
	size_t bytes;
	char *text = sl_group_text(group, &bytes);
	assert_non_null(text);
	assert_int_equal(strlen(text), bytes);
	return text;
}

static int read_text(const char *text, struct sl_group *group, struct sl_error *error)
{
	*error = (struct sl_error){0};
	return sl_group_read("r.yaml", text, strlen(text), group, error);
}

/* Replace the first `from` of the text. */
static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	assert_non_null(at);
	char *new = malloc(strlen(text) + strlen(to) + 1);
	sprintf(new, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	return new;
}

static void expect_error(const char *from, const char *to, int code, const char *message)
{
	struct sl_group group, read;
	struct sl_error error;
	make(&group);
	char *text = text_of(&group), *wrong = replaced(text, from, to);
	assert_int_equal(read_text(wrong, &read, &error), code);
	if (strstr(error.text, message) == NULL)
		fail_msg("%s: no '%s'", error.text, message);
	assert_null(read.roster.members);
	assert_null(read.settings);
	free(wrong);
	free(text);
	sl_group_close(&group);
}

TEST_WITH(is_read_as_it_was_written, enter, folder_leave)
{
	struct sl_group group, read;
	struct sl_error error;
	make(&group);
	char *text = text_of(&group);
	folder_put("r.yaml", text);
	assert_ok(sl_group_load("r.yaml", &read, &error), error);
	char *again = text_of(&read);
	assert_string_equal(text, again);
	assert_string_equal(read.settings[1].value, "python3 \"my train\".py \\ # x");
	assert_int_equal(read.next_id, 3);
	assert_true(sl_group_is_signed(&read));
	assert_true(sl_group_is_forming(&read));
	assert_memory_equal(read.roster.hash, group.roster.hash, SL_HASH_BYTES);
	free(again);
	free(text);
	sl_group_close(&read);
	sl_group_close(&group);
}

#define PLAIN_BYTES (2 * SL_MEMBER_TEXT_BYTES + 2)

/* The lines of two learners. */
static void plain_lines(char text[static PLAIN_BYTES])
{
	char lines[2][SL_MEMBER_TEXT_BYTES];
	struct sl_member a = member_of("anna", 0xaa), b = member_of("bo", 0xbb);
	a.id = 1;
	b.id = 2;
	sl_roster_member_text(&a, lines[0]);
	sl_roster_member_text(&b, lines[1]);
	sprintf(text, "%s\n%s\n", lines[0], lines[1]);
}

/* Read a plain roster with `settings`, and compare what is written of it. */
static void read_plain(const char *settings, struct sl_group *group)
{
	struct sl_error error = {0};
	char lines[PLAIN_BYTES], text[PLAIN_BYTES + 256];
	plain_lines(lines);
	sprintf(text, "settings: {%s}\nmembers:\n%s", settings, lines);
	folder_put("r.yaml", text);
	assert_ok(sl_group_load("r.yaml", group, &error), error);
	char *again = text_of(group);
	assert_string_equal(text, again);
	free(again);
}

/* The hash covers the settings: two learners with other ones have other rosters. */
TEST_WITH(a_plain_roster_has_settings, enter, folder_leave)
{
	struct sl_group usual, same, other;
	read_plain("", &usual);
	read_plain("rounds: \"10\", epochs: \"3\"", &same);
	read_plain("rounds: \"12\"", &other);
	assert_false(sl_group_is_signed(&other));
	assert_int_equal(other.roster.size, 2);
	assert_string_equal(other.settings[0].value, "12");
	assert_memory_equal(same.roster.hash, usual.roster.hash, SL_HASH_BYTES);
	assert_memory_not_equal(other.roster.hash, usual.roster.hash, SL_HASH_BYTES);
	sl_group_close(&usual);
	sl_group_close(&same);
	sl_group_close(&other);
}

/* One loader reads both, so that no settings of one version run under the roster of another. */
TEST_WITH(configuration_and_roster_are_read_together, enter, folder_leave)
{
	struct sl_group group;
	struct sl_settings settings;
	struct sl_error error = {0};
	read_plain("rounds: \"12\"", &group);
	sl_group_close(&group);
	folder_put("c.yaml", "run: r\nid: 1\nroster: r.yaml\nidentity: i\nstate: s\n");
	assert_int_equal(sl_group_load_settings("c.yaml", NULL, 0, &settings, &group, &error), SL_OK);
	assert_int_equal(settings.rounds, 12);
	assert_int_equal(group.roster.size, 2);
	sl_group_close(&group);
	const char *const set = "rounds=13";
	assert_int_equal(sl_group_load_settings("c.yaml", &set, 1, &settings, &group, &error),
			 SL_ERR_INVALID);
	sl_group_close(&group);
}

/* .. as before rosters had settings; the hash covers them all the same. */
TEST_WITH(a_plain_list_leaves_settings_to_the_configuration, enter, folder_leave)
{
	struct sl_group listed, other, mapped;
	struct sl_settings settings;
	struct sl_error error = {0};
	const char *const set = "rounds=12";
	read_plain("rounds: \"12\"", &mapped);
	folder_put("c.yaml", "run: r\nid: 1\nroster: list.yaml\nidentity: i\nstate: s\n");
	assert_int_equal(system("sed 1,2d r.yaml >list.yaml"), 0);
	assert_int_equal(sl_group_load_settings("c.yaml", &set, 1, &settings, &listed, &error), SL_OK);
	assert_int_equal(sl_group_load_settings("c.yaml", NULL, 0, &settings, &other, &error), SL_OK);
	assert_memory_equal(listed.roster.hash, mapped.roster.hash, SL_HASH_BYTES);
	assert_memory_not_equal(other.roster.hash, mapped.roster.hash, SL_HASH_BYTES);
	char *text = text_of(&listed), *again = text_of(&mapped);
	assert_string_equal(text, again);
	free(text);
	free(again);
	sl_group_close(&listed);
	sl_group_close(&other);
	sl_group_close(&mapped);
}

TEST_WITH(a_plain_list_is_a_group_without_a_name, enter, folder_leave)
{
	struct sl_group group;
	struct sl_error error = {0};
	char text[PLAIN_BYTES];
	plain_lines(text);
	folder_put("r.yaml", text);
	assert_int_equal(sl_group_load("r.yaml", &group, &error), SL_OK);
	assert_false(sl_group_is_signed(&group));
	assert_false(sl_group_is_forming(&group));
	assert_int_equal(group.roster.size, 2);
	sl_group_close(&group);
	assert_int_equal(read_text(text, &group, &error), SL_ERR_INVALID);
	assert_string_equal(error.text, "r.yaml: not a signed roster");
}

TEST_WITH(every_change_invalidates_the_signature, enter, folder_leave)
{
	static const char *const changes[][2] = {
		{"name: ward", "name: wart"}, {"version: 2,", "version: 3,"},	{"start: 3", "start: 2"},
		{"next_id: 3", "next_id: 4"}, {"tolerance", "max_weight"},	{"\"1\"", "\"2\""},
		{"id: 2", "id: 1000"},	      {"anna.example", "anne.example"}, {"sha256:bb", "sha256:bc"},
		{"name: bo,", "name: bob,"},
	};
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		bool id = strstr(changes[i][0], "id: 2") != NULL;
		expect_error(changes[i][0], changes[i][1], id ? SL_ERR_RANGE : SL_ERR_CRYPTO,
			     id ? "learner 1000 is not below next_id 3"
				: "r.yaml: not signed by its admin; a change by hand");
	}
}

TEST_WITH(settings_are_checked, enter, folder_leave)
{
	expect_error("tolerance", "tolerancf", SL_ERR_INVALID,
		     "r.yaml: settings: unknown key 'tolerancf'; did you mean 'tolerance'?");
	expect_error("\"1\"", "\"0\"", SL_ERR_RANGE,
		     "r.yaml: settings: tolerance must be a whole number from 1 to 1998, not '0'");
}

/* Comments and blanks are not signed. */
TEST_WITH(form_is_free, enter, folder_leave)
{
	struct sl_group group, read;
	struct sl_error error;
	make(&group);
	char *text = text_of(&group), *same = replaced(text, "members:\n", "# ours\nmembers:\n\n");
	assert_int_equal(read_text(same, &read, &error), SL_OK);
	free(same);
	free(text);
	sl_group_close(&read);
	sl_group_close(&group);
}

TEST_WITH(errors_have_places, enter, folder_leave)
{
	expect_error("version: 2,", "", SL_ERR_INVALID, "a key of name, version");
	expect_error("version: 2,", "version: 0,", SL_ERR_RANGE, "r.yaml:2:");
	expect_error("version: 2,", "version: 2, vers: 2,", SL_ERR_INVALID, "unknown key 'vers'");
	expect_error("required: 1", "required: 2", SL_ERR_RANGE,
		     "2 admins are required to sign, and there are 1");
	expect_error("admins:", "admin:", SL_ERR_INVALID, "missing key 'admins'");
	expect_error("- {key: \"", "- {key: \"0", SL_ERR_INVALID, "64 hexadecimal digits");
	expect_error("signatures:\n", "signatures: 3\nmore:\n", SL_ERR_INVALID,
		     "'signatures' must be a list");
	expect_error("signatures:\n", "more: 3\nsignatures:\n", SL_ERR_INVALID, "nothing else");
}

/* An admin sees the settings that it signs. */
TEST_WITH(settings_are_what_they_look_like, enter, folder_leave)
{
	expect_error("settings: {", "settings: {a: \"\\e[2J\", ", SL_ERR_INVALID, "not a setting");
	expect_error("settings: {", "settings: {a: \"x\\u202ey\", ", SL_ERR_INVALID, "not a setting");
	expect_error("settings: {",
		     "settings: {a: \"x\xc2\x9b"
		     "31my\", ",
		     SL_ERR_INVALID, "not a setting");
	expect_error("settings: {", "settings: {\"a\\e\": 1, ", SL_ERR_INVALID, "not a setting");
	expect_error("version: 2,", "version: 2, \"\\e[2J\": 2,", SL_ERR_INVALID, "unknown key '?[2J'");
}

/* The time to read anchors grows with the square of their number. */
TEST_WITH(many_anchors_are_refused, enter, folder_leave)
{
	struct sl_group group;
	struct sl_error error = {0};
	const uint32_t lines = SL_YAML_AMPERSANDS_MAX + 1;
	char *text = malloc(16 * (size_t)lines), *at = text;
	for (uint32_t i = 0; i < lines; i++)
		at += sprintf(at, "- &a%u 1\n", i);
	assert_int_equal(read_text(text, &group, &error), SL_ERR_FORMAT);
	assert_string_equal(error.text, "r.yaml:1001:3: more than 1000 '&'");
	free(text);
}

/* libfyaml would lose memory for each text of a peer in which quotes follow each other. */
TEST_WITH(a_row_of_quotes_is_refused, enter, folder_leave)
{
	struct sl_group group;
	struct sl_error error = {0};
	assert_int_equal(read_text("- 'a\n  ''''b'\n", &group, &error), SL_ERR_FORMAT);
	assert_string_equal(error.text, "r.yaml:2:3: four ' in a row; put the text between \"");
	assert_int_equal(read_text("- '''b'''\n", &group, &error), SL_ERR_INVALID);
	assert_null(strstr(error.text, "in a row"));
}

/* A file that was cut off anywhere is refused. */
TEST_WITH(no_part_is_taken, enter, folder_leave)
{
	struct sl_group group, read;
	struct sl_error error;
	make(&group);
	char *text = text_of(&group);
	for (size_t bytes = 0; bytes + 1 < strlen(text); bytes++) {
		assert_int_not_equal(sl_group_read("r.yaml", text, bytes, &read, &error), SL_OK);
		assert_null(read.roster.members);
	}
	free(text);
	sl_group_close(&group);
}

static void expect_refused(const struct sl_group *now, struct sl_group *next, const char *message)
{
	struct sl_error error = {0};
	assert_int_equal(sl_group_follows(now, next, &error), SL_ERR_REFUSED);
	if (strstr(error.text, message) == NULL)
		fail_msg("%s: no '%s'", error.text, message);
}

TEST_WITH(what_may_follow, enter, folder_leave)
{
	struct sl_group now, next;
	struct sl_error error = {0};
	make(&now);
	make(&next);
	expect_refused(&now, &next, "the roster has version 2, and this learner has version 2");
	next.version = 1;
	sl_group_sign(&next, key);
	expect_refused(&now, &next, "the roster has version 1, and this learner has version 2");
	next.version = 7; /* versions may be skipped */
	sl_group_sign(&next, key);
	assert_int_equal(sl_group_follows(&now, &next, &error), SL_OK);
	strcpy(next.name, "other");
	sl_group_sign(&next, key);
	expect_refused(&now, &next, "the roster is of group other, and this is group ward");
	strcpy(next.name, "ward");
	memcpy(next.admins[0], other_key + 32, SL_KEY_BYTES);
	sl_group_sign(&next, other_key);
	expect_refused(&now, &next, "not signed by 1 of the admins of version 2");
	sl_group_close(&now);
	sl_group_close(&next);
}

TEST_WITH(two_of_three_admins, enter, folder_leave)
{
	struct sl_group group;
	make(&group);
	group.admin_count = 3;
	group.required = 2;
	memcpy(group.admins[1], other_key + 32, SL_KEY_BYTES);
	memset(group.admins[2], 7, SL_KEY_BYTES);
	sl_group_sign(&group, key);
	assert_false(sl_group_verify(&group));
	struct sl_group_signature first = group.signatures[0];
	group.signatures[1] = first; /* the same admin twice is one */
	group.signature_count = 2;
	assert_false(sl_group_verify(&group));
	sl_group_sign(&group, other_key);
	group.signatures[1] = first;
	group.signature_count = 2;
	assert_true(sl_group_verify(&group));
	sl_group_close(&group);
}

TEST_WITH(another_address, enter, folder_leave)
{
	struct sl_group group;
	struct sl_error error = {0};
	make(&group);
	assert_int_equal(sl_group_set_address(&group, 1, group.roster.members[0].address, &error),
			 SL_ERR_INVALID);
	assert_non_null(strstr(error.text, "learner anna (1) has the address "));
	assert_int_equal(sl_group_set_address(&group, 1, "h:1,[::1]:2", &error), SL_OK);
	assert_int_equal(sl_group_set_address(&group, 1, "h:1,[::1]:2", &error), SL_ERR_REFUSED);
	assert_non_null(strstr(error.text, " has the address h:1,[::1]:2 already"));
	assert_string_equal(group.roster.members[1].address, "h:1,[::1]:2");
	sl_group_close(&group);
}

TEST_WITH(newcomers_get_new_ids, enter, folder_leave)
{
	struct sl_group group;
	struct sl_error error = {0};
	struct sl_member c = member_of("cleo", 0xcc), same = member_of("dora", 0xaa);
	make(&group);
	assert_int_equal(sl_group_add(&group, &same, &error), SL_ERR_INVALID);
	assert_string_equal(error.text, "learner anna (1) has the key of dora");
	sl_group_remove(&group, 1);
	assert_int_equal(sl_group_add(&group, &c, &error), SL_OK);
	assert_int_equal(group.roster.size, 2);
	assert_int_equal(group.roster.members[1].id, 3);
	assert_string_equal(group.roster.members[1].name, "cleo");
	sl_group_close(&group);
}

/* A setting is replaced or added, with the hash; what is no change, or no shared setting, is refused. */
TEST_WITH(settings_are_set, enter, folder_leave)
{
	struct sl_group group;
	struct sl_error error;
	uint8_t before[SL_HASH_BYTES];
	make(&group);
	group.setting_count = 1; /* without `command` */
	assert_int_equal(sl_group_arrange(&group, "roster", &error), SL_OK);
	memcpy(before, group.roster.hash, sizeof before);
	assert_int_equal(sl_group_set(&group, "quorum", "2", &error), SL_OK);
	assert_int_equal(sl_group_set(&group, "tolerance", "3", &error), SL_OK);
	assert_int_equal(group.setting_count, 2);
	assert_string_equal(group.settings[0].value, "3");
	assert_memory_not_equal(before, group.roster.hash, sizeof before);
	assert_false(sl_group_verify(&group)); /* the signature is that of the former settings */
	assert_int_equal(sl_group_set(&group, "stall_timeout", "1e1", &error), SL_ERR_REFUSED);
	assert_string_equal(error.text, "stall_timeout is 1e1 already");
	assert_int_equal(sl_group_set(&group, "epochs", "3", &error), SL_ERR_REFUSED);
	assert_string_equal(error.text, "epochs is a setting of each machine: set it in its starlingd.yaml");
	assert_int_equal(sl_group_set(&group, "quorum", "none", &error), SL_ERR_RANGE);
	sl_group_close(&group);
}
