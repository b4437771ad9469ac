/* The program that recomputes the means of --verify: a child for the run, which ends when its input does. */
#include "tools/launch/recompute.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "tools/launch/state.h"
#include "tools/lib/command.h"
#include "tools/lib/python.h"

#define SAY_MS 10000u /* after which a wait for it is reported */
#define SAY_AGAIN_MS 30000u
#define LINE_BYTES 65536u /* an answer: two paths, in the escapes of JSON, and some words */

struct sl_recompute {
	struct sl_launch *launch;
	uv_process_t process;
	uv_pipe_t in, out;
	uv_timer_t timer;	/* of a wait */
	char bytes[LINE_BYTES]; /* that have arrived of a line */
	size_t used;
	json_t *answers; /* by round, not yet taken */
	uint32_t awaited;
	bool open, ready, ended;
};

/* ---- requests ---- */

/* Return the ids of a bit set over the roster. */
static json_t *ids_of(const uint64_t *set, uint32_t learners)
{
	json_t *ids = json_array();
	for (uint32_t i = 0; i < learners; i++)
		if (sl_bit(set, i))
			json_array_append_new(ids, json_integer(i + 1));
	return ids;
}

json_t *sl_recompute_request(const struct sl_recompute_round *round)
{
	static const char *const values[] = {
		[SL_VALUES_MODEL] = "model", [SL_VALUES_UPDATE] = "update", [SL_VALUES_EXACT] = "exact"};
	const struct sl_encoding *e = &round->encoding;
	uint32_t learners = round->folder->learners;
	return json_pack(
		"{s:I, s:s, s:I, s:o, s:o, s:I, s:{s:s, s:o, s:I, s:b, s:b, s:f}}", "round",
		(json_int_t)round->round, "folder", round->folder->path, "learners", (json_int_t)learners,
		"who", ids_of(round->who, learners), "passed", ids_of(round->passed, learners), "tolerance",
		(json_int_t)round->tolerance, "encoding", "values", values[e->values], "decimals",
		e->decimals == SL_DECIMALS_AUTO ? json_null() : json_integer((json_int_t)e->decimals), "bits",
		(json_int_t)e->update_bits, "paper", e->kind == SL_ENCODING_PAPER, "clamp", e->clamp,
		"clipping_range", e->clipping_range);
}

struct request {
	uv_write_t write;
	char *text;
};

static void on_sent(uv_write_t *write, int status)
{
	struct request *request = (struct request *)write;
	(void)status; /* the program has ended, then */
	free(request->text);
	free(request);
}

static void on_long_wait(uv_timer_t *timer)
{
	const struct sl_recompute *r = timer->data;
	if (!r->ready)
		sl_progress_line(r->launch->progress, "--verify: python3 has not started yet");
	else
		sl_progress_line(r->launch->progress, "round %u: its mean is still being recomputed",
				 r->launch->handed + 1);
}

static void await(struct sl_recompute *r)
{
	uv_timer_start(&r->timer, on_long_wait, SAY_MS, SAY_AGAIN_MS);
}

void sl_recompute_ask(struct sl_launch *launch, json_t *request)
{
	struct sl_recompute *r = launch->recompute;
	struct request *sent = calloc(1, sizeof *sent);
	if (sent == NULL || request == NULL) { /* JSON is UTF-8 */
		sl_launch_fail(launch, "--verify: out of memory, or the path of the run folder is no UTF-8");
		free(sent);
		json_decref(request);
		return;
	}
	sent->text = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	if (r->awaited++ == 0)
		await(r);
	uv_buf_t line[] = {uv_buf_init(sent->text, (unsigned)strlen(sent->text)),
			   uv_buf_init((char *)"\n", 1)};
	if (r->ended || uv_write(&sent->write, (uv_stream_t *)&r->in, line, 2, on_sent) != 0)
		on_sent(&sent->write, 0);
}

/* ---- answers ---- */

static void take_line(struct sl_recompute *r, const char *line, size_t bytes)
{
	char round[32];
	json_t *answer = json_loadb(line, bytes, 0, NULL);
	uv_timer_stop(&r->timer);
	if (!r->ready) {
		r->ready = true;
	} else {
		snprintf(round, sizeof round, "%lld",
			 (long long)json_integer_value(json_object_get(answer, "round")));
		json_object_set(r->answers, round, answer);
		if (--r->awaited > 0)
			await(r);
	}
	json_decref(answer);
}

