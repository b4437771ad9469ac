/* Bad input: one clear line, exit status 2, nothing half-written, nobody started. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/cluster/cluster.h"
#include "test/lib/test.h"
#include "tools/lib/ports.h"

static void expect_one_line(const char *text)
{
	const char *newline = strchr(text, '\n');
	if (newline == NULL || newline[1] != '\0')
		print_error("not one line:\n%s\n", text);
	assert_non_null(newline);
	assert_int_equal(newline[1], '\0');
}

static void refuse_launch(const char *arguments, const char *needle)
{
	struct cluster c;
	cluster_launch(&c, 60, arguments);
	if (c.outcome.status != 2 || strstr(c.outcome.err, needle) == NULL)
		print_error("%s: status %d\n%s%s", arguments, c.outcome.status, c.outcome.out, c.outcome.err);
	assert_int_equal(c.outcome.status, 2);
	assert_non_null(strstr(c.outcome.err, needle));
	expect_one_line(c.outcome.err);
	assert_int_not_equal(access(c.run, F_OK), 0);
	assert_false(process_alive(c.folder));
	cluster_close(&c);
}

TEST(launch_refuses)
{
	static const char *const cases[][2] = {
		{"--set sigmaa=3", "unknown key"},
		{"--set decimals=3x", "decimals"},
		{"--set modulus=2147483646", "prime"},
		{"--set modulus=1020431", "1020431"}, /* too small at 4 decimals */
		{"--set mixing=metropolis --set modulus=1152921504606846883",
		 "2^44"}, /* a prime of 60 bits */
		{"--set mixing=metropolis --set decimals=12", "lower decimals"},
		{"--set quorum=4", "quorum"},
		{"--set weighting=samples", "max_weight"},
		{"--set encoding=paper --set weighting=samples --set max_weight=9000", "paper"},
		{"--topology nonsense", "nonsense"},
		{"--topology regular:11", "regular"},
		{"--data /nonexistent", "/nonexistent"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		refuse_launch(cases[i][0], cases[i][1]);
}

static void write_file(const char *path, mode_t mode, const char *text)
{
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	chmod(path, mode);
}

static void refuse_schedule(const char *text, const char *needle)
{
	char folder[64], path[96], arguments[160];
	process_folder(folder, sizeof folder);
	snprintf(path, sizeof path, "%s/walk.txt", folder);
	write_file(path, 0600, text);
	snprintf(arguments, sizeof arguments, "-n 4 --topology %s", path);
	refuse_launch(arguments, needle);
	process_remove(folder);
}

TEST(schedules_are_checked)
{
	refuse_schedule("learners 4\nstep 1-2 2-9\n", "walk.txt:2");
	refuse_schedule("learners 4\nstep 1-2 3-4\nstep 1-3\n", "no step");
	refuse_schedule("learners 4\nstep 1-1\n", "walk.txt:2");
	refuse_schedule("", "walk.txt");
}

/* A learner of its own, with one thing wrong at a time. */
struct site {
	char folder[64], config[128], roster[96];
	char line[256];
	uint16_t port;
};

static void open_site(struct site *s)
{
	struct outcome o;
	char address[32];
	struct sl_error error;
	process_folder(s->folder, sizeof s->folder);
	assert_int_equal(sl_ports_find(&s->port, 1, &error), SL_OK);
	snprintf(address, sizeof address, "127.0.0.1:%u", s->port);
	snprintf(s->config, sizeof s->config, "%s/starlingd.yaml", s->folder);
	snprintf(s->roster, sizeof s->roster, "%s/roster.yaml", s->folder);
	const char *argv[] = {process_starling(), "keygen", "--id", "1", "--name", "one",
			      "--address",	  address,  NULL};
	process_run(&o, s->folder, 20, argv);
	assert_int_equal(o.status, 0);
	snprintf(s->line, sizeof s->line, "%.255s", o.out);
}

#define OTHER(id, name, port, digit)                                                                         \
	"- {id: " id ", name: " name ", address: \"127.0.0.1:" port "\", key: "                              \
	"\"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeef" digit "\"}\n"
static const char other[] = OTHER("2", "two", "7998", "f"), third[] = OTHER("3", "three", "7997", "e");

static void write_site(const struct site *s, const char *more_config, const char *more_roster)
{
	char text[1024];
	snprintf(text, sizeof text,
		 "run: r\nid: 1\nroster: roster.yaml\nidentity: identity\nstate: state\n%s", more_config);
	write_file(s->config, 0600, text);
	snprintf(text, sizeof text, "%s%s%s%s", s->line, other, third, more_roster);
	write_file(s->roster, 0600, text);
}

/* The same, with a roster of one line and `roster`. */
static void write_site_of(const struct site *s, const char *more_config, const char *roster)
{
	char text[1024];
	write_site(s, more_config, "");
	snprintf(text, sizeof text, "%s%s", s->line, roster);
	write_file(s->roster, 0600, text);
}

