#include "daemon/learner/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/compute/job_model.h"
#include "common/model/checkpoint.h"
#include "daemon/learner/budget.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/vectors.h"
#include "daemon/net/hop.h"
#include "daemon/observe/report_log.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/runtime/vector_memory.h"

struct task {
	struct sl_task base;
	struct sl_daemon *daemon;
	struct sl_job job;
	struct sl_job_result result;
	sl_round t;
	uint64_t draw;
	bool again; /* see struct sl_training_request */
	bool based; /* a model was committed before */
	struct sl_training training;
	bool far;   /* of training: see the event TRAINED */
	bool zeros; /* of ENCODE: the budget has no room for the model */
	struct sl_trainer_commit commit;
	double mse;
	int code;
	struct sl_error error;
};

static struct task *task_new(struct sl_daemon *daemon, void (*run)(struct sl_task *),
			     void (*done)(struct sl_task *))
{
	struct task *task = calloc(1, sizeof *task);
	if (task == NULL)
		abort();
	task->base.run = run;
	task->base.done = done;
	task->daemon = daemon;
	return task;
}

void sl_tasks_fatal(struct sl_daemon *daemon, const char *text)
{
	atomic_store(&daemon->failed, true);
	sl_report_log_reason(&daemon->observe, SL_RECORD_FATAL, text);
	sl_daemon_stop(daemon, 1);
}

/* ---- jobs ---- */

/* Write the weight and the trained model into the state folder (setting unsafe_dump_model, `launch
 * --verify`). */
static int model_dump(const struct sl_daemon *daemon, const struct sl_view *view, struct sl_error *error)
{
	const struct sl_workspace *workspace = &daemon->workspace;
	char path[SL_PATH_BYTES + 64];
	snprintf(path, sizeof path, "%s/trained-%06u.model", daemon->settings->state, view->t);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t bytes = sl_workspace_model_bytes(workspace);
	bool good = fd >= 0 &&
		    write(fd, &workspace->weight, sizeof workspace->weight) ==
			    (ssize_t)sizeof workspace->weight &&
		    write(fd, workspace->trained, bytes) == (ssize_t)bytes;
	int saved = errno;
	if (fd >= 0)
		close(fd);
	return good ? SL_OK : sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(saved));
}

/* Start the training that is due. Jobs of an aborted attempt may still read the model that was trained
 * before. */
static void start_training(struct sl_daemon *daemon)
{
	if (daemon->training.due == NULL || daemon->training.readers > 0)
		return;
	sl_worker_add(&daemon->train, daemon->training.due);
	daemon->training.due = NULL;
}

/* Refuse to encode for a round that this learner has committed: a second result of that round would
 * contradict the first. */
static int check_promise(const struct sl_daemon *daemon, const struct sl_job *job, struct sl_error *error)
{
	if (job->kind != SL_JOB_ENCODE || job->view->t > daemon->committed.through)
		return SL_OK;
	return sl_err_set(error, SL_ERR_REFUSED,
			  "this learner has committed round %" PRIu32
			  ", its model cannot be read, and no reachable peer has it; "
			  "restart the learner within reach of a peer that has it",
			  daemon->committed.through);
}

/* Return true if what `job` makes is wiped at the end of the attempt; that of the others is the model. */
static bool is_wiped(const struct sl_job *job)
{
	return job->kind != SL_JOB_ABSORB && job->kind != SL_JOB_ADOPT && job->kind != SL_JOB_ACCEPT;
}

/* Leave the job out if its attempt is over: the core ignores the result. */
static bool leave_out(struct task *task)
{
	struct sl_daemon *daemon = task->daemon;
	daemon->workspace.wipes = is_wiped(&task->job) ? &daemon->wipes : NULL;
	task->result = (struct sl_job_result){.kind = task->job.kind, .epoch = task->job.epoch};
	return sl_workspace_over(&daemon->workspace);
}

static void run_job(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	if (leave_out(task))
		return;
	task->code = check_promise(daemon, &task->job, &task->error);
	if (task->code != SL_OK)
		return;
	task->code = sl_vectors_grow(&daemon->workspace, daemon->settings->state, &task->job);
	if (task->code != SL_OK) {
		sl_err_set(&task->error, task->code,
			   "no memory, or no room in the state folder, for the vectors of this view");
		return;
	}
	task->code = sl_masked_states_reserve(&daemon->masked_states, &daemon->workspace, &task->job,
					      &task->error);
	if (task->code != SL_OK)
		return;
	task->zeros = task->job.kind == SL_JOB_ENCODE && sl_budget_weigh(daemon, task->job.view);
	atomic_store(&daemon->observe.computes, true);
	sl_job_run(&daemon->workspace, &task->job, &task->result);
	atomic_store(&daemon->observe.computes, false);
	sl_vectors_shrink(&daemon->workspace, &task->job);
	sl_masked_states_made(&daemon->masked_states, &task->job);
	bool encoded = task->job.kind == SL_JOB_ENCODE && task->result.code == SL_OK;
	if (encoded && daemon->settings->unsafe_dump_model)
		task->code = model_dump(daemon, task->job.view, &task->error);
}

