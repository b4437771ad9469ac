/* A learner that is stopped (SIGSTOP) and continues much later, as a laptop does whose lid was closed: its
 * links stand and it does not answer. The others continue without it where they may; it is shown what it
 * missed, and is in a later round. */
#include <signal.h>
#include <time.h>

#include "test/chaos/proxy.h"

#define SLEEPER 4u
#define SETTINGS "rounds=10000 quorum=majority stall_timeout=3 "

static void expect_more(const struct cluster *c, uint32_t i, int than)
{
	double end = process_now() + PATIENCE_S;
	while (cluster_committed(c, i) <= than && process_now() < end)
		process_look_again();
	assert_true(cluster_committed(c, i) > than);
}

/* Two clusters at once. In `training` the learner falls asleep while it trains, on graphs that are not
 * complete and are drawn anew each round. In `mixing` it falls asleep in the middle of mixing: its masked
 * state is out, so that round is finished without it, and its model counts. Each sleeps for at least
 * `seconds` and until the others have done two more rounds. */
static void sleep_and_catch_up(struct cluster *training, unsigned seconds)
{
	struct cluster *mixing = cluster_new();
	int before[2], own[2];
	cluster_open(training, 6, SETTINGS "max_degree=4 hidden_units=11");
	cluster_open(mixing, 4, SETTINGS "mixing=metropolis iterations=200");
	struct proxy *proxy = proxy_between(mixing);
	struct cluster *const both[] = {training, mixing};
	proxy_delay_all(proxy, 5);
	cluster_start_all(training, "");
	cluster_start_all(mixing, "");
	cluster_expect(training, SLEEPER, "round 2 committed");
	cluster_signal(training, SLEEPER, SIGSTOP);
	cluster_expect_phase(mixing, SLEEPER, 2, "MIX");
	cluster_signal(mixing, SLEEPER, SIGSTOP);
	for (int k = 0; k < 2; k++) {
		before[k] = cluster_committed(both[k], 1);
		own[k] = cluster_committed(both[k], SLEEPER);
	}
	nanosleep(&(struct timespec){.tv_sec = seconds}, NULL);
	for (int k = 0; k < 2; k++) {
		expect_more(both[k], 1, before[k] + 2);
		cluster_signal(both[k], SLEEPER, SIGCONT);
	}
	for (int k = 0; k < 2; k++) {
		expect_more(both[k], SLEEPER,
			    own[k] + 1); /* the first may be of the round that it slept in */
		assert_true(cluster_count(both[k], SLEEPER, "\"event\":\"caught_up\"") > 0);
		cluster_stop(both[k]);
		assert_true(cluster_expect_exact(both[k]) > 3);
	}
	assert_int_equal(cluster_count(mixing, 1, "round 2 committed: 4 learners"), 1);
	proxy_close(proxy);
	cluster_free(mixing, true);
}

CLUSTER_TEST(a_sleeper_catches_up)
{
	sleep_and_catch_up(c, 0);
}

CLUSTER_TEST_NIGHTLY(a_long_sleeper_catches_up)
{
	sleep_and_catch_up(c, 120);
}
