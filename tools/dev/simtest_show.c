#include "tools/dev/simtest_show.h"

#include <string.h>

#include "tools/lib/terminal.h"

#define NAME_WIDTH 14u
#define CELL_WIDTH 9u
#define GAP 3u
#define SEEDS_TELLING 10000u /* a shorter run hits few cells often, and means nothing by it */

void sl_simtest_cells(const struct sl_sim_totals *totals, uint32_t *enough, uint32_t *all)
{
	*enough = 0;
	*all = SL_SIM_FAULT_COUNT * SL_PHASE_COUNT;
	for (uint32_t k = 0; k < SL_SIM_FAULT_COUNT; k++)
		for (uint32_t p = 0; p < SL_PHASE_COUNT; p++)
			*enough += totals->hit[k][p] >= SL_CELL_ENOUGH;
}

/* The phases from `first` on, as many as fit; the next one. */
static uint32_t show_piece(const struct sl_sim_totals *totals, FILE *out, size_t width, uint32_t first)
{
	uint32_t fit = width < NAME_WIDTH + 2 * CELL_WIDTH
			       ? SL_PHASE_COUNT
			       : (uint32_t)((width - 1 - NAME_WIDTH) / CELL_WIDTH);
	uint32_t end = width == 0 || first + fit > SL_PHASE_COUNT ? SL_PHASE_COUNT : first + fit;
	fprintf(out, "\n%-*s", (int)NAME_WIDTH, "fault in phase");
	for (uint32_t p = first; p < end; p++)
		fprintf(out, "%*s", (int)CELL_WIDTH, sl_phase_name((enum sl_phase)p));
	fputc('\n', out);
	for (uint32_t k = 0; k < SL_SIM_FAULT_COUNT; k++) {
		fprintf(out, "%-*s", (int)NAME_WIDTH, sl_sim_fault_name((enum sl_sim_fault)k));
		for (uint32_t p = first; p < end; p++)
			fprintf(out, "%*llu", (int)CELL_WIDTH, (unsigned long long)totals->hit[k][p]);
		fputc('\n', out);
	}
	return end;
}

static void show_point(const struct sl_sim_totals *totals, FILE *out, uint32_t k, int width)
{
	fprintf(out, "%-*s%*llu", width, sl_sim_point_name(k), (int)CELL_WIDTH,
		(unsigned long long)totals->point[k]);
}

/* Down one column, then the next, as many as fit. */
static void show_points(const struct sl_sim_totals *totals, FILE *out, size_t width)
{
	size_t name = 0, most = width == 0 ? SL_WIDTH_USUAL : width;
	for (uint32_t k = 0; k < sl_sim_point_count; k++)
		name = strlen(sl_sim_point_name(k)) > name ? strlen(sl_sim_point_name(k)) : name;
	uint32_t columns = (uint32_t)((most + GAP - 1) / (name + CELL_WIDTH + GAP));
	columns = columns == 0 ? 1 : columns;
	uint32_t rows = (sl_sim_point_count + columns - 1) / columns;
	fputs("\ncrashes at a point\n", out);
	for (uint32_t row = 0; row < rows; row++) {
		for (uint32_t k = row; k < sl_sim_point_count; k += rows) {
			fprintf(out, "%*s", k == row ? 0 : (int)GAP, "");
			show_point(totals, out, k, (int)name);
		}
		fputc('\n', out);
	}
}

void sl_simtest_show(const struct sl_sim_totals *totals, FILE *out, size_t width)
{
	uint32_t enough, all, next = 0;
	while (next < SL_PHASE_COUNT)
		next = show_piece(totals, out, width, next);
	show_points(totals, out, width);
	sl_simtest_cells(totals, &enough, &all);
	fputc('\n', out);
	if (totals->seeds >= SEEDS_TELLING)
		fprintf(out, "%u of %u cells hit %u times or more.\n", enough, all, SL_CELL_ENOUGH);
}

static json_t *table(const struct sl_sim_totals *totals)
{
	json_t *faults = json_object();
	for (uint32_t k = 0; k < SL_SIM_FAULT_COUNT; k++) {
		json_t *row = json_object();
		for (uint32_t p = 0; p < SL_PHASE_COUNT; p++)
			json_object_set_new(row, sl_phase_name((enum sl_phase)p),
					    json_integer((json_int_t)totals->hit[k][p]));
		json_object_set_new(faults, sl_sim_fault_name((enum sl_sim_fault)k), row);
	}
	return faults;
}

json_t *sl_simtest_json(const struct sl_sim_totals *t)
{
	uint32_t enough, all;
	json_t *points = json_object();
	sl_simtest_cells(t, &enough, &all);
	for (uint32_t k = 0; k < sl_sim_point_count; k++)
		json_object_set_new(points, sl_sim_point_name(k), json_integer((json_int_t)t->point[k]));
	return json_pack("{sI sI sI sf sI sI sI sI sI sI sf si si so so}", "seeds", (json_int_t)t->seeds,
			 "failed", (json_int_t)t->failed, "steps", (json_int_t)t->steps, "virtual_s",
			 (double)t->virtual_ms / 1000, "faults", (json_int_t)t->faults, "commits",
			 (json_int_t)t->commits, "caught_up", (json_int_t)t->caught_up, "model_invalidated",
			 (json_int_t)t->model_invalidated, "recovered", (json_int_t)t->recovered, "restarts",
			 (json_int_t)t->restarts, "processor_s", t->seconds, "cells_hit", (int)enough,
			 "cells", (int)all, "fault_by_phase", table(t), "crash_points", points);
}
