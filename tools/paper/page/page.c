#include "tools/paper/page/page.h"

#include <stdarg.h>
#include <stdlib.h>

#include "tools/paper/page/text.h"

#define TEXT_BYTES 4096

/* Colours that those who confuse red and green still tell apart (after Okabe and Ito), darker on white than
 * on black.
 */
static const char style[] =
	":root{color-scheme:light "
	"dark;--back:#fff;--ink:#1b1b1b;--soft:#595959;--grid:#e2e2e2;--line:#9a9a9a;"
	"--c0:#0067a8;--c1:#bf4a00;--c2:#007a58;--c3:#a03c83;--c4:#8a6500;--c5:#4d4d4d;--good:#00664a;--bad:#"
	"a83200}\n"
	"@media "
	"(prefers-color-scheme:dark){:root{--back:#16181a;--ink:#e9e9e9;--soft:#ababab;--grid:#303336;--line:"
	"#757575;"
	"--c0:#5cb6ec;--c1:#f08a4b;--c2:#35bf95;--c3:#dd8cc4;--c4:#d9b036;--c5:#b5b5b5;--good:#4fd0a6;--bad:#"
	"ff9d6e}}\n"
	"@media print{:root{color-scheme:light;--back:#fff;--ink:#000;--soft:#444;--grid:#ddd;--line:#888;"
	"--c0:#0067a8;--c1:#bf4a00;--c2:#007a58;--c3:#a03c83;--c4:#8a6500;--c5:#4d4d4d;--good:#00664a;--bad:#"
	"a83200}"
	"figure,table,tr{break-inside:avoid}h2{break-after:avoid}body{font-size:10pt}}\n"
	"body{background:var(--back);color:var(--ink);font:16px/1.5 "
	"system-ui,sans-serif;max-width:72rem;margin:0 auto;"
	"padding:1rem}\n"
	"p{max-width:46rem}h1{line-height:1.2}h2{margin:2.5rem 0 .5rem}a{color:var(--c0)}\n"
	"figure{margin:1rem 0}figcaption{color:var(--soft);font-size:.9rem;max-width:46rem}\n"
	".panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:.5rem "
	"1rem}\n"
	"svg{width:100%;height:auto;max-width:32rem;font-size:11px}.broad{grid-column:1/-1;max-width:60rem}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}\n"
	"th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid "
	"var(--grid)}\n"
	"td:first-child{white-space:nowrap}\n"
	"th{color:var(--soft);font-weight:600}.number{text-align:right;font-variant-numeric:tabular-nums;"
	"white-space:nowrap}\n"
	".good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}\n"
	"text{fill:var(--ink)}.title{font-size:12px;font-weight:600}.tick,.what,.note{fill:var(--soft)}.note{"
	"font-size:10px}\n"
	".grid,.axis,.mark{fill:none;stroke:var(--grid);stroke-width:1}.axis{stroke:var(--line)}\n"
	".mark{stroke:var(--soft);stroke-dasharray:2 3}\n"
	".pen{fill:none;stroke-width:17;stroke-linejoin:round}.pen0{stroke:var(--c0)}\n"
	".pen1{stroke:var(--c1);stroke-dasharray:70 25}.pen2{stroke:var(--c2);stroke-dasharray:25 25}\n"
	".pen3{stroke:var(--c3);stroke-dasharray:100 25 20 25}.pen4{stroke:var(--c4);stroke-dasharray:130 "
	"40}\n"
	".pen5{stroke:var(--c5);stroke-dasharray:12 "
	"30}.pen6{stroke:var(--c0);stroke-width:6;stroke-opacity:.3}\n"
	".pen7{stroke:var(--ink);stroke-width:14;stroke-dasharray:50 40}\n"
	".dot0{fill:var(--c0)}.dot1{fill:var(--c1)}.dot2{fill:var(--c2)}.dot3{fill:var(--c3)}.dot4{fill:var(-"
	"-c4)}"
	".dot5{fill:var(--c5)}\n"
	".ink0,.ink6{fill:var(--c0)}.ink1{fill:var(--c1)}.ink2{fill:var(--c2)}.ink3{fill:var(--c3)}.ink4{"
	"fill:var(--c4)}"
	".ink5{fill:var(--c5)}\n";

static void write_formatted(FILE *out, const char *format, va_list arguments)
{
	char text[TEXT_BYTES];
	vsnprintf(text, sizeof text, format, arguments);
	sl_page_text_markup(out, text);
}

void sl_page_open(FILE *out, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>",
	      out);
	sl_page_text_markup(out, title);
	fprintf(out, "</title><style>\n%s</style></head><body>\n<h1>", style);
	sl_page_text_markup(out, title);
	fputs("</h1>\n", out);
}

void sl_page_close(FILE *out)
{
	fputs("</body></html>\n", out);
}

void sl_page_heading(FILE *out, const char *id, const char *text)
{
	fprintf(out, "<h2 id=\"%s\">", id);
	sl_page_text_markup(out, text);
	fputs("</h2>\n", out);
}

void sl_page_text(FILE *out, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("<p>", out);
	write_formatted(out, format, arguments);
	fputs("</p>\n", out);
	va_end(arguments);
}

void sl_page_figure_open(FILE *out)
{
	fputs("<figure><div class=\"panels\">\n", out);
}

static void write_link(FILE *out, const char *csv)
{
	if (csv != NULL)
		fprintf(out, " <a href=\"%s\">%s</a>", csv, csv);
}

void sl_page_figure_close(FILE *out, const char *csv, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("</div><figcaption>", out);
	write_formatted(out, format, arguments);
	write_link(out, csv);
	fputs("</figcaption></figure>\n", out);
	va_end(arguments);
}

void sl_page_table_open(FILE *out, const char *const *heads, uint32_t columns)
{
	fputs("<div class=\"wide\"><table><thead><tr>", out);
	for (uint32_t c = 0; c < columns; c++) {
		fputs("<th>", out);
		sl_page_text_markup(out, heads[c]);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>", out);
}

void sl_page_row(FILE *out)
{
	fputs("\n<tr>", out); /* HTML ends a row where the next begins */
}

void sl_page_cell(FILE *out, enum sl_cell kind, const char *format, ...)
{
	static const char *const classes[] = {"", " class=\"number\"", " class=\"good\"", " class=\"bad\""};
	va_list arguments;
	va_start(arguments, format);
	fprintf(out, "<td%s>", classes[kind]);
	write_formatted(out, format, arguments);
	fputs("</td>", out);
	va_end(arguments);
}

void sl_page_table_close(FILE *out, const char *csv)
{
	fputs("</tbody></table></div>\n", out);
	if (csv == NULL)
		return;
	fputs("<p>", out);
	write_link(out, csv);
	fputs("</p>\n", out);
}
