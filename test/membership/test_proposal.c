/* Proposals: rosters that several admins sign one after the other, what such a file may not be, and what an
 * admin is shown before it signs. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/membership/admin_key.h"
#include "common/membership/proposal.h"
#include "test/config/settings_folder.h"
#include "test/lib/test.h"
#include "test/membership/member.h"

#define ADMINS 4u /* the last one is no admin of the group */

static uint8_t keys[ADMINS][SL_SECRET_KEY_BYTES], admins[ADMINS][SL_KEY_BYTES];
static struct sl_group now, next; /* version 5, signed by admins 0 and 1; version 6, not signed */

/* A group of three learners, two of whose three admins must sign. */
static void make(struct sl_group *group, uint64_t version)
{
	struct sl_error error;
	static const char *const names[] = {"anna", "bo", "cleo"};
	*group = (struct sl_group){.name = "ward",
				   .version = version,
				   .start = 3,
				   .next_id = 1,
				   .required = 2,
				   .admin_count = 3};
	memcpy(group->admins, admins, 3 * sizeof admins[0]);
	group->settings = calloc(2, sizeof *group->settings);
	group->setting_count = 1;
	strcpy(group->settings[0].key, "rounds");
	strcpy(group->settings[0].value, "10");
	for (uint8_t i = 0; i < 3; i++) {
		struct sl_member m = member_of(names[i], (uint8_t)(0xaa + 0x11 * i));
		assert_int_equal(sl_group_add(group, &m, &error), SL_OK);
	}
}

static int enter(void **state)
{
	assert_true(sodium_init() >= 0);
	for (uint8_t i = 0; i < ADMINS; i++) {
		const uint8_t seed[crypto_sign_SEEDBYTES] = {(uint8_t)(i + 1)};
		crypto_sign_seed_keypair(admins[i], keys[i], seed);
	}
	make(&now, 5);
	sl_group_sign(&now, keys[0]);
	sl_group_sign_too(&now, keys[1]);
	make(&next, 6);
	return folder_enter(state);
}

static int leave(void **state)
{
	sl_group_close(&now);
	sl_group_close(&next);
	return folder_leave(state);
}

static char *text_of(const struct sl_group *group)
{
	size_t bytes;
	char *text = sl_group_text(group, &bytes);
	assert_non_null(text);
	return text;
}

static void put(const struct sl_group *group)
{
	char *text = text_of(group);
	folder_put("p.yaml", text);
	free(text);
}

static void expect_refused(const struct sl_group *group, int code, const char *message)
{
	struct sl_group read;
	struct sl_error error = {0};
	if (group != NULL)
		put(group);
	assert_int_equal(sl_proposal_load("p.yaml", &now, &read, &error), code);
	if (strstr(error.text, message) == NULL)
		fail_msg("%s: no '%s'", error.text, message);
	assert_null(read.roster.members);
}

static void remove_member(struct sl_group *group, const char *name)
{
	for (uint32_t i = 0; i < group->roster.size; i++)
		if (strcmp(group->roster.members[i].name, name) == 0)
			sl_group_remove(group, i);
	if (group->start > group->roster.size) /* as the command does it */
		group->start = group->roster.size;
}

TEST_WITH(signatures_are_added_one_by_one, enter, leave)
{
	struct sl_group read;
	struct sl_error error = {0};
	uint32_t had;
	remove_member(&next, "cleo");
	sl_group_sign(&next, keys[0]);
	assert_int_equal(sl_group_missing(&now, &next), 1);
	assert_int_equal(sl_group_follows(&now, &next, &error), SL_ERR_REFUSED);
	put(&next);
	assert_ok(sl_proposal_load("p.yaml", &now, &read, &error), error);
	assert_int_equal(sl_proposal_merge(".", &read, &had, &error), SL_OK);
	assert_int_equal(had, 0);
	sl_group_sign_too(&read, keys[2]);
	assert_int_equal(sl_group_missing(&now, &read), 0);
	assert_int_equal(sl_group_follows(&now, &read, &error), SL_OK);
	assert_int_equal(sl_proposal_save(".", &read, &error), SL_OK);
	assert_int_equal(sl_proposal_merge(".", &next, &had, &error),
			 SL_OK); /* that of the other is taken over */
	assert_int_equal(had, 2);
	assert_int_equal(sl_group_follows(&now, &next, &error), SL_OK);
	sl_group_close(&read);
}

/* The number that must sign is that of the roster in force: a new one cannot lower it, or bring its own
 * admins. */
