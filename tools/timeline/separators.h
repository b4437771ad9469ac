/* separators.h - the participants and links of a view whose loss alone would separate others. */
#pragma once

#include "common/graph/graph.h"
#include "tools/timeline/rounds.h"

struct sl_separators {
	uint32_t *vertices;    /* positions of cut vertices, ascending */
	struct sl_edge *edges; /* all known edges, positions, a < b, sorted; bridges too */
	struct sl_edge *bridges;
	uint32_t vertex_count, edge_count, bridge_count;
};

void sl_separators_init(struct sl_separators *separators, const struct sl_attempt_row *row);
void sl_separators_close(struct sl_separators *separators);
