#include "tools/launch/launch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/runtime/descriptors.h"
#include "tools/lib/command.h"
#include "tools/launch/commands.h"
#include "tools/launch/state.h"

#define TICK_MS 100u
#define POLL_TICKS 3u /* the bar moves about three times a second */
#define UP_MS 10000u  /* until a learner should answer, of applications when the command has joined */
#define UP_AGAIN_MS 30000u
#define LATE_MS 5000u /* after the last round, until a command should have ended */
#define TERM_MS 2000u /* after `stop` */
#define KILL_MS 5000u
#define EXEC_KILL_MS 8000u /* trainer: exec: the daemon takes 5 s to kill its command */
#define EXEC_END_MS 45000u /* after the last round, while commands may save their models */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

/* ---- ending ---- */

/* Ask a daemon to end: over its control socket, or by a signal if there is no connection. */
static void ask_to_end(struct sl_learner *l)
{
	if (!l->spawned || l->exited)
		return;
	if (l->control.state == SL_CONTROL_CLIENT_OPEN)
		sl_control_client_send(&l->control, json_pack("{s:s}", "op", "stop"));
	else
		uv_process_kill(&l->process, SIGTERM);
}

static bool is_exec(const struct sl_launch *launch)
{
	return launch->plan->settings.trainer == SL_TRAINER_EXEC;
}

/* Return true if the daemons end by themselves: after the last round, when their commands have ended. */
static bool let_end(const struct sl_launch *launch)
{
	return is_exec(launch) && !launch->failed && launch->signal == 0;
}

/* Return true if the learner has trained for a round after the last one: its budget is not spent. */
static bool goes_on(const struct sl_learner *l)
{
	return l->launch->spent && !l->spent && l->activity != SL_TRAINING &&
	       l->committed >= l->launch->rounds.most;
}

/* Ask all to end, once. */
static void ask_all(struct sl_launch *launch)
{
	launch->end = SL_END_ASKED;
	sl_progress_clear(launch->progress);
	if (launch->failed)
		sl_commands_kill(launch->commands, SIGTERM);
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (!let_end(launch) || goes_on(&launch->learners[i]))
			ask_to_end(&launch->learners[i]);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct sl_launch *launch = handle->data;
	bool again = launch->signal != 0;
	launch->signal = number;
	sl_commands_kill(launch->commands, again ? SIGKILL : SIGTERM);
	sl_launch_finish(launch);
	if (again) {
		launch->end = SL_END_KILL;
		sl_child_kill_all(launch, SIGKILL);
	}
}

/* Close what holds the loop. */
static void let_go(struct sl_launch *launch)
{
	uv_close((uv_handle_t *)&launch->tick, NULL);
	sl_launch_web_let_go(launch);
	sl_chaos_close(launch);
	sl_commands_let_go(launch->commands);
	sl_recompute_let_go(launch);
	for (size_t i = 0; i < 3; i++)
		uv_close((uv_handle_t *)&launch->signals[i], NULL);
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		sl_control_client_close(&launch->learners[i].control);
}

/* After the last round the commands may go on, as to save a model: say from time to time that they do. */
static void tick_commands(struct sl_launch *launch, uint64_t now, int signal)
{
	uint64_t since =
		launch->late_said_ms != 0 ? launch->late_said_ms + UP_AGAIN_MS : launch->end_ms + LATE_MS;
	sl_commands_end_late(launch->commands, signal);
	if (now < since || launch->signal != 0 || launch->failed)
		return;
	launch->late_said_ms = now;
	sl_commands_say_running(launch->commands);
}

static void tick_ending(struct sl_launch *launch, uint64_t now)
{
	uint64_t waited = now - launch->end_ms, late = let_end(launch) ? EXEC_END_MS : 0;
	uint64_t kill_ms = is_exec(launch) ? EXEC_KILL_MS : KILL_MS;
	if (launch->end == SL_END_DUE)
		ask_all(launch);
	if ((launch->failed || launch->signal != 0) && waited >= KILL_MS)
		sl_commands_kill(launch->commands, SIGKILL);
	if (launch->running == 0) {
		if (sl_commands_running(launch->commands) == 0)
			let_go(launch);
		else
			tick_commands(launch, now, waited < late + 2 * kill_ms ? SIGTERM : SIGKILL);
	} else if (waited >= late + kill_ms && launch->end < SL_END_KILL) {
		launch->end = SL_END_KILL;
		sl_child_kill_all(launch, SIGKILL);
	} else if (waited >= late + TERM_MS && launch->end < SL_END_TERM) {
		launch->end = SL_END_TERM;
		sl_child_kill_all(launch, SIGTERM);
	}
}

