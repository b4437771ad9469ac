/* A daemon refuses bad input with one clear line and its exit status, before it makes any file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/lib/process.h"
#include "test/lib/test.h"
#include "tools/lib/ports.h"

/* A folder as an operator makes it, with an identity of `starling keygen`. */
struct site {
	char folder[64], config[128], roster[96], state[96], key[96];
	char line[256]; /* its roster line */
	char log[96];
};

static int open_site(void **state)
{
	struct site *s = calloc(1, sizeof *s);
	struct outcome o;
	struct sl_error error;
	uint16_t port;
	char address[32];
	process_folder(s->folder, sizeof s->folder);
	assert_int_equal(sl_ports_find(&port, 1, &error), SL_OK);
	snprintf(address, sizeof address, "127.0.0.1:%u", port);
	snprintf(s->config, sizeof s->config, "%s/starlingd.yaml", s->folder);
	snprintf(s->roster, sizeof s->roster, "%s/roster.yaml", s->folder);
	snprintf(s->state, sizeof s->state, "%s/state", s->folder);
	snprintf(s->log, sizeof s->log, "%s/log.jsonl", s->folder);
	snprintf(s->key, sizeof s->key, "%s/identity/key.pem", s->folder);
	process_run(&o, s->folder,
		    (const char *const[]){STARLING_PATH, "keygen", "--id", "1", "--name", "one", "--address",
					  address, NULL});
	assert_int_equal(o.status, 0);
	snprintf(s->line, sizeof s->line, "%.255s", o.out);
	*state = s;
	return 0;
}

static int close_site(void **state)
{
	process_remove(((struct site *)*state)->folder);
	free(*state);
	return 0;
}

#define MEMBER(id, name, port, digit)                                                                        \
	"- {id: " id ", name: " name ", address: \"127.0.0.1:" port "\", key: "                              \
	"\"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeef" digit "\"}\n"
#define TWO MEMBER("2", "two", "7998", "f")
#define THREE MEMBER("3", "three", "7997", "e")

static void write_site(const struct site *s, const char *more_config, const char *more_roster)
{
	char text[1024];
	snprintf(text, sizeof text,
		 "run: r\nid: 1\nroster: roster.yaml\nidentity: identity\nstate: state\nlog: log.jsonl\n%s",
		 more_config);
	process_write(s->config, text);
	snprintf(text, sizeof text, "%s%s", s->line, more_roster);
	process_write(s->roster, text);
}

static void run(const struct site *s, const char *mode, struct outcome *o)
{
	process_run(o, s->folder,
		    (const char *const[]){STARLINGD_PATH, "--config", "starlingd.yaml", mode, NULL});
}

/* A start and --check refuse alike. */
static void refuse(const struct site *s, int status, const char *part)
{
	static const char *const modes[] = {"--check", NULL};
	for (size_t i = 0; i < 2; i++) {
		struct outcome o;
		run(s, modes[i], &o);
		const char *newline = strchr(o.err, '\n');
		if (o.status != status || strstr(o.err, part) == NULL || newline == NULL ||
		    newline[1] != '\0')
			fail_msg("wanted '%s' in one line, status %d; status %d\n%s%s", part, status,
				 o.status, o.out, o.err);
		assert_int_not_equal(access(s->state, F_OK), 0);
	}
}

