#include "tools/web/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/number.h"
#include "common/config/level.h"
#include "daemon/runtime/http.h"
#include "tools/lib/command.h"
#include "tools/web/page.h"
#include "tools/web/rows.h"

#define TICK_MS 250u
#define STATE_TICKS 4u	       /* between two events "state" */
#define SHARE 50u	       /* making documents takes at most this part of the time */
#define ROUNDS_KEPT 50u	       /* documents that a new page gets */
#define ROWS_KEPT 10000u       /* rows that a new page gets: about 4 MB */
#define BURST_BYTES (3u << 20) /* at most, of documents; with the rows less than SL_HTTP_QUEUE_BYTES */
#define LOG_RECORDS 400u

struct sl_web_server {
	struct sl_web_config config;
	struct sl_http *http;
	uv_timer_t timer;
	uint64_t sent;	  /* version of the timeline that was published */
	uint64_t next_ns; /* when documents may be made again */
	unsigned ticks;
	bool running, ended;
	json_t *rows;	       /* of the last rounds, by number; of the version below */
	uint64_t rows_version; /* 0: none are made yet */
};

static void read_logs(struct sl_web_server *s)
{
	s->config.source.read(s->config.source.from, sl_timeline_take_each, s->config.timeline);
}

/* ---- events ---- */

/* Send `value`, whose reference is taken over, to one stream, or to all; return its size. */
static size_t send_event(struct sl_web_server *s, struct sl_http_stream *stream, const char *event,
			 json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(13));
	size_t size = text != NULL ? strlen(text) : 0;
	if (text != NULL && stream != NULL)
		sl_http_send(stream, event, text, size);
	else if (text != NULL)
		sl_http_publish(s->http, s, event, text, size);
	free(text);
	json_decref(value);
	return size;
}

static json_t *state(const struct sl_web_server *s)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	const char *text = s->ended ? "the run has ended" : s->running ? "live" : "no learner is running";
	return json_pack("{s:f, s:b, s:b, s:s}", "time", (double)now.tv_sec + (double)now.tv_nsec / 1e9,
			 "live", !s->ended && s->running, "ended", s->ended, "text", text);
}

static json_t *round_event(struct sl_web_server *s, uint64_t t)
{
	json_t *document = sl_timeline_round_json(s->config.timeline, t);
	if (document == NULL)
		return NULL;
	return json_pack("{s:o, s:o}", "row", sl_web_rows_round(document), "document", document);
}

