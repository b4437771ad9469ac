/* Real daemons under the launcher: every round is the exact mean, for each field, encoding, sharing and
 * engine. */
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "daemon/runtime/pool.h"
#include "test/lib/cluster.h"

/* The parts of a round make up its time; of a round that was recovered they are not known. */
static bool expect_costs(const struct cluster *c, size_t round)
{
	double sum = 0, seconds = cluster_figure(c, round, "aggregate_s");
	const char *name;
	json_t *row = json_array_get(json_object_get(c->summary, "rounds"), round), *part;
	assert_true(cluster_figure(c, round, "cpu_s") > 0);
	assert_true(cluster_figure(c, round, "peak_bytes") > 4 * 50993 * 4); /* at least models and sums */
	if (json_is_null(json_object_get(row, "parts_s")))
		return false;
	json_object_foreach(json_object_get(row, "parts_s"), name, part) sum += json_real_value(part);
	assert_true(sum > 0.999 * seconds && sum < 1.001 * seconds);
	return true;
}

/* Ten learners train on real images with the usual settings. */
CLUSTER_TEST(mnist_is_exact_and_learns)
{
	cluster_launch(c, "-n 10 --rounds 10 --verify --data " SL_SOURCE_ROOT "/test/data/mnist");
	cluster_expect_rounds(c, 10, true);
	assert_true(cluster_figure(c, 0, "mse") > cluster_figure(c, 1, "mse"));
	assert_true(cluster_figure(c, 9, "mse") < 0.03);
	assert_true(cluster_figure(c, 0, "bytes") > 10.0 * 50993); /* at least its deposits */
	assert_true(cluster_figure(c, 0, "bytes") <= 10 * cluster_figure(c, 0, "bytes_most"));
	assert_true(cluster_figure(c, 0, "bytes") > cluster_figure(c, 0, "bytes_most"));
	cluster_expect_same_checkpoints(c, 10, 10);
	bool second = expect_costs(c, 1), third = expect_costs(c, 2);
	assert_true(second || third);
}

/* Each round has another graph, as drawn; the exchanges follow the graph: 4 on a line of 5 and 2 on a star.
 */
CLUSTER_TEST(every_field_on_every_graph)
{
	static const char *const fields[] = {"modulus=1020431 --set decimals=2", "modulus=2147483647",
					     "modulus=17592186044399"};
	static const unsigned edges[] = {4, 4, 5, 5, 10};
	cluster_schedule(c,
			 "learners 5\nstep 1-2 2-3 3-4 4-5\nstep 1-2 1-3 1-4 1-5\nstep 1-2 2-3 3-4 4-5 1-5\n"
			 "step 1-2 2-3 1-3 3-4 4-5\nstep 1-2 1-3 1-4 1-5 2-3 2-4 2-5 3-4 3-5 4-5\n");
	for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
		char arguments[256];
		snprintf(arguments, sizeof arguments,
			 "-n 5 --rounds 5 --topology s.txt --set hidden_units=1 --set privacy_check=warn "
			 "--set sharing=shamir --set mixing=exact --verify --set %s",
			 fields[f]);
		cluster_launch(c, arguments);
		cluster_expect_rounds(c, 5, true);
		for (size_t t = 0; t < 5; t++)
			assert_true(cluster_figure(c, t, "edges") == edges[t]);
		assert_true(cluster_figure(c, 0, "steps") == 4 && cluster_figure(c, 1, "steps") == 2);
		process_remove(c->run.path);
	}
}

/* Checkpoints and foreign files do not slow rounds down: a commit reads no list of files. */
CLUSTER_TEST(a_commit_reads_no_folder)
{
	union {
		struct inotify_event event;
		char bytes[4096];
	} buffer;
	cluster_open(c, 3, "rounds=100000 hidden_units=1");
	for (uint32_t i = 1; i <= 3; i++)
		cluster_start(c, i, "");
	cluster_expect(c, 1, "round 1 committed");
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(inotify_add_watch(watch, cluster_path(c, 1, "state"), IN_ACCESS | IN_ONLYDIR) >= 0);
	assert_true(inotify_add_watch(watch, cluster_path(c, 1, "state/checkpoints"),
				      IN_ACCESS | IN_ONLYDIR) >= 0);
	cluster_expect(c, 1, "round 14 committed"); /* more than are kept */
	for (ssize_t size; (size = read(watch, buffer.bytes, sizeof buffer.bytes)) > 0;)
		for (char *at = buffer.bytes; at < buffer.bytes + size;) {
			const struct inotify_event *event = (const struct inotify_event *)at;
			assert_false(event->mask & IN_ISDIR);
			at += sizeof *event + event->len;
		}
	close(watch);
}

