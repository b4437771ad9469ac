#include "tools/web/follow.h"

#include <curl/curl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/base/clean.h"
#include "daemon/runtime/http_origin.h"
#include "daemon/runtime/http_token.h"
#include "daemon/runtime/log.h"
#include "daemon/runtime/recent.h"
#include "tools/lib/command.h"

#define OPEN_MS 5000u
#define CONNECT_MS 5000L
#define SILENT_S 45L /* without a byte: a learner sends a comment every 15 s */
#define RETRY_LEAST_MS 250u
#define RETRY_MOST_MS 5000u
#define LINE_BYTES_MAX (1u << 20)      /* a longer line is left out */
#define RECENT_BYTES (1u << 20)	       /* of the records of a learner, for its log */
#define RECEIVED_BYTES_MAX (16u << 20) /* between two reads */
#define FAULT_BYTES 256u

enum state { CONNECTING, STREAMING, WAITING };
enum trouble { NONE, LOST, REFUSED };

struct bytes {
	char *at;
	size_t used, room;
};

struct learner {
	struct sl_web_follow *follow;
	char *shown, *url; /* http://HOST:PORT; the same and /records?recent=1 */
	CURL *easy;
	enum state state;
	bool decided; /* it has answered or failed once */
	enum trouble said;
	bool cut;    /* the present line is too long */
	uint64_t id; /* 0: not known yet */
	char name[SL_NAME_BYTES];
	char fault[FAULT_BYTES]; /* why its answer is not taken; "": it is */
	char why[CURL_ERROR_SIZE];
	uint64_t retry_at_ms, retry_ms, streaming_since_ms;
	struct bytes received;		   /* not read yet */
	struct sl_recent recent;	   /* records, for its log */
	char last_time[SL_LOG_TIME_BYTES]; /* of the last record; "": none yet */
	double last_mono_ms;
};

struct sl_web_follow {
	CURLM *multi;
	struct curl_slist *headers;
	struct learner *learners;
	size_t count;
	bool secret; /* a token is shown */
	bool open;   /* sl_web_follow_open has returned */
	sl_web_follow_say_fn *say;
	void *context;
};

static uint64_t now_ms(void)
{
	return uv_hrtime() / 1000000u;
}

static void append(struct bytes *bytes, const char *from, size_t size)
{
	if (bytes->room - bytes->used < size) {
		bytes->room = 2 * (bytes->used + size);
		bytes->at = realloc(bytes->at, bytes->room);
		if (bytes->at == NULL)
			abort();
	}
	memcpy(bytes->at + bytes->used, from, size);
	bytes->used += size;
}

static void drop(struct bytes *bytes, size_t size)
{
	memmove(bytes->at, bytes->at + size, bytes->used - size);
	bytes->used -= size;
}

/* ---- what is said ---- */

__attribute__((format(printf, 2, 3))) static void say(const struct learner *l, const char *format, ...)
{
	char line[1024], text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	snprintf(line, sizeof line, "%s%s%s: %s", l->name, l->name[0] != '\0' ? ", " : "", l->shown, text);
	l->follow->say(l->follow->context, line);
}

/* ---- one connection ---- */

/* Say why an answer that is no stream of records is not taken. */
static void explain(struct learner *l, long status)
{
	const char *text = "no Starling daemon answers there; give the address in its setting http";
	if (status == 401 && l->follow->secret)
		text = "does not accept the token; --token-file needs the one in its setting http_token_file";
	else if (status == 401)
		text = "needs a token; give --token-file with the file in its setting http_token_file";
	else if (status == 403)
		text = "refuses this name of its machine; use the address in its setting http";
	snprintf(l->fault, sizeof l->fault, "%s", text);
}

