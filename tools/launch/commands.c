#include "tools/launch/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime/environment.h"
#include "daemon/runtime/warden.h"
#include "tools/lib/command.h"

#define LINE_BYTES 4096u
#define VARIABLES 5u
#define HELD_BYTES 16384u
#define HOLD_MS 500u	/* until a program that has printed a traceback should have ended */
#define ALIKE_MS 5000u	/* within which commands end alike */
#define REPORT_MS 2000u /* a command may hear of the last commit before the launcher does */

#define NO_PACKAGE "No module named 'starling'"
#define PACKAGE_HINT                                                                                         \
	"; its Python has no package starling: in that environment, run python3 -m pip install "             \
	"tools/python in the source of Starling (with uv: uv pip install tools/python; Debian's Python: "    \
	"apt-get install python3-starling)"

struct command {
	struct sl_commands *commands;
	uint32_t index; /* of the learner */
	uv_process_t process;
	uv_pipe_t output;
	int file;	     /* output.txt */
	bool running, reads; /* reads: output and file are open */
	bool late;	     /* it was ended, since its learner had not come to the last round .. */
	bool dropped;	     /* .. or since the run has ended with the budget of another learner */
	int status;
	uint64_t ended_ms;     /* with status 0, and not judged yet; 0: no */
	char line[LINE_BYTES]; /* that is not complete yet */
	size_t used;
	char held[HELD_BYTES]; /* lines of a traceback, not shown yet */
	size_t held_bytes;
	uint64_t held_ms;   /* since when */
	bool alike;	    /* its last traceback was not shown: another command has printed the same */
	bool lacks_package; /* its Python has no package starling */
};

struct sl_commands {
	struct sl_launch *launch;
	struct sl_warden warden;
	uint32_t count, running;
	const struct command *first; /* the last one whose traceback was shown at its end; NULL: none */
	uint64_t first_ms;
	struct command items[];
};

/* ---- output ---- */

static void show_line(const struct command *c, const char *line, size_t bytes)
{
	sl_progress_line(c->commands->launch->progress, "%s: %.*s",
			 c->commands->launch->learners[c->index].name, (int)bytes, line);
}

/* Show the traceback that is held. */
static void release(struct command *c)
{
	const char *line = c->held, *end = c->held + c->held_bytes, *newline;
	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		show_line(c, line, (size_t)(newline - line));
	}
	c->held_bytes = 0;
}

/* The command has ended: show the traceback, unless another one has ended with the same a moment ago. What it
 * had no time to print does not count. */
static void end_traceback(struct command *c)
{
	struct sl_commands *commands = c->commands;
	const struct command *first = commands->first;
	uint64_t now = uv_now(&commands->launch->loop);
	if (c->held_bytes == 0)
		return;
	c->alike = first != NULL && now - commands->first_ms < ALIKE_MS &&
		   strncmp(first->held, c->held, c->held_bytes) == 0;
	if (c->alike)
		return;
	commands->first = c;
	commands->first_ms = now;
	release(c);
}

/* Hold a traceback until the command ends; show other lines. */
static void take_line(struct command *c, const char *line, size_t bytes)
{
	static const char begin[] = "Traceback (most recent call last):";
	bool begins = bytes == sizeof begin - 1 && memcmp(line, begin, bytes) == 0;
	c->lacks_package |= memmem(line, bytes, NO_PACKAGE, sizeof NO_PACKAGE - 1) != NULL;
	if (c->held_bytes == 0 && begins)
		c->held_ms = uv_now(&c->commands->launch->loop);
	if ((c->held_bytes == 0 && !begins) || c->held_bytes + bytes + 2 > HELD_BYTES) {
		release(c);
		show_line(c, line, bytes);
		return;
	}
	memcpy(c->held + c->held_bytes, line, bytes);
	c->held_bytes += bytes + 1;
	c->held[c->held_bytes - 1] = '\n';
	c->held[c->held_bytes] = '\0';
}

/* Name the learners whose traceback was not shown. */
static void say_alike(const struct sl_commands *commands)
{
	char text[256] = "";
	size_t used = 0, count = 0, said = 0;
	for (uint32_t i = 0; i < commands->count; i++)
		count += commands->items[i].alike;
	for (uint32_t i = 0; i < commands->count && used < sizeof text; i++)
		if (commands->items[i].alike) {
			const char *before = said == 0 ? "" : said == count - 1 ? " and " : ", ";
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", before, i + 1);
			said++;
		}
	if (count > 0)
		sl_progress_line(commands->launch->progress, "(the same at learner%s %s)",
				 count > 1 ? "s" : "", text);
}

