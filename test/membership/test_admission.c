/* Requests of learners that join: every verdict, and what is on disk afterwards. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/membership/admin_key.h"
#include "common/membership/private_file.h"
#include "daemon/membership/admission.h"
#include "daemon/membership/renewal.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#define HOUR_S 3600u

/* A group of two, ana and bo, on its admin's machine. */
struct scene {
	const char *folder;
	struct sl_admission admission;
	struct sl_invitation invitation;
	struct sl_join_peer peer;
	struct sl_join_request request;
	uint8_t pin[SL_HASH_BYTES];
	int waiting, refused; /* calls of the handler */
	char why[256];
};

static void on_say(void *context, const char *address, const struct sl_waiting *waiting, const char *refused)
{
	struct scene *s = context;
	assert_string_equal(address, "10.0.0.9");
	assert_int_equal(waiting == NULL, refused != NULL);
	s->refused += refused != NULL;
	s->waiting += refused == NULL;
	snprintf(s->why, sizeof s->why, "%s", refused != NULL ? refused : "");
}

static void add(struct sl_group *group, const char *name, const char *address, uint8_t pin)
{
	struct sl_member m = {.id = 0};
	snprintf(m.name, sizeof m.name, "%s", name);
	snprintf(m.address, sizeof m.address, "%s", address);
	memset(m.pin, pin, sizeof m.pin);
	assert_int_equal(sl_group_add(group, &m, NULL), SL_OK);
}

static void write_group(const char *folder)
{
	struct sl_group group = {
		.name = "ward", .version = 5, .start = 2, .next_id = 1, .required = 1, .admin_count = 1};
	size_t size;
	assert_int_equal(sl_admin_key_create(folder, group.admins[0], NULL), SL_OK);
	uint8_t *key = sl_admin_key_load(folder, NULL);
	assert_non_null(key);
	add(&group, "ana", "h:1", 1);
	add(&group, "bo", "h:2", 2);
	sl_group_sign(&group, key);
	char *text = sl_group_text(&group, &size);
	assert_int_equal(sl_private_file_write(folder, "roster.yaml", text, size, NULL), SL_OK);
	free(text);
	sl_admin_key_close(key);
	sl_group_close(&group);
}

static void invite(struct scene *s, uint32_t uses, bool automatic)
{
	s->invitation = (struct sl_invitation){.expires = (uint32_t)time(NULL) + HOUR_S};
	assert_int_equal(sl_invitation_file_create(s->folder, &s->invitation, uses, automatic, NULL), SL_OK);
}

/* Be the learner with this key, name and address, with the present invitation. */
static void be(struct scene *s, uint8_t pin, const char *name, const char *address)
{
	memset(s->pin, pin, sizeof s->pin);
	s->peer = (struct sl_join_peer){.address = "10.0.0.9", .pin = s->pin, .exported = {7, pin}};
	s->request = (struct sl_join_request){.kind = SL_JOIN_ASK, .group = "ward"};
	snprintf(s->request.name, sizeof s->request.name, "%s", name);
	snprintf(s->request.address, sizeof s->request.address, "%s", address);
	memcpy(s->request.invitation, s->invitation.id, sizeof s->invitation.id);
	sl_invitation_prove(s->invitation.id, s->invitation.secret, s->peer.exported, s->pin,
			    s->request.proof);
}

static struct scene *scene_open(const char *folder)
{
	static struct scene s;
	const struct sl_admission_handler handler = {&s, on_say};
	struct sl_error error = {0};
	char path[256];
	assert_true(sodium_init() >= 0);
	memset(&s, 0, sizeof s);
	s.folder = folder;
	write_group(folder);
	snprintf(path, sizeof path, "%s/roster.yaml", folder);
	assert_ok(sl_admission_open(&s.admission, path, &handler, &error), error);
	invite(&s, 1, false);
	be(&s, 3, "cy", "h:3");
	return &s;
}

