/* Print what estimate_units.py compares with the formulas of starling_topology/costs.py: a line for each line
 * of standard input, which begins with what is asked for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/compute/slots.h"
#include "common/field/checksum.h"
#include "common/field/encoding.h"
#include "common/mixing/engine.h"
#include "common/mixing/spectrum.h"
#include "common/protocol/key_tree.h"
#include "common/wire/codec.h"

static uint64_t word(void)
{
	uint64_t value = 0;
	if (scanf("%" SCNu64, &value) != 1)
		abort();
	return value;
}

static double real(void)
{
	double value = 0;
	if (scanf("%lf", &value) != 1)
		abort();
	return value;
}

static void engines(void)
{
	struct sl_engine_costs c = {0};
	uint64_t exchanges;
	c.k = word();
	c.degree = (uint32_t)word();
	c.depth = (uint32_t)word();
	c.trees = (uint32_t)word();
	c.load = (uint32_t)word();
	c.busiest = (uint32_t)word();
	c.elements = word();
	c.bits = (uint32_t)word();
	printf("%s", sl_engine_name(sl_engine_choose(SL_ENGINE_AUTO, &c, &exchanges)));
	for (enum sl_engine e = SL_ENGINE_EXACT; e < SL_ENGINES; e++) {
		exchanges = sl_engine_exchanges(e, &c);
		printf(" %s %" PRIu64 " %" PRIu32 " %" PRIu32 " %.17g %" PRIu64, sl_engine_name(e), exchanges,
		       sl_engine_bits(e, c.bits), sl_engine_window(e, &c),
		       sl_engine_vectors(e, exchanges, c.busiest, sl_engine_forest_most(&c)),
		       sl_engine_states(e, exchanges, c.busiest));
	}
	printf("\n");
}

static void chunk(void)
{
	struct sl_message m = {.kind = SL_MSG_STATE};
	m.chunk = (struct sl_chunk){.t = 1, .a = 1, .view = {1}, .iteration = 1, .index = (uint32_t)word()};
	m.chunk.size = word();
	printf("%zu\n", sl_codec_bytes(&m));
}

static void records(void)
{
	static sl_id candidates[SL_LEARNERS_MAX];
	static const uint8_t values[SL_CHECKSUM_BYTES_MAX];
	uint32_t count = (uint32_t)word();
	uint64_t floats = word();
	struct sl_field field;
	for (uint32_t i = 0; i < SL_LEARNERS_MAX; i++)
		candidates[i] = i + 1;
	if (sl_field_init(&field, word()) != SL_OK)
		abort();
	const struct sl_message state = {.kind = SL_MSG_LINK_STATE,
					 .link_state = {.id = 1,
							.incarnation = 1,
							.t = 1,
							.a = 1,
							.roster_size = SL_LEARNERS_MAX,
							.n = floats,
							.model = 1,
							.values = SL_VALUES_UPDATE,
							.count = count,
							.candidates = candidates}},
				ready = {.kind = SL_MSG_READY, .ready = {.id = 1, .t = 1, .a = 1, .k = 1}},
				challenge = {.kind = SL_MSG_CHALLENGE,
					     .challenge = {.t = 1, .a = 1, .origin = 1, .value = {1}}},
				checksums = {.kind = SL_MSG_CHECKSUM,
					     .checksums = {.t = 1,
							   .a = 1,
							   .id = 1,
							   .values = values,
							   .size = (count + 1) *
								   sl_packed_bytes(sl_checksum_points(&field),
										   field.bits)}};
	printf("%zu %zu %zu %zu\n", sl_codec_bytes(&state), sl_codec_bytes(&ready),
	       sl_codec_bytes(&challenge), sl_codec_bytes(&checksums));
}

static void keys(void)
{
	const struct sl_message key = {.kind = SL_MSG_KEY, .key = {.t = 1, .a = 1, .origin = 1, .key = {1}}};
	printf("%zu %zu\n", sl_key_tree_share_bytes((uint32_t)word()), sl_codec_bytes(&key));
}

static void spectrum(void)
{
	uint64_t p = word(), n = word();
	double degree_max = real(), edges = real(), mu = real();
	uint32_t bits = sl_spectrum_p_bits(sl_spectrum_width_need_of((double)n, degree_max, edges, mu));
	printf("%" PRIu64 " %" PRIu32 "\n", sl_spectrum_iterations(p, (uint32_t)n, mu),
	       bits < SL_MIXING_P_BITS_MAX ? bits : SL_MIXING_P_BITS_MAX);
}

static void limits(void)
{
	printf("%u %u %u %u %u\n", SL_LEARNERS_MAX, SL_ITERATIONS_MAX, SL_TREES_MAX, SL_CHUNK_ELEMENTS,
	       SL_SLOT_USED_BYTES);
}

static void trees(void)
{
	printf("%" PRIu32 "\n", sl_engine_trees_most(word()));
}

int main(void)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} all[] = {{"engines", engines},   {"chunk", chunk},   {"records", records}, {"keys", keys},
		   {"spectrum", spectrum}, {"limits", limits}, {"trees", trees}};
	char name[16];
	while (scanf("%15s", name) == 1)
		for (size_t i = 0; i < sizeof all / sizeof *all; i++)
			if (strcmp(name, all[i].name) == 0)
				all[i].print();
	return EXIT_SUCCESS;
}