/* Show the complete lines, and one that is too long in pieces. */
static void show_lines(struct command *c)
{
	char *start = c->line, *end = c->line + c->used, *newline;
	while ((newline = memchr(start, '\n', (size_t)(end - start))) != NULL) {
		take_line(c, start, (size_t)(newline - start));
		start = newline + 1;
	}
	c->used = (size_t)(end - start);
	memmove(c->line, start, c->used);
	if (c->used == sizeof c->line) {
		take_line(c, c->line, c->used);
		c->used = 0;
	}
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct command *c = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(c->line + c->used, (unsigned)(sizeof c->line - c->used));
}

static void end_output(struct command *c)
{
	if (!c->reads)
		return;
	c->reads = false;
	if (c->used > 0)
		take_line(c, c->line, c->used);
	end_traceback(c);
	uv_close((uv_handle_t *)&c->output, NULL);
	close(c->file);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct command *c = stream->data;
	if (count > 0) {
		ssize_t kept =
			write(c->file, buffer->base, (size_t)count); /* a full disk must not stop the run */
		(void)kept;
		c->used += (size_t)count;
		show_lines(c);
	} else if (count < 0) {
		end_output(c);
	}
}

/* ---- processes ---- */

/* Fail the run if a command ended with an error, or before the last round, which its learner has had time to
 * report. */
static void judge(struct command *c)
{
	struct sl_launch *launch = c->commands->launch;
	const char *name = launch->learners[c->index].name;
	uint32_t committed = launch->learners[c->index].committed;
	char how[96];
	c->ended_ms = 0;
	if (launch->ending || (c->status == 0 && committed >= launch->rounds.most))
		return;
	if (c->status != 0)
		snprintf(how, sizeof how, "with status %d", c->status);
	else if (committed == 0)
		snprintf(how, sizeof how, "before the first round was committed");
	else
		snprintf(how, sizeof how, "after round %u of %u (if it needs no more: --rounds %u)",
			 committed, launch->rounds.most, committed);
	launch->command_failed = true;
	sl_launch_fail(launch, "the command of %s ended %s; its output is in %s/%s/output.txt%s", name, how,
		       launch->plan->folder.shown, name, c->lacks_package ? PACKAGE_HINT : "");
}

void sl_commands_tick(struct sl_commands *commands, uint64_t now)
{
	for (uint32_t i = 0; commands != NULL && i < commands->count; i++) {
		struct command *c = &commands->items[i];
		if (c->held_bytes > 0 && !c->alike && now - c->held_ms > HOLD_MS)
			release(c); /* it goes on */
		if (c->ended_ms != 0 && now - c->ended_ms > REPORT_MS)
			judge(c);
	}
}

static void on_exit_of(uv_process_t *process, int64_t status, int signal)
{
	struct command *c = process->data;
	c->status = signal != 0 ? 128 + signal : (int)status;
	c->running = false;
	c->commands->running--;
	kill(-process->pid, SIGTERM); /* what it has left behind; the warden ends the rest */
	uv_close((uv_handle_t *)process, NULL);
	if (c->status == 0)
		c->ended_ms = uv_now(process->loop);
	else
		judge(c);
}

/* Return the arguments to run. As the leader of a group, setsid would start its program and end at once: a
 * shell then leads the group, and waits. To be freed. */
static char **arguments_of(char *const *command)
{
	static const char *const shell[] = {"/bin/sh", "-c", "\"$@\"; exit $?", "sh"};
	const size_t wrapped = sizeof shell / sizeof *shell;
	size_t count = 0, used = 0;
	bool leaves = false;
	for (; command[count] != NULL; count++) {
		const char *slash = strrchr(command[count], '/');
		leaves |= strcmp(slash != NULL ? slash + 1 : command[count], "setsid") == 0;
	}
	const char **argv = calloc(count + wrapped + 1, sizeof *argv);
	if (argv == NULL)
		abort();
	for (; leaves && used < wrapped; used++)
		argv[used] = shell[used];
	memcpy(argv + used, command, count * sizeof *argv);
	return (char **)argv;
}

static int spawn(struct command *c, char *const *argv, char **environment, struct sl_error *error)
{
	struct sl_launch *launch = c->commands->launch;
	uv_stdio_container_t stdio[3] = {
		{.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD}, {.flags = UV_INHERIT_FD}};
	uv_process_options_t options = {.exit_cb = on_exit_of,
					.file = argv[0],
					.args = (char **)argv,
					.env = environment,
					.flags = UV_PROCESS_DETACHED,
					.stdio = stdio,
					.stdio_count = 3};
	int ends[2];
	int rc = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);
	if (rc != 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", argv[0], uv_strerror(rc));
	stdio[1].data.fd = stdio[2].data.fd = ends[1];
	uv_pipe_init(&launch->loop, &c->output, 0);
	c->output.data = c->process.data = c;
	uv_pipe_open(&c->output, ends[0]);
	rc = uv_spawn(&launch->loop, &c->process, &options);
	close(ends[1]);
	if (rc == 0) {
		c->running = c->reads = true;
		c->commands->running++;
		uv_read_start((uv_stream_t *)&c->output, on_allocate, on_read);
		return SL_OK;
	}
	uv_close((uv_handle_t *)&c->output, NULL);
	uv_close((uv_handle_t *)&c->process, NULL);
	close(c->file);
	bool script = rc == UV_ENOENT || rc == UV_EACCES;
	return sl_err_set(error, rc == UV_ENOENT ? SL_ERR_NOTFOUND : SL_ERR_IO, "%s: %s%s", argv[0],
			  rc == UV_ENOENT ? "no such command" : uv_strerror(rc),
			  script ? "; a script needs its interpreter, as in: -- python3 train.py" : "");
}

