/* The live page of a run: `starling watch` as a process beside the learners. It ends when its standard input
 * does, after it has written the report. */
#include <stdlib.h>
#include <string.h>

#include "tools/launch/state.h"

struct sl_launch_web {
	struct sl_launch *launch;
	uv_process_t process;
	uv_pipe_t in, out;
	char said[256]; /* its address */
	size_t used;
	bool told, open;
};

static void on_ended(uv_process_t *process, int64_t status, int signal)
{
	struct sl_launch_web *web = process->data;
	if (web->open || status != 0 || signal != 0)
		sl_progress_line(web->launch->progress, "the page has ended (status %d)", (int)status);
	uv_close((uv_handle_t *)process, NULL);
	uv_close((uv_handle_t *)&web->out, NULL);
	sl_launch_web_let_go(web->launch);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct sl_launch_web *web = handle->data;
	(void)suggested;
	*buf = uv_buf_init(web->said + web->used, (unsigned)(sizeof web->said - 1 - web->used));
}

/* Print the first line. */
static void on_said(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf)
{
	struct sl_launch_web *web = stream->data;
	(void)buf;
	if (count < 0 || web->told) {
		uv_read_stop(stream);
		return;
	}
	web->used += (size_t)count;
	char *newline = memchr(web->said, '\n', web->used);
	if (newline == NULL)
		return;
	*newline = '\0';
	web->told = true;
	sl_progress_line(web->launch->progress, "page: %s", web->said);
}

static int spawn(struct sl_launch_web *web, char *program)
{
	char *args[] = {program, (char *)"watch", (char *)"--launched", web->launch->plan->folder.path, NULL};
	uv_stdio_container_t stdio[3] = {
		{.flags = UV_CREATE_PIPE | UV_READABLE_PIPE, .data.stream = (uv_stream_t *)&web->in},
		{.flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE, .data.stream = (uv_stream_t *)&web->out},
		{.flags = UV_INHERIT_FD, .data.fd = 2}};
	uv_process_options_t options = {
		.exit_cb = on_ended, .file = program, .args = args, .stdio = stdio, .stdio_count = 3};
	return uv_spawn(&web->launch->loop, &web->process, &options);
}

void sl_launch_web_open(struct sl_launch *launch)
{
	char program[PATH_MAX];
	size_t size = sizeof program;
	struct sl_launch_web *web = calloc(1, sizeof *web);
	if (web == NULL || uv_exepath(program, &size) != 0) {
		free(web);
		return;
	}
	launch->web = web;
	web->launch = launch;
	web->open = true;
	web->process.data = web->in.data = web->out.data = web;
	uv_pipe_init(&launch->loop, &web->in, 0);
	uv_pipe_init(&launch->loop, &web->out, 0);
	int rc = spawn(web, program);
	if (rc != 0) {
		sl_progress_line(launch->progress, "the page cannot be started: %s", uv_strerror(rc));
		uv_close((uv_handle_t *)&web->process, NULL);
		uv_close((uv_handle_t *)&web->out, NULL);
		sl_launch_web_let_go(launch);
		return;
	}
	uv_read_start((uv_stream_t *)&web->out, on_room, on_said);
}

void sl_launch_web_let_go(struct sl_launch *launch)
{
	struct sl_launch_web *web = launch->web;
	if (web == NULL || !web->open)
		return;
	web->open = false;
	uv_close((uv_handle_t *)&web->in,
		 NULL); /* its output stays open: it may not have said its address yet */
}
