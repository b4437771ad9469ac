/* Learners of a launched cluster that are killed: each is started again, is told who is in range, and the run
 * ends with the exact mean in every round. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/cluster/cluster.h"
#include "test/lib/test.h"

/* Of learner i of n, in its log. */
static void expect_log(const struct cluster *c, uint32_t n, uint32_t i, const char *text)
{
	char log[256];
	cluster_path(c, n, i, "log.jsonl", log, sizeof log);
	if (!process_expect(log, text, 60))
		fail_msg("learner %u never said %s", i, text);
}

static void expect_restarts(const struct cluster *c, int restarts)
{
	assert_int_equal(json_integer_value(json_object_get(c->summary, "restarts")), restarts);
}

TEST(killed_while_training)
{
	struct cluster c;
	cluster_start(&c, "-n 4 --rounds 3 --verify --set hidden=1 --set epochs=60");
	expect_log(&c, 4, 3, "\"event\":\"committed\"");
	cluster_kill(&c, 4, 3, SIGKILL);
	cluster_wait(&c, 120);
	cluster_expect_exact(&c, 3, true);
	expect_restarts(&c, 1);
	assert_non_null(
		strstr(c.outcome.out,
		       "learner-03 (3) was killed by SIGKILL in round 2; started again (2nd start)\n"));
	cluster_close(&c);
}

/* Twice, while nobody is in range: what it was told of that is told anew. */
TEST(killed_while_seeking)
{
	struct cluster c;
	char path[] = "/tmp/starling-schedule-XXXXXX", arguments[256];
	static const char schedule[] = "learners 4\nstep 1-2 3-4\nstep 1-2 2-3 3-4 1-4\n";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, schedule, strlen(schedule)), strlen(schedule));
	close(fd);
	snprintf(arguments, sizeof arguments,
		 "--rounds 2 --verify --step-seconds 5 --set hidden=1 --topology %s", path);
	cluster_start(&c, arguments);
	for (uint32_t i = 2; i <= 3; i++) {
		expect_log(&c, 4, i, "\"event\":\"attempt_failed\"");
		cluster_kill(&c, 4, i, SIGKILL);
	}
	cluster_wait(&c, 120);
	unlink(path);
	cluster_expect_exact(&c, 2, true);
	expect_restarts(&c, 2);
	cluster_close(&c);
}

TEST(killed_at_any_moment)
{
	struct cluster c;
	cluster_launch(&c, 240, "-n 6 --rounds 12 --verify --chaos 6 --set hidden=1");
	cluster_expect_exact(&c, 12, true);
	const json_t *chaos = json_object_get(c.summary, "chaos");
	assert_true(json_integer_value(json_object_get(chaos, "kills")) >=
		    5); /* the run may be over before the last one */
	assert_int_equal(cluster_checkpoints(&c, 6, 12), 1);
	cluster_close(&c);
}
