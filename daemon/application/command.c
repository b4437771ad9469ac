#include "daemon/application/command.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/runtime/clock.h"
#include "daemon/runtime/descendants.h"
#include "daemon/runtime/environment.h"
#include "daemon/runtime/warden.h"

#define KILL_MS 5000u			 /* from SIGTERM to SIGKILL */
#define GONE_MS 5000u			 /* from SIGKILL to the end: a process may hang in the kernel */
#define LATER_MS_MOST 60000u		 /* from an exit to the next start */
#define LATER_MS_LEAST 1000u		 /* the same after the first exit */
#define LINE_BYTES (SL_ERROR_BYTES - 1u) /* of a printed line; the rest is cut */
#define READ_BYTES (256u << 10)		 /* taken in one sl_command_tend: a flood is slowed down */
#define LINES 100u			 /* passed on in an interval */
#define LINES_MS 10000u			 /* the interval */
#define VARIABLES 5u
#define LOOK_MS 20 /* between two looks at a command that is ending */

struct sl_command {
	struct sl_command_config config;
	char folder[SL_PATH_BYTES]; /* working folder */
	char *variables[VARIABLES];
	struct sl_warden warden;

	pid_t leader;	   /* the shell; 0: idle */
	bool led;	   /* it has not ended */
	bool ending;	   /* SIGTERM was sent */
	bool over;	   /* it is not started again */
	uint64_t kill_ms;  /* ending: when SIGKILL is due */
	uint64_t start_ms; /* when the next start is due */
	uint64_t later_ms; /* from the next exit to the start after it */
	uint64_t work_ms;  /* since when its work is awaited; 0: it is not */

	int output;		   /* of the processes; -1: none */
	char line[LINE_BYTES + 1]; /* that is not complete yet */
	size_t used;
	bool cut;		/* the rest of the line is dropped */
	uint64_t interval_ms;	/* begin of the interval */
	uint32_t said, dropped; /* lines in it */
};

/* ---- output ---- */

/* Make `text` fit for a log: no control characters, and UTF-8. */
static void clean(char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			text[i] = text[i] == '\t' ? ' ' : '?';
	text[size] = '\0';
	json_t *json = json_string(text);
	for (size_t i = 0; json == NULL && i < size; i++)
		if ((unsigned char)text[i] >= 0x80)
			text[i] = '?';
	json_decref(json);
}

static void say(const struct sl_command *c, enum sl_command_said said, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void say(const struct sl_command *c, enum sl_command_said said, const char *format, ...)
{
	char text[SL_ERROR_BYTES];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	c->config.say(c->config.context, said, text);
}

static void say_dropped(struct sl_command *c)
{
	if (c->dropped > 0)
		say(c, SL_COMMAND_OUTPUT, "(%u more lines were dropped: at most %u are logged in %u s)",
		    c->dropped, LINES, LINES_MS / 1000);
	c->dropped = 0;
}

static void end_interval(struct sl_command *c, uint64_t now)
{
	if (now - c->interval_ms < LINES_MS)
		return;
	say_dropped(c);
	c->interval_ms = now;
	c->said = 0;
}

static void end_line(struct sl_command *c)
{
	end_interval(c, sl_clock_ms());
	if (c->used > 0 && c->said >= LINES) {
		c->dropped++;
	} else if (c->used > 0) {
		c->said++;
		clean(c->line, c->used);
		c->config.say(c->config.context, SL_COMMAND_OUTPUT, c->line);
	}
	c->used = 0;
	c->cut = false;
}

/* Drop the beginning of a character that is not complete. */
static void cut_line(struct sl_command *c)
{
	while (c->used > 0 && ((unsigned char)c->line[c->used - 1] & 0xC0) == 0x80)
		c->used--;
	if (c->used > 0 && (unsigned char)c->line[c->used - 1] >= 0xC0)
		c->used--;
	c->cut = true;
}

static void take_bytes(struct sl_command *c, const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (bytes[i] == '\n' || (bytes[i] == '\r' && !c->cut)) {
			end_line(c);
		} else if (!c->cut) {
			c->line[c->used++] = bytes[i];
			if (c->used == LINE_BYTES)
				cut_line(c);
		}
	}
}

static void close_output(struct sl_command *c)
{
	if (c->output < 0)
		return;
	if (c->used > 0)
		end_line(c);
	close(c->output);
	c->output = -1;
}

