/* Learners that are lost for good after the release: one does not hold up its round; all but one do, until an
 * operator aborts the attempt. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/cluster.h"
#include "tools/lib/control_query.h"

#define N 4u

/* Tell the learner with this control socket that all are in range. */
static void *tell_range(void *path)
{
	return sl_control_query(
		path, json_pack("{s:s, s:i, s:[i, i, i, i]}", "op", "range", "step", 1, "peers", 1, 2, 3, 4),
		20);
}

/* The learners look for each other once all listen, so that none is left out of the round. Those from `first`
 * on are killed after they have released. */
static void open_and_lose(struct cluster *c, uint32_t first)
{
	char sockets[N][PATH_MAX];
	pthread_t threads[N];
	void *reply;
	cluster_open(c, N, "rounds=1 quorum=majority serve_after_end=1 stall_timeout=5");
	c->usual = "";
	for (uint32_t i = 1; i <= N; i++)
		if (i < first)
			cluster_start(c, i, "");
		else
			cluster_start_failing(c, i, "after-released");
	cluster_expect_all(c, "\"event\":\"listening\"");
	for (uint32_t i = 0; i < N; i++) { /* all at once */
		snprintf(sockets[i], PATH_MAX, "%s", cluster_path(c, i + 1, "control.sock"));
		assert_int_equal(pthread_create(&threads[i], NULL, tell_range, sockets[i]), 0);
	}
	for (uint32_t i = 0; i < N; i++) {
		pthread_join(threads[i], &reply);
		assert_non_null(reply);
		json_decref(reply);
	}
	for (uint32_t i = first; i <= N; i++)
		assert_int_equal(cluster_wait(c, i), 128 + SIGKILL);
}

static void expect_abort(struct cluster *c, const char *round, const char *yes, int status, const char *out,
			 const char *err)
{
	process_run(&c->outcome, NULL,
		    (const char *const[]){STARLING_PATH, "abort", "--round", round, "--run", c->run.path, yes,
					  NULL});
	expect_outcome(c, status, out, err);
}

/* Its neighbours have its deposit, and enough of them its key. */
CLUSTER_TEST(a_lost_learner_does_not_hold_up_its_round)
{
	open_and_lose(c, N);
	cluster_finish(c);
	for (uint32_t i = 1; i < N; i++)
		cluster_expect(c, i, "round 1 committed: 4 learners");
}

/* One that is left has one share of each key, and nobody else can be asked. */
CLUSTER_TEST(lost_learners_hold_up_their_round_until_it_is_aborted)
{
	open_and_lose(c, 2);
	cluster_expect(c, 1, "no linked learner has the deposit or the deposit key of learner-02 (2), ");
	expect_abort(c, "1", NULL, 2, "", "confirm with --yes");
	expect_abort(c, "2", "--yes", 1, "", "learner-01: this learner is in another round");
	cluster_signal(c, 1, SIGSTOP);
	expect_abort(c, "1", "--yes", 1, "", "learner-01: does not answer; left out");
	cluster_signal(c, 1, SIGCONT);
	expect_abort(c, "1", "--yes", 0, "learner-01: attempt ", "learner-04: not running");
	expect_outcome(c, 0, " of round 1 is aborted",
		       ", RECOVER; no linked learner has the deposit or the deposit key of learner-02 (2)");
	cluster_expect(c, 1, "\"event\":\"model_invalidated\"");
	cluster_end(c, 1);
	strcpy(c->run.path, "/proc/self");
	expect_abort(c, "1", "--yes", 2, "", "no learner in it: no NAME/control.sock");
}

/* The status names the awaited learners in every phase. */
CLUSTER_TEST(a_learner_that_waits_for_others_names_them)
{
	cluster_open(c, N, "rounds=1");
	cluster_start(c, 1, "");
	cluster_expect(c, 1, "\"event\":\"waiting\"");
	expect_abort(c, "1", "--yes", 1, "",
		     ", DISCOVER; waits for learner-02 (2), learner-03 (3), learner-04 (4)");
	expect_outcome(c, 1, "", "no attempt of that round is open here");
	cluster_end(c, 1);
}

/* A learner that is killed and comes back only delays the round. */
CLUSTER_TEST(one_that_comes_back_ends_the_pause)
{
	open_and_lose(c, N);
	for (uint32_t i = 1; i < N; i++)
		cluster_expect(c, i, "\"event\":\"recovering\"");
	cluster_start(c, N, "neighbours=roster");
	cluster_finish(c);
	cluster_expect_all(c, "round 1 committed: 4 learners");
	cluster_expect(c, N, "this learner had released its deposit key");
	expect_abort(c, "1", "--yes", 1, "", "learner-01: not running");
}
