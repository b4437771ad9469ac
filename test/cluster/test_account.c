/* The accounts of a run: each learner's can be verified by others, also after it was killed between the
 * commit of a round and its record (ROUND.md §14.6). */
#include <signal.h>
#include <stdio.h>

#include "test/cluster/group.h"

#define N 4u
#define KILLED 2u

static void account(const struct cluster *c, const char *rest)
{
	char command[512];
	snprintf(command, sizeof command, STARLING_PATH " account %s", rest);
	cluster_shell(c, command);
}

CLUSTER_TEST(one_is_killed_before_its_record)
{
	cluster_open(c, N, "rounds=4 weighting=samples max_weight=100000 stall_timeout=60");
	for (uint32_t i = 1; i <= N; i++)
		cluster_start_failing(c, i, i == KILLED ? "before-account:2" : "");
	assert_int_equal(cluster_wait(c, KILLED), 128 + SIGKILL);
	cluster_start(c, KILLED, "");
	cluster_finish(c);
	for (uint32_t i = 1; i <= N; i++) {
		char command[256];
		snprintf(command, sizeof command, "export . --learner learner-%02u --output account-%u", i,
			 i);
		account(c, command);
		snprintf(command, sizeof command, "verify --roster roster.yaml account-%u >verified-%u", i,
			 i);
		account(c, command);
	}
	/* All have the same rounds, of which each names the bound of the weights. */
	cluster_shell(c, "test $(grep -h '^4 records of learner .*, up to round 4: as they were signed$' "
			 "verified-* | wc -l) = 4");
	cluster_shell(c, "test $(sed -n 's/.*\"digest\":\"\\([0-9a-f]*\\)\",\"model\".*/\\1/p' account-* | "
			 "sort | uniq -c | grep -c '^ *4 ') = 4");
	cluster_shell(c, "test $(grep -h '\"most_weight\":400000,\"dp\"' account-* | wc -l) = 16");
	cluster_shell(c,
		      "model=$(sed -n '5s/.*\"model\":\"\\([0-9a-f]*\\)\",\"program\".*/\\1/p' account-1); "
		      "grep -q \"checksum.*$model\" learner-03/state/checkpoints/round-000004.safetensors");
	cluster_shell(c,
		      "hash=$(cd learner-01; " STARLINGD_PATH " --config config.yaml --check | "
		      "sed -n 's/^hash of the roster: //p'); "
		      "test $(grep -hc \"^rounds 1 to 4: roster $hash, which was given, with its settings$\" "
		      "verified-1) = 1");
	/* The number of starts of a participant is changed. */
	cluster_shell(c,
		      "sed '3s/\"participants\":\\[\\[1,1\\]/\"participants\":[[1,2]/' account-3 >changed; "
		      "! cmp -s account-3 changed");
	account(c, "verify --roster roster.yaml changed >found || test $? = 1");
	cluster_shell(c, "grep -q '^round 2 (record 2, line 3): ' found");
	account(c, "export learner-02 --round 2 >one; test $(wc -l <one) = 3");
	account(c, "verify --roster roster.yaml one >found; grep -q 'record of learner 2 ' found");
}

/* A learner keeps the rosters of its rounds, and no others: with them, its account is verified after the
 * group was changed. */
CLUSTER_TEST(the_group_is_changed)
{
	group_create_all(c, 3, 3, "");
	group_all_rounds(c, 3, 1);
	group_done(c, "group set straggler_timeout 5 --folder learner-01");
	group_all_rounds(c, 3, 3); /* the first may be of the roster before */
	group_done(c, "group rotate --folder learner-01");
	cluster_expect(c, 1, "a round has committed under the new key: the old one is deleted");
	group_done(c, "backup learner-01");
	group_done(c, "backup learner-01"); /* in place of the first one */
	cluster_stop(c);
	account(c, "export learner-01 --output account-1");
	account(c, "verify --roster learner-01/roster.yaml account-1 >found || test $? = 1");
	cluster_shell(c, "grep -q 'is none of those given' found");
	account(c, "verify --roster learner-01/state/rosters account-1 >verified");
	cluster_shell(c, "test $(grep -c 'which was given, with its settings$' verified) = 3");
	cluster_shell(c,
		      "sed -n 's/.*\"roster\":\"\\([0-9a-f]*\\)\".*/\\1.yaml/p' account-1 | sort -u >used; "
		      "ls learner-01/state/rosters | sort | cmp - used");
	cluster_shell(c, "cd learner-01/state; diff -r rosters backup/rosters; stat -c %a backup/rosters | "
			 "grep -qx 700");
}
