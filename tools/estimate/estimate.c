#include "tools/estimate/estimate.h"

#include <math.h>

#include "common/base/limits.h"
#include "common/mixing/spectrum.h"
#include "common/wire/codec.h"

#define TLS_RECORD_BYTES 16384.0
#define TLS_EXTRA_BYTES 22.0		     /* of a record: header, tag, content type */
#define CLIP_16 UINT64_C(0x4030000000000000) /* the bits of 16.0 */
#define RECORDS 3.0 /* made durable one after the other: PREPARED, RELEASED, the commit */
#define LANE_BYTES ((double)2 * SL_CHUNK_BYTES_MAX) /* of a neighbour, under way */

const char *const sl_estimate_engine_names[SL_ESTIMATE_ENGINES] = {"metropolis", "exact", "tree"};
const char *const sl_estimate_sharing_names[SL_ESTIMATE_SHARINGS] = {"shamir", "additive", "seeded"};

/* ---- bytes ---- */

static double on_the_wire(const struct sl_message *message)
{
	double bytes = (double)sl_codec_bytes(message);
	return bytes + TLS_EXTRA_BYTES * ceil(bytes / TLS_RECORD_BYTES);
}

static double chunk_bytes(uint64_t index, size_t size)
{
	struct sl_message m = {.kind = SL_MSG_STATE};
	m.chunk = (struct sl_chunk){
		.t = 1, .a = 1, .view = {1}, .iteration = 1, .index = (uint32_t)index, .size = size};
	return on_the_wire(&m);
}

double sl_estimate_vector_bytes(uint64_t elements, uint32_t width)
{
	uint64_t whole = elements / SL_CHUNK_ELEMENTS, rest = elements % SL_CHUNK_ELEMENTS;
	double bytes = rest > 0 ? chunk_bytes(whole, rest * width) : 0;
	if (whole > 0)
		bytes += (double)whole * chunk_bytes(whole - 1, (size_t)SL_CHUNK_ELEMENTS * width);
	return bytes;
}

/* A link state with as many candidates as neighbours, and a Ready. */
static double records_bytes(const struct sl_estimate_input *in)
{
	static sl_id candidates[SL_LEARNERS_MAX];
	struct sl_message state = {.kind = SL_MSG_LINK_STATE}, ready = {.kind = SL_MSG_READY};
	double count = fmin(in->graph.degree_mean, SL_LEARNERS_MAX);
	for (uint32_t i = 0; i < SL_LEARNERS_MAX; i++)
		candidates[i] = i + 1;
	state.link_state = (struct sl_link_state){.id = 1,
						  .incarnation = 1,
						  .t = 1,
						  .a = 1,
						  .roster_size = SL_LEARNERS_MAX,
						  .count = (uint32_t)count,
						  .candidates = candidates};
	state.link_state.parameters = (struct sl_parameters){.n = in->floats,
							     .rounds = 10,
							     .quorum = 1,
							     .tolerance = 1,
							     .decimals = 4,
							     .clipping_range = CLIP_16,
							     .max_weight = 1,
							     .max_degree = 16};
	ready.ready = (struct sl_ready){.id = 1, .t = 1, .a = 1, .k = 1};
	return on_the_wire(&state) + on_the_wire(&ready);
}

/* Every record over every link, and back where it was not heard from: all directions but those of the first
 * hearing. */
static double flood_bytes(const struct sl_estimate_input *in)
{
	double n = (double)in->graph.learners;
	return n * fmax(0, 2 * in->graph.edges - n + 1) * records_bytes(in);
}

static double share_bytes(const struct sl_estimate_input *in, const struct sl_field *field,
			  enum sl_estimate_sharing sharing)
{
	return sharing == SL_ESTIMATE_SEEDED ? chunk_bytes(0, SL_KEY_BYTES)
					     : sl_estimate_vector_bytes(in->floats + 1, field->bytes);
}

/* ---- one engine ---- */

struct work {
	double vector;		       /* bytes of a state */
	double sent_mean, sent_most;   /* states that a learner sends */
	double mixed_mean, mixed_most; /* and takes in */
	double mix_ns;
};