/* Set the variables of the command, malloced. */
static void set_variables(const struct command *c, char *variables[static VARIABLES])
{
	const struct sl_launch *launch = c->commands->launch;
	if (asprintf(&variables[0], "STARLING_SOCKET=%s/application.sock",
		     launch->learners[c->index].folder) < 0 ||
	    asprintf(&variables[1], "STARLING_LEARNER=%u", c->index + 1) < 0 ||
	    asprintf(&variables[2], "STARLING_LEARNERS=%u", launch->plan->learners) < 0 ||
	    asprintf(&variables[3], "STARLING_RUN_DIR=%s", launch->plan->folder.path) < 0 ||
	    asprintf(&variables[4], "%s", c->commands->warden.mark) < 0)
		abort();
}

static int start(struct command *c, struct sl_error *error)
{
	char path[PATH_MAX], *variables[VARIABLES];
	sl_run_folder_path(&c->commands->launch->plan->folder, c->index, "output.txt", path);
	c->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (c->file < 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	set_variables(c, variables);
	char **environment = sl_environment_with(variables, VARIABLES);
	if (environment == NULL)
		abort();
	char **argv = arguments_of(c->commands->launch->plan->options.command);
	int rc = spawn(c, argv, environment, error);
	free(argv);
	for (size_t i = 0; i < VARIABLES; i++)
		free(variables[i]);
	free(environment);
	return rc;
}

int sl_commands_open(struct sl_commands **out, struct sl_launch *launch, struct sl_error *error)
{
	uint32_t count = launch->plan->learners;
	struct sl_commands *commands = calloc(1, sizeof *commands + count * sizeof *commands->items);
	*out = commands;
	if (commands == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	commands->launch = launch;
	commands->count = count;
	int rc = sl_warden_open(&commands->warden, error);
	for (uint32_t i = 0; rc == SL_OK && i < count; i++) {
		commands->items[i].commands = commands;
		commands->items[i].index = i;
		rc = start(&commands->items[i], error);
	}
	return rc;
}

void sl_commands_kill(struct sl_commands *commands, int signal)
{
	for (uint32_t i = 0; commands != NULL && i < commands->count; i++)
		if (commands->items[i].running)
			kill(-commands->items[i].process.pid, signal);
}

void sl_commands_end_late(struct sl_commands *commands, int signal)
{
	for (uint32_t i = 0; commands != NULL && i < commands->count; i++) {
		struct command *c = &commands->items[i];
		const struct sl_launch *launch = commands->launch;
		const struct sl_learner *l = &launch->learners[c->index];
		bool late = l->committed < launch->rounds.most,
		     dropped = launch->spent && (!l->spent || launch->handed == launch->rounds.first);
		if (!c->running || (!late && !dropped))
			continue;
		c->late |= late;
		c->dropped |= dropped;
		kill(-c->process.pid, signal);
	}
}

void sl_commands_say_running(const struct sl_commands *commands)
{
	const struct command *first = NULL;
	char more[32] = "";
	for (uint32_t i = commands->count; i-- > 0;)
		if (commands->items[i].running)
			first = &commands->items[i];
	if (first == NULL)
		return;
	if (commands->running > 1)
		snprintf(more, sizeof more, " and %u more", commands->running - 1);
	sl_progress_line(commands->launch->progress,
			 "waits for the program of %s (pid %d)%s: no round follows, and it has not ended; "
			 "Ctrl-C ends it",
			 commands->launch->learners[first->index].name, (int)first->process.pid, more);
}

void sl_commands_let_go(struct sl_commands *commands)
{
	for (uint32_t i = 0; commands != NULL && i < commands->count; i++)
		end_output(&commands->items[i]);
	if (commands != NULL)
		say_alike(commands);
}

uint32_t sl_commands_running(const struct sl_commands *commands)
{
	return commands == NULL ? 0 : commands->running;
}

int sl_commands_status(const struct sl_commands *commands)
{
	int worst = 0;
	for (uint32_t i = 0; commands != NULL && i < commands->count; i++) {
		const struct command *c = &commands->items[i];
		int status = c->late ? SL_EXIT_FAILED : c->dropped ? 0 : c->status;
		worst = status > worst ? status : worst;
	}
	return worst;
}

void sl_commands_free(struct sl_commands *commands)
{
	if (commands != NULL)
		sl_warden_close(&commands->warden);
	free(commands);
}
