/* The part of a round's CPU that a learner spends on showing what it does. Daemons run as ever and tell the
 * CPU time of each round. What they have logged is then written once more, in this process, and timed; the
 * difference of two runs of daemons would be smaller than its own spread. */
#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/report/record.h"
#include "daemon/runtime/log.h"
#include "tools/dev/bench/daemons.h"
#include "tools/dev/bench/kernels.h"

#define SCRAPES_PER_S 1.0
#define WRITTEN_LEAST 2000u /* records in a sample */

/* The records of all learners of a run. */
struct logs {
	json_t *records; /* array */
	double bytes;
};

static int read_logs(struct logs *logs, const char *folder, uint32_t learners, struct sl_error *error)
{
	char path[PATH_MAX + 40], *line = NULL;
	size_t room = 0;
	*logs = (struct logs){.records = json_array()};
	for (uint32_t i = 0; i < learners; i++) {
		snprintf(path, sizeof path, "%s/run/learner-%02u/log.jsonl", folder, i + 1);
		FILE *in = fopen(path, "r");
		if (in == NULL) {
			free(line);
			return sl_err_set(error, SL_ERR_IO, "cannot read %s", path);
		}
		for (ssize_t n; (n = getline(&line, &room, in)) > 0; logs->bytes += (double)n)
			json_array_append_new(logs->records, json_loadb(line, (size_t)n, 0, NULL));
		fclose(in);
	}
	free(line);
	return SL_OK;
}

/* Sets of learners, as records have them before they are written; the fields of type IDS that are read. */
struct sets {
	uint64_t bits[SL_FIELD_COUNT][(SL_LEARNERS_MAX + 63) / 64];
};

static const uint64_t *set_of(struct sets *sets, const struct sl_record *record, enum sl_record_field field,
			      const struct sl_roster *roster)
{
	const json_t *ids = sl_record_ids(record, field), *id;
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

/* Write the records once more, as a daemon does; return the microseconds of CPU for one. */
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

static int time_records(struct sl_bench *bench, const struct logs *logs, struct sl_figure *figure,
			struct sl_error *error)
{
	static struct sl_settings settings = {.log_format = SL_LOG_JSON, .log_level = SL_INFO, .id = 1};
	char path[PATH_MAX + 40];
	struct sl_roster roster = {0};
	struct sl_log *log = NULL;
	snprintf(settings.log, sizeof settings.log, "%.1000s/log", bench->folder);
	snprintf(path, sizeof path, "%s/run/roster.yaml", bench->folder);
	int rc = sl_roster_load(path, &roster, error);
	if (rc == SL_OK)
		rc = sl_log_open(&log, &settings, "learner-01", error);
	for (uint32_t i = 0; rc == SL_OK && i < bench->options.repeat; i++) {
		sl_figure_add(figure, write_again(log, logs->records, &roster));
		rc = sl_bench_at(bench, "records", i, bench->options.repeat);
	}
	sl_log_close(log);
	remove(settings.log);
	sl_roster_close(&roster);
	return rc;
}

/* Add the figures of the run: rounds `rows` with the records in `logs`. */
static int compare(struct sl_bench *bench, const struct sl_bench_daemons *what, const json_t *rows,
		   const struct logs *logs, struct sl_error *error)
{
	double each = (double)json_array_size(rows) * what->learners;
	double records = (double)json_array_size(logs->records) / each;
	struct sl_figure *record = sl_bench_figure(bench, "us", "CPU of a log record"),
			 *text = sl_bench_figure(bench, "us", "CPU of the metrics as text"),
			 *cpu = sl_bench_figure(bench, "ms", "CPU of a round and learner"),
			 *part = sl_bench_figure(bench, "%", "of it: log, metrics each second");
	sl_figure_add(sl_bench_figure(bench, "records", "log of a round and learner"), records);
	sl_figure_add(sl_bench_figure(bench, "KB", "log of a round and learner"), 1e-3 * logs->bytes / each);
	int rc = time_records(bench, logs, record, error);
	if (rc != SL_OK)
		return rc;
	sl_bench_monitoring_text(bench->options.repeat, text);
	for (size_t i = 1; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		double seconds = json_number_value(json_object_get(row, "train_s")) +
				 json_number_value(json_object_get(row, "aggregate_s"));
		double cpu_us = 1e6 * json_number_value(json_object_get(row, "cpu_s")) / what->learners;
		double spent_us = records * sl_figure_spread(record).median +
				  SCRAPES_PER_S * seconds * sl_figure_spread(text).median;
		sl_figure_add(cpu, 1e-3 * cpu_us);
		sl_figure_add(part, 100 * spent_us / cpu_us);
	}
	return SL_OK;
}

int sl_bench_monitored(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error)
{
	const struct sl_bench_daemons *what = self->details;
	struct logs logs = {0};
	json_t *rows = NULL;
	char run[PATH_MAX + 8];
	int rc = sl_bench_at(bench, "rounds of daemons", 0, 0);
	if (rc == SL_OK)
		rc = sl_bench_launch_kept(bench, what, bench->options.repeat + 1, bench->folder, &rows,
					  error);
	if (rc == SL_OK)
		rc = read_logs(&logs, bench->folder, what->learners, error);
	if (rc == SL_OK)
		rc = compare(bench, what, rows, &logs, error);
	snprintf(run, sizeof run, "%s/run", bench->folder);
	sl_bench_take_away(run);
	json_decref(logs.records);
	json_decref(rows);
	return rc;
}
