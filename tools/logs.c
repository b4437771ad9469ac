#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log.h"
#include "tools/command.h"
#include "tools/log_merge.h"

#define POLL_MS 200

struct logs {
	const char *folder;
	const char *learner; /* id or name; NULL: all */
	uint64_t learner_id; /* 0: by name */
	uint64_t round;      /* 0: all */
	int level;
	bool follow, json, colour;
};

static volatile sig_atomic_t interrupted;

static const struct argp_option options[] = {
	{"round", 'r', "N", 0, "Only records of round N", 0},
	{"learner", 'l', "ID", 0, "Only records of this learner, by id or name", 0},
	{"level", 'L', "LEVEL", 0, "Only debug, info, warn or error and what is worse (default: debug)", 0},
	{"follow", 'f', NULL, 0, "Go on with what is written from now on, until Ctrl-C", 0},
	{"json", 'j', NULL, 0, "Print the records as they stand in the files", 0},
	{0},
};

static const char doc[] = "Prints the logs of all learners of a run as one, in the order of time (UTC).\v"
			  "Examples:\n"
			  "  starling logs RUNFOLDER --follow\n"
			  "  starling logs RUNFOLDER --round 3 --level warn\n"
			  "  starling logs RUNFOLDER --learner 7 --json | jq .event\n";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct logs *logs = state->input;
	switch (key) {
	case 'r':
		if (!sl_tool_number(value, 1, UINT32_MAX, &logs->round))
			argp_failure(state, SL_EXIT_USAGE, 0, "--round: '%s' is not a round, 1 or more", value);
		return 0;
	case 'l':
		logs->learner = value;
		if (!sl_tool_number(value, 1, UINT32_MAX, &logs->learner_id))
			logs->learner_id = 0;
		return 0;
	case 'L':
		logs->level = sl_level_find(value);
		if (logs->level < 0)
			argp_failure(state, SL_EXIT_USAGE, 0, "--level: '%s' is not one of debug, info, warn, error", value);
		return 0;
	case 'f':
		logs->follow = true;
		return 0;
	case 'j':
		logs->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (logs->folder)
			argp_failure(state, SL_EXIT_USAGE, 0, "one run folder at a time; '%s' is a second", value);
		logs->folder = value;
		return 0;
	case ARGP_KEY_END:
		if (logs->folder == NULL)
			argp_failure(state, SL_EXIT_USAGE, 0, "which run folder? see 'starling logs --help'");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool wanted(const struct logs *logs, const json_t *record)
{
	const char *level = json_string_value(json_object_get(record, "level"));
	const char *name = json_string_value(json_object_get(record, "name"));
	const json_t *learner = json_object_get(record, "learner"), *round = json_object_get(record, "round");
	int known_level = level ? sl_level_find(level) : -1;
	if (known_level >= 0 && known_level < logs->level)
		return false;
	if (logs->round && (!json_is_integer(round) || (uint64_t)json_integer_value(round) != logs->round))
		return false;
	if (logs->learner_id)
		return json_is_integer(learner) && (uint64_t)json_integer_value(learner) == logs->learner_id;
	return logs->learner == NULL || (name && strcmp(name, logs->learner) == 0);
}

static bool print(const struct logs *logs, const struct sl_log_item *item)
{
	char line[SL_LOG_LINE_BYTES];
	if (!logs->json) {
		size_t n = sl_log_render(item->record, logs->colour, line, sizeof line);
		return fwrite(line, 1, n, stdout) == n;
	}
	return fwrite(item->line, 1, item->bytes, stdout) == item->bytes && putchar('\n') != EOF;
}

/* false when standard output takes no more */
static bool print_all(const struct logs *logs, struct sl_log_merge *merge)
{
	struct sl_log_item item;
	while (!interrupted && sl_log_merge_next(merge, &item))
		if (wanted(logs, item.record) && !print(logs, &item)) {
			sl_tool_output_failed();
			return false;
		}
	return true;
}

/* Waits a poll's time; false when it is time to end: Ctrl-C, or nobody reads standard output any more. */
static bool wait_for_more(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	if (fflush(stdout) != 0) {
		sl_tool_output_failed();
		return false;
	}
	if (poll(&out, 1, POLL_MS) > 0 && (out.revents & (POLLERR | POLLHUP | POLLNVAL)))
		return false;
	return !interrupted;
}

static int fail(const struct sl_error *error)
{
	fprintf(stderr, "starling logs: %s\n", error->text);
	return error->code == SL_ERR_NOTFOUND ? SL_EXIT_USAGE : SL_EXIT_FAILED;
}

static int follow(const struct logs *logs, struct sl_log_merge *merge)
{
	struct sl_error error = {0};
	while (print_all(logs, merge) && wait_for_more())
		if (sl_log_merge_refresh(merge, &error) != SL_OK)
			return fail(&error);
	return 0;
}

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int sl_cmd_logs(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "RUNFOLDER", doc, NULL, NULL, NULL};
	struct logs logs = {.level = SL_DEBUG, .colour = sl_log_colour(STDOUT_FILENO)};
	struct sl_log_merge merge;
	struct sl_error error = {0};
	int status = 0;
	argp_parse(&argp, argc, argv, 0, NULL, &logs);
	if (sl_log_merge_open(&merge, logs.folder, logs.follow, &error) != SL_OK)
		return fail(&error);
	if (logs.follow) {
		catch_signals();
		status = follow(&logs, &merge);
	} else {
		print_all(&logs, &merge);
	}
	if (merge.malformed > 0)
		fprintf(stderr, "starling logs: %zu malformed line%s left out, the first at %s\n", merge.malformed,
			merge.malformed == 1 ? "" : "s", merge.first_malformed);
	sl_log_merge_close(&merge);
	return status;
}