static bool runs(const struct sl_estimate_input *in, const struct sl_field *field,
		 const struct sl_estimated *planned, enum sl_estimate_engine engine)
{
	if (engine == SL_ESTIMATE_METROPOLIS)
		return planned->k <= SL_ITERATIONS_MAX && field->bits <= SL_MIXING_P_BITS_MAX &&
		       field->bits <= planned->p_bits_most;
	return engine == SL_ESTIMATE_TREE || in->graph.degree_r > 0;
}

static struct work work_of(const struct sl_estimate_input *in, const struct sl_field *field,
			   enum sl_estimate_engine engine, double exchanges)
{
	const struct sl_estimate_figures *g = &in->graph;
	double n = (double)g->learners;
	if (engine == SL_ESTIMATE_TREE) {
		struct work w = {.vector = sl_estimate_vector_bytes(in->floats + 1, field->bytes),
				 .mix_ns = in->machine.gather_ns};
		w.sent_mean = (2 * (n - 1) + g->backed_up) / n;
		w.sent_most = g->children_most + 2;
		w.mixed_mean = w.sent_mean;
		w.mixed_most = w.sent_most;
		return w;
	}
	bool metropolis = engine == SL_ESTIMATE_METROPOLIS;
	struct work w = {.vector = sl_estimate_vector_bytes(in->floats + 1,
							    metropolis ? SL_STATE_BYTES : field->bytes)};
	w.mix_ns = metropolis ? in->machine.metropolis_ns : in->machine.exact_ns;
	w.sent_mean = w.mixed_mean = exchanges * g->degree_mean;
	w.sent_most = w.mixed_most = exchanges * g->degree_most;
	return w;
}

static double share_ns(const struct sl_estimate_machine *m, enum sl_estimate_sharing sharing, double degree)
{
	if (sharing == SL_ESTIMATE_SHAMIR)
		return (degree + 1) * (m->shamir_ns[0] + m->shamir_ns[1] * degree) + degree * m->gather_ns;
	if (sharing == SL_ESTIMATE_ADDITIVE)
		return (degree + 1) * m->additive_ns + degree * m->gather_ns;
	return 2 * degree * m->seeded_ns;
}

/* CPU seconds of a learner: making and taking in shares; mixing; what is done anyway. */
struct cpu {
	double share, mix, rest;
};

static struct cpu cpu_of(const struct sl_estimate_input *in, const struct work *w,
			 enum sl_estimate_sharing sharing, double shares, double degree, double sent,
			 double mixed)
{
	const struct sl_estimate_machine *m = &in->machine;
	double elements = (double)in->floats + 1;
	return (struct cpu){.share = 1e-9 * (elements * share_ns(m, sharing, degree) + shares * m->byte_ns),
			    .mix = 1e-9 * (elements * mixed * w->mix_ns + sent * w->vector * m->byte_ns),
			    .rest = 1e-9 * elements * m->element_ns +
				    2 * (double)in->graph.learners * m->verify_s};
}

/* ---- seconds ---- */

static double apart(const struct sl_estimate_input *in, const struct sl_estimated *planned,
		    const struct work *w, const struct cpu *most, double shares_most,
		    const struct sl_estimate_cost *cost)
{
	const struct sl_estimate_figures *g = &in->graph;
	double agree =
		planned->flood_bytes / (double)g->learners / in->speed + 2 * 2 * (double)g->depth * in->delay;
	double share = fmax(most->share, shares_most / in->speed) + in->delay;
	double mix =
		fmax(most->mix, w->sent_most * w->vector / in->speed) + (double)cost->exchanges * in->delay;
	return agree + share + mix + most->rest + in->delay + RECORDS * in->machine.record_s;
}

static double together(const struct sl_estimate_input *in, const struct sl_estimated *planned,
		       const struct cpu *mean)
{
	double n = (double)in->graph.learners, cpu = n * (mean->share + mean->mix + mean->rest);
	cpu += 1e-9 * planned->flood_bytes * in->machine.byte_ns;
	return cpu / fmin(in->machine.processors, n) + RECORDS * in->machine.record_s;
}

