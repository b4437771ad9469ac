/* simtest_show.h - what a range of simulated seeds comes to, for a person or as JSON. Pure: totals in, text
 * out. */
#pragma once

#include <jansson.h>

#include "tools/sim/range.h"

#define SL_CELL_ENOUGH 100u /* times that a fault met a phase */

/* The table of faults and phases, in as many pieces as the width (0: any) asks for, and the points of
 * crashes. */
void sl_simtest_show(const struct sl_sim_totals *totals, FILE *out, size_t width);
/* Cells of the table that were hit SL_CELL_ENOUGH times or more, and all that can be. */
void sl_simtest_cells(const struct sl_sim_totals *totals, uint32_t *enough, uint32_t *all);

json_t *sl_simtest_json(const struct sl_sim_totals *totals);
