/* How a launched cluster ends: nobody is left behind, and what happened is said. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/cluster/cluster.h"
#include "test/lib/test.h"

struct running {
	struct cluster c;
	pid_t pid;
	char log[192];
};

static void begin(struct running *r, const char *learners, const char *topology, const char *option)
{
	process_folder(r->c.folder, sizeof r->c.folder);
	snprintf(r->c.run, sizeof r->c.run, "%s/run", r->c.folder);
	snprintf(r->log, sizeof r->log, "%s/launch.txt", r->c.folder);
	const char *argv[] = {
		process_starling(), "launch",	  "-n",	    learners, "--rounds", "1000", "--run-dir",
		r->c.run,	    "--topology", topology, "--set",  "hidden=1", option, NULL};
	r->pid = process_start(NULL, r->log, argv);
}

static void wait_round(struct running *r, uint32_t n)
{
	char path[512];
	cluster_path(&r->c, n, 1, "log.jsonl", path, sizeof path);
	assert_true(process_expect(path, "\"event\":\"committed\"", 60));
}

TEST(interrupt_leaves_nobody)
{
	struct running r;
	begin(&r, "4", "complete", NULL);
	wait_round(&r, 4);
	kill(r.pid, SIGINT);
	assert_int_equal(process_wait(r.pid, 30), 130);
	assert_false(process_alive(r.c.folder));
	process_remove(r.c.folder);
}

TEST(killed_learner_is_named)
{
	struct running r;
	begin(&r, "4", "complete", "--no-restart");
	wait_round(&r, 4);
	cluster_kill(&r.c, 4, 3, SIGKILL);
	assert_int_equal(process_wait(r.pid, 60), 1);
	assert_true(process_count(r.log, "learner-03") > 0);
	assert_false(process_alive(r.c.folder));
	process_remove(r.c.folder);
}

TEST(killed_launcher_takes_its_learners_along)
{
	struct running r;
	char path[512];
	begin(&r, "4", "complete", NULL);
	wait_round(&r, 4);
	kill(r.pid, SIGKILL);
	process_wait(r.pid, 10);
	for (uint32_t i = 1; i <= 4; i++) {
		cluster_path(&r.c, 4, i, "log.jsonl", path, sizeof path);
		assert_true(process_expect(path, "\"event\":\"stopping\"", 30));
	}
	for (int i = 0; i < 500 && process_alive(r.c.folder); i++)
		usleep(20000);
	assert_false(process_alive(r.c.folder));
	process_remove(r.c.folder);
}

/* Steps 2 and 3 are disconnected: they pass, and the run goes on. */
TEST(disconnected_steps_pass)
{
	struct cluster c;
	cluster_launch_on(&c, 120, "learners 4\nstep 1-2 2-3 3-4 1-4\nstep 1-2 3-4\nstep\nstep 1-2 1-3 1-4\n",
			  "-n 4 --rounds 2 --verify --step-seconds 2 --set hidden=1 --set gate=warn");
	cluster_expect_exact(&c, 2, true);
	assert_int_equal(cluster_real(&c, 0, "edges"), 4);
	assert_int_equal(cluster_real(&c, 1, "edges"), 3);
	cluster_close(&c);
}

/* A model that outgrows its clip ends the run with the learner, the phase and the number. */
TEST(model_above_clip_ends_the_run)
{
	struct cluster c;
	cluster_launch(&c, 60, "-n 3 --rounds 3 --set hidden=1 --set clip=0.01");
	assert_int_equal(c.outcome.status, 1);
	assert_non_null(strstr(c.outcome.err, "clip"));
	assert_non_null(strstr(c.outcome.err, "learner-0"));
	assert_non_null(strstr(c.outcome.err, "SHARE"));
	assert_false(process_alive(c.folder));
	cluster_close(&c);
}
