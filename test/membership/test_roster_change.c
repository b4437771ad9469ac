/* A start with another roster than that of the last commit. */
#include "test/learner/learner_fixture.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/membership/roster_copy.h"
#include "daemon/learner/restore.h"
#include "daemon/membership/roster_change.h"

TEST_WITH(one_change_is_said, learner_setup, folder_teardown)
{
	learner_member_count = 4;
	learner_expect_start(*state, 0, 0, false, NULL);
	learner_member_count = 3;
	learner_expect_start(*state, 0, 0, false, NULL);
	learner_commit(*state, 1);
	learner_expect_start(*state, 1, 0, true, NULL);
	learner_member_count = 4;
	learner_expect_start(
		*state, 1, 0, true,
		"the roster differs from that of round 1, the last one committed here: site-4 (4)");
	learner_member_count = 2;
	learner_expect_start(*state, 1, 0, true, "the last one committed here: 3 (gone)");
}

/* A round of the previous roster, finished or fetched since: only one of the present roster counts. */
TEST_WITH(a_round_of_the_roster_before_does_not_count, learner_setup, folder_teardown)
{
	struct learner l;
	struct sl_store_round round;
	learner_commit(*state, 1);
	learner_member_count = 4;
	learner_expect_started(&l, *state);
	learner_write_files(*state, 2, &round);
	round.roster[0] ^= 1;
	assert_int_equal(sl_store_commit_round(l.daemon.store, &round, NULL), SL_OK);
	learner_finish(&l);
	learner_expect_start(
		*state, 2, 0, true,
		"the roster differs from that of round 2, the last one committed here: site-4 (4)");
	learner_commit(*state, 3);
	learner_expect_started(&l, *state);
	learner_expect_said(&l, "the roster is not that of", false);
	learner_finish(&l);
}

TEST_WITH(two_changes_are_confirmed, learner_setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	learner_commit(*state, 1);
	learner_member_count = 4;
	learner_members[1].pin[5] ^= 1;
	learner_expect_refused(
		*state, SL_ERR_REFUSED,
		"roster.yaml: 2 learners were added, removed or given another key since round 1 committed: "
		"site-2 (2), site-4 (4); if this "
		"is meant, start once with --set accept_roster=12345678");
	static const char *const given[] = {"12345678", "123456789a", "12345679"};
	for (int i = 0; i < 3; i++) {
		learner_configure(&l, *state);
		strcpy(l.settings.accept_roster, given[i]);
		assert_int_equal(learner_start(&l, &error), i < 2 ? SL_OK : SL_ERR_REFUSED);
		learner_finish(&l);
	}
}

/* Write the copy of the last start: the members as a plain list or signed. */
static void put_copy(const char *folder, bool is_signed)
{
	struct sl_group group = {
		.name = "ward", .version = 1, .start = 2, .next_id = 1, .required = 1, .admin_count = 1};
	uint8_t key[SL_SECRET_KEY_BYTES];
	char line[SL_MEMBER_TEXT_BYTES];
	size_t bytes;
	crypto_sign_keypair(group.admins[0], key);
	FILE *file = fopen(folder_path(folder, "roster.yaml"), "we");
	assert_non_null(file);
	for (uint32_t i = 0; i < 2; i++) {
		struct sl_member m = learner_members[i];
		snprintf(m.address, sizeof m.address, "h:%u", i + 1);
		assert_int_equal(sl_group_add(&group, &m, NULL), SL_OK);
		sl_roster_member_text(&m, line);
		if (!is_signed)
			fprintf(file, "%s\n", line);
	}
	sl_group_sign(&group, key);
	char *text = sl_group_text(&group, &bytes);
	if (is_signed)
		fputs(text, file);
	free(text);
	fclose(file);
	sl_group_close(&group);
}