/* Return true if `job` reads the trained model. */
static bool encodes(const struct sl_job *job)
{
	return job->kind == SL_JOB_ENCODE || job->kind == SL_JOB_SHARE || job->kind == SL_JOB_ACCEPT;
}

static void job_done(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	daemon->training.readers -= encodes(&task->job);
	start_training(daemon);
	sl_event_queue_free_buffers(task->job.buffers);
	if (task->code != SL_OK) {
		sl_tasks_fatal(daemon, task->error.text);
	} else {
		if (task->zeros)
			sl_budget_zeros(daemon, task->t);
		struct sl_queued_event *h = sl_event_queue_add(&daemon->event_queue, SL_EVENT_COMPUTED);
		h->result = task->result;
		h->event.result = &h->result;
	}
	free(task);
}

void sl_tasks_compute(struct sl_daemon *daemon, const struct sl_job *job)
{
	struct task *task = task_new(daemon, run_job, job_done);
	task->job = *job;
	daemon->training.readers += encodes(job);
	task->t = job->kind == SL_JOB_ENCODE ? job->view->t : 0;
	if (job->kind == SL_JOB_ENCODE || job->kind == SL_JOB_CHECK)
		daemon->workspace_view = job->view;
	sl_worker_add(&daemon->compute, &task->base);
}

static void run_wipe(struct sl_task *base)
{
	struct sl_daemon *daemon = ((struct task *)base)->daemon;
	sl_job_wipe(&daemon->workspace);
	sl_masked_states_end(&daemon->masked_states, &daemon->workspace);
	atomic_fetch_sub(&daemon->wipes, 1);
}

static void free_task(struct sl_task *base)
{
	free(base);
}

void sl_tasks_wipe(struct sl_daemon *daemon)
{
	atomic_fetch_add(&daemon->wipes, 1);
	sl_worker_add(&daemon->compute, &task_new(daemon, run_wipe, free_task)->base);
}

/* ---- files of earlier rounds ---- */

/* Delete the checkpoint that is one more than `keep_checkpoints`; of so many, the initial model is the first.
 * The start deletes more. */
static void forget_checkpoints(const struct sl_daemon *daemon)
{
	uint32_t kept = daemon->settings->keep_checkpoints;
	struct sl_store_round round;
	if (kept == SL_CHECKPOINTS_ALL)
		return;
	if (sl_store_round_back(daemon->store, kept, &round) == SL_OK)
		sl_checkpoint_delete(daemon->committed.folder, round.t);
	else if (sl_store_round_back(daemon->store, kept - 1, &round) != SL_OK)
		return;
	sl_checkpoint_delete(daemon->committed.folder, 0);
}

/* Delete the result before that of round `t`, if it is large; a small one stays, since the next one is
 * written over it, and the one before it goes. */
static void forget_result(const struct sl_daemon *daemon, sl_round t)
{
	struct sl_store_round round = {.t = t};
	bool large = sl_vector_memory_paged(sl_workspace_bytes(&daemon->workspace));
	for (int k = large ? 1 : 0; k < 2; k++)
		if (sl_store_round_before(daemon->store, round.t, &round, NULL) != SL_OK)
			return;
	sl_result_forget(daemon->settings->state, round.t);
}

static void run_forget(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	const struct sl_daemon *daemon = task->daemon;
	if (atomic_load(&daemon->failed))
		return; /* the failed task may be the commit */
	sl_checkpoint_link(daemon->committed.folder, task->t);
	forget_checkpoints(daemon);
	forget_result(daemon, task->t);
	sl_failpoint_reach(SL_FAILPOINT_BEFORE_LOG_EMPTIED);
	task->code = sl_store_rest(daemon->store, SL_STORE_LOG_PAGES, &task->error);
}

static void forget_done(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	if (task->code != SL_OK && !task->daemon->stopping)
		sl_tasks_fatal(task->daemon, task->error.text);
	free(task);
}

void sl_tasks_forget(struct sl_daemon *daemon, sl_round t)
{
	struct task *task = task_new(daemon, run_forget, forget_done);
	task->t = t;
	sl_worker_add(&daemon->compute, &task->base);
}

