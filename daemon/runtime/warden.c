#include "daemon/runtime/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char script[] = "groups=\n"
			     "while read -r sign group; do\n"
			     "	others=\n"
			     "	for g in $groups; do [ $g = $group ] || others=\"$others $g\"; done\n"
			     "	groups=$others\n"
			     "	[ $sign = - ] || groups=\"$groups $group\"\n"
			     "done\n"
			     "signal() { for g in $groups; do kill -s $1 -- -$g && left=1; done; }\n"
			     "signal TERM\n"
			     "for second in 1 2 3 4 5; do\n"
			     "	left=\n"
			     "	signal 0\n"
			     "	[ \"$left\" ] || exit\n"
			     "	sleep 1\n"
			     "done\n"
			     "signal KILL\n";

/* Its only open file is the pipe: nothing waits for the end of the warden. */
static int spawn(struct sl_warden *warden, int pipe)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t signals;
	sigemptyset(&signals);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &signals);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, pipe, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	posix_spawn_file_actions_addchdir_np(&files, "/");
	int rc = posix_spawn(&warden->pid, "/bin/sh", &files, &how, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return rc;
}

int sl_warden_open(struct sl_warden *warden, struct sl_error *error)
{
	int ends[2] = {-1, -1};
	*warden = (struct sl_warden){0};
	int rc = pipe2(ends, O_CLOEXEC) < 0 ? errno : spawn(warden, ends[0]);
	if (ends[0] >= 0)
		close(ends[0]);
	if (rc == 0) {
		warden->pipe = ends[1];
		return SL_OK;
	}
	warden->pid = 0;
	if (ends[1] >= 0)
		close(ends[1]);
	return sl_err_set(error, SL_ERR_IO, "/bin/sh cannot be started: %s", strerror(rc));
}

/* A message that is lost changes nothing as long as this process lives. */
static void tell(const struct sl_warden *warden, char sign, pid_t group)
{
	char line[32];
	int n = snprintf(line, sizeof line, "%c %d\n", sign, (int)group);
	ssize_t written = write(warden->pipe, line, (size_t)n);
	(void)written;
}

void sl_warden_watch(const struct sl_warden *warden, pid_t group)
{
	tell(warden, '+', group);
}

void sl_warden_forget(const struct sl_warden *warden, pid_t group)
{
	tell(warden, '-', group);
}

void sl_warden_close(struct sl_warden *warden)
{
	if (warden->pid == 0)
		return;
	close(warden->pipe);
	waitpid(warden->pid, NULL, 0);
	warden->pid = 0;
}