/* Admins sign one change after the other; between a plain roster and a signed one, there may be several. */
TEST_WITH(signed_after_a_plain_one, learner_setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	learner_commit(*state, 1);
	learner_member_count = 4;
	learner_members[1].pin[5] ^= 1;
	for (int i = 0; i < 3; i++) {
		if (i < 2)
			put_copy(*state, i == 0);
		else
			remove(folder_path(*state, "roster.yaml"));
		learner_configure(&l, *state);
		strcpy(l.daemon.members.group.name, "ward");
		assert_int_equal(sl_restore_store(&l.daemon, false, &error), SL_OK);
		assert_int_equal(sl_roster_copy_check(&l.daemon.members, &error),
				 i == 1 ? SL_ERR_REFUSED : SL_OK);
		learner_finish(&l);
	}
}

static void expect_kept(const struct learner *l, const uint8_t hash[static SL_HASH_BYTES], int code,
			const char *text)
{
	struct sl_error error = {0};
	assert_int_equal(sl_roster_copy_keep(&l->daemon.members, hash, &error), code);
	assert_string_equal(error.text, text);
}

/* The copy of the roster of a round is kept under its hash, once, and that of no other round. */
TEST_WITH(the_roster_of_a_round_is_kept, learner_setup, folder_teardown)
{
	static const uint8_t other[SL_HASH_BYTES] = {1};
	struct learner l;
	struct sl_group copy;
	char name[2 * SL_HASH_BYTES + 1], file[sizeof name + 16], kept[PATH_MAX], said[PATH_MAX + 64];
	learner_configure(&l, *state);
	put_copy(*state, true);
	expect_kept(&l, other, SL_OK, "");
	assert_int_equal(folder_count(*state), 1);
	assert_int_equal(sl_group_load(folder_path(*state, "roster.yaml"), &copy, NULL), SL_OK);
	sodium_bin2hex(name, sizeof name, copy.roster.hash, SL_HASH_BYTES);
	snprintf(file, sizeof file, "rosters/%s.yaml", name);
	snprintf(kept, sizeof kept, "%s", folder_path(*state, file));
	folder_put(*state, "rosters", "", 0);
	snprintf(said, sizeof said, "%s: Not a directory", kept);
	expect_kept(&l, copy.roster.hash, SL_ERR_IO, said);
	remove(folder_path(*state, "rosters"));
	for (int i = 0; i < 2; i++) { /* then there is no other to be had */
		struct sl_group again;
		expect_kept(&l, copy.roster.hash, SL_OK, "");
		assert_int_equal(sl_group_load(kept, &again, NULL), SL_OK);
		assert_memory_equal(again.roster.hash, copy.roster.hash, SL_HASH_BYTES);
		assert_true(sl_group_is_signed(&again));
		sl_group_close(&again);
		remove(folder_path(*state, "roster.yaml"));
	}
	sl_group_close(&copy);
	learner_finish(&l);
}

/* --check finds the same beside a learner that runs, and before the first start; it counts no start and
 * leaves nothing. */
TEST_WITH(a_check_finds_two_changes, learner_setup, folder_teardown)
{
	struct learner l, running;
	struct sl_error error;
	assert_int_equal(learner_look(&l, *state, &error), SL_OK);
	assert_null(l.daemon.store);
	assert_int_equal(folder_count(*state), 0);
	learner_finish(&l);
	learner_commit(*state, 1);
	learner_expect_started(&running, *state);
	uint32_t starts = sl_store_incarnation(running.daemon.store);
	size_t files = folder_count(*state);
	learner_member_count = 4;
	assert_int_equal(learner_look(&l, *state, &error), SL_OK);
	learner_finish(&l);
	learner_members[1].pin[5] ^= 1;
	assert_int_equal(learner_look(&l, *state, &error), SL_ERR_REFUSED);
	assert_non_null(strstr(error.text, "2 learners were added, removed or given another key since round "
					   "1 committed: site-2 (2), site-4 (4)"));
	strcpy(l.settings.accept_roster, "12345678");
	assert_int_equal(
		sl_roster_change_check(l.daemon.store, &l.daemon.members.roster, &l.settings, &error), SL_OK);
	learner_finish(&l);
	assert_int_equal(folder_count(*state), files);
	learner_finish(&running);
	learner_members[1].pin[5] ^= 1;
	learner_member_count = 3;
	learner_expect_started(&running, *state);
	assert_int_equal(sl_store_incarnation(running.daemon.store), starts + 1);
	learner_finish(&running);
}
