#include "daemon/runtime/warden.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "STARLING_TOKEN="
#define TOKEN_BYTES 16u

static const char script[] = "read -r line\n"
			     "signal() {\n"
			     "	for file in $(grep -ls \"$0\" /proc/[0-9]*/environ); do\n"
			     "		process=${file#/proc/}\n"
			     "		kill -s $1 ${process%/environ} && left=1\n"
			     "	done\n"
			     "}\n"
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
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)script, warden->mark, NULL};
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
	uint8_t token[TOKEN_BYTES];
	*warden = (struct sl_warden){.mark = NAME};
	randombytes_buf(token, sizeof token);
	sodium_bin2hex(warden->mark + sizeof NAME - 1, 2 * TOKEN_BYTES + 1, token, sizeof token);
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

bool sl_warden_has_token(const struct sl_warden *warden, const char *token)
{
	return strlen(token) == strlen(warden->mark + sizeof NAME - 1) &&
	       sodium_memcmp(token, warden->mark + sizeof NAME - 1, strlen(token)) == 0;
}

void sl_warden_close(struct sl_warden *warden)
{
	if (warden->pid == 0)
		return;
	close(warden->pipe);
	waitpid(warden->pid, NULL, 0);
	warden->pid = 0;
}