/* Chunks of a neighbour at a time. */
static double lanes_of(const struct sl_estimate_figures *g, enum sl_estimate_engine engine)
{
	return engine == SL_ESTIMATE_TREE ? sl_engine_tree_window((uint32_t)g->depth) : SL_WINDOW;
}

static void cost_of(const struct sl_estimate_input *in, const struct sl_field *field,
		    const struct sl_estimated *planned, enum sl_estimate_engine engine,
		    enum sl_estimate_sharing sharing, struct sl_estimate_cost *cost)
{
	const struct sl_estimate_figures *g = &in->graph;
	*cost = (struct sl_estimate_cost){.possible = runs(in, field, planned, engine)};
	if (!cost->possible)
		return;
	cost->exchanges = engine == SL_ESTIMATE_METROPOLIS ? planned->k
			  : engine == SL_ESTIMATE_EXACT	   ? g->degree_r
							   : 2 * g->depth;
	struct work w = work_of(in, field, engine, (double)cost->exchanges);
	double share = share_bytes(in, field, sharing), flood = planned->flood_bytes / (double)g->learners;
	struct cpu mean =
		cpu_of(in, &w, sharing, g->degree_mean * share, g->degree_mean, w.sent_mean, w.mixed_mean);
	struct cpu most =
		cpu_of(in, &w, sharing, g->degree_most * share, g->degree_most, w.sent_most, w.mixed_most);
	cost->bytes_mean = g->degree_mean * share + w.sent_mean * w.vector + flood;
	cost->bytes_most = g->degree_most * share + w.sent_most * w.vector + flood;
	cost->bytes_all = (double)g->learners * cost->bytes_mean;
	cost->cpu_s = mean.share + mean.mix + mean.rest;
	cost->seconds = in->speed > 0 ? apart(in, planned, &w, &most, g->degree_most * share, cost)
				      : together(in, planned, &mean);
	cost->memory = in->machine.process_bytes + in->machine.float_bytes * (double)in->floats +
		       g->degree_most * fmin(lanes_of(g, engine) * LANE_BYTES, 2 * w.vector);
}

static void metropolis_of(const struct sl_estimate_input *in, struct sl_estimated *planned)
{
	const struct sl_estimate_figures *g = &in->graph;
	double n = (double)g->learners;
	planned->k = sl_spectrum_iterations(in->p, (uint32_t)g->learners, g->mu);
	planned->p_bits_most =
		g->mu < 1 ? sl_spectrum_p_bits(8 * n * sqrt(2 * g->degree_most * g->edges) / (1 - g->mu)) : 0;
}

/* The view's own choice, which knows no speeds. */
static enum sl_engine choose(const struct sl_estimate_input *in, const struct sl_field *field,
			     const struct sl_estimated *planned)
{
	const struct sl_estimate_cost *metropolis = &planned->costs[SL_ESTIMATE_METROPOLIS][0],
				      *exact = &planned->costs[SL_ESTIMATE_EXACT][0];
	struct sl_engine_costs costs = {.k = metropolis->possible ? metropolis->exchanges
								  : SL_ITERATIONS_NONE,
					.degree = exact->possible ? (uint32_t)in->graph.degree_r : 0,
					.depth = (uint32_t)in->graph.depth,
					.children = (uint32_t)in->graph.children_most,
					.busiest = (uint32_t)in->graph.degree_most,
					.elements = in->floats + 1,
					.width = field->bytes};
	uint64_t steps;
	return sl_engine_choose(SL_ENGINE_AUTO, &costs, &steps);
}

void sl_estimate_cost_all(const struct sl_estimate_input *input, struct sl_estimated *planned)
{
	struct sl_field field;
	*planned = (struct sl_estimated){.flood_bytes = flood_bytes(input)};
	int rc = sl_field_init(&field, input->p);
	assert(rc == SL_OK && input->graph.learners <= UINT32_MAX);
	(void)rc;
	metropolis_of(input, planned);
	for (int e = 0; e < SL_ESTIMATE_ENGINES; e++)
		for (int s = 0; s < SL_ESTIMATE_SHARINGS; s++)
			cost_of(input, &field, planned, (enum sl_estimate_engine)e,
				(enum sl_estimate_sharing)s, &planned->costs[e][s]);
	planned->automatic = choose(input, &field, planned);
}
