/* starling logs: records, rounds, figures and traces out of the logs of learners. */
#include "tools/starling/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "daemon/runtime/log.h"
#include "tools/lib/option.h"
#include "tools/timeline/explain.h"
#include "tools/timeline/stats.h"
#include "tools/timeline/timeline.h"
#include "tools/timeline/trace.h"

static void take_path(struct argp_state *state, const char *value, void *options)
{
	struct sl_logs *logs = options;
	(void)state;
	logs->paths = sl_command_grow(logs->paths, logs->path_count, &logs->path_room, sizeof *logs->paths);
	logs->paths[logs->path_count++] = value;
}

static void set_learner(struct sl_logs_learner *learner, const char *value)
{
	learner->text = value;
	if (!sl_number_parse(value, 1, UINT32_MAX, &learner->id))
		learner->id = 0;
}

static void take_learner(struct argp_state *state, const char *value, void *options)
{
	(void)state;
	set_learner(&((struct sl_logs *)options)->learner, value);
}

static void take_peer(struct argp_state *state, const char *value, void *options)
{
	(void)state;
	set_learner(&((struct sl_logs *)options)->peer, value);
}

static void take_level(struct argp_state *state, const char *value, void *options)
{
	struct sl_logs *logs = options;
	logs->level = sl_level_find(value);
	if (logs->level < 0)
		argp_failure(state, SL_EXIT_USAGE, 0, "--level: '%s' is not one of debug, info, warn, error",
			     value);
}

static bool filters(const struct sl_logs *logs)
{
	return logs->learner.text != NULL || logs->peer.text != NULL || logs->phase != NULL ||
	       logs->level >= 0 || logs->follow || logs->records;
}

static void check(struct argp_state *state, const void *options)
{
	const struct sl_logs *logs = options;
	if (logs->stats && logs->trace != NULL)
		argp_failure(state, SL_EXIT_USAGE, 0, "give --stats or --trace, not both");
	if ((logs->stats || logs->trace != NULL) && (filters(logs) || logs->round != 0))
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "%s takes the whole run: leave out --round and the filters of records",
			     logs->stats ? "--stats" : "--trace");
}

