/* Admission without a question: how many learners a version admits, and when it may not be signed. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/membership/admin_key.h"
#include "common/membership/private_file.h"
#include "daemon/learner/daemon.h"
#include "daemon/membership/group_update.h"
#include "daemon/membership/joining.h"
#include "daemon/observe/report_log.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

void __wrap_sl_report_log_record(struct sl_observe *observe, const struct sl_record *record)
{
	(void)observe, (void)record;
}

static struct sl_daemon *learner;
static struct sl_settings settings;
static const char *folder;

static void on_say(void *context, const char *address, const struct sl_waiting *waiting, const char *refused)
{
	(void)context, (void)address, (void)waiting, (void)refused;
}

/* A group with two learners, of which its first round needs `start`. */
static void begin(const char *path, uint32_t start, uint32_t required)
{
	const struct sl_admission_handler handler = {.say = on_say};
	struct sl_group group = {.name = "ward",
				 .version = 7,
				 .start = start,
				 .next_id = 1,
				 .required = required,
				 .admin_count = required};
	uint8_t public_key[SL_KEY_BYTES], second[SL_SECRET_KEY_BYTES];
	size_t size;
	folder = path;
	assert_true(sodium_init() >= 0);
	assert_int_equal(sl_admin_key_create(folder, group.admins[0], NULL), SL_OK);
	crypto_sign_keypair(public_key, second);
	if (required == 2)
		memcpy(group.admins[1], public_key, sizeof public_key);
	for (uint8_t i = 1; i <= 2; i++) {
		struct sl_member m = {.name = {(char)('a' + i)}, .pin = {i}};
		snprintf(m.address, sizeof m.address, "h:%u", i);
		assert_int_equal(sl_group_add(&group, &m, NULL), SL_OK);
	}
	uint8_t *key = sl_admin_key_load(folder, NULL);
	assert_non_null(key);
	sl_group_sign(&group, key);
	if (required == 2)
		sl_group_sign_too(&group, second);
	sl_admin_key_close(key);
	char *text = sl_group_text(&group, &size);
	assert_int_equal(sl_private_file_write(folder, "roster.yaml", text, size, NULL), SL_OK);
	free(text);
	sl_group_close(&group);
	learner = malloc(sizeof *learner);
	snprintf(settings.roster, sizeof settings.roster, "%s/roster.yaml", folder);
	sl_daemon_init(learner, &settings);
	assert_int_equal(uv_loop_init(&learner->loop), 0);
	assert_int_equal(sl_group_load(settings.roster, &learner->members.group, NULL), SL_OK);
	assert_int_equal(sl_roster_copy(&learner->members.group.roster, &learner->members.roster), SL_OK);
	assert_int_equal(sl_group_update_open(&learner->members, NULL), SL_OK);
	learner->members.admission = calloc(1, sizeof *learner->members.admission);
	assert_int_equal(sl_admission_open(learner->members.admission, settings.roster, &handler, NULL),
			 SL_OK);
	learner->members.settled = true;
}

static void end(void)
{
	sl_joining_close(&learner->members);
	sl_group_update_close(&learner->members);
	sl_group_close(&learner->members.group);
	sl_roster_close(&learner->members.roster);
	uv_loop_close(&learner->loop);
	free(learner);
}

static struct sl_invitation invite(bool automatic)
{
	struct sl_invitation invitation = {.expires = (uint32_t)time(NULL) + 3600};
	assert_int_equal(sl_invitation_file_create(folder, &invitation, 2, automatic, NULL), SL_OK);
	return invitation;
}

/* Ask as a learner with this key and name. */
static void ask(const struct sl_invitation *invitation, uint8_t pin)
{
	const uint8_t key[SL_HASH_BYTES] = {pin};
	struct sl_join_peer peer = {.address = "10.0.0.9", .pin = key};
	struct sl_join_request request = {.kind = SL_JOIN_ASK, .group = "ward", .name = {(char)('a' + pin)}};
	struct sl_join_answer answer;
	snprintf(request.address, sizeof request.address, "h:%u", pin);
	memcpy(request.invitation, invitation->id, sizeof request.invitation);
	sl_invitation_prove(invitation->id, invitation->secret, peer.exported, key, request.proof);
	sl_admission_serve(learner->members.admission, &peer, &request, &answer);
	assert_int_equal(answer.verdict, SL_JOIN_WAITING);
}

static void expect(uint64_t version, uint32_t members, uint32_t waiting)
{
	struct sl_group group;
	static struct sl_waiting all[SL_WAITING_MAX];
	sl_joining_look(&learner->members);
	assert_int_equal(sl_group_load(settings.roster, &group, NULL), SL_OK);
	assert_int_equal(group.version, version);
	assert_int_equal(group.roster.size, members);
	assert_int_equal(sl_waiting_list(folder, all, NULL), waiting);
	sl_group_close(&group);
}

TEST_WITH(one_version_while_the_group_is_forming, folder_setup, folder_teardown)
{
	begin(*state, 3, 1);
	struct sl_invitation automatic = invite(true), asked = invite(false);
	ask(&automatic, 3);
	expect(7, 2, 1);
	ask(&automatic, 4); /* it came since the last look, so further ones may */
	ask(&asked, 5);
	expect(7, 2, 3);
	expect(8, 4, 1);
	ask(&asked, 5);
	expect(8, 4, 1);
	end();
}

TEST_WITH(one_by_one_while_rounds_go_on, folder_setup, folder_teardown)
{
	begin(*state, 2, 1);
	struct sl_invitation automatic = invite(true);
	ask(&automatic, 3);
	ask(&automatic, 4);
	learner->members.settled = false;
	expect(7, 2, 2);
	learner->members.settled = true;
	expect(8, 3, 1);
	ask(&automatic, 4); /* until this learner runs under version 8 */
	expect(8, 3, 1);
	end();
}

/* A learner that was removed could come back by the same invitation under another key. */
TEST_WITH(not_after_a_removal, folder_setup, folder_teardown)
{
	static const uint8_t removed[SL_HASH_BYTES] = {9};
	static struct sl_invitation_file file;
	begin(*state, 2, 1);
	struct sl_invitation automatic = invite(true);
	assert_int_equal(sl_invitation_file_load(folder, automatic.id, &file, NULL), SL_OK);
	assert_int_equal(sl_invitation_file_use(folder, automatic.id, &file, removed, NULL), SL_OK);
	assert_int_equal(sl_invitation_file_admit(folder, automatic.id, removed, NULL), SL_OK);
	ask(&automatic, 3);
	expect(7, 2, 1);
	learner->members.admission->due = true; /* as another invitation has it */
	expect(7, 2, 1);
	end();
}

TEST_WITH(not_beside_a_command, folder_setup, folder_teardown)
{
	begin(*state, 2, 1);
	struct sl_invitation automatic = invite(true);
	ask(&automatic, 3);
	int lock = sl_private_file_lock(folder, true, NULL);
	assert_true(lock >= 0);
	expect(7, 2, 1);
	close(lock);
	expect(8, 3, 0);
	lock = sl_private_file_lock(folder, false, NULL); /* it is unlocked again */
	assert_true(lock >= 0);
	close(lock);
	end();
}

/* This machine could sign for one admin only. */
TEST_WITH(not_for_two_admins, folder_setup, folder_teardown)
{
	begin(*state, 3, 2);
	struct sl_invitation automatic = invite(true);
	ask(&automatic, 3);
	expect(7, 2, 1);
	expect(7, 2, 1);
	end();
}
