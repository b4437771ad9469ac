/* starlingd - one learner. */
#include <argp.h>
#include <malloc.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "daemon/learner/daemon.h"
#include "daemon/learner/loop.h"
#include "daemon/learner/setup.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/runtime/streams.h"

#define OVERRIDES_MAX 64u

const char *argp_program_version = "starlingd " SL_VERSION;

struct arguments {
	const char *config;
	const char *overrides[OVERRIDES_MAX];
	size_t override_count;
	bool check, print, yaml; /* yaml: as a configuration file */
	long parent;
};

enum { KEY_CHECK = 256, KEY_SETTINGS, KEY_PARENT };

static const struct argp_option options[] = {
	{"config", 'c', "FILE", 0, "Configuration of this learner (required)", 0},
	{"set", 's', "KEY=VALUE", 0, "Override a setting; may be given several times", 0},
	{"check", KEY_CHECK, NULL, 0, "Check whether everything can be used, print the result, and end", 0},
	{"settings", KEY_SETTINGS, "FORMAT", OPTION_ARG_OPTIONAL,
	 "Print every setting with its default, and end; FORMAT yaml: as a configuration file", 0},
	{"parent", KEY_PARENT, "PID", OPTION_HIDDEN, "End when this parent process does", 0},
	{0}};

static const char documentation[] = "One Starling learner: trains a model on its own data and averages it "
				    "with the other learners in range, without "
				    "revealing it to any of them."
				    "\vExamples:\n"
				    "  starlingd --config /etc/starling/starlingd.yaml\n"
				    "  starlingd --config learner.yaml --set log_level=debug\n"
				    "  starlingd --config learner.yaml --check\n"
				    "\n"
				    "Exit status: 0 after the last round or when told to end, 1 when the run "
				    "failed or the port, the address or the "
				    "disk cannot be used now, 2 when the configuration, the identity, the "
				    "roster or the data cannot be used.";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *a = state->input;
	switch (key) {
	case 'c':
		a->config = value;
		return 0;
	case 's':
		if (a->override_count == OVERRIDES_MAX)
			argp_error(state, "more than %u --set", OVERRIDES_MAX);
		a->overrides[a->override_count++] = value;
		return 0;
	case KEY_CHECK:
		a->check = true;
		return 0;
	case KEY_SETTINGS:
		a->print = true;
		a->yaml = value != NULL && strcmp(value, "yaml") == 0;
		if (value != NULL && !a->yaml && strcmp(value, "text") != 0)
			argp_error(state, "--settings=%s: FORMAT is text or yaml", value);
		return 0;
	case KEY_PARENT:
		a->parent = strtol(value, NULL, 10);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", value);
		return 0;
	case ARGP_KEY_END:
		if (a->config == NULL && !a->print)
			argp_error(state, "--config FILE is required");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* End when the launcher dies, for whatever reason. */
static void follow_parent(long parent)
{
	if (parent <= 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != (pid_t)parent)
		exit(1);
}

/* Print the error and return the exit status: 1 if a later start may succeed (port, address, disk, memory),
 * otherwise 2. */
static int complain(const struct sl_error *error)
{
	fprintf(stderr, "starlingd: %s\n", error->text);
	return error->code == SL_ERR_BUSY || error->code == SL_ERR_IO || error->code == SL_ERR_NOMEM ||
			       error->code == SL_PENDING
		       ? 1
		       : 2;
}

static void report_fine(const char *config, const struct sl_roster *roster)
{
	char hash[2 * SL_HASH_BYTES + 1];
	sodium_bin2hex(hash, sizeof hash, roster->hash, sizeof roster->hash);
	printf("%s: fine\nhash of the roster: %s\n", config, hash);
}

/* Keep the memory of freed chunks: the kernel would clear it for every new chunk. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

int main(int argc, char **argv)
{
	static struct sl_daemon daemon; /* large: the actions of a step are in it */
	static struct sl_settings settings;
	struct arguments arguments = {0};
	struct sl_error error = {0};
	sl_streams_open();
	argp_err_exit_status = 2;
	argp_parse(&(struct argp){options, parse, NULL, documentation, NULL, NULL, NULL}, argc, argv, 0, NULL,
		   &arguments);
	if (arguments.print) {
		sl_settings_print(stdout, arguments.yaml);
		return 0;
	}
	follow_parent(arguments.parent);
	keep_memory();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit of its size: the write fails */
	signal(SIGHUP, SIG_IGN);  /* until the loop takes it */
	if (sodium_init() < 0)
		return complain(&(struct sl_error){.text = "libsodium does not start"});
	const struct sl_settings_source source = {arguments.config, arguments.overrides,
						  arguments.override_count};
	int rc = arguments.check ? sl_setup_check(&daemon, &source, &settings, &error)
				 : sl_setup_open(&daemon, &source, &settings, &error);
	bool ended = rc == SL_PENDING && !arguments.check; /* told to end while it started */
	int status = rc == SL_OK || ended ? 0 : complain(&error);
	if (rc == SL_OK && arguments.check)
		report_fine(arguments.config, &daemon.members.roster);
	else if (rc == SL_OK)
		status = sl_loop_run(&daemon);
	sl_setup_close(&daemon);
	if (daemon.restart_requested) {
		sl_failpoint_reach(SL_FAILPOINT_BEFORE_EXEC);
		execv("/proc/self/exe", argv);
		perror("starlingd: cannot start itself again, start it: /proc/self/exe");
		status = 1;
	}
	return status;
}