/* A start and --check refuse alike, and before anything is made. */
static void refuse_daemon_with(const struct site *s, int status, const char *needle)
{
	static const char *const modes[] = {"--check", NULL};
	char state[96];
	snprintf(state, sizeof state, "%s/state", s->folder);
	for (int i = 0; i < 2; i++) {
		struct outcome o;
		process_run(
			&o, NULL, 30,
			(const char *const[]){process_starlingd(), "--config", s->config, modes[i], NULL});
		if (o.status != status || strstr(o.err, needle) == NULL)
			print_error("wanted '%s', status %d\n%s%s", needle, o.status, o.out, o.err);
		assert_int_equal(o.status, status);
		assert_non_null(strstr(o.err, needle));
		expect_one_line(o.err);
		assert_int_not_equal(access(state, F_OK), 0);
	}
}

static void refuse_daemon(const struct site *s, const char *needle)
{
	refuse_daemon_with(s, 2, needle);
}

TEST(daemon_refuses)
{
	struct site s;
	char path[96];
	open_site(&s);
	write_site(&s, "colour: red\n", "");
	refuse_daemon(&s, "starlingd.yaml:6:1: unknown key");
	write_site(&s, "id: 1\n", "");
	refuse_daemon(&s, "starlingd.yaml:6:1:");
	write_site(&s, "modulus: 1020431\ndecimals: 5\n", "");
	refuse_daemon(&s, "raise it to a prime of at least ");
	write_site(&s, "", "- {id: 0, name: z, address: \"127.0.0.1:1\", key: \"sha256:aa\"}\n");
	refuse_daemon(&s, "roster.yaml:4:");
	write_site(&s, "", other);
	refuse_daemon(&s, "roster.yaml:4:");
	write_site(&s, "data: nowhere\n", "");
	refuse_daemon(&s, "nowhere");
	snprintf(path, sizeof path, "%s/identity/key.pem", s.folder);
	write_site(&s, "", "");
	chmod(path, 0644);
	refuse_daemon(&s, "key.pem: mode 0644");
	chmod(path, 0600);
	write_site(&s, "listen: \"192.0.2.1:7999\"\n", ""); /* an address of no machine (RFC 5737) */
	refuse_daemon_with(&s, 1, "192.0.2.1:7999");	    /* it may be there later: a unit tries again */
	write_site(&s, "listen: \"no-such-host.invalid:7999\"\n", "");
	refuse_daemon(&s, "no-such-host.invalid:7999");
	process_remove(s.folder);
}

TEST(daemon_refuses_surroundings)
{
	struct site s;
	char same[512];
	open_site(&s);
	write_site_of(&s, "", other);
	refuse_daemon(&s, "2 learners are too few for tolerance: 1");
	write_site(&s, "tolerance: 2\n", "");
	refuse_daemon(&s, "3 learners are too few for tolerance: 2");
	snprintf(same, sizeof same, "%s" OTHER("3", "three", "7998", "e"), other);
	write_site_of(&s, "", same);
	refuse_daemon(&s, "roster.yaml:3:");
	write_site(&s, "accept_roster: zzz\n", "");
	refuse_daemon(&s, "starlingd.yaml:6:16: accept_roster");
	write_site(&s, "control: nowhere/control.sock\n", "");
	refuse_daemon_with(&s, 1, "nowhere/: No such file or directory");
	write_site(&s, "log: nowhere/log.jsonl\n", "");
	refuse_daemon_with(&s, 1, "nowhere/: No such file or directory");
	process_remove(s.folder);
}

TEST(check_touches_nothing)
{
	struct site s;
	struct outcome o;
	char path[96];
	open_site(&s);
	write_site(&s, "", "");
	process_run(&o, NULL, 30,
		    (const char *const[]){process_starlingd(), "--config", s.config, "--check", NULL});
	assert_int_equal(o.status, 0);
	snprintf(path, sizeof path, "%s/state", s.folder);
	assert_int_not_equal(access(path, F_OK), 0);
	write_site(&s, "batch: 65536\n",
		   ""); /* no training noise: an invalidated model would come out the same */
	process_run(&o, NULL, 30,
		    (const char *const[]){process_starlingd(), "--config", s.config, "--check", NULL});
	assert_int_equal(o.status, 2);
	assert_non_null(strstr(o.err, "batch"));
	process_remove(s.folder);
}

TEST(port_in_use_is_said)
{
	struct site s;
	char log[96], second[512];
	open_site(&s);
	write_site(&s, "log: log.jsonl\n", "");
	snprintf(log, sizeof log, "%s/log.jsonl", s.folder);
	pid_t first = process_start(NULL, log,
				    (const char *const[]){process_starlingd(), "--config", s.config, NULL});
	assert_true(process_expect(log, "\"event\":\"listening\"", 20));
	write_site(&s, "log: log.jsonl\n", "");
	snprintf(second, sizeof second, "state=%s/state2", s.folder);
	struct outcome o;
	process_run(&o, NULL, 30,
		    (const char *const[]){process_starlingd(), "--config", s.config, "--set", second, NULL});
	assert_int_equal(o.status, 1);
	assert_non_null(strstr(o.err, "port is in use"));
	kill(first, 15);
	assert_int_equal(process_wait(first, 20), 0);
	process_remove(s.folder);
}
