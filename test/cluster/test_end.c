/* How a launched cluster ends, what becomes of learners that are killed, and runs that are resumed. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/lib/cluster.h"

#define COMMITTED "\"event\":\"committed\""

static json_int_t summary_number(const struct cluster *c, const char *name)
{
	return json_integer_value(json_object_get(c->summary, name));
}

/* ---- ends ---- */

CLUSTER_TEST(killed_launcher_takes_its_learners_along)
{
	cluster_launch_start(c, "-n 4 --rounds 1000 --set hidden_units=1");
	cluster_expect(c, 1, COMMITTED);
	kill(c->launcher, SIGKILL);
	cluster_launch_wait(c);
	cluster_expect_all(c, "\"event\":\"stopping\"");
	cluster_expect_no_process(c);
}

/* A model that outgrows its clipping range ends the run with the learner, the phase and the number. */
CLUSTER_TEST(model_above_clipping_range_ends_the_run)
{
	cluster_launch(c, "-n 3 --rounds 3 --set hidden_units=1 --set clipping_range=0.01");
	expect_outcome(c, 1, "", "clipping_range");
	expect_outcome(c, 1, "", "learner-0");
	expect_outcome(c, 1, "", "SHARE");
	assert_false(process_alive(c->folder));
}

/* ---- killed, and started again ---- */

/* Two of them, while no quorum is in range: the launcher tells them their neighbours anew. */
CLUSTER_TEST(killed_while_seeking)
{
	cluster_schedule(c, "learners 4\nstep 1-2 3-4\nstep 1-2 2-3 3-4 1-4\n");
	cluster_launch_start(
		c, "-n 4 --rounds 1 --verify --step-seconds 3 --topology s.txt --set hidden_units=1");
	for (uint32_t i = 2; i <= 3; i++) {
		cluster_expect(c, i, "\"event\":\"attempt_failed\"");
		cluster_kill(c, i);
	}
	cluster_launch_wait(c);
	cluster_expect_rounds(c, 1, true);
	assert_int_equal(summary_number(c, "restarts"), 2);
}

/* ---- resumed ---- */

/* Every round after the first `shown` is there, exact and verified. */
static void resume(struct cluster *c, const char *more, uint32_t shown, uint32_t rounds)
{
	char arguments[64];
	snprintf(arguments, sizeof arguments, "--resume run%s", more);
	cluster_launch(c, arguments);
	cluster_expect_rounds(c, rounds - shown, true);
	assert_int_equal(summary_number(c, "resumed_after"), shown);
	for (uint32_t i = 0; i < rounds - shown; i++)
		assert_true(cluster_figure(c, i, "round") == shown + i + 1);
	for (uint32_t t = 1; t <= rounds; t++)
		cluster_expect_same_checkpoints(c, 4, t);
}

CLUSTER_TEST(launcher_killed_and_resumed)
{
	char text[64];
	unsigned shown = 0;
	cluster_launch_start(
		c, "-n 4 --rounds 6 --verify --set hidden_units=1 --set epochs=20 --set quorum=all");
	cluster_expect(c, 3, COMMITTED);
	kill(c->launcher, SIGKILL);
	cluster_launch_wait(c);
	process_read(cluster_path(c, 0, "run/progress.txt"), text, sizeof text);
	(void)!sscanf(text, "round %u", &shown); /* there may be no file yet */
	assert_true(shown < 6);
	cluster_launch(c, "--resume run");
	uint32_t after = (uint32_t)summary_number(c, "resumed_after");
	assert_in_range(after, shown, shown + 1);
	cluster_expect_rounds(c, 6 - after, true);
	resume(c, " --rounds 8", 6, 8);
}

/* The launcher is killed when it has recomputed a round and deleted its models, but has not shown it yet. */
CLUSTER_TEST(killed_between_the_check_and_its_line)
{
	cluster_launch(c, "-n 4 --rounds 1 --verify --set hidden_units=1");
	process_write(cluster_path(c, 0, "run/progress.txt"), "round 0\nstep 1\nverified 1\n");
	resume(c, " --rounds 2", 0, 2);
}

/* A port of the roster is taken by another program in the meantime. */
CLUSTER_TEST(resumed_on_another_port)
{
	char text[4096];
	unsigned port = 0;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	cluster_launch(c, "-n 4 --rounds 1 --verify --set hidden_units=1");
	process_read(cluster_path(c, 0, "run/roster.yaml"), text, sizeof text);
	assert_int_equal(sscanf(strstr(text, "127.0.0.1:"), "127.0.0.1:%u", &port), 1);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_port = htons((uint16_t)port);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, 1), 0);
	resume(c, " --rounds 3", 1, 3);
	close(fd);
}
