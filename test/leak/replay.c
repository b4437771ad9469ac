/* Views and workspaces of the learners of a history. */
#include "test/leak/replay.h"

#include "common/compute/job_analysis.h"
#include "common/mixing/spectrum.h"

#define ARENA_BYTES ((size_t)8 << 20)
#define ROOM_AN_ELEMENT 512u
#define EXACT_BITS 48u /* of a limb: six make a value */
#define RANGED_BITS 12u

static void make_graph(struct replay *replay, const struct attempt *attempt, struct sl_view *view)
{
	struct sl_edge edges[HISTORY_LEARNERS * HISTORY_LEARNERS];
	size_t count = 0;
	for (uint32_t i = 0; i < view->n; i++)
		for (uint32_t j = i + 1; j < view->n; j++)
			if (brute_has(&attempt->graph, view->members[i], view->members[j]))
				edges[count++] = (struct sl_edge){i, j};
	assert_int_equal(sl_graph_init(&view->graph, view->n, edges, count, &replay->arena), SL_OK);
}

static void set_noise(struct sl_view *view)
{
	static const struct sl_layout none;
	double one = 1, noise = 20;
	view->agreed.n = view->agreed.max_weight = 1;
	view->agreed.sharing = view->sharing;
	view->agreed.values = SL_VALUES_NOISY;
	memcpy(&view->agreed.dp_clip, &one, sizeof one);
	memcpy(&view->agreed.dp_noise, &noise, sizeof noise);
	sl_view_set_encoding(view, &none);
}

/* Set the kind of the round. */
static void set_form(enum form form, struct sl_view *view)
{
	if (form == FORM_NOISY)
		set_noise(view);
	if (form == FORM_DECIMALS || form == FORM_NOISY)
		return;
	bool ranged = form == FORM_RANGED;
	view->agreed.values = ranged ? SL_VALUES_UPDATE : SL_VALUES_EXACT;
	view->previous[0] = ranged;
	view->encoding.values = (enum sl_values)view->agreed.values;
	view->encoding.update_bits = ranged ? RANGED_BITS : EXACT_BITS;
}

/* The same of a workspace: a model of one float32 has a vector of all these elements. */
static void set_ranges(struct replay *replay, struct sl_workspace *workspace)
{
	enum form form = replay->history->form;
	bool ranged = form == FORM_RANGED;
	if (form == FORM_DECIMALS || form == FORM_NOISY)
		return;
	workspace->n = 1;
	sl_ranges_set(&workspace->ranges, NULL, 1,
		      SL_ARENA_TAKE(&replay->arena, sl_ranges_memory(NULL), uint64_t));
	assert_int_equal(replay->history->elements,
			 1 + 1 +
				 sl_layout_extra(&workspace->ranges.layout, ranged,
						 ranged ? RANGED_BITS : EXACT_BITS));
}

static void make_view(struct replay *replay, uint32_t k, uint32_t self, enum sl_sharing_kind kind,
		      struct sl_view *view)
{
	const struct history *history = replay->history;
	const struct attempt *attempt = &history->attempts[k];
	*view = (struct sl_view){
		.t = 1, .a = k + 1, .h = {(uint8_t)k}, .field = replay->field, .sharing = kind};
	view->members = SL_ARENA_TAKE(&replay->arena, history->learners, uint32_t);
	view->ids = SL_ARENA_TAKE(&replay->arena, history->learners, sl_id);
	view->position = SL_ARENA_TAKE(&replay->arena, history->learners, uint32_t);
	for (uint32_t i = 0; i < history->learners; i++) {
		view->position[i] = attempt->present >> i & 1 ? view->n : UINT32_MAX;
		if (attempt->present >> i & 1) {
			view->members[view->n] = i;
			view->ids[view->n++] = i + 1;
		}
	}
	make_graph(replay, attempt, view);
	view->self = view->position[self];
	view->degree = sl_graph_degree(&view->graph, view->self);
	view->neighbours = sl_graph_neighbours(&view->graph, view->self);
	view->up = SL_ARENA_TAKE(&replay->arena, view->degree, uint64_t);
	view->down = SL_ARENA_TAKE(&replay->arena, view->degree, uint64_t);
	view->keeper = SL_ARENA_TAKE(&replay->arena, view->n, uint32_t);
	view->agreed.tolerance = 1;
	view->fraction = sl_spectrum_fraction_bits(replay->field.bits);
	view->encoding = (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED, .clipping_range = 1};
	set_form(history->form, view);
	view->max_weight = 1;
	view->elements = history->elements;
	view->chunks = view->state_chunks = 1;
	view->state_elements = SL_CHUNK_ELEMENTS;
}

