/* `starling status`: show what learners are doing, and which learners they wait for. */
#include <stdio.h>
#include <stdlib.h>

#include "tools/lib/terminal.h"
#include "tools/starling/status.h"

struct status_command {
	struct sl_learners_options learners; /* first */
	bool watch, json;
};

static const struct sl_option own[] = {SL_LEARNERS_CONTROL,
				       {"watch", 'w', NULL,
					"show the table again each second, until q or Ctrl-C; in a pipe, a "
					"line per change, to the end of the run",
					SL_SETS(struct status_command, watch)},
				       {"json", 'j', NULL, "print one JSON object; with --watch one a second",
					SL_SETS(struct status_command, json)},
				       {0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "[RUNFOLDER]",
	.take = sl_learners_take_folder,
	.doc = "Show the round, phase and last commit of learners, which learners they wait for, and how "
	       "many more losses the open attempt tolerates.\v" SL_LEARNERS_WITHOUT "\n"
	       "Lines marked with ~ are second-hand: what a learner knows of peers that were not asked, from "
	       "the link and the last Hello.\n"
	       "\n"
	       "Examples:\n"
	       "  starling status RUNFOLDER\n"
	       "  starling status --watch RUNFOLDER\n"
	       "  starling status --control /run/starling/control.sock\n"
	       "  starling status --json RUNFOLDER | jq '.learners[].state'\n"
	       "\n"
	       "Exit status: 0 all make progress, 1 a learner waits beyond a deadline or does not answer, or "
	       "its group is forming, or it waits for its first program, 2 a learner is stopped, has "
	       "finished or was not started yet (or wrong "
	       "usage)."};

/* Say where the learners are, if the command line does not. */
static void say_where(const struct status_command *command, const struct sl_status_all *all)
{
	if (command->json || command->learners.folder != NULL || command->learners.count > 0)
		return;
	if (*all->of.folder != '\0')
		printf("run folder %s\n", all->of.folder);
	else
		printf("installed daemon, %s\n", all->of.asked->shown);
}

static void print_json(const struct sl_status_all *all)
{
	json_t *document = sl_status_json(all);
	sl_command_print_json(document, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
}

int sl_cmd_status(int argc, char **argv)
{
	struct status_command command = {0};
	struct sl_status_all all;
	int status;
	sl_option_parse(&usage, argc, argv, &command);
	sl_status_open(&all, &command.learners);
	if (!command.watch || !command.json)
		say_where(&command, &all);
	if (command.watch) {
		status = sl_status_watch(&all, command.json);
	} else {
		sl_status_read(&all);
		if (command.json)
			print_json(&all);
		else
			sl_status_print(&all, stdout, sl_terminal_width(stdout), 0);
		status = sl_status_exit(&all);
	}
	sl_status_close(&all);
	return status;
}
