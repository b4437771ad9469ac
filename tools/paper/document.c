#include "tools/paper/document.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/paper/octave.h"

#define SCRIPT "figures.gp"
#define PACKAGE "gnuplot-nox"
#define PANEL_WIDTH 480u
#define PANEL_HEIGHT 340u

/* rows(file, begin): the rows of a CSV file whose first columns are `begin`. */
static const char preamble[] = "# Draws the figures from the CSV files in this folder: gnuplot " SCRIPT "\n"
			       "set encoding utf8\n"
			       "set datafile separator ','\n"
			       "set grid\nset format '%g'\n"
			       "rows(file, begin) = sprintf(\"< grep '^%s,' %s\", begin, file)\n";

int sl_document_open(struct sl_paper *r, struct sl_error *error)
{
	r->page.out = open_memstream(&r->page.text, &r->page.bytes);
	r->plots.out = open_memstream(&r->plots.text, &r->plots.bytes);
	return r->page.out != NULL && r->plots.out != NULL
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_NOMEM, "%s", sl_err_text(SL_ERR_NOMEM));
}

void sl_document_close(struct sl_paper *r)
{
	struct sl_document *parts[] = {&r->page, &r->plots};
	for (int i = 0; i < 2; i++) {
		if (parts[i]->out != NULL)
			fclose(parts[i]->out);
		free(parts[i]->text);
		*parts[i] = (struct sl_document){.out = NULL};
	}
}

/* ---- text ---- */

static void __attribute__((format(printf, 2, 0))) write_text(FILE *out, const char *format, va_list arguments)
{
	vfprintf(out, format, arguments);
	fputs("\n\n", out);
}

void sl_document_heading(struct sl_paper *r, const char *text)
{
	fprintf(r->page.out, "## %s\n\n", text);
}

void sl_document_text(struct sl_paper *r, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	write_text(r->page.out, format, arguments);
	va_end(arguments);
}

void sl_document_data(struct sl_paper *r, const char *csv)
{
	sl_document_text(r, "Numbers: [%s](%s)", csv, csv);
}

/* ---- figures ---- */

/* Write a string constant of gnuplot. */
static void write_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text != '\0'; text++)
		fprintf(out, *text == '\'' ? "''" : "%c", *text);
	fputc('\'', out);
}

void sl_document_figure(struct sl_paper *r, const char *name, uint32_t rows, uint32_t columns)
{
	r->figure = name;
	fprintf(r->plots.out,
		"\nset terminal svg size %u,%u font 'sans,11' background 'white' noenhanced\n"
		"set output '%s.svg'\n"
		"set multiplot layout %u,%u\n",
		columns * PANEL_WIDTH, rows * PANEL_HEIGHT, name, rows, columns);
}

void sl_document_panel(struct sl_paper *r, const char *title, const char *x, const char *y,
		       const char *logarithmic)
{
	FILE *out = r->plots.out;
	fputs("unset arrow; unset label; unset logscale; set autoscale", out);
	if (*logarithmic != '\0')
		fprintf(out, "; set logscale %s", logarithmic);
	fputs("\nset title ", out);
	write_quoted(out, title);
	fputs("; set xlabel ", out);
	write_quoted(out, x);
	fputs("; set ylabel ", out);
	write_quoted(out, y);
	fputc('\n', out);
}

void sl_document_mark(struct sl_paper *r, char axis, double at, const char *label, ...)
{
	char text[96];
	va_list arguments;
	va_start(arguments, label);
	vsnprintf(text, sizeof text, label, arguments);
	va_end(arguments);
	fprintf(r->plots.out,
		axis == 'x' ? "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dashtype 3; "
			    : "set arrow from graph 0, first %.9g to graph 1, first %.9g nohead dashtype 3; ",
		at, at);
	fputs("set label ", r->plots.out);
	write_quoted(r->plots.out, text);
	fprintf(r->plots.out,
		axis == 'x' ? " at %.9g, graph 0.04 rotate left offset 0.7,0\n"
			    : " at graph 0.02, first %.9g offset 0,0.5\n",
		at);
}

void sl_document_caption(struct sl_paper *r, const char *format, ...)
{
	va_list arguments;
	fprintf(r->plots.out, "unset multiplot\n");
	fprintf(r->page.out, "![%s](%s.svg)\n\nNumbers: [%s.csv](%s.csv). ", r->figure, r->figure, r->figure,
		r->figure);
	va_start(arguments, format);
	write_text(r->page.out, format, arguments);
	va_end(arguments);
}

/* ---- the files ---- */

int sl_document_write(struct sl_paper *r, const char *top, struct sl_error *error)
{
	FILE *page = sl_paper_folder_file(&r->folder, "report.md", error);
	fflush(r->page.out);
	fflush(r->plots.out);
	if (page == NULL)
		return error->code;
	fprintf(page, "%s%s", top, r->page.text);
	if (r->plots.bytes == 0)
		return SL_OK;
	FILE *script = sl_paper_folder_file(&r->folder, SCRIPT, error);
	if (script == NULL)
		return error->code;
	fprintf(script, "%s%s", preamble, r->plots.text);
	return SL_OK;
}

void sl_document_draw(struct sl_paper *r)
{
	char folder[PATH_MAX], *output;
	const char *const argv[] = {"env", "-C", folder, "gnuplot", SCRIPT, NULL};
	struct sl_error error = {0};
	if (r->plots.bytes == 0 || realpath(r->options.folder, folder) == NULL ||
	    sl_write_at(r, "gnuplot", 1) != SL_OK)
		return;
	if (!sl_octave_installed("gnuplot"))
		sl_err_set(&error, SL_ERR_NOTFOUND, "gnuplot is not installed (package " PACKAGE ")");
	else if (sl_bench_child(r->bench, argv, NULL, &output, &error) == SL_OK)
		free(output);
	if (error.code != SL_OK)
		fprintf(stderr,
			"starling-paper: the figures are not drawn: %s; to draw them: cd %s && "
			"gnuplot " SCRIPT "\n",
			error.text, r->options.folder);
}
