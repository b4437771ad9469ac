/* The figures: what counts, the text in both formats, and the names that man page, alerts and dashboard use.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/observe/metrics.h"
#include "daemon/observe/metrics_text.h"
#include "test/lib/process.h"
#include "test/lib/test.h"

#define DEPLOY SL_SOURCE_ROOT "/deploy/"
#define TEXT_BYTES (256u << 10)

static struct sl_metrics metrics;
static char page[TEXT_BYTES];

static char *text_of(bool openmetrics, const char *name)
{
	static char *text; /* static: gcc 12 takes what is returned for its address */
	static size_t size;
	FILE *out = open_memstream(&text, &size);
	sl_metrics_text(&metrics, name, openmetrics, out);
	fclose(out);
	return text;
}

static void expect_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);
	if (at == NULL || (at > text && at[-1] != '\n') || at[strlen(line)] != '\n')
		fail_msg("no line '%s' in:\n%s", line, text);
}

static void report(struct sl_report r, double at)
{
	sl_metrics_report(&metrics, &r, 1000 + at, at);
}

static void play_a_round(void)
{
	sl_metrics_init(&metrics, 1000);
	report((struct sl_report){.kind = SL_REPORT_PHASE, .phase = SL_PHASE_TRAIN}, 1);
	report((struct sl_report){.kind = SL_REPORT_PHASE, .phase = SL_PHASE_AGREE}, 4);
	report((struct sl_report){.kind = SL_REPORT_FAILED, .reason = SL_REASON_P_BOUND}, 4.01);
	report((struct sl_report){.kind = SL_REPORT_PHASE, .phase = SL_PHASE_AGREE}, 4.25);
	report((struct sl_report){.kind = SL_REPORT_VIEW, .view = {.learners = 5, .tolerance = 2}}, 4.5);
	report((struct sl_report){.kind = SL_REPORT_OVER, .peer = 3}, 4.6);
	report((struct sl_report){.kind = SL_REPORT_OVER, .peer = SL_NOBODY}, 4.6);
	assert_int_equal(metrics.failures, 1);
	report((struct sl_report){.kind = SL_REPORT_COMMITTED,
				  .committed = {.exchanges = 4, .margin = 0.125}},
	       5);
	report((struct sl_report){.kind = SL_REPORT_PHASE, .phase = SL_PHASE_TRAIN}, 5);
	assert_int_equal(metrics.failures, 0);
}

TEST(figures)
{
	static const char *const lines[] = {
		"starling_rounds_committed_total{learner=\"ana\"} 1",
		"starling_exchanges_total{learner=\"ana\"} 4",
		"starling_rounding_margin{learner=\"ana\"} 0.125",
		"starling_view_tolerance{learner=\"ana\"} 2",
		"starling_last_commit_timestamp_seconds{learner=\"ana\"} 1005",
		"starling_attempts_failed_total{learner=\"ana\",reason=\"p_bound\"} 1",
		"starling_attempts_failed_total{learner=\"ana\",reason=\"quorum\"} 0",
		"starling_attempts_aborted_total{learner=\"ana\",by=\"learners\"} 1",
		"starling_attempts_aborted_total{learner=\"ana\",by=\"operator\"} 1",
		"starling_phase{learner=\"ana\",phase=\"train\"} 1",
		"starling_phase{learner=\"ana\",phase=\"agree\"} 0",
		"starling_phase_duration_seconds_bucket{learner=\"ana\",phase=\"agree\",le=\"0.1\"} 0",
		"starling_phase_duration_seconds_bucket{learner=\"ana\",phase=\"agree\",le=\"0.5\"} 1",
		"starling_phase_duration_seconds_bucket{learner=\"ana\",phase=\"agree\",le=\"2.0\"} 2",
		"starling_phase_duration_seconds_bucket{learner=\"ana\",phase=\"agree\",le=\"+Inf\"} 2",
		"starling_phase_duration_seconds_sum{learner=\"ana\",phase=\"agree\"} 1",
		"starling_phase_duration_seconds_count{learner=\"ana\",phase=\"agree\"} 2",
		"starling_phase_duration_seconds_sum{learner=\"ana\",phase=\"train\"} 3",
		"starling_message_sent_bytes_total{learner=\"ana\",message=\"key_share\"} 0",
		"process_start_time_seconds{learner=\"ana\"} 1000",
	};
	play_a_round();
	char *text = text_of(true, "ana");
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		expect_line(text, lines[i]);
	expect_line(text, "# TYPE starling_rounds_committed counter");
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	assert_null(strstr(text, "reason=\"none\""));
	assert_null(strstr(text, "phase=\"done\",le"));
	free(text);
}