/* ---- running ---- */

/* Say what has happened to the command that a learner starts; before it has joined, only the log has that. */
static void say_warning(struct sl_launch *launch, const struct sl_learner *l)
{
	char *warning = sl_child_command_warning(l);
	if (warning == NULL)
		return;
	sl_progress_line(launch->progress, "  %s (%u): %s", l->name, l->index + 1, warning);
	sl_launch_command(launch, "  its output: ", "logs");
	free(warning);
}

/* Say from time to time how many learners take no part: their first application has not joined, or they do
 * not answer. A machine under load may take any time. */
static void say_unconnected(struct sl_launch *launch, uint64_t now)
{
	uint32_t waiting = 0;
	const struct sl_learner *first = NULL;
	for (uint32_t i = launch->plan->learners; i-- > 0;) {
		const struct sl_learner *l = &launch->learners[i];
		bool answers = l->control.state == SL_CONTROL_CLIENT_OPEN && l->told;
		if (!answers && !l->exited && now - l->alone_ms > UP_MS) {
			waiting++;
			first = l;
		}
	}
	if (waiting == 0 || (launch->wait_said_ms != 0 && now - launch->wait_said_ms < UP_AGAIN_MS))
		return;
	launch->wait_said_ms = now;
	const char *s = waiting == 1 ? "" : "s";
	if (sl_settings_has_application(&launch->plan->settings) && !first->was_up)
		sl_progress_line(launch->progress, "%u learner%s: the command has not joined yet", waiting,
				 s);
	else
		sl_progress_line(
			launch->progress,
			"%u learner%s: no answer on the control socket yet; %s (%u), process %d, runs",
			waiting, s, first->name, first->index + 1, uv_process_get_pid(&first->process));
	if (is_exec(launch))
		say_warning(launch, first);
}

/* Connect to daemons that have started, or whose connection has ended, for as long as they run. */
static void tick_connections(struct sl_launch *launch, uint64_t now)
{
	say_unconnected(launch, now);
	for (uint32_t i = 0; i < launch->plan->learners; i++) {
		struct sl_learner *l = &launch->learners[i];
		if (!l->exited)
			sl_control_client_connect(&l->control, l->folder);
	}
}

/* Return true if records of a daemon that has ended may still arrive. */
static bool any_talks(const struct sl_launch *launch)
{
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (launch->learners[i].control.state == SL_CONTROL_CLIENT_OPEN)
			return true;
	return false;
}

static void on_tick(uv_timer_t *timer)
{
	struct sl_launch *launch = timer->data;
	uint64_t now = uv_now(&launch->loop);
	double elapsed_s = (double)(now - launch->last_tick_ms) / 1000;
	launch->last_tick_ms = now;
	if (launch->ending) {
		tick_ending(launch, now);
		return;
	}
	sl_restart_tick(launch, now);
	tick_connections(launch, now);
	sl_commands_tick(launch->commands, now);
	if (launch->running == 0 && !any_talks(launch) && !sl_restart_pending(launch) &&
	    !sl_rows_checking(launch))
		sl_launch_fail(launch, "the daemons have ended, and round %u was not heard to its end",
			       launch->handed + 1);
	if (!launch->ending)
		sl_playback_tick(launch, elapsed_s);
	if (!launch->ending)
		sl_rows_tick(launch);
	if (!launch->ending)
		sl_wait_tick(launch, now);
	if (!launch->ending && launch->ticks++ % POLL_TICKS == 0) {
		sl_launch_poll(launch);
		sl_launch_show(launch);
	}
}

/* ---- beginning ---- */

static void watch_signals(struct sl_launch *launch)
{
	for (size_t i = 0; i < 3; i++) {
		uv_signal_init(&launch->loop, &launch->signals[i]);
		launch->signals[i].data = launch;
		uv_signal_start(&launch->signals[i], on_signal, signals[i]);
	}
	uv_timer_init(&launch->loop, &launch->tick);
	launch->tick.data = launch;
	uv_timer_start(&launch->tick, on_tick, TICK_MS, TICK_MS);
	sl_chaos_open(launch);
}

static void init_learner(struct sl_launch *launch, uint32_t index)
{
	struct sl_learner *l = &launch->learners[index];
	l->launch = launch;
	l->index = index;
	sl_run_folder_learner_name(&launch->plan->folder, index, l->name);
	sl_run_folder_path(&launch->plan->folder, index, "", l->folder);
	sl_control_client_init(&l->control, &launch->loop, &sl_records_events, l);
}

