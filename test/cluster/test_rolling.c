/* The roster changes while a round is in the middle, and the daemons are restarted one after the other: an
 * attempt of the previous roster is finished under it (GROUP.md §12.1 Roster changes). The operator does
 * nothing else. */
#include <signal.h>

#include "test/lib/cluster.h"

#define ALL 6u /* learners; the last one comes later */
#define GONE 3u

/* A change of the roster: `victim` is killed at `failpoint`, and has the others in that attempt. */
struct change {
	const char *edit;
	uint32_t victim;
	const char *failpoint;
	uint32_t newcomer, leaver; /* 0: none */
};

static const struct change changes[] = {
	{"cp six.yaml roster.yaml", 2, "before-prepared:2", ALL, 0},
	{"sed -i '/id: 3,/d' roster.yaml", GONE, "after-released:2", 0, GONE},
	{"cd learner-04; rm -r identity; " STARLING_PATH
	 " keygen --id 4 --name learner-04 --address 127.0.0.1:1 >line; "
	 "key=$(sed 's/.*key: //' line); sed -i \"/id: 4,/s/key: .*/key: $key/\" ../roster.yaml",
	 4, "ready-sent:2", 0, 0},
};

static void expect_progress(const struct cluster *c)
{
	uint32_t last = 0;
	for (uint32_t i = 1; i <= ALL; i++)
		if (c->pids[i - 1] != 0 && cluster_last_round(c, i) > last)
			last = cluster_last_round(c, i);
	for (uint32_t i = 1; i <= ALL; i++)
		if (c->pids[i - 1] != 0)
			cluster_expect_round(c, i, last + 2);
}

static int finished_under_the_past(const struct cluster *c)
{
	int count = 0;
	for (uint32_t i = 1; i <= ALL; i++)
		if (c->pids[i - 1] != 0)
			count += cluster_count(c, i, "\"event\":\"past_roster\"");
	return count;
}

/* Have the victim die, change the roster, and restart all others one after the other. */
static void roll(struct cluster *c, const struct change *change)
{
	cluster_end(c, change->victim);
	cluster_start_failing(c, change->victim, change->failpoint);
	assert_int_equal(cluster_wait(c, change->victim), 128 + SIGKILL);
	cluster_shell(c, change->edit);
	for (uint32_t i = 1; i <= ALL; i++) {
		if (c->pids[i - 1] == 0)
			continue;
		cluster_end(c, i);
		cluster_start(c, i, "");
	}
	if (change->victim != change->leaver)
		cluster_start(c, change->victim, "");
	if (change->newcomer != 0)
		cluster_start(c, change->newcomer, "");
}

static void begin(struct cluster *c, const char *settings)
{
	cluster_open(c, ALL, settings);
	cluster_shell(c, "cp roster.yaml six.yaml; sed -i '/id: 6,/d' roster.yaml");
	for (uint32_t i = 1; i < ALL; i++)
		cluster_start(c, i, "");
}

static void finish(struct cluster *c)
{
	struct sl_error wrong;
	cluster_stop(c);
	assert_true(cluster_look_exact(c, CLUSTER_BIT(GONE), &wrong) > 6);
	assert_string_equal(wrong.text, "");
	cluster_free(c, true);
}

#define SETTINGS "rounds=100000 stall_timeout=5 "

TEST(the_roster_rolls)
{
	struct cluster *both[] = {cluster_new(), cluster_new()};
	int before[2] = {0}, total = 0;
	begin(both[0], SETTINGS "quorum=all");
	begin(both[1], SETTINGS "quorum=majority");
	for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
		for (int j = 0; j < 2; j++) {
			expect_progress(both[j]);
			before[j] = finished_under_the_past(both[j]);
			roll(both[j], &changes[k]);
		}
		for (int j = 0; j < 2; j++) {
			expect_progress(both[j]);
			int more = finished_under_the_past(both[j]) - before[j];
			total += more;
			print_message("%s: %d starts under the previous roster\n", changes[k].failpoint,
				      more);
		}
	}
	assert_true(total > 2);
	finish(both[0]);
	finish(both[1]);
}