static void take_output(struct sl_command *c)
{
	char bytes[8192];
	ssize_t n = 1;
	for (size_t taken = 0; c->output >= 0 && n > 0 && taken < READ_BYTES; taken += (size_t)n) {
		n = read(c->output, bytes, sizeof bytes);
		if (n > 0)
			take_bytes(c, bytes, (size_t)n);
		else if (n == 0)
			close_output(c);
		else
			n = 0;
	}
	end_interval(c, sl_clock_ms());
}

/* ---- start ---- */

/* Start the command in a process group; return 0 or an error number. The shell waits for the command even if
 * it is one program: as the leader of a group, setsid would put it into the background. */
static int spawn(struct sl_command *c, char *const *environment, int output)
{
	char *const argv[] = {(char *)"sh",
			      (char *)"-c",
			      (char *)"eval \"$1\"; exit $?",
			      (char *)"sh",
			      (char *)c->config.settings->command,
			      NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, all;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &all);
	posix_spawnattr_setflags(&how,
				 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
	posix_spawn_file_actions_addchdir_np(&files, c->folder);
	int rc = posix_spawn(&c->leader, "/bin/sh", &files, &how, argv, environment);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return rc;
}

static void plan_start(struct sl_command *c)
{
	c->start_ms = sl_clock_ms() + c->later_ms;
	c->later_ms = c->later_ms < LATER_MS_MOST / 2 ? 2 * c->later_ms : LATER_MS_MOST;
}

static void start(struct sl_command *c)
{
	int ends[2];
	char **environment = sl_environment_with(c->variables, VARIABLES);
	int rc = environment == NULL ? ENOMEM : pipe2(ends, O_CLOEXEC) < 0 ? errno : 0;
	if (rc == 0) {
		rc = spawn(c, environment, ends[1]);
		close(ends[1]);
		c->output = ends[0];
		fcntl(c->output, F_SETFL, O_NONBLOCK);
	}
	free(environment);
	if (rc != 0) {
		say(c, SL_COMMAND_FAILED, "the command cannot be started in %s: %s", c->folder, strerror(rc));
		c->leader = 0;
		close_output(c);
		plan_start(c);
		return;
	}
	c->led = true;
	c->ending = false;
	c->work_ms = 0;
	say(c, SL_COMMAND_STARTED, "the command (process %d) has started", (int)c->leader);
}

/* ---- end ---- */

/* Write how the leader ended, and what the statuses of a shell mean. */
static void describe(int status, char *text, size_t size)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	const char *name = code > 128 ? sigabbrev_np(code - 128) : NULL;
	if (name != NULL)
		snprintf(text, size, "was killed by SIG%s", name);
	else
		snprintf(text, size, "ended with status %d%s", code,
			 code == 127   ? " (command not found)"
			 : code == 126 ? " (cannot be executed)"
				       : "");
}

static void send_signal(const struct sl_command *c, int signal)
{
	sl_descendants_signal(c->warden.pid, signal, NULL);
}

static void begin_end(struct sl_command *c)
{
	if (c->ending)
		return;
	c->ending = true;
	c->kill_ms = sl_clock_ms() + KILL_MS;
	send_signal(c, SIGTERM);
}

/* The leader has ended: log it, and end what it has left behind. */
static void take_exit(struct sl_command *c, int status)
{
	char how[96];
	take_output(c); /* its last words come first */
	say_dropped(c);
	c->led = false;
	describe(status, how, sizeof how);
	if (c->over) {
		say(c, c->ending || status == 0 ? SL_COMMAND_STARTED : SL_COMMAND_FAILED,
		    "the command (process %d) %s", (int)c->leader, how);
	} else {
		say(c, SL_COMMAND_FAILED, "the command (process %d) %s; it is started again in %u s",
		    (int)c->leader, how, (unsigned)(c->later_ms / 1000));
		plan_start(c);
	}
	begin_end(c);
}

/* Take the exits of all children, also of those that the command has left behind. */
static void reap(struct sl_command *c)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == c->leader && c->led)
			take_exit(c, status);
	size_t others;
	if (c->led || sl_descendants_signal(c->warden.pid, 0, &others) > 0)
		return;
	if (others > 0)
		say(c, SL_COMMAND_FAILED,
		    "%zu of the processes of the command %d belong to another user, as those of sudo do, and "
		    "cannot be ended: they run on; let the user of the learner run the command",
		    others, (int)c->leader);
	c->leader = 0;
	take_output(c);
	close_output(c);
}