TEST_WITH(daemon_refuses, open_site, close_site)
{
	static const struct {
		const char *config, *roster, *error;
		int status; /* 1: it may be mended without the operator: a unit tries again */
	} cases[] = {
		{"colour: red\n", TWO THREE, "starlingd.yaml:7:1: unknown key", 2},
		{"id: 1\n", TWO THREE, "starlingd.yaml:7:1:", 2},
		{"modulus: 1020431\ndecimals: 5\n", TWO THREE, "raise it to a prime of at least ", 2},
		{"trainer: exec\n", TWO THREE, "starlingd.yaml:7:10: trainer: exec needs `command`", 2},
		{"command: x y\n", TWO THREE, "starlingd.yaml:7:10: command is started by trainer: exec only",
		 2},
		{"trainer: exec\ncommand: x\ncommand_folder: nowhere\n", TWO THREE, "command_folder: ", 2},
		{"proxy_credentials_file: roster.yaml\n", TWO THREE,
		 "starlingd.yaml:7:25: proxy_credentials_file needs proxy", 2},
		{"data: nowhere\n", TWO THREE, "nowhere", 2},
		{"tolerance: 2\n", TWO THREE, "3 learners are too few for tolerance: 2", 2},
		{"accept_roster: zzz\n", TWO THREE, "starlingd.yaml:7:16: accept_roster", 2},
		{"control: nowhere/control.sock\n", TWO THREE, "nowhere/: No such file or directory", 1},
		{"listen: \"no-such-host.invalid:7999\"\n", TWO THREE, "no-such-host.invalid:7999", 2},
		{"http: \"9464\"\n", TWO THREE, "starlingd.yaml:7:8: http: '9464' is not an address", 2},
		{"http: \"0.0.0.0:9464\"\n", TWO THREE, "then needs a token: set http_token_file", 2},
		{"http: \"127.0.0.1:9464\"\nhttp_token_file: nowhere\n", TWO THREE,
		 "nowhere: No such file or directory", 1},
		{"http: \"127.0.0.1:9464\"\nhttp_token_file: roster.yaml\n", TWO THREE,
		 "roster.yaml: others can read it; run chmod 600", 2},
		/* no training noise: an invalidated model would come out the same */
		{"batch: 65536\n", TWO THREE, "batch", 2},
		{"", TWO THREE "- {id: 0, name: z, address: \"127.0.0.1:1\", key: \"sha256:aa\"}\n",
		 "roster.yaml:4:", 2},
		{"", TWO THREE TWO, "roster.yaml:4:", 2},
		{"", TWO MEMBER("3", "three", "7998", "e"), "roster.yaml:3:", 2},
		{"control: roster.yaml\n", TWO THREE, "roster.yaml is not a socket; choose another path", 1},
		{"control: identity\n", TWO THREE, "identity is not a socket; choose another path", 1},
		{"", TWO, "2 learners are too few for tolerance: 1", 2},
	};
	const struct site *s = *state;
	struct outcome o;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		write_site(s, cases[i].config, cases[i].roster);
		refuse(s, cases[i].status, cases[i].error);
	}
	write_site(s, "", TWO THREE);
	unlink(s->log);
	assert_int_equal(mkdir(s->log, 0755), 0);
	refuse(s, 1, "log.jsonl: Is a directory");
	assert_int_equal(rmdir(s->log), 0);
	/* An address of no machine (RFC 5737): a start waits for it (test/deploy/service.py). */
	write_site(s, "listen: \"192.0.2.1:7999\"\n", TWO THREE);
	run(s, "--check", &o);
	assert_int_equal(o.status, 1);
	assert_non_null(strstr(o.err, "cannot listen on 192.0.2.1:7999: "));
	write_site(s, "", TWO THREE);
	chmod(s->key, 0644);
	refuse(s, 2, "key.pem: mode 0644");
	chmod(s->key, 0600);
	run(s, "--check", &o); /* with nothing wrong it leaves nothing behind either */
	assert_int_equal(o.status, 0);
	assert_int_not_equal(access(s->state, F_OK), 0);
}

TEST_WITH(what_is_in_use_is_said, open_site, close_site)
{
	static const char *const command[] = {STARLINGD_PATH, "--config", "starlingd.yaml", NULL};
	const struct site *s = *state;
	struct outcome o;
	write_site(s, "", TWO THREE);
	pid_t first = process_start(s->folder, s->log, s->log, command);
	assert_true(process_expect(s->log, "\"event\":\"listening\"", NULL));
	run(s, NULL, &o);
	assert_int_equal(o.status, 1);
	assert_non_null(strstr(o.err, "another starlingd is running"));
	run(s, "--set=state=state2", &o);
	assert_int_equal(o.status, 1);
	assert_non_null(strstr(o.err, "port is in use"));
	assert_int_equal(kill(first, SIGTERM), 0);
	assert_int_equal(process_wait(first), 0);
}

/* With few descriptors the start fails by a message, wherever they run out. */
TEST_WITH(few_descriptors_are_said, open_site, close_site)
{
	const struct site *s = *state;
	struct outcome o;
	write_site(s, "", TWO THREE);
	for (int most = 7; most < 18; most++) {
		char command[512];
		snprintf(command, sizeof command, "ulimit -n %d; exec %s --config starlingd.yaml --check",
			 most, STARLINGD_PATH);
		process_run(&o, s->folder, (const char *const[]){"/bin/sh", "-c", command, NULL});
		if (o.status > 2 || (o.status != 0 && strcasestr(o.err, "too many open files") == NULL))
			fail_msg("%d descriptors: status %d, %s", most, o.status, o.err);
	}
}

/* OpenBLAS repeats without end what fails for want of address space: the start is refused instead. */
TEST_WITH(little_address_space_is_said, open_site, close_site)
{
#if defined(__SANITIZE_ADDRESS__)
	skip(); /* it takes terabytes of it */
#endif
	const struct site *s = *state;
	struct outcome o;
	write_site(s, "", TWO THREE);
	process_run(&o, s->folder,
		    (const char *const[]){"/bin/sh", "-c",
					  "ulimit -v 250000; exec " STARLINGD_PATH
					  " --config starlingd.yaml --check",
					  NULL});
	assert_int_equal(o.status, 1);
	assert_non_null(strstr(o.err, "256 MiB of address space; raise its limit (ulimit -v)"));
}
