/* The daemons as processes: their program, start and end. RUN/learner-03/pid holds the process id while one
 * runs, RUN/pid that of the launcher. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/launch/state.h"
#include "tools/lib/command.h"
#include "tools/lib/log_end.h"

#define TAIL_BYTES 65536u
#define TAIL_LINES 5u

void sl_child_program(char program[static PATH_MAX])
{
	if (!sl_command_sibling("../daemon/starlingd", program)) /* in the build folder */
		sl_command_sibling("starlingd", program);
}

static void on_child_closed(uv_handle_t *handle)
{
	((struct sl_learner *)handle->data)->closed = true;
}

static void on_child_exit(uv_process_t *process, int64_t status, int signal)
{
	struct sl_learner *l = process->data;
	char path[PATH_MAX];
	sl_run_folder_path(&l->launch->plan->folder, l->index, "pid", path);
	unlink(path);
	l->exited = true;
	l->exit_status = status;
	l->exit_signal = signal;
	l->launch->running--;
	uv_close((uv_handle_t *)process, on_child_closed);
}

/* Write a process id for users that want to end one learner, or the run. Without it the run continues. */
static void write_pid(const char *path, int pid)
{
	FILE *file = fopen(path, "we");
	if (file == NULL)
		return;
	fprintf(file, "%d\n", pid);
	fclose(file);
}

void sl_child_own_pid(const struct sl_launch *launch, bool runs)
{
	char path[PATH_MAX];
	sl_run_folder_file(&launch->plan->folder, "pid", path);
	if (runs)
		write_pid(path, getpid());
	else
		unlink(path);
}

static size_t size_of(const struct sl_learner *l, const char *file)
{
	char path[PATH_MAX];
	struct stat st;
	sl_run_folder_path(&l->launch->plan->folder, l->index, file, path);
	return stat(path, &st) == 0 ? (size_t)st.st_size : 0;
}

/* Reset what belongs to one start of a learner. */
static void begin(struct sl_learner *l)
{
	l->starts++;
	l->alone_ms = uv_now(&l->launch->loop);
	l->log_from = size_of(l, "log.jsonl");
	l->stderr_from = size_of(l, "stderr.txt");
	l->spawned = l->exited = l->closed = l->judged = l->final = l->connected = false;
	l->killed = 0;
	l->activity = SL_TRAINING;
	l->phase = SL_PHASE_TRAIN;
	l->part = 0;
}

static int spawn(struct sl_learner *l, int output)
{
	char parent[16], path[PATH_MAX];
	snprintf(parent, sizeof parent, "%d", (int)getpid());
	char *args[] = {(char *)"starlingd",
			(char *)"--config",
			(char *)"config.yaml",
			(char *)"--parent",
			parent,
			NULL};
	uv_stdio_container_t stdio[3] = {{.flags = UV_IGNORE},
					 {.flags = UV_INHERIT_FD, .data.fd = output},
					 {.flags = UV_INHERIT_FD, .data.fd = output}};
	/* started in its own folder, its control socket is "control.sock": a long path to the run folder does
	 * not hurt */
	uv_process_options_t options = {.exit_cb = on_child_exit,
					.file = l->launch->program,
					.args = args,
					.cwd = l->folder,
					.stdio = stdio,
					.stdio_count = 3};
	l->process.data = l;
	sl_run_folder_path(&l->launch->plan->folder, l->index, "pid", path);
	int rc = uv_spawn(&l->launch->loop, &l->process, &options);
	l->spawned = rc == 0;
	if (rc != 0)
		uv_close((uv_handle_t *)&l->process, NULL);
	else
		write_pid(path, uv_process_get_pid(&l->process));
	return rc;
}

