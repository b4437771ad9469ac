/* Learners of a launched cluster that are killed: each is started again, is told who is in range, and the run
 * ends with the exact mean in every round. */
#include <netinet/in.h>
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
	cluster_start(&c, "-n 4 --rounds 3 --verify --set hidden_units=1 --set epochs=60");
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
		 "--rounds 2 --verify --step-seconds 5 --set hidden_units=1 --topology %s", path);
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
	cluster_launch(&c, 240, "-n 6 --rounds 12 --verify --chaos 6 --set hidden_units=1");
	cluster_expect_exact(&c, 12, true);
	const json_t *chaos = json_object_get(c.summary, "chaos");
	assert_true(json_integer_value(json_object_get(chaos, "kills")) >=
		    5); /* the run may be over before the last one */
	assert_int_equal(cluster_checkpoints(&c, 6, 12), 1);
	cluster_close(&c);
}

/* ---- the launcher ends, and the run is resumed ---- */

/* Every round after the first `shown` is there, exact and verified. */
static void expect_resumed(const struct cluster *c, uint32_t shown, uint32_t rounds)
{
	const json_t *rows = json_object_get(c->summary, "rounds");
	if (c->outcome.status != 0)
		fail_msg("status %d\n%s%s", c->outcome.status, c->outcome.out, c->outcome.err);
	assert_int_equal(json_integer_value(json_object_get(c->summary, "resumed_after")), shown);
	assert_int_equal(json_array_size(rows), rounds - shown);
	for (uint32_t i = 0; i < rounds - shown; i++) {
		const json_t *row = json_array_get(rows, i);
		assert_int_equal(json_integer_value(json_object_get(row, "round")), shown + i + 1);
		assert_true(json_is_true(json_object_get(row, "same")));
		assert_true(json_is_true(json_object_get(row, "verified")));
	}
	for (uint32_t t = 1; t <= rounds; t++)
		assert_int_equal(cluster_checkpoints(c, 4, t), 1);
	assert_false(process_alive(c->folder));
}

/* The last round whose line was printed. */
static uint32_t shown_round(const struct cluster *c)
{
	char path[256];
	unsigned round = 0;
	snprintf(path, sizeof path, "%s/progress.txt", c->run);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "round %u", &round), 1);
	fclose(file);
	return round;
}

static void end_and_resume(int signal, int status)
{
	struct cluster c;
	cluster_start(&c, "-n 4 --rounds 6 --verify --set hidden_units=1 --set epochs=20");
	expect_log(&c, 4, 3, "\"event\":\"committed\"");
	assert_int_equal(kill(c.launcher, signal), 0);
	cluster_wait(&c, 60);
	assert_int_equal(c.outcome.status, status);
	uint32_t shown = shown_round(&c);
	assert_true(shown < 6);
	cluster_resume(&c, 120, NULL);
	expect_resumed(&c, (uint32_t)json_integer_value(json_object_get(c.summary, "resumed_after")), 6);
	assert_in_range(json_integer_value(json_object_get(c.summary, "resumed_after")), shown, shown + 1);
	cluster_resume(&c, 60, NULL);
	assert_int_equal(c.outcome.status, 0);
	assert_non_null(strstr(c.outcome.out, "are committed: nothing to resume"));
	cluster_resume(&c, 120, "8");
	expect_resumed(&c, 6, 8);
	cluster_close(&c);
}

TEST(launcher_killed_and_resumed)
{
	end_and_resume(SIGKILL, 128 + SIGKILL);
}

/* A port of the roster is taken by another program in the meantime. */
TEST(resumed_on_another_port)
{
	struct cluster c;
	unsigned port = 0;
	char path[256];
	struct sockaddr_in address = {.sin_family = AF_INET};
	cluster_launch(&c, 120, "-n 4 --rounds 2 --verify --set hidden_units=1");
	snprintf(path, sizeof path, "%s/roster.yaml", c.run);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*[^\"]\"127.0.0.1:%u", &port), 1);
	fclose(file);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(fd, 1), 0);
	cluster_resume(&c, 120, "4");
	close(fd);
	expect_resumed(&c, 2, 4);
	cluster_close(&c);
}
