/* starling-paper: its command line and exit status. */
#include <string.h>
#include <unistd.h>

#include "tools/lib/option.h"
#include "tools/paper/paper.h"

const char *argp_program_version = "starling-paper " SL_VERSION;

#define FOLDER_USUAL "reproduced"

static void take_parts(struct argp_state *state, const char *text, void *options)
{
	struct sl_paper_options *o = options;
	o->parts = 0;
	for (const char *at = text;; at += 2) {
		if (*at < 'a' || *at > SL_PART_LAST || (at[1] != ',' && at[1] != '\0'))
			argp_failure(state, SL_EXIT_USAGE, 0,
				     "--only %s: letters from a to %c and commas, as in d,e", text,
				     SL_PART_LAST);
		o->parts |= 1u << (*at - 'a');
		if (at[1] == '\0')
			return;
	}
}

static const struct sl_option own[] = {
	{"output", 'o', "FOLDER", "folder of the report (" FOLDER_USUAL ")",
	 SL_SETS(struct sl_paper_options, folder)},
	{"data", 0, "DIR", "folder of IDX images such as MNIST (default: digits drawn by the program)",
	 SL_SETS(struct sl_paper_options, data)},
	{"only", 0, "PARTS", "only these parts, as in d,e", .take = take_parts},
	{"quick", 0, NULL, "smaller, and not everything: seconds instead of minutes",
	 SL_SETS(struct sl_paper_options, quick)},
	{"octave", 0, "FILE", "the paper's simulation, paper_octave.m, run by octave-cli to compare times",
	 SL_SETS(struct sl_paper_options, octave)},
	{"json", 0, NULL, "print the claims as JSON", SL_SETS(struct sl_paper_options, json)},
	{0}};

/* List the parts in the help, before the examples. */
static char *filter(int key, const char *text, void *input)
{
	(void)input;
	char *whole = NULL;
	size_t bytes = 0;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	FILE *out = open_memstream(&whole, &bytes);
	if (out == NULL)
		return (char *)text;
	fputs("Parts:\n", out);
	for (char part = 'a'; part <= SL_PART_LAST; part++)
		fprintf(out, "  %c  %s\n", part, sl_paper_part_title(part));
	fprintf(out, "\n%s", text);
	fclose(out);
	return whole;
}

static const struct sl_usage usage = {
	.options = own,
	.filter = filter,
	.doc = "Measure the figures and tables of the paper's evaluation with this code. Write a "
	       "report (report.md), the numbers as CSV, "
	       "and figures (SVG) if gnuplot is installed.\v"
	       "At the end the claims are printed: the paper's number, the number measured here, "
	       "and the verdict.\n"
	       "\n"
	       "Examples:\n"
	       "  starling-paper --data DIR\n"
	       "      all parts, in some minutes; then read reproduced/report.md\n"
	       "  starling-paper --quick --only d -o table\n"
	       "\n"
	       "Exit status: 0 the report is written, whichever claims hold; 1 failed, or this "
	       "code does not do what it promises; 2 bad "
	       "usage, or missing or damaged input; 130 interrupted, no report.\n"};

/* Return true if `rc` says that input is missing or damaged. */
static bool is_bad_input(int rc)
{
	return rc == SL_ERR_NOTFOUND || rc == SL_ERR_FORMAT || rc == SL_ERR_RANGE;
}

int main(int argc, char **argv)
{
	static struct sl_paper r;
	r = (struct sl_paper){.options = {.folder = FOLDER_USUAL, .data = "digits", .parts = UINT32_MAX},
			      .stopped = sl_bench_stopped};
	struct sl_error error = {0};
	sl_command_open(argc, argv);
	sl_command_set_name(argv, "starling-paper");
	sl_option_parse(&usage, argc, argv, &r.options);
	r.live = isatty(STDERR_FILENO);
	sl_bench_watch_signals();
	int rc = sl_paper_report(&r, &error);
	if (rc == SL_PENDING) {
		fputs("starling-paper: interrupted; there is no report\n", stderr);
		return SL_EXIT_INTERRUPTED;
	}
	if (rc != SL_OK) {
		fprintf(stderr, "starling-paper: %s\n", error.text);
		return is_bad_input(rc) ? SL_EXIT_USAGE : SL_EXIT_FAILED;
	}
	sl_paper_show(&r, stdout);
	return r.broken_count > 0 ? SL_EXIT_FAILED : 0;
}