static void spawn_all(struct sl_launch *launch)
{
	struct sl_error error = {0};
	sl_child_program(launch->program);
	launch->last_tick_ms = uv_now(&launch->loop);
	launch->moved_ms = launch->told_ms = launch->last_tick_ms;
	launch->step = launch->plan->resume.step > 0 ? launch->plan->resume.step : 1;
	for (uint32_t i = 0; i < launch->plan->learners && !launch->ending; i++)
		if (sl_child_spawn(&launch->learners[i], &error) != SL_OK)
			sl_launch_fail(launch, "%s", error.text);
	if (launch->plan->options.command != NULL && !launch->ending &&
	    sl_commands_open(&launch->commands, launch, &error) != SL_OK)
		sl_launch_fail(launch, "%s", error.text);
}

static int init(struct sl_launch *launch, struct sl_plan *plan, struct sl_progress *progress)
{
	*launch = (struct sl_launch){.plan = plan, .progress = progress};
	progress->loss = plan->settings.trainer != SL_TRAINER_AUTOENCODER &&
			 plan->settings.trainer != SL_TRAINER_NOISE;
	launch->learners = calloc(plan->learners, sizeof *launch->learners);
	if (launch->learners == NULL)
		return SL_ERR_NOMEM;
	if (uv_loop_init(&launch->loop) != 0) {
		free(launch->learners);
		return SL_ERR_IO;
	}
	sl_round_table_init(&launch->rounds, plan->learners, plan->settings.rounds);
	for (uint32_t i = 0; i < plan->learners; i++)
		init_learner(launch, i);
	sl_resume_begin(launch);
	return SL_OK;
}

/* Print what the learners train, and on which data. */
static void say_task(struct sl_launch *launch)
{
	const struct sl_settings *s = &launch->plan->settings;
	char *const *command = launch->plan->options.command;
	const char *folder = strcmp(s->data, "digits") == 0 ? NULL : s->data;
	if (command != NULL)
		sl_progress_line(launch->progress, "%u learners run %s%s%s", launch->plan->learners,
				 command[0], command[1] != NULL ? " " : "",
				 command[1] != NULL ? command[1] : "");
	else if (s->trainer == SL_TRAINER_EXEC)
		sl_progress_line(launch->progress, "%u learners start %s", launch->plan->learners,
				 s->command);
	else if (s->trainer == SL_TRAINER_NOISE)
		sl_progress_line(launch->progress, "%u learners draw random models of %zu parameters",
				 launch->plan->learners, launch->plan->n);
	else
		sl_progress_line(
			launch->progress, "%u learners train an autoencoder (%zu parameters) on %s%s",
			launch->plan->learners, launch->plan->n,
			folder != NULL ? "images from " : "handwriting-like digits drawn by the program",
			folder != NULL ? folder : "");
}

/* Run to the end, and return the exit status. */
static int run(struct sl_launch *launch)
{
	watch_signals(launch);
	say_task(launch);
	sl_child_own_pid(launch, true);
	if (launch->plan->options.web)
		sl_launch_web_open(launch);
	spawn_all(launch);
	uv_run(&launch->loop, UV_RUN_DEFAULT);
	int status = sl_launch_result(launch);
	sl_child_own_pid(launch, false);
	return status;
}

/* Leave a run that has not begun; without an error text, the reason is printed already. */
static int leave(const struct sl_plan *plan, const struct sl_error *error)
{
	if (error->text[0] != '\0')
		fprintf(stderr, "starling launch: %s\n", error->text);
	if (plan->resume.of == NULL)
		sl_run_folder_remove(&plan->folder);
	return SL_EXIT_FAILED;
}

int sl_launch_run(struct sl_plan *plan, struct sl_progress *progress)
{
	struct sl_launch launch;
	struct sl_error error = {0};
	if (init(&launch, plan, progress) != SL_OK) {
		fprintf(stderr, "starling launch: out of memory\n");
		return SL_EXIT_FAILED;
	}
	sl_descriptors_raise();
	bool ready = !plan->options.verify || sl_recompute_open(&launch, &error) == SL_OK;
	int status = ready ? run(&launch) : leave(plan, &error);
	uv_loop_close(&launch.loop);
	sl_round_table_close(&launch.rounds);
	sl_wait_close(&launch);
	sl_commands_free(launch.commands);
	sl_recompute_free(&launch);
	free(launch.web);
	free(launch.learners);
	return status;
}
