#include "daemon/observe/monitor.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/report/reason.h"
#include "daemon/observe/health.h"
#include "daemon/observe/metrics_text.h"
#include "daemon/observe/observe.h"
#include "daemon/observe/obstacle.h"
#include "daemon/runtime/http_listen.h"
#include "daemon/runtime/http_token.h"

#define NAMES_BYTES 256u
#define RECENT_BYTES (128u << 10)

/* ---- health ---- */

bool sl_monitor_health(struct sl_observe *observe, char line[static SL_MONITOR_LINE_BYTES])
{
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64];
	char names[NAMES_BYTES] = "", obstacle[SL_OBSTACLE_BYTES];
	struct sl_metrics *m = &observe->counters;
	struct sl_health health = {.failed = atomic_load(observe->of.failed),
				   .now = sl_clock_ms(),
				   .failures = m->failures,
				   .reason = m->last};
	sl_ms writing_since = atomic_load(&observe->writing.since_ms);
	health.writing_ms = writing_since != 0 && writing_since < health.now ? health.now - writing_since : 0;
	sl_core_status(observe->of.core, &health.status);
	health.wait = sl_observe_awaits(observe, set);
	m->awaited[0] = (double)sl_bit_count(set, sl_bit_words(observe->of.roster->size));
	if (m->awaited[0] > 0)
		sl_reason_names(observe->of.roster, set, names, sizeof names);
	health.awaited = names;
	m->overdue[0] = sl_health_overdue(&health.status, health.wait, health.now);
	health.obstacle = sl_obstacle(observe, health.wait, set, obstacle);
	m->healthy[0] = sl_health_line(&health, line, SL_MONITOR_LINE_BYTES - 1);
	m->disk_write[0] = (double)health.writing_ms / 1000.0;
	m->round[0] = health.status.t;
	m->attempt[0] = health.status.a;
	m->rounds[0] = health.status.rounds;
	m->committed[0] = health.status.committed;
	return m->healthy[0] != 0;
}

static void serve_health(struct sl_observe *observe, struct sl_http_request *request)
{
	char line[SL_MONITOR_LINE_BYTES];
	unsigned status = sl_monitor_health(observe, line) ? 200 : 503;
	strcat(line, "\n");
	sl_http_reply(request, status, "text/plain; charset=utf-8", line, strlen(line));
}

/* ---- metrics ---- */

/* Add up the links at present. */
static void complete_links(struct sl_observe *observe)
{
	struct sl_metrics *m = &observe->counters;
	struct sl_link_figures link;
	m->queue[0] = m->queue_largest[0] = 0;
	m->socket_unsent[0] = m->socket_buffers[0] = m->rtt_largest[0] = m->two_places[0] = 0;
	for (uint32_t i = 0; i < observe->of.roster->size; i++) {
		sl_links_figures_of(observe->of.links, i, &link);
		m->queue[0] += (double)link.waiting;
		m->queue_largest[0] = fmax(m->queue_largest[0], (double)link.waiting);
		m->socket_unsent[0] += (double)link.unsent;
		m->socket_buffers[0] += (double)link.buffers;
		m->rtt_largest[0] = fmax(m->rtt_largest[0], link.rtt_s);
		m->two_places[0] += sl_observe_places(&observe->peers[i])[0] != '\0';
	}
	sl_metrics_links(m, sl_links_figures(observe->of.links));
}

/* Set the figures that are looked up rather than counted. */
static void complete(struct sl_observe *observe)
{
	struct sl_metrics *m = &observe->counters;
	char line[SL_MONITOR_LINE_BYTES];
	uint32_t losses;
	sl_monitor_health(observe, line);
	m->roster[0] = observe->of.roster->size;
	if (sl_core_tolerates(observe->of.core, &losses))
		m->view_tolerance[0] = losses;
	complete_links(observe);
	sl_metrics_process(m);
}