TEST_WITH(number_and_admins_are_those_in_force, enter, leave)
{
	struct sl_error error = {0};
	next.admin_count = next.required = 1;
	sl_group_sign(&next, keys[0]);
	assert_true(sl_group_verify(&next));
	assert_int_equal(sl_group_missing(&now, &next), 1);
	assert_int_equal(sl_group_follows(&now, &next, &error), SL_ERR_REFUSED);
	sl_group_sign_too(&next, keys[0]); /* the same admin twice is one */
	assert_int_equal(sl_group_missing(&now, &next), 1);
	sl_group_sign_too(&next, keys[3]); /* no admin */
	assert_int_equal(sl_group_missing(&now, &next), 1);
	sl_group_sign_too(&next, keys[2]);
	assert_int_equal(sl_group_follows(&now, &next, &error), SL_OK);
	next.admin_count = next.required = 3; /* the new ones have to sign too */
	memcpy(next.admins[2], admins[3], SL_KEY_BYTES);
	sl_group_sign(&next, keys[0]);
	sl_group_sign_too(&next, keys[1]);
	assert_int_equal(sl_group_missing(&now, &next), 1);
	assert_int_equal(sl_group_follows(&now, &next, &error), SL_ERR_REFUSED);
	sl_group_sign_too(&next, keys[3]);
	assert_int_equal(sl_group_follows(&now, &next, &error), SL_OK);
}

TEST_WITH(signs_one_roster_of_a_version, enter, leave)
{
	struct sl_group other;
	struct sl_error error = {0};
	uint32_t had;
	remove_member(&next, "bo");
	sl_group_sign(&next, keys[0]);
	assert_int_equal(sl_proposal_save(".", &next, &error), SL_OK);
	make(&other, 6);
	remove_member(&other, "cleo");
	sl_group_sign(&other, keys[1]);
	assert_int_equal(sl_proposal_merge(".", &other, &had, &error), SL_ERR_REFUSED);
	assert_string_equal(
		error.text,
		"this admin has signed another proposal of version 6, ./proposal.yaml; to give that one "
		"up, remove the file at each admin that signed it, and all copies");
	sl_group_sign(&other, keys[0]); /* nor if it signs before it looks */
	assert_int_equal(sl_proposal_merge(".", &other, &had, &error), SL_ERR_REFUSED);
	other.version = 7;
	sl_group_sign(&other, keys[1]);
	assert_int_equal(sl_proposal_merge(".", &other, &had, &error), SL_OK);
	assert_int_equal(other.signature_count, 1);
	sl_group_close(&other);
}

TEST_WITH(what_is_no_proposal_for_this_group, enter, leave)
{
	expect_refused(&now, SL_ERR_REFUSED, "p.yaml: is in force already; nothing is left to sign");
	remove_member(&next, "cleo");
	next.version = 5;
	sl_group_sign(&next, keys[0]);
	expect_refused(&next, SL_ERR_REFUSED,
		       "p.yaml: is version 5 of the roster, and version 5 is in force: ask its author to run "
		       "the command "
		       "again");
	next.version = 7;
	expect_refused(&next, SL_ERR_REFUSED,
		       "is version 7 of the roster, and this machine has version 5 yet");
	next.version = 6;
	sl_group_sign(&next, keys[0]);
	sl_group_sign_too(&next, keys[0]);
	expect_refused(&next, SL_ERR_CRYPTO, "twice");
	sl_group_sign(&next, keys[3]);
	expect_refused(&next, SL_ERR_CRYPTO, ", which is not an admin of group ward");
	sl_group_sign(&next, keys[0]);
	strcpy(next.roster.members[0].address, "evil.example.org:7400");
	expect_refused(&next, SL_ERR_CRYPTO, "p.yaml: was changed after admin:");
	strcpy(next.name, "lab");
	sl_group_sign(&next, keys[0]);
	expect_refused(&next, SL_ERR_REFUSED, "p.yaml: is of group lab, and this is group ward");
	folder_put("p.yaml", "- {id: 1}\n");
	expect_refused(NULL, SL_ERR_INVALID, "p.yaml: not the roster of a group");
}

/* Everyone can write a roster, and sign it as an admin that it adds. */
TEST_WITH(no_admin_has_signed, enter, leave)
{
	static const char why[] = "p.yaml: no admin of group ward has signed it";
	sl_group_sign(&next, keys[0]);
	next.signature_count = 0;
	char *text = text_of(&next), list[64 * 1024];
	snprintf(list, sizeof list, "%.*ssignatures: []\n", (int)(strstr(text, "signatures:") - text), text);
	folder_put("p.yaml", list);
	expect_refused(NULL, SL_ERR_CRYPTO, why);
	free(text);
	memcpy(next.admins[2], admins[3], SL_KEY_BYTES);
	sl_group_sign(&next, keys[3]);
	expect_refused(&next, SL_ERR_CRYPTO, why);
}

/* One admin of several could name the reason for a fork, or an old state, in a line that is easily missed. */
TEST_WITH(what_an_honest_admin_does_not_do, enter, leave)
{
	struct sl_error error;
	struct sl_member d = member_of("dora", 0xdd);
	next.start = 4;
	sl_group_sign(&next, keys[0]);
	expect_refused(&next, SL_ERR_REFUSED, "lets the group wait for 4 learners again");
	next.start = 3;
	now.next_id = 6; /* 4 and 5 were removed */
	sl_group_sign(&next, keys[0]);
	expect_refused(&next, SL_ERR_REFUSED, "lets a learner have the id of one that was removed");
	next.next_id = 5;
	assert_int_equal(sl_group_add(&next, &d, &error), SL_OK);
	sl_group_sign(&next, keys[0]);
	expect_refused(&next, SL_ERR_REFUSED, "lets a learner have the id of one that was removed");
}

