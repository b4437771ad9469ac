/* A graph that moves: disconnected steps, graphs that the privacy check refuses, learners left out that come
 * back. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/cluster/cluster.h"
#include "test/lib/test.h"

/* Every step another graph: two are disconnected, one is a star, one a line. */
static const char moving[] = "learners 6\n"
			     "step 1-2 2-3 3-4 4-5 5-6 1-6\n"
			     "step 1-2 2-3 1-3 4-5 5-6 4-6\n"
			     "step 1-2 1-3 1-4 1-5 1-6\n"
			     "step 1-2 2-3 3-4 4-5 5-6\n"
			     "step 1-2 2-3 3-4 4-5 5-6 1-6 1-4 2-5 3-6\n"
			     "step 1-2 3-4 5-6\n"
			     "step 1-2 1-3 1-4 1-5 1-6 2-3 3-4 4-5 5-6 2-6\n";

static void expect_said(const struct cluster *c, const char *text)
{
	if (strstr(c->outcome.out, text) == NULL)
		fail_msg("never said \"%s\":\n%s%s", text, c->outcome.out, c->outcome.err);
}

TEST(what_the_gate_refuses_waits)
{
	struct cluster c;
	cluster_launch_on(&c, 120, moving, "-n 6 --rounds 3 --verify --step-seconds 3 --set hidden_units=1");
	cluster_expect_exact(&c, 3, true);
	for (size_t t = 0; t < 3;
	     t++) /* who hears of a step late has the old list in its link state: an edge may miss */
		assert_true(cluster_real(&c, t, "learners") == 6 && cluster_real(&c, t, "edges") >= 6);
	expect_said(&c, "step 2 (disconnected) passed after 3 s without a commit: ");
	expect_said(&c, "3 learners are connected and the quorum is 6; missing: ");
	expect_said(
		&c,
		"learner-01 (1) alone could learn sums over parts of the others' models; missing links: ");
	expect_said(&c,
		    "any one of learner-02 (2), learner-03 (3), learner-04 (4), learner-05 (5) could learn");
	expect_said(&c, "missing link: 1-6");
	expect_said(&c, "step 6 (disconnected) passed after 3 s without a commit: ");
	cluster_close(&c);
}

TEST(a_gate_that_warns_shares)
{
	struct cluster c;
	char log[256];
	cluster_launch_on(
		&c, 120, moving,
		"-n 6 --rounds 5 --verify --step-seconds 3 --set hidden_units=1 --set privacy_check=warn");
	cluster_expect_exact(&c, 5, true);
	assert_int_equal(cluster_real(&c, 1, "edges"), 5); /* the star */
	assert_int_equal(cluster_real(&c, 2, "edges"), 5); /* the line */
	for (uint32_t i = 1; i <= 6; i++) {
		cluster_path(&c, 6, i, "log.jsonl", log, sizeof log);
		assert_true(
			process_count(log,
				      "goes on, since privacy_check: warn is set: tolerance 1 is not met") >=
			2);
	}
	cluster_close(&c);
}

TEST(a_schedule_for_nobody_is_refused)
{
	struct cluster c;
	cluster_launch(&c, 20, "-n 5 --rounds 1 --topology star");
	assert_int_equal(c.outcome.status, 2);
	assert_non_null(strstr(c.outcome.err, "no step of star tolerates 1 colluding learner"));
	cluster_close(&c);
	cluster_launch(&c, 20, "-n 2 --rounds 1");
	assert_int_equal(c.outcome.status, 2);
	assert_non_null(strstr(c.outcome.err, "2 learners are too few for tolerance 1"));
	cluster_close(&c);
}

