#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime/log.h"
#include "tools/starling/log_merge.h"
#include "tools/lib/option.h"

#define POLL_MS 200

struct logs {
	const char *folder;
	const char *learner; /* id or name; NULL: all */
	uint64_t learner_id; /* 0: by name */
	uint64_t round;	     /* 0: all */
	int level;
	bool follow, json, colour;
};

#define NAMED_MOST 8u /* learners in an error */

struct known {
	uint64_t id;
	char name[SL_NAME_BYTES];
};

/* Learners and rounds found in the logs, named in the error if the wanted ones have no record. */
struct seen {
	struct known *learners;
	size_t count, room;
	bool learner, round;  /* found: the wanted learner; its wanted round */
	uint64_t first, last; /* rounds; 0: none */
};

static volatile sig_atomic_t interrupted;

static void take_learner(struct argp_state *state, const char *value, void *options)
{
	struct logs *logs = options;
	(void)state;
	logs->learner = value;
	if (!sl_number_parse(value, 1, UINT32_MAX, &logs->learner_id))
		logs->learner_id = 0;
}

static void take_level(struct argp_state *state, const char *value, void *options)
{
	struct logs *logs = options;
	logs->level = sl_level_find(value);
	if (logs->level < 0)
		argp_failure(state, SL_EXIT_USAGE, 0, "--level: '%s' is not one of debug, info, warn, error",
			     value);
}