static void expect(struct scene *s, enum sl_join_verdict verdict)
{
	struct sl_join_answer answer = {.verdict = 0};
	int refused = s->refused;
	sl_admission_serve(&s->admission, &s->peer, &s->request, &answer);
	assert_int_equal(answer.verdict, verdict);
	bool accepted = verdict == SL_JOIN_ADMITTED || verdict == SL_JOIN_WAITING;
	assert_int_equal(answer.roster != NULL, accepted && s->request.version != 5);
	assert_int_equal(s->refused - refused, !accepted && verdict != SL_JOIN_ELSEWHERE);
	assert_true(answer.time >= (uint64_t)time(NULL) - 5);
	assert_true(sodium_is_zero(s->admission.invitation.secret, SL_INVITATION_SECRET_BYTES));
}

static bool waits(const struct scene *s, const char *name)
{
	struct sl_waiting w;
	return sl_waiting_load(s->folder, name, &w, NULL) == SL_OK;
}

TEST_WITH(waits_until_it_is_a_member, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	expect(s, SL_JOIN_WAITING);
	assert_true(waits(s, "cy"));
	expect(s, SL_JOIN_WAITING); /* again */
	s->request.version = 5;
	expect(s, SL_JOIN_WAITING);
	assert_int_equal(s->waiting, 1);
	memset(s->request.proof, 0, sizeof s->request.proof); /* a member needs no invitation */
	memset(s->pin, 2, sizeof s->pin);
	expect(s, SL_JOIN_KEY_TAKEN);
	snprintf(s->request.name, sizeof s->request.name, "bo");
	expect(s, SL_JOIN_ADMITTED);
	assert_false(s->admission.due);
	sl_admission_close(&s->admission);
}

TEST_WITH(another_group, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	snprintf(s->request.group, sizeof s->request.group, "war");
	expect(s, SL_JOIN_OTHER_GROUP);
	assert_string_equal(s->why, "it names another group");
	assert_false(waits(s, "cy"));
	sl_admission_close(&s->admission);
}

/* The proof covers the secret, the connection and the key; and there are few attempts a minute, also for the
 * right one after them. */
TEST_WITH(wrong_proofs, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	s->peer.exported[0] ^= 1;
	expect(s, SL_JOIN_UNKNOWN);
	s->peer.exported[0] ^= 1;
	s->pin[0] ^= 1;
	expect(s, SL_JOIN_UNKNOWN);
	s->pin[0] ^= 1;
	s->request.proof[31] ^= 1;
	for (uint32_t i = 2; i < SL_JOIN_WRONG_MAX; i++)
		expect(s, SL_JOIN_UNKNOWN);
	expect(s, SL_JOIN_LATER);
	s->request.proof[31] ^= 1;
	expect(s, SL_JOIN_LATER);
	invite(s, 1, false);
	be(s, 3, "cy", "h:3");
	expect(s, SL_JOIN_WAITING); /* another invitation */
	s->request.invitation[0] ^= 1;
	expect(s, SL_JOIN_UNKNOWN);
	sl_admission_close(&s->admission);
}

/* Change one line of the invitation's file. */
static void rewrite(const struct scene *s, const char *from, const char *to)
{
	char id[17], command[512];
	sodium_bin2hex(id, sizeof id, s->invitation.id, sizeof s->invitation.id);
	snprintf(command, sizeof command, "sed -i 's/%s/%s/' %s/invitations/%s", from, to, s->folder, id);
	assert_int_equal(system(command), 0);
}

/* An invitation that has expired still serves the learner that has used it. */
TEST_WITH(expired, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	rewrite(s, "expires: .*", "expires: 1");
	expect(s, SL_JOIN_EXPIRED);
	assert_false(waits(s, "cy"));
	rewrite(s, "expires: .*", "expires: 4000000000");
	expect(s, SL_JOIN_WAITING);
	rewrite(s, "expires: .*", "expires: 1");
	expect(s, SL_JOIN_WAITING);
	sl_admission_close(&s->admission);
}

