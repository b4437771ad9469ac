/* The records of all logs, filtered, as one stream. */
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "daemon/runtime/log.h"
#include "tools/lib/command.h"
#include "tools/starling/logs.h"

#define POLL_MS 200
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

/* ---- filters ---- */

static bool is_learner(const struct sl_logs_learner *wanted, uint64_t id, const char *name)
{
	if (wanted->id)
		return id == wanted->id;
	return wanted->text == NULL || (name != NULL && strcmp(name, wanted->text) == 0);
}

static bool of_learner(const struct sl_logs *logs, const struct sl_record *record)
{
	return is_learner(&logs->learner, record->learner, record->name);
}

static const char *name_of(const struct seen *seen, uint64_t id)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->learners[i].id == id)
			return seen->learners[i].name;
	return NULL;
}

static bool names_peer(const struct sl_logs *logs, const struct seen *seen, const json_t *ids)
{
	const json_t *id;
	size_t i;
	json_array_foreach(ids, i, id)
	{
		uint64_t value = (uint64_t)json_integer_value(id);
		if (is_learner(&logs->peer, value, name_of(seen, value)))
			return true;
	}
	return false;
}

/* Return true if the record is about the wanted peer: it names it, alone or with others. */
static bool of_peer(const struct sl_logs *logs, const struct seen *seen, const struct sl_record *record)
{
	if (logs->peer.text == NULL)
		return true;
	if (record->has[SL_FIELD_peer] && is_learner(&logs->peer, record->peer, name_of(seen, record->peer)))
		return true;
	return names_peer(logs, seen, record->has[SL_FIELD_awaited]) ||
	       names_peer(logs, seen, record->has[SL_FIELD_set]);
}

static bool wanted(const struct sl_logs *logs, const struct seen *seen, const struct sl_record *record)
{
	int known_level = record->level ? sl_level_find(record->level) : -1;
	if (known_level >= 0 && known_level < logs->level)
		return false;
	if (logs->round != 0 && record->round != logs->round)
		return false;
	if (logs->phase != NULL && (record->phase == NULL || strcasecmp(record->phase, logs->phase) != 0))
		return false;
	return of_learner(logs, record) && of_peer(logs, seen, record);
}

/* ---- learners and rounds found ---- */

static void see_learner(struct seen *seen, uint64_t id, const char *name)
{
	if (name == NULL || id == 0)
		return;
	for (size_t i = 0; i < seen->count; i++)
		if (seen->learners[i].id == id && strcmp(seen->learners[i].name, name) == 0)
			return;
	seen->learners = sl_command_grow(seen->learners, seen->count, &seen->room, sizeof *seen->learners);
	seen->learners[seen->count].id = id;
	snprintf(seen->learners[seen->count++].name, SL_NAME_BYTES, "%s", name);
}

static void see_name(void *seen, const struct sl_record *record)
{
	see_learner(seen, record->learner, record->name);
}

/* See the names of all learners before the first record is shown: peers are named by ids. */
static void see_names(struct seen *seen, const struct sl_logs *logs)
{
	struct sl_log_files files;
	struct sl_error error = {0};
	if (sl_log_files_open(&files, logs->paths, logs->path_count, false, false, &error) != SL_OK)
		return;
	sl_log_files_read(&files, see_name, seen);
	sl_log_files_close(&files);
}

static void see(const struct sl_logs *logs, struct seen *seen, const struct sl_record *record)
{
	uint64_t round = record->round;
	if (!seen->learner)
		see_learner(seen, record->learner, record->name);
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

static int say_learners(const struct sl_logs *logs, struct seen *seen)
{
	size_t n = seen->count;
	fprintf(stderr, "starling logs: %s: no record of learner '%s'", logs->paths[0], logs->learner.text);
	if (n > 0)
		qsort(seen->learners, n, sizeof *seen->learners, by_id);
	for (size_t i = 0; i < n && i < NAMED_MOST; i++)
		fprintf(stderr, "%s%s (%llu)", i == 0 ? "; there are " : ", ", seen->learners[i].name,
			(unsigned long long)seen->learners[i].id);
	if (n > NAMED_MOST)
		fprintf(stderr, " and %zu more", n - NAMED_MOST);
	fputc('\n', stderr);
	return SL_EXIT_USAGE;
}

/* Print "starling logs: PATH: no record of round 9; there are rounds 1 to 3". `by` names a learner or is
 * NULL; first 0: there is no round. Return the exit status. */
static int no_round(const struct sl_logs *logs, const char *by, uint64_t first, uint64_t last)
{
	fprintf(stderr, "starling logs: %s: no record of round %llu%s%s; ", logs->paths[0],
		(unsigned long long)logs->round, by != NULL ? " by learner " : "", by != NULL ? by : "");
	if (first == 0)
		fputs("there are none of any round\n", stderr);
	else if (first == last)
		fprintf(stderr, "there is round %llu\n", (unsigned long long)first);
	else
		fprintf(stderr, "there are rounds %llu to %llu\n", (unsigned long long)first,
			(unsigned long long)last);
	return SL_EXIT_USAGE;
}

/* Print an error if the wanted learner or round has no record. Return the exit status. */
static int judge(const struct sl_logs *logs, struct seen *seen)
{
	if (interrupted || ferror(stdout))
		return 0;
	if (logs->learner.text != NULL && !seen->learner)
		return say_learners(logs, seen);
	if (logs->round != 0 && !seen->round)
		return no_round(logs, logs->learner.text, seen->first, seen->last);
	return 0;
}

/* ---- printing ---- */

static bool print(const struct sl_logs *logs, const struct sl_log_item *item)
{
	char line[SL_LOG_LINE_BYTES];
	if (!logs->json) {
		size_t n = sl_log_render(item->record->json, logs->colour, line, sizeof line);
		return fwrite(line, 1, n, stdout) == n;
	}
	return fwrite(item->line, 1, item->bytes, stdout) == item->bytes && putchar('\n') != EOF;
}

/* Print all wanted records; return false if standard output cannot be written. */
static bool print_all(const struct sl_logs *logs, struct sl_log_files *files, struct seen *seen)
{
	struct sl_log_item item;
	while (!interrupted && sl_log_files_next(files, &item)) {
		see(logs, seen, item.record);
		if (wanted(logs, seen, item.record) && !print(logs, &item)) {
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

/* Print records as they are written. A wanted learner without a record is reported, and waited for. */
static int follow(const struct sl_logs *logs, struct sl_log_files *files, struct seen *seen)
{
	struct sl_error error = {0};
	bool more = print_all(logs, files, seen);
	if (more && logs->learner.text != NULL && !seen->learner)
		say_learners(logs, seen);
	for (; more && wait_for_more(); more = print_all(logs, files, seen))
		if (sl_log_files_refresh(files, &error) != SL_OK) {
			fprintf(stderr, "starling logs: %s\n", error.text);
			return SL_EXIT_FAILED;
		}
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

int sl_logs_records(const struct sl_logs *logs, struct sl_log_files *files)
{
	struct seen seen = {0};
	int status = 0;
	if (logs->peer.text != NULL && logs->peer.id == 0)
		see_names(&seen, logs);
	if (logs->follow) {
		catch_signals();
		status = follow(logs, files, &seen);
	} else if (print_all(logs, files, &seen)) {
		status = judge(logs, &seen);
	}
	free(seen.learners);
	return status;
}
