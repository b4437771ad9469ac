/* `starling`: find the command, and run it. */
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/lib/python.h"
#include "tools/lib/terminal.h"

static const struct sl_command commands[] = {
	{"launch", "run a local cluster of learners, one process each", NULL, sl_cmd_launch},
	{"status", "show what learners are doing, and which learners they wait for",
	 "starling_control.__main__", NULL},
	{"logs", "show the logs of learners as one stream, explain a round, give figures",
	 "starling_timeline.__main__", NULL},
	{"watch", "show a run in the browser, live or finished", "starling_web.watch", NULL},
	{"report", "write the report of a run: one HTML file, and CSV", "starling_web.report", NULL},
	{"simulate", "run learners in this process, as fast as it can", NULL, sl_cmd_simulate},
	{"mean", "the exact mean of numbers of all learners", "starling.stats.__main__", NULL},
	{"sum", "their exact sum", "starling.stats.__main__", NULL},
	{"count", "how often all learners give each category", "starling.stats.__main__", NULL},
	{"histogram", "how many of their numbers fall into each bin", "starling.stats.__main__", NULL},
	{"stats", "statistics over the rows of all sites: tests, regressions, survival",
	 "starling.stats.__main__", NULL},
	{"export", "write a committed model for other programs", "starling.export", NULL},
	{"account", "write the signed account of a learner's rounds, or verify one",
	 "starling_verify.account", NULL},
	{"evidence", "verify the proof that a learner broke the protocol", NULL, sl_cmd_evidence},
	{"topology", "generate, import, analyze, audit or augment topology schedules", NULL, sl_cmd_topology},
	{"estimate", "estimate what a round costs, for each engine and way of sharing",
	 "starling_topology.estimate", NULL},
	{"dp", "differential privacy: plan its noise, audit what a run has spent", NULL, sl_cmd_dp},
	{"group", "make a group of learners on machines of their own, and change it", NULL, sl_cmd_group},
	{"join", "become a learner of a group, with an invitation", NULL, sl_cmd_join},
	{"admit", "admit a learner that waits to join the group", NULL, sl_cmd_admit},
	{"doctor", "find what keeps this machine from taking part, here and at each peer",
	 "starling_control.__main__", NULL},
	{"keygen", "make a learner's identity and print its roster line", NULL, sl_cmd_keygen},
	{"stop", "end learners cleanly", "starling_control.__main__", NULL},
	{"reload", "make learners read log settings and roster again", "starling_control.__main__", NULL},
	{"backup", "copy the records of running learners", "starling_control.__main__", NULL},
	{"abort", "abort an attempt that waits for learners that are lost for good",
	 "starling_control.__main__", NULL},
	{"part", NULL, NULL, sl_cmd_part}, /* for those that are Python */
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static const char help_end[] =
	"\nExamples:\n"
	"  starling launch -n 10 --rounds 10\n"
	"      ten learners on this machine, trained on digits drawn by the program\n"
	"  starling mean --local 21.5 19.0 23.2\n"
	"      the exact mean of three numbers, each private to its learner\n"
	"  starling status --watch RUNFOLDER\n"
	"      their rounds and phases, and which learners they wait for\n"
	"  starling logs --follow RUNFOLDER\n"
	"      their logs, as one stream\n"
	"  starling keygen --id 3 --name clinic-c --address 10.0.0.3:7400 >> roster.yaml\n"
	"      the identity of a learner on a machine of its own\n"
	"\n"
	"'starling help COMMAND' describes a command, 'starlingd --settings' lists every setting.\n";

static void print_help(FILE *out)
{
	char line[128];
	size_t width = sl_terminal_width(out);
	sl_terminal_fill(out,
			 "Usage: starling COMMAND [OPTION...]\n"
			 "Private federated averaging without a server.\n\n"
			 "Commands:\n",
			 width);
	for (size_t i = 0; i < COMMANDS && commands[i].summary != NULL; i++) {
		snprintf(line, sizeof line, "  %-10s %s\n", commands[i].name, commands[i].summary);
		sl_terminal_fill(out, line, width);
	}
	sl_terminal_fill(out, help_end, width);
}

static int unknown_command(const char *name)
{
	const char *names[COMMANDS + 1] = {NULL};
	for (size_t i = 0; i < COMMANDS && commands[i].summary != NULL; i++)
		names[i] = commands[i].name;
	return sl_command_unknown("starling", "command", name, names);
}

static int run(const struct sl_command *command, int argc, char **argv)
{
	sl_command_set_name(argv, "starling %s", command->name);
	return command->module != NULL ? sl_python_run(command->module, argc, argv)
				       : command->run(argc, argv);
}

int main(int argc, char **argv)
{
	char help[] = "--help";
	sl_command_open(argc, argv);
	if (sodium_init() < 0) {
		fputs("starling: libsodium does not start\n", stderr);
		return SL_EXIT_FAILED;
	}
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