/* --verify reads the model of the round before, and the models before rounding. */
CLUSTER_TEST(updates_are_exact)
{
	cluster_launch(c, "-n 4 --rounds 3 --verify --set hidden_units=4 --set values=update");
	cluster_expect_rounds(c, 3, true);
	cluster_expect_same_checkpoints(c, 4, 3);
	double updates = cluster_figure(c, 2, "mse");
	process_remove(c->run.path);
	/* Steps of 10^-9 are finer than the floats: it trains as well. Samples come in another order. */
	cluster_launch(c, "-n 4 --rounds 3 --verify --set hidden_units=4 --set decimals=9");
	cluster_expect_rounds(c, 3, true);
	double models = cluster_figure(c, 2, "mse");
	assert_true(updates < 1.05 * models && models < 1.05 * updates);
}

CLUSTER_TEST(other_settings_are_exact)
{
	static const char *const settings[] = {
		"--set sharing=shamir",
		"--set sharing=os",
		"--set encoding=paper --set modulus=1020431 --set decimals=3",
		"--set weighting=samples --set max_weight=5000 --set modulus=17592186044399",
		"--set iterations=300",
		"--set values=update --set trainer=noise --set noise_parameters=40000",
		"--set trainer=noise --set noise_parameters=40000",
		/* large: a worker thread does the TLS */
		"--set trainer=noise --set noise_parameters=4200000",
	};
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		char arguments[256];
		snprintf(arguments, sizeof arguments, "-n 4 --rounds 1 --set hidden_units=1 --verify %s",
			 settings[i]);
		cluster_launch(c, arguments);
		cluster_expect_rounds(c, 1, true);
		process_remove(c->run.path);
	}
}

/* The launcher shares the processors out, at least one for each learner, unless it is told otherwise. */
CLUSTER_TEST(threads_are_exact)
{
	static const char *const settings[] = {"seeded", "seeded --set threads=3",
					       "shamir --set mixing=metropolis --set threads=3",
					       "os --set mixing=exact --set threads=3"};
	char arguments[256], threads[32];
	uint32_t share = sl_pool_processors() / 4;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		snprintf(arguments, sizeof arguments,
			 "-n 4 --rounds 2 --verify --set trainer=noise --set noise_parameters=70000 "
			 "--set sharing=%s",
			 settings[i]);
		snprintf(threads, sizeof threads, "threads: %u", i > 0 ? 3 : share > 0 ? share : 1);
		cluster_launch(c, arguments);
		cluster_expect_rounds(c, 2, true);
		assert_int_equal(process_count(cluster_path(c, 1, "config.yaml"), threads, NULL), 1);
		assert_int_equal(cluster_count(c, 1, "goes on with fewer threads"), 0);
		process_remove(c->run.path);
	}
}

static void expect_crowd(struct cluster *c, int learners)
{
	char arguments[256];
	snprintf(arguments, sizeof arguments,
		 "-n %d --rounds 1 --topology regular:%d --verify --set hidden_units=1 --set decimals=2 "
		 "--set modulus=1020431",
		 learners, learners / 5);
	cluster_launch(c, arguments);
	cluster_expect_rounds(c, 1, true);
	assert_true(cluster_figure(c, 0, "learners") == learners);
	assert_true(cluster_figure(c, 0, "edges") == learners * (learners / 5) / 2);
	cluster_expect_same_checkpoints(c, (uint32_t)learners, 1);
}

CLUSTER_TEST(thirty_learners)
{
	expect_crowd(c, 30);
}

/* With the settings of the paper. */
CLUSTER_TEST_NIGHTLY(a_hundred_learners)
{
	expect_crowd(c, 100);
}
