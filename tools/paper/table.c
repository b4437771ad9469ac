/* Part d: eigenvalues and iterations of the six topologies. */
#include <inttypes.h>
#include <math.h>

#include "tools/lib/csv.h"
#include "tools/paper/document.h"
#include "tools/paper/graphs.h"

#define FOUR_DIGITS 0.00005 /* half of the last one, and a little for the paper's own rounding */

static bool as_printed(const struct sl_six *one)
{
	return fabs(one->eigen.lambda_2 - one->paper) <= FOUR_DIGITS * 1.0001;
}

static const struct sl_trace *trace_of(const struct sl_six *one)
{
	return one->measured ? &one->run.rounds[0].trace : NULL;
}

static void write_csv(struct sl_csv *csv, const struct sl_six *one)
{
	const struct sl_trace *trace = trace_of(one);
	sl_csv_text(csv, one->name);
	sl_csv_real(csv, one->paper);
	sl_csv_real(csv, one->eigen.lambda_2);
	sl_csv_real(csv, one->eigen.lambda_min);
	sl_csv_real(csv, one->eigen.mu);
	sl_csv_whole(csv, (int64_t)one->k);
	sl_csv_whole(csv, (int64_t)one->k_lambda);
	sl_csv_real(csv, trace ? (double)sl_trace_settled(trace) : NAN);
	sl_csv_real(csv, trace ? (double)sl_trace_wrong(trace, one->k_lambda) : NAN);
	sl_csv_real(csv, trace ? (double)sl_trace_wrong(trace, SL_PAPER_K) : NAN);
	sl_csv_real(csv, trace ? (double)trace->learners * trace->count : NAN);
	sl_csv_end(csv);
}

/* An eigenvalue that is 0 but for rounding has no sign. */
static double tidy(double eigenvalue)
{
	return fabs(eigenvalue) < 1e-9 ? 0 : eigenvalue;
}

static void claim_eigenvalues(struct sl_paper *r, const struct sl_six *six)
{
	uint32_t same = 0;
	for (uint32_t i = 0; i < SL_SIX; i++)
		same += as_printed(&six[i]);
	sl_paper_claim(r, 'd', same == SL_SIX ? SL_HOLDS : SL_HOLDS_NOT,
		       "second largest eigenvalues of the six topologies",
		       "0, 0.3259, 0.8181, 0.9555, 0.9900, 0.9997", "%.4f, %.4f, %.4f, %.4f, %.4f, %.4f",
		       tidy(six[0].eigen.lambda_2), six[1].eigen.lambda_2, six[2].eigen.lambda_2,
		       six[3].eigen.lambda_2, six[4].eigen.lambda_2, six[5].eigen.lambda_2);
}

static void claim_lambda(struct sl_paper *r, const struct sl_six *six)
{
	char where[160] = "";
	size_t used = 0;
	uint32_t wrong = 0, measured = 0;
	for (uint32_t i = 0; i < SL_SIX; i++) {
		const struct sl_trace *trace = trace_of(&six[i]);
		measured += trace != NULL;
		if (trace == NULL || sl_trace_wrong(trace, six[i].k_lambda) == 0)
			continue;
		wrong++;
		used += (size_t)snprintf(where + used, sizeof where - used,
					 "; %s: K = %" PRIu64 " from λ₂, %" PRIu64 " needed", six[i].name,
					 six[i].k_lambda, sl_trace_settled(trace));
	}
	sl_paper_claim(r, 'd', wrong == 0 ? SL_HOLDS : SL_HOLDS_NOT, "λ₂ tells how fast mixing converges",
		       "λ₂ alone", "K from λ₂ is wrong on %u of %u graphs%s", wrong, measured, where);
}

static void claim_ten(struct sl_paper *r, const struct sl_six *six)
{
	uint32_t right = 0, measured = 0;
	for (uint32_t i = 0; i < SL_SIX; i++) {
		const struct sl_trace *trace = trace_of(&six[i]);
		measured += trace != NULL;
		right += trace != NULL && sl_trace_wrong(trace, SL_PAPER_K) == 0;
	}
	sl_paper_claim(r, 'd', right == measured ? SL_HOLDS : SL_HOLDS_NOT,
		       "K = 10 decodes right on its six topologies", "K = 10", "on %u of %u measured", right,
		       measured);
}

int sl_table_graphs(struct sl_paper *r, struct sl_six *six, struct sl_error *error)
{
	struct sl_csv csv;
	FILE *out = sl_paper_folder_file(&r->folder, "d_topologies.csv", error);
	if (out == NULL)
		return error->code;
	sl_csv_open(&csv, out,
		    "topology,lambda_2_paper,lambda_2,lambda_min,mu,k_bound,k_from_lambda_2,k_observed,wrong_"
		    "at_k_from_lambda_2,"
		    "wrong_at_10,decoded");
	sl_document_heading(r, "d. Eigenvalues and iterations");
	sl_document_text(r,
			 "K is the smallest integer with 2p·N^1.5·μᴷ < 1 (the paper's bound, through the "
			 "spectral norm), where μ is the "
			 "second largest modulus of an eigenvalue: on the 40- and 20-neighbour graphs that "
			 "is |λmin|, not the λ₂ that the "
			 "paper quotes. K observed is the least k from which every watched coordinate of "
			 "every learner is decoded right, and "
			 "stays right. p = %" PRIu64 ".",
			 SL_PAPER_P);
	sl_document_data(r, "d_topologies.csv");
	for (uint32_t i = 0; i < SL_SIX; i++)
		write_csv(&csv, &six[i]);
	claim_eigenvalues(r, six);
	claim_lambda(r, six);
	claim_ten(r, six);
	return SL_OK;
}
