#include "tools/estimate/show.h"

/* Return what is not possible, in words. */
static json_t *notes_json(const struct sl_estimate_input *input, const struct sl_estimated *planned)
{
	json_t *notes = json_array();
	if (!planned->costs[SL_ENGINE_METROPOLIS][0].possible && planned->k > SL_ITERATIONS_MAX)
		json_array_append_new(notes, json_sprintf("metropolis cannot run: more than %u exchanges",
							  SL_ITERATIONS_MAX));
	else if (!planned->costs[SL_ENGINE_METROPOLIS][0].possible)
		json_array_append_new(
			notes,
			json_sprintf("metropolis cannot run: p has %u bits, and rounding leaves room for %u",
				     sl_field_bits(input->p), planned->p_bits_most));
	if (!planned->costs[SL_ENGINE_EXACT][0].possible)
		json_array_append_new(notes, json_string("exact cannot run: r(1) = 0 mod p"));
	if (input->graph.learners > SL_LEARNERS_MAX)
		json_array_append_new(
			notes,
			json_sprintf(
				"this version runs up to %u learners; larger numbers are calculated only",
				SL_LEARNERS_MAX));
	return notes;
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
	return json_pack("{s:i, s:o, s:I, s:I, s:f, s:s, s:o, s:o}", "version", 1, "graph",
			 graph_json(&input->graph), "n", (json_int_t)input->floats, "p", (json_int_t)input->p,
			 "flood_bytes", planned->flood_bytes, "auto", sl_engine_name(planned->automatic),
			 "costs", costs, "notes", notes_json(input, planned));
}
