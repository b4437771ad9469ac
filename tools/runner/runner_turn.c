/* A learner's turn: its mail through the core, and then the work that the core asked for, in order. The
 * workers of a pool take the turns of a sweep; the result does not depend on which worker took a turn. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/core/execute.h"
#include "tools/runner/runner_internal.h"

void sl_runner_tick(struct sl_runner_worker *w, double *seconds)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	double clock = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	*seconds += clock - w->clock;
	w->clock = clock;
}

static void fail(struct sl_runner *runner, uint32_t i, const struct sl_error *error)
{
	pthread_mutex_lock(&runner->lock);
	if (runner->error.code == SL_OK || i < runner->error_of) {
		runner->error = *error;
		runner->error_of = i;
	}
	pthread_mutex_unlock(&runner->lock);
}

/* --- actions --- */

static struct sl_hosted *host_of(const struct sl_runner_worker *w)
{
	return &w->runner->learners[w->turn].host;
}

static void stop(void *shell, const struct sl_action *action)
{
	const struct sl_runner_worker *w = shell;
	struct sl_runner *runner = w->runner;
	struct sl_error error;
	host_of(w)->stopped = true;
	if (action->code == SL_OK)
		return;
	sl_err_set(&error, action->code, "learner %u ended in round %u (%s)", runner->ids[w->turn],
		   host_of(w)->committed + 1, sl_err_text(action->code));
	fail(runner, w->turn, &error);
}

static void report(void *shell, const struct sl_action *action)
{
	struct sl_runner_worker *w = shell;
	const struct sl_runner_options *o = &w->runner->options;
	if (action->report.kind == SL_REPORT_PHASE) {
		sl_runner_tick(w, &w->seconds[host_of(w)->phase]);
		host_of(w)->phase = action->report.phase;
	}
	if (o->reported == NULL)
		return;
	pthread_mutex_lock(&w->runner->lock);
	o->reported(o->context, w->turn, &action->report);
	pthread_mutex_unlock(&w->runner->lock);
}

static void say(void *shell, const struct sl_action *action)
{
	struct sl_runner_worker *w = shell;
	sl_runner_say(w, w->turn, action);
}

static void ask(void *shell, const struct sl_action *action)
{
	sl_hosted_ask(host_of(shell), action, false);
}

static void step(struct sl_runner_worker *w, uint32_t i, struct sl_event *event)
{
	static const struct sl_duties duties = {.of = {[SL_ACTION_COMPUTE] = ask,
						       [SL_ACTION_PERSIST] = ask,
						       [SL_ACTION_WIPE] = ask,
						       [SL_ACTION_SEND] = say,
						       [SL_ACTION_TRAIN] = ask,
						       [SL_ACTION_LINKS] = say,
						       [SL_ACTION_DROP] = sl_packet_drop_action,
						       [SL_ACTION_REPORT] = report,
						       [SL_ACTION_STOP] = stop}};
	w->turn = i;
	event->now = w->runner->now;
	sl_core_run(host_of(w)->core, event, &w->actions, &duties, w);
}

/* --- work --- */

/* Copy what is set of an analysis of `n` learners: most of the struct is room for trees. */
static void copy_analysis(struct sl_analysis *to, const struct sl_analysis *from, size_t n)
{
	size_t trees = from->depth > 0 ? from->trees : 0;
	memcpy(to, from, offsetof(struct sl_analysis, parent) + trees * n * sizeof *from->parent);
}

/* Run ANALYSE. The graph of a view is the same for all its learners and analysed once. */
static void analyse(struct sl_runner *runner, struct sl_hosted *host, struct sl_work *work)
{
	const struct sl_job *job = &work->job;
	pthread_mutex_lock(&runner->lock);
	if (runner->analysis_code != SL_OK || memcmp(runner->analysis_h, job->view->h, SL_HASH_BYTES) != 0) {
		sl_hosted_run(host, work);
		copy_analysis(&runner->analysis, &host->workspace.analysis, job->view->n);
		runner->analysis_code = work->result.code;
		memcpy(runner->analysis_h, job->view->h, SL_HASH_BYTES);
	}
	copy_analysis(&host->workspace.analysis, &runner->analysis, job->view->n); /* exact mixes by it */
	work->result = (struct sl_job_result){.kind = job->kind,
					      .epoch = job->epoch,
					      .chunk = job->chunk,
					      .code = runner->analysis_code,
					      .analysis = &host->workspace.analysis};
	pthread_mutex_unlock(&runner->lock);
}

static void compute(struct sl_runner_worker *w, uint32_t i, struct sl_work *work)
{
	struct sl_runner *runner = w->runner;
	struct sl_hosted *host = &runner->learners[i].host;
	if (work->job.kind == SL_JOB_CLOSE)
		sl_runner_look_closing(runner, i);
	if (work->job.kind == SL_JOB_MIX && work->job.iteration == 0)
		sl_runner_look(runner, i, work->job.chunk, 0);
	if (work->job.kind == SL_JOB_ANALYSE)
		analyse(runner, host, work);
	else
		sl_hosted_run(host, work);
	if (work->job.kind == SL_JOB_ENCODE && work->result.code == SL_OK && runner->options.verify) {
		sl_runner_tick(w, &w->seconds[host->phase]);
		sl_runner_sum_add(runner, i);
		sl_runner_tick(w, &w->elsewhere_s);
	}
	sl_packet_give_back(work->job.buffers);
}

