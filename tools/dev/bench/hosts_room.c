/* A process with namespaces of its own, in which it may do as it likes with networks.
 *
 *   bench --> guard (new namespaces) --> worker, process 1 of its namespace --> hosts, launcher, learners ..
 *
 * The kernel kills each when the one before it ends, and with process 1 all processes of its namespace; the
 * networks end with the last process in them. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/dev/bench/hosts.h"

/* Memory of all three processes. */
struct outcome {
	int rc;
	struct sl_error error;
	struct sl_bench_result result;
};

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return good;
}

/* Without root: become root of a new user namespace. */
static bool become_root(void)
{
	char users[32], groups[32];
	snprintf(users, sizeof users, "0 %u 1", geteuid());
	snprintf(groups, sizeof groups, "0 %u 1", getegid());
	return unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

static int enter(struct sl_error *error)
{
	if (geteuid() != 0 && !become_root())
		return sl_err_set(error, SL_ERR_REFUSED,
				  "no root, and a user namespace is refused (%s): run it as root",
				  strerror(errno));
	if (unshare(CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return sl_err_set(error, SL_ERR_REFUSED, "network namespaces are refused: %s",
				  strerror(errno));
	return SL_OK;
}

static int work_inside(struct sl_bench *bench, const struct sl_bench_hosts *what,
		       int (*work)(struct sl_bench *, const struct sl_bench_hosts *, struct sl_error *),
		       struct sl_error *error)
{
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
		return sl_err_set(error, SL_ERR_REFUSED, "mounting /proc is refused: %s", strerror(errno));
	return work(bench, what, error);
}

/* In the guard: run the worker to its end. Without a word from it, it was killed. */
static void guard(struct outcome *outcome, struct sl_bench *bench, const struct sl_bench_hosts *what,
		  int (*work)(struct sl_bench *, const struct sl_bench_hosts *, struct sl_error *))
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	outcome->rc = enter(&outcome->error);
	if (outcome->rc != SL_OK)
		return;
	outcome->rc = sl_err_set(&outcome->error, SL_ERR_IO, "the process with the hosts was killed");
	pid_t worker = fork();
	if (worker == 0) {
		struct sl_error error = {0};
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		int rc = work_inside(bench, what, work, &error);
		*outcome = (struct outcome){rc, error, bench->result};
		_exit(0);
	}
	if (worker > 0)
		sl_bench_child_await(worker);
}

int sl_hosts_room(struct sl_bench *bench, const struct sl_bench_hosts *what,
		  int (*work)(struct sl_bench *bench, const struct sl_bench_hosts *what,
			      struct sl_error *error),
		  struct sl_error *error)
{
	struct outcome *outcome =
		mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outcome == MAP_FAILED)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	outcome->result = bench->result;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0) {
		guard(outcome, bench, what, work);
		_exit(0);
	}
	int rc = child < 0 ? sl_err_set(error, SL_ERR_IO, "cannot fork: %s", strerror(errno)) : SL_OK;
	if (rc == SL_OK) {
		sl_bench_child_await(child);
		rc = outcome->rc;
		*error = outcome->error;
		bench->result = outcome->result;
	}
	munmap(outcome, sizeof *outcome);
	return sl_bench_stopped() ? SL_PENDING : rc;
}
