/* `starling topology import`. */
#include <stdlib.h>
#include <string.h>

#include "tools/topology/import.h"
#include "common/base/number.h"
#include "tools/lib/terminal.h"
#include "tools/starling/topology.h"
#include "tools/topology/json.h"

enum { KEY_FORMAT = 256, KEY_RANGE, KEY_EVERY, KEY_STEPS, KEY_BY };

struct options {
	struct sl_topology_options common;
	struct sl_import_request request;
	const char **files;
};

static double positive_or_usage(struct argp_state *state, const char *option, const char *text, double most)
{
	double value = 0;
	char *end = NULL;
	if (text[strspn(text, "0123456789.eE+-")] == '\0')
		value = strtod(text, &end);
	if (end == NULL || *end != '\0' || !(value > 0 && value <= most))
		argp_failure(state, SL_EXIT_USAGE, 0, "%s %s: must be above 0, at most %g", option, text,
			     most);
	return value;
}

static void take_by(struct options *o, const char *text, struct argp_state *state)
{
	uint64_t column;
	if (*text == '\0')
		argp_failure(state, SL_EXIT_USAGE, 0, "--by needs a key, or a column from 3 on");
	else if (text[strspn(text, "0123456789")] != '\0')
		o->request.by = text;
	else if (sl_number(text, 3, 1000, &column))
		o->request.by_column = (uint32_t)column;
	else
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--by %s: columns 1 and 2 are the nodes; from 3 to 1000", text);
}

