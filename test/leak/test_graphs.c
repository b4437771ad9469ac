/* What a coalition learns in one attempt, on every graph: exactly the sums over the components of the others
 * (F2), and nothing of a component in which one learner has not released (F3). */
#include "test/leak/probe.h"
#include "test/lib/test.h"

#define ELEMENTS 2

static void expect_allowed(const struct probe *probe, uint64_t number, uint32_t coalition)
{
	const struct attempt *attempt = &probe->replay.history->attempts[0];
	if (!map_as_allowed(&probe->map, coalition))
		fail_msg("p %lu, graph %lu on %u: not what coalition %x may learn when %x have released",
			 probe->replay.field.p, number, attempt->graph.n, coalition, attempt->released);
}

/* Check every coalition with every set of releases of the others; or only with all of them released. */
static void ask_graph(uint64_t p, enum sl_sharing_kind kind, enum form form, uint32_t n, uint64_t number,
		      bool parts)
{
	struct brute graph = brute_numbered(n, number);
	struct sl_field field = field_of(p);
	struct history history = history_in(n, form);
	struct attempt attempt = attempt_of(&graph, 0), *asked = &history.attempts[0];
	struct probe probe;
	history_add(&history, &attempt);
	probe_open(&probe, &history, &field, kind, MISTAKE_NONE);
	for (uint32_t coalition = 0; coalition <= all_of(n); coalition++) {
		uint32_t others = all_of(n) & ~coalition, released = others;
		do {
			asked->released = asked->shown = released | coalition;
			expect_allowed(&probe, number, coalition);
			released = (released - 1) & others;
		} while (parts && released != others);
	}
	probe_close(&probe);
}

static void ask_graphs_in(uint64_t p, enum sl_sharing_kind kind, enum form form, uint32_t least,
			  uint32_t most, bool parts)
{
	for (uint32_t n = least; n <= most; n++)
		for (uint64_t number = 0; number < graphs_on(n); number++) {
			struct brute graph = brute_numbered(n, number);
			if (brute_components(&graph, 0) == 1)
				ask_graph(p, kind, form, n, number, parts);
		}
}

static void ask_graphs(uint64_t p, enum sl_sharing_kind kind, uint32_t least, uint32_t most, bool parts)
{
	ask_graphs_in(p, kind, FORM_DECIMALS, least, most, parts);
}

TEST(small_fields)
{
	for (EACH_KIND(kind)) {
		ask_graphs(5, kind, 2, 4, true); /* ids are below p */
		ask_graphs(7, kind, 2, 4, true);
	}
}

TEST(large_fields)
{
	for (EACH_KIND(kind)) {
		ask_graphs(11, kind, 2, 4, false);
		ask_graphs(SL_P_MERSENNE31, kind, 2, 4, false);
		ask_graphs((UINT64_C(1) << 44) - 17, kind, 2, 4, false);
	}
}

/* Of limbs and of counts, too, a coalition learns the sum of each element and nothing else. */
TEST(limbs_and_counts)
{
	for (EACH_KIND(kind)) {
		ask_graphs_in(7, kind, FORM_EXACT, 2, 3, true);
		ask_graphs_in(7, kind, FORM_RANGED, 2, 3, true);
		ask_graph(SL_P_MERSENNE31, kind, FORM_RANGED, 4, graphs_on(4) - 1, false);
	}
}

/* Of vectors with noise, the sum with all noise. */
TEST(noise)
{
	for (EACH_KIND(kind)) {
		ask_graphs_in(SL_P_MERSENNE31, kind, FORM_NOISY, 2, 3, true);
		ask_graphs_in(SL_P_MERSENNE31, kind, FORM_NOISY, 4, 4, false);
	}
}

TEST_NIGHTLY(limbs_and_counts_of_four)
{
	for (EACH_KIND(kind)) {
		ask_graphs_in(7, kind, FORM_EXACT, 4, 4, true);
		ask_graphs_in(7, kind, FORM_RANGED, 4, 4, false);
	}
}

TEST_NIGHTLY(graphs_of_five)
{
	for (EACH_KIND(kind)) {
		ask_graphs(7, kind, 5, 5, true);
		ask_graphs(11, kind, 5, 5, false);
		ask_graphs(SL_P_MERSENNE31, kind, 5, 5, false);
		ask_graphs((UINT64_C(1) << 44) - 17, kind, 5, 5, false);
	}
}

/* If own shares are sent, one colluder in a triangle learns both models. */
TEST(own_share_sent)
{
	struct brute triangle = brute_numbered(3, graphs_on(3) - 1);
	struct sl_field field = field_of(7);
	struct history history = history_of(3, ELEMENTS);
	struct attempt attempt = attempt_of(&triangle, all_of(3));
	struct probe probe;
	history_add(&history, &attempt);
	for (EACH_KIND(kind)) {
		probe_open(&probe, &history, &field, kind, MISTAKE_OWN_SENT);
		struct matrix learned = map_learned(&probe.map, 1);
		assert_int_equal(learned.rows, 2 * ELEMENTS);
		assert_false(map_as_allowed(&probe.map, 1));
		assert_true(map_as_allowed(&probe.map, 0)); /* it receives nothing */
		matrix_free(&learned);
		probe_close(&probe);
	}
}

/* A state that is shown by mistake is noticed if it is the last one missing. */
TEST(shown_early)
{
	struct brute ring = brute_numbered(4, 0x2d); /* 0-1 0-3 1-2 2-3 */
	struct sl_field field = field_of(7);
	struct history history = history_of(4, ELEMENTS);
	struct attempt attempt = attempt_of(&ring, all_of(4) & ~2u), *asked = &history.attempts[0];
	struct probe probe;
	history_add(&history, &attempt);
	for (EACH_KIND(kind)) {
		probe_open(&probe, &history, &field, kind, MISTAKE_NONE);
		asked->shown = asked->released;
		assert_true(map_as_allowed(&probe.map, 1));
		asked->shown |= 2;
		assert_false(map_as_allowed(&probe.map, 1));
		asked->shown &= ~4u;
		assert_true(map_as_allowed(&probe.map, 1)); /* another one is still missing */
		probe_close(&probe);
	}
}