static void check_deadline(struct sl_command *c, enum sl_command_duty duty, uint64_t now)
{
	uint32_t most = c->config.settings->training_deadline;
	if (duty != SL_COMMAND_WORK || c->ending || c->leader == 0) {
		c->work_ms = 0;
		return;
	}
	if (c->work_ms == 0)
		c->work_ms = now;
	if (most == SL_TRAINING_DEADLINE_NONE || now - c->work_ms < most * UINT64_C(1000))
		return;
	say(c, SL_COMMAND_FAILED,
	    "the command (process %d) has not answered within training_deadline, %u s: it is ended",
	    (int)c->leader, most);
	begin_end(c);
}

/* Wait no longer for processes that cannot be ended. */
static void let_run(struct sl_command *c)
{
	say(c, SL_COMMAND_FAILED, "processes of the command %d cannot be killed: they run on",
	    (int)c->leader);
	if (c->led)
		plan_start(c);
	c->leader = 0;
	c->led = false;
	close_output(c);
}

/* ---- the interface ---- */

void sl_command_tend(struct sl_command *c, enum sl_command_duty duty)
{
	if (c == NULL)
		return;
	uint64_t now = sl_clock_ms();
	c->over = c->over || duty == SL_COMMAND_DONE;
	if (c->leader == 0 && !c->over && now >= c->start_ms)
		start(c);
	take_output(c);
	if (c->leader == 0)
		return;
	reap(c);
	check_deadline(c, duty, now);
	if (c->leader != 0 && c->ending && now >= c->kill_ms)
		send_signal(c, SIGKILL);
	if (c->leader != 0 && c->ending && now >= c->kill_ms + GONE_MS)
		let_run(c);
}

void sl_command_completed(struct sl_command *c)
{
	if (c == NULL)
		return;
	c->later_ms = LATER_MS_LEAST;
	c->work_ms = 0;
}

bool sl_command_runs(const struct sl_command *c)
{
	return c != NULL && c->leader != 0;
}

bool sl_command_owns(const struct sl_command *c, pid_t pid, const char *token)
{
	return sl_command_runs(c) && (sl_descendants_has(pid, c->warden.pid) ||
				      (token != NULL && sl_warden_has_token(&c->warden, token)));
}

void sl_command_end(struct sl_command *c)
{
	if (c == NULL)
		return;
	if (c->leader != 0)
		begin_end(c);
	for (sl_command_tend(c, SL_COMMAND_DONE); c->leader != 0; sl_command_tend(c, SL_COMMAND_DONE))
		poll(NULL, 0, LOOK_MS);
}

/* Set the variables; the paths are absolute, as the command has a working folder of its own. */
static int set_variables(struct sl_command *c, struct sl_error *error)
{
	const struct sl_settings *s = c->config.settings;
	const char *slash = strrchr(s->application, '/');
	char state[PATH_MAX], sockets[PATH_MAX], folder[SL_PATH_BYTES];
	snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - s->application) + 1 : 1,
		 slash != NULL ? s->application : ".");
	if (realpath(s->state, state) == NULL || realpath(folder, sockets) == NULL)
		return sl_err_set(error, SL_ERR_IO, "command: %s: %s", s->state, strerror(errno));
	if (asprintf(&c->variables[0], "STARLING_SOCKET=%s/%s", sockets,
		     slash != NULL ? slash + 1 : s->application) < 0 ||
	    asprintf(&c->variables[1], "STARLING_LEARNER=%u", s->id) < 0 ||
	    asprintf(&c->variables[2], "STARLING_LEARNERS=%u", c->config.learners) < 0 ||
	    asprintf(&c->variables[3], "STARLING_RUN_DIR=%s", state) < 0 ||
	    asprintf(&c->variables[4], "%s", c->warden.mark) < 0)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	return SL_OK;
}

int sl_command_open(struct sl_command **out, const struct sl_command_config *config, struct sl_error *error)
{
	const struct sl_settings *s = config->settings;
	struct sl_command *c = calloc(1, sizeof *c);
	*out = c;
	if (c == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	*c = (struct sl_command){.config = *config, .output = -1, .later_ms = LATER_MS_LEAST};
	c->interval_ms = sl_clock_ms();
	snprintf(c->folder, sizeof c->folder, "%s",
		 s->command_folder[0] != '\0' ? s->command_folder : s->state);
	sl_descendants_adopt();
	int rc = sl_warden_open(&c->warden, error);
	return rc == SL_OK ? set_variables(c, error) : rc;
}

void sl_command_close(struct sl_command *c)
{
	if (c == NULL)
		return;
	sl_command_end(c);
	close_output(c);
	sl_warden_close(&c->warden);
	for (size_t i = 0; i < VARIABLES; i++)
		free(c->variables[i]);
	free(c);
}