/* While rounds go on, learners change one at a time; a group that is forming has no round that could fork. */
TEST_WITH(several_learners_at_once, enter, leave)
{
	struct sl_group read;
	struct sl_error error;
	struct sl_member d = member_of("dora", 0xdd);
	remove_member(&next, "cleo");
	assert_int_equal(sl_group_add(&next, &d, &error), SL_OK);
	sl_group_sign(&next, keys[0]);
	expect_refused(&next, SL_ERR_REFUSED, "changes 2 learners at once, but while rounds run");
	now.start = 9;
	assert_int_equal(sl_proposal_load("p.yaml", &now, &read, &error), SL_OK);
	sl_group_close(&read);
}

TEST_WITH(admins_of_a_roster, enter, leave)
{
	next.required = 1;
	sl_group_sign(&next, keys[0]);
	expect_refused(&next, SL_ERR_RANGE, "1 admins are required to sign; of 3, it must be more than half");
	next.required = 2;
	memcpy(next.admins[2], admins[0], SL_KEY_BYTES);
	sl_group_sign(&next, keys[0]);
	expect_refused(&next, SL_ERR_INVALID, "two admins have one key");
}

static void expect_changes(const char *expected)
{
	char *text = sl_proposal_changes(&now, &next);
	assert_string_equal(text, expected);
	free(text);
}

#define A8(c) c c c c c c c c
#define PIN(c) "sha256:" A8(A8(c))

TEST_WITH(all_changes_are_shown, enter, leave)
{
	struct sl_error error;
	struct sl_member d = member_of("dora", 0xdd);
	char text[3][SL_ADMIN_TEXT_BYTES], expected[512];
	expect_changes("");
	assert_int_equal(sl_group_add(&next, &d, &error), SL_OK);
	expect_changes("added: dora (4), dora.example.org:7400, " PIN("d") "\n");
	remove_member(&next, "dora");
	remove_member(&next, "bo");
	expect_changes("removed: bo (2), bo.example.org:7400, " PIN(
		"b") "\nnext id: 5, not 4\n"
		     "the first round begins with 2 learners, not 3\n");
	next.next_id = 4;
	strcpy(next.roster.members[1].name, "claire");
	strcpy(next.roster.members[1].address, "10.0.0.3:7400");
	memset(next.roster.members[1].pin, 0xee, SL_HASH_BYTES);
	expect_changes("new name: cleo (3) is claire\n"
		       "new address: claire (3) is at 10.0.0.3:7400, not cleo.example.org:7400\n"
		       "new key: claire (3) has " PIN("e") ", not " PIN(
			       "c") "\n"
				    "removed: bo (2), bo.example.org:7400, " PIN(
					    "b") "\n"
						 "the first round begins with 2 learners, not 3\n");
	sl_group_close(&next);
	make(&next, 6);
	next.admin_count = next.required = 2;
	memcpy(next.admins[1], admins[3], SL_KEY_BYTES);
	strcpy(next.settings[0].value, "20");
	strcpy(next.settings[1].key, "tolerance");
	strcpy(next.settings[1].value, "1");
	next.setting_count = 2;
	for (uint32_t i = 0; i < 3; i++)
		sl_admin_key_text(admins[1 + i], text[i]);
	snprintf(expected, sizeof expected,
		 "new admin: %s\nadmin removed: %s\nadmin removed: %s\n2 of 2 admins must sign, not 2 of 3\n"
		 "setting: rounds: \"20\"\nsetting: tolerance: \"1\"\n",
		 text[2], text[0], text[1]);
	expect_changes(expected);
	next.setting_count = 0;
	next.admin_count = 3;
	memcpy(next.admins, admins, 3 * sizeof admins[0]);
	expect_changes("setting removed: rounds: \"10\"\n");
}

TEST_WITH(keys_of_admins_as_text, enter, leave)
{
	char text[SL_ADMIN_TEXT_BYTES + 1];
	uint8_t read[SL_KEY_BYTES];
	struct sl_error error;
	sl_admin_key_text(admins[0], text);
	assert_int_equal(sl_admin_key_parse(text, read, &error), SL_OK);
	assert_memory_equal(read, admins[0], SL_KEY_BYTES);
	text[SL_ADMIN_TEXT_BYTES - 2] = 'x';
	assert_int_equal(sl_admin_key_parse(text, read, &error), SL_ERR_INVALID);
	assert_int_equal(sl_admin_key_parse("ed25519:" A8(A8("7")), read, &error), SL_ERR_INVALID);
	assert_null(strstr(error.text, "7777")); /* it may be a secret */
}