int sl_child_spawn(struct sl_learner *learner, struct sl_error *error)
{
	char path[PATH_MAX];
	begin(learner);
	sl_run_folder_path(&learner->launch->plan->folder, learner->index, "stderr.txt", path);
	int output = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (output < 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	int rc = spawn(learner, output);
	close(output);
	if (rc != 0)
		return sl_err_set(error, SL_ERR_IO, "cannot start %s for %s: %s", learner->launch->program,
				  learner->name, uv_strerror(rc));
	learner->launch->running++;
	return SL_OK;
}

void sl_child_kill_all(struct sl_launch *launch, int signal)
{
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (launch->learners[i].spawned && !launch->learners[i].exited)
			uv_process_kill(&launch->learners[i].process, signal);
}

/* What the present start of a learner has written to standard error, its end; malloced, "" if nothing. */
static char *said(const struct sl_learner *l)
{
	char path[PATH_MAX], *text = sl_command_memory(1, TAIL_BYTES + 1);
	sl_run_folder_path(&l->launch->plan->folder, l->index, "stderr.txt", path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		off_t size = lseek(fd, 0, SEEK_END), least = (off_t)l->stderr_from;
		off_t from = size > (off_t)TAIL_BYTES ? size - (off_t)TAIL_BYTES : 0;
		if (pread(fd, text, TAIL_BYTES, from > least ? from : least) < 0)
			text[0] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* Return the place where the last few lines of `text` begin. */
static const char *last_lines(const char *text)
{
	const char *at = text + strlen(text);
	for (unsigned lines = 0; at > text; at--)
		if (at[-1] == '\n' && at[0] != '\0' && ++lines == TAIL_LINES)
			break;
	return at;
}

struct wanted {
	enum sl_level least;
	enum sl_record_kind kind; /* SL_RECORD_COUNT: any */
	char *text;
	sl_round round;
};

static void keep_text(void *context, const struct sl_record *record)
{
	struct wanted *wanted = context;
	if (record->level == NULL || sl_level_find(record->level) < (int)wanted->least ||
	    (wanted->kind != SL_RECORD_COUNT && record->kind != wanted->kind))
		return;
	free(wanted->text);
	wanted->text = strdup(record->text != NULL ? record->text : "(without a text)");
	wanted->round = (sl_round)record->round;
}

/* Find the last record of at least this level that the present start of a learner has logged. Return its
 * sentence, malloced, and its round; NULL: there is none. */
static char *last_record(const struct sl_learner *l, enum sl_level least, enum sl_record_kind kind,
			 sl_round *round)
{
	struct wanted wanted = {.least = least, .kind = kind};
	char path[PATH_MAX];
	sl_run_folder_path(&l->launch->plan->folder, l->index, "log.jsonl", path);
	sl_log_end_read(path, l->log_from, TAIL_BYTES, keep_text, &wanted);
	*round = wanted.round;
	return wanted.text;
}

static char *last_text(const struct sl_learner *l, enum sl_level least, enum sl_record_kind kind)
{
	sl_round round;
	return last_record(l, least, kind, &round);
}

char *sl_child_spent(const struct sl_learner *learner, sl_round *round)
{
	return last_record(learner, SL_WARN, SL_RECORD_BUDGET_SPENT, round);
}

/* "learner-03 (3) was killed by SIGKILL in round 4" */
static int describe(const struct sl_learner *l, char *text, size_t size)
{
	const char *abbreviation = sigabbrev_np(l->exit_signal);
	char how[48], when[32] = "after the last round";
	if (l->exit_signal != 0)
		snprintf(how, sizeof how, "was killed by SIG%s", abbreviation != NULL ? abbreviation : "NAL");
	else
		snprintf(how, sizeof how, "ended with status %lld", (long long)l->exit_status);
	if (!l->connected)
		strcpy(when, "before it was up");
	else if (l->committed < l->launch->rounds.most)
		snprintf(when, sizeof when, "in round %u", l->committed + 1);
	return snprintf(text, size, "%s (%u) %s %s", l->name, l->index + 1, how, when);
}

char *sl_child_command_warning(const struct sl_learner *learner)
{
	return last_text(learner, SL_WARN, SL_RECORD_COMMAND);
}

void sl_child_explain(const struct sl_learner *learner, bool lines, char *text, size_t size)
{
	char *errors = said(learner), *error = last_text(learner, SL_ERROR, SL_RECORD_COUNT);
	const char *last = lines ? last_lines(errors) : "";
	int n = describe(learner, text, size);
	if (error != NULL && (size_t)n < size)
		n += snprintf(text + n, size - (size_t)n, ": %s", error);
	if (*last != '\0' && (size_t)n < size)
		snprintf(text + n, size - (size_t)n, "\n%s", last);
	for (size_t end = strlen(text); end > 0 && text[end - 1] == '\n'; end--)
		text[end - 1] = '\0';
	free(error);
	free(errors);
}
