#include "tools/estimate/show.h"

#include "tools/lib/table.h"
#include "tools/lib/terminal.h"

static const struct sl_column table[] = {
	{"engine", 12, true},	{"sharing", 10, true}, {"exchanges", 11, false}, {"MB each", 10, false},
	{"MB most", 10, false}, {"MB all", 11, false}, {"MB memory", 11, false},
};
#define COLUMNS (sizeof table / sizeof *table)

static const char *const certainty[] = {[SL_EXACTLY] = "", [SL_AT_MOST] = "<=", [SL_ABOUT] = "~"};

/* Write about four digits. */
static void amount(double value, char cell[static SL_CELL_BYTES])
{
	int digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 4;
	snprintf(cell, SL_CELL_BYTES, value >= 1e8 ? "%.*e" : "%.*f", value >= 1e8 ? 1 : digits, value);
}

static enum sl_certainty certainty_of(const struct sl_estimate_figures *g, enum sl_engine engine)
{
	return engine == SL_ENGINE_METROPOLIS ? g->mu_is
	       : engine == SL_ENGINE_EXACT    ? g->degree_r_is
					      : g->depth_is;
}

static void show_cost(const struct sl_estimate_input *input, const struct sl_estimated *planned,
		      enum sl_engine engine, uint32_t sharing, FILE *out)
{
	char cells[COLUMNS][SL_CELL_BYTES], line[SL_TABLE_LINE_BYTES];
	const struct sl_estimate_cost *cost = &planned->costs[engine][sharing];
	const double bytes[] = {cost->bytes_mean, cost->bytes_most, cost->bytes_all, cost->memory};
	snprintf(cells[0], SL_CELL_BYTES, "%s", sl_engine_name(engine));
	snprintf(cells[1], SL_CELL_BYTES, "%s", sl_share_kind_name(sharing));
	snprintf(cells[2], SL_CELL_BYTES, "%s%llu", certainty[certainty_of(&input->graph, engine)],
		 (unsigned long long)cost->exchanges);
	for (size_t i = 0; i < 4; i++)
		amount(bytes[i] / 1e6, cells[3 + i]);
	sl_table_line(table, COLUMNS, cells, line);
	fprintf(out, "%s\n", line);
}

/* Write mu; close to 1, as 1 less a difference. */
static void show_mu(double mu, char text[static SL_CELL_BYTES])
{
	if (mu > 0.999999)
		snprintf(text, SL_CELL_BYTES, "1-%.2g", 1 - mu);
	else
		snprintf(text, SL_CELL_BYTES, "%.6f", mu);
}

static void show_graph(const struct sl_estimate_input *input, const struct sl_estimated *planned, FILE *out)
{
	const struct sl_estimate_figures *g = &input->graph;
	char learners[SL_THOUSANDS_BYTES], edges[SL_THOUSANDS_BYTES], floats[SL_THOUSANDS_BYTES];
	char mu[SL_CELL_BYTES], records[SL_CELL_BYTES];
	sl_terminal_thousands(g->learners, learners);
	sl_terminal_thousands((uint64_t)g->edges, edges);
	sl_terminal_thousands(input->floats, floats);
	sl_terminal_print(out, "%s learners, %s edges, %.3g neighbours, %.3g at most\n", learners, edges,
			  g->degree_mean, g->degree_most);
	show_mu(g->mu, mu);
	sl_terminal_print(out, "mu %s%s, deg r %s%llu, depth of the trees %s%llu\n", certainty[g->mu_is], mu,
			  certainty[g->degree_r_is], (unsigned long long)g->degree_r, certainty[g->depth_is],
			  (unsigned long long)g->depth);
	sl_terminal_print(out,
			  "trees of the forest: %u; the busiest learner sends %.3g vectors, at least %.3g\n",
			  g->trees, g->load / g->trees, g->bound);
	amount(planned->flood_bytes / (double)g->learners / 1e6, records);
	sl_terminal_print(out, "models of %s floats, p = %llu; %s MB each are signed records\n", floats,
			  (unsigned long long)input->p, records);
}

