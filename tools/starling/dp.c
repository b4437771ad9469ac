/* `starling dp`: its verbs. */
#include "tools/lib/command.h"
#include "tools/lib/terminal.h"
#include "tools/lib/verbs.h"

static const struct sl_verb verbs[] = {
	{"plan", NULL, "--epsilon E|--noise Z --delta D --rounds T --records N|--unit learner", NULL,
	 "starling_timeline.dp_plan"},
	{"audit", NULL, "[--json] RUNFOLDER|FILE...", NULL, "starling_timeline.dp_audit"},
	{0}};

static void print_more(FILE *out)
{
	sl_terminal_print(out,
			  "\nDifferential privacy: noise in the sum that hides each record, or each "
			  "learner, and what it costs.\n\nEach verb has its own --help with examples.\n");
}

int sl_cmd_dp(int argc, char **argv)
{
	return sl_verbs_run("starling dp", verbs, print_more, argc, argv);
}
