#include "tools/paper/memory.h"

#include <malloc.h>
#include <string.h>

#include "common/base/random.h"
#include "tools/sim/runner.h"

#define LEARNERS 3u

/* "VmHWM" of this process, in bytes; negative: not said. */
static double status_of(const char *key)
{
	char line[256];
	double kilobytes = -1;
	FILE *in = fopen("/proc/self/status", "r");
	if (in == NULL)
		return -1;
	while (fgets(line, sizeof line, in) != NULL)
		if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ':')
			sscanf(line + strlen(key) + 1, "%lf", &kilobytes);
	fclose(in);
	return kilobytes * 1024;
}

/* From now on the peak is that of what follows. */
static bool forget_peak(void)
{
	malloc_trim(0);
	FILE *out = fopen("/proc/self/clear_refs", "w");
	bool written = out != NULL && fputs("5", out) >= 0;
	return out != NULL && fclose(out) == 0 && written;
}

static int train(void *context, struct sl_runner_training *training, struct sl_error *error)
{
	uint64_t random = sl_random_seed(1, training->learner, training->t);
	(void)error;
	for (uint32_t l = 0; l < *(const uint32_t *)context; l++)
		training->model[l] = (float)sl_random_in(&random, -1, 1);
	return SL_OK;
}

static int play(struct sl_paper *r, uint32_t floats, struct sl_error *error)
{
	static const char *const set[] = {"rounds=1", "sharing=additive"};
	struct sl_settings settings;
	struct sl_runner *runner;
	struct sl_runner_options options = {.learners = LEARNERS,
					    .settings = &settings,
					    .parameters = floats,
					    .seed = 1,
					    .train = train,
					    .context = &floats};
	int rc = sl_runner_settings(set, 2, NULL, &settings, error);
	if (rc == SL_OK)
		rc = sl_runner_open(&options, &runner, error);
	if (rc != SL_OK)
		return rc;
	do
		rc = sl_runner_step(runner, error);
	while (rc == SL_PENDING && sl_write_at(r, "memory", 0) == SL_OK);
	sl_runner_close(runner);
	return rc;
}

int sl_memory_of_learners(struct sl_paper *r, uint32_t floats, double *bytes, struct sl_error *error)
{
	bool forgotten = forget_peak();
	double before = status_of("VmRSS");
	int rc = play(r, floats, error);
	double peak = status_of("VmHWM");
	if (rc != SL_OK)
		return rc;
	if (!forgotten || before < 0 || peak < before)
		return sl_err_set(error, SL_ERR_IO,
				  "this system does not say how much memory a process takes");
	*bytes = (peak - before) / LEARNERS;
	return SL_OK;
}
