/* The main job in small, and every field on every graph: real daemons, the mean recomputed and compared bit
 * for bit. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/cluster/cluster.h"
#include "test/lib/test.h"

/* What a round cost is said. Its parts make up its time; of a round that was recovered they are not known. */
static bool expect_costs(const struct cluster *c, size_t round)
{
	double sum = 0, seconds = cluster_real(c, round, "aggregate_s");
	const char *name;
	json_t *row = json_array_get(json_object_get(c->summary, "rounds"), round), *part;
	assert_true(cluster_real(c, round, "cpu_s") > 0);
	assert_true(cluster_real(c, round, "peak_bytes") >
		    4 * 50993 * 4); /* at least the model, and what becomes of it */
	if (json_is_null(json_object_get(row, "parts_s")))
		return false;
	json_object_foreach(json_object_get(row, "parts_s"), name, part) sum += json_real_value(part);
	assert_true(sum > 0.999 * seconds && sum < 1.001 * seconds);
	return true;
}

TEST(main_job_is_exact_and_learns)
{
	struct cluster c;
	cluster_launch(&c, 240, "-n 10 --rounds 3 --verify");
	cluster_expect_exact(&c, 3, true);
	assert_true(cluster_real(&c, 0, "mse") > cluster_real(&c, 1, "mse"));
	assert_true(cluster_real(&c, 1, "mse") > cluster_real(&c, 2, "mse"));
	assert_true(cluster_real(&c, 0, "bytes") > 10.0 * 4 * 50993 * 4); /* at least its shares */
	for (uint32_t t = 1; t <= 3; t++)
		assert_int_equal(cluster_checkpoints(&c, 10, t), 1);
	bool second = expect_costs(&c, 1), third = expect_costs(&c, 2);
	assert_true(second || third);
	cluster_close(&c);
}

/* Another graph in each step, as drawn: the exchanges follow the graph, 4 on a line of 5 and 2 on a star. */
TEST(graph_changes_from_round_to_round)
{
	struct cluster c;
	cluster_launch_on(
		&c, 120, "learners 5\nstep 1-2 2-3 3-4 4-5\nstep 1-2 1-3 1-4 1-5\nstep 1-2 2-3 3-4 4-5 1-5\n",
		"-n 5 --rounds 3 --set hidden=1 --set gate=warn --verify");
	cluster_expect_exact(&c, 3, true);
	assert_int_equal(cluster_real(&c, 0, "edges"), 4);
	assert_int_equal(cluster_real(&c, 1, "edges"), 4);
	assert_int_equal(cluster_real(&c, 2, "edges"), 5);
	assert_int_equal(cluster_real(&c, 0, "steps"), 4);
	assert_int_equal(cluster_real(&c, 1, "steps"), 2);
	cluster_close(&c);
}

static const char *const graphs[] = {"ring", "line", "star", "grid", "geometric:0.6"};
static const char *const fields[] = {"p=1020431 --set sigma=2", "p=2147483647", "p=17592186044399"};

TEST(every_field_on_every_graph)
{
	for (size_t g = 0; g < sizeof graphs / sizeof *graphs; g++)
		for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
			struct cluster c;
			char arguments[256];
			snprintf(arguments, sizeof arguments,
				 "-n 10 --rounds 1 --set hidden=1 --set gate=warn --verify --topology %s "
				 "--set %s",
				 graphs[g], fields[f]);
			print_message("%s\n", arguments);
			cluster_launch(&c, 120, arguments);
			cluster_expect_exact(&c, 1, true);
			assert_int_equal(cluster_checkpoints(&c, 10, 1), 1);
			cluster_close(&c);
		}
}

TEST(other_settings_are_exact)
{
	static const char *const settings[] = {
		"--set sharing=additive --set coins=os",
		"--set sharing=seeded",
		"--set sharing=seeded --set trainer=noise --set size=400000",
		"--set encoding=literal --set p=1020431 --set sigma=3",
		"--set weight=samples --set max_weight=5000 --set p=17592186044399",
		"--set k=300",
		"--set trainer=noise --set size=40000",
		"--set trainer=noise --set size=4200000 --set sharing=seeded", /* large: TLS on a worker of
										  its own */
	};
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		struct cluster c;
		char arguments[256];
		snprintf(arguments, sizeof arguments, "-n 4 --rounds 2 --set hidden=1 --verify %s",
			 settings[i]);
		print_message("%s\n", arguments);
		cluster_launch(&c, 120, arguments);
		cluster_expect_exact(&c, 2, true);
		cluster_close(&c);
	}
}

TEST(mnist_reaches_its_target)
{
	struct cluster c;
	cluster_launch(&c, 400, "-n 10 --rounds 10 --verify --data " SL_SOURCE_ROOT "/test/data/mnist");
	cluster_expect_exact(&c, 10, true);
	assert_true(cluster_real(&c, 9, "mse") < 0.03);
	assert_int_equal(cluster_checkpoints(&c, 10, 10), 1);
	cluster_close(&c);
}
