/* Work of a learner: jobs, training, records. One thing at a time, in the order given. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/runner_internal.h"

/* --- jobs --- */

/* A view's graph is the same for all of it: analysed once. */
static void analysis(struct sl_runner *runner, struct sl_runner_learner *l, const struct sl_job *job,
		     struct sl_job_result *result)
{
	pthread_mutex_lock(&runner->lock);
	if (runner->analysis_code != SL_OK || memcmp(runner->analysis_h, job->view->h, SL_HASH_BYTES) != 0) {
		sl_job_run(&l->workspace, job, result);
		runner->analysis = l->workspace.analysis;
		runner->analysis_code = result->code;
		memcpy(runner->analysis_h, job->view->h, SL_HASH_BYTES);
	}
	l->workspace.analysis = runner->analysis; /* exact mixes by it */
	*result = (struct sl_job_result){.kind = job->kind,
					 .epoch = job->epoch,
					 .chunk = job->chunk,
					 .code = runner->analysis_code,
					 .analysis = &l->workspace.analysis};
	pthread_mutex_unlock(&runner->lock);
}

static void run(struct sl_runner *runner, uint32_t i, const struct sl_job *job, struct sl_job_result *result)
{
	struct sl_runner_learner *l = &runner->learners[i];
	sl_sim_vectors_prepare(&l->workspace, job);
	if (job->kind == SL_JOB_ENCODE || job->kind == SL_JOB_CHECK)
		l->view = job->view;
	if (job->kind == SL_JOB_CLOSE)
		sl_runner_look_closing(runner, i);
	if (job->kind == SL_JOB_ANALYSE)
		analysis(runner, l, job, result);
	else
		sl_job_run(&l->workspace, job, result);
	if (job->kind == SL_JOB_ENCODE && result->code == SL_OK && runner->options.verify)
		sl_runner_sum_add(runner, i);
}

static void compute(struct sl_runner_worker *w, uint32_t i, const struct sl_job *job)
{
	struct sl_job_result result;
	run(w->runner, i, job, &result);
	sl_runner_give_back(w, job->buffers);
	sl_runner_event(w, i, &(struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &result});
}

/* --- training --- */

static void train(struct sl_runner_worker *w, uint32_t i, const struct sl_runner_work *work)
{
	const struct sl_runner_options *o = &w->runner->options;
	struct sl_runner_learner *l = &w->runner->learners[i];
	struct sl_error error = {0};
	struct sl_runner_training training = {.learner = i,
					      .t = work->durable.t,
					      .draw = work->draw,
					      .committed = l->workspace.committed,
					      .model = l->workspace.trained,
					      .weight = 1};
	if (o->train(o->context, &training, &error) != SL_OK) {
		sl_runner_fail(w->runner, i, &error);
		return;
	}
	l->workspace.weight = training.weight;
	sl_runner_event(w, i, &(struct sl_event){.kind = SL_EVENT_TRAINED});
}

/* --- what is durable here is what the process remembers --- */

static void tell_commit(struct sl_runner_worker *w, const struct sl_runner_commit *commit)
{
	const struct sl_runner_options *o = &w->runner->options;
	double *phase = &w->seconds[w->runner->learners[commit->learner].phase];
	if (o->committed == NULL)
		return;
	sl_runner_tick(w, phase);
	pthread_mutex_lock(&w->runner->lock);
	o->committed(o->context, commit);
	pthread_mutex_unlock(&w->runner->lock);
	sl_runner_tick(w, &w->elsewhere_s); /* to look at models is no learner's work */
}

static void commit(struct sl_runner_worker *w, uint32_t i, const struct sl_runner_work *work)
{
	struct sl_runner_learner *l = &w->runner->learners[i];
	bool own = l->phase == SL_PHASE_COMMIT;
	struct sl_runner_commit commit = {.learner = i,
					  .t = work->durable.t,
					  .step = w->runner->steps,
					  .view = own ? l->view : NULL,
					  .model = l->workspace.committed,
					  .z = l->workspace.s,
					  .digest = work->digest,
					  .p = work->p,
					  .total_weight = work->total_weight,
					  .exact = own && w->runner->options.verify &&
						   sl_runner_sum_check(w->runner, i)};
	free(l->result);
	l->result = sl_sim_vectors_pack(&l->workspace, work->p);
	l->p = work->p;
	l->committed = work->durable.t;
	tell_commit(w, &commit);
}

void sl_runner_work(struct sl_runner_worker *w, uint32_t i)
{
	struct sl_runner_learner *l = &w->runner->learners[i];
	struct sl_runner_work work = l->work.items[l->work_done++];
	switch (work.kind) {
	case SL_RUNNER_JOB:
		compute(w, i, &work.job);
		break;
	case SL_RUNNER_TRAIN:
		train(w, i, &work);
		break;
	case SL_RUNNER_PERSIST:
		if (work.durable.kind == SL_PERSIST_COMMIT)
			commit(w, i, &work);
		sl_runner_event(w, i, &(struct sl_event){.kind = SL_EVENT_DURABLE, .durable = work.durable});
		break;
	case SL_RUNNER_WIPE:
		sl_sim_vectors_wipe(&l->workspace);
		break;
	}
}
