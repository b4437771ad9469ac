/* `starling reload`: let learners read their files again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/learners.h"

#define ANSWER_MS 10000

struct reload_command {
	struct sl_learners_options learners; /* first */
};

static const struct sl_option own[] = {SL_LEARNERS_CONTROL, {0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "[RUNFOLDER]",
	.take = sl_learners_take_folder,
	.doc = "Let running learners open their log again, and read roster and log level again, as SIGHUP "
	       "does.\v"
	       "Without RUNFOLDER and --control: the learners of the present folder, or else the installed "
	       "daemon (" SL_LEARNERS_SOCKET "). A learner that finds an error goes on with what it has.\n"
	       "\n"
	       "Examples:\n"
	       "  starling reload\n"
	       "  starling reload --control /run/starling/control.sock\n"
	       "\n"
	       "Exit status: 0 all have reloaded, 1 one has not, 2 wrong usage."};

/* Report what became of it; return true if the learner has reloaded. */
static bool report(const struct sl_control_query *one)
{
	if (json_is_true(json_object_get(one->reply, "ok"))) {
		printf("%s: reloaded\n", one->shown);
		return true;
	}
	fprintf(stderr, "starling reload: %s: %s\n", one->shown,
		one->error != 0	     ? strerror(one->error)
		: one->reply == NULL ? "does not answer"
				     : sl_learners_text(one->reply, "error"));
	return false;
}

int sl_cmd_reload(int argc, char **argv)
{
	struct reload_command command = {0};
	struct sl_learners learners;
	json_t *request = json_pack("{s:s}", "op", "reload");
	int status = 0;
	sl_option_parse(&usage, argc, argv, &command);
	sl_learners_open(&learners, &command.learners);
	free(command.learners.sockets);
	sl_control_query_all(learners.asked, learners.count, request, ANSWER_MS);
	for (size_t i = 0; i < learners.count; i++)
		status = report(&learners.asked[i]) && status == 0 ? 0 : SL_EXIT_FAILED;
	json_decref(request);
	sl_learners_close(&learners);
	return status;
}