/* Three of ten are out of reach every other round: seven commit, and the three are back in the next. */
TEST(left_out_learners_come_back)
{
	struct cluster c;
	char log[256];
	cluster_launch_on(
		&c, 120,
		"learners 10\n"
		"step 1-2 2-3 3-4 4-5 5-6 6-7 7-8 8-9 9-10 1-10\n"
		"step 1-2 2-3 3-4 4-5 5-6 6-7 1-7 8-9 9-10 8-10\n",
		"-n 10 --rounds 6 --verify --step-seconds 20 --set hidden_units=1 --set quorum=majority");
	cluster_expect_exact(&c, 6, true);
	uint32_t seven = 0, ten = 0;
	for (size_t t = 0; t < 6; t++) {
		seven += cluster_real(&c, t, "learners") == 7;
		ten += cluster_real(&c, t, "learners") == 10;
	}
	assert_true(seven >= 2 && ten >= 2);
	for (uint32_t i = 8; i <= 10; i++) {
		cluster_path(&c, 10, i, "log.jsonl", log, sizeof log);
		assert_true(process_count(log, "\"event\":\"caught_up\"") >= 2);
	}
	cluster_path(&c, 10, 1, "log.jsonl", log, sizeof log);
	assert_int_equal(process_count(log, "\"event\":\"privacy\""), 0); /* three at once: c+2 */
	cluster_close(&c);
}

/* One goes and comes: what the two sums tell of it is said. */
TEST(a_small_change_of_membership_is_said)
{
	struct cluster c;
	char log[256];
	cluster_launch_on(
		&c, 120, "learners 5\nstep 1-2 2-3 3-4 4-5 1-5\nstep 1-2 2-3 3-4 1-4\n",
		"-n 5 --rounds 4 --verify --step-seconds 20 --set hidden_units=1 --set quorum=majority");
	cluster_expect_exact(&c, 4, true);
	cluster_path(&c, 5, 1, "log.jsonl", log, sizeof log);
	assert_true(process_count(log, "since the last round 0 came and 1 left (learner-05 (5))") >= 1);
	cluster_close(&c);
}

/* --- real movement: a trace, imported and played --- */

#define WALKERS 20
#define FIELD_M 500.0
#define WALK_S 1200.0

static uint64_t walk_state = 5;

/* In [least, most). */
static double drawn(double least, double most)
{
	walk_state = walk_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return least + (most - least) * (double)(walk_state >> 11) * 0x1p-53;
}

/* Random waypoints as BonnMotion writes them: a line a node, "t x y t x y ...". */
static void write_trace(const char *path)
{
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	for (int i = 0; i < WALKERS; i++) {
		double t = 0, x = drawn(0, FIELD_M), y = drawn(0, FIELD_M);
		fprintf(out, "%.2f %.2f %.2f", t, x, y);
		while (t < WALK_S) {
			double to_x = drawn(0, FIELD_M), to_y = drawn(0, FIELD_M);
			t += hypot(to_x - x, to_y - y) / drawn(0.5, 3);
			x = to_x;
			y = to_y;
			fprintf(out, " %.2f %.2f %.2f", t, x, y);
		}
		fputc('\n', out);
	}
	fclose(out);
}

static void import_trace(const char *trace, const char *schedule)
{
	struct outcome o;
	process_run(&o, NULL, 20,
		    (const char *const[]){process_starling(), "topology", "import", trace, "--range", "175",
					  "--every", "25", "--steps", "45", "-o", schedule, NULL});
	assert_int_equal(o.status, 0);
	assert_non_null(strstr(o.err, "20 learners, 45 steps, "));
	assert_null(strstr(o.err, "45 of them connected")); /* some are to wait */
}

TEST(a_walk_is_exact_in_every_round)
{
	struct cluster c;
	char folder[128], trace[256], schedule[256], arguments[640];
	process_folder(folder, sizeof folder);
	snprintf(trace, sizeof trace, "%s/walk.movements", folder);
	snprintf(schedule, sizeof schedule, "%s/walk.txt", folder);
	write_trace(trace);
	import_trace(trace, schedule);
	snprintf(arguments, sizeof arguments,
		 "--rounds %d --verify --step-seconds 1 --set hidden_units=1 --topology %s", WALK_ROUNDS,
		 schedule);
	cluster_launch(&c, 600, arguments);
	cluster_expect_exact(&c, WALK_ROUNDS, true);
	for (size_t t = 0; t < WALK_ROUNDS; t++)
		assert_int_equal(cluster_real(&c, t, "learners"), WALKERS);
	if (WALK_ROUNDS >= 30) /* a shorter walk may not come that far */
		expect_said(&c, " (disconnected) passed after 1 s without a commit: ");
	cluster_close(&c);
	process_remove(folder);
}
