/* F1: mixing, recovery and result reveal only the masked states (ROUND.md §2.3 What a coalition learns).
 * Two worlds that the coalition cannot tell apart up to the release are played to the end: all bytes are
 * equal. */
#include "test/leak/probe.h"
#include "test/lib/test.h"

struct worlds {
	struct history history;
	struct probe probe;
	uint64_t *one, *other, *outputs, *outputs_other;
};

static void open_worlds(struct worlds *worlds, const struct brute *graph, enum form form, uint64_t p,
			enum sl_sharing_kind kind, enum sl_engine engine)
{
	struct sl_field field = field_of(p);
	struct attempt attempt = attempt_of(graph, all_of(graph->n));
	struct replay *replay = &worlds->probe.replay;
	*worlds = (struct worlds){.history = history_in(graph->n, form)};
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

/* Return model element `l` of learner i in the first world. */
static uint64_t *element(const struct worlds *worlds, uint32_t i, size_t l)
{
	const struct history *history = &worlds->history;
	return &worlds->one[worlds->probe.replay.random_start[history->learners] +
			    history_model(history, i, 0, l)];
}

/* With limbs, let the first world have a plausible sum, which is decoded: small values, all updates of one
 * magnitude, weights of 1. */
static void make_plausible(struct worlds *worlds, uint64_t *seed)
{
	const struct history *history = &worlds->history;
	const struct sl_field *field = &worlds->probe.replay.field;
	size_t weight = history->elements - 1, counts = history->form == FORM_RANGED ? 16 : 0,
	       magnitude = weight - counts + any64(seed) % 16;
	for (size_t l = 0; history->form != FORM_DECIMALS && l <= weight; l++) {
		uint64_t *first = element(worlds, 0, l);
		*first = l == weight || (l == magnitude && counts > 0) ? history->learners
			 : l < weight - counts			       ? any64(seed) % 7
								       : 0;
		for (uint32_t i = 1; i < history->learners; i++)
			*first = sl_field_sub(field, *first, *element(worlds, i, l));
	}
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
	make_plausible(worlds, seed);
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
	const uint64_t *z = (const uint64_t *)(const void *)(replay->spoken + replay->spoken_size) -
			    worlds->history.elements;
	for (size_t l = 0; l < worlds->history.elements; l++) {
		uint64_t sum = 0;
		for (uint32_t i = 0; i < worlds->history.learners; i++)
			sum = sl_field_add(&replay->field, sum, *element(worlds, i, l));
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
	if (worlds->history.form != FORM_DECIMALS) /* of CLOSE and of SUM */
		assert_int_equal(replay->results, 2 * worlds->history.learners);
	for (size_t o = 0; o < replay->outputs; o++)
		if (map_sees(&worlds->probe.map, coalition, &replay->rows[o]))
			assert_int_equal(worlds->outputs[o], worlds->outputs_other[o]);
	free(spoken);
}

static void ask(const struct brute *graph, enum form form, uint64_t p, enum sl_sharing_kind kind,
		enum sl_engine engine)
{
	struct worlds worlds;
	uint64_t seed = p;
	open_worlds(&worlds, graph, form, p, kind, engine);
	size_t models = worlds.probe.replay.random_start[graph->n],
	       bytes = graph->n * worlds.history.elements * sizeof *worlds.one;
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

static void ask_graphs(enum form form, uint32_t n, uint64_t step)
{
	for (uint64_t number = 0; number < graphs_on(n); number += step) {
		struct brute graph = brute_numbered(n, number);
		if (brute_components(&graph, 0) != 1)
			continue;
		enum sl_sharing_kind kind = (enum sl_sharing_kind)(number % 3);
		for (enum sl_engine engine = SL_ENGINE_EXACT; engine < SL_ENGINES; engine++) {
			if (form != FORM_NOISY) /* noise is below p */
				ask(&graph, form, 7, SL_SHARING_SHAMIR, engine);
			ask(&graph, form, SL_P_MERSENNE31, kind, engine);
		}
	}
}

TEST(indistinguishable_to_the_end)
{
	for (uint32_t n = 2; n <= 4; n++)
		ask_graphs(FORM_DECIMALS, n, 1);
}

/* Nor do the exponents and the result of a round with limbs depend on more than the sums. */
TEST(indistinguishable_with_limbs)
{
	for (uint32_t n = 2; n <= 3; n++) {
		ask_graphs(FORM_EXACT, n, 1);
		ask_graphs(FORM_RANGED, n, 1);
	}
}

/* Nor does a round with noise, with the same noise in both worlds. */
TEST(indistinguishable_with_noise)
{
	for (uint32_t n = 2; n <= 4; n++)
		ask_graphs(FORM_NOISY, n, 1);
}

TEST_NIGHTLY(indistinguishable_with_limbs_on_four)
{
	ask_graphs(FORM_EXACT, 4, 3);
	ask_graphs(FORM_RANGED, 4, 3);
}

TEST_NIGHTLY(indistinguishable_on_five)
{
	ask_graphs(FORM_DECIMALS, 5, 7);
}

/* 1 is a double eigenvalue of W mod 7: metropolis takes the place of exact (ROUND.md §8.5 Which engine a
 * view uses). */
TEST(double_eigenvalue)
{
	static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}};
	struct brute graph = {.n = 5};
	for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
		brute_join(&graph, edges[e][0], edges[e][1]);
	for (enum sl_engine engine = SL_ENGINE_EXACT; engine < SL_ENGINES; engine++) {
		struct worlds worlds;
		open_worlds(&worlds, &graph, FORM_DECIMALS, 7, SL_SHARING_SHAMIR, engine);
		const struct sl_view *view = &worlds.probe.replay.fixtures[0].views[0];
		assert_int_equal(view->engine, engine == SL_ENGINE_EXACT ? SL_ENGINE_METROPOLIS : engine);
		close_worlds(&worlds);
		ask(&graph, FORM_DECIMALS, 7, SL_SHARING_OS, engine);
	}
}

/* The comparison can fail: with another sum, the last masked state differs. */
TEST(another_sum)
{
	struct brute ring = brute_numbered(4, 0x2d);
	struct worlds worlds;
	uint64_t seed = 1;
	open_worlds(&worlds, &ring, FORM_DECIMALS, 7, SL_SHARING_SHAMIR, SL_ENGINE_EXACT);
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
