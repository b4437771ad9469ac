#include "tools/topology/figures.h"

#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/graph/forest.h"
#include "common/mixing/spectrum.h"
#include "common/report/privacy_text.h"
#include "tools/lib/schedule_graph.h"
#include "tools/topology/ids.h"

int sl_figures_open(struct sl_figures *figures, const struct sl_schedule *schedule,
		    const struct sl_figures_request *request)
{
	uint32_t n = schedule->learners, edges = sl_schedule_graph_edges_most(schedule);
	size_t bytes = sl_schedule_graph_bytes(n, edges) +
		       sl_analysis_scratch(n, edges, request->analysis.tolerance);
	*figures = (struct sl_figures){
		.schedule = schedule, .request = *request, .memory = malloc(bytes), .bytes = bytes};
	figures->request.analysis.field = &figures->field;
	figures->request.analysis.trees = sl_engine_trees_most((uint64_t)figures->request.floats + 1);
	return figures->memory == NULL ? SL_ERR_NOMEM : sl_field_init(&figures->field, request->p);
}

void sl_figures_close(struct sl_figures *figures)
{
	free(figures->memory);
	figures->memory = NULL;
}

static void set_metropolis(struct sl_figures *f)
{
	f->p_bits = sl_spectrum_p_bits(sl_spectrum_width_need(&f->graph, f->analysis.mu));
	if (f->p_bits > SL_MIXING_P_BITS_MAX)
		f->p_bits = SL_MIXING_P_BITS_MAX;
	f->k = sl_spectrum_iterations(f->request.p, f->graph.n, f->analysis.mu);
	f->metropolis = f->field.bits <= f->p_bits && f->k <= SL_ITERATIONS_MAX;
}

/* A share to each neighbour, deposits and other vectors of Z_p, and states of the engine. */
static double bytes_of(const struct sl_figures *f, double links, double vectors, uint64_t states)
{
	size_t elements = (size_t)f->request.floats + 1;
	double vector = (double)sl_packed_bytes(elements, f->field.bits);
	double share = f->request.seeded ? SL_KEY_BYTES : vector;
	return links * share + (vectors - (double)states) * vector +
	       (double)states * (double)sl_packed_bytes(elements, sl_engine_bits(f->engine, f->field.bits));
}

static void set_cost(struct sl_figures *f)
{
	const struct sl_analysis *a = &f->analysis;
	uint32_t n = f->graph.n, busiest = sl_graph_degree_max(&f->graph), links = 2 * f->graph.edges;
	struct sl_engine_costs costs =
		sl_analysis_costs(a, &f->graph, (uint64_t)f->request.floats + 1, f->field.bits);
	uint64_t exchanges;
	costs.k = f->metropolis ? f->k : SL_ITERATIONS_NONE;
	f->engine = sl_engine_choose(SL_ENGINE_EXACT, &costs, &exchanges);
	double most = sl_engine_vectors(f->engine, exchanges, busiest, sl_engine_forest_most(&costs));
	double all = sl_engine_vectors(f->engine, exchanges, links, sl_engine_forest_all(n));
	f->bytes_most = bytes_of(f, busiest, most, sl_engine_states(f->engine, exchanges, busiest));
	f->bytes_mean = bytes_of(f, links, all, sl_engine_states(f->engine, exchanges, links)) / n;
}

int sl_figures_step(struct sl_figures *figures, uint32_t step)
{
	struct sl_arena arena;
	sl_arena_init(&arena, figures->memory, figures->bytes);
	int rc = sl_schedule_graph(figures->schedule, step, &figures->graph, &arena);
	if (rc == SL_OK)
		rc = sl_analysis_run(&figures->graph, &figures->request.analysis, &figures->analysis, &arena);
	figures->k = UINT64_MAX;
	figures->bytes_mean = figures->bytes_most = figures->forest_bound = 0;
	figures->metropolis = false;
	if (rc != SL_OK || figures->analysis.components > 1 || figures->request.analysis.engines == 0)
		return rc;
	set_metropolis(figures);
	if (figures->request.analysis.engines & SL_ENGINE_SET(SL_ENGINE_EXACT))
		set_cost(figures);
	return sl_forest_bound(&figures->graph, &figures->forest_bound, &arena);
}

void sl_figures_refusal(const struct sl_figures *figures, uint64_t c, char *text, size_t size)
{
	const struct sl_analysis *a = &figures->analysis;
	struct sl_edge links[SL_ADVICE_MAX];
	char cut[256] = "";
	struct sl_privacy_refusal refusal = {.privacy = sl_privacy_check(figures->graph.n, a->kappa, c),
					     .learners = figures->graph.n,
					     .kappa = a->kappa,
					     .c = c,
					     .cut = cut,
					     .cut_count = a->cut_count,
					     .links = links,
					     .link_count = a->missing_count < SL_ADVICE_MAX ? a->missing_count
											    : SL_ADVICE_MAX,
					     .missing = a->missing_count};
	*text = '\0';
	if (a->components > 1)
		snprintf(text, size, "not connected: %u parts, the largest of %u learner%s", a->components,
			 a->largest, a->largest == 1 ? "" : "s");
	if (a->components > 1 || refusal.privacy == SL_PRIVACY_KEPT)
		return;
	for (uint32_t e = 0; e < refusal.link_count; e++)
		links[e] = (struct sl_edge){a->missing[e].a + 1, a->missing[e].b + 1};
	sl_ids_text(a->cut, a->cut_count, cut, sizeof cut);
	sl_privacy_text(&refusal, text, size);
}
