#include "test/lib/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 20000000L

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

static pid_t spawn(const char *folder, int out, int err, const char *const *argv)
{
	pid_t parent = getpid(), pid = fork();
	if (pid < 0)
		abort();
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 ||
	    (folder != NULL && chdir(folder) < 0))
		_exit(126);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

bool process_ended(pid_t pid, int *status)
{
	int raw = 0;
	if (waitpid(pid, &raw, WNOHANG) == 0)
		return false;
	*status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
	return true;
}

int process_wait(pid_t pid)
{
	double end = process_now() + PATIENCE_S;
	int status;
	while (!process_ended(pid, &status)) {
		if (process_now() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return -1;
		}
		process_look_again();
	}
	return status;
}

static void read_back(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

static int open_scratch(void)
{
	char name[] = "/tmp/starling-out-XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);
	unlink(name);
	return fd;
}

void process_run(struct outcome *outcome, const char *folder, const char *const *argv)
{
	int out = open_scratch(), err = open_scratch();
	outcome->status = process_wait(spawn(folder, out, err, argv));
	read_back(out, outcome->out, sizeof outcome->out);
	read_back(err, outcome->err, sizeof outcome->err);
}

pid_t process_start(const char *folder, const char *out, const char *err, const char *const *argv)
{
	int to = open(out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	int errors = open(err, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	pid_t pid = spawn(folder, to, errors, argv);
	close(to);
	close(errors);
	return pid;
}

int process_count(const char *path, const char *text, const char *other)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int count = 0;
	if (file == NULL)
		return -1;
	while (getline(&line, &room, file) > 0)
		count += strstr(line, text) != NULL && (other == NULL || strstr(line, other) != NULL);
	free(line);
	fclose(file);
	return count;
}

bool process_expect(const char *path, const char *text, const char *other)
{
	double end = process_now() + PATIENCE_S;
	while (process_count(path, text, other) <= 0) {
		if (process_now() > end)
			return false;
		process_look_again();
	}
	return true;
}

void process_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	text[0] = '\0';
	if (fd >= 0)
		read_back(fd, text, size);
}

void process_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
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
	const struct dirent *entry;
	bool found = false;
	while ((entry = readdir(proc)) != NULL)
		found |=
			entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && works_in(entry->d_name, folder);
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
