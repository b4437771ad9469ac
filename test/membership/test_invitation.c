/* Invitations: their text, their files, and the learners that wait. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include <sodium.h>
#include <time.h>

#include "common/membership/invitation_file.h"
#include "common/membership/waiting.h"

#define MISTYPED "the invitation was cut or mistyped; copy the whole line that begins with starling1-"

static struct sl_invitation sample(void)
{
	struct sl_invitation i = {.group = "ward", .address_count = 2, .expires = 1800000000};
	memset(i.admin, 7, sizeof i.admin);
	strcpy(i.addresses[0], "clinic-a.example.org:7400");
	strcpy(i.addresses[1], "[2001:db8::2]:7400");
	memset(i.id, 1, sizeof i.id);
	memset(i.secret, 2, sizeof i.secret);
	return i;
}

static void expect_mistyped(const char *text)
{
	struct sl_invitation got;
	struct sl_error error = {0};
	assert_int_equal(sl_invitation_parse(text, &got, &error), SL_ERR_INVALID);
	assert_string_equal(error.text, MISTYPED);
	assert_true(sodium_is_zero((const uint8_t *)&got, sizeof got));
}

TEST(text_and_back)
{
	struct sl_invitation given = sample(), got;
	char text[SL_INVITATION_TEXT_BYTES], padded[SL_INVITATION_TEXT_BYTES + 8];
	sl_invitation_text(&given, text);
	assert_int_equal(strlen(text), 10 + (1 + 4 + 32 + 1 + 26 + 19 + 8 + 16 + 4 + 4) * 4 / 3 + 1);
	assert_int_equal(sl_invitation_parse(text, &got, NULL), SL_OK);
	assert_memory_equal(&given, &got, sizeof got);
	snprintf(padded, sizeof padded, " \t%s\r\n", text);
	assert_int_equal(sl_invitation_parse(padded, &got, NULL), SL_OK);
}

/* The longest one fits. */
TEST(largest)
{
	struct sl_invitation given = sample(), got;
	char text[SL_INVITATION_TEXT_BYTES];
	memset(given.group, 'g', SL_NAME_BYTES - 1);
	given.address_count = SL_INVITATION_ADDRESSES_MAX;
	for (uint32_t i = 0; i < given.address_count; i++) {
		memset(given.addresses[i], 'h', SL_ADDRESS_BYTES - 3);
		strcpy(given.addresses[i] + SL_ADDRESS_BYTES - 3, ":1");
	}
	sl_invitation_text(&given, text);
	assert_int_equal(sl_invitation_parse(text, &got, NULL), SL_OK);
	assert_memory_equal(&given, &got, sizeof got);
}

/* Another character, one less, two exchanged: at every place. */
TEST(mistyped)
{
	struct sl_invitation given = sample();
	char text[SL_INVITATION_TEXT_BYTES], spoilt[SL_INVITATION_TEXT_BYTES];
	sl_invitation_text(&given, text);
	size_t size = strlen(text);
	for (size_t i = 0; i < size; i++) {
		strcpy(spoilt, text);
		spoilt[i] = text[i] == 'A' ? 'B' : 'A';
		expect_mistyped(spoilt);
		memmove(spoilt + i, text + i + 1, size - i);
		expect_mistyped(spoilt);
		strcpy(spoilt, text);
		spoilt[i] = '\0';
		expect_mistyped(spoilt);
		if (i + 1 < size && text[i] != text[i + 1]) {
			strcpy(spoilt, text);
			spoilt[i] = text[i + 1];
			spoilt[i + 1] = text[i];
			expect_mistyped(spoilt);
		}
	}
	expect_mistyped("");
	expect_mistyped("starling1-");
	strcat(strcpy(spoilt, text), "A");
	expect_mistyped(spoilt);
}

