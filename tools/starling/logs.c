/* starling logs: records out of the logs of learners; their rounds, figures and traces in Python
 * (tools/timeline). */
#include "tools/starling/logs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime/log.h"
#include "tools/lib/option.h"
#include "tools/starling/python.h"

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

/* Explain a round, print figures or write a trace, in Python. The module takes "round", "stats" or "trace",
 * the number or the file, "json" or "text", and the paths. */
static int run_python(const struct sl_logs *logs, char *name)
{
	char number[24];
	const char **words = sl_command_memory(logs->path_count + 4, sizeof *words);
	snprintf(number, sizeof number, "%llu", (unsigned long long)logs->round);
	words[0] = name;
	words[1] = logs->stats ? "stats" : logs->trace != NULL ? "trace" : "round";
	words[2] = logs->trace != NULL ? logs->trace : number;
	words[3] = logs->json ? "json" : "text";
	memcpy(words + 4, logs->paths, logs->path_count * sizeof *words);
	int status = sl_python_run("starling_timeline.__main__",
				   "'starling logs' without --round, --stats and --trace needs no Python",
				   (int)logs->path_count + 4, (char **)words);
	free(words);
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
	int status;
	sl_option_parse(&usage, argc, argv, &logs);
	if (logs.stats || logs.trace != NULL || (logs.round != 0 && !filters(&logs))) {
		status = run_python(&logs, argv[0]);
	} else if (sl_log_files_open(&files, logs.paths, logs.path_count, logs.follow, false, &error) !=
		   SL_OK) {
		status = fail(&error);
	} else {
		status = sl_logs_records(&logs, &files);
		say_skipped(&files.malformed, "malformed line", "");
		say_skipped(&files.other_version, "record", " of another version");
		sl_log_files_close(&files);
	}
	free(logs.paths);
	return status;
}
