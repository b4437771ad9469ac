#include "test/cluster/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 20000000L /* between two looks at a condition */

double process_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void process_look_again(void)
{
	nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
}

/* Whoever is still running when the test program ends, however it ends, is ended with it. */
#define STARTED_MAX 64
static pid_t started[STARTED_MAX];
static size_t started_count;

static void end_started(void)
{
	for (size_t i = 0; i < started_count; i++)
		if (started[i] > 0)
			kill(started[i], SIGKILL);
}

static void remember(pid_t pid)
{
	size_t i = 0;
	if (started_count == 0)
		atexit(end_started);
	while (i < started_count && started[i] != 0)
		i++;
	if (i < STARTED_MAX)
		started[i] = pid;
	started_count += i == started_count && i < STARTED_MAX;
}

static void ended(pid_t pid)
{
	for (size_t i = 0; i < started_count; i++)
		if (started[i] == pid)
			started[i] = 0;
}

void process_forget(pid_t pid)
{
	ended(pid);
}

static pid_t spawn(const char *folder, int out, int err, const char *const *argv)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	if (folder != NULL && chdir(folder) < 0)
		_exit(126);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

int process_wait(pid_t pid, double seconds)
{
	double end = process_now() + seconds;
	int status;
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (process_now() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			ended(pid);
			return -1;
		}
		process_look_again();
	}
	ended(pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void read_back(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

static int scratch(void)
{
	char name[] = "/tmp/starling-out-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);
	unlink(name);
	return fd;
}

void process_run(struct outcome *outcome, const char *folder, double seconds, const char *const *argv)
{
	int out = scratch(), err = scratch();
	pid_t pid = spawn(folder, out, err, argv);
	outcome->status = process_wait(pid, seconds);
	read_back(out, outcome->out, sizeof outcome->out);
	read_back(err, outcome->err, sizeof outcome->err);
}

pid_t process_start(const char *folder, const char *log, const char *const *argv)
{
	int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pid_t pid = spawn(folder, fd, fd, argv);
	close(fd);
	remember(pid);
	return pid;
}

int process_count(const char *path, const char *text)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int count = 0;
	if (file == NULL)
		return -1;
	while (getline(&line, &room, file) > 0)
		count += strstr(line, text) != NULL;
	free(line);
	fclose(file);
	return count;
}

bool process_expect(const char *path, const char *text, double seconds)
{
	double end = process_now() + seconds;
	while (process_count(path, text) <= 0) {
		if (process_now() > end)
			return false;
		process_look_again();
	}
	return true;
}

static bool works_in(const char *pid, const char *folder)
{
	char path[300], cwd[1024];
	snprintf(path, sizeof path, "/proc/%s/cwd", pid);
	ssize_t n = readlink(path, cwd, sizeof cwd - 1);
	cwd[n > 0 ? n : 0] = '\0';
	return strncmp(cwd, folder, strlen(folder)) == 0;
}

bool process_alive(const char *folder)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char self[32];
	bool found = false;
	snprintf(self, sizeof self, "%d", (int)getpid());
	while ((entry = readdir(proc)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && strcmp(entry->d_name, self) != 0)
			found |= works_in(entry->d_name, folder);
	closedir(proc);
	return found;
}

void process_folder(char *path, size_t size)
{
	snprintf(path, size, "/tmp/starling-test-XXXXXX");
	if (mkdtemp(path) == NULL)
		abort();
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

void process_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *process_starling(void)
{
	return getenv("STARLING") != NULL ? getenv("STARLING") : STARLING_PATH;
}

const char *process_starlingd(void)
{
	return getenv("STARLINGD") != NULL ? getenv("STARLINGD") : STARLINGD_PATH;
}