/* ---- training ---- */

static void run_evaluate(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_trainer *trainer = task->daemon->trainer;
	if (trainer->ops->show != NULL)
		trainer->ops->show(trainer, &task->commit, task->daemon->workspace.committed);
	task->code =
		sl_trainer_evaluate(trainer, task->daemon->workspace.committed, &task->mse, &task->error);
}

static void evaluate_done(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_record record;
	sl_record_init(&record, task->code != SL_OK ? SL_RECORD_EVALUATED_FAILED
				: isnan(task->mse)  ? SL_RECORD_EVALUATED_NONE
						    : SL_RECORD_EVALUATED);
	record.round = task->t;
	record.mse = task->mse;
	record.reason = task->error.text;
	sl_report_log_record(&task->daemon->observe, &record);
	free(task);
}

void sl_tasks_evaluate(struct sl_daemon *daemon, const struct sl_trainer_commit *commit)
{
	struct task *task = task_new(daemon, run_evaluate, evaluate_done);
	task->t = commit->round;
	task->commit = *commit;
	sl_worker_add(&daemon->train, &task->base);
}

static void run_train(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	task->code = sl_vectors_train(&daemon->workspace, daemon->settings->state);
	if (task->code != SL_OK) {
		sl_err_set(&task->error, task->code, "no room in the state folder for the trained model");
		return;
	}
	memcpy(daemon->workspace.trained, daemon->workspace.committed,
	       sl_workspace_model_bytes(&daemon->workspace));
	atomic_store(&daemon->observe.training_permille, 0);
	struct sl_training_request request = {.round = task->t,
					      .draw = task->draw,
					      .stop = &daemon->training.stop,
					      .progress = &daemon->observe.training_permille,
					      .again = task->again};
	task->code = daemon->trainer->ops->train(daemon->trainer, &request, daemon->workspace.trained,
						 &task->training, &task->error);
	if (task->code != SL_OK)
		return;
	sl_job_model_add_rest(&daemon->workspace);
	task->far = !task->based && daemon->core_config.parameters.initial != 0 &&
		    sl_job_model_far(&daemon->workspace);
}

static void log_trained(struct sl_daemon *daemon, const struct task *task)
{
	const struct sl_training *training = &task->training;
	struct sl_record record;
	sl_record_init(&record, isnan(training->loss) ? SL_RECORD_TRAINED_ONLY : SL_RECORD_TRAINED);
	record.round = task->t;
	record.train_s = training->seconds;
	record.loss = training->loss;
	record.metrics = training->metrics;
	sl_report_log_record(&daemon->observe, &record);
}

static uint64_t hop_bytes(const struct sl_daemon *daemon)
{
	static struct sl_link_figures links[SL_LEARNERS_MAX];
	for (uint32_t i = 0; i < daemon->members.roster.size; i++)
		sl_links_figures_of(daemon->links, i, &links[i]);
	return sl_hop_bytes(links, daemon->members.roster.size);
}

static void take_training(struct sl_daemon *daemon, struct task *task)
{
	struct sl_training *training = &task->training;
	daemon->workspace.weight =
		daemon->settings->weighting == SL_WEIGHTING_SAMPLES ? training->samples : 1;
	daemon->observe.figures.train_s = training->seconds;
	log_trained(daemon, task);
	json_decref(daemon->observe.metrics);
	daemon->observe.metrics = training->metrics;
	training->metrics = NULL;
	struct sl_event *event = &sl_event_queue_add(&daemon->event_queue, SL_EVENT_TRAINED)->event;
	event->far = task->far;
	event->hop_bytes = hop_bytes(daemon);
}

static void train_done(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	bool told_to_end = task->code == SL_PENDING || daemon->stopping;
	if (!told_to_end && task->code == SL_OK)
		take_training(daemon, task);
	else if (!told_to_end)
		sl_tasks_fatal(daemon, task->error.text);
	json_decref(task->training.metrics);
	free(task);
}

/* The nonce begins at random at each start: a model that is trained again after a restart must differ. */
void sl_tasks_train(struct sl_daemon *daemon, sl_round t, uint64_t draw)
{
	if (sl_budget_ends(daemon, t))
		return;
	struct task *task = task_new(daemon, run_train, train_done);
	struct sl_core_status status;
	sl_core_status(daemon->core, &status);
	task->t = t;
	task->again = t == daemon->training.used_up;
	task->based = status.committed > 0;
	task->draw = daemon->training.nonce + draw;
	sl_report_log_round(&daemon->observe, SL_RECORD_TRAINING, t);
	daemon->training.due = &task->base;
	start_training(daemon);
}
