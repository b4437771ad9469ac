/* `starling stop`: end learners cleanly, or the launcher that runs them. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include "tools/lib/learners.h"

#define ANSWER_MS 5000
#define TIMEOUT_S 60

struct stop_command {
	struct sl_learners_options learners; /* first */
	uint64_t timeout_s;
};

static const struct sl_option own[] = {SL_LEARNERS_CONTROL,
				       {"timeout", 't', "S", "wait at most S seconds for their end (60)",
					SL_SETS(struct stop_command, timeout_s), 1, 86400},
				       {0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "[RUNFOLDER]",
	.take = sl_learners_take_folder,
	.doc = "End learners cleanly, and wait until they have ended. A learner that is started again goes "
	       "on where it was.\v" SL_LEARNERS_WITHOUT "\n"
	       "A run of 'starling launch' is ended as by Ctrl-C.\n"
	       "\n"
	       "Examples:\n"
	       "  starling stop RUNFOLDER\n"
	       "  starling stop --control /run/starling/control.sock --timeout 10\n"
	       "\n"
	       "Exit status: 0 all have ended, 1 a learner still runs or does not answer, 2 wrong usage."};

/* Return a descriptor that can be read when process `pid` has ended; -1: there is no such process. */
static int watch_process(long pid)
{
	return pid > 0 ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
}

/* Wait for the end of the process; return false if it has not ended by `end_ms`. */
static bool has_ended(int process, uint64_t end_ms)
{
	struct pollfd polled = {.fd = process, .events = POLLIN};
	uint64_t now = uv_hrtime() / 1000000;
	return process < 0 || poll(&polled, 1, end_ms > now ? (int)(end_ms - now) : 0) > 0;
}

/* ---- a launcher ---- */

/* Return the process of the launcher of this run, -1: there is none. Its number may be that of another
 * program by now: look at its name. */
static int find_launcher(const char *folder, long *pid)
{
	char path[PATH_MAX], name[32] = "";
	FILE *in = snprintf(path, sizeof path, "%s/pid", folder) < PATH_MAX ? fopen(path, "re") : NULL;
	bool known = in != NULL && fscanf(in, "%ld", pid) == 1;
	if (in != NULL)
		fclose(in);
	int process = known ? watch_process(*pid) : -1;
	snprintf(path, sizeof path, "/proc/%ld/comm", known ? *pid : 0);
	in = process >= 0 ? fopen(path, "re") : NULL;
	bool ours = in != NULL && fgets(name, sizeof name, in) != NULL && strncmp(name, "starling", 8) == 0;
	if (in != NULL)
		fclose(in);
	if (process >= 0 && !ours) {
		close(process);
		process = -1;
	}
	return process;
}

static int stop_launcher(int process, long pid, uint64_t end_ms)
{
	if (kill((pid_t)pid, SIGINT) != 0) {
		fprintf(stderr, "starling stop: launcher, process %ld: %s\n", pid, strerror(errno));
		return SL_EXIT_FAILED;
	}
	bool ended = has_ended(process, end_ms);
	close(process);
	if (ended)
		printf("launcher and its learners: ended\n");
	else
		fprintf(stderr, "starling stop: launcher, process %ld: still running\n", pid);
	return ended ? 0 : SL_EXIT_FAILED;
}

/* ---- learners ---- */

/* Ask, and leave half of the time for what comes after. */
static void ask(struct sl_learners *l, const char *op, uint64_t end_ms)
{
	json_t *request = json_pack("{s:s, s:b}", "op", op, "peers", 0);
	uint64_t now = uv_hrtime() / 1000000, left = end_ms > now ? (end_ms - now) / 2 : 0;
	sl_control_query_all(l->asked, l->count, request, left < ANSWER_MS ? (int)left : ANSWER_MS);
	json_decref(request);
}

/* Wait for the end of a learner, and report it; return true if it has ended. */
static bool report(const struct sl_control_query *one, int process, bool ran, uint64_t end_ms)
{
	if (!ran && sl_control_query_absent(one)) {
		printf("%s: is not running\n", one->shown);
		return true;
	}
	if (one->reply == NULL && (process < 0 || !has_ended(process, end_ms))) {
		fprintf(stderr, "starling stop: %s: %s\n", one->shown, sl_control_query_problem(one));
		return false;
	}
	bool ended = process >= 0 && has_ended(process, end_ms);
	if (ended)
		printf("%s: ended\n", one->shown);
	else
		fprintf(stderr, "starling stop: %s: still running\n", one->shown);
	return ended;
}

static int stop_learners(struct sl_learners *l, uint64_t end_ms)
{
	int *processes = sl_command_memory(l->count, sizeof *processes), status = 0;
	bool *ran = sl_command_memory(l->count, sizeof *ran);
	ask(l, "status", end_ms);
	for (size_t i = 0; i < l->count; i++) {
		ran[i] = l->asked[i].error == 0;
		processes[i] = watch_process((long)sl_learners_number(l->asked[i].reply, "pid"));
	}
	ask(l, "stop", end_ms);
	for (size_t i = 0; i < l->count; i++) {
		if (!report(&l->asked[i], processes[i], ran[i], end_ms))
			status = SL_EXIT_FAILED;
		if (processes[i] >= 0)
			close(processes[i]);
	}
	free(processes);
	free(ran);
	return status;
}

int sl_cmd_stop(int argc, char **argv)
{
	struct stop_command command = {.timeout_s = TIMEOUT_S};
	struct sl_learners learners;
	long pid = 0;
	sl_option_parse(&usage, argc, argv, &command);
	sl_learners_open(&learners, &command.learners);
	uint64_t end_ms = uv_hrtime() / 1000000 + command.timeout_s * 1000;
	int launcher = *learners.folder != '\0' ? find_launcher(learners.folder, &pid) : -1;
	int status = launcher >= 0 ? stop_launcher(launcher, pid, end_ms) : stop_learners(&learners, end_ms);
	sl_learners_close(&learners);
	return status;
}
