/* The command of trainer: exec, started and ended by real daemons. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "test/lib/cluster.h"

/* Write the command of learner i, a script with this text. */
static void write_command(const struct cluster *c, uint32_t i, const char *script)
{
	char text[1024];
	snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
	process_write(cluster_path(c, i, "command"), text);
	chmod(cluster_path(c, i, "command"), 0700);
}

/* n learners with this script as their command. */
static void open_exec(struct cluster *c, uint32_t n, const char *script, const char *settings)
{
	char all[512];
	snprintf(all, sizeof all, "trainer=exec command=../command rounds=3 decimals=4 clipping_range=16 %s",
		 settings);
	cluster_open(c, n, all);
	for (uint32_t i = 1; i <= n; i++)
		write_command(c, i, script);
}

static void expect_log(const struct cluster *c, uint32_t i, const char *text)
{
	if (!process_expect(cluster_path(c, i, "log.jsonl"), "\"event\":\"command\"", text)) {
		cluster_shell(c, "cat learner-*/log.jsonl learner-*/stderr.txt >&2; true");
		fail_msg("the log of learner %u has no record of the command with: %s", i, text);
	}
}

/* Each of them is a log record, and the daemon goes on. */
CLUSTER_TEST(bad_commands_are_named)
{
	static const struct {
		const char *script, *settings, *said, *then;
	} cases[] = {
		{"exit 3", "", "ended with status 3; it is started again in 1 s",
		 "ended with status 3; it is started again in 2 s"},
		{"exit 0", "", "ended with status 0; it is started again in 1 s", "started"},
		/* a process of another session holds its output, and is ended */
		{"setsid sleep 1000 & exit 5", "", "ended with status 5; it is started again in 1 s",
		 "ended with status 5; it is started again in 2 s"},
		{"kill -9 $$", "", "was killed by SIGKILL; it is started again in 1 s", "started"},
		{"", "command=no-such-program", "ended with status 127 (command not found)",
		 "no-such-program"},
		{"", "command=../../roster.yaml", "ended with status 126 (cannot be executed)", "ermission"},
		{"", "command=KEY='a;b'\tprintenv\tKEY", "command: a;b", "status 0"},
		{"", "command=KEY=value\tprintenv\tKEY\tSTARLING_LEARNERS", "command: value",
		 "command: 1" /* and a digit */},
		{"printf 'a\\001b\\377c\\n'; head -c 5000 /dev/zero | tr '\\0' z", "", "command: a?b?c",
		 "zzz"},
		/* it is not in the background */
		{"", "command=setsid\tsh\t-c\t'sleep\t0.2;exit\t9'", "ended with status 9", "started"},
		{"yes flood | head -n 5000 >&2", "", "(4900 more lines were dropped", "status 0"},
		{"exec sleep 1000", "training_deadline=1",
		 "has not answered within training_deadline, 1 s: it is ended", "was killed by SIGTERM"},
	};
	const uint32_t n = sizeof cases / sizeof *cases;
	open_exec(c, n, "true", "");
	for (uint32_t i = 1; i <= n; i++) {
		write_command(c, i, cases[i - 1].script);
		cluster_start(c, i, cases[i - 1].settings);
	}
	for (uint32_t i = 1; i <= n; i++) {
		expect_log(c, i, cases[i - 1].said);
		expect_log(c, i, cases[i - 1].then);
		if (strstr(cases[i - 1].script, "flood") != NULL)
			assert_int_equal(cluster_count(c, i, "command: flood"), 100);
	}
	cluster_stop(c); /* while they wait for an application */
	cluster_expect_no_process(c);
}

/* A process that the command leaves behind is ended before the next start; one that ignores SIGTERM is killed
 * when the daemon ends. */
CLUSTER_TEST(no_process_is_left)
{
	char text[32];
	open_exec(c, 3,
		  "test -f pid && trap '' TERM && while :; do sleep 1; done\n"
		  "sleep 1000 & setsid sh -c 'echo $$ >pid; exec sleep 1000' & until test -s pid; do :; "
		  "done; exit 4",
		  "");
	cluster_start(c, 1, "");
	expect_log(c, 1, "ended with status 4");
	if (!process_expect(cluster_path(c, 1, "log.jsonl"), "has started", NULL))
		fail();
	double end = process_now() + PATIENCE_S;
	while (cluster_count(c, 1, "has started") < 2 && process_now() < end)
		process_look_again();
	process_read(cluster_path(c, 1, "state/pid"), text, sizeof text);
	assert_int_not_equal(kill(atoi(text), 0), 0);
	cluster_end(c, 1);
	cluster_expect_no_process(c);
}

CLUSTER_TEST(only_the_command_may_join)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	static const char join[] =
		"{\"type\":\"join\",\"version\":1,\"token\":\"0123456789abcdef0123456789abcdef\"}\n";
	char line[512] = "";
	open_exec(c, 3, "setsid sleep 1000 & sleep 1000", "");
	cluster_start(c, 1, "");
	expect_log(c, 1, "has started");
	snprintf(address.sun_path, sizeof address.sun_path, "%s",
		 cluster_path(c, 1, "state/application.sock"));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(send(fd, join, strlen(join), 0), (ssize_t)strlen(join));
	assert_true(recv(fd, line, sizeof line - 1, 0) > 0);
	expect_text(line, "is not one of its command, and join has not the token");
	assert_int_equal(recv(fd, line, sizeof line - 1, 0), 0);
	close(fd);
	cluster_signal(c, 1, SIGKILL);
	cluster_expect_no_process(c);
}