static void take_format(struct options *o, const char *text, struct argp_state *state)
{
	o->request.format = sl_import_format_find(text);
	if (o->request.format == SL_IMPORT_FORMATS)
		argp_failure(state, SL_EXIT_USAGE, 0, "--format %s: must be edges, bonnmotion or ns2", text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	struct sl_import_request *q = &o->request;
	switch (key) {
	case KEY_FORMAT:
		take_format(o, arg, state);
		return 0;
	case KEY_RANGE:
		q->range_m = positive_or_usage(state, "--range", arg, SL_IMPORT_RANGE_MAX);
		return 0;
	case KEY_EVERY:
		q->every_s = positive_or_usage(state, "--every", arg, SL_IMPORT_EVERY_MAX);
		return 0;
	case KEY_STEPS:
		q->steps = (uint32_t)sl_number_or_usage(state, "--steps", arg, 1, SL_IMPORT_STEPS_MAX);
		return 0;
	case KEY_BY:
		take_by(o, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		o->files[q->count++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_failure(state, SL_EXIT_USAGE, 0, "which file? \"-\" is standard input");
		return 0;
	default:
		return sl_topology_option(key, arg, state);
	}
}

static const struct argp_option options[] = {
	{"format", KEY_FORMAT, "FORMAT", 0, "edges, bonnmotion or ns2 (what the file looks like)", 0},
	{"range", KEY_RANGE, "METRES", 0, "movements: how far a radio reaches", 0},
	{"every", KEY_EVERY, "SECONDS", 0, "movements: time between two steps (10)", 0},
	{"by", KEY_BY, "KEY", 0, "edges: the key, or the column from 3 on, that says an edge's step or time",
	 0},
	{"steps", KEY_STEPS, "S", 0, "no more than the first S steps", 0},
	{"output", 'o', "FILE", 0, "write the schedule there (standard output)", 0},
	{"json", SL_KEY_JSON, NULL, 0, "print the summary as JSON on standard output; needs -o", 0},
	{0}};
static const struct argp argp = {
	options,
	parse,
	"FILE...",
	"Make a schedule of what others recorded: NetworkX edge lists, movements of BonnMotion and ns-2.\v"
	"edges: two names a line, as NetworkX writes them; data behind them is skipped, # starts a comment, "
	"and a loop says that a node is there. Each file is a step, in the order given. With --by all edges "
	"say their step or time themselves, and the times that occur become the steps.\n"
	"\n"
	"bonnmotion, ns2: one file, .gz too. A step every few seconds from 0 to the end of the last "
	"movement; two nodes are in range if they are within METRES at that instant. Heights are not used.\n"
	"\n"
	"Nodes that are not called 1 to N become learners in numeric order, or alphabetically; comments in "
	"the schedule say who is who.\n"
	"\n"
	"Examples:\n"
	"  starling topology import monday.edges tuesday.edges >week.txt\n"
	"  starling topology import contacts.edges --by time -o contacts.txt\n"
	"  starling topology import city.movements.gz --range 150 >city.txt\n"
	"  starling launch --topology city.txt\n"
	"\n"
	"Exit status: 0 done; 1 failed; 2 bad input.\n",
	NULL,
	NULL,
	NULL};

/* ---- what was found ---- */

struct summary {
	uint32_t connected;
	double degree; /* mean over learners and steps */
};

static int summarise(const struct sl_schedule *schedule, struct summary *summary, struct sl_error *error)
{
	struct sl_step_parts parts;
	*summary = (struct summary){0};
	for (uint32_t s = 0; s < schedule->steps; s++) {
		int rc = sl_schedule_parts(schedule, s, &parts);
		if (rc != SL_OK)
			return sl_err_set(error, rc, "step %u: %s", s + 1, sl_err_text(rc));
		summary->connected += parts.parts == 1;
	}
	summary->degree =
		2.0 * (double)schedule->start[schedule->steps] / schedule->learners / schedule->steps;
	return SL_OK;
}

static void print_text(const struct sl_import *import, const struct summary *summary)
{
	char text[256];
	const struct sl_schedule *s = &import->schedule;
	snprintf(text, sizeof text,
		 "%u learners, %u step%s, %u of them connected; mean degree %.1f (read as %s)\n", s->learners,
		 s->steps, s->steps == 1 ? "" : "s", summary->connected, summary->degree,
		 sl_import_format_name(import->format));
	sl_terminal_fill(stderr, text, sl_terminal_width(stderr));
}

static int print_json(const struct sl_import *import, const struct summary *summary, struct sl_error *error)
{
	const struct sl_schedule *s = &import->schedule;
	json_t *names = json_array();
	for (uint32_t i = 0; i < import->names->count; i++) {
		json_t *name = json_string(import->names->name[i]);
		json_array_append_new(names, name != NULL ? name : json_string("(not UTF-8)"));
	}
	json_t *all =
		json_pack("{s:s, s:I, s:I, s:I, s:f, s:o}", "format", sl_import_format_name(import->format),
			  "learners", (json_int_t)s->learners, "steps", (json_int_t)s->steps, "connected",
			  (json_int_t)summary->connected, "degree", summary->degree, "nodes", names);
	return sl_json_print(all, stdout, error);
}

static int write_schedule(const char *path, const struct sl_import *import, struct sl_error *error)
{
	FILE *out = sl_topology_open(path, error);
	if (out == NULL)
		return error->code;
	fprintf(out, "# imported, %s\n", sl_import_format_name(import->format));
	if (!sl_import_names_same(import->names))
		for (uint32_t i = 0; i < import->names->count; i++)
			fprintf(out, "# learner %u: %s\n", i + 1, import->names->name[i]);
	return sl_topology_close(out, path, &import->schedule, error);
}

static int run(const struct options *o, struct sl_error *error)
{
	struct sl_import import;
	struct summary summary;
	int rc = sl_import(&o->request, &import, error);
	if (rc != SL_OK)
		return rc;
	rc = summarise(&import.schedule, &summary, error);
	if (rc == SL_OK)
		rc = write_schedule(o->common.output, &import, error);
	if (rc == SL_OK && o->common.json)
		rc = print_json(&import, &summary, error);
	else if (rc == SL_OK)
		print_text(&import, &summary);
	sl_import_close(&import);
	return rc;
}

int sl_topology_import(int argc, char **argv)
{
	struct options o = {.common.writes = true};
	struct sl_error error = {0};
	o.files = calloc((size_t)argc + 1, sizeof *o.files);
	if (o.files == NULL)
		return SL_EXIT_FAILED;
	o.request.files = o.files;
	sl_topology_parse_args(&argp, argc, argv, &o);
	int rc = run(&o, &error);
	free(o.files);
	return sl_topology_status(rc, &error);
}