json_t *sl_recompute_take(struct sl_launch *launch, sl_round round)
{
	char name[32];
	snprintf(name, sizeof name, "%u", round);
	json_t *answer = json_incref(json_object_get(launch->recompute->answers, name));
	json_object_del(launch->recompute->answers, name);
	return answer;
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct sl_recompute *r = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(r->bytes + r->used, (unsigned)(sizeof r->bytes - r->used));
}

static void on_said(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct sl_recompute *r = stream->data;
	size_t from = 0;
	(void)buffer;
	if (count < 0) {
		uv_read_stop(stream);
		return;
	}
	r->used += (size_t)count;
	for (char *newline; (newline = memchr(r->bytes + from, '\n', r->used - from)) != NULL;
	     from = (size_t)(newline - r->bytes) + 1)
		take_line(r, r->bytes + from, (size_t)(newline - r->bytes) - from);
	memmove(r->bytes, r->bytes + from, r->used - from);
	r->used -= from;
}

/* ---- the program ---- */

static void on_ended(uv_process_t *process, int64_t status, int signal)
{
	struct sl_recompute *r = process->data;
	r->ended = true;
	uv_close((uv_handle_t *)process, NULL);
	uv_close((uv_handle_t *)&r->out, NULL);
	uv_close((uv_handle_t *)&r->timer, NULL);
	if (!r->open || !r->ready)
		return;
	sl_launch_fail(r->launch, "--verify: python3, which recomputes the means, has ended (%s %d)",
		       signal != 0 ? "signal" : "status", signal != 0 ? signal : (int)status);
}

static int spawn(struct sl_recompute *r)
{
	char *name[] = {(char *)"starling launch --verify"};
	char **args = sl_python_command(SL_RECOMPUTE_MODULE, 1, name);
	uv_stdio_container_t stdio[3] = {
		{.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&r->in},
		{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&r->out},
		{.flags = UV_INHERIT_FD, .data.fd = 2}};
	uv_process_options_t options = {
		.exit_cb = on_ended, .file = args[0], .args = args, .stdio = stdio, .stdio_count = 3};
	int rc = uv_spawn(&r->launch->loop, &r->process, &options);
	free(args);
	return rc;
}

int sl_recompute_open(struct sl_launch *launch, struct sl_error *error)
{
	struct sl_recompute *r = launch->recompute = sl_command_memory(1, sizeof *r); /* no daemon runs yet */
	r->launch = launch;
	r->open = true;
	r->answers = json_object();
	r->process.data = r->in.data = r->out.data = r->timer.data = r;
	uv_pipe_init(&launch->loop, &r->in, 0);
	uv_pipe_init(&launch->loop, &r->out, 0);
	uv_timer_init(&launch->loop, &r->timer);
	int rc = spawn(r);
	if (rc != 0) {
		on_ended(&r->process, 0, 0);
		sl_err_set(error, SL_ERR_IO, "--verify: " SL_PYTHON_NOT_STARTED, uv_strerror(rc));
	} else {
		uv_read_start((uv_stream_t *)&r->out, on_room, on_said);
		await(r);
		while (!r->ready && !r->ended)
			uv_run(&launch->loop, UV_RUN_ONCE);
	}
	if (r->ready)
		return SL_OK;
	sl_recompute_let_go(launch);
	uv_run(&launch->loop, UV_RUN_DEFAULT);
	return SL_ERR_IO;
}

void sl_recompute_let_go(struct sl_launch *launch)
{
	struct sl_recompute *r = launch->recompute;
	if (r == NULL || !r->open)
		return;
	r->open = false;
	if (r->awaited > 0 && !r->ended) /* an interrupted run does not wait for it */
		uv_process_kill(&r->process, SIGTERM);
	uv_close((uv_handle_t *)&r->in, NULL);
}

void sl_recompute_free(struct sl_launch *launch)
{
	struct sl_recompute *r = launch->recompute;
	if (r == NULL)
		return;
	json_decref(r->answers);
	free(r);
}
