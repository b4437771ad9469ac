/* What it costs to finish a round after one death (protocol 6, finish), against the mixing that it takes the
 * place of.
 *
 * One learner dies in the moment in which its first state has left: of most masked states next to nothing has
 * gone round yet, and later there is less to bring together. Mixing is SEAL, MIX, CLOSE and the States;
 * recovery is KEEP, FETCH, CHECK, SUM and Hold, Ask, Masked, with what it takes to catch up with somebody who
 * was faster. Bytes are of frames, before TLS; times are of the processor in jobs alone, with the spool in
 * memory. All per living learner. What was mixed in vain before the learners heard of the death stands under
 * mixing, in the lines of the deaths.
 *
 * Fails where the result is another one than mixing came to; never because of a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/wire/codec.h"
#include "test/graph/bench.h"
#include "tools/sim/sim.h"

#define SEEDS 5u

enum part { MIXING, RECOVERY, ELSE, PARTS };
enum fate { LIVES, DIES, RETURNS, FATES };
static const char *const fate_names[] = {"nobody", "for good", "restarts"};

struct course {
	const char *topology;
	uint32_t learners;
	uint64_t n;
};

struct bill {
	double bytes[PARTS], ns[PARTS]; /* of all learners */
	uint32_t learners;		/* that were alive at the end */
	uint32_t recovered;		/* of them, by adding up themselves */
	double degree, iterations;	/* of the view: the mean of its degrees, K */
	float *model;
};

static struct bill *bill; /* of the present run */

void sl_sim_failed(struct sl_sim *sim, const char *text)
{
	(void)sim;
	fprintf(stderr, "%s\n", text);
	exit(1);
}

/* --- what is counted --- */

static enum part part_of_job(enum sl_job_kind kind)
{
	if (kind == SL_JOB_COMMITMENT || kind == SL_JOB_MIX || kind == SL_JOB_CLOSE)
		return MIXING;
	return kind >= SL_JOB_BACKUP ? RECOVERY : ELSE;
}

static enum part part_of_message(enum sl_message_kind kind)
{
	if (kind == SL_MSG_STATE)
		return MIXING;
	bool recovers = kind == SL_MSG_HAVE || kind == SL_MSG_REQUEST || kind == SL_MSG_MASKED ||
			kind == SL_MSG_RESULT;
	return recovers ? RECOVERY : ELSE;
}

static double spent_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void __real_sl_job_run(struct sl_workspace *workspace, const struct sl_job *job,
		       struct sl_job_result *result);
void __wrap_sl_job_run(struct sl_workspace *workspace, const struct sl_job *job,
		       struct sl_job_result *result);
void __wrap_sl_job_run(struct sl_workspace *workspace, const struct sl_job *job, struct sl_job_result *result)
{
	double start = spent_ns();
	__real_sl_job_run(workspace, job, result);
	bill->ns[part_of_job(job->kind)] += spent_ns() - start;
}

static bool weigh(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *message)
{
	(void)sim, (void)i, (void)j;
	bill->bytes[part_of_message(message->kind)] += (double)sl_codec_bytes(message);
	return true;
}

/* --- a run --- */

static struct sl_sim *begin(const struct course *course, uint64_t seed)
{
	struct sl_sim_options o = {.seed = seed,
				   .learners = course->learners,
				   .topology = course->topology,
				   .parameters = {.n = course->n}};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap = weigh;
	sl_sim_start(sim);
	return sim;
}

static void let_die(struct sl_sim *sim, uint32_t victim, enum fate fate)
{
	sl_sim_run_until_phase(sim, victim, SL_PHASE_MIX);
	sl_sim_crash(sim, victim);
	if (fate == RETURNS)
		sl_sim_restart(sim, victim);
}

/* The death costs time, and nothing else: everybody's model counts, in the first attempt, and the mean is
 * what it was. */
static void judge(struct sl_sim *sim, uint32_t i, const float *model)
{
	const struct sl_sim_note *note = sl_sim_find(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE);
	bool first =
		note == NULL || (note->report.n[0] == sim->n && note->report.a == 1); /* NULL: it caught up */
	if (!first || memcmp(sim->learners[i].workspace.committed, model,
			     sim->learners[i].workspace.n * sizeof *model) != 0)
		sl_sim_fail(sim, "learner %u has another result than mixing has", sim->ids[i]);
}

/* What mixing came to, and on which graph. */
static void remember(struct sl_sim *sim)
{
	const struct sl_report *report = &sl_sim_expect(sim, 0, SL_REPORT_COMMITTED, SL_REASON_NONE)->report;
	const struct sl_workspace *workspace = &sim->learners[0].workspace;
	bill->degree = 2.0 * (double)report->n[1] / (double)report->n[0];
	bill->iterations = (double)report->n[2];
	bill->model = bench_memory(workspace->n, sizeof *bill->model);
	memcpy(bill->model, workspace->committed, workspace->n * sizeof *bill->model);
}

static void settle_bill(struct sl_sim *sim, uint32_t dead, const float *model)
{
	for (uint32_t i = 0; i < sim->n; i++) {
		if (i == dead)
			continue;
		judge(sim, i, model);
		bill->learners++;
		bill->recovered += sl_sim_find(sim, i, SL_REPORT_RECOVERED, SL_REASON_NONE) != NULL;
	}
}

