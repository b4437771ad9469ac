/* A start with another roster than that of the last commit. */
#include "test/learner/learner_fixture.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <string.h>

#include "daemon/learner/roster_change.h"

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
		"roster.yaml: 2 members came, went or have another key since round 1 committed: "
		"site-2 (2), site-4 (4); if "
		"that is meant, start once with --set accept_roster=12345678");
	static const char *const given[] = {"12345678", "123456789a", "12345679"};
	for (int i = 0; i < 3; i++) {
		learner_configure(&l, *state);
		strcpy(l.settings.accept_roster, given[i]);
		assert_int_equal(learner_start(&l, &error), i < 2 ? SL_OK : SL_ERR_REFUSED);
		learner_finish(&l);
	}
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
	assert_non_null(strstr(
		error.text,
		"2 members came, went or have another key since round 1 committed: site-2 (2), site-4 (4)"));
	strcpy(l.settings.accept_roster, "12345678");
	assert_int_equal(sl_roster_change_check(l.daemon.store, &l.daemon.roster, &l.settings, &error),
			 SL_OK);
	learner_finish(&l);
	assert_int_equal(folder_count(*state), files);
	learner_finish(&running);
	learner_members[1].pin[5] ^= 1;
	learner_member_count = 3;
	learner_expect_started(&running, *state);
	assert_int_equal(sl_store_incarnation(running.daemon.store), starts + 1);
	learner_finish(&running);
}