TEST_WITH(used_once, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	expect(s, SL_JOIN_WAITING);
	be(s, 4, "di", "h:4");
	expect(s, SL_JOIN_USED);
	assert_false(waits(s, "di"));
	assert_int_equal(sl_invitation_file_admit(s->folder, s->invitation.id, (uint8_t[32]){0}, NULL),
			 SL_OK);
	be(s, 3, "cy", "h:3");
	expect(s, SL_JOIN_WAITING);
	assert_int_equal(sl_invitation_file_admit(s->folder, s->invitation.id, s->pin, NULL), SL_OK);
	expect(s, SL_JOIN_USED); /* it was a member, and was removed */
	assert_int_equal(sl_invitation_file_remove(s->folder, s->invitation.id, NULL), SL_OK);
	expect(s, SL_JOIN_UNKNOWN);
	sl_admission_close(&s->admission);
}

TEST_WITH(used_by_several_without_a_question, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	invite(s, 2, true);
	be(s, 3, "cy", "h:3");
	expect(s, SL_JOIN_WAITING);
	be(s, 4, "di", "h:4");
	expect(s, SL_JOIN_WAITING);
	assert_true(s->admission.due);
	assert_true(waits(s, "cy") && waits(s, "di"));
	s->admission.due = false;
	expect(s, SL_JOIN_WAITING); /* again, when no version could be signed */
	assert_true(s->admission.due);
	assert_int_equal(s->waiting, 0);
	be(s, 6, "ed", "h:5");
	expect(s, SL_JOIN_USED);
	sl_admission_close(&s->admission);
}

TEST_WITH(names_and_addresses, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	static const struct {
		const char *name, *address;
		enum sl_join_verdict verdict;
	} cases[] = {{"ana", "h:3", SL_JOIN_NAME_TAKEN}, {"cy", "h:1", SL_JOIN_ADDRESS_TAKEN},
		     {"a b", "h:3", SL_JOIN_INVALID},	 {"cy", "h", SL_JOIN_INVALID},
		     {"../cy", "h:3", SL_JOIN_INVALID},	 {"cy\n- {id: 9", "h:3", SL_JOIN_INVALID},
		     {"cy", "h:1\"}\n", SL_JOIN_INVALID}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		be(s, 3, cases[i].name, cases[i].address);
		expect(s, cases[i].verdict);
	}
	be(s, 3, "cy", "h:3");
	expect(s, SL_JOIN_WAITING);
	invite(s, 1, false);
	be(s, 4, "cy", "h:4");
	expect(s, SL_JOIN_NAME_TAKEN);
	be(s, 4, "di", "h:3");
	expect(s, SL_JOIN_ADDRESS_TAKEN);
	be(s, 4, "di", "h:4");
	expect(s, SL_JOIN_WAITING);
	be(s, 4, "dee", "h:4"); /* it changes its mind */
	expect(s, SL_JOIN_WAITING);
	assert_true(waits(s, "cy") && waits(s, "dee") && !waits(s, "di"));
	sl_admission_close(&s->admission);
}

/* Each change is a write to the disk. */
TEST_WITH(changes_are_limited, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	char name[16];
	expect(s, SL_JOIN_WAITING);
	for (uint32_t i = 0; i < SL_JOIN_WRONG_MAX; i++) {
		snprintf(name, sizeof name, "n%u", i);
		be(s, 3, name, "h:3");
		expect(s, SL_JOIN_WAITING);
	}
	be(s, 3, "late", "h:3");
	expect(s, SL_JOIN_LATER);
	assert_int_equal(s->waiting, 1 + SL_JOIN_WRONG_MAX);
	sl_admission_close(&s->admission);
}

TEST_WITH(too_many_wait, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	char name[16], address[16];
	invite(s, 100, false);
	for (uint8_t i = 0; i < SL_WAITING_MAX; i++) {
		snprintf(name, sizeof name, "n%u", i);
		snprintf(address, sizeof address, "n:%u", i + 1);
		be(s, 10 + i, name, address);
		expect(s, SL_JOIN_WAITING);
	}
	expect(s, SL_JOIN_WAITING); /* the last one, again */
	be(s, 200, "late", "l:1");
	expect(s, SL_JOIN_FULL);
	sl_admission_close(&s->admission);
}

TEST_WITH(folder_that_cannot_be_written, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	char path[256];
	snprintf(path, sizeof path, "%s/waiting", s->folder);
	FILE *file = fopen(path, "we"); /* a file in place of the folder */
	assert_non_null(file);
	fclose(file);
	expect(s, SL_JOIN_FAILED);
	assert_non_null(strstr(s->why, "/waiting"));
	assert_non_null(strstr(s->why, strerror(ENOTDIR)));
	sl_admission_close(&s->admission);
}

