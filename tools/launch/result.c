/* The result of a run, after the last learner has ended: delete secrets, write summary.json, print the last
 * lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "daemon/runtime/streams.h"
#include "tools/lib/command.h"
#include "tools/launch/commands.h"
#include "tools/launch/state.h"

/* ---- summary.json ---- */

static void write_summary(struct sl_launch *launch)
{
	struct sl_error error = {0};
	json_t *summary = sl_summary(launch);
	char *text = summary != NULL ? json_dumps(summary, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL,
	     *line = NULL;
	if (text == NULL || asprintf(&line, "%s\n", text) < 0)
		sl_err_set(&error, SL_ERR_NOMEM, "summary.json: out of memory");
	else
		sl_run_folder_write(&launch->plan->folder, "summary.json", line, strlen(line), &error);
	if (line != NULL && launch->plan->options.json)
		fputs(line, stdout);
	if (error.code != SL_OK) {
		fprintf(stderr, "starling launch: %s\n", error.text);
		launch->unwritten = true;
	}
	free(line);
	free(text);
	json_decref(summary);
}

/* ---- the last lines ---- */

void sl_launch_command(struct sl_launch *launch, const char *lead, const char *command)
{
	char program[PATH_MAX + 64], folder[PATH_MAX + 64];
	const char *shown = launch->plan->folder.shown;
	sl_clean_shell_word(launch->plan->options.program, program, sizeof program);
	sl_clean_shell_word(shown, folder, sizeof folder);
	sl_progress_clear(launch->progress);
	fprintf(launch->progress->out, "%s%s %s %s%s%s\n", lead, program, command, *shown == '-' ? "./" : "",
		folder,
		launch->commands != NULL && strcmp(command, "launch --resume") == 0 ? " -- COMMAND" : "");
	sl_streams_flush(launch->progress->out);
}

/* Return true if the rounds are without the data of learner i: it was left out of all, or only adopted
 * results. */
static bool is_idle(const struct sl_launch *launch, uint32_t i)
{
	return launch->handed > 0 && !launch->learners[i].took_part && !launch->learners[i].lost;
}

/* Return true if there is a round to continue after. */
static bool has_committed(const struct sl_launch *launch)
{
	bool any = launch->plan->resume.committed > 0;
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		any |= launch->learners[i].committed > 0;
	return any;
}

/* Say after which round the learners have agreed to stop, or a budget was spent; others may have gone on
 * before they were asked to end. */
static void say_stopped(const struct sl_launch *launch)
{
	sl_round last = launch->rounds.most;
	char more[64] = "";
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		last = launch->learners[i].committed > last ? launch->learners[i].committed : last;
	if (last > launch->rounds.most)
		snprintf(more, sizeof more, "; learners with more have committed round %u", last);
	sl_progress_line(launch->progress, "stopped after round %u of %u %s%s", launch->rounds.most,
			 launch->asked, launch->spent ? "as a privacy budget is spent" : "by agreement",
			 more);
}

static void say_idle(const struct sl_launch *launch)
{
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (is_idle(launch, i))
			sl_progress_line(launch->progress, "%s (%u) took part in no round: %s",
					 launch->learners[i].name, i + 1,
					 launch->learners[i].odd[0] != '\0' ? launch->learners[i].odd
									    : "the logs say why");
}

static int exit_status(const struct sl_launch *launch)
{
	if (launch->signal != 0)
		return 128 + launch->signal;
	if (launch->failed || launch->unwritten || launch->handed < launch->rounds.most ||
	    !sl_summary_all(launch, false))
		return SL_EXIT_FAILED;
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (is_idle(launch, i))
			return SL_EXIT_FAILED;
	return sl_commands_status(launch->commands);
}

int sl_launch_result(struct sl_launch *launch)
{
	char log[PATH_MAX];
	write_summary(launch);
	if (launch->failed)
		fprintf(stderr, "starling launch: %s\n", launch->error);
	else if (launch->signal != 0)
		fprintf(stderr, "starling launch: interrupted\n");
	sl_dumps_end(launch);
	sl_chaos_say(launch);
	if (launch->asked != 0 && !launch->failed)
		say_stopped(launch);
	if (!launch->failed && launch->signal == 0)
		say_idle(launch);
	sl_progress_total(launch->progress, &launch->rounds, launch->handed,
			  launch->plan->settings.clipping_range, launch->plan->options.verify);
	if (sl_run_folder_path(&launch->plan->folder, 0, "log.jsonl", log) != SL_OK || access(log, F_OK) != 0)
		return exit_status(launch); /* no learner came up */
	if (!launch->command_failed)	    /* its output says more than the logs of the learners */
		sl_launch_command(launch, "next: ", "logs");
	bool goes_on =
		launch->signal != 0 || (launch->failed && launch->commands != NULL && has_committed(launch));
	if (goes_on && launch->handed < launch->rounds.most)
		sl_launch_command(launch, "to continue: ", "launch --resume");
	return exit_status(launch);
}
