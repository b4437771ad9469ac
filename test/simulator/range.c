#include "test/simulator/play.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static_assert(sizeof(struct sl_sim_outcome) <= PIPE_BUF, "an outcome goes through a pipe whole");

struct running {
	const struct sl_sim_play *range;
	uint64_t end;
	pid_t workers[SL_SIM_JOBS_MOST]; /* 0: none */
	volatile uint64_t *seeds;	 /* that each worker plays; shared with it */
	bool more;			 /* outcomes are wanted */
};

void sl_sim_totals_add(struct sl_sim_totals *t, const struct sl_sim_outcome *o)
{
	t->seeds++;
	t->failed += o->failed;
	t->stuck += o->stuck;
	t->steps += o->steps;
	t->virtual_ms += o->virtual_ms;
	t->faults += o->faults;
	t->commits += o->commits;
	t->caught_up += o->caught_up;
	t->model_invalidated += o->model_invalidated;
	t->recovered += o->recovered;
	t->restarts += o->restarts;
	t->seconds += o->seconds;
	for (uint32_t k = 0; k < SL_SIM_FAULT_COUNT; k++)
		for (uint32_t p = 0; p < SL_PHASE_COUNT; p++)
			t->hit[k][p] += o->tally.hit[k][p];
	for (uint32_t k = 0; k < SL_SIM_LIE_COUNT; k++)
		t->told[k] += o->told[k];
	for (uint32_t k = 0; k < SL_SIM_POINTS_MOST; k++)
		t->point[k] += o->tally.point[k];
}

/* --- a worker --- */

/* Play the seeds of a worker from *seed on; *seed is always the one that is played. */
static void work(const struct running *running, volatile uint64_t *seed, int out)
{
	struct sl_sim_play play = *running->range;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	mallopt(M_TRIM_THRESHOLD, 1 << 28); /* a world is built and torn down a hundred times a second: */
	mallopt(M_MMAP_THRESHOLD, 1 << 28); /* its memory stays here */
	mallopt(M_TOP_PAD, 1 << 24);
	for (; *seed < running->end; *seed += play.jobs) {
		struct sl_sim_outcome outcome;
		play.seed = *seed;
		sl_sim_play(&play, &outcome);
		if (write(out, &outcome, sizeof outcome) != (ssize_t)sizeof outcome)
			_exit(1); /* the parent has gone */
	}
	fflush(NULL);
	_exit(0);
}

/* --- the others --- */

/* Start a worker wherever seeds are left. */
static int start(struct running *running, const int ends[2], struct sl_error *error)
{
	fflush(NULL);
	for (uint32_t w = 0; w < running->range->jobs; w++) {
		pid_t pid = running->seeds[w] < running->end ? fork() : 0;
		if (pid < 0)
			return sl_err_set(error, SL_ERR_IO, "cannot start a process: %s", strerror(errno));
		if (pid == 0 && running->seeds[w] < running->end) {
			close(ends[0]);
			work(running, &running->seeds[w], ends[1]);
		}
		running->workers[w] = pid;
	}
	return SL_OK;
}

/* Pass each outcome on, until all workers have ended. */
static void listen_to(struct running *running, int pipe, sl_sim_each each, void *context)
{
	struct sl_sim_outcome outcome;
	ssize_t n = 1;
	while (running->more && n != 0) {
		n = read(pipe, &outcome, sizeof outcome);
		if (n == (ssize_t)sizeof outcome)
			running->more = each(context, &outcome);
		else if (n < 0 && errno != EINTR)
			n = 0;
	}
}

/* Wait for worker `w`. If it died, its seed has failed; the seeds after it are left for the next worker. */
static void await(struct running *running, uint32_t w, sl_sim_each each, void *context)
{
	struct sl_sim_outcome outcome = {.failed = true};
	int status = 0;
	if (!running->more)
		kill(running->workers[w], SIGTERM);
	waitpid(running->workers[w], &status, 0);
	running->workers[w] = 0;
	if (!running->more || running->seeds[w] >= running->end)
		return;
	outcome.seed = running->seeds[w];
	running->seeds[w] += running->range->jobs;
	snprintf(outcome.why, sizeof outcome.why, "seed %llu: the learners' own code gave up: %s",
		 (unsigned long long)outcome.seed,
		 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended");
	running->more = each(context, &outcome);
}

/* Play the seeds that are left. */
static int play_on(struct running *running, sl_sim_each each, void *context, struct sl_error *error)
{
	int ends[2];
	if (pipe(ends) != 0)
		return sl_err_set(error, SL_ERR_IO, "cannot make a pipe: %s", strerror(errno));
	int rc = start(running, ends, error);
	running->more &= rc == SL_OK;
	close(ends[1]);
	listen_to(running, ends[0], each, context);
	for (uint32_t w = 0; w < running->range->jobs; w++)
		if (running->workers[w] > 0)
			await(running, w, each, context);
	close(ends[0]);
	return rc;
}

static bool unfinished(const struct running *running)
{
	bool left = false;
	for (uint32_t w = 0; w < running->range->jobs; w++)
		left |= running->seeds[w] < running->end;
	return left && running->more;
}

int sl_sim_range_run(const struct sl_sim_play *range, sl_sim_each each, void *context, struct sl_error *error)
{
	struct running running = {.range = range, .end = range->seed + range->seeds, .more = true};
	size_t bytes = range->jobs * sizeof *running.seeds;
	void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return sl_err_set(error, SL_ERR_NOMEM, "no memory to share: %s", strerror(errno));
	running.seeds = shared;
	for (uint32_t w = 0; w < range->jobs; w++)
		running.seeds[w] = range->seed + w;
	int rc = SL_OK;
	while (rc == SL_OK && unfinished(&running))
		rc = play_on(&running, each, context, error);
	munmap(shared, bytes);
	return rc;
}
