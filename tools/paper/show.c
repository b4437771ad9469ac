/* Print the table of claims. */
#include <jansson.h>
#include <string.h>

#include "tools/paper/grid.h"
#include "tools/paper/reproduce.h"
#include "tools/lib/terminal.h"

#define COLUMNS 4u
#define WIDTH_PIPED 110u

static void show_claims(const struct sl_paper *r, FILE *out)
{
	static const char *const heads[COLUMNS] = {"claim", "paper", "here", "verdict"};
	static const uint32_t shares[COLUMNS] = {6, 4, 7, 0}, least[COLUMNS] = {0, 0, 0, 13};
	size_t width = sl_terminal_width(out);
	struct sl_grid grid;
	sl_paper_grid_open(&grid, out, COLUMNS, shares, least,
			   (uint32_t)(width == 0 ? WIDTH_PIPED : width) - 1);
	sl_paper_grid_row(&grid, heads);
	sl_paper_grid_rule(&grid);
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct sl_claim *c = &r->claims[i];
		const char *cells[COLUMNS] = {c->claim, c->paper, c->here, sl_paper_verdict_text(c->verdict)};
		sl_paper_grid_row(&grid, cells);
	}
}

static void show_text(const struct sl_paper *r, FILE *out)
{
	show_claims(r, out);
	for (uint32_t i = 0; i < r->broken_count && i < SL_BROKEN_MOST; i++)
		fprintf(out, "BROKEN: %s\n", r->broken[i]);
	fprintf(out, "\n%s/report.md\n", r->options.folder);
}

static json_t *claims_json(const struct sl_paper *r)
{
	json_t *claims = json_array();
	for (uint32_t i = 0; i < r->claim_count; i++) {
		const struct sl_claim *c = &r->claims[i];
		char part[2] = {c->part, '\0'};
		json_array_append_new(claims, json_pack("{ss ss ss ss ss}", "part", part, "claim", c->claim,
							"paper", c->paper, "here", c->here, "verdict",
							sl_paper_verdict_text(c->verdict)));
	}
	return claims;
}

static void show_json(const struct sl_paper *r, FILE *out)
{
	json_t *broken = json_array();
	for (uint32_t i = 0; i < r->broken_count && i < SL_BROKEN_MOST; i++)
		json_array_append_new(broken, json_string(r->broken[i]));
	json_t *all = json_pack("{so so ss}", "claims", claims_json(r), "broken", broken, "folder",
				r->options.folder);
	json_dumpf(all, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(all);
}

void sl_paper_show(const struct sl_paper *r, FILE *out)
{
	(r->options.json ? show_json : show_text)(r, out);
}
