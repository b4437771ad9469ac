/* Daemons without a launcher: how learners find each other, and how they name one that does not fit. */
#include <signal.h>

#include "test/lib/cluster.h"

#define N 3u

static void run_all(struct cluster *c, const char *settings)
{
	cluster_start_all(c, settings);
	cluster_finish(c);
}

/* As the README tells it: identities and roster of `starling keygen`. Started again for two more rounds, the
 * learners continue from their checkpoints. */
CLUSTER_TEST(three_by_hand_commit_and_continue)
{
	cluster_open(c, N, "rounds=2");
	cluster_shell(c, "head -n 2 roster.yaml >by-hand.yaml; for i in 1 2 3; do cd learner-0$i; rm -r "
			 "identity; " STARLING_PATH " keygen --id $i --name site-$i --address $(grep \"id: "
			 "$i,\" ../roster.yaml | cut -d '\"' -f 2)"
			 " >>../by-hand.yaml; cd ..; done");
	run_all(c, "roster=../by-hand.yaml");
	run_all(c, "roster=../by-hand.yaml rounds=4");
	for (uint32_t i = 1; i <= N; i++)
		assert_int_equal(cluster_committed(c, i), 4);
	assert_int_equal(cluster_expect_exact(c), 4);
	/* The rosters that they keep have the settings, which the list has not. */
	cluster_shell(c, STARLING_PATH " account export . --learner learner-01 --output account");
	cluster_shell(c, STARLING_PATH " account verify --roster learner-01/state/rosters account >verified; "
				       "test $(grep -c 'which was given, with its settings$' verified) = 2");
}

/* Started seconds apart, the dials of the first have backed off: still every link stands in the first round.
 */
CLUSTER_TEST(staggered_start_misses_no_edge)
{
	cluster_open(c, N, "rounds=1");
	cluster_start(c, 1, "");
	cluster_expect(c, 1, "waiting for learner-02 (2), learner-03 (3)");
	cluster_start(c, 2, "");
	cluster_expect(c, 1, "the quorum is 3; missing: learner-03 (3)");
	cluster_start(c, 3, "");
	cluster_finish(c);
	assert_int_equal(cluster_count(c, 1, "3 learners, 3 edges"), 1);
}

/* Where waiting alone does not help, the log, the status and /healthz say what is missing, and the remedy. */
CLUSTER_TEST(an_obstacle_is_said_with_its_remedy)
{
	const char *alone = "1 of 3 learners is connected, and the quorum is 2; missing: learner-02 (2), "
			    "learner-03 (3): start them, or check their links",
		   *few = "since the last attempt was refused: 2 learners are too few for tolerance 1",
		   *rest = "at least 3 must take part; not connected: learner-03 (3)";
	cluster_open(c, N, "rounds=1 quorum=2 privacy_check=enforce");
	cluster_start(c, 1, "");
	cluster_expect(c, 1, alone);
	cluster_start(c, 2, "");
	cluster_expect(c, 1, few);
	cluster_expect(c, 1, rest);
	cluster_shell(c, STARLING_PATH " status --control learner-01/control.sock >status.txt || true; "
				       "grep -q 'at least 3 must take part; not connected' status.txt");
	cluster_start(c, 3, "");
	cluster_finish(c);
}

/* Learner 2 has another key than the others' rosters say. 1 refuses what answers in its place, 3, which has
 * another address for 2, what connects. Each says so once, however often they try. */
CLUSTER_TEST(another_key_is_refused_once)
{
	cluster_open(c, N, "rounds=1");
	cluster_shell(c,
		      "sed '/id: 2,/s/127.0.0.1:[0-9]*/127.0.0.1:1/' roster.yaml >third.yaml; cp roster.yaml "
		      "own.yaml; "
		      "cd learner-02; rm -r identity; " STARLING_PATH
		      " keygen --id 2 --name learner-02 --address 127.0.0.1:1 >line; "
		      "key=$(sed 's/.*key: //' line); sed -i \"/id: 2,/s/key: .*/key: $key/\" ../own.yaml");
	cluster_start(c, 2, "roster=../own.yaml");
	cluster_expect(c, 2, "\"event\":\"listening\"");
	cluster_start(c, 1, "");
	cluster_start(c, 3, "roster=../third.yaml");
	cluster_expect(c, 1, "answered for learner-02 (2) with another key");
	cluster_expect(c, 3, "a key that is not in the roster");
	cluster_expect(c, 2, "\"event\":\"waiting\""); /* it has tried several times by then */
	assert_int_equal(cluster_count(c, 1, "answered for learner-02 (2) with another key"), 1);
	assert_int_equal(cluster_count(c, 3, "a key that is not in the roster"), 1);
	cluster_stop(c);
}

/* ---- learners that do not fit ---- */

/* All but learner `odd` log `theirs`, that one logs `own`; none commits. */
static void expect_named(struct cluster *c, uint32_t odd, const char *theirs, const char *own)
{
	int before = cluster_committed(c, 1);
	for (uint32_t i = 1; i <= c->run.learners; i++)
		cluster_expect(c, i, i == odd ? own : theirs);
	cluster_stop(c);
	assert_int_equal(cluster_committed(c, 1), before);
}

CLUSTER_TEST(a_shared_setting_of_its_own_is_refused)
{
	cluster_open(c, N, "rounds=1");
	cluster_shell(c, "echo 'max_degree: 8' >>learner-02/config.yaml");
	cluster_start(c, 2, "");
	assert_int_equal(cluster_wait(c, 2), 2);
	cluster_shell(c, "grep 'config.yaml:.*: max_degree is one for all learners and stands in the roster: "
			 ".*/roster.yaml has 16 (the default), not 8' learner-02/stderr.txt");
}

