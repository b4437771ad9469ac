/* `starling report`: write the report of a run. */
#include <stdio.h>

#include "tools/lib/option.h"
#include "tools/web/report.h"

struct report {
	const char *folder;
};

static const struct sl_option own[] = {{0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "RUNFOLDER",
	.missing = "give the run folder",
	.argument = offsetof(struct report, folder),
	.doc = "Write report.html, rounds.csv and learners.csv into the folder of a run, from the logs of "
	       "its "
	       "learners. The report is one file that opens in any browser, without a server: graph, phases, "
	       "waits, loss, and whether all have the same model.\v"
	       "Examples:\n"
	       "  starling report RUNFOLDER\n"
	       "  starling launch --web                 # writes it at the end of the run\n"
	       "\n"
	       "See also: starling watch --help\n"};

static void take(void *context, const json_t *record)
{
	sl_timeline_take(context, record);
}

int sl_cmd_report(int argc, char **argv)
{
	struct report report = {0};
	struct sl_error error = {0};
	struct sl_web_tail *tail;
	sl_option_parse(&usage, argc, argv, &report);
	int code = sl_web_tail_open(&tail, report.folder, false, &error);
	if (code == SL_OK) {
		struct sl_timeline *timeline = sl_timeline_new();
		sl_web_report_name(timeline, report.folder);
		sl_web_tail_read(tail, take, timeline);
		code = sl_web_report_write(timeline, tail, report.folder, &error);
		sl_timeline_free(timeline);
	}
	sl_web_tail_close(tail);
	if (code == SL_OK) {
		printf("%s/report.html\n%s/rounds.csv\n%s/learners.csv\n", report.folder, report.folder,
		       report.folder);
		return 0;
	}
	fprintf(stderr, "starling report: %s\n", error.text);
	return code == SL_ERR_NOTFOUND ? SL_EXIT_USAGE : SL_EXIT_FAILED;
}
