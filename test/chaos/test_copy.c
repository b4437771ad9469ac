/* A copied state folder: two processes have one identity. The one that is linked stays, both are named, and
 * the rounds of the others go on (LINKS.md §6.2 Links). */
#include <signal.h>

#include "test/lib/cluster.h"
#include "tools/lib/ports.h"

#define N 5u
#define COPY 6u
#define ROUNDS 5 /* more, of all others */

/* Learner i commits so many more rounds. */
static void expect_commits(const struct cluster *c, uint32_t i, int count)
{
	int more = cluster_committed(c, i) + count;
	double end = process_now() + PATIENCE_S;
	while (cluster_committed(c, i) < more && process_now() < end)
		process_look_again();
	assert_true(cluster_committed(c, i) >= more);
}

/* Start learner `copied` and a copy of it. */
static void begin(struct cluster *c, uint32_t copied)
{
	char command[64], listen[64];
	uint16_t port;
	struct sl_error error;
	cluster_open(c, N, "rounds=100000 quorum=majority epochs=10");
	cluster_start_all(c, "");
	cluster_expect_all(c, "round 2 committed");
	cluster_signal(c, copied, SIGKILL);
	snprintf(command, sizeof command, "cp -r learner-%02u learner-%02u", copied, COPY);
	cluster_shell(c, command);
	cluster_start(c, copied, "");
	expect_commits(c, copied, 1);
	assert_int_equal(sl_ports_find(&port, 1, &error), SL_OK);
	snprintf(listen, sizeof listen, "listen=127.0.0.1:%u", port);
	cluster_start(c, COPY, listen);
}

static void play(struct cluster *c, uint32_t copied)
{
	char name[32];
	begin(c, copied);
	for (uint32_t i = 1; i <= N; i++)
		if (i != copied)
			cluster_expect(c, i, "\"event\":\"two_places\"");
	for (uint32_t i = 1; i <= N; i++)
		if (i != copied)
			expect_commits(c, i, ROUNDS);
	process_run(&c->outcome, c->folder,
		    (const char *const[]){STARLING_PATH, "status", "--control",
					  cluster_path(c, 2, "control.sock"), NULL});
	expect_text(c->outcome.out, ", at two places: 127.0.0.1 port ");
	for (uint32_t i = 1; i <= N; i++) {
		snprintf(name, sizeof name, "because of learner-%02u (%u)", i, i);
		for (uint32_t j = 1; j <= N; j++)
			assert_true(i == copied || j == copied || cluster_count(c, j, name) == 0);
	}
	cluster_signal(c, COPY, SIGKILL);
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) > 0);
}

/* The others have dialled it. */
CLUSTER_TEST(the_last)
{
	play(c, N);
}

/* It has dialled the others. */
CLUSTER_TEST(the_first)
{
	play(c, 1);
}
