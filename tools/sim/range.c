#include "tools/sim/range.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static_assert(sizeof(struct sl_sim_outcome) <= PIPE_BUF, "an outcome goes through a pipe whole");

struct worker {
	pid_t pid; /* 0: it has finished */
	int pipe;
	volatile uint64_t *seed; /* that it plays; shared with it */
};

struct running {
	const struct sl_sim_range *range;
	struct worker workers[SL_SIM_JOBS_MOST];
	struct pollfd polls[SL_SIM_JOBS_MOST];
	uint64_t *seeds;
};

void sl_sim_totals_add(struct sl_sim_totals *t, const struct sl_sim_outcome *o)
{
	t->seeds++;
	t->failed += o->failed;
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
	for (uint32_t k = 0; k < SL_SIM_POINTS_MOST; k++)
		t->point[k] += o->tally.point[k];
}

/* --- a worker --- */

static void work(const struct sl_sim_range *range, uint64_t seed, int out, volatile uint64_t *at)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	mallopt(M_TRIM_THRESHOLD, 1 << 28); /* a world is built and torn down a hundred times a second: */
	mallopt(M_MMAP_THRESHOLD, 1 << 28); /* its memory stays here */
	mallopt(M_TOP_PAD, 1 << 24);
	for (; seed < range->seed + range->seeds; seed += range->jobs) {
		struct sl_sim_outcome outcome;
		*at = seed;
		sl_sim_play(&(struct sl_sim_play){.seed = seed,
						  .learners = range->learners,
						  .rounds = range->rounds,
						  .lines = range->lines},
			    &outcome);
		if (write(out, &outcome, sizeof outcome) != (ssize_t)sizeof outcome)
			_exit(1); /* the parent has gone */
	}
	fflush(NULL);
	_exit(0);
}

static int start(struct running *running, uint32_t w, uint64_t seed, struct sl_error *error)
{
	struct worker *worker = &running->workers[w];
	int ends[2];
	if (pipe(ends) != 0)
		return sl_err_set(error, SL_ERR_IO, "cannot make a pipe: %s", strerror(errno));
	fflush(NULL);
	worker->seed = &running->seeds[w];
	worker->pid = fork();
	if (worker->pid == 0) {
		close(ends[0]);
		work(running->range, seed, ends[1], worker->seed);
	}
	close(ends[1]);
	worker->pipe = ends[0];
	running->polls[w] = (struct pollfd){.fd = ends[0], .events = POLLIN};
	return worker->pid > 0 ? SL_OK
			       : sl_err_set(error, SL_ERR_IO, "cannot start a process: %s", strerror(errno));
}

/* --- the others --- */

static bool take(const struct worker *worker, struct sl_sim_outcome *outcome)
{
	ssize_t n;
	do
		n = read(worker->pipe, outcome, sizeof *outcome);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *outcome;
}

/* It has finished, or died of a seed: then the next worker begins after that one. */
static int ended(struct running *running, uint32_t w, sl_sim_each each, void *context, struct sl_error *error)
{
	struct worker *worker = &running->workers[w];
	struct sl_sim_outcome outcome = {.seed = *worker->seed, .failed = true};
	const struct sl_sim_range *range = running->range;
	int status = 0;
	waitpid(worker->pid, &status, 0);
	close(worker->pipe);
	worker->pid = 0;
	running->polls[w].fd = -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return SL_OK;
	snprintf(outcome.why, sizeof outcome.why, "seed %llu: the learners' own code gave up: %s",
		 (unsigned long long)outcome.seed,
		 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended");
	if (!each(context, &outcome) || outcome.seed + range->jobs >= range->seed + range->seeds)
		return SL_OK;
	return start(running, w, outcome.seed + range->jobs, error);
}

static void stop_all(struct running *running)
{
	for (uint32_t w = 0; w < running->range->jobs; w++)
		if (running->workers[w].pid > 0) {
			kill(running->workers[w].pid, SIGTERM);
			waitpid(running->workers[w].pid, NULL, 0);
			close(running->workers[w].pipe);
		}
}

static int listen_to(struct running *running, sl_sim_each each, void *context, struct sl_error *error)
{
	for (;;) {
		uint32_t alive = 0;
		for (uint32_t w = 0; w < running->range->jobs; w++)
			alive += running->workers[w].pid > 0;
		if (alive == 0)
			return SL_OK;
		if (poll(running->polls, running->range->jobs, -1) < 0 && errno != EINTR)
			return sl_err_set(error, SL_ERR_IO, "poll: %s", strerror(errno));
		for (uint32_t w = 0; w < running->range->jobs; w++) {
			struct sl_sim_outcome outcome;
			if (running->workers[w].pid <= 0 || running->polls[w].revents == 0)
				continue;
			bool more = take(&running->workers[w], &outcome);
			if (more && !each(context, &outcome))
				return SL_OK;
			if (!more && ended(running, w, each, context, error) != SL_OK)
				return error->code;
		}
	}
}

int sl_sim_range_run(const struct sl_sim_range *range, sl_sim_each each, void *context,
		     struct sl_error *error)
{
	struct running running = {.range = range};
	size_t bytes = range->jobs * sizeof *running.seeds;
	running.seeds = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (running.seeds == MAP_FAILED)
		return sl_err_set(error, SL_ERR_NOMEM, "no memory to share: %s", strerror(errno));
	int rc = SL_OK;
	for (uint32_t w = 0; w < range->jobs && rc == SL_OK; w++) {
		running.polls[w].fd = -1;
		rc = w < range->seeds ? start(&running, w, range->seed + w, error) : SL_OK;
	}
	if (rc == SL_OK)
		rc = listen_to(&running, each, context, error);
	stop_all(&running);
	munmap(running.seeds, bytes);
	return rc;
}
