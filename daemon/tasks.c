/* The slow work: jobs and checkpoints on the compute worker, training and evaluation on the train worker. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "daemon/checkpoint.h"
#include "daemon/daemon.h"

struct task {
	struct sl_task base;
	struct sl_daemon *daemon;
	struct sl_job job;
	struct sl_job_result result;
	struct sl_proof proof;
	uint64_t total_weight;
	struct sl_result opened;
	sl_round t;
	uint64_t draw;
	struct sl_training training;
	double mse;
	int code;
	struct sl_error error;
	char path[SL_PATH_BYTES + 64];
};

static struct task *task_new(struct sl_daemon *daemon, void (*run)(struct sl_task *), void (*done)(struct sl_task *))
{
	struct task *task = calloc(1, sizeof *task);
	if (task == NULL)
		abort();
	task->base.run = run;
	task->base.done = done;
	task->daemon = daemon;
	return task;
}

static void fatal(struct sl_daemon *daemon, const char *text)
{
	atomic_store(&daemon->condemned, true);
	sl_log(daemon->log, SL_ERROR, "fatal", text, "{s:s}", "reason", text);
	sl_daemon_stop(daemon, 1);
}

/* Jobs. */

/* The vault's scratch grows to what the view needs, and stays. */
static int ensure_scratch(struct sl_vault *vault, const struct sl_job *job)
{
	if (job->kind != SL_JOB_SURVEY && job->kind != SL_JOB_ENCODE)
		return SL_OK;
	size_t need = sl_vault_scratch(job->view);
	if (vault->scratch.size >= need)
		return SL_OK;
	sodium_free(vault->scratch.base);
	void *memory = sodium_malloc(need);
	sl_arena_init(&vault->scratch, memory, memory == NULL ? 0 : need);
	return memory == NULL ? SL_ERR_NOMEM : SL_OK;
}

/* --verify: only where the configuration says unsafe_reveal. Before any share is made, since sharing wipes x. */
static int reveal(const struct sl_daemon *daemon, const struct sl_view *view, struct sl_error *error)
{
	const struct sl_vault *vault = &daemon->vault;
	char path[SL_PATH_BYTES + 64];
	snprintf(path, sizeof path, "%s/reveal-%06u.u64", daemon->settings->state, view->t);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t bytes = (vault->n + 1) * sizeof *vault->x;
	bool good = fd >= 0 && write(fd, &view->field.p, sizeof view->field.p) == (ssize_t)sizeof view->field.p &&
		    write(fd, vault->x, bytes) == (ssize_t)bytes;
	int saved = errno;
	if (fd >= 0)
		close(fd);
	return good ? SL_OK : sl_fail(error, SL_ERR_IO, "%s: %s", path, strerror(saved));
}

static void run_job(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	task->code = ensure_scratch(&daemon->vault, &task->job);
	if (task->code != SL_OK) {
		sl_fail(&task->error, task->code, "out of memory for the vectors of this view");
		return;
	}
	sl_job_run(&daemon->vault, &task->job, &task->result);
	bool encoded = task->job.kind == SL_JOB_ENCODE && task->result.code == SL_OK;
	if (task->job.kind == SL_JOB_DECODE && task->result.code != SL_OK) {
		atomic_store(&daemon->condemned, true); /* the checkpoint's task is next on this thread */
		task->code = sl_fail(&task->error, SL_ERR_INVALID, "the committed model could not be decoded");
	} else if (encoded && daemon->settings->unsafe_reveal)
		task->code = reveal(daemon, task->job.view, &task->error);
}

static void job_done(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	sl_buffers_free(task->job.buffers);
	if (task->code != SL_OK) {
		fatal(daemon, task->error.text);
	} else {
		struct sl_happening *h = sl_happening_new(daemon, SL_EVENT_COMPUTED);
		h->result = task->result;
		h->event.result = &h->result;
	}
	free(task);
}

void sl_task_compute(struct sl_daemon *daemon, const struct sl_job *job)
{
	struct task *task = task_new(daemon, run_job, job_done);
	task->job = *job;
	if (job->kind == SL_JOB_ENCODE)
		daemon->vault_view = *job->view;
	sl_worker_add(&daemon->compute, &task->base);
}

static void run_wipe(struct sl_task *base)
{
	sl_vault_wipe(&((struct task *)base)->daemon->vault);
}

static void free_task(struct sl_task *base)
{
	free(base);
}

void sl_task_wipe(struct sl_daemon *daemon)
{
	sl_worker_add(&daemon->compute, &task_new(daemon, run_wipe, free_task)->base);
}

/* Training. */

static void run_evaluate(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_trainer *trainer = task->daemon->trainer;
	task->code = trainer->ops->evaluate(trainer, task->daemon->vault.committed, &task->mse, &task->error);
}

static void evaluate_done(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	char text[128];
	snprintf(text, sizeof text, "round %u: held-out MSE %.4f", task->t, task->mse);
	if (task->code == SL_OK)
		sl_log(task->daemon->log, SL_INFO, "evaluated", text, "{s:i, s:f}", "round", (int)task->t, "mse",
		       task->mse);
	else
		sl_log(task->daemon->log, SL_WARN, "evaluated", task->error.text, "{s:i}", "round", (int)task->t);
	free(task);
}