/* The models have equally many elements. */
CLUSTER_TEST(differing_model_is_named)
{
	cluster_open(c, N, "rounds=1 noise_parameters=2354");
	for (uint32_t i = 1; i <= N; i++)
		cluster_start(c, i, i == 2 ? "trainer=noise" : "");
	expect_named(c, 2, "learner-02 (2) trains another model: tensor model is there, and not here",
		     " trains another model: tensor encoder.weight is there, and not here");
}

CLUSTER_TEST(other_roster_is_named)
{
	cluster_open(c, N + 1, "rounds=1");
	cluster_shell(c, "sed '/id: 4,/d' roster.yaml >three.yaml");
	for (uint32_t i = 1; i <= N; i++)
		cluster_start(c, i, i == 3 ? "quorum=3" : "roster=../three.yaml");
	c->run.learners = N; /* the fourth is only in the roster of learner 3 */
	expect_named(c, 3, "learner-03 (3) has another roster or other shared settings: 4 learners (",
		     "has another roster or other shared settings: 3 learners (");
}

/* The members are the same, but not the settings of the learners' own files, which the hash covers. */
CLUSTER_TEST(other_settings_of_a_roster_are_named)
{
	cluster_open(c, N, "rounds=1");
	cluster_shell(c, "cp roster.yaml other.yaml");
	for (uint32_t i = 1; i <= N; i++)
		cluster_start(c, i, i == 2 ? "roster=../other.yaml max_degree=8" : "");
	cluster_expect(c, 1,
		       "waiting for learner-02 (2) to have the same roster: learner-02 (2) has another "
		       "roster or other shared settings: 3 learners (");
	expect_named(c, 2, "learner-02 (2) has another roster or other shared settings: 3 learners (",
		     "; compare roster.yaml, and starlingd.yaml if the roster has no settings");
}

/* Another checkpoint of the same round. */
CLUSTER_TEST(other_history_is_named)
{
	cluster_open(c, N, "rounds=1");
	run_all(c, "seed=2");
	cluster_shell(c, "mv learner-03/state kept; rm -r learner-0[12]/state learner-01/log.jsonl");
	cluster_start(c, 1, "seed=3"); /* one start more makes another view */
	cluster_expect(c, 1, "listening");
	cluster_signal(c, 1, SIGKILL);
	run_all(c, "seed=3");
	cluster_shell(c, "rm -r learner-03/state; mv kept learner-03/state");
	cluster_start_all(c, "rounds=3");
	expect_named(c, 3, "learner-03 (3) starts round 2 from another committed model: ",
		     " starts round 2 from another committed model: ");
}

/* ---- learners that come late ---- */

/* One that has lost its checkpoint makes it again from its result, and needs no peer. */
CLUSTER_TEST(lost_checkpoint_is_named_and_made_again)
{
	cluster_open(c, N, "rounds=2");
	run_all(c, "");
	cluster_shell(
		c, "cd learner-03/state/checkpoints; cp round-000001.safetensors round-000002.safetensors");
	cluster_start_all(c, "rounds=4");
	cluster_expect(c, 3, "its model was taken from the result of round 2");
	cluster_finish(c);
	assert_int_equal(cluster_count(c, 3, "caught up with round 2"), 0);
	cluster_expect_same_checkpoints(c, N, 2);
	cluster_expect_same_checkpoints(c, N, 4);
}

/* One that comes with an old checkpoint, and no result, is shown what it missed. */
#define STALE "learner-03 (3): it is in round 2 (its last committed model is "
CLUSTER_TEST(stale_checkpoint_is_named_and_mended)
{
	cluster_open(c, N, "rounds=2");
	run_all(c, "");
	cluster_shell(
		c, "cd learner-03/state; rm checkpoints/round-000002.safetensors result-000002.safetensors");
	cluster_start_all(c, "rounds=4");
	cluster_expect(c, 3, "caught up with round 2 from learner-");
	cluster_finish(c);
	/* A learner that is linked later finds it caught up. */
	assert_true(cluster_count(c, 1, STALE) + cluster_count(c, 2, STALE) >= 1);
	cluster_expect_same_checkpoints(c, N, 2);
	cluster_expect_same_checkpoints(c, N, 4);
}

/* 2 is killed before there is a quorum, and started again. */
CLUSTER_TEST(late_and_restarted_learners_join)
{
	cluster_open(c, N, "rounds=2");
	cluster_start(c, 1, "");
	cluster_start(c, 2, "");
	cluster_expect(c, 1, "2 of 3 learners are connected, and the quorum is 3; missing: ");
	cluster_signal(c, 2, SIGKILL);
	cluster_start(c, 3, "");
	cluster_start(c, 2, "");
	cluster_finish(c);
	assert_int_equal(cluster_expect_exact(c), 2);
}

/* Two of three are enough: the third is shown what it missed, and is in a later round. */
CLUSTER_TEST(late_learner_catches_up)
{
	cluster_open(c, N, "rounds=10000 quorum=majority privacy_check=warn epochs=20");
	cluster_start(c, 1, "");
	cluster_start(c, 2, "");
	cluster_expect(c, 1, "round 3 committed: 2 learners");
	cluster_start(c, 3, "");
	cluster_expect(c, 3, "caught up with round ");
	/* A slow learner may still be closing the round that another one has committed. */
	cluster_expect_all(c, "committed: 3 learners");
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) > 3);
}
