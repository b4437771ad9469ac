/* `starling watch`: the live page of a run folder, or of learners that are asked over HTTP. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime/http_token.h"
#include "tools/lib/option.h"
#include "tools/web/follow.h"
#include "tools/web/report.h"
#include "tools/web/server.h"

#define PARTS_MOST 100000u /* rounds times learners that are kept of a run without end: about 1 KB each */
#define AFTER_MS 50u	   /* between two looks whether the last events are read */
#define AFTER_LOOKS 60u

struct watch {
	const char **places; /* a run folder, or addresses of learners */
	size_t count, room;
	const char *folder, *listen, *token_file; /* folder NULL: addresses */
	bool launched;
	uv_loop_t loop;
	uv_signal_t signals[2];
	uv_pipe_t launcher;
	uv_timer_t after;
	struct sl_web_server *server;
	struct sl_log_files files; /* of the folder */
	struct sl_web_source source;
	struct sl_web_follow *follow;
	struct sl_timeline *timeline;
	unsigned looks;
	int status;
};

static void take_place(struct argp_state *state, const char *text, void *options)
{
	struct watch *w = options;
	(void)state;
	w->places = sl_command_grow(w->places, w->count, &w->room, sizeof *w->places);
	w->places[w->count++] = text;
}

/* Return true if `text` is meant as the address of a learner. */
static bool is_address(const char *text)
{
	return strstr(text, "://") != NULL || (strchr(text, ':') != NULL && access(text, F_OK) != 0);
}

static void check_places(struct argp_state *state, const void *options)
{
	const struct watch *w = options;
	for (size_t i = 0; i < w->count && w->count > 1; i++)
		if (!is_address(w->places[i]))
			argp_failure(state, SL_EXIT_USAGE, 0,
				     "give one run folder, or addresses of learners such as "
				     "http://127.0.0.1:9101; '%s' is not an address",
				     w->places[i]);
}

static const struct sl_option own[] = {
	{"listen", 'l', "HOST:PORT", "address of the page (127.0.0.1:0; port 0: any that is free)",
	 SL_SETS(struct watch, listen)},
	{"token-file", 0, "FILE",
	 "file with the token that the learners ask for; the page then asks for it too",
	 SL_SETS(struct watch, token_file)},
	{"launched", 0, NULL, NULL, SL_SETS(struct watch, launched)},
	{0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "RUNFOLDER|URL...",
	.missing = "give the run folder, or the addresses of learners",
	.take = take_place,
	.check = check_places,
	.doc = "Serve a page that shows the rounds of a run as they happen: the graph, which learners are "
	       "awaited, loss, and whether all have the same model. It reads the logs of a run folder, also "
	       "of a run that has ended, or asks learners with the setting http for their log records. "
	       "Ctrl-C ends it.\v"
	       "Examples:\n"
	       "  starling watch RUNFOLDER\n"
	       "  starling watch RUNFOLDER --listen 127.0.0.1:8470\n"
	       "  starling watch RUNFOLDER --listen 0.0.0.0:8470 --token-file token\n"
	       "  starling launch --web                 # a run with its page\n"
	       "  starling watch http://127.0.0.1:9101 http://127.0.0.1:9102\n"
	       "  starling watch --token-file token http://ana:9464 http://ben:9464\n"
	       "\n"
	       "An address that other machines can reach, of the page or of a learner, needs a token; the "
	       "page is then at http://HOST:PORT/?token=TOKEN.\n"};

static void close_all(struct watch *w)
{
	if (uv_is_closing((uv_handle_t *)&w->after))
		return;
	sl_web_server_close(w->server);
	for (size_t i = 0; i < 2; i++)
		uv_close((uv_handle_t *)&w->signals[i], NULL);
	uv_close((uv_handle_t *)&w->after, NULL);
	if (w->launched)
		uv_close((uv_handle_t *)&w->launcher, NULL);
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct watch *w = handle->data;
	(void)number;
	if (!w->launched) /* a launched page ends with its launcher */
		close_all(w);
}

static void on_after(uv_timer_t *timer)
{
	struct watch *w = timer->data;
	sl_web_server_end(w->server);
	if (sl_web_server_pages(w->server) == 0 || ++w->looks == AFTER_LOOKS)
		close_all(w);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	static char bytes[64];
	(void)handle;
	(void)suggested;
	*buf = uv_buf_init(bytes, sizeof bytes);
}

/* The launcher has ended: show the end of the run, and write its report. */
static void on_launcher(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
	struct watch *w = stream->data;
	struct sl_error error = {0};
	(void)buf;
	if (count >= 0)
		return;
	uv_read_stop(stream);
	sl_web_server_end(w->server);
	int code = sl_web_report_write(w->timeline, &w->source, w->folder, &error);
	if (code != SL_OK && code != SL_ERR_NOTFOUND) {
		fprintf(stderr, "starling watch: %s\n", error.text);
		w->status = SL_EXIT_FAILED;
	}
	uv_timer_start(&w->after, on_after, AFTER_MS, AFTER_MS);
}

static void say(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "starling watch: %s\n", line);
}

