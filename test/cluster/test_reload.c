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

CLUSTER_TEST(a_failed_start_is_in_the_log)
{
	cluster_open(c, 3, "rounds=1");
	cluster_start(c, 1, "roster=../none.yaml");
	assert_int_equal(cluster_wait(c, 1), 2);
	assert_int_equal(cluster_count(c, 1, "\"event\":\"fatal\""), 1);
	assert_int_equal(cluster_count(c, 1, "none.yaml"), 1);
}
