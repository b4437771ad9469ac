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
	       "its learners. The report is one file that opens in any browser, without a server: graph, "
	       "phases, waits, loss, and whether all have the same model.\v"
	       "Examples:\n"
	       "  starling report RUNFOLDER\n"
	       "  starling launch --web                 # writes it at the end of the run\n"
	       "\n"
	       "See also: starling watch --help\n"};

int sl_cmd_report(int argc, char **argv)
{
	struct report report = {0};
	struct sl_error error = {0};
	struct sl_log_files files;
	sl_option_parse(&usage, argc, argv, &report);
	int code = sl_log_files_open(&files, &report.folder, 1, false, false, &error);
	if (code == SL_OK) {
		const struct sl_web_source source = sl_web_source_files(&files);
		struct sl_timeline *timeline = sl_timeline_new();
		sl_web_report_name(timeline, report.folder);
		sl_log_files_read(&files, sl_timeline_take_each, timeline);
		code = sl_web_report_write(timeline, &source, report.folder, &error);
		sl_timeline_free(timeline);
		sl_log_files_close(&files);
	}
	if (code == SL_OK) {
		printf("%s/report.html\n%s/rounds.csv\n%s/learners.csv\n", report.folder, report.folder,
		       report.folder);
		return 0;
	}
	fprintf(stderr, "starling report: %s\n", error.text);
	return code == SL_ERR_NOTFOUND ? SL_EXIT_USAGE : SL_EXIT_FAILED;
}
