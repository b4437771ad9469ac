/* An iteration of metropolis per learner, in a swarm and by its kernel alone on the same memory: 100 learners
 * of 87 neighbours, 2,353 parameters (issue 5: at most 50 us). Also what a whole round takes of the
 * processor, by phase. */
#include <stdlib.h>
#include <string.h>

#include "common/field/metropolis.h"
#include "test/graph/bench.h"
#include "tools/sim/runner.h"
#include "tools/topology/topology.h"

#define N 100u
#define DEGREE 87u
#define PARAMETERS 2353u
#define ROUNDS 7u
#define K 200u

static void fail(const char *text)
{
	fprintf(stderr, "%s\n", text);
	exit(1);
}

static int train(void *context, struct sl_runner_training *training, struct sl_error *error)
{
	(void)context;
	(void)error;
	for (size_t l = 0; l < PARAMETERS; l++)
		training->model[l] =
			(float)((double)((training->learner * 7919 + training->t * 104729 + l * 31) % 2001) /
					1000 -
				1);
	return SL_OK;
}

/* --- the kernel, over states that lie as the swarm's do --- */

struct states {
	uint8_t *wire[N];
	int64_t *state;
	struct sl_divisor divisors[DEGREE];
};

static void all_step(struct states *s)
{
	const uint8_t *neighbours[DEGREE];
	for (uint32_t i = 0; i < N; i++) {
		for (uint32_t r = 0; r < DEGREE; r++)
			neighbours[r] = s->wire[(i + 1 + r) % N];
		sl_metropolis_step(s->state, PARAMETERS + 1, neighbours, s->divisors, DEGREE);
	}
}

/* As the swarm counts: others may want the processor too. */
static double cpu_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double kernel_us(void)
{
	struct states s = {.state = bench_memory(PARAMETERS + 1, sizeof *s.state)};
	double best = 1e9;
	for (uint32_t i = 0; i < N; i++) {
		s.wire[i] = bench_memory(PARAMETERS + 1, 8);
		for (size_t b = 0; b < 8 * (PARAMETERS + 1); b++)
			s.wire[i][b] = b % 8 == 7 ? (uint8_t)(b / 8 % 60) : (uint8_t)(b * (i + 3));
	}
	for (uint32_t r = 0; r < DEGREE; r++)
		sl_metropolis_divisor_init(&s.divisors[r], DEGREE + 1);
	for (int pass = 0; pass < 40; pass++) {
		double start = cpu_s();
		all_step(&s);
		best = cpu_s() - start < best ? cpu_s() - start : best;
	}
	for (uint32_t i = 0; i < N; i++)
		free(s.wire[i]);
	free(s.state);
	return 1e6 * best / N;
}

/* --- the swarm --- */

/* Seconds of the quickest round, by phase, and between turns. */
static void quickest(const struct sl_schedule *schedule, double seconds[static SL_PHASE_COUNT],
		     double *deliver_s)
{
	static const char *const set[] = {"rounds=7", "k=200", "mixing=metropolis"};
	struct sl_settings settings;
	struct sl_error error = {0};
	struct sl_runner *runner;
	struct sl_runner_figures last = {0}, now;
	struct sl_runner_options options = {.learners = N,
					    .settings = &settings,
					    .schedule = schedule,
					    .parameters = PARAMETERS,
					    .train = train};
	if (sl_runner_settings(set, 3, schedule, &settings, &error) != SL_OK ||
	    sl_runner_open(&options, &runner, &error) != SL_OK)
		fail(error.text);
	int rc = SL_PENDING;
	while (rc == SL_PENDING) {
		rc = sl_runner_step(runner, &error);
		sl_runner_figures(runner, &now);
		if (now.committed == last.committed)
			continue;
		for (int p = 0; p < SL_PHASE_COUNT; p++)
			seconds[p] = now.seconds[p] - last.seconds[p] < seconds[p]
					     ? now.seconds[p] - last.seconds[p]
					     : seconds[p];
		*deliver_s = now.deliver_s - last.deliver_s < *deliver_s ? now.deliver_s - last.deliver_s
									 : *deliver_s;
		last = now;
	}
	sl_runner_close(runner);
	if (rc != SL_OK)
		fail(error.text);
}

int main(void)
{
	struct sl_topology_request request = {.text = "regular:87", .learners = N, .steps = 1, .seed = 1};
	struct sl_schedule schedule;
	struct sl_error error = {0};
	double seconds[SL_PHASE_COUNT], deliver_s = 1e9;
	if (sl_topology_schedule(&request, &schedule, &error) != SL_OK)
		fail(error.text);
	for (int p = 0; p < SL_PHASE_COUNT; p++)
		seconds[p] = 1e9;
	double kernel = kernel_us();
	quickest(&schedule, seconds, &deliver_s);
	double again = kernel_us(), mix = 1e6 * (seconds[SL_PHASE_MIX] + deliver_s) / N / K;
	kernel = again < kernel ? again : kernel;
	printf("metropolis, N = %u, d = %u, n = %u: us per learner and iteration, the quickest of %u\n", N,
	       DEGREE, PARAMETERS, ROUNDS);
	printf("%8s %8s %8s\n%8.1f %8.1f %8.2f\n", "swarm", "kernel", "ratio", mix, kernel, mix / kernel);
	printf("a round of K = %u, processor seconds of all:", K);
	for (int p = 0; p < SL_PHASE_COUNT; p++)
		if (seconds[p] >= 0.0005)
			printf(" %s %.3f", sl_phase_name((enum sl_phase)p), seconds[p]);
	printf(" between turns %.3f\n", deliver_s);
	sl_schedule_close(&schedule);
	return 0;
}