/* The checksum is right, and the rest of it is not. */
TEST(contents)
{
	struct sl_invitation given = sample();
	char text[SL_INVITATION_TEXT_BYTES];
	strcpy(given.group, "a b");
	sl_invitation_text(&given, text);
	expect_mistyped(text);
	given = sample();
	strcpy(given.addresses[1], "nowhere");
	sl_invitation_text(&given, text);
	expect_mistyped(text);
	given = sample();
	given.address_count = 0;
	sl_invitation_text(&given, text);
	expect_mistyped(text);
}

/* Each input of the proof changes it. */
TEST(proof)
{
	uint8_t in[4][SL_HASH_BYTES] = {{0}}, first[SL_INVITATION_PROOF_BYTES],
		other[SL_INVITATION_PROOF_BYTES];
	sl_invitation_prove(in[0], in[1], in[2], in[3], first);
	for (int i = 0; i < 4; i++) {
		in[i][3] ^= 1;
		sl_invitation_prove(in[0], in[1], in[2], in[3], other);
		assert_memory_not_equal(first, other, sizeof first);
		in[i][3] ^= 1;
	}
	sl_invitation_prove(in[0], in[1], in[2], in[3], other);
	assert_memory_equal(first, other, sizeof first);
}

static struct sl_invitation_file file; /* large */

TEST_WITH(used_as_often_as_it_may_be, folder_enter, folder_leave)
{
	struct sl_invitation i = sample();
	struct sl_error error = {0};
	struct stat st;
	char path[64], id[17];
	uint8_t pins[3][SL_HASH_BYTES] = {{1}, {2}, {3}};
	i.expires = 1234;
	assert_int_equal(sl_invitation_file_create(".", &i, 2, true, &error), SL_OK);
	sodium_bin2hex(id, sizeof id, i.id, sizeof i.id);
	snprintf(path, sizeof path, "invitations/%s", id);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(sl_invitation_file_load(".", i.id, &file, &error), SL_OK);
	assert_memory_equal(file.secret, i.secret, sizeof i.secret);
	assert_true(file.expires == 1234 && file.uses == 2 && file.automatic && file.used == 0);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(sl_invitation_file_find(&file, pins[k]), -1);
		assert_int_equal(sl_invitation_file_use(".", i.id, &file, pins[k], &error), SL_OK);
		sl_invitation_file_close(&file);
		assert_int_equal(sl_invitation_file_load(".", i.id, &file, &error), SL_OK);
		assert_int_equal(sl_invitation_file_find(&file, pins[k]), k);
		assert_false(file.admitted[k]);
	}
	assert_int_equal(sl_invitation_file_use(".", i.id, &file, pins[2], &error), SL_ERR_FULL);
	assert_int_equal(sl_invitation_file_admit(".", i.id, pins[1], &error), SL_OK);
	assert_int_equal(sl_invitation_file_load(".", i.id, &file, &error), SL_OK);
	assert_true(file.used == 2 && !file.admitted[0] && file.admitted[1]);
	assert_int_equal(sl_invitation_file_remove(".", i.id, &error), SL_OK);
	assert_int_equal(sl_invitation_file_load(".", i.id, &file, &error), SL_ERR_NOTFOUND);
	assert_int_equal(sl_invitation_file_remove(".", i.id, &error), SL_OK);
	assert_int_equal(sl_invitation_file_admit(".", i.id, pins[1], &error), SL_OK);
}

static bool is_there(const struct sl_invitation *i)
{
	bool there = sl_invitation_file_load(".", i->id, &file, NULL) == SL_OK;
	sl_invitation_file_close(&file);
	return there;
}