static int train(struct sl_runner *runner, uint32_t i, const struct sl_work *work)
{
	const struct sl_runner_options *o = &runner->options;
	struct sl_workspace *workspace = &runner->learners[i].host.workspace;
	struct sl_error error = {0};
	struct sl_runner_training training = {.learner = i,
					      .t = work->t,
					      .draw = work->draw,
					      .committed = workspace->committed,
					      .model = workspace->trained,
					      .weight = 1};
	int rc = o->train(o->context, &training, &error);
	if (rc != SL_OK)
		fail(runner, i, &error);
	else
		workspace->weight = training.weight;
	return rc;
}

static void tell_commit(struct sl_runner_worker *w, uint32_t i, const struct sl_persist *record)
{
	const struct sl_runner_options *o = &w->runner->options;
	struct sl_hosted *host = &w->runner->learners[i].host;
	bool own = host->phase == SL_PHASE_COMMIT;
	sl_runner_tick(w,
		       &w->seconds[host->phase]); /* to look at models and check them is no learner's work */
	struct sl_runner_commit commit = {.learner = i,
					  .t = record->what.t,
					  .step = w->runner->steps,
					  .view = own ? host->view : NULL,
					  .model = host->workspace.committed,
					  .digest = record->certificate->digest,
					  .total_weight = record->total_weight,
					  .exact = own && o->verify && sl_runner_sum_check(w->runner, i)};
	if (o->committed == NULL)
		return;
	pthread_mutex_lock(&w->runner->lock);
	o->committed(o->context, &commit);
	pthread_mutex_unlock(&w->runner->lock);
	sl_runner_tick(w, &w->elsewhere_s);
}

/* Do the oldest work and tell the core. */
static void work_once(struct sl_runner_worker *w, uint32_t i)
{
	struct sl_hosted *host = &w->runner->learners[i].host;
	struct sl_work *work = sl_hosted_take(host);
	struct sl_event event;
	bool tell = sl_hosted_event(host, work, &event);
	if (work->kind == SL_WORK_JOB)
		compute(w, i, work);
	else if (work->kind == SL_WORK_TRAIN)
		tell = train(w->runner, i, work) == SL_OK;
	else
		sl_hosted_run(host, work);
	if (work->kind == SL_WORK_PERSIST && work->record.what.kind == SL_PERSIST_COMMIT)
		tell_commit(w, i, &work->record);
	if (tell)
		step(w, i, &event);
	sl_hosted_done(work);
}

/* --- mail --- */

/* Hand the next queued event to the core. */
static void take(struct sl_runner_worker *w, uint32_t i)
{
	struct sl_runner_learner *l = &w->runner->learners[i];
	const struct sl_runner_mail *mail = &l->inbox[l->inbox_done++];
	struct sl_packet *packet = mail->packet;
	struct sl_event event = {.kind = mail->kind, .peer = mail->peer};
	if (packet != NULL)
		event = sl_packet_event(packet, mail->peer);
	event.range = w->runner->ranges + i * w->runner->words;
	event.more = l->inbox_done < l->inbox_count;
	step(w, i, &event);
	sl_packet_drop(packet);
}

void sl_runner_drop(struct sl_runner *runner, uint32_t i)
{
	struct sl_runner_learner *l = &runner->learners[i];
	for (; l->inbox_done < l->inbox_count; l->inbox_done++)
		sl_packet_drop(l->inbox[l->inbox_done].packet);
	sl_packet_forget_work(&l->host);
	l->due = SL_NEVER;
}

static void take_turn(struct sl_runner_worker *w, uint32_t i)
{
	struct sl_runner_learner *l = &w->runner->learners[i];
	l->spoke = false;
	while (l->inbox_done < l->inbox_count && !l->host.stopped)
		take(w, i);
	while (l->host.work != NULL && !l->host.stopped && !l->spoke)
		work_once(w, i);
	l->due = sl_core_deadline(l->host.core);
	if (l->host.stopped)
		sl_runner_drop(w->runner, i);
	l->inbox_done = l->inbox_count = 0;
	sl_runner_tick(w, &w->seconds[l->host.phase]);
}

/* --- a sweep --- */

static void take_part(void *context, uint32_t index, uint32_t worker)
{
	struct sl_runner *runner = context;
	struct sl_runner_worker *w = &runner->workers[worker];
	sl_runner_tick(w, &w->elsewhere_s);
	take_turn(w, runner->todo[index]);
}

void sl_runner_sweep(struct sl_runner *runner)
{
	struct sl_team *team = &runner->pool.team;
	uint32_t count = 0;
	for (uint32_t i = 0; i < runner->n; i++)
		if (sl_runner_has_to_do(&runner->learners[i]))
			runner->todo[count++] = i;
	team->run(team, count, take_part, runner);
	sl_runner_tick(&runner->workers[0], &runner->workers[0].elsewhere_s);
}

/* --- open and close --- */

int sl_runner_workers_open(struct sl_runner *runner)
{
	uint32_t asked = runner->options.workers > 1 ? runner->options.workers : 1;
	uint32_t most = runner->n < SL_WORKERS_MAX ? runner->n : SL_WORKERS_MAX;
	uint32_t count = asked < most ? asked : most;
	pthread_mutex_init(&runner->lock, NULL);
	runner->workers = calloc(count, sizeof *runner->workers);
	if (runner->workers == NULL)
		return SL_ERR_NOMEM;
	for (uint32_t k = 0; k < count; k++)
		runner->workers[k].runner = runner;
	return sl_pool_open(&runner->pool, count) == 0 ? SL_OK : SL_ERR_NOMEM;
}

void sl_runner_workers_close(struct sl_runner *runner)
{
	for (uint32_t k = 0; runner->workers != NULL && k < runner->pool.team.workers; k++)
		for (size_t r = 0; r < SL_RUNNER_RECENT; r++)
			sl_packet_drop(runner->workers[k].recent[r]);
	sl_pool_close(&runner->pool);
	free(runner->workers);
}
