/* Work of a learner: jobs, training, records. One thing at a time, in the order given. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/runner_internal.h"

/* --- jobs --- */

/* A view's graph is the same for all of it: surveyed once. */
static void survey(struct swarm *swarm, struct swarm_learner *l, const struct sl_job *job, struct sl_job_result *result)
{
	pthread_mutex_lock(&swarm->lock);
	if (swarm->survey_code != SL_OK || memcmp(swarm->survey_h, job->view->h, SL_HASH_BYTES) != 0) {
		sl_job_run(&l->vault, job, result);
		swarm->survey = l->vault.survey;
		swarm->survey_code = result->code;
		memcpy(swarm->survey_h, job->view->h, SL_HASH_BYTES);
	}
	l->vault.survey = swarm->survey; /* exact mixes by it */
	*result = (struct sl_job_result){
		.kind = job->kind, .epoch = job->epoch, .chunk = job->chunk, .code = swarm->survey_code, .survey = &l->vault.survey};
	pthread_mutex_unlock(&swarm->lock);
}

static void run(struct swarm *swarm, uint32_t i, const struct sl_job *job, struct sl_job_result *result)
{
	struct swarm_learner *l = &swarm->learners[i];
	sim_vectors_prepare(&l->vault, job);
	if (job->kind == SL_JOB_ENCODE || job->kind == SL_JOB_CHECK)
		l->view = job->view;
	if (job->kind == SL_JOB_CLOSE)
		swarm_look_closing(swarm, i);
	if (job->kind == SL_JOB_SURVEY)
		survey(swarm, l, job, result);
	else
		sl_job_run(&l->vault, job, result);
	if (job->kind == SL_JOB_ENCODE && result->code == SL_OK && swarm->options.verify)
		swarm_sum_add(swarm, i);
}

static void compute(struct swarm_worker *w, uint32_t i, const struct sl_job *job)
{
	struct sl_job_result result;
	run(w->swarm, i, job, &result);
	swarm_give_back(w, job->buffers);
	swarm_event(w, i, &(struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &result});
}

/* --- training --- */

static void train(struct swarm_worker *w, uint32_t i, const struct swarm_work *work)
{
	const struct swarm_options *o = &w->swarm->options;
	struct swarm_learner *l = &w->swarm->learners[i];
	struct sl_error error = {0};
	struct swarm_training training = {.learner = i,
					  .t = work->durable.t,
					  .draw = work->draw,
					  .committed = l->vault.committed,
					  .model = l->vault.trained,
					  .weight = 1};
	if (o->train(o->context, &training, &error) != SL_OK) {
		swarm_fail(w->swarm, i, &error);
		return;
	}
	l->vault.weight = training.weight;
	swarm_event(w, i, &(struct sl_event){.kind = SL_EVENT_TRAINED});
}

/* --- what is durable here is what the process remembers --- */

static void tell_commit(struct swarm_worker *w, const struct swarm_commit *commit)
{
	const struct swarm_options *o = &w->swarm->options;
	double *phase = &w->seconds[w->swarm->learners[commit->learner].phase];
	if (o->committed == NULL)
		return;
	swarm_tick(w, phase);
	pthread_mutex_lock(&w->swarm->lock);
	o->committed(o->context, commit);
	pthread_mutex_unlock(&w->swarm->lock);
	swarm_tick(w, &w->elsewhere_s); /* to look at models is no learner's work */
}

static void commit(struct swarm_worker *w, uint32_t i, const struct swarm_work *work)
{
	struct swarm_learner *l = &w->swarm->learners[i];
	bool own = l->phase == SL_PHASE_COMMIT;
	struct swarm_commit commit = {.learner = i,
				      .t = work->durable.t,
				      .step = w->swarm->steps,
				      .view = own ? l->view : NULL,
				      .model = l->vault.committed,
				      .z = l->vault.s,
				      .digest = work->digest,
				      .p = work->p,
				      .total_weight = work->total_weight,
				      .exact = own && w->swarm->options.verify && swarm_sum_check(w->swarm, i)};
	free(l->result);
	l->result = sim_vectors_pack(&l->vault, work->p);
	l->p = work->p;
	l->committed = work->durable.t;
	tell_commit(w, &commit);
}

void swarm_work(struct swarm_worker *w, uint32_t i)
{
	struct swarm_learner *l = &w->swarm->learners[i];
	struct swarm_work work = l->work.items[l->work_done++];
	switch (work.kind) {
	case SWARM_JOB:
		compute(w, i, &work.job);
		break;
	case SWARM_TRAIN:
		train(w, i, &work);
		break;
	case SWARM_PERSIST:
		if (work.durable.kind == SL_PERSIST_COMMIT)
			commit(w, i, &work);
		swarm_event(w, i, &(struct sl_event){.kind = SL_EVENT_DURABLE, .durable = work.durable});
		break;
	case SWARM_WIPE:
		sim_vectors_wipe(&l->vault);
		break;
	}
}
