/* What the learners of a run have logged, written once more and timed: the difference of two runs of daemons
 * would be smaller than its own spread. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/membership/group.h"
#include "common/report/record.h"
#include "daemon/runtime/log.h"
#include "tools/dev/bench/bench.h"

#define WRITTEN_LEAST 2000u /* records in a sample */

static int read_log(json_t *records, const char *path, struct sl_error *error)
{
	char *line = NULL;
	size_t room = 0;
	FILE *in = fopen(path, "re");
	if (in == NULL)
		return sl_err_set(error, SL_ERR_IO, "cannot read %s", path);
	for (ssize_t n; (n = getline(&line, &room, in)) > 0;)
		json_array_append_new(records, json_loadb(line, (size_t)n, 0, NULL));
	free(line);
	fclose(in);
	return SL_OK;
}

/* Sets of learners, as records have them before they are written; the fields of type IDS that are read. */
struct sets {
	uint64_t bits[SL_FIELD_COUNT][(SL_LEARNERS_MAX + 63) / 64];
};

static const uint64_t *set_of(struct sets *sets, const struct sl_record *record, enum sl_record_field field,
			      const struct sl_roster *roster)
{
	const json_t *ids = record->has[field], *id;
	size_t i;
	if (ids == NULL)
		return NULL;
	memset(sets->bits[field], 0, sizeof sets->bits[field]);
	json_array_foreach(ids, i, id)
	{
		int at = sl_roster_find(roster, (sl_id)json_integer_value(id));
		if (at >= 0)
			sl_bit_set(sets->bits[field], (uint32_t)at);
	}
	return sets->bits[field];
}

/* Write the records (an array) once more, as a daemon does; return the microseconds of CPU for one. */
static double write_again(struct sl_log *log, const json_t *records, const struct sl_roster *roster)
{
	static struct sets sets;
	char text[SL_RECORD_TEXT_BYTES];
	struct sl_record record;
	const json_t *object;
	double spent_ns = 0;
	size_t i, written = 0;
	while (written < WRITTEN_LEAST)
		json_array_foreach(records, i, object)
		{
			if (!sl_record_read(&record, object))
				continue;
			record.participants = set_of(&sets, &record, SL_FIELD_participants, roster);
			record.neighbours = set_of(&sets, &record, SL_FIELD_neighbours, roster);
			record.awaited = set_of(&sets, &record, SL_FIELD_awaited, roster);
			record.set = set_of(&sets, &record, SL_FIELD_set, roster);
			double begun = sl_bench_thread_ns();
			json_t *fields = sl_record_write(&record, roster, text, sizeof text);
			sl_log(log, sl_record_level(&record), sl_record_event(record.kind), text, fields);
			spent_ns += sl_bench_thread_ns() - begun;
			written++;
		}
	return 1e-3 * spent_ns / (double)written;
}

/* Arguments: the roster, then the logs. */
int sl_bench_monitored(const struct sl_bench *bench, struct sl_error *error)
{
	static const struct sl_settings settings = {
		.log_format = SL_LOG_JSON, .log_level = SL_INFO, .id = 1, .log = "log"};
	struct sl_group group;
	struct sl_log *log = NULL;
	json_t *records = json_array();
	int rc = sl_group_load(bench->arguments[0], &group, error);
	for (char *const *path = bench->arguments + 1; rc == SL_OK && *path != NULL; path++)
		rc = read_log(records, *path, error);
	if (rc == SL_OK && json_array_size(records) == 0)
		rc = sl_err_set(error, SL_ERR_FORMAT, "the logs are empty");
	if (rc == SL_OK)
		rc = sl_log_open(&log, &settings, "learner-01", error);
	for (uint32_t i = 0; rc == SL_OK && i < bench->repeat; i++)
		sl_bench_sample(write_again(log, records, &group.roster), "us", "CPU of a log record");
	sl_log_close(log);
	sl_group_close(&group);
	json_decref(records);
	return rc;
}