static void make_workspace(struct replay *replay, struct fixture *fixture, enum sl_sharing_kind kind,
			   size_t scratch)
{
	struct sl_workspace *workspace = &fixture->workspace;
	size_t elements = replay->history->elements;
	workspace->n = elements - 1;
	workspace->trained = SL_ARENA_TAKE(&replay->arena, elements, float);
	workspace->committed = SL_ARENA_TAKE(&replay->arena, elements, float);
	workspace->s_bytes = 2 * (elements + 1) * sizeof(uint64_t); /* at any bits */
	workspace->s = (uint8_t *)SL_ARENA_TAKE(&replay->arena, 2 * (elements + 1), uint64_t);
	workspace->second = SL_ARENA_TAKE(&replay->arena, elements, uint64_t);
	workspace->second_elements = elements;
	workspace->weight = 1;
	set_ranges(replay, workspace);
	workspace->randomness_from_os = kind != SL_SHARING_SEEDED;
	workspace->source = random_script_read;
	workspace->source_context = &fixture->random_script;
	void *memory = sl_arena_take(&replay->arena, scratch, 1);
	assert_non_null(memory);
	sl_arena_init(&workspace->scratch, memory, scratch);
}

/* Return one random number for each element of each neighbour's share, and of the mask. */
static size_t count_randomness(const struct replay *replay, uint32_t i)
{
	size_t randomness = 0;
	for (uint32_t k = 0; k < replay->history->count; k++)
		if (replay->history->attempts[k].present >> i & 1)
			randomness += (replay->fixtures[i].views[k].degree + 1) * replay->history->elements;
	return randomness;
}

static void open_fixture(struct replay *replay, uint32_t i, enum sl_sharing_kind kind)
{
	struct fixture *fixture = &replay->fixtures[i];
	size_t scratch = 0, state_file = 0;
	for (uint32_t k = 0; k < replay->history->count; k++) {
		if (!(replay->history->attempts[k].present >> i & 1))
			continue;
		make_view(replay, k, i, kind, &fixture->views[k]);
		size_t need = sl_job_scratch(&fixture->views[k], 1);
		scratch = need > scratch ? need : scratch;
		state_file = replay_state_file_bytes(&fixture->views[k]) > state_file
				     ? replay_state_file_bytes(&fixture->views[k])
				     : state_file;
	}
	fixture->slots = SL_ARENA_TAKE(&replay->arena, state_file, uint8_t);
	assert_non_null(fixture->slots);
	make_workspace(replay, fixture, kind, scratch + 64);
	fixture->random_script = (struct random_script){
		.field = &replay->field, .elements = replay->history->elements, .junk = i};
	replay->random_start[i + 1] = replay->random_start[i] + count_randomness(replay, i);
}

static size_t count_rows(const struct history *history)
{
	size_t rows = 0;
	for (uint32_t k = 0; k < history->count; k++)
		for (uint32_t i = 0; i < history->learners; i++)
			if (history->attempts[k].present >> i & 1)
				rows += (size_t)__builtin_popcount(history->attempts[k].graph.adjacent[i]) +
					3;
	return rows * history->elements;
}

void replay_open(struct replay *replay, const struct history *history, const struct sl_field *field,
		 enum sl_sharing_kind kind)
{
	*replay = (struct replay){.history = history, .field = *field};
	replay->arena = arena_of(ARENA_BYTES + history->learners * history->elements * ROOM_AN_ELEMENT);
	replay->fixtures = calloc(history->learners, sizeof *replay->fixtures);
	assert_non_null(replay->fixtures);
	for (uint32_t i = 0; i < history->learners; i++)
		open_fixture(replay, i, kind);
	for (uint32_t i = 0; i < history->learners; i++)
		for (uint32_t j = 0; j < history->learners; j++)
			replay->mail[i][j] =
				SL_ARENA_TAKE(&replay->arena, history->elements * 8 + SL_KEY_BYTES, uint8_t);
	replay->inputs = replay->random_start[history->learners] + history_models(history);
	replay->outputs = count_rows(history);
	replay->rows = SL_ARENA_TAKE(&replay->arena, replay->outputs, struct row);
	assert_non_null(replay->rows);
}

/* Set the engine as after the view's graph analysis. */
static void set_engine(struct fixture *fixture, struct sl_view *view, enum sl_engine engine)
{
	struct sl_job_result result;
	uint64_t elements = view->elements;
	view->agreed.mixing = (uint64_t)engine;
	view->elements = SL_TREE_ELEMENTS + 1; /* two trees */
	sl_job_run(&fixture->workspace, &(struct sl_job){.kind = SL_JOB_ANALYSE, .view = view}, &result);
	view->elements = elements;
	assert_int_equal(result.code, SL_OK);
	sl_job_analysis_apply(result.analysis, view);
	view->costs.k = REPLAY_ITERATIONS;
	sl_view_set_engine(view);
}

void replay_speak(struct replay *replay, enum sl_engine engine)
{
	replay->spoken_room = 1u << 16;
	replay->spoken = malloc(replay->spoken_room);
	assert_non_null(replay->spoken);
	assert_int_equal(replay->history->count, 1); /* a workspace keeps its last analysis only */
	for (uint32_t i = 0; i < replay->history->learners; i++)
		set_engine(&replay->fixtures[i], &replay->fixtures[i].views[0], engine);
}

void replay_close(struct replay *replay)
{
	arena_free(&replay->arena);
	free(replay->fixtures);
	free(replay->spoken);
	seeds_free(&replay->seeds);
}
