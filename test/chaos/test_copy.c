/* A copied state folder: two processes have one identity. Both are named, and the rounds of the others go on
 * (LINKS.md §6.2 Links). */
#include <signal.h>

#include "test/lib/cluster.h"
#include "tools/lib/ports.h"

#define N 5u
#define COPY 6u
#define ROUNDS 5 /* more, of all others */
#define ALL ((1u << N) - 1)

/* All have so many rounds. One that starts late is shown the first. */
static void expect_rounds(const struct cluster *c, uint32_t rounds)
{
	for (uint32_t i = 1; i <= N; i++)
		cluster_expect_round(c, i, rounds);
}

/* Start learner `copied` and a copy of it. */
static void begin(struct cluster *c, uint32_t copied)
{
	char command[64], listen[64];
	uint16_t port;
	struct sl_error error;
	cluster_open(c, N, "rounds=100000 quorum=majority epochs=10");
	cluster_start_all(c, "");
	expect_rounds(c, 2);
	cluster_signal(c, copied, SIGKILL);
	snprintf(command, sizeof command, "cp -r learner-%02u learner-%02u", copied, COPY);
	cluster_shell(c, command);
	cluster_start(c, copied, "");
	cluster_expect_commits(c, CLUSTER_BIT(copied), 1);
	assert_int_equal(sl_ports_find(&port, 1, &error), SL_OK);
	snprintf(listen, sizeof listen, "listen=127.0.0.1:%u", port);
	cluster_start(c, COPY, listen);
}

/* Both dial the same peers: the one that is linked stays. */
static void play(struct cluster *c, uint32_t copied)
{
	char name[32];
	begin(c, copied);
	for (uint32_t i = 1; i <= N; i++)
		if (i != copied)
			cluster_expect(c, i, "\"event\":\"two_places\"");
	cluster_expect_commits(c, ALL & ~CLUSTER_BIT(copied), ROUNDS);
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

/* ---- each has peers of its own ---- */

/* Give the copy, at `port`, other peers than learner 1 has: they know it by the address of the copy, and each
 * of the two has wrong addresses of the peers of the other. */
static void part(struct cluster *c, uint16_t port)
{
	char command[1024];
	snprintf(command, sizeof command,
		 "cp -r learner-01 learner-06; rm learner-06/log.jsonl\n"
		 "sed 's/:%u\"/:1\"/; s/:%u\"/:2\"/' roster.yaml >learner-01/roster.yaml\n"
		 "sed 's/:%u\"/:%u\"/' roster.yaml | tee learner-04/roster.yaml >learner-05/roster.yaml\n"
		 "sed 's/:%u\"/:1\"/; s/:%u\"/:2\"/' learner-04/roster.yaml >learner-06/roster.yaml",
		 c->ports[3], c->ports[4], c->ports[0], port, c->ports[1], c->ports[2]);
	cluster_shell(c, command);
}

static void start_again(struct cluster *c, uint32_t i)
{
	if (c->pids[i - 1] > 0)
		cluster_signal(c, i, SIGKILL);
	cluster_start(c, i, "roster=roster.yaml");
}

/* Status of each shows it, and doctor. */
static void expect_shown(struct cluster *c)
{
	for (uint32_t i = 1; i <= COPY; i++) {
		process_run(&c->outcome, c->folder,
			    (const char *const[]){STARLING_PATH, "status", "--control",
						  cluster_path(c, i, "control.sock"), NULL});
		expect_text(c->outcome.out, "learner-01 runs at two places, ");
		expect_text(c->outcome.out, "its identity was copied; stop one of them");
	}
	process_run(&c->outcome, cluster_path(c, 2, ""),
		    (const char *const[]){STARLING_PATH, "doctor", "--config", "config.yaml", NULL});
	expect_text(c->outcome.out, "FAIL  learner-01: runs at two places, ");
}

/* later: the copy has been started once more than the learner; fresh: it has the key alone. */
static void play_apart(struct cluster *c, bool later, bool fresh)
{
	uint16_t port;
	struct sl_error error;
	cluster_open(c, N, "rounds=100000 quorum=majority epochs=10 stall_timeout=4");
	cluster_start_all(c, "");
	expect_rounds(c, 2);
	cluster_signal(c, 1, SIGKILL);
	assert_int_equal(sl_ports_find(&port, 1, &error), SL_OK);
	part(c, port);
	if (fresh)
		cluster_shell(c, "rm -r learner-06/state");
	c->run.learners = COPY; /* it is one of the folders, as cluster_expect_exact reads them */
	start_again(c, COPY);
	if (later) {
		cluster_expect(c, COPY, "the state folder is a copy: "); /* said once */
		start_again(c, COPY);
	}
	start_again(c, 4);
	start_again(c, 5);
	start_again(c, 1);
	if (!fresh)
		cluster_expect(c, COPY, "the state folder is a copy: ");
	assert_int_equal(cluster_count(c, 1, "the state folder is a copy"), 0);
	for (uint32_t i = 1; i <= COPY; i++)
		cluster_expect(c, i, "learner-01 (1) runs at two places, ");
	cluster_expect_commits(c, ALL & ~CLUSTER_BIT(1), ROUNDS);
	expect_shown(c);
	cluster_signal(c, COPY, SIGKILL);
	cluster_expect_commits(c, CLUSTER_BIT(1),
			       1); /* left out for some rounds at most, whatever the two signed */
	for (uint32_t i = 1; i <= N; i++)
		assert_true(i == 1 || cluster_count(c, i, "runs at two places") ==
					      cluster_count(c, i, "learner-01 (1) runs at two places"));
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) > 0);
}

CLUSTER_TEST(at_other_peers)
{
	play_apart(c, false, false);
}

CLUSTER_TEST(at_other_peers_and_started_later)
{
	play_apart(c, true, false);
}

CLUSTER_TEST(at_other_peers_with_a_fresh_folder)
{
	play_apart(c, false, true);
}
