/* `starling mean`, `sum`, `count` and `histogram`: their command lines. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/option.h"
#include "tools/starling/ask.h"

static void take_input(struct argp_state *state, enum sl_question_input_kind kind, const char *text,
		       void *options)
{
	struct sl_ask_options *o = options;
	(void)state;
	o->inputs[o->count++] = (struct sl_question_input){kind, text};
}

static void take_csv(struct argp_state *state, const char *value, void *options)
{
	take_input(state, SL_QUESTION_CSV, value, options);
}

static void take_npy(struct argp_state *state, const char *value, void *options)
{
	take_input(state, SL_QUESTION_NPY, value, options);
}

static void take_value(struct argp_state *state, const char *argument, void *options)
{
	take_input(state, SL_QUESTION_VALUE, argument, options);
}

#define OPTION_CSV                                                                                           \
	{                                                                                                    \
		"csv", 0, "FILE", "take a column of this file, whose first line has the names",              \
			.take = take_csv                                                                     \
	}
#define OPTION_NPY                                                                                           \
	{                                                                                                    \
		"npy", 0, "FILE", "take a numpy array: element by element", .take = take_npy                 \
	}
#define OPTION_OUTPUT                                                                                        \
	{                                                                                                    \
		"output", 'o', "FILE.npy", "write the resulting array to this file",                         \
			SL_SETS(struct sl_ask_options, output)                                               \
	}
#define OPTION_CATEGORIES                                                                                    \
	{                                                                                                    \
		"categories", 0, "A,B,...", "all categories, in the same order at all learners",             \
			SL_SETS(struct sl_ask_options, question.categories)                                  \
	}
#define OPTION_BINS                                                                                          \
	{                                                                                                    \
		"bins", 0, "EDGE,EDGE,...",                                                                  \
			"edges of the bins, rising; a value on an edge is in the upper bin",                 \
			SL_SETS(struct sl_ask_options, question.bins)                                        \
	}

static const struct sl_option numbers[] = {OPTION_CSV, OPTION_NPY, OPTION_OUTPUT, {0}};
static const struct sl_option categories[] = {OPTION_CATEGORIES, OPTION_CSV, {0}};
static const struct sl_option bins[] = {OPTION_BINS, OPTION_CSV, {0}};

static const struct sl_option common[] = {
	{"column", 0, "NAME", "the column; without a file, the name of the question",
	 SL_SETS(struct sl_ask_options, question.column)},
	{"socket", 0, "PATH", "socket of the learner ($STARLING_SOCKET)",
	 SL_SETS(struct sl_ask_options, socket)},
	{"local", 0, NULL, "run a learner for each value or file, on this machine, to try it out",
	 SL_SETS(struct sl_ask_options, local)},
	{"json", 0, NULL, "print JSON", SL_SETS(struct sl_ask_options, json)},
	{"pick", 0, NULL, NULL, SL_SETS(struct sl_ask_options, pick)}, /* of a learner of --local */
	{0}};

static void check(struct argp_state *state, const void *options)
{
	const struct sl_ask_options *o = options;
	if (o->question.kind == SL_QUESTION_COUNT && o->question.categories == NULL)
		argp_failure(state, SL_EXIT_USAGE, 0, "name all categories: --categories yes,no,abstain");
	if (o->question.kind == SL_QUESTION_HISTOGRAM && o->question.bins == NULL)
		argp_failure(state, SL_EXIT_USAGE, 0, "name the edges of the bins: --bins 0,10,20,30");
	if (o->count == 0)
		argp_failure(state, SL_EXIT_USAGE, 0, "give a value or --csv FILE; see '%s --help'",
			     state->name);
	if (o->local && o->socket != NULL)
		argp_failure(state, SL_EXIT_USAGE, 0, "--local and --socket: leave one of them out");
}

#define DOC_END                                                                                              \
	"\n"                                                                                                 \
	"Each learner gives its own numbers to its own starlingd (trainer: application), and all get the "   \
	"same exact result. No learner sees the numbers of another one. The question must be the same "      \
	"everywhere: command, --column, categories, bins. Empty cells of a file are skipped.\n"              \
	"\n"                                                                                                 \
	"The result goes to standard output; the numbers of learners and rows, to standard error.\n"         \
	"\n"                                                                                                 \
	"Exit status: 0 the result is printed; 1 the round failed; 2 wrong usage or input. See "             \
	"starling-mean(1).\n"

static const struct sl_usage usages[] = {
	[SL_QUESTION_MEAN] = {.options = numbers,
			      .doc = "Compute the exact mean over the numbers of all learners.\v"
				     "Examples:\n"
				     "  starling mean --local 21.5 19.0 23.2\n"
				     "  starling mean 21.5\n"
				     "  starling mean --csv patients.csv --column age\n"
				     "  starling mean --npy gradient.npy --output mean.npy\n" DOC_END},
	[SL_QUESTION_SUM] = {.options = numbers,
			     .doc = "Compute the exact sum of the numbers of all learners.\v"
				    "Examples:\n"
				    "  starling sum --local 120 80.5 99.25\n"
				    "  starling sum --column kWh 12.75\n"
				    "  starling sum --csv meter.csv --column kWh\n" DOC_END},
	[SL_QUESTION_COUNT] = {.options = categories,
			       .doc = "Count how often all learners give each category.\v"
				      "Examples:\n"
				      "  starling count --categories yes,no,abstain --local yes no yes\n"
				      "  starling count yes --categories yes,no,abstain\n"
				      "  starling count --csv survey.csv --column answer --categories "
				      "yes,no\n" DOC_END},
	[SL_QUESTION_HISTOGRAM] = {.options = bins,
				   .doc = "Count how many values of all learners fall into each bin. Values "
					  "outside the bins are counted below and above them.\v"
					  "Examples:\n"
					  "  starling histogram --bins 0,10,20,30 --local 5 17 25 31\n"
					  "  starling histogram --bins 0,18,65 --csv patients.csv --column "
					  "age\n" DOC_END},
};

