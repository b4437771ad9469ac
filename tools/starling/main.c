#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/suggest.h"
#include "tools/lib/command.h"
#include "tools/lib/terminal.h"

static const struct sl_command commands[] = {
	{"launch", "run a local cluster of learners, one process each", sl_cmd_launch},
	{"topology", "generate, import, show, audit or repair who is in range of whom, step by step",
	 sl_cmd_topology},
	{"simulate", "run learners in this process, as fast as it can", sl_cmd_simulate},
	{"sim", "play the protocol from seeds, with faults, and check every step", sl_cmd_simtest},
	{"bench", "measure what a round costs on this machine", sl_cmd_bench},
	{"plan", "forecast what a round will cost, for each way to share and to mix", sl_cmd_estimate},
	{"reproduce", "measure the paper's figures with this code, and write a report", sl_cmd_reproduce},
	{"logs", "show the learners' logs as one stream in time", sl_cmd_logs},
	{"abandon", "give up an attempt that a learner lost for good holds up", sl_cmd_abort},
	{"init", "make this learner's identity and print its roster line", sl_cmd_keygen},
};

#define COMMANDS (sizeof commands / sizeof commands[0])

bool sl_command_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	uint64_t n = 0;
	if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
		return false;
	for (; *text != '\0'; text++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*text - '0'), &n))
			return false;
	*number = n;
	return n >= least && n <= most;
}

static const char help_end[] =
	"\nExamples:\n"
	"  starling launch -n 10 --rounds 10\n"
	"      ten learners on this machine, on digits it draws itself\n"
	"  starling logs --follow RUNFOLDER\n"
	"      what they do, in one stream\n"
	"  starling init --id 3 --name clinic-c --address 10.0.0.3:7400 >> roster.yaml\n"
	"      a learner on a machine of its own\n"
	"\n"
	"'starling help COMMAND' describes a command, 'starlingd --settings' lists every setting.\n";

static void print_help(FILE *out)
{
	char line[128];
	size_t width = sl_terminal_width(out);
	sl_terminal_fill(out,
			 "Usage: starling COMMAND [OPTION...]\n"
			 "Federated averaging with no server: learners that share no model with anyone.\n\n"
			 "Commands:\n",
			 width);
	for (size_t i = 0; i < COMMANDS; i++) {
		snprintf(line, sizeof line, "  %-10s %s\n", commands[i].name, commands[i].summary);
		sl_terminal_fill(out, line, width);
	}
	sl_terminal_fill(out, help_end, width);
}

static int unknown_command(const char *name)
{
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	for (size_t i = 0; i < COMMANDS; i++)
		sl_suggest(name, commands[i].name, &best, &distance);
	if (best)
		fprintf(stderr, "starling: unknown command '%s'; did you mean '%s'?\n", name, best);
	else
		fprintf(stderr, "starling: unknown command '%s'; see 'starling --help'\n", name);
	return SL_EXIT_USAGE;
}

/* argp believes in 80 columns until it is told otherwise. */
static void fit_help(void)
{
	char format[96];
	size_t width = sl_terminal_width(stdout);
	if (width < 24 || width >= SL_WIDTH_USUAL)
		return;
	snprintf(format, sizeof format, "usage-indent=4,long-opt-col=4,opt-doc-col=%zu,rmargin=%zu",
		 width < 50 ? 10 : width - 36, width - 1);
	setenv("ARGP_HELP_FMT", format, 0);
}

static const char *program = "starling";

const char *sl_command_program(void)
{
	return program;
}

static int run(const struct sl_command *command, int argc, char **argv)
{
	static char name[64]; /* argp keeps it */
	snprintf(name, sizeof name, "starling %s", command->name);
	argv[0] = name;
	program_invocation_name = program_invocation_short_name = name;
	argp_err_exit_status = SL_EXIT_USAGE;
	fit_help();
	return command->run(argc, argv);
}

static int dispatch(int argc, char **argv)
{
	char help[] = "--help";
	if (argc > 2 && strcmp(argv[1], "help") == 0) { /* help COMMAND: COMMAND --help */
		memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
		argv[argc - 1] = help;
	}
	const char *word = argc > 1 ? argv[1] : NULL;
	if (word == NULL) {
		print_help(stderr);
		return SL_EXIT_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
		print_help(stdout);
		return 0;
	}
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		puts("starling " SL_VERSION);
		return 0;
	}
	if (word[0] == '-') {
		fprintf(stderr, "starling: unknown option '%s'; see 'starling --help'\n", word);
		return SL_EXIT_USAGE;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(word, commands[i].name) == 0)
			return run(&commands[i], argc - 1, argv + 1);
	return unknown_command(word);
}

static int output_errno;

void sl_command_output_failed(void)
{
	output_errno = errno;
}

/* errno of a write that failed long ago is lost; the pipe itself still knows. */
static bool reader_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* A result that could not be written is no result; but a reader that has seen enough (head) is no failure. */
static void close_output(void)
{
	bool lost = ferror(stdout) != 0, gone = reader_gone();
	errno = output_errno;
	if ((fclose(stdout) == 0 && !lost) || errno == EPIPE || gone)
		return;
	dprintf(STDERR_FILENO, "starling: cannot write standard output%s%s\n", errno ? ": " : "",
		errno ? strerror(errno) : "");
	_exit(SL_EXIT_FAILED);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (argc > 0)
		program = argv[0];
	atexit(close_output); /* also after argp's --help, which ends the program */
	return dispatch(argc, argv);
}