/* Judge the answer at the end of its headers. */
static size_t on_header(char *bytes, size_t one, size_t size, void *context)
{
	static const char stream[] = "text/event-stream";
	struct learner *l = context;
	const char *type = NULL;
	long status = 0;
	if (bytes[0] != '\r' && bytes[0] != '\n')
		return one * size;
	curl_easy_getinfo(l->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(l->easy, CURLINFO_CONTENT_TYPE, &type);
	if (status < 200)
		return one * size;
	if (status != 200 || type == NULL || strncmp(type, stream, sizeof stream - 1) != 0) {
		explain(l, status);
		return 0; /* ends the transfer */
	}
	l->state = STREAMING;
	l->streaming_since_ms = now_ms();
	l->decided = true;
	if (l->said != NONE)
		say(l, "is back");
	l->said = NONE;
	return one * size;
}

static size_t on_bytes(char *bytes, size_t one, size_t size, void *context)
{
	struct learner *l = context;
	if (l->received.used > RECEIVED_BYTES_MAX)
		return 0; /* ends the transfer */
	append(&l->received, bytes, one * size);
	return one * size;
}

static void connect_to(struct learner *l)
{
	l->state = CONNECTING;
	l->fault[0] = l->why[0] = '\0';
	l->received.used = 0;
	l->cut = false;
	curl_multi_add_handle(l->follow->multi, l->easy);
}

/* Say why a connection has ended, once for each kind of trouble. */
static void say_trouble(struct learner *l, CURLcode code)
{
	enum trouble trouble = l->fault[0] != '\0' ? REFUSED : LOST;
	bool silent = l->state == STREAMING && code == CURLE_OPERATION_TIMEDOUT;
	if (trouble == l->said || (trouble == REFUSED && !l->follow->open))
		return;
	if (trouble == REFUSED)
		say(l, "%s", l->fault);
	else if (silent)
		say(l, "has sent nothing for %ld s; trying again", SILENT_S);
	else if (l->state == STREAMING || code == CURLE_OK)
		say(l, "has closed the connection; trying again");
	else
		say(l, "cannot be reached (%s); trying again",
		    l->why[0] != '\0' ? l->why : curl_easy_strerror(code));
	l->said = trouble;
}

static void on_ended(struct learner *l, CURLcode code)
{
	curl_multi_remove_handle(l->follow->multi, l->easy);
	if (l->fault[0] == '\0' && (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY))
		explain(l, 0);
	say_trouble(l, code);
	/* a shorter stream keeps the pause: each of its ends is reported */
	if (l->state == STREAMING && now_ms() - l->streaming_since_ms >= RETRY_MOST_MS)
		l->retry_ms = RETRY_LEAST_MS;
	l->decided = true;
	l->state = WAITING;
	l->retry_at_ms = now_ms() + l->retry_ms;
	l->retry_ms = 2 * l->retry_ms < RETRY_MOST_MS ? 2 * l->retry_ms : RETRY_MOST_MS;
}

static void run(struct sl_web_follow *f)
{
	int running, left;
	CURLMsg *message;
	for (size_t i = 0; i < f->count; i++)
		if (f->learners[i].state == WAITING && now_ms() >= f->learners[i].retry_at_ms)
			connect_to(&f->learners[i]);
	curl_multi_perform(f->multi, &running);
	while ((message = curl_multi_info_read(f->multi, &left)) != NULL) {
		struct learner *l = NULL;
		CURLcode code = message->data.result;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&l);
		on_ended(l, code);
	}
}

/* ---- records ---- */

/* Return true if the record was taken before: a learner sends the last ones again on each connection. Either
 * of its clocks may have been set back meanwhile. */
static bool is_known(struct learner *l, const struct sl_record *record)
{
	if (record->time == NULL)
		return false;
	if (!(record->mono_ms > l->last_mono_ms) && strcmp(record->time, l->last_time) <= 0)
		return true;
	snprintf(l->last_time, sizeof l->last_time, "%s", record->time);
	l->last_mono_ms = record->mono_ms;
	return false;
}

static void know(struct learner *l, const struct sl_record *record)
{
	if (l->id != 0 || record->learner == 0 || record->name == NULL)
		return;
	l->id = record->learner;
	snprintf(l->name, sizeof l->name, "%s", record->name);
	sl_clean_text(l->name, false);
}

/* Take a line of the stream; return true if it was a new record. */
static bool take_line(struct learner *l, const char *line, size_t size, sl_log_take_fn *take, void *context)
{
	static const char data[] = "data: ";
	const size_t n = sizeof data - 1;
	struct sl_record record;
	json_t *json =
		size > n && memcmp(line, data, n) == 0 ? json_loadb(line + n, size - n, 0, NULL) : NULL;
	sl_record_read(&record, json);
	bool found = json_is_object(json) && !is_known(l, &record);
	if (found) {
		know(l, &record);
		sl_recent_add(&l->recent, line + n, size - n);
		take(context, &record);
	}
	json_decref(json);
	return found;
}

static size_t take_lines(struct learner *l, sl_log_take_fn *take, void *context)
{
	struct bytes *b = &l->received;
	size_t from = 0, taken = 0;
	const char *newline;
	while (b->used > from && (newline = memchr(b->at + from, '\n', b->used - from)) != NULL) {
		size_t to = (size_t)(newline - b->at);
		taken += !l->cut && to - from < LINE_BYTES_MAX &&
			 take_line(l, b->at + from, to - from, take, context);
		l->cut = false;
		from = to + 1;
	}
	if (from > 0)
		drop(b, from);
	if (b->used > LINE_BYTES_MAX) {
		l->cut = true;
		b->used = 0;
	}
	return taken;
}

