/* F1: mixing, recovery and result reveal only the masked states (PROTOCOL.md §2.3 What a coalition learns).
 * Two worlds that the coalition cannot tell apart up to the release are played to the end: all bytes are
 * equal. */
#include "test/leak/probe.h"
#include "test/lib/test.h"

#define ELEMENTS 2

struct worlds {
	struct history history;
	struct probe probe;
	uint64_t *one, *other, *outputs, *outputs_other;
};

static void open_worlds(struct worlds *worlds, const struct brute *graph, uint64_t p,
			enum sl_sharing_kind kind, enum sl_engine engine)
{
	struct sl_field field = field_of(p);
	struct attempt attempt = attempt_of(graph, all_of(graph->n));
	struct replay *replay = &worlds->probe.replay;
	*worlds = (struct worlds){.history = history_of(graph->n, ELEMENTS)};
	history_add(&worlds->history, &attempt);
	probe_open(&worlds->probe, &worlds->history, &field, kind, MISTAKE_NONE);
	replay_speak(replay, engine);
	worlds->one = calloc(replay->inputs, sizeof *worlds->one);
	worlds->other = calloc(replay->inputs, sizeof *worlds->other);
	worlds->outputs = calloc(replay->outputs, sizeof *worlds->outputs);
	worlds->outputs_other = calloc(replay->outputs, sizeof *worlds->outputs);
}

static void close_worlds(struct worlds *worlds)
{
	probe_close(&worlds->probe);
	free(worlds->one);
	free(worlds->other);
	free(worlds->outputs);
	free(worlds->outputs_other);
}

/* Choose another world: other models and random numbers of the others, with equal messages to the coalition
 * up to the release. */
static void choose(struct worlds *worlds, uint32_t coalition, uint64_t *seed)
{
	const struct replay *replay = &worlds->probe.replay;
	struct matrix seen = map_seen(&worlds->probe.map, coalition);
	for (size_t c = 0; c < replay->inputs; c++) { /* the coalition's inputs are equal */
		if (coalition >> map_owner(&worlds->probe.map, c) & 1)
			matrix_add(&seen)[c] = 1;
		worlds->one[c] = any64(seed) % replay->field.p;
	}
	matrix_reduce(&seen);
	matrix_kernel(&seen, seed, worlds->other);
	for (size_t c = 0; c < replay->inputs; c++)
		worlds->other[c] = sl_field_add(&replay->field, worlds->one[c], worlds->other[c]);
	matrix_free(&seen);
}

static uint8_t *copy_spoken(const struct replay *replay)
{
	uint8_t *copy = malloc(replay->spoken_size);
	return memcpy(copy, replay->spoken, replay->spoken_size);
}

/* Z is written last. */
static void expect_sum(const struct worlds *worlds)
{
	const struct replay *replay = &worlds->probe.replay;
	const uint64_t *z = (const uint64_t *)(const void *)(replay->spoken + replay->spoken_size) - ELEMENTS;
	for (size_t l = 0; l < ELEMENTS; l++) {
		uint64_t sum = 0;
		for (uint32_t i = 0; i < worlds->history.learners; i++)
			sum = sl_field_add(&replay->field, sum,
					   worlds->one[replay->random_start[worlds->history.learners] +
						       i * ELEMENTS + l]);
		assert_int_equal(z[l], sum);
	}
}

static void play_both(struct worlds *worlds, uint32_t coalition)
{
	struct replay *replay = &worlds->probe.replay;
	replay_run(replay, worlds->other, worlds->outputs_other);
	uint8_t *spoken = copy_spoken(replay);
	size_t size = replay->spoken_size;
	replay_run(replay, worlds->one, worlds->outputs);
	assert_int_equal(size, replay->spoken_size);
	assert_memory_equal(spoken, replay->spoken, size);
	for (size_t o = 0; o < replay->outputs; o++)
		if (map_sees(&worlds->probe.map, coalition, &replay->rows[o]))
			assert_int_equal(worlds->outputs[o], worlds->outputs_other[o]);
	free(spoken);
}

static void ask(const struct brute *graph, uint64_t p, enum sl_sharing_kind kind, enum sl_engine engine)
{
	struct worlds worlds;
	uint64_t seed = p;
	open_worlds(&worlds, graph, p, kind, engine);
	size_t models = worlds.probe.replay.random_start[graph->n],
	       bytes = graph->n * ELEMENTS * sizeof *worlds.one;
	for (uint32_t coalition = 0; coalition < all_of(graph->n); coalition++) {
		bool differ = false;
		for (int time = 0; time < 4; time++) {
			choose(&worlds, coalition, &seed);
			differ |= memcmp(worlds.one + models, worlds.other + models, bytes) != 0;
			play_both(&worlds, coalition);
			if (p == 7)
				expect_sum(&worlds);
		}
		if (brute_components(graph, coalition) < graph->n - (uint32_t)__builtin_popcount(coalition))
			assert_true(differ); /* a component of two or more: only its sum is fixed */
	}
	close_worlds(&worlds);
}

static void ask_graphs(uint32_t n, uint64_t step)
{
	for (uint64_t number = 0; number < graphs_on(n); number += step) {
		struct brute graph = brute_numbered(n, number);
		if (brute_components(&graph, 0) != 1)
			continue;
		enum sl_sharing_kind kind = (enum sl_sharing_kind)(number % 3);
		for (enum sl_engine engine = SL_ENGINE_EXACT; engine < SL_ENGINES; engine++) {
			ask(&graph, 7, SL_SHARING_SHAMIR, engine);
			ask(&graph, SL_P_MERSENNE31, kind, engine);
		}
	}
}

TEST(indistinguishable_to_the_end)
{
	for (uint32_t n = 2; n <= 4; n++)
		ask_graphs(n, 1);
}

TEST_NIGHTLY(indistinguishable_on_five)
{
	ask_graphs(5, 7);
}

/* 1 is a double eigenvalue of W mod 7: metropolis takes the place of exact (PROTOCOL.md §8.5 Which engine a
 * view uses). */
TEST(double_eigenvalue)
{
	static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}};
	struct brute graph = {.n = 5};
	for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
		brute_join(&graph, edges[e][0], edges[e][1]);
	for (enum sl_engine engine = SL_ENGINE_EXACT; engine < SL_ENGINES; engine++) {
		struct worlds worlds;
		open_worlds(&worlds, &graph, 7, SL_SHARING_SHAMIR, engine);
		const struct sl_view *view = &worlds.probe.replay.fixtures[0].views[0];
		assert_int_equal(view->engine, engine == SL_ENGINE_EXACT ? SL_ENGINE_METROPOLIS : engine);
		close_worlds(&worlds);
		ask(&graph, 7, SL_SHARING_ADDITIVE, engine);
	}
}

/* The comparison can fail: with another sum, the last masked state differs. */
TEST(another_sum)
{
	struct brute ring = brute_numbered(4, 0x2d);
	struct worlds worlds;
	uint64_t seed = 1;
	open_worlds(&worlds, &ring, 7, SL_SHARING_SHAMIR, SL_ENGINE_EXACT);
	struct replay *replay = &worlds.probe.replay;
	choose(&worlds, 1, &seed);
	size_t model = replay->inputs - 1;
	worlds.other[model] = (worlds.other[model] + 1) % 7;
	replay_run(replay, worlds.other, worlds.outputs_other);
	uint8_t *spoken = copy_spoken(replay);
	replay_run(replay, worlds.one, worlds.outputs);
	assert_memory_not_equal(spoken, replay->spoken, replay->spoken_size);
	free(spoken);
	close_worlds(&worlds);
}
