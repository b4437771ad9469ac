#include "test/launch/launcher.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DEADLINE_S 60
#define ARGUMENTS_MOST 40

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static void path_of(const struct launcher *l, const char *file, char path[static PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/%s", l->folder, file);
	assert_true(n > 0 && n < PATH_MAX);
}

static void copy(const struct launcher *l, const char *from, const char *name)
{
	char path[PATH_MAX];
	struct stat st;
	path_of(l, name, path);
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_true(in >= 0 && out >= 0 && fstat(in, &st) == 0);
	for (off_t left = st.st_size; left > 0;) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left);
		assert_true(n > 0);
		left -= n;
	}
	close(in);
	assert_int_equal(close(out), 0);
}

void launcher_open(struct launcher *l, const char *starling, const char *fake)
{
	const char *base = getenv("TMPDIR");
	*l = (struct launcher){0};
	snprintf(l->folder, sizeof l->folder, "%s/launch-XXXXXX", base != NULL ? base : P_tmpdir);
	assert_non_null(mkdtemp(l->folder));
	copy(l, starling, "starling");
	copy(l, fake, "starlingd");
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

void launcher_close(struct launcher *l)
{
	nftw(l->folder, remove_entry, 32, FTW_DEPTH | FTW_PHYS);
	free(l->out);
	free(l->err);
}

static void redirect(const char *file, int to)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || dup2(fd, to) < 0)
		_exit(126);
}

static void become(const struct launcher *l, const char *fault, int terminal, bool usual, char *arguments)
{
	char *argv[ARGUMENTS_MOST + 5] = {(char *)"./starling", (char *)"launch", (char *)"--run-dir",
					  (char *)"run"};
	int argc = usual ? 2 : 4;
	for (char *word = strtok(arguments, " "); word != NULL && argc < ARGUMENTS_MOST;
	     word = strtok(NULL, " "))
		argv[argc++] = word;
	if (chdir(l->folder) != 0)
		_exit(126);
	redirect("out", STDOUT_FILENO);
	redirect("err", STDERR_FILENO);
	if (terminal >= 0)
		dup2(terminal, STDOUT_FILENO);
	setenv("TERM", "xterm", 1);
	setenv("FAKE_FAULT", fault != NULL ? fault : "", 1);
	execv(argv[0], argv);
	_exit(127);
}

static void start(struct launcher *l, const char *fault, int terminal, bool usual, const char *arguments)
{
	char words[2048];
	/* the fakes have no privacy check; what the launcher itself says of one is tested by name */
	snprintf(words, sizeof words, "%s%s", arguments,
		 strstr(arguments, "privacy_check=") == NULL && strstr(arguments, "--resume") == NULL
			 ? " --set privacy_check=warn"
			 : "");
	l->pid = fork();
	assert_true(l->pid >= 0);
	if (l->pid == 0)
		become(l, fault, terminal, usual, words);
}

void launcher_start(struct launcher *l, const char *fault, int terminal, const char *arguments)
{
	start(l, fault, terminal, false, arguments);
}

static char *read_file(const struct launcher *l, const char *file)
{
	char path[PATH_MAX], *text = NULL;
	size_t size = 0;
	path_of(l, file, path);
	FILE *in = fopen(path, "r");
	if (in == NULL || getdelim(&text, &size, '\0', in) < 0) {
		free(text);
		text = strdup("");
	}
	if (in != NULL)
		fclose(in);
	return text;
}

void launcher_wait(struct launcher *l)
{
	int status = 0, waited_ms = 0;
	while (waitpid(l->pid, &status, WNOHANG) == 0) {
		pause_ms(20);
		waited_ms += 20;
		if (waited_ms == DEADLINE_S * 1000)
			kill(l->pid, SIGKILL);
	}
	l->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	free(l->out);
	free(l->err);
	l->out = read_file(l, "out");
	l->err = read_file(l, "err");
}

void launcher_run(struct launcher *l, const char *fault, const char *arguments)
{
	launcher_start(l, fault, -1, arguments);
	launcher_wait(l);
}

