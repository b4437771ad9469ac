/* What a learner spends on showing what it does: log records and metrics. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/report/record.h"
#include "daemon/observe/metrics_text.h"
#include "daemon/runtime/log.h"
#include "tools/dev/bench/bench.h"

#define RECORDS 2000u
#define REPORTS 200000u
#define TEXTS 200u

static double now_us(void)
{
	return 1e-3 * sl_bench_thread_ns();
}

/* Write log records of the usual kind: the change of a phase. */
static void write_records(struct sl_log *log)
{
	struct sl_roster roster = {0};
	char text[SL_RECORD_TEXT_BYTES];
	for (uint32_t i = 0; i < RECORDS; i++) {
		struct sl_record record;
		struct sl_report report = {
			.kind = SL_REPORT_PHASE, .phase = SL_PHASE_MIX, .t = i + 1, .a = 1};
		sl_record_report(&record, &report, &roster);
		json_t *fields = sl_record_write(&record, &roster, text, sizeof text);
		sl_log(log, sl_record_level(&record), sl_record_event(record.kind), text, fields);
	}
}

static void count_reports(struct sl_metrics *metrics)
{
	for (uint32_t i = 0; i < REPORTS; i++) {
		struct sl_report report = {.kind = SL_REPORT_PHASE,
					   .phase = (enum sl_phase)(i % SL_PHASE_COUNT)};
		sl_metrics_report(metrics, &report, i, 1 + 1e-3 * i);
	}
}

static void write_texts(struct sl_metrics *metrics)
{
	for (uint32_t i = 0; i < TEXTS; i++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		if (out == NULL)
			return;
		sl_metrics_process(metrics);
		sl_metrics_text(metrics, "learner-01", true, out);
		fclose(out);
		free(text);
	}
}

int sl_bench_monitoring(const struct sl_bench *bench, struct sl_error *error)
{
	static const struct sl_settings settings = {
		.log_format = SL_LOG_JSON, .log_level = SL_INFO, .id = 1, .log = "log"};
	static struct sl_metrics metrics;
	struct sl_log *log;
	int rc = sl_log_open(&log, &settings, "learner-01", error);
	sl_metrics_init(&metrics, 0);
	for (uint32_t i = 0; rc == SL_OK && i < bench->repeat; i++) {
		double begun = now_us();
		write_records(log);
		sl_bench_sample((now_us() - begun) / RECORDS, "us", "a log record");
		begun = now_us();
		count_reports(&metrics);
		sl_bench_sample((now_us() - begun) / REPORTS, "us", "a report, counted");
		begun = now_us();
		write_texts(&metrics);
		sl_bench_sample((now_us() - begun) / TEXTS, "us", "the metrics as text");
	}
	sl_log_close(log);
	return rc;
}
