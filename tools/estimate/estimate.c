#include "tools/estimate/estimate.h"

#include <math.h>

#include "common/base/bytes.h"
#include "common/base/limits.h"
#include "common/compute/slots.h"
#include "common/field/checksum.h"
#include "common/mixing/spectrum.h"
#include "common/protocol/key_tree.h"
#include "common/wire/codec.h"

#define TLS_RECORD_BYTES 16384.0
#define TLS_EXTRA_BYTES 22.0 /* of a record: header, tag, content type */
#define PROCESS_BYTES 18e6   /* of a learner without a model */
#define ROW_BYTES_MAX 26u    /* of the checksums of a vector: for p = 3 */
#define MODELS_BYTES                                                                                         \
	12.0 /* of the trained and the committed model, and the rest of updates, for each float */

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

double sl_estimate_vector_bytes(uint64_t elements, uint32_t bits)
{
	uint64_t whole = elements / SL_CHUNK_ELEMENTS, rest = elements % SL_CHUNK_ELEMENTS;
	double bytes = rest > 0 ? chunk_bytes(whole, sl_packed_bytes(rest, bits)) : 0;
	if (whole > 0)
		bytes += (double)whole * chunk_bytes(whole - 1, sl_packed_bytes(SL_CHUNK_ELEMENTS, bits));
	return bytes;
}

/* A link state with as many candidates as neighbours, a Ready, a challenge, and checksums of the masked
 * states of all neighbours. */
static double records_bytes(const struct sl_estimate_input *in, const struct sl_field *field)
{
	static sl_id candidates[SL_LEARNERS_MAX];
	static const uint8_t values[(SL_LEARNERS_MAX + 1) * ROW_BYTES_MAX];
	struct sl_message state = {.kind = SL_MSG_LINK_STATE}, ready = {.kind = SL_MSG_READY},
			  challenge = {.kind = SL_MSG_CHALLENGE}, checksums = {.kind = SL_MSG_CHECKSUM};
	double count = fmin(in->graph.degree_mean, SL_LEARNERS_MAX);
	for (uint32_t i = 0; i < SL_LEARNERS_MAX; i++)
		candidates[i] = i + 1;
	state.link_state = (struct sl_link_state){.id = 1,
						  .incarnation = 1,
						  .t = 1,
						  .a = 1,
						  .roster_size = SL_LEARNERS_MAX,
						  .n = in->floats,
						  .model = 1,
						  .values = SL_VALUES_UPDATE,
						  .count = (uint32_t)count,
						  .candidates = candidates};
	ready.ready = (struct sl_ready){.id = 1, .t = 1, .a = 1, .k = 1};
	challenge.challenge = (struct sl_challenge){.t = 1, .a = 1, .origin = 1, .value = {1}};
	checksums.checksums = (struct sl_checksums){.t = 1, .a = 1, .id = 1, .values = values};
	checksums.checksums.size =
		(size_t)(count + 1) * sl_packed_bytes(sl_checksum_points(field), field->bits);
	return on_the_wire(&state) + on_the_wire(&ready) + on_the_wire(&challenge) + on_the_wire(&checksums);
}

/* Every record goes over every link, and back but for the direction from which a learner first heard it. */
static double flood_bytes(const struct sl_estimate_input *in, const struct sl_field *field)
{
	double n = (double)in->graph.learners;
	return n * fmax(0, 2 * in->graph.edges - n + 1) * records_bytes(in, field);
}

/* Return the bytes that each neighbour gets: a share, a key share with its path, and the deposit key. */
static double share_bytes(const struct sl_estimate_input *in, const struct sl_field *field,
			  enum sl_sharing_kind sharing)
{
	struct sl_message key = {.kind = SL_MSG_KEY, .key = {.t = 1, .a = 1, .origin = 1, .key = {1}}};
	double share = sharing == SL_SHARING_SEEDED ? chunk_bytes(0, SL_KEY_BYTES)
						    : sl_estimate_vector_bytes(in->floats + 1, field->bits);
	uint32_t holders = (uint32_t)fmax(1, in->graph.degree_mean);
	return share + chunk_bytes(0, sl_key_tree_share_bytes(holders)) + on_the_wire(&key);
}

/* ---- one engine ---- */

static struct sl_engine_costs costs_of(const struct sl_estimate_input *in, const struct sl_field *field,
				       const struct sl_estimated *planned)
{
	const struct sl_estimate_figures *g = &in->graph;
	bool metropolis = planned->k <= SL_ITERATIONS_MAX && field->bits <= planned->p_bits_most;
	uint32_t most = sl_engine_trees_most(in->floats + 1), trees = g->trees < most ? g->trees : most;
	return (struct sl_engine_costs){.k = metropolis ? planned->k : SL_ITERATIONS_NONE,
					.degree = (uint32_t)g->degree_r,
					.depth = (uint32_t)g->depth,
					.trees = trees,
					.load = (uint32_t)ceil(g->load * trees / g->trees),
					.busiest = (uint32_t)g->degree_most,
					.elements = in->floats + 1,
					.bits = field->bits};
}