static void run(const struct course *course, uint64_t seed, enum fate fate, struct bill *bills)
{
	bill = &bills[fate];
	struct sl_sim *sim = begin(course, seed);
	uint32_t victim = (uint32_t)seed % sim->n, dead = fate == DIES ? victim : UINT32_MAX;
	if (fate != LIVES)
		let_die(sim, victim, fate);
	for (uint32_t i = 0; i < sim->n; i++)
		if (i != dead)
			sl_sim_run_until_commit(sim, i, 1);
	if (fate == LIVES)
		remember(sim);
	settle_bill(sim, dead, bills[LIVES].model);
	if (fate != LIVES && bill->recovered == 0)
		sl_sim_fail(sim, "nobody recovered");
	sl_sim_free(sim);
}

/* --- the table --- */

enum figure {
	DEGREE,
	ITERATIONS,
	MIXING_MB,
	MIXING_MS,
	RECOVERY_MB,
	RECOVERY_MS,
	BYTES_RATIO,
	TIME_RATIO,
	RECOVERED,
	FIGURES
};

static double most_bytes, most_time; /* of the ratios */

static void reckon(const struct bill *of, const struct bill *whole, double f[static FIGURES])
{
	double living = of->learners;
	f[DEGREE] = whole->degree;
	f[ITERATIONS] = whole->iterations;
	f[MIXING_MB] = of->bytes[MIXING] / living / 1e6;
	f[MIXING_MS] = of->ns[MIXING] / living / 1e6;
	f[RECOVERY_MB] = of->bytes[RECOVERY] / living / 1e6;
	f[RECOVERY_MS] = of->ns[RECOVERY] / living / 1e6;
	f[BYTES_RATIO] = of->bytes[RECOVERY] / living / (whole->bytes[MIXING] / whole->learners);
	f[TIME_RATIO] = of->ns[RECOVERY] / living / (whole->ns[MIXING] / whole->learners);
	f[RECOVERED] = of->recovered;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void take_medians(struct bill bills[SEEDS][FATES], enum fate fate, double f[static FIGURES])
{
	double all[SEEDS][FIGURES], one[SEEDS];
	for (uint32_t s = 0; s < SEEDS; s++)
		reckon(&bills[s][fate], &bills[s][LIVES], all[s]);
	for (uint32_t k = 0; k < FIGURES; k++) {
		for (uint32_t s = 0; s < SEEDS; s++)
			one[s] = all[s][k];
		qsort(one, SEEDS, sizeof *one, ascending);
		f[k] = one[SEEDS / 2];
	}
}

static void print(const struct course *course, struct bill bills[SEEDS][FATES], enum fate fate)
{
	double f[FIGURES];
	take_medians(bills, fate, f);
	printf("%-10s %4u %6.1f %4.0f %7llu %-9s %9.3f %8.2f", course->topology, course->learners, f[DEGREE],
	       f[ITERATIONS], (unsigned long long)course->n, fate_names[fate], f[MIXING_MB], f[MIXING_MS]);
	if (fate != LIVES) {
		printf(" %9.3f %8.2f %9.4f %8.3f %10.0f", f[RECOVERY_MB], f[RECOVERY_MS], f[BYTES_RATIO],
		       f[TIME_RATIO], f[RECOVERED]);
		most_bytes = fmax(most_bytes, f[BYTES_RATIO]);
		most_time = fmax(most_time, f[TIME_RATIO]);
	}
	printf("\n");
}

static void measure(const struct course *course)
{
	struct bill bills[SEEDS][FATES] = {0};
	for (uint64_t s = 0; s < SEEDS; s++)
		for (enum fate fate = LIVES; fate < FATES; fate++)
			run(course, 1 + s, fate, bills[s]);
	for (enum fate fate = LIVES; fate < FATES; fate++)
		print(course, bills, fate);
	for (uint32_t s = 0; s < SEEDS; s++)
		free(bills[s][LIVES].model);
}

int main(void)
{
	static const struct course courses[] = {
		{"complete", 10, 10000},   {"complete", 10, 100000}, {"regular:4", 20, 10000},
		{"regular:4", 20, 100000}, {"ring", 8, 10000},	     {"ring", 8, 100000},
		{"complete", 100, 10000}, /* in an overlay */
	};
	printf("a round that one death broke, finished; per living learner, medians of %u seeds\n", SEEDS);
	printf("%-10s %4s %6s %4s %7s %-9s %18s %18s %18s\n", "", "", "", "", "", "", "mixing", "recovery",
	       "recovery/mixing");
	printf("%-10s %4s %6s %4s %7s %-9s %9s %8s %9s %8s %9s %8s %10s\n", "graph", "N", "degree", "K", "n",
	       "dies", "MB", "ms", "MB", "ms", "bytes", "ms", "recovering");
	for (size_t i = 0; i < sizeof courses / sizeof *courses; i++)
		measure(&courses[i]);
	printf("recovery takes at most %.4f of a round's bytes, %.3f of its time in jobs\n", most_bytes,
	       most_time);
	return 0;
}