TEST_WITH(damaged_invitation, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	char path[256], digits[2 * SL_INVITATION_ID_BYTES + 1];
	sodium_bin2hex(digits, sizeof digits, s->request.invitation, SL_INVITATION_ID_BYTES);
	snprintf(path, sizeof path, "%s/invitations/%s", s->folder, digits);
	assert_int_equal(truncate(path, 50), 0);
	expect(s, SL_JOIN_UNKNOWN);
	assert_non_null(strstr(s->why, digits));
	assert_non_null(strstr(s->why, "is damaged; remove it and make another invitation"));
	invite(s, 1, false);
	be(s, 3, "cy", "h:3");
	expect(s, SL_JOIN_WAITING);
	sl_admission_close(&s->admission);
}

TEST_WITH(rosters_for_members_only, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	s->request = (struct sl_join_request){.kind = SL_JOIN_ROSTER, .group = "ward"};
	expect(s, SL_JOIN_NO_MEMBER);
	memset(s->pin, 1, sizeof s->pin);
	expect(s, SL_JOIN_ADMITTED);
	sl_admission_close(&s->admission);
}

TEST_WITH(renewal, folder_setup, folder_teardown)
{
	struct scene *s = scene_open(*state);
	struct sl_identity next;
	struct sl_waiting waiting;
	char folder[256];
	snprintf(folder, sizeof folder, "%s/next", s->folder);
	assert_int_equal(sl_identity_create(folder, "bo", NULL), SL_OK);
	assert_int_equal(sl_identity_load(folder, &next, NULL), SL_OK);
	memset(s->pin, 2, sizeof s->pin);
	s->request = (struct sl_join_request){.kind = SL_JOIN_RENEW, .group = "ward"};
	memcpy(s->request.key, next.public_key, sizeof s->request.key);
	expect(s, SL_JOIN_INVALID); /* no proof */
	sl_renewal_sign(&next, s->peer.exported, s->pin, s->request.proof);
	s->peer.exported[0] ^= 1;
	expect(s, SL_JOIN_INVALID); /* of another connection */
	s->peer.exported[0] ^= 1;
	expect(s, SL_JOIN_WAITING);
	expect(s, SL_JOIN_WAITING);
	assert_int_equal(s->waiting, 1);
	assert_int_equal(sl_waiting_load(s->folder, "bo", &waiting, NULL), SL_OK);
	assert_int_equal(waiting.renews, 2);
	assert_memory_equal(waiting.pin, next.pin, SL_HASH_BYTES);
	snprintf(folder, sizeof folder, "%s/" SL_ADMIN_KEY_FILE, s->folder);
	assert_int_equal(unlink(folder), 0);
	expect(s, SL_JOIN_ELSEWHERE);
	memset(s->pin, 9, sizeof s->pin);
	sl_renewal_sign(&next, s->peer.exported, s->pin, s->request.proof);
	expect(s, SL_JOIN_NO_MEMBER);
	sl_identity_close(&next);
	sl_admission_close(&s->admission);
}

/* A plain list of learners has no group to join. */
TEST_WITH(unsigned_roster, folder_setup, folder_teardown)
{
	static struct sl_admission admission;
	const struct sl_admission_handler handler = {NULL, on_say};
	char path[256], text[512] = "", line[SL_MEMBER_TEXT_BYTES];
	for (uint8_t i = 1; i < 3; i++) {
		struct sl_member m = {.id = i, .pin = {i}};
		snprintf(m.name, sizeof m.name, "m%u", i);
		snprintf(m.address, sizeof m.address, "h:%u", i);
		sl_roster_member_text(&m, line);
		strcat(strcat(text, line), "\n");
	}
	folder_put(*state, "roster.yaml", text, strlen(text));
	snprintf(path, sizeof path, "%s/roster.yaml", (const char *)*state);
	assert_int_equal(sl_admission_open(&admission, path, &handler, NULL), SL_OK);
	assert_null(admission.roster);
	sl_admission_close(&admission);
}