static const struct sl_option own[] = {
	{"round", 'r', "N", "only records of round N", SL_SETS(struct logs, round), 1, UINT32_MAX},
	{"learner", 'l', "ID", "only records of this learner, by id or name", .take = take_learner},
	{"level", 'L', "LEVEL", "only debug, info, warn or error, and more severe records (debug)",
	 .take = take_level},
	{"follow", 'f', NULL, "continue with new records, until Ctrl-C", SL_SETS(struct logs, follow)},
	{"json", 'j', NULL, "print the records as they stand in the files", SL_SETS(struct logs, json)},
	{0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "RUNFOLDER",
	.missing = "give the run folder",
	.argument = offsetof(struct logs, folder),
	.doc = "Print the logs of all learners of a run as one, in the order of time (UTC).\v"
	       "Examples:\n"
	       "  starling logs RUNFOLDER --follow\n"
	       "  starling logs RUNFOLDER --round 3 --level warn\n"
	       "  starling logs RUNFOLDER --learner 7 --json | jq .event\n"};

static bool of_learner(const struct logs *logs, const struct sl_record *record)
{
	if (logs->learner_id)
		return record->learner == logs->learner_id;
	return logs->learner == NULL || (record->name && strcmp(record->name, logs->learner) == 0);
}

static bool wanted(const struct logs *logs, const struct sl_record *record)
{
	int known_level = record->level ? sl_level_find(record->level) : -1;
	if (known_level >= 0 && known_level < logs->level)
		return false;
	return (logs->round == 0 || record->round == logs->round) && of_learner(logs, record);
}

/* ---- learners and rounds found ---- */

static void see_learner(struct seen *seen, const struct sl_record *record)
{
	const char *name = record->name;
	uint64_t id = record->learner;
	if (name == NULL || id == 0)
		return;
	for (size_t i = 0; i < seen->count; i++)
		if (seen->learners[i].id == id && strcmp(seen->learners[i].name, name) == 0)
			return;
	seen->learners = sl_command_grow(seen->learners, seen->count, &seen->room, sizeof *seen->learners);
	seen->learners[seen->count].id = id;
	snprintf(seen->learners[seen->count++].name, SL_NAME_BYTES, "%s", name);
}

static void see(const struct logs *logs, struct seen *seen, const struct sl_record *record)
{
	uint64_t round = record->round;
	if (!seen->learner)
		see_learner(seen, record);
	if (!of_learner(logs, record))
		return;
	seen->learner = true;
	seen->round |= round == logs->round;
	if (round > 0 && (seen->first == 0 || round < seen->first))
		seen->first = round;
	if (round > seen->last)
		seen->last = round;
}

static int by_id(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static void say_learners(const struct logs *logs, struct seen *seen)
{
	size_t n = seen->count;
	fprintf(stderr, "starling logs: %s: no record of learner '%s'", logs->folder, logs->learner);
	if (n > 0)
		qsort(seen->learners, n, sizeof *seen->learners, by_id);
	for (size_t i = 0; i < n && i < NAMED_MOST; i++)
		fprintf(stderr, "%s%s (%llu)", i == 0 ? "; there are " : ", ", seen->learners[i].name,
			(unsigned long long)seen->learners[i].id);
	if (n > NAMED_MOST)
		fprintf(stderr, " and %zu more", n - NAMED_MOST);
	fputc('\n', stderr);
}

static void say_rounds(const struct logs *logs, const struct seen *seen)
{
	fprintf(stderr, "starling logs: %s: no record of round %llu%s%s; ", logs->folder,
		(unsigned long long)logs->round, logs->learner ? " by learner " : "",
		logs->learner ? logs->learner : "");
	if (seen->first == 0)
		fputs("there are none of any round\n", stderr);
	else if (seen->first == seen->last)
		fprintf(stderr, "there is round %llu\n", (unsigned long long)seen->first);
	else
		fprintf(stderr, "there are rounds %llu to %llu\n", (unsigned long long)seen->first,
			(unsigned long long)seen->last);
}

/* Print an error if the wanted learner or round has no record. Return the exit status. */
static int judge(const struct logs *logs, struct seen *seen)
{
	if (interrupted || ferror(stdout))
		return 0;
	if (logs->learner != NULL && !seen->learner) {
		say_learners(logs, seen);
		return SL_EXIT_USAGE;
	}
	if (logs->round != 0 && !seen->round)
		say_rounds(logs, seen);
	return 0;
}

/* ---- printing ---- */

static bool print(const struct logs *logs, const struct sl_log_item *item)
{
	char line[SL_LOG_LINE_BYTES];
	if (!logs->json) {
		size_t n = sl_log_render(item->record->json, logs->colour, line, sizeof line);
		return fwrite(line, 1, n, stdout) == n;
	}
	return fwrite(item->line, 1, item->bytes, stdout) == item->bytes && putchar('\n') != EOF;
}

/* Print all wanted records; return false if standard output cannot be written. */
static bool print_all(const struct logs *logs, struct sl_log_merge *merge, struct seen *seen)
{
	struct sl_log_item item;
	while (!interrupted && sl_log_merge_next(merge, &item)) {
		see(logs, seen, item.record);
		if (wanted(logs, item.record) && !print(logs, &item)) {
			sl_command_output_failed();
			return false;
		}
	}
	return true;
}

/* Wait POLL_MS; return false to end: after Ctrl-C, or if the reader of standard output has gone. */
static bool wait_for_more(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	if (fflush(stdout) != 0) {
		sl_command_output_failed();
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

/* Print records as they are written. A wanted learner without a record is reported, and waited for. */
static int follow(const struct logs *logs, struct sl_log_merge *merge, struct seen *seen)
{
	struct sl_error error = {0};
	bool more = print_all(logs, merge, seen);
	if (more && logs->learner != NULL && !seen->learner)
		say_learners(logs, seen);
	for (; more && wait_for_more(); more = print_all(logs, merge, seen))
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
	struct logs logs = {.level = SL_DEBUG, .colour = sl_log_colour(STDOUT_FILENO)};
	struct sl_log_merge merge;
	struct seen seen = {0};
	struct sl_error error = {0};
	int status = 0;
	sl_option_parse(&usage, argc, argv, &logs);
	if (sl_log_merge_open(&merge, logs.folder, logs.follow, &error) != SL_OK)
		return fail(&error);
	if (logs.follow) {
		catch_signals();
		status = follow(&logs, &merge, &seen);
	} else if (print_all(&logs, &merge, &seen)) {
		status = judge(&logs, &seen);
	}
	free(seen.learners);
	if (merge.malformed > 0)
		fprintf(stderr, "starling logs: %zu malformed line%s left out, the first at %s\n",
			merge.malformed, merge.malformed == 1 ? "" : "s", merge.first_malformed);
	sl_log_merge_close(&merge);
	return status;
}
