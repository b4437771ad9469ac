/* trainer.c - what the application of a learner says, on any thread, becomes an event or a record of the
 * loop. */
#include "daemon/learner/trainer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/model/checkpoint.h"
#include "daemon/application/application.h"
#include "daemon/application/trained_file.h"
#include "daemon/learner/budget.h"
#include "daemon/learner/daemon.h"
#include "daemon/learner/forming.h"
#include "daemon/learner/loop.h"
#include "daemon/learner/restore.h"
#include "daemon/observe/report_log.h"

struct saying {
	struct sl_task base;
	struct sl_daemon *daemon;
	enum sl_record_kind kind;
	sl_round round;
	char text[SL_ERROR_BYTES];
};

static void log_saying(struct sl_task *base)
{
	struct saying *saying = (struct saying *)base;
	sl_report_log_reason(&saying->daemon->observe, saying->kind, saying->text);
	free(saying);
}

/* Have the loop thread call `done` with `text`. */
static void give_saying(struct sl_daemon *daemon, enum sl_record_kind kind, sl_round round, const char *text,
			void (*done)(struct sl_task *))
{
	struct saying *saying = calloc(1, sizeof *saying);
	if (saying == NULL)
		abort();
	*saying = (struct saying){{.done = done}, daemon, kind, round, ""};
	snprintf(saying->text, sizeof saying->text, "%s", text);
	sl_worker_give_back(&daemon->compute, &saying->base);
}

/* Log `text` on the loop thread. */
static void say(struct sl_daemon *daemon, enum sl_record_kind kind, const char *text)
{
	if (daemon->compute.back.loop == NULL) { /* during the setup there is only one thread */
		sl_report_log_reason(&daemon->observe, kind, text);
		return;
	}
	give_saying(daemon, kind, 0, text, log_saying);
}

static void say_application(void *context, enum sl_level level, const char *text)
{
	say(context, level == SL_WARN ? SL_RECORD_APPLICATION_WARNING : SL_RECORD_APPLICATION, text);
}

static void take_failure(struct sl_task *task)
{
	struct saying *saying = (struct saying *)task;
	sl_event_queue_add(&saying->daemon->event_queue, SL_EVENT_TRAINING_FAILED);
	free(saying);
}

static void training_failed(void *context)
{
	struct sl_daemon *daemon = context;
	if (daemon->core != NULL)
		give_saying(daemon, SL_RECORD_APPLICATION, 0, "", take_failure);
}

static void say_command(void *context, enum sl_command_said said, const char *text)
{
	if (said == SL_COMMAND_FAILED)
		training_failed(context);
	static const enum sl_record_kind kinds[] = {[SL_COMMAND_STARTED] = SL_RECORD_COMMAND_STARTED,
						    [SL_COMMAND_FAILED] = SL_RECORD_COMMAND,
						    [SL_COMMAND_OUTPUT] = SL_RECORD_COMMAND_OUTPUT};
	say(context, kinds[said], text);
}

static void take_other_model(struct sl_task *task)
{
	struct saying *saying = (struct saying *)task;
	struct sl_daemon *daemon = saying->daemon;
	if (!daemon->stopping &&
	    !sl_application_is_bound(daemon->trainer)) { /* it may have been used since */
		daemon->other_model = true;
		sl_report_log_reason(&daemon->observe, saying->kind, saying->text);
		sl_daemon_restart(daemon);
	}
	free(saying);
}

static void restart(void *context)
{
	give_saying(
		context, SL_RECORD_TAKING_ROSTER, 0,
		"an application has joined with another model: this learner restarts by itself, for no round "
		"has used the first one",
		take_other_model);
}

static void end_run(struct sl_task *task)
{
	struct saying *saying = (struct saying *)task;
	struct sl_daemon *daemon = saying->daemon;
	sl_report_log_round(&daemon->observe, saying->kind, saying->round);
	sl_event_queue_add(&daemon->event_queue, SL_EVENT_LAST_ROUND)->event.round = saying->round;
	free(saying);
}

static void stop(void *context, sl_round round)
{
	give_saying(context, SL_RECORD_AGREED_END, round, "", end_run);
}

void sl_learner_trainer_forget(const struct sl_daemon *daemon)
{
	struct sl_trained_file none = {0};
	struct sl_trained_file_place place = {daemon->settings->state, daemon->settings->run};
	sl_trained_file_remove(&none, &place, NULL);
	sl_checkpoint_delete(daemon->committed.folder, 0);
}

/* Return true if the learner, which waits for its application, is to end. */
static bool is_stopped(void *context)
{
	struct sl_daemon *daemon = context;
	sl_forming_look(daemon, "waits for the first application, which knows the model");
	uv_run(&daemon->loop, UV_RUN_NOWAIT);
	return daemon->stopping;
}

int sl_learner_trainer_open(struct sl_daemon *daemon, struct sl_error *error)
{
	struct sl_application_config config = {.settings = daemon->settings,
					       .roster = &daemon->members.roster,
					       .self = daemon->members.self,
					       .say = say_application,
					       .say_command = say_command,
					       .restart = restart,
					       .stop = stop,
					       .failed = training_failed,
					       .stopped = is_stopped,
					       .wake = uv_backend_fd(&daemon->loop),
					       .context = daemon};
	if (!sl_settings_has_application(daemon->settings))
		return SL_OK;
	int rc = sl_loop_listen_early(daemon, error);
	if (rc == SL_OK)
		rc = sl_restore_tensors(daemon, &config.tensors, &config.values, &config.committed, error);
	if (rc == SL_OK)
		rc = sl_application_open(&config, &daemon->trainer, error);
	free((void *)config.tensors.items);
	return rc;
}

void sl_learner_trainer_show(struct sl_daemon *daemon)
{
	struct sl_store_round last;
	const struct sl_trainer_ops *ops = daemon->trainer->ops;
	if (ops->show == NULL || daemon->core_config.committed == 0 ||
	    sl_store_last_round(daemon->store, &last, NULL) != SL_OK)
		return;
	struct sl_trainer_commit commit = {.round = daemon->core_config.committed,
					   .learners = last.learners,
					   .total_weight = last.total_weight,
					   .decimals = SL_DECIMALS_AUTO,
					   .clipping_range = SL_CLIPPING_RANGE_AUTO,
					   .noise = sl_budget_noise(daemon, last.learners, last.total_weight),
					   .spent = daemon->observe.spent.epsilon};
	const struct sl_certificate *known = daemon->core_config.certificate;
	const struct sl_core_config *c = &daemon->core_config;
	if (known != NULL && known->t == commit.round && /* of another roster, they are not known */
	    memcmp(known->round->roster, c->scope.roster, SL_HASH_BYTES) == 0) {
		commit.decimals = sl_trainer_decimals(&c->parameters, known->round->values);
		commit.clipping_range = sl_trainer_range(&c->parameters, known->round->values);
	}
	ops->show(daemon->trainer, &commit, daemon->workspace.committed);
}