static uint64_t cpu_ns(void)
{
	struct timespec used;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* Publish the documents that have changed. */
static void publish(struct sl_web_server *s)
{
	uint64_t began = uv_hrtime(), version = sl_timeline_version(s->config.timeline);
	uint64_t used = cpu_ns();
	if (version == s->sent || began < s->next_ns || sl_http_listeners(s->http, s) == 0)
		return;
	for (uint64_t t = 0; (t = sl_timeline_changed_since(s->config.timeline, s->sent, t)) != 0;) {
		json_t *event = round_event(s, t);
		if (event != NULL)
			send_event(s, NULL, "round", event);
	}
	s->sent = version;
	s->next_ns = began + (cpu_ns() - used) * SHARE;
}

static void on_tick(uv_timer_t *timer)
{
	struct sl_web_server *s = timer->data;
	if (s->ended)
		return;
	read_logs(s);
	publish(s);
	if (s->ticks++ % STATE_TICKS == 0) {
		s->running = s->config.source.running(s->config.source.from);
		send_event(s, NULL, "state", state(s));
	}
}

/* ---- requests ---- */

/* Make the rows of the rounds that have changed since a page asked last. */
static void refresh_rows(struct sl_web_server *s)
{
	char key[24];
	uint64_t version = sl_timeline_version(s->config.timeline);
	for (uint64_t t = 0; (t = sl_timeline_changed_since(s->config.timeline, s->rows_version, t)) != 0;) {
		json_t *document = sl_timeline_round_json(s->config.timeline, t);
		snprintf(key, sizeof key, "%llu", (unsigned long long)t);
		if (document != NULL)
			json_object_set_new(s->rows, key, sl_web_rows_round(document));
		json_decref(document);
	}
	while (json_object_size(s->rows) > ROWS_KEPT)
		json_object_del(s->rows, json_object_iter_key(json_object_iter(s->rows)));
	s->rows_version = version;
}

static json_t *last_rows(struct sl_web_server *s)
{
	json_t *rows = json_array(), *row;
	const char *key;
	refresh_rows(s);
	json_object_foreach(s->rows, key, row) json_array_append_new(rows, json_pack("{s:O}", "row", row));
	return rows;
}

/* Send a new page the rows of the last rounds, then the documents of the last ones. */
static void begin_events(struct sl_web_server *s, struct sl_http_stream *stream)
{
	json_t *run = sl_timeline_run_json(s->config.timeline), *kept[ROUNDS_KEPT] = {NULL};
	uint64_t t = (uint64_t)json_integer_value(json_object_get(run, "last"));
	size_t count = 0, bytes = 0;
	json_decref(run);
	send_event(s, stream, "state", state(s));
	send_event(s, stream, "rows", last_rows(s));
	for (; t != 0 && count < ROUNDS_KEPT && bytes < BURST_BYTES;
	     t = sl_timeline_round_before(s->config.timeline, t)) {
		json_t *event = round_event(s, t);
		if (event == NULL)
			continue;
		bytes += json_dumpb(event, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(13));
		kept[count++] = event;
	}
	while (count > 0)
		send_event(s, stream, "round", kept[--count]);
}

static uint64_t number_of(struct sl_http_request *request, const char *key)
{
	uint64_t value = 0;
	const char *text = sl_http_query(request, key);
	return text != NULL && sl_number_parse(text, 1, UINT32_MAX, &value) ? value : 0;
}

static void serve_log(struct sl_web_server *s, struct sl_http_request *request)
{
	static const char usage[] = "give learner and round, as in /log?learner=3&round=7\n";
	uint64_t learner = number_of(request, "learner"), round = number_of(request, "round");
	if (learner == 0 || round == 0) {
		sl_http_reply(request, 400, "text/plain; charset=utf-8", usage, sizeof usage - 1);
		return;
	}
	json_t *log = sl_web_source_log(&s->config.source, learner, round, SL_DEBUG, LOG_RECORDS);
	char *text = json_dumps(log, JSON_COMPACT);
	sl_http_reply(request, text != NULL ? 200 : 500, "application/json", text != NULL ? text : "",
		      text != NULL ? strlen(text) : 0);
	free(text);
	json_decref(log);
}

static void serve_page(struct sl_http_request *request)
{
	static const char none[] = "null";
	size_t before = sl_web_page.before.size, after = sl_web_page.after.size, data = sizeof none - 1;
	char *page = sl_command_memory(before + data + after, 1);
	memcpy(page, sl_web_page.before.bytes, before);
	memcpy(page + before, none, data);
	memcpy(page + before + data, sl_web_page.after.bytes, after);
	sl_http_reply(request, 200, "text/html; charset=utf-8", page, before + data + after);
	free(page);
}

static void serve(void *context, struct sl_http_request *request)
{
	struct sl_web_server *s = context;
	const char *path = sl_http_path(request);
	if (strcmp(path, "/") == 0) {
		serve_page(request);
	} else if (strcmp(path, "/log") == 0) {
		serve_log(s, request);
	} else if (strcmp(path, "/events") == 0) {
		struct sl_http_stream *stream = sl_http_stream(request, s);
		if (stream != NULL)
			begin_events(s, stream);
	}
}

/* ---- life ---- */

int sl_web_server_open(struct sl_web_server **server, const struct sl_web_config *config,
		       struct sl_error *error)
{
	struct sl_web_server *s = sl_command_memory(1, sizeof *s);
	struct sl_http_config http = {.loop = config->loop,
				      .listen = config->listen,
				      .token = config->token,
				      .need = "give --token-file",
				      .directives = sl_web_page.directives,
				      .serve = serve,
				      .context = s};
	s->config = *config;
	s->rows = json_object();
	int code = sl_http_open(&s->http, &http, error);
	if (code != SL_OK) {
		json_decref(s->rows);
		free(s);
		return code;
	}
	read_logs(s);
	s->running = config->source.running(config->source.from);
	uv_timer_init(config->loop, &s->timer);
	s->timer.data = s;
	uv_timer_start(&s->timer, on_tick, TICK_MS, TICK_MS);
	*server = s;
	return SL_OK;
}

void sl_web_server_end(struct sl_web_server *server)
{
	if (!server->ended) {
		read_logs(server);
		server->next_ns = 0;
		publish(server);
		server->ended = true;
	}
	send_event(server, NULL, "state", state(server));
}

uint32_t sl_web_server_pages(const struct sl_web_server *server)
{
	return sl_http_listeners(server->http, server);
}

static void on_closed(uv_handle_t *handle)
{
	struct sl_web_server *s = handle->data;
	json_decref(s->rows);
	free(s);
}

void sl_web_server_close(struct sl_web_server *server)
{
	sl_http_close(server->http);
	uv_close((uv_handle_t *)&server->timer, on_closed);
}

const char *sl_web_server_url(const struct sl_web_server *server)
{
	return sl_http_url(server->http);
}