/* Return the elements of chunks under way at a time, of all neighbours: in a forest, of those in a tree. */
static double lanes_of(const struct sl_estimate_input *in, const struct sl_engine_costs *costs,
		       enum sl_engine engine)
{
	double edges = engine == SL_ENGINE_FOREST ? (double)costs->load / costs->trees
						  : in->graph.degree_most,
	       window = sl_engine_window(engine, costs);
	return edges * fmin(window * SL_CHUNK_ELEMENTS, (double)in->floats + 1);
}

/* Return the bytes of the deposits that stay in memory: the own one, and those kept. */
static double slots_of(const struct sl_engine_costs *costs, enum sl_engine engine)
{
	double slot = (double)costs->elements * costs->bits / 8,
	       kept = sl_engine_rows[engine].to_all ? costs->busiest : 1;
	return slot < SL_SLOT_USED_BYTES ? (1 + kept) * slot : 0;
}

/* Return the bytes of a learner, at most: models, state, the second vector of some engines (common/compute),
 * and the chunks under way. */
static double memory_of(const struct sl_estimate_input *in, const struct sl_engine_costs *costs,
			enum sl_engine engine, uint64_t exchanges)
{
	bool second = engine == SL_ENGINE_METROPOLIS || (engine == SL_ENGINE_EXACT && exchanges > 1);
	double elements = (double)in->floats + 1, bits = sl_engine_bits(engine, costs->bits),
	       state = elements * costs->bits / 8 + (second ? elements * sizeof(uint64_t) : 0);
	return PROCESS_BYTES + MODELS_BYTES * elements + state + slots_of(costs, engine) +
	       lanes_of(in, costs, engine) * bits / 8;
}

static void cost_of(const struct sl_estimate_input *in, const struct sl_engine_costs *costs,
		    enum sl_engine engine, double share, double flood, struct sl_estimate_cost *cost)
{
	const struct sl_estimate_figures *g = &in->graph;
	double n = (double)g->learners, vector = sl_estimate_vector_bytes(in->floats + 1, costs->bits),
	       state = sl_estimate_vector_bytes(in->floats + 1, sl_engine_bits(engine, costs->bits));
	uint64_t exchanges = sl_engine_exchanges(engine, costs), links = (uint64_t)llround(2 * g->edges);
	*cost = (struct sl_estimate_cost){.possible = exchanges > 0, .exchanges = exchanges};
	if (exchanges == 0)
		return;
	double most = sl_engine_vectors(engine, exchanges, costs->busiest, sl_engine_forest_most(costs));
	double all = sl_engine_vectors(engine, exchanges, links, sl_engine_forest_all(g->learners));
	double wider = state - vector; /* of a later state than a deposit */
	cost->bytes_mean = g->degree_mean * share + all / n * vector + flood +
			   (double)sl_engine_states(engine, exchanges, links) / n * wider;
	cost->bytes_most = g->degree_most * share + most * vector + flood +
			   (double)sl_engine_states(engine, exchanges, costs->busiest) * wider;
	cost->bytes_all = n * cost->bytes_mean;
	cost->memory = memory_of(in, costs, engine, exchanges);
}

static void plan_metropolis(const struct sl_estimate_input *in, struct sl_estimated *planned)
{
	const struct sl_estimate_figures *g = &in->graph;
	double need = sl_spectrum_width_need_of((double)g->learners, g->degree_most, g->edges, g->mu);
	planned->k = sl_spectrum_iterations(in->p, (uint32_t)g->learners, g->mu);
	planned->p_bits_most = sl_spectrum_p_bits(need);
	if (planned->p_bits_most > SL_MIXING_P_BITS_MAX)
		planned->p_bits_most = SL_MIXING_P_BITS_MAX;
}

void sl_estimate_cost_all(const struct sl_estimate_input *input, struct sl_estimated *planned)
{
	struct sl_field field;
	int rc = sl_field_init(&field, input->p);
	assert(rc == SL_OK && input->graph.learners <= UINT32_MAX);
	(void)rc;
	*planned = (struct sl_estimated){.flood_bytes = flood_bytes(input, &field)};
	plan_metropolis(input, planned);
	const struct sl_engine_costs costs = costs_of(input, &field, planned);
	double flood = planned->flood_bytes / (double)input->graph.learners;
	for (enum sl_engine e = SL_ENGINE_EXACT; e < SL_ENGINES; e++)
		for (enum sl_sharing_kind s = SL_SHARING_SHAMIR; s < SL_SHARING_KINDS; s++)
			cost_of(input, &costs, e, share_bytes(input, &field, s), flood,
				&planned->costs[e][s]);
	uint64_t exchanges;
	planned->automatic = sl_engine_choose(SL_ENGINE_AUTO, &costs, &exchanges);
}
