/* A case as it ends: a few lines of text, or a JSON object. */
#include <stdio.h>
#include <string.h>

#include "tools/dev/bench/bench.h"
#include "tools/lib/terminal.h"

#define NAME_WIDTH 37u

/* A name that is too long gets a line of its own. */
static void show_row(const char *name, const char *least, const char *median, const char *most,
		     const char *unit)
{
	if (strlen(name) > NAME_WIDTH) {
		printf("  %s\n", name);
		name = "";
	}
	printf("  %-*s %9s %9s %9s%s%s\n", (int)NAME_WIDTH, name, least, median, most,
	       *unit == '\0' ? "" : " ", unit);
}

static void show_line(const char *lead, const char *text)
{
	char line[SL_ERROR_BYTES + 32];
	snprintf(line, sizeof line, "%s%s\n", lead, text);
	sl_terminal_fill(stdout, line, sl_terminal_width(stdout));
}

void sl_bench_show_machine(const struct sl_bench *bench)
{
	const struct sl_machine *m = &bench->machine;
	if (bench->options.json)
		return;
	char line[SL_ERROR_BYTES];
	snprintf(line, sizeof line, "%ld processor%s, %s; load %.1f; medians of %u", m->processors,
		 m->processors == 1 ? "" : "s", m->model, m->load, bench->options.repeat);
	show_line("", line);
	show_row("", "min", "median", "max", "");
	fflush(stdout);
}

/* Four digits that matter. */
static void number(double value, char text[static 16])
{
	int digits = value >= 1000 || value == 0 ? 0
		     : value >= 100		 ? 1
		     : value >= 10		 ? 2
		     : value >= 0.1		 ? 3
						 : 5;
	snprintf(text, 16, "%.*f", digits, value);
}

static void show_figure(const struct sl_figure *figure)
{
	struct sl_spread s = sl_figure_spread(figure);
	char least[16] = "", median[16], most[16] = "";
	if (figure->count == 0)
		return;
	number(s.median, median);
	if (figure->count > 1) {
		number(s.least, least);
		number(s.most, most);
	}
	show_row(figure->name, least, median, most, figure->unit);
}

void sl_bench_show_case(const struct sl_bench *bench, const struct sl_bench_case *c,
			const struct sl_error *error)
{
	const struct sl_bench_result *r = &bench->result;
	if (bench->options.json)
		return;
	char line[SL_ERROR_BYTES];
	snprintf(line, sizeof line, "%s: %s", c->name, c->text);
	show_line("", line);
	for (uint32_t i = 0; i < r->figure_count; i++)
		show_figure(&r->figures[i]);
	for (uint32_t i = 0; i < r->note_count; i++)
		show_line("  note: ", r->notes[i]);
	if (error->text[0] != '\0')
		show_line("  FAILED: ", error->text);
	fflush(stdout);
}

json_t *sl_bench_case_json(const struct sl_bench *bench, const struct sl_bench_case *c,
			   const struct sl_error *error)
{
	const struct sl_bench_result *r = &bench->result;
	json_t *figures = json_array(), *notes = json_array();
	for (uint32_t i = 0; i < r->figure_count; i++)
		if (r->figures[i].count > 0)
			json_array_append_new(figures, sl_figure_json(&r->figures[i]));
	for (uint32_t i = 0; i < r->note_count; i++)
		json_array_append_new(notes, json_string(r->notes[i]));
	return json_pack("{s:s, s:s, s:f, s:f, s:o, s:o, s:s?}", "case", c->name, "text", c->text, "seconds",
			 r->seconds, "others", r->others, "figures", figures, "notes", notes, "error",
			 error->text[0] != '\0' ? error->text : NULL);
}
