/* A member is added, removed, or gets another key, between two runs of the same learners (GROUP.md §12.1
 * Roster changes). The digests of the last result were signed under the previous roster. */
#include <stdio.h>

#include "test/lib/cluster.h"

#define OLD "roster=../old.yaml rounds=3 serve_after_end=1"
#define NEW "rounds=5"

static void start_some(struct cluster *c, uint32_t first, uint32_t last, const char *settings)
{
	for (uint32_t i = first; i <= last; i++)
		cluster_start(c, i, settings);
}

static void open_with(struct cluster *c, uint32_t n, const char *quorum)
{
	char settings[64];
	snprintf(settings, sizeof settings, "quorum=%s", quorum);
	cluster_open(c, n, settings);
}

/* Learner 4 has nothing: it begins with the result of the others. */
static void add(struct cluster *c, const char *quorum)
{
	open_with(c, 4, quorum);
	cluster_shell(c, "sed '/id: 4,/d' roster.yaml >old.yaml");
	start_some(c, 1, 3, OLD);
	cluster_finish(c);
	cluster_start(c, 4, NEW);
	cluster_expect(c, 4, "\"event\":\"listening\"");
	start_some(c, 1, 3, NEW);
	cluster_expect(c, 4, "\"event\":\"caught_up\"");
	cluster_finish(c);
	assert_int_equal(cluster_expect_exact(c), 5);
	assert_true(cluster_committed(c, 4) >= 1);
	/* under majority, a learner whose links come up last may be left out of a round */
	assert_int_equal(cluster_last_round(c, 1), 5);
}

CLUSTER_TEST(add_under_all)
{
	add(c, "all");
}

CLUSTER_TEST(add_under_majority)
{
	add(c, "majority");
}

/* Learner 4 goes. Learner 3 has missed a round: it takes it from the others, under the new roster. */
static void leave(struct cluster *c, const char *quorum, uint32_t behind)
{
	open_with(c, 4, quorum);
	cluster_shell(c, "cp roster.yaml old.yaml; sed -i '/id: 4,/d' roster.yaml");
	start_some(c, 1, 4, "roster=../old.yaml rounds=2");
	cluster_finish(c);
	if (behind != 0) {
		start_some(c, 1, 2, OLD);
		cluster_start(c, 4, OLD);
		cluster_finish(c);
	}
	start_some(c, 1, 3, NEW);
	cluster_finish(c);
	if (behind != 0)
		assert_true(cluster_count(c, behind, "\"event\":\"caught_up\"") >= 1);
	assert_int_equal(cluster_expect_exact(c), behind != 0 ? 3 : 2);
	cluster_expect_same_checkpoints(c, 3, 5);
}

CLUSTER_TEST(remove_under_all)
{
	leave(c, "all", 0);
}

CLUSTER_TEST(remove_under_majority)
{
	leave(c, "majority", 3);
}

/* Learner 2 has another key and its state, learner 3 has missed a round; with `emptied`, learner 2 has lost
 * its state as well. */
static void renew(struct cluster *c, const char *quorum, bool emptied)
{
	open_with(c, 3, quorum);
	cluster_shell(c, "cp roster.yaml old.yaml");
	start_some(c, 1, 3, OLD);
	cluster_finish(c);
	cluster_shell(
		c, "cd learner-02; rm -r identity; " STARLING_PATH
		   " keygen --id 2 --name learner-02 --address 127.0.0.1:1 >line; "
		   "key=$(sed 's/.*key: //' line); sed -i \"/id: 2,/s/key: .*/key: $key/\" ../roster.yaml");
	if (emptied)
		cluster_shell(c, "cd learner-02; rm -r state");
	start_some(c, 1, 3, NEW);
	cluster_finish(c);
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(cluster_committed(c, i), 5);
	assert_int_equal(cluster_count(c, 2, "\"event\":\"caught_up\""), emptied);
}

CLUSTER_TEST(new_key_under_all)
{
	renew(c, "all", false);
}

CLUSTER_TEST(new_key_under_majority)
{
	renew(c, "majority", false);
}

CLUSTER_TEST(new_key_and_an_emptied_folder)
{
	renew(c, "all", true);
}