static bool is_negative_number(const char *text)
{
	return text[0] == '-' && (isdigit((unsigned char)text[1]) || text[1] == '.');
}

/* Return true if the argument is "--NAME" of an option in `rows` whose value is the next argument. */
static bool takes_value(const struct sl_option *rows, const char *argument)
{
	for (; rows->name != NULL; rows++)
		if (rows->value != NULL && strncmp(argument, "--", 2) == 0 &&
		    strcmp(argument + 2, rows->name) == 0)
			return true;
	return false;
}

/* Return the arguments with negative numbers at the end, behind "--": they are values and no options. */
static char **order(const struct sl_usage *usage, int *argc, char **argv)
{
	static char end[] = "--";
	char **ordered = sl_command_memory((size_t)*argc + 2, sizeof *ordered),
	     **numbers_at = sl_command_memory((size_t)*argc + 1, sizeof *numbers_at);
	int used = 0, negative = 0, i = 0;
	for (; i < *argc && strcmp(argv[i], end) != 0; i++)
		if (i > 0 && is_negative_number(argv[i]) && !takes_value(usage->options, argv[i - 1]) &&
		    !takes_value(usage->common, argv[i - 1]))
			numbers_at[negative++] = argv[i];
		else
			ordered[used++] = argv[i];
	if (negative > 0 || i < *argc)
		ordered[used++] = end;
	memcpy(ordered + used, numbers_at, (size_t)negative * sizeof *ordered);
	used += negative;
	while (++i < *argc)
		ordered[used++] = argv[i];
	free(numbers_at);
	*argc = used;
	return ordered;
}

/* Of --local: the input of one learner; the first one writes the result to the run folder. */
static bool pick(struct sl_ask_options *o, FILE **out, FILE **notes)
{
	const char *learner = getenv("STARLING_LEARNER"), *folder = getenv("STARLING_RUN_DIR");
	char path[PATH_MAX];
	uint64_t index;
	if (learner == NULL || folder == NULL || !sl_number_parse(learner, 1, o->count, &index))
		return false;
	o->inputs[0] = o->inputs[index - 1];
	o->count = 1;
	if (index > 1)
		o->output = NULL;
	snprintf(path, sizeof path, "%s/result", index == 1 ? folder : "/dev/null");
	*out = fopen(index == 1 ? path : "/dev/null", "we");
	snprintf(path, sizeof path, "%s/notes", folder);
	*notes = fopen(index == 1 ? path : "/dev/null", "we");
	return *out != NULL && *notes != NULL;
}

static int fail(const char *name, const struct sl_error *error, int status)
{
	fprintf(stderr, "%s: %s\n", name, error->text);
	return status;
}

static int ask(const struct sl_ask_options *o, const char *name, FILE *out, FILE *notes)
{
	struct sl_question q;
	struct sl_ask_answer answer = {0};
	struct sl_error error = {0};
	int rc = sl_question_open(&q, &o->question, &error), status = 0;
	for (size_t i = 0; rc == SL_OK && i < o->count; i++)
		rc = sl_question_add(&q, &o->inputs[i], &error);
	if (rc != SL_OK) {
		sl_question_close(&q);
		return fail(name, &error, SL_EXIT_USAGE);
	}
	if (q.skipped > 0 && !o->pick)
		fprintf(stderr, "%s: %" PRIu64 " empty cell%s skipped\n", name, q.skipped,
			q.skipped == 1 ? "" : "s");
	rc = sl_ask(o, &q, &answer, &error);
	if (rc == SL_OK)
		rc = sl_ask_print(o, &q, &answer, out, notes, &error);
	if (rc != SL_OK)
		status = fail(name, &error, rc == SL_ERR_RANGE ? SL_EXIT_USAGE : SL_EXIT_FAILED);
	sl_ask_close(&answer);
	sl_question_close(&q);
	return status;
}

static int run(enum sl_question_kind kind, int argc, char **argv)
{
	struct sl_ask_options o = {.question.kind = kind};
	struct sl_usage usage = usages[kind];
	FILE *out = stdout, *notes = stderr;
	int count = argc, status;
	usage.common = common;
	char **ordered = order(&usage, &count, argv);
	usage.check = check;
	usage.arguments = "VALUE...";
	usage.take = take_value;
	o.inputs = sl_command_memory((size_t)count, sizeof *o.inputs);
	sl_option_parse(&usage, count, ordered, &o);
	if (o.pick && !pick(&o, &out, &notes))
		status = SL_EXIT_USAGE;
	else if (o.local && !o.pick)
		status = sl_ask_local(&o, argc, argv);
	else
		status = ask(&o, argv[0], out, notes);
	if (out != stdout && out != NULL && fclose(out) != 0)
		status = SL_EXIT_FAILED;
	if (notes != stderr && notes != NULL && fclose(notes) != 0)
		status = SL_EXIT_FAILED;
	free(o.inputs);
	free(ordered);
	return status;
}

int sl_cmd_mean(int argc, char **argv)
{
	return run(SL_QUESTION_MEAN, argc, argv);
}

int sl_cmd_sum(int argc, char **argv)
{
	return run(SL_QUESTION_SUM, argc, argv);
}

int sl_cmd_count(int argc, char **argv)
{
	return run(SL_QUESTION_COUNT, argc, argv);
}

int sl_cmd_histogram(int argc, char **argv)
{
	return run(SL_QUESTION_HISTOGRAM, argc, argv);
}