/* A counter goes on from one commit to the next; a duration that is a bound is in the bucket of that bound.
 */
TEST(counters_and_bounds)
{
	const struct sl_report commit = {.kind = SL_REPORT_COMMITTED, .committed = {.exchanges = 4}};
	play_a_round();
	report(commit, 6);
	report((struct sl_report){.kind = SL_REPORT_PHASE, .phase = SL_PHASE_SHARE}, 6);
	report((struct sl_report){.kind = SL_REPORT_PHASE, .phase = SL_PHASE_READY}, 6.5);
	char *text = text_of(true, "ana");
	expect_line(text, "starling_rounds_committed_total{learner=\"ana\"} 2");
	expect_line(text, "starling_exchanges_total{learner=\"ana\"} 8");
	expect_line(text,
		    "starling_phase_duration_seconds_bucket{learner=\"ana\",phase=\"share\",le=\"0.1\"} 0");
	expect_line(text,
		    "starling_phase_duration_seconds_bucket{learner=\"ana\",phase=\"share\",le=\"0.5\"} 1");
	free(text);
}

TEST(records_and_links)
{
	static const enum sl_record_kind kinds[] = {SL_RECORD_LINK_DOWN, SL_RECORD_LINK_FAILED,
						    SL_RECORD_LINK_FAILED_AGAIN, SL_RECORD_STOPPING};
	struct sl_links_figures figures = {.up = 3, .bytes_sent = 10, .bytes_received = 20};
	struct sl_record record;
	figures.messages[SL_MSG_STATE].sent = 7;
	figures.tls_failures[SL_TLS_FAILURE_UNKNOWN_KEY] = 2;
	sl_metrics_init(&metrics, 1000);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		sl_record_init(&record, kinds[i]);
		sl_metrics_record(&metrics, &record);
	}
	sl_metrics_links(&metrics, &figures);
	sl_metrics_process(&metrics);
	assert_true(metrics.memory[0] > 1e5 && metrics.fds[0] >= 3 && metrics.fds_most[0] >= metrics.fds[0]);
	char *text = text_of(false, "an \"a\\");
	expect_line(text, "starling_links_lost_total{learner=\"an \\\"a\\\\\"} 1");
	expect_line(text, "starling_dials_failed_total{learner=\"an \\\"a\\\\\"} 2");
	expect_line(text, "starling_log_records_total{learner=\"an \\\"a\\\\\",level=\"debug\"} 2");
	expect_line(text, "starling_peers_linked{learner=\"an \\\"a\\\\\"} 3");
	expect_line(text, "starling_message_sent_bytes_total{learner=\"an \\\"a\\\\\",message=\"state\"} 7");
	expect_line(text, "starling_tls_failures_total{learner=\"an \\\"a\\\\\",cause=\"unknown_key\"} 2");
	expect_line(text, "# TYPE starling_links_lost_total counter");
	assert_null(strstr(text, "# EOF"));
	assert_null(strstr(text, "starling_view_tolerance{")); /* no view yet */
	free(text);
}

/* Skip where Debian's package prometheus is not installed. */
static void need_promtool(void)
{
	if (system("promtool --version >/dev/null 2>&1") != 0) {
		print_message("promtool is not installed (apt-get install prometheus)\n");
		skip();
	}
}

