/* Settings of a group that change while rounds go on (GROUP.md §12.1): `starling group set`. */
#include <signal.h>
#include <stdio.h>

#include "test/cluster/group.h"

#define PRIVATE                                                                                              \
	"--set trainer=noise --set noise_parameters=20 --set dp=learner --set dp_clip=1 --set dp_noise=20 "  \
	"--set dp_epsilon=40 --set dp_delta=0.01"

/* Return true if `starling status` of learner i says that the run has `rounds` rounds. */
static bool has_rounds(const struct cluster *c, uint32_t i, const char *rounds)
{
	struct outcome o;
	char arguments[160];
	snprintf(arguments, sizeof arguments, "status --json learner-%02u | grep -q '\"rounds\": *%s[,}]'", i,
		 rounds);
	group_run(c, &o, arguments);
	return o.status == 0;
}

static void expect_status(const struct cluster *c, uint32_t n, const char *rounds)
{
	double end = process_now() + PATIENCE_S;
	for (uint32_t i = 1; i <= n; i++)
		while (!has_rounds(c, i, rounds)) {
			if (process_now() > end)
				fail_msg("learner %u does not have %s rounds", i, rounds);
			process_look_again();
		}
}

/* Every learner takes the changed settings between two rounds. With the smaller quorum, the others go on
 * without a learner; a signature is needed; and what cannot change is refused. */
CLUSTER_TEST(settings_changed_in_mid_run)
{
	group_create_all(c, 4, 4, "--set quorum=all");
	group_done(c, "group set quorum 3 straggler_timeout 5 rounds 90000 --folder learner-01 >said");
	group_printed(c, "Changed: quorum: 3, straggler_timeout: 5, rounds: 90000; version ");
	expect_status(c, 4, "90000");
	group_all_rounds(c, 4, 2);
	group_done(c, "group list --folder learner-04 >said");
	group_printed(c, "quorum: 3");
	group_printed(c, "straggler_timeout: 5");
	cluster_shell(c, "sed 's/quorum: \"3\"/quorum: \"4\"/' learner-04/roster.yaml >changed; "
			 "cp changed learner-04/roster.yaml");
	group_refused(c, "reload learner-04", 1, "not signed by its admin");
	cluster_shell(c, "cp learner-01/roster.yaml learner-04/");
	cluster_signal(c, 4, SIGKILL);
	group_all_rounds(c, 3, 2);
	group_refused(c, "group set rounds 1 --folder learner-01", 2,
		      "rounds have committed; set a larger number");
	group_refused(c, "group set hidden_units 9 --folder learner-01", 2,
		      "hidden_units cannot change once rounds have begun");
	group_refused(c, "group set values update --folder learner-01", 2,
		      "values were averaged with decimals, and would be averaged without decimals");
	group_done(c, "group set forgetful yes quorum majority --folder learner-01");
	group_all_rounds(c, 3, 2);
	group_done(c, "group set membership_change wait --folder learner-01 2>said");
	cluster_shell(c, "! grep took said");
	group_done(c, "group set quorum all --folder learner-01 2>said");
	group_printed(c, "If fewer than 4 learners took part in the last rounds");
	group_printed(c, "set quorum to 3 again");
	cluster_stop(c);
}

/* The last round becomes an earlier one; when it is over, the run goes on. */
CLUSTER_TEST(rounds_changed_at_the_end)
{
	char arguments[128];
	group_create_all(c, 4, 4, "--set quorum=3 --set serve_after_end=600");
	cluster_end(c, 4);
	group_all_rounds(c, 3, 1);
	snprintf(arguments, sizeof arguments, "group set rounds %d --folder learner-01",
		 cluster_committed(c, 1) + 4);
	group_done(c, arguments);
	cluster_expect(c, 1, "\"phase\":\"DONE\"");
	group_done(c, "group set rounds 100000 --folder learner-01");
	cluster_start(c, 4, "");
	group_all_rounds(c, 4, 2);
	cluster_stop(c);
}

/* Learner 2 dies in an attempt, and the settings change. It ends the attempt with those of before. */
CLUSTER_TEST(settings_changed_while_a_learner_was_in_an_attempt)
{
	group_create_all(c, 5, 5, "--set stall_timeout=4");
	group_die_in_attempt(c, 2);
	group_done(c, "group set forgetful yes quorum 4 rounds 90000 --folder learner-01");
	expect_status(c, 1, "90000");
	group_rounds(c, 1, 2);
	cluster_shell(c, "cp learner-01/roster.yaml learner-02/");
	cluster_start(c, 2, "");
	cluster_expect(c, 2, "\"event\":\"past_roster\"");
	group_all_rounds(c, 5, 2);
	cluster_stop(c);
}

/* ---- differential privacy ---- */

/* Change settings, and expect of all learners charges that say `text`, and rounds. */
static void expect_changed(struct cluster *c, const char *settings, const char *text)
{
	char arguments[128];
	snprintf(arguments, sizeof arguments, "group set %s --folder learner-01", settings);
	group_done(c, arguments);
	for (uint32_t i = 1; i <= 4; i++)
		if (!process_expect(cluster_path(c, i, "log.jsonl"), "\"event\":\"charged\"", text))
			fail_msg("learner %u has charged nothing with %s", i, text);
	group_all_rounds(c, 4, 2);
}

/* Budget, noise and clip change between two rounds; what was spent stays spent. No learner is left with
 * settings that no round could have. At last, less is allowed than was spent. */
CLUSTER_TEST(privacy_changed_in_mid_run)
{
	static const char *const impossible[][2] = {
		{"dp_noise 0.01", "dp_noise: 0.01 spends more than dp_epsilon: 50 in one round"},
		{"dp_delta 0.25", "dp_delta: 0.25 must be below one in 4"},
		{"dp_epsilon none dp_noise auto", "dp needs dp_epsilon, the budget, or dp_noise"},
		{"dp off dp_clip none dp_noise auto dp_epsilon none dp_delta none",
		 "dp cannot change once rounds have begun"},
	};
	char arguments[128];
	group_create_all(c, 4, 4, PRIVATE);
	expect_changed(c, "dp_epsilon 50", " of 50 is spent, at delta 0.01");
	for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
		snprintf(arguments, sizeof arguments, "group set %s --folder learner-01", impossible[i][0]);
		group_refused(c, arguments, 2, impossible[i][1]);
	}
	expect_changed(c, "dp_delta 0.02 dp_noise 30", " of 50 is spent, at delta 0.02");
	expect_changed(c, "dp_clip 2 dp_noise auto dp_epsilon 60", " of 60 is spent");
	for (uint32_t i = 1; i <= 4; i++)
		assert_int_equal(cluster_count(c, i, "\"event\":\"fatal\""), 0);
	group_done(c, "group set dp_epsilon 0.1 --folder learner-01");
	cluster_expect_all(c, "\"event\":\"budget_spent\"");
	cluster_finish(c);
}