static void serve_metrics(struct sl_observe *observe, struct sl_http_request *request)
{
	const char *accept = sl_http_header(request, "Accept");
	bool openmetrics = accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	if (out == NULL)
		return;
	complete(observe);
	sl_metrics_text(&observe->counters, observe->of.roster->members[observe->of.core_config->self].name,
			openmetrics, out);
	if (fclose(out) == 0)
		sl_http_reply(request, 200,
			      openmetrics ? SL_METRICS_TEXT_OPENMETRICS : SL_METRICS_TEXT_PROMETHEUS, text,
			      size);
	free(text);
}

/* ---- requests ---- */

/* Send the records from now on; with ?recent=1, first the last ones that were logged. */
static void serve_records(struct sl_observe *observe, struct sl_http_request *request)
{
	const char *line = NULL;
	size_t size;
	struct sl_http_stream *stream = sl_http_stream(request);
	if (stream == NULL || sl_http_query(request, "recent") == NULL)
		return;
	while ((line = sl_recent_next(&observe->recent, line, &size)) != NULL)
		sl_http_send(stream, line, size);
}

/* Answer a request for anything else with what there is. */
static void serve_hint(struct sl_http_request *request)
{
	static const char text[] =
		"A learner. It has /healthz, /metrics and /records. The page of its rounds: "
		"'starling watch' with this address, on your machine.\n";
	sl_http_reply(request, 404, "text/plain; charset=utf-8", text, sizeof text - 1);
}

static void serve(void *context, struct sl_http_request *request)
{
	struct sl_observe *observe = context;
	const char *path = sl_http_path(request);
	if (strcmp(path, "/metrics") == 0)
		serve_metrics(observe, request);
	else if (strcmp(path, "/healthz") == 0)
		serve_health(observe, request);
	else if (strcmp(path, "/records") == 0)
		serve_records(observe, request);
	else
		serve_hint(request);
}

static void on_record(void *context, const char *json_line, size_t bytes)
{
	struct sl_observe *observe = context;
	sl_recent_add(&observe->recent, json_line, bytes);
	sl_http_publish(observe->http, json_line, bytes);
}

/* Fill in what the settings say; `token` gets the token. */
static int configure(const struct sl_settings *s, struct sl_http_config *config,
		     char token[static SL_HTTP_TOKEN_BYTES], struct sl_error *error)
{
	bool secret = s->http_token_file[0] != '\0';
	int rc = secret ? sl_http_token_read(s->http_token_file, token, error) : SL_OK;
	*config = (struct sl_http_config){
		.listen = s->http, .token = secret ? token : NULL, .need = "set http_token_file"};
	return rc;
}

int sl_monitor_check(const struct sl_settings *settings, struct sl_error *error)
{
	char token[SL_HTTP_TOKEN_BYTES];
	struct sl_http_config config;
	if (strcmp(settings->http, "off") == 0)
		return SL_OK;
	int rc = configure(settings, &config, token, error);
	if (rc == SL_OK)
		rc = sl_http_listen_check(config.listen, config.token != NULL ? NULL : config.need, error);
	sodium_memzero(token, sizeof token);
	return rc == SL_OK ? SL_OK : sl_err_wrap(error, "http");
}

int sl_monitor_open(struct sl_observe *observe, struct sl_error *error)
{
	char token[SL_HTTP_TOKEN_BYTES];
	struct sl_http_config config;
	if (strcmp(observe->of.settings->http, "off") == 0)
		return SL_OK;
	int rc = configure(observe->of.settings, &config, token, error);
	config.loop = observe->of.loop;
	config.serve = serve;
	config.context = observe;
	if (rc == SL_OK)
		rc = sl_http_open(&observe->http, &config, error);
	sodium_memzero(token, sizeof token);
	if (rc != SL_OK)
		return sl_err_wrap(error, "http");
	observe->recent = (struct sl_recent){.least = RECENT_BYTES};
	sl_log_watch_add(observe->log, on_record, observe);
	return SL_OK;
}

void sl_monitor_close(struct sl_observe *observe)
{
	if (observe->http == NULL)
		return;
	sl_log_watch_remove(observe->log, observe);
	sl_http_close(observe->http);
	sl_recent_free(&observe->recent);
	observe->http = NULL;
}