/* A day after it has expired, unless a learner still waits with it. */
TEST_WITH(old_ones_are_removed, folder_enter, folder_leave)
{
	const uint32_t day = 86400, now = (uint32_t)time(NULL);
	struct sl_invitation all[4];
	struct sl_waiting bo = {.name = "bo", .address = "h:1", .since = 1, .pin = {1}};
	for (int i = 0; i < 4; i++) {
		all[i] = sample();
		all[i].expires = i == 0 ? now + day : i == 1 ? now - day / 2 : now;
		assert_int_equal(sl_invitation_file_create(".", &all[i], 1, false, NULL), SL_OK);
	}
	for (int i = 2; i < 4; i++) { /* as if they had been made long ago */
		char command[160], id[17];
		sodium_bin2hex(id, sizeof id, all[i].id, sizeof all[i].id);
		snprintf(command, sizeof command, "sed -i 's/^expires: .*/expires: %u/' invitations/%s",
			 now - day - 10, id);
		assert_int_equal(system(command), 0);
	}
	memcpy(bo.invitation, all[3].id, sizeof bo.invitation);
	assert_int_equal(sl_waiting_save(".", &bo, NULL), SL_OK);
	sl_invitation_file_sweep(".");
	assert_true(is_there(&all[0]) && is_there(&all[1]) && is_there(&all[3]));
	assert_false(is_there(&all[2]));
}

TEST_WITH(damaged, folder_enter, folder_leave)
{
	static const char *const texts[] = {
		"uses: 1\nexpires: 2\nautomatic: 0\n",
		"secret: \"0011\"\nuses: 1\nexpires: 2\nautomatic: 0\n",
		"secret: \"00112233445566778899aabbccddeeff\"\nuses: 0\nexpires: 2\nautomatic: 0\n",
		"secret: \"00112233445566778899aabbccddeeff\"\nuses: 1\nexpires: x\nautomatic: 0\n",
		"secret: \"00112233445566778899aabbccddeeff\"\nuses: 1\nexpires: 2\nused_by: \"0011\"\n",
		"- 1\n",
		"",
		"secret: \"00112233"};
	struct sl_error error = {0};
	uint8_t id[SL_INVITATION_ID_BYTES] = {0};
	assert_int_equal(mkdir("invitations", 0700), 0);
	for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
		folder_put("invitations/0000000000000000", texts[k]);
		assert_int_equal(sl_invitation_file_load(".", id, &file, &error), SL_ERR_FORMAT);
		assert_string_equal(error.text,
				    "./invitations/0000000000000000: is damaged; remove it and make "
				    "another invitation: starling group invite");
		assert_true(sodium_is_zero(file.secret, sizeof file.secret));
	}
}

TEST_WITH(waiting, folder_enter, folder_leave)
{
	static struct sl_waiting list[SL_WAITING_MAX];
	struct sl_waiting bo = {.name = "bo",
				.address = "10.0.0.2:7400",
				.since = 5,
				.pin = {1, 2},
				.invitation = {9}},
			  ana = {.name = "ana", .address = "h:1", .renews = 3}, got;
	struct sl_error error = {0};
	assert_int_equal(sl_waiting_list(".", list, NULL), 0);
	assert_int_equal(sl_waiting_load(".", "bo", &got, &error), SL_ERR_NOTFOUND);
	assert_int_equal(sl_waiting_save(".", &bo, &error), SL_OK);
	assert_int_equal(sl_waiting_save(".", &ana, &error), SL_OK);
	assert_int_equal(sl_waiting_load(".", "bo", &got, &error), SL_OK);
	assert_memory_equal(&got, &bo, sizeof bo);
	folder_put("waiting/cy.yaml", "name: dee\naddress: \"h:1\"\n");
	folder_put("waiting/other", "");
	assert_int_equal(sl_waiting_list(".", list, &error), 2);
	assert_string_equal(error.text, "./waiting/cy.yaml: is damaged; remove it: the learner asks again");
	assert_memory_equal(&list[0], &ana, sizeof ana);
	assert_int_equal(sl_waiting_load(".", "cy", &got, &error), SL_ERR_FORMAT);
	assert_string_equal(error.text, "./waiting/cy.yaml: is damaged; remove it: the learner asks again");
	assert_int_equal(sl_waiting_remove(".", "bo", &error), SL_OK);
	assert_int_equal(sl_waiting_list(".", list, NULL), 1);
	folder_put("waiting/cy.yaml", "name: dee\naddress: \"h");
	assert_int_equal(sl_waiting_load(".", "cy", &got, &error), SL_ERR_FORMAT);
	assert_string_equal(error.text, "./waiting/cy.yaml: is damaged; remove it: the learner asks again");
}