static void show_impossible(const struct sl_estimate_input *input, const struct sl_estimated *planned,
			    FILE *out)
{
	uint32_t bits = sl_field_bits(input->p);
	if (!planned->costs[SL_ENGINE_METROPOLIS][0].possible && planned->k > SL_ITERATIONS_MAX)
		sl_terminal_print(out, "metropolis cannot run: more than %u exchanges\n", SL_ITERATIONS_MAX);
	else if (!planned->costs[SL_ENGINE_METROPOLIS][0].possible)
		sl_terminal_print(out,
				  "metropolis cannot run: p has %u bits, and rounding leaves room for %u\n",
				  bits, planned->p_bits_most);
	if (!planned->costs[SL_ENGINE_EXACT][0].possible)
		sl_terminal_print(out, "exact cannot run: r(1) = 0 mod p\n");
	if (input->graph.learners > SL_LEARNERS_MAX)
		sl_terminal_print(out,
				  "this version runs up to %u learners; larger numbers are calculated only\n",
				  SL_LEARNERS_MAX);
}

/* Print what the defaults of settings.def cost. */
static void show_defaults(const struct sl_estimated *planned, FILE *out)
{
	const struct sl_estimate_cost *cost = &planned->costs[planned->automatic][SL_SHARING_SEEDED];
	char most[SL_CELL_BYTES];
	amount(cost->bytes_most / 1e6, most);
	sl_terminal_print(
		out,
		"with the defaults (sharing: seeded, mixing: auto), the busiest learner sends %s MB "
		"in a round of %llu exchange%s\n",
		most, (unsigned long long)cost->exchanges, cost->exchanges == 1 ? "" : "s");
}

void sl_estimate_show(const struct sl_estimate_input *input, const struct sl_estimated *planned, FILE *out)
{
	char line[SL_TABLE_LINE_BYTES];
	show_graph(input, planned, out);
	sl_table_header(table, COLUMNS, line);
	fprintf(out, "%s\n", line);
	for (enum sl_engine e = SL_ENGINE_EXACT; e < SL_ENGINES; e++)
		for (uint32_t s = 0; s < SL_SHARING_KINDS; s++)
			if (planned->costs[e][s].possible)
				show_cost(input, planned, e, s, out);
	show_impossible(input, planned, out);
	fprintf(out, "mixing: auto takes %s\n", sl_engine_name(planned->automatic));
	show_defaults(planned, out);
}

static json_t *cost_json(const struct sl_estimate_cost *cost, enum sl_engine engine, uint32_t sharing)
{
	return json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f}", "engine", sl_engine_name(engine), "sharing",
			 sl_share_kind_name(sharing), "exchanges", (json_int_t)cost->exchanges, "bytes_mean",
			 cost->bytes_mean, "bytes_most", cost->bytes_most, "bytes_all", cost->bytes_all,
			 "memory_bytes", cost->memory);
}

static json_t *graph_json(const struct sl_estimate_figures *g)
{
	static const char *const words[] = {
		[SL_EXACTLY] = "exact", [SL_AT_MOST] = "bound", [SL_ABOUT] = "estimate"};
	return json_pack("{s:I, s:f, s:f, s:f, s:f, s:s, s:I, s:s, s:I, s:s, s:I, s:f, s:f}", "learners",
			 (json_int_t)g->learners, "edges", g->edges, "degree_mean", g->degree_mean,
			 "degree_max", g->degree_most, "mu", g->mu, "mu_is", words[g->mu_is], "deg_r",
			 (json_int_t)g->degree_r, "deg_r_is", words[g->degree_r_is], "depth",
			 (json_int_t)g->depth, "depth_is", words[g->depth_is], "trees", (json_int_t)g->trees,
			 "forest_vectors", g->load / g->trees, "forest_bound", g->bound);
}

json_t *sl_estimate_json(const struct sl_estimate_input *input, const struct sl_estimated *planned)
{
	json_t *costs = json_array();
	for (enum sl_engine e = SL_ENGINE_EXACT; e < SL_ENGINES; e++)
		for (uint32_t s = 0; s < SL_SHARING_KINDS; s++)
			if (planned->costs[e][s].possible)
				json_array_append_new(costs, cost_json(&planned->costs[e][s], e, s));
	return json_pack("{s:i, s:o, s:I, s:I, s:f, s:s, s:o}", "version", 1, "graph",
			 graph_json(&input->graph), "n", (json_int_t)input->floats, "p", (json_int_t)input->p,
			 "flood_bytes", planned->flood_bytes, "auto", sl_engine_name(planned->automatic),
			 "costs", costs);
}