void launcher_run_usual(struct launcher *l, const char *arguments)
{
	start(l, NULL, -1, true, arguments);
	launcher_wait(l);
}

void launcher_write_bytes(const struct launcher *l, const char *file, const char *bytes, size_t count)
{
	char path[PATH_MAX];
	path_of(l, file, path);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, count, out), count);
	assert_int_equal(fclose(out), 0);
}

void launcher_write(const struct launcher *l, const char *file, const char *text)
{
	launcher_write_bytes(l, file, text, strlen(text));
}

void launcher_folder(const struct launcher *l, const char *name)
{
	char path[PATH_MAX];
	path_of(l, name, path);
	assert_int_equal(mkdir(path, 0755), 0);
}

bool launcher_has(const struct launcher *l, const char *file)
{
	char path[PATH_MAX];
	path_of(l, file, path);
	return access(path, F_OK) == 0;
}

void launcher_await(const struct launcher *l, const char *file, const char *text)
{
	for (int i = 0; i < DEADLINE_S * 50; i++) {
		char *all = read_file(l, file);
		bool found = strstr(all, text) != NULL;
		free(all);
		if (found)
			return;
		pause_ms(20);
	}
	kill(l->pid, SIGKILL);
	fail_msg("\"%s\" never stood in %s", text, file);
}

json_t *launcher_summary(const struct launcher *l)
{
	char path[PATH_MAX];
	json_error_t error;
	path_of(l, "run/summary.json", path);
	json_t *summary = json_load_file(path, 0, &error);
	if (summary == NULL)
		fail_msg("summary.json: %s", error.text);
	return summary;
}

static int counted;
static const char *counted_prefix;

static int count_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	counted += type == FTW_F && strncmp(path + at->base, counted_prefix, strlen(counted_prefix)) == 0;
	return 0;
}

int launcher_count(const struct launcher *l, const char *prefix)
{
	char path[PATH_MAX];
	path_of(l, "run", path);
	counted = 0;
	counted_prefix = prefix;
	assert_int_equal(nftw(path, count_entry, 32, FTW_PHYS), 0);
	return counted;
}

int launcher_alive(const struct launcher *l, int n)
{
	int alive = 0;
	for (int i = 1; i <= n; i++) {
		char file[64];
		snprintf(file, sizeof file, "run/learner-%02d/fake.pid", i);
		char *text = read_file(l, file);
		pid_t pid = (pid_t)atoi(text);
		alive += pid > 0 && kill(pid, 0) == 0;
		free(text);
	}
	return alive;
}

void launcher_kill(const struct launcher *l, int i)
{
	char file[64];
	snprintf(file, sizeof file, "run/learner-%02d/pid", i);
	launcher_await(l, file, "\n");
	char *text = read_file(l, file);
	pid_t pid = (pid_t)atoi(text);
	free(text);
	assert_true(pid > 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
}

void expect_text(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no \"%s\" in:\n%s", part, text);
}

void expect_status(const struct launcher *l, int status)
{
	if (l->status != status)
		fail_msg("status %d, expected %d\n%s\n%s", l->status, status, l->out, l->err);
}

double figure(const json_t *summary, size_t i, const char *name)
{
	const json_t *value = json_object_get(json_array_get(json_object_get(summary, "rounds"), i), name);
	if (json_is_boolean(value))
		return json_is_true(value);
	assert_true(json_is_number(value));
	return json_number_value(value);
}

void expect_exact(const struct launcher *l, const char *pattern)
{
	json_t *summary = launcher_summary(l);
	assert_int_equal(json_array_size(json_object_get(summary, "rounds")), strlen(pattern));
	for (size_t i = 0; pattern[i] != '\0'; i++)
		assert_int_equal((int)figure(summary, i, "same"), pattern[i] == '+');
	assert_int_equal(json_is_true(json_object_get(summary, "all_same")), strchr(pattern, '-') == NULL);
	json_decref(summary);
}