static void evaluate(struct sl_daemon *daemon, sl_round t)
{
	struct task *task = task_new(daemon, run_evaluate, evaluate_done);
	task->t = t;
	sl_worker_add(&daemon->train, &task->base);
}

static void run_train(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	memcpy(daemon->vault.trained, daemon->vault.committed, daemon->vault.n * sizeof(float));
	atomic_store(&daemon->training_permille, 0);
	task->code = daemon->trainer->ops->train(daemon->trainer, daemon->vault.trained, task->draw, &daemon->stop_training,
						 &daemon->training_permille, &task->training, &task->error);
}

static void train_done(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	const struct sl_training *training = &task->training;
	char text[128];
	if (task->code == SL_PENDING || daemon->stopping) { /* told to end */
		free(task);
		return;
	}
	if (task->code != SL_OK) {
		fatal(daemon, task->error.text);
		free(task);
		return;
	}
	daemon->vault.weight = daemon->settings->weight_samples ? training->samples : 1;
	daemon->figures.train_s = training->seconds;
	snprintf(text, sizeof text, "round %u: trained in %.2f s, loss %.4f", task->t, training->seconds, training->loss);
	sl_log(daemon->log, SL_INFO, "trained", text, "{s:i, s:f, s:f, s:I}", "round", (int)task->t, "train_s",
	       training->seconds, "loss", training->loss, "samples", (json_int_t)training->samples);
	sl_happening_new(daemon, SL_EVENT_TRAINED);
	free(task);
}

/* Each start of the daemon draws from elsewhere too: a model trained again must differ. */
void sl_task_train(struct sl_daemon *daemon, sl_round t, uint64_t draw)
{
	struct task *task = task_new(daemon, run_train, train_done);
	task->t = t;
	task->draw = ((uint64_t)daemon->state.incarnation << 40) + draw;
	sl_worker_add(&daemon->train, &task->base);
}

/* Commit. */

/* Z, out of the vault, with what proves it. */
static int write_result(const struct sl_daemon *daemon, const struct sl_proof *proof, struct sl_error *error)
{
	struct sl_field field;
	size_t count = daemon->vault.n + 1;
	int rc = sl_field_init(&field, proof->p);
	uint8_t *z = rc == SL_OK ? malloc(count * field.bytes) : NULL;
	if (z == NULL)
		return sl_fail(error, SL_ERR_NOMEM, "out of memory for the result of round %u", proof->t);
	sl_pack(z, daemon->vault.s, count, field.bytes);
	rc = sl_result_write(daemon->settings->state, daemon->settings->run, proof, daemon->vault.n, z, count * field.bytes,
			     error);
	free(z);
	return rc;
}

static void run_persist(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	if (atomic_load(&daemon->condemned)) {
		task->code = sl_fail(&task->error, SL_ERR_REFUSED, "not written: the learner stopped");
		return;
	}
	struct sl_checkpoint checkpoint = {.round = task->proof.t,
					   .learners = task->proof.learners,
					   .total_weight = task->total_weight,
					   .n = daemon->vault.n};
	snprintf(checkpoint.run, sizeof checkpoint.run, "%s", daemon->settings->run);
	memcpy(checkpoint.digest, task->proof.digest, SL_HASH_BYTES);
	task->code = sl_checkpoint_write(daemon->settings->state, &checkpoint, daemon->vault.committed, task->path,
					 sizeof task->path, &task->error);
	if (task->code == SL_OK)
		task->code = write_result(daemon, &task->proof, &task->error);
	if (task->code == SL_OK && sl_result_open(daemon->settings->state, daemon->settings->run, daemon->vault.n, task->proof.t,
						  &task->opened, &task->error) != SL_OK)
		task->opened = (struct sl_result){0}; /* nothing to show to who asks; this learner goes on */
}

static void persist_done(struct sl_task *base)
{
	struct task *task = (struct task *)base;
	struct sl_daemon *daemon = task->daemon;
	if (atomic_load(&daemon->condemned)) {
		; /* stopped meanwhile, and said why */
	} else if (task->code != SL_OK) {
		fatal(daemon, task->error.text);
	} else {
		const char *name = strrchr(task->path, '/');
		snprintf(daemon->checkpoint, sizeof daemon->checkpoint, "%.63s", name == NULL ? task->path : name + 1);
		sl_result_close(&daemon->next_result);
		daemon->next_result = task->opened; /* shown once the core knows that it is durable */
		task->opened = (struct sl_result){0};
		evaluate(daemon, task->proof.t);
		sl_happening_new(daemon, SL_EVENT_DURABLE);
	}
	sl_result_close(&task->opened);
	free(task);
}

/* The core leaves signing to the shell. */
static void sign_own(const struct sl_daemon *daemon, struct sl_proof *proof)
{
	for (uint32_t i = 0; i < proof->count; i++) {
		struct sl_message m = {.kind = SL_MSG_DIGEST, .digest = proof->digests[i]};
		if (m.digest.id != daemon->settings->id)
			continue;
		sl_sign(daemon, &m);
		proof->digests[i] = m.digest;
	}
}

void sl_task_persist(struct sl_daemon *daemon, const struct sl_commit *commit)
{
	struct task *task = task_new(daemon, run_persist, persist_done);
	task->proof = *commit->proof;
	task->total_weight = commit->total_weight;
	sign_own(daemon, &task->proof);
	sl_worker_add(&daemon->compute, &task->base);
}
