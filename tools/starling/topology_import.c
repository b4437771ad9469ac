/* `starling topology import`. */
#include <stdlib.h>
#include <string.h>

#include "tools/topology/import.h"
#include "tools/lib/terminal.h"
#include "tools/starling/topology.h"
#include "tools/topology/json.h"

struct options {
	struct sl_topology_options common;
	struct sl_import_request request;
	const char **files;
};

static void take_by(struct argp_state *state, const char *text, void *options)
{
	struct sl_import_request *q = &((struct options *)options)->request;
	uint64_t column;
	if (*text == '\0')
		argp_failure(state, SL_EXIT_USAGE, 0, "--by needs a key, or a column from 3 on");
	else if (text[strspn(text, "0123456789")] != '\0')
		q->by = text;
	else if (sl_number_parse(text, 3, 1000, &column))
		q->by_column = (uint32_t)column;
	else
		argp_failure(state, SL_EXIT_USAGE, 0,
			     "--by %s: columns 1 and 2 are the nodes; from 3 to 1000", text);
}

static void take_format(struct argp_state *state, const char *text, void *options)
{
	struct sl_import_request *q = &((struct options *)options)->request;
	q->format = sl_import_format_find(text);
	if (q->format == SL_IMPORT_FORMATS)
		argp_failure(state, SL_EXIT_USAGE, 0, "--format %s: must be edges, bonnmotion or ns2", text);
}

static void take_file(struct argp_state *state, const char *text, void *options)
{
	struct options *o = options;
	(void)state;
	o->files[o->request.count++] = text;
}

static const struct sl_option own[] = {
	{"format", 0, "FORMAT", "edges, bonnmotion or ns2 (detected)", .take = take_format},
	{"range", 0, "METRES", "movements: distance up to which two nodes are linked",
	 SL_SETS(struct options, request.range_m), .real_most = SL_IMPORT_RANGE_MAX},
	{"every", 0, "SECONDS", "movements: time between two steps (10)",
	 SL_SETS(struct options, request.every_s), .real_most = SL_IMPORT_EVERY_MAX},
	{"by", 0, "KEY", "edges: key, or column from 3 on, of the step or time of an edge", .take = take_by},
	{"steps", 0, "S", "import only the first S steps", SL_SETS(struct options, request.steps), 1,
	 SL_IMPORT_STEPS_MAX},
	{"output", 'o', "FILE", "write the schedule there (standard output)",
	 SL_SETS(struct options, common.output)},
	{"json", 0, NULL, "print the summary as JSON on standard output; needs -o",
	 SL_SETS(struct options, common.json)},
	{0}};

static const struct sl_usage usage = {
	.options = own,
	.arguments = "FILE...",
	.missing = "no file given; \"-\" is standard input",
	.take = take_file,
	.check = sl_topology_check_output,
	.doc = "Make a schedule from recorded data: NetworkX edge lists, movements of BonnMotion and ns-2.\v"
	       "edges: two names in each line, as NetworkX writes them; data after them is skipped, # starts "
	       "a "
	       "comment, and a loop "
	       "adds a node without a link. Each file is a step, in the order given. With --by, each edge "
	       "has its "
	       "own step or time, "
	       "and the times that occur become the steps.\n"
	       "\n"
	       "bonnmotion, ns2: one file, also .gz. Steps are taken at regular times from 0 to the end of "
	       "the last "
	       "movement; two nodes "
	       "are in range if they are within METRES of each other at that time. Heights are not used.\n"
	       "\n"
	       "Nodes whose names are not 1 to N become learners in numeric or alphabetical order; comments "
	       "in the "
	       "schedule give their "
	       "names.\n"
	       "\n"
	       "Examples:\n"
	       "  starling topology import monday.edges tuesday.edges >week.txt\n"
	       "  starling topology import contacts.edges --by time -o contacts.txt\n"
	       "  starling topology import city.movements.gz --range 150 >city.txt\n"
	       "  starling launch --topology city.txt\n"
	       "\n"
	       "Exit status: 0 done; 1 failed; 2 bad input.\n"};

/* ---- summary ---- */

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
	struct options o = {.files = NULL};
	struct sl_error error = {0};
	o.files = calloc((size_t)argc + 1, sizeof *o.files);
	if (o.files == NULL)
		return SL_EXIT_FAILED;
	o.request.files = o.files;
	sl_topology_parse_args(&usage, argc, argv, &o);
	int rc = run(&o, &error);
	free(o.files);
	return sl_topology_status(rc, &error);
}
