/* SIGHUP lets a learner read its files again; a start that fails is in the log. */
#include <signal.h>

#include "test/lib/cluster.h"

/* The log is rotated. A file that cannot be read changes nothing. */
CLUSTER_TEST(hangup_opens_the_log_anew)
{
	cluster_open(c, 3, "rounds=1");
	cluster_start(c, 1, "");
	cluster_expect(c, 1, "\"event\":\"waiting\"");
	cluster_shell(c, "mv learner-01/log.jsonl learner-01/old.jsonl; : >learner-01/log.jsonl; "
			 "cp learner-01/config.yaml kept");
	cluster_signal(c, 1, SIGHUP);
	cluster_expect(c, 1, "the log is reopened at level debug; the roster is the same\"");
	cluster_shell(c, "cp kept learner-01/config.yaml; echo 'log_level: loud' >>learner-01/config.yaml");
	cluster_signal(c, 1, SIGHUP);
	cluster_expect(c, 1, "nothing was read again: ");
	cluster_shell(c,
		      "cp kept learner-01/config.yaml; echo 'serve_after_end: 3' >>learner-01/config.yaml");
	cluster_signal(c, 1, SIGHUP);
	cluster_expect(c, 1,
		       "the roster is the same; restart this learner for what else has changed: "
		       "serve_after_end");
	assert_int_equal(cluster_count(c, 1, "\"event\":\"listening\""), 0); /* in the other file */
	cluster_stop(c);
}

/* One member may go; two at once are likely a mistake. */
CLUSTER_TEST(hangup_takes_the_roster)
{
	cluster_open(c, 5, "rounds=1 quorum=majority");
	cluster_start(c, 1, "");
	cluster_expect(c, 1, "\"event\":\"waiting\"");
	cluster_shell(c, "cp roster.yaml kept; sed -i '/id: [45],/d' roster.yaml");
	cluster_signal(c, 1, SIGHUP);
	cluster_expect(c, 1, "nothing was read again: ");
	cluster_shell(c, "sed '/id: 5,/d' kept >roster.yaml");
	cluster_signal(c, 1, SIGHUP);
	cluster_expect(c, 1, "start number 2 of this learner");
	cluster_stop(c);
}

/* .. and settings that all share: with the smaller quorum, the others go on without learner 4. */
CLUSTER_TEST(hangup_takes_shared_settings)
{
	cluster_open(c, 4, "rounds=100000 quorum=all");
	cluster_start_all(c, "");
	cluster_expect(c, 4, "\"event\":\"committed\"");
	cluster_shell(c, "ln -s config.yaml learner-01/starlingd.yaml; chmod 640 roster.yaml; " STARLING_PATH
			 " group set quorum 3 --folder learner-01; test $(stat -c %a roster.yaml) = 640");
	for (uint32_t i = 2; i <= 4; i++)
		cluster_signal(c, i, SIGHUP);
	cluster_expect_all(c, "start number 2 of this learner");
	cluster_expect(c, 4, "\"event\":\"listening\"");
	cluster_signal(c, 4, SIGKILL);
	cluster_expect(c, 1, "committed: 3 learners");
	cluster_stop(c);
}

CLUSTER_TEST(a_failed_start_is_in_the_log)
{
	cluster_open(c, 3, "rounds=1");
	cluster_start(c, 1, "roster=../none.yaml");
	assert_int_equal(cluster_wait(c, 1), 2);
	assert_int_equal(cluster_count(c, 1, "\"event\":\"fatal\""), 1);
	assert_int_equal(cluster_count(c, 1, "none.yaml"), 1);
}
