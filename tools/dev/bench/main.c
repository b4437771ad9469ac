/* starling-bench: its command line. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/number.h"
#include "common/base/suggest.h"
#include "tools/dev/bench/bench.h"
#include "tools/lib/option.h"
#include "tools/lib/command.h"

enum { KEY_REPEAT = 256, KEY_JSON, KEY_FOLDER, KEY_SET };

const char *argp_program_version = "starling-bench " SL_VERSION;

static const struct argp_option options[] = {
	{"repeat", KEY_REPEAT, "COUNT", 0, "samples of each figure (5)", 0},
	{"folder", KEY_FOLDER, "DIR", 0,
	 "disk to write to, in a folder that is removed again ($TMPDIR or /tmp)", 0},
	{"set", KEY_SET, "KEY=VALUE", 0,
	 "a setting of the learners on hosts, in place of those that the cases have; may be given several "
	 "times",
	 0},
	{"json", KEY_JSON, NULL, 0, "print the result as JSON", 0},
	{0}};

static error_t take_name(struct argp_state *state, char *name)
{
	struct sl_bench_options *o = state->input;
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	if (sl_bench_case_find(name) != NULL) {
		((const char **)o->names)[o->count++] = name;
		return 0;
	}
	for (size_t i = 0; i < sl_bench_case_count; i++)
		sl_suggest(name, sl_bench_cases[i].name, &best, &distance);
	argp_failure(state, SL_EXIT_USAGE, 0, "there is no case '%s'%s%s%s", name,
		     best != NULL ? "; did you mean '" : "", best != NULL ? best : "",
		     best != NULL ? "'?" : "; see 'starling-bench --help'");
	return 0;
}

static void add_setting(struct argp_state *state, struct sl_bench_options *o, const char *assignment)
{
	size_t used = strlen(o->way), more = strlen(assignment) + 1;
	if (strchr(assignment, '=') == NULL || strchr(assignment, ' ') != NULL)
		argp_error(state, "--set %s: give KEY=VALUE without blanks", assignment);
	if (used + more >= sizeof o->way)
		argp_error(state, "too many --set");
	snprintf(o->way + used, sizeof o->way - used, "%s%s", used > 0 ? " " : "", assignment);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sl_bench_options *o = state->input;
	switch (key) {
	case KEY_REPEAT:
		o->repeat = (uint32_t)sl_option_number(state, "repeat", arg, 1, SL_REPEAT_MOST);
		return 0;
	case KEY_JSON:
		o->json = true;
		return 0;
	case KEY_SET:
		add_setting(state, o, arg);
		return 0;
	case KEY_FOLDER:
		o->folder = arg;
		return 0;
	case ARGP_KEY_ARG:
		return take_name(state, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char doc_begin[] =
	"Measure what a round costs on this machine: all cases but those on hosts, or the named ones.\v"
	"Cases:\n";
static const char doc_end[] =
	"\nEach figure is the median of its samples, with the smallest and the "
	"largest. Rounds of daemons are timed from the last "
	"trained model to the last commit, over all learners. If other programs used "
	"the processors, the output says so.\n"
	"\n"
	"In the cases hosts-* and smoke-* each learner has a host of its own: a network "
	"namespace, with a link of that rate in each direction, or farther away behind a "
	"relay that delays packets. They run only if they are named ('hosts': all "
	"of hosts-*), as root or where user namespaces are allowed, and are skipped "
	"elsewhere. MPI_Allreduce of float32 is measured on the same hosts, if "
	"tools/setup --mpi has built it. Rows after a round's time tell what it waited "
	"for; every 5 ms are, in this order: bandwidth, if a link carried 80 % of its "
	"rate or more; CPU, as far as the busiest learner ran (taken by others: was ready, "
	"and had no processor); disk, if a thread of a learner waited for it; round "
	"trips, none of these. Bytes are those of the links, by the counters of the "
	"busiest host, from commit to commit.\n"
	"\n"
	"Examples:\n"
	"  starling-bench\n"
	"      all cases but those on hosts; some minutes\n"
	"  starling-bench ring10 --repeat 3\n"
	"  starling-bench --json >bench.json\n"
	"  starling-bench hosts --repeat 3\n"
	"  starling-bench hosts-100mbit --set sharing=seeded --set mixing=forest\n"
	"\n"
	"Exit status: 0 done; 1 a case failed; 2 bad usage; 130 interrupted.\n";

/* Return the help text, with the table of cases; to free. */
static char *help_text(void)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	if (out == NULL)
		return NULL;
	fputs(doc_begin, out);
	for (size_t i = 0; i < sl_bench_case_count; i++)
		fprintf(out, "  %-16s  %s\n", sl_bench_cases[i].name, sl_bench_cases[i].text);
	fputs(doc_end, out);
	return fclose(out) == 0 ? text : NULL;
}

int main(int argc, char **argv)
{
	char program[PATH_MAX];
	struct sl_bench bench = {.options = {.program = program, .repeat = 5}};
	char *doc = help_text();
	const struct argp argp = {options, parse, "[CASE...]", doc, NULL, NULL, NULL};
	const char *temporary = getenv("TMPDIR");
	sl_command_open(argc, argv);
	sl_command_set_name(argv, "starling-bench");
	sl_command_sibling("starling", program);
	bench.options.folder = temporary != NULL && *temporary != '\0' ? temporary : "/tmp";
	bench.options.names = calloc((size_t)argc, sizeof(char *));
	int status = SL_EXIT_FAILED;
	if (doc != NULL && bench.options.names != NULL) {
		sl_command_parse(&argp, argc, argv, &bench.options);
		status = sl_bench_run(&bench);
	}
	free((void *)bench.options.names);
	free(doc);
	return status;
}
