/* What a learner spends on showing what it does: log records and metrics. */
#include <stdio.h>
#include <stdlib.h>

#include "common/report/record.h"
#include "daemon/observe/metrics_text.h"
#include "daemon/runtime/log.h"
#include "tools/dev/bench/kernels.h"

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

void sl_bench_monitoring_text(uint32_t samples, struct sl_figure *figure)
{
	static struct sl_metrics metrics;
	sl_metrics_init(&metrics, 0);
	count_reports(&metrics);
	for (uint32_t i = 0; i < samples; i++) {
		double begun = now_us();
		write_texts(&metrics);
		sl_figure_add(figure, (now_us() - begun) / TEXTS);
	}
}

int sl_bench_monitoring(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error)
{
	static struct sl_settings settings = {.log_format = SL_LOG_JSON, .log_level = SL_INFO, .id = 1};
	static struct sl_metrics metrics;
	struct sl_figure *record = sl_bench_figure(bench, "us", "a log record"),
			 *report = sl_bench_figure(bench, "us", "a report, counted");
	struct sl_log *log;
	(void)self;
	snprintf(settings.log, sizeof settings.log, "%.1000s/log", bench->folder);
	int rc = sl_log_open(&log, &settings, "learner-01", error);
	sl_metrics_init(&metrics, 0);
	for (uint32_t i = 0; rc == SL_OK && i < bench->options.repeat; i++) {
		double begun = now_us();
		write_records(log);
		sl_figure_add(record, (now_us() - begun) / RECORDS);
		begun = now_us();
		count_reports(&metrics);
		sl_figure_add(report, (now_us() - begun) / REPORTS);
		rc = sl_bench_at(bench, "monitoring", i, bench->options.repeat);
	}
	sl_log_close(log);
	remove(settings.log);
	if (rc == SL_OK)
		sl_bench_monitoring_text(bench->options.repeat,
					 sl_bench_figure(bench, "us", "the metrics as text"));
	return rc;
}
