/* What an observer of all learners sees and no learner tells: models as trained, and states while they are
 * mixed. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/field/metropolis.h"
#include "tools/starling/simulate_run.h"

int sl_simulate_trained(const struct sl_simulation *s, const struct sl_runner_training *training,
			struct sl_error *error)
{
	char path[PATH_MAX];
	ssize_t bytes = (ssize_t)(s->plan.n * sizeof *training->model);
	if (s->options->trained == NULL)
		return SL_OK;
	snprintf(path, sizeof path, "%s/%u.f32", s->options->trained, (unsigned)training->t);
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	bool written = file >= 0 && ftruncate(file, bytes * s->plan.learners) == 0 &&
		       pwrite(file, training->model, (size_t)bytes, bytes * training->learner) == bytes;
	int rc = written ? SL_OK : sl_err_set(error, SL_ERR_IO, "--trained: %s: %s", path, strerror(errno));
	if (file >= 0)
		close(file);
	return rc;
}

int sl_simulate_trace_open(struct sl_simulation *s, struct sl_error *error)
{
	const struct sl_simulation_options *o = s->options;
	if (o->trained != NULL && access(o->trained, W_OK | X_OK) != 0)
		return sl_err_set(error, SL_ERR_IO, "--trained %s: %s", o->trained, strerror(errno));
	if (o->states == NULL)
		return SL_OK;
	if (s->plan.settings.mixing != SL_ENGINE_METROPOLIS)
		return sl_err_set(error, SL_ERR_INVALID, "--states: needs --set mixing=metropolis");
	if (o->coordinate_count == 0 || o->coordinates[o->coordinate_count - 1] > s->plan.n)
		return sl_err_set(error, SL_ERR_RANGE, "--states: needs --coordinates, from 0 to %zu",
				  (size_t)s->plan.n);
	s->states = fopen(o->states, "we");
	return s->states != NULL
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_IO, "--states %s: %s", o->states, strerror(errno));
}

void sl_simulate_sampled(void *context, const struct sl_runner_sample *sample)
{
	const struct sl_simulation *s = context;
	const struct sl_view *view = sample->view;
	uint64_t z;
	fprintf(s->states, "%u %" PRIu64 " %u", (unsigned)view->t, sample->k, sample->learner + 1);
	for (uint32_t c = 0; c < sample->count; c++) {
		sl_metropolis_close(&view->field, view->n, view->fraction, (const int64_t *)&sample->raw[c],
				    1, &z);
		fprintf(s->states, " %" PRIu64, z);
	}
	fputc('\n', s->states);
}
