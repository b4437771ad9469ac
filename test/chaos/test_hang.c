/* A disk that does not answer, behind links that do: the others wait for that learner in a few attempts, and
 * not in every round (ROUND.md §7.4 Discover). */
#include <signal.h>

#include "test/lib/cluster.h"

#define HANGS 5u		 /* this learner */
#define ROUNDS 20u		 /* of the others meanwhile */
#define FAILED_MOST (ROUNDS / 2) /* attempts of each of them: a busy machine ends some, too */

static void begin(struct cluster *c, const char *failpoint)
{
	cluster_open(c, HANGS, "rounds=100000 quorum=majority stall_timeout=2 straggler_timeout=8");
	for (uint32_t i = 1; i < HANGS; i++)
		cluster_start(c, i, "");
	cluster_start_failing(c, HANGS, failpoint);
}

/* The links of the learner stand until it is killed. Then it starts with what its disk has. */
static void end(struct cluster *c, const char *reported)
{
	struct sl_error wrong;
	cluster_expect(c, HANGS, reported);
	for (uint32_t i = 1; i < HANGS; i++) {
		cluster_expect_round(c, i, ROUNDS);
		assert_in_range(cluster_count(c, i, "\"event\":\"attempt_failed\""), 0, FAILED_MOST);
	}
	cluster_signal(c, HANGS, SIGKILL);
	cluster_start(c, HANGS, "");
	cluster_expect_round(c, HANGS, ROUNDS);
	cluster_stop(c);
	assert_true(cluster_look_exact(c, 0, &wrong) >= ROUNDS);
	assert_string_equal(wrong.text, "");
}

CLUSTER_TEST(a_hung_disk_costs_a_few_attempts)
{
	struct cluster *other = cluster_new();
	begin(c, "before-prepared:2:hang");
	begin(other, "before-released:2:hang");
	end(c, "the record PREPARED has not reached the disk for 10 s");
	end(other, "the record RELEASED has not reached the disk for 10 s");
	cluster_free(other, true);
}
