/* Part c: the paper's six topologies, mixing on each of them. */
#include "tools/paper/graphs.h"

#include <inttypes.h>
#include <math.h>

#include "common/mixing/spectrum.h"
#include "tools/paper/document.h"
#include "tools/paper/trace_plot.h"

#define FLOATS 2353u
#define WATCHED SL_RUNNER_COORDINATES_MAX
#define FLOATS_LONG 15u /* and the weight: 16 elements, where it takes thousands of iterations */
#define K_LONG 1000u
#define K_QUICK 250u

static const struct sl_six paper[SL_SIX] = {
	{.name = "complete", .topology = "complete", .paper = 0},
	{.name = "40 neighbours", .topology = "neighbours:40", .paper = 0.3259},
	{.name = "20 neighbours", .topology = "neighbours:20", .paper = 0.8181},
	{.name = "10 neighbours", .topology = "neighbours:10", .paper = 0.9555},
	{.name = "star", .topology = "star", .paper = 0.9900},
	{.name = "line", .topology = "line", .paper = 0.9997},
};

static int open_one(struct sl_six *one, struct sl_error *error)
{
	sl_schedule_init(&one->schedule, SL_PAPER_LEARNERS);
	int rc = sl_step_add(&one->schedule, one->topology, 1, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_step_graph_open(&one->graph, &one->schedule, 0);
	if (rc == SL_OK)
		rc = sl_spectrum_eigen(&one->graph.graph, &one->eigen);
	if (rc != SL_OK)
		return sl_err_set(error, rc, "%s: %s", one->name, sl_err_text(rc));
	one->k = sl_spectrum_iterations(SL_PAPER_P, SL_PAPER_LEARNERS, one->eigen.mu);
	one->k_lambda = sl_spectrum_iterations(SL_PAPER_P, SL_PAPER_LEARNERS, one->eigen.lambda_2);
	return SL_OK;
}

static void close_one(struct sl_six *one)
{
	sl_run_close(&one->run);
	sl_step_graph_close(&one->graph);
	sl_schedule_close(&one->schedule);
}

/* What the learners found out by themselves is what the matrix says. */
static void check_view(struct sl_paper *r, const struct sl_six *one)
{
	uint64_t k = one->run.rounds[0].trace.k;
	if (k < one->k || k > one->k + 1) /* mu is rounded up by 1e-12 there */
		sl_paper_broken(r, "%s: learners mix %" PRIu64 " times, the bound says %" PRIu64, one->name,
				k, one->k);
}

static int mix_one(struct sl_paper *r, struct sl_six *one, struct sl_error *error)
{
	static char p[32];
	static const char *const set[] = {"rounds=1", "decimals=3", "clipping_range=5", "privacy_check=warn",
					  p,	      NULL};
	bool brief = one->k > K_LONG || r->options.quick;
	uint32_t floats = brief ? FLOATS_LONG : FLOATS, count = brief ? FLOATS_LONG : WATCHED;
	snprintf(p, sizeof p, "modulus=%" PRIu64, SL_PAPER_P);
	for (uint32_t c = 0; c < count; c++)
		one->coordinates[c] = c * (floats / count);
	one->plan = (struct sl_run_plan){.what = one->name,
					 .learners = SL_PAPER_LEARNERS,
					 .parameters = floats,
					 .schedule = &one->schedule,
					 .mixing = "metropolis",
					 .set = set,
					 .coordinates = one->coordinates,
					 .coordinate_count = count};
	int rc = sl_run_open(&one->run, &one->plan, error);
	if (rc == SL_OK)
		rc = sl_run_play(&one->run, r, error);
	if (rc == SL_OK)
		check_view(r, one);
	one->measured = rc == SL_OK;
	return rc;
}

static int draw_all(struct sl_paper *r, struct sl_six *six, struct sl_error *error)
{
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&r->folder, "c_trajectories.csv", error);
	if (out == NULL)
		return error->code;
	sl_trace_csv_open(&csv, out, SL_PAPER_LEARNERS);
	uint32_t measured = 0;
	for (uint32_t i = 0; i < SL_SIX; i++)
		measured += six[i].measured;
	sl_document_figure(r, "c_trajectories", (measured + 2) / 3, 3);
	for (uint32_t i = 0; i < SL_SIX; i++) {
		if (!six[i].measured)
			continue;
		const struct sl_run_round *round = &six[i].run.rounds[0];
		double level =
			(double)sl_field_centred(&six[i].run.field, round->truth[0]) * round->trace.unit;
		sl_trace_plot(r, &round->trace, six[i].name, six[i].name,
			      "a coordinate of the model, as decoded", level);
		sl_trace_csv(&csv, &round->trace, six[i].name);
	}
	sl_document_caption(r,
			    "One coordinate, as each of the %u learners would decode it after k iterations; "
			    "models drawn from "
			    "[-1, 1]. Long runs have a logarithmic axis.",
			    SL_PAPER_LEARNERS);
	return SL_OK;
}

static void claim_right(struct sl_paper *r, const struct sl_six *six)
{
	uint32_t measured = 0, right = 0, ascending = 0;
	uint64_t before = 0;
	for (uint32_t i = 0; i < SL_SIX; i++) {
		if (!six[i].measured)
			continue;
		const struct sl_trace *trace = &six[i].run.rounds[0].trace;
		uint64_t settled = sl_trace_settled(trace);
		measured++;
		right += settled <= trace->k;
		ascending += settled > before;
		before = settled;
	}
	sl_paper_claim(r, 'c', right == measured ? SL_HOLDS : SL_HOLDS_NOT,
		       "all trajectories end at the true value under all six topologies", "6 of 6",
		       "%u of %u measured", right, measured);
	sl_paper_claim(r, 'c', ascending == measured ? SL_HOLDS : SL_HOLDS_NOT,
		       "the denser the topology, the fewer iterations", "in this order of the six",
		       "ascending in %u of %u measured", ascending, measured);
}

static int part_c(struct sl_paper *r, struct sl_six *six, struct sl_error *error)
{
	sl_document_heading(r, "c. Six topologies");
	sl_document_text(r, "The paper's k-neighbour graphs of 100 learners are those in which i and j are "
			    "neighbours iff (j-i) mod s is 1 "
			    "or s-1, with s = 5, 10, 20: they give its eigenvalues to four digits (part d).");
	int rc = draw_all(r, six, error);
	if (rc == SL_OK)
		rc = sl_norms_graphs(r, six, error);
	if (rc == SL_OK)
		rc = sl_norms_degrees(r, error);
	claim_right(r, six);
	return rc;
}

static int both(struct sl_paper *r, struct sl_six *six, struct sl_error *error)
{
	int rc = SL_OK;
	for (uint32_t i = 0; rc == SL_OK && i < SL_SIX; i++)
		rc = open_one(&six[i], error);
	for (uint32_t i = 0; rc == SL_OK && i < SL_SIX; i++)
		if (!r->options.quick || six[i].k <= K_QUICK)
			rc = mix_one(r, &six[i], error);
	if (rc == SL_OK && sl_paper_wanted(r, 'c'))
		rc = part_c(r, six, error);
	if (rc == SL_OK && sl_paper_wanted(r, 'd'))
		rc = sl_table_graphs(r, six, error);
	return rc;
}

int sl_paper_graphs(struct sl_paper *r, struct sl_error *error)
{
	struct sl_six six[SL_SIX];
	for (uint32_t i = 0; i < SL_SIX; i++)
		six[i] = paper[i];
	int rc = both(r, six, error);
	for (uint32_t i = 0; i < SL_SIX; i++)
		close_one(&six[i]);
	return rc;
}