static int open_follow(struct watch *w, const char *token, struct sl_error *error)
{
	const struct sl_web_follow_config config = {w->places, w->count, token, say, NULL};
	int code = sl_web_follow_open(&w->follow, &config, error);
	if (code == SL_OK)
		w->source = sl_web_follow_source(w->follow);
	return code;
}

static int open_server(struct watch *w, struct sl_error *error)
{
	static char token[SL_HTTP_TOKEN_BYTES];
	if (w->token_file != NULL && sl_http_token_read(w->token_file, token, error) != SL_OK)
		return error->code;
	w->source = sl_web_source_files(&w->files);
	int code = w->folder != NULL ? sl_log_files_open(&w->files, &w->folder, 1, true, w->launched, error)
				     : open_follow(w, w->token_file != NULL ? token : NULL, error);
	if (code != SL_OK)
		return code;
	const struct sl_web_config config = {.loop = &w->loop,
					     .listen = w->listen,
					     .token = w->token_file != NULL ? token : NULL,
					     .timeline = w->timeline,
					     .source = w->source};
	return sl_web_server_open(&w->server, &config, error);
}

static void run(struct watch *w)
{
	static const int numbers[] = {SIGINT, SIGTERM};
	for (size_t i = 0; i < 2; i++) {
		uv_signal_init(&w->loop, &w->signals[i]);
		w->signals[i].data = w;
		uv_signal_start(&w->signals[i], on_signal, numbers[i]);
	}
	uv_timer_init(&w->loop, &w->after);
	w->after.data = w;
	if (w->launched) {
		uv_pipe_init(&w->loop, &w->launcher, 0);
		w->launcher.data = w;
		uv_pipe_open(&w->launcher, STDIN_FILENO);
		uv_read_start((uv_stream_t *)&w->launcher, on_room, on_launcher);
	}
	printf("%s%s\n", sl_web_server_url(w->server), w->token_file != NULL ? "/?token=TOKEN" : "/");
	fflush(stdout);
	uv_run(&w->loop, UV_RUN_DEFAULT);
}

int sl_cmd_watch(int argc, char **argv)
{
	struct watch w = {.listen = "127.0.0.1:0"};
	struct sl_error error = {0};
	sl_option_parse(&usage, argc, argv, &w);
	if (uv_loop_init(&w.loop) != 0)
		return SL_EXIT_FAILED;
	w.timeline = sl_timeline_new();
	w.folder = is_address(w.places[0]) ? NULL : w.places[0];
	if (w.folder != NULL)
		sl_web_report_name(w.timeline, w.folder);
	else
		sl_timeline_bound(w.timeline, PARTS_MOST);
	int code = open_server(&w, &error);
	if (code == SL_OK) {
		run(&w);
	} else {
		fprintf(stderr, "starling watch: %s\n", error.text);
		w.status = code == SL_ERR_IO ? SL_EXIT_FAILED : SL_EXIT_USAGE;
		uv_run(&w.loop, UV_RUN_DEFAULT);
	}
	uv_loop_close(&w.loop);
	sl_log_files_close(&w.files);
	sl_web_follow_close(w.follow);
	free(w.places);
	sl_timeline_free(w.timeline);
	return w.status;
}