static void expect_passes(const char *command)
{
	struct outcome outcome;
	process_run(&outcome, NULL, (const char *const[]){"/bin/sh", "-c", command, NULL});
	if (outcome.status != 0 || outcome.err[0] != '\0')
		fail_msg("%s: status %d\n%s%s", command, outcome.status, outcome.out, outcome.err);
}

TEST(promtool_accepts_the_metrics)
{
	char folder[64], path[96], command[200];
	need_promtool();
	play_a_round();
	sl_metrics_process(&metrics);
	char *text = text_of(false, "ana");
	process_folder(folder, sizeof folder);
	snprintf(path, sizeof path, "%s/metrics", folder);
	process_write(path, text);
	snprintf(command, sizeof command, "promtool check metrics <%s", path);
	expect_passes(command);
	process_remove(folder);
	free(text);
}

TEST(promtool_accepts_the_alerts)
{
	need_promtool();
	expect_passes("promtool check rules " DEPLOY "prometheus/alerts.yaml && "
		      "promtool test rules " SL_SOURCE_ROOT "/test/observe/alerts_test.yaml");
}

/* ---- what the files of deploy/ say ---- */

static const struct {
	const char *type, *name, *help;
} families[] = {
#define X(type, field, label, name, help) {#type, name, help},
	SL_METRICS(X)
#undef X
		{"HISTOGRAM", SL_METRICS_PHASE_NAME, SL_METRICS_PHASE_HELP}};

static void read_page(const char *file)
{
	char path[512];
	snprintf(path, sizeof path, DEPLOY "%s", file);
	process_read(path, page, sizeof page);
	assert_true(page[0] != '\0');
}

/* Return true if `name` is a sample of the text. */
static bool is_sample(const char *name)
{
	bool found = false;
	for (size_t i = 0; i < sizeof families / sizeof families[0] && !found; i++) {
		char expected[128];
		const char *suffixes[] = {"_bucket", "_sum", "_count"};
		snprintf(expected, sizeof expected, "%s%s", families[i].name,
			 strcmp(families[i].type, "COUNTER") == 0 ? "_total" : "");
		found = strcmp(families[i].type, "HISTOGRAM") != 0 && strcmp(name, expected) == 0;
		for (size_t s = 0; s < 3 && strcmp(families[i].type, "HISTOGRAM") == 0; s++) {
			snprintf(expected, sizeof expected, "%s%s", families[i].name, suffixes[s]);
			found = found || strcmp(name, expected) == 0;
		}
	}
	return found;
}

/* Expect of every word that begins like the name of a figure that there is such a sample. */
static void expect_samples(const char *prefix)
{
	uint32_t seen = 0;
	for (const char *at = strstr(page, prefix); at != NULL; at = strstr(at, prefix)) {
		char name[128];
		size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
		snprintf(name, sizeof name, "%.*s", (int)n, at);
		if (!is_sample(name))
			fail_msg("there is no metric '%s'", name);
		at += n;
		seen++;
	}
	assert_true(seen > 0);
}

TEST(the_manual_has_every_metric)
{
	read_page("man/starling-metrics.7.scd");
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
		char line[512];
		snprintf(line, sizeof line, "*%s%s*", families[i].name,
			 strcmp(families[i].type, "COUNTER") == 0 ? "_total" : "");
		if (strstr(page, line) == NULL || strstr(page, families[i].help) == NULL)
			fail_msg("starling-metrics(7) lacks '%s: %s'", line, families[i].help);
	}
}

TEST(alerts_and_dashboard_query_metrics_that_exist)
{
	read_page("prometheus/alerts.yaml");
	expect_samples("starling_");
	read_page("grafana/starling.json");
	json_t *dashboard = json_loads(page, JSON_REJECT_DUPLICATES, NULL);
	assert_true(json_array_size(json_object_get(dashboard, "panels")) > 10);
	json_decref(dashboard);
	expect_samples("starling_");
	expect_samples("process_");
}