/* Whatever process group, session or parent the application has: another session, the group of timeout, and a
 * process that is no descendant of the learner, as in a container, but has its token. */
CLUSTER_TEST(every_process_of_the_command_may_join)
{
	static const char *const scripts[] = {
		"unset STARLING_TOKEN; setsid python3 -S -E \"$APP\"",
		"unset STARLING_TOKEN; timeout 1000 python3 -S -E \"$APP\"; true",
		("env | grep ^STARLING_ >../new && mv ../new ../variables; until test -f ../over; do sleep "
		 "0.1; done"),
	};
	setenv("APP", SL_SOURCE_ROOT "/test/application/app.py", 1);
	open_exec(c, 3, "true", "");
	for (uint32_t i = 1; i <= 3; i++)
		write_command(c, i, scripts[i - 1]);
	cluster_start_all(c, "");
	cluster_shell(c, "cd learner-03; i=0; until test -f variables; do sleep 0.1; i=$((i+1)); test $i -lt "
			 "600; done; "
			 "env $(cat variables) python3 -S -E \"$APP\" >&2; touch over");
	cluster_finish(c);
	assert_int_equal(cluster_expect_exact(c), 3);
	expect_log(c, 1, "command: saved the model");
	expect_log(c, 2, "command: saved the model");
	cluster_expect_no_process(c);
}

/* Commands exit, hang, leave, garble and flood in mid-round: the rounds are committed, and are exact. */
CLUSTER_TEST(a_run_survives_its_commands)
{
	static const char *const behaviours[] = {"2=exit 3=garble", "3=hang", "1=flood 2=leave"};
	open_exec(c, 3, "exec python3 -S -E \"$APP\" $(cat \"../behaviour\")", "training_deadline=3");
	setenv("APP", SL_SOURCE_ROOT "/test/application/app.py", 1);
	for (uint32_t i = 1; i <= 3; i++)
		process_write(cluster_path(c, i, "behaviour"), behaviours[i - 1]);
	cluster_start_all(c, "");
	cluster_finish(c);
	expect_log(c, 1, "ended with status 7; it is started again in 1 s");
	expect_log(c, 2, "has not answered within training_deadline, 3 s: it is ended");
	expect_log(c, 1, "ended with status 1; it is started again in 1 s"); /* its connection was ended */
	expect_log(c, 3, "more lines were dropped");
	expect_log(c, 3, "has not answered within training_deadline, 3 s: it is ended");
	expect_log(c, 1, "saved the model"); /* after the last round; with learner 3 it may be dropped */
	assert_int_equal(cluster_expect_exact(c), 3);
	cluster_expect_no_process(c);
}

/* ---- the end of a privacy budget ---- */

#define APP SL_SOURCE_ROOT "/test/application/app.py"

static void launch_private(struct cluster *c, const char *behaviour)
{
	char arguments[1024];
	snprintf(arguments, sizeof arguments,
		 "-n 5 --rounds 8 --set trainer=exec --set command=python3\t-S\t-E\t" APP
		 "%s --set values=model --set straggler_timeout=1 --set serve_after_end=1 --set dp=learner "
		 "--set dp_clip=9 --set dp_noise=1.2 --set dp_epsilon=5.9 --set dp_delta=0.01",
		 behaviour);
	cluster_launch(c, arguments);
	assert_int_equal(c->outcome.status, 0);
	expect_text(c->outcome.out, " of 8 as a privacy budget is spent");
	cluster_expect_no_process(c);
}

/* All have spent as much: no command is stopped before it has saved its model. */
CLUSTER_TEST(a_budget_that_all_have_spent)
{
	launch_private(c, "");
	expect_text(c->outcome.out, "stopped after round 5 of 8");
	for (uint32_t i = 1; i <= 5; i++)
		expect_log(c, i, "command: saved the model");
	assert_null(strstr(c->outcome.out, "learners with more"));
}

/* Learner 1 alone is late in neither of two rounds. The others are asked to end with it, before they commit
 * one more, or the launcher tells of that round. */
CLUSTER_TEST(a_budget_that_one_has_spent)
{
	uint32_t last = 0;
	unsigned shown = 0;
	launch_private(c, "\t2=late45\t3=late23\t4=late12345");
	const char *stopped = strstr(c->outcome.out, "stopped after round "),
		   *more = strstr(c->outcome.out, "; learners with more have committed round ");
	assert_int_equal(sscanf(stopped, "stopped after round %u", &shown), 1);
	if (more != NULL)
		assert_int_equal(sscanf(more, "; learners with more have committed round %u", &shown), 1);
	for (uint32_t i = 1; i <= 5; i++)
		last = cluster_last_round(c, i) > last ? cluster_last_round(c, i) : last;
	assert_int_equal(shown, last);
}