static size_t read_from(void *from, sl_log_take_fn *take, void *context)
{
	struct sl_web_follow *follow = from;
	size_t taken = 0;
	run(follow);
	for (size_t i = 0; i < follow->count; i++)
		taken += take_lines(&follow->learners[i], take, context);
	return taken;
}

/* ---- opening and closing ---- */

static bool is_token_free(CURLU *url)
{
	static const CURLUPart parts[] = {CURLUPART_QUERY, CURLUPART_FRAGMENT, CURLUPART_USER,
					  CURLUPART_PASSWORD};
	bool found = false;
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		char *text = NULL;
		found = curl_url_get(url, parts[i], &text, 0) == CURLUE_OK || found;
		curl_free(text);
	}
	return !found;
}

static bool is_loopback(CURLU *url)
{
	char *host = NULL;
	bool found =
		curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK && sl_http_origin_host(host, "");
	curl_free(host);
	return found;
}

/* Check an address; set `shown` without its path, and `url` with /records. */
static int check(struct learner *l, const char *text, CURLU *url, struct sl_error *error)
{
	char *scheme = NULL, *path = NULL;
	bool http = strstr(text, "://") != NULL && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
		    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		    (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
	bool whole = http && curl_url_get(url, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
		     (strcmp(path, "/") == 0 || strcmp(path, "/records") == 0);
	bool plain = http && strcmp(scheme, "http") == 0;
	curl_free(scheme);
	curl_free(path);
	if (http && !is_token_free(url)) /* not repeated: it may contain the token */
		return sl_err_set(error, SL_ERR_INVALID,
				  "an address has a token or password in it, which other users can see: give "
				  "the token by --token-file");
	if (!whole)
		return sl_err_set(error, SL_ERR_INVALID,
				  "'%s' is not the address of a learner; expected http://HOST:PORT as in its "
				  "setting http",
				  text);
	if (plain && !l->follow->secret && !is_loopback(url))
		return sl_err_set(
			error, SL_ERR_INVALID,
			"%s: a learner on another machine needs a token: give --token-file with the "
			"file in its setting http_token_file",
			text);
	curl_url_set(url, CURLUPART_PATH, "/", 0);
	curl_url_get(url, CURLUPART_URL, &l->shown, 0);
	l->shown[strlen(l->shown) - 1] = '\0';
	curl_url_set(url, CURLUPART_PATH, "/records", 0);
	curl_url_set(url, CURLUPART_QUERY, "recent=1", 0);
	curl_url_get(url, CURLUPART_URL, &l->url, 0);
	return SL_OK;
}

static void prepare(struct learner *l)
{
	l->easy = curl_easy_init();
	assert(l->easy != NULL);
	curl_easy_setopt(l->easy, CURLOPT_URL, l->url);
	curl_easy_setopt(l->easy, CURLOPT_PRIVATE, l);
	curl_easy_setopt(l->easy, CURLOPT_HTTPHEADER, l->follow->headers);
	curl_easy_setopt(l->easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(l->easy, CURLOPT_HEADERDATA, l);
	curl_easy_setopt(l->easy, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(l->easy, CURLOPT_WRITEDATA, l);
	curl_easy_setopt(l->easy, CURLOPT_ERRORBUFFER, l->why);
	curl_easy_setopt(l->easy, CURLOPT_PROXY, ""); /* of no environment variable: it would see the token */
	curl_easy_setopt(l->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(l->easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(l->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(l->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(l->easy, CURLOPT_LOW_SPEED_TIME, SILENT_S);
	l->retry_ms = RETRY_LEAST_MS;
	l->recent = (struct sl_recent){.least = RECENT_BYTES};
	connect_to(l);
}

/* Refuse the last address if it was given before: each of its records would be shown twice. */
static int check_once(const struct sl_web_follow *f, size_t last, struct sl_error *error)
{
	for (size_t i = 0; i < last; i++)
		if (strcmp(f->learners[i].url, f->learners[last].url) == 0)
			return sl_err_set(error, SL_ERR_INVALID, "%s is given twice", f->learners[i].shown);
	return SL_OK;
}

static int check_all(struct sl_web_follow *f, const struct sl_web_follow_config *config,
		     struct sl_error *error)
{
	int code = SL_OK;
	for (; f->count < config->count && code == SL_OK; f->count++) {
		CURLU *url = curl_url();
		assert(url != NULL);
		f->learners[f->count].follow = f;
		code = check(&f->learners[f->count], config->urls[f->count], url, error);
		curl_url_cleanup(url);
		if (code == SL_OK)
			code = check_once(f, f->count, error);
	}
	return code;
}

/* Name the learners that have neither answered nor failed: one whose program is stopped accepts connections.
 */
static void say_silent(struct sl_web_follow *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (!f->learners[i].decided) {
			say(&f->learners[i], "does not answer; waiting for it");
			f->learners[i].said = LOST;
		}
}

/* Run until each learner has answered or failed; return the first whose answer is not taken, or NULL. */
static const struct learner *settle(struct sl_web_follow *f)
{
	uint64_t end_ms = now_ms() + OPEN_MS;
	for (size_t decided = 0; decided < f->count && now_ms() < end_ms;) {
		run(f);
		decided = 0;
		for (size_t i = 0; i < f->count; i++) {
			if (f->learners[i].fault[0] != '\0')
				return &f->learners[i];
			decided += f->learners[i].decided;
		}
		if (decided < f->count)
			curl_multi_poll(f->multi, NULL, 0, 100, NULL);
	}
	say_silent(f);
	return NULL;
}

static void set_headers(struct sl_web_follow *f, const char *token)
{
	char line[SL_HTTP_TOKEN_BYTES + 32];
	f->headers = curl_slist_append(NULL, "Accept: text/event-stream");
	if (token == NULL)
		return;
	snprintf(line, sizeof line, "Authorization: Bearer %s", token);
	f->headers = curl_slist_append(f->headers, line);
	sodium_memzero(line, sizeof line);
}

int sl_web_follow_open(struct sl_web_follow **follow, const struct sl_web_follow_config *config,
		       struct sl_error *error)
{
	struct sl_web_follow *f = sl_command_memory(1, sizeof *f);
	curl_global_init(CURL_GLOBAL_DEFAULT);
	f->multi = curl_multi_init();
	assert(f->multi != NULL);
	f->learners = sl_command_memory(config->count, sizeof *f->learners);
	f->secret = config->token != NULL;
	f->say = config->say;
	f->context = config->context;
	set_headers(f, config->token);
	int code = check_all(f, config, error);
	for (size_t i = 0; i < f->count && code == SL_OK; i++)
		prepare(&f->learners[i]);
	const struct learner *bad = code == SL_OK ? settle(f) : NULL;
	if (bad != NULL)
		code = sl_err_set(error, SL_ERR_INVALID, "%s: %s", bad->shown, bad->fault);
	if (code != SL_OK) {
		sl_web_follow_close(f);
		f = NULL;
	} else {
		f->open = true;
	}
	*follow = f;
	return code;
}

static void close_one(struct learner *l)
{
	if (l->easy != NULL && l->state != WAITING)
		curl_multi_remove_handle(l->follow->multi, l->easy);
	curl_easy_cleanup(l->easy);
	curl_free(l->shown);
	curl_free(l->url);
	free(l->received.at);
	sl_recent_free(&l->recent);
}

void sl_web_follow_close(struct sl_web_follow *follow)
{
	if (follow == NULL)
		return;
	for (size_t i = 0; i < follow->count; i++)
		close_one(&follow->learners[i]);
	curl_multi_cleanup(follow->multi);
	curl_slist_free_all(follow->headers);
	free(follow->learners);
	free(follow);
	curl_global_cleanup();
}

/* ---- as a source ---- */

static void take_recent(const struct learner *l, sl_log_take_fn *take, void *context)
{
	struct sl_record record;
	const char *line = NULL;
	size_t size;
	while ((line = sl_recent_next(&l->recent, line, &size)) != NULL) {
		json_t *json = json_loadb(line, size, 0, NULL);
		sl_record_read(&record, json);
		take(context, &record);
		json_decref(json);
	}
}

static void read_again(void *from, uint64_t learner, sl_log_take_fn *take, void *context)
{
	const struct sl_web_follow *f = from;
	for (size_t i = 0; i < f->count; i++)
		if (f->learners[i].id == learner)
			take_recent(&f->learners[i], take, context);
}

static bool running_from(void *from)
{
	const struct sl_web_follow *f = from;
	for (size_t i = 0; i < f->count; i++)
		if (f->learners[i].state == STREAMING)
			return true;
	return false;
}

struct sl_web_source sl_web_follow_source(struct sl_web_follow *follow)
{
	return (struct sl_web_source){follow, read_from, read_again, running_from};
}