static const struct sl_option own[] = {
	{"round", 'r', "N", "explain round N; with a filter, --follow or --records, print its records",
	 SL_SETS(struct sl_logs, round), 1, UINT32_MAX},
	{"stats", 's', NULL, "print p50, p95 and max of each phase, bytes, and the slowest learners",
	 SL_SETS(struct sl_logs, stats)},
	{"trace", 't', "FILE", "write the run as a trace that ui.perfetto.dev and chrome://tracing open",
	 SL_SETS(struct sl_logs, trace)},
	{"learner", 'l', "ID", "only records of this learner, by id or name", .take = take_learner},
	{"peer", 'p', "ID", "only records that name this learner as a peer, by id or name",
	 .take = take_peer},
	{"phase", 'P', "NAME", "only records of this phase, such as mix", SL_SETS(struct sl_logs, phase)},
	{"level", 'L', "LEVEL", "only records of LEVEL and above: debug, info, warn or error (debug)",
	 .take = take_level},
	{"records", 'R', NULL, "print records, as without --round", SL_SETS(struct sl_logs, records)},
	{"follow", 'f', NULL, "continue with new records, until Ctrl-C", SL_SETS(struct sl_logs, follow)},
	{"json", 'j', NULL, "print JSON: records as they are in the files, a round or figures",
	 SL_SETS(struct sl_logs, json)},
	{0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "RUNFOLDER|FILE...",
	.missing = "give a run folder or log files; of a learner of systemd: journalctl -u starlingd@GROUP "
		   "-o cat --output-fields=STARLING_JSON >log.jsonl",
	.take = take_path,
	.check = check,
	.doc = "Print the logs of any number of learners as one, in the order of time (UTC), or explain a "
	       "round.\v"
	       "Examples:\n"
	       "  starling logs RUNFOLDER --follow\n"
	       "  starling logs RUNFOLDER --round 7\n"
	       "  starling logs ana.jsonl bo.jsonl --round 7 --json | jq .slowest\n"
	       "  starling logs RUNFOLDER --stats\n"
	       "  starling logs RUNFOLDER --round 3 --level warn\n"
	       "  starling logs RUNFOLDER --learner 7 --json | jq .event\n"};

static int fail(const struct sl_error *error)
{
	fprintf(stderr, "starling logs: %s\n", error->text);
	return error->code == SL_ERR_NOTFOUND ? SL_EXIT_USAGE : SL_EXIT_FAILED;
}

static int print_json(json_t *document)
{
	int rc = json_dumpf(document, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
	bool failed = rc != 0 || putchar('\n') == EOF;
	json_decref(document);
	if (failed)
		sl_command_output_failed();
	return 0;
}

/* ---- a round, figures, a trace ---- */

/* Name the run after its folder; that of a launch knows its number of rounds. */
static void name_run(const struct sl_logs *logs, struct sl_timeline *timeline)
{
	char path[PATH_MAX], folder[PATH_MAX];
	struct stat st;
	if (logs->path_count > 1 || realpath(logs->paths[0], folder) == NULL || stat(folder, &st) != 0 ||
	    !S_ISDIR(st.st_mode))
		return;
	if (snprintf(path, sizeof path, "%s/summary.json", folder) >= (int)sizeof path)
		return;
	json_t *summary = json_load_file(path, 0, NULL);
	json_int_t rounds = json_integer_value(json_object_get(summary, "rounds_asked"));
	sl_timeline_name(timeline, basename(folder), rounds > 0 ? (uint64_t)rounds : 0);
	json_decref(summary);
}

static void explain(const json_t *document)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (out != NULL)
		sl_explain_round(out, document);
	if (out != NULL && fclose(out) == 0) {
		sl_clean_text(text, true); /* learners name themselves, and quote what they got */
		fputs(text, stdout);
	}
	free(text);
}

static int show_round(const struct sl_logs *logs, struct sl_timeline *timeline)
{
	json_t *document = sl_timeline_round_json(timeline, logs->round),
	       *run = sl_timeline_run_json(timeline);
	int status = 0;
	if (document == NULL)
		status = sl_logs_no_round(logs, NULL,
					  (uint64_t)json_integer_value(json_object_get(run, "first")),
					  (uint64_t)json_integer_value(json_object_get(run, "last")));
	else if (logs->json)
		print_json(json_incref(document));
	else
		explain(document);
	json_decref(document);
	json_decref(run);
	return status;
}

static int show_stats(const struct sl_logs *logs, struct sl_timeline *timeline)
{
	json_t *stats = sl_stats_json(timeline);
	if (logs->json)
		return print_json(stats);
	sl_stats_print(stdout, stats);
	json_decref(stats);
	return 0;
}

static int write_trace(const struct sl_logs *logs, struct sl_timeline *timeline)
{
	bool standard = strcmp(logs->trace, "-") == 0;
	FILE *out = standard ? stdout : fopen(logs->trace, "w");
	if (out != NULL)
		sl_trace_write(out, timeline);
	bool failed = out == NULL || ferror(out) != 0;
	if (out != NULL && !standard)
		failed |= fclose(out) != 0;
	if (failed && !standard) {
		fprintf(stderr, "starling logs: %s: %m\n", logs->trace);
		return SL_EXIT_FAILED;
	}
	return 0;
}

static int show_run(const struct sl_logs *logs, struct sl_log_files *files)
{
	struct sl_timeline *timeline = sl_timeline_new();
	name_run(logs, timeline);
	sl_log_files_read(files, sl_timeline_take_each, timeline);
	int status = logs->stats	   ? show_stats(logs, timeline)
		     : logs->trace != NULL ? write_trace(logs, timeline)
					   : show_round(logs, timeline);
	sl_timeline_free(timeline);
	return status;
}

static void say_skipped(const struct sl_log_files_skipped *skipped, const char *what, const char *why)
{
	if (skipped->count > 0)
		fprintf(stderr, "starling logs: %zu %s%s%s left out, the first at %s\n", skipped->count, what,
			skipped->count == 1 ? "" : "s", why, skipped->first);
}

int sl_cmd_logs(int argc, char **argv)
{
	struct sl_logs logs = {.level = -1, .colour = sl_log_colour(STDOUT_FILENO)};
	struct sl_log_files files;
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &logs);
	if (sl_log_files_open(&files, logs.paths, logs.path_count, logs.follow, false, &error) != SL_OK) {
		free(logs.paths);
		return fail(&error);
	}
	bool whole = logs.stats || logs.trace != NULL || (logs.round != 0 && !filters(&logs));
	int status = whole ? show_run(&logs, &files) : sl_logs_records(&logs, &files);
	say_skipped(&files.malformed, "malformed line", "");
	say_skipped(&files.other_version, "record", " of another version");
	sl_log_files_close(&files);
	free(logs.paths);
	return status;
}
