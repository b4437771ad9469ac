/* Programs run for their output, one at a time. A signal that ends the bench is passed on to the program. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/dev/bench/bench.h"

#define EXEC_FAILED 127
#define LAST_WORDS 300

static int file_of(const struct sl_bench *bench, const char *name)
{
	char path[PATH_MAX + 16];
	snprintf(path, sizeof path, "%s/%s", bench->folder, name);
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* Does not return. */
static void become(const struct sl_bench *bench, const char *const *argv, const char *const *environment,
		   int out, int err)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
		putenv((char *)environment[i]);
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0 && chdir(bench->folder) == 0)
		execvp(argv[0], (char **)argv);
	_exit(EXEC_FAILED);
}

static volatile pid_t running; /* 0: none */

void sl_bench_child_stop(void)
{
	if (running > 0)
		kill(running, SIGINT);
}

int sl_bench_child_await(pid_t child)
{
	int status = 0;
	running = child;
	if (sl_bench_stopped()) /* interrupted before the child was known */
		sl_bench_child_stop();
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	running = 0;
	return status;
}

/* The whole file as text; malloced, or NULL. */
static char *text_of(int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return NULL;
	char *text = calloc(1, (size_t)st.st_size + 1);
	if (text != NULL && pread(fd, text, (size_t)st.st_size, 0) != st.st_size)
		text[0] = '\0';
	return text;
}

static int judge(const char *program, int status, int err, struct sl_error *error)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return SL_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXEC_FAILED)
		return sl_err_set(error, SL_ERR_NOTFOUND, "%s is not installed", program);
	char *said = text_of(err);
	size_t length = said != NULL ? strlen(said) : 0;
	while (length > 0 && said[length - 1] == '\n')
		said[--length] = '\0';
	const char *last = length > LAST_WORDS ? said + length - LAST_WORDS
			   : length > 0	       ? said
					       : "no message";
	if (strrchr(last, '\n') != NULL)
		last = strrchr(last, '\n') + 1;
	sl_err_set(error, SL_ERR_IO, "%s ended with status %d: %s",
		   strrchr(program, '/') != NULL ? strrchr(program, '/') + 1 : program,
		   WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), last);
	free(said);
	return SL_ERR_IO;
}

int sl_bench_child(struct sl_bench *bench, const char *const *argv, const char *const *environment,
		   char **output, struct sl_error *error)
{
	int out = file_of(bench, "output"), err = file_of(bench, "errors"), rc;
	*output = NULL;
	fflush(NULL);
	pid_t child = out >= 0 && err >= 0 ? fork() : -1;
	if (child == 0)
		become(bench, argv, environment, out, err);
	if (child < 0)
		rc = sl_err_set(error, SL_ERR_IO, "cannot start %s: %s", argv[0], strerror(errno));
	else
		rc = judge(argv[0], sl_bench_child_await(child), err, error);
	if (rc == SL_OK && (*output = text_of(out)) == NULL)
		rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	return sl_bench_stopped() ? SL_PENDING : rc;
}
