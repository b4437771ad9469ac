/* `starling dp`: its verbs. */
#include "tools/starling/dp.h"

#include "tools/lib/command.h"
#include "tools/lib/python.h"
#include "tools/lib/terminal.h"

static int audit(int argc, char **argv)
{
	return sl_python_run("starling_timeline.dp_audit", argc, argv);
}

static const struct sl_verb verbs[] = {
	{"plan", sl_dp_plan, "--epsilon E|--noise Z --delta D --rounds T [--records N] [--json]", NULL},
	{"audit", audit, "[--json] RUNFOLDER|FILE...", NULL},
	{0}};

static void print_more(FILE *out)
{
	sl_terminal_print(out,
			  "\nDifferential privacy: noise in the sum that hides each record, or each "
			  "learner, and what it costs.\n\nEach verb has its own --help with examples.\n");
}

int sl_cmd_dp(int argc, char **argv)
{
	return sl_command_verbs("starling dp", verbs, print_more, argc, argv);
}
