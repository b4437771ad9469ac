/* Views and vaults of the learners of a history. */
#include "test/leak/stage.h"

#include "common/compute/job_analysis.h"
#include "common/mixing/spectrum.h"

#define ARENA_BYTES ((size_t)8 << 20)
#define ROOM_AN_ELEMENT 512u

static void make_graph(struct stage *stage, const struct attempt *attempt, struct sl_view *view)
{
	struct sl_edge edges[HISTORY_LEARNERS * HISTORY_LEARNERS];
	size_t count = 0;
	for (uint32_t i = 0; i < view->n; i++)
		for (uint32_t j = i + 1; j < view->n; j++)
			if (brute_has(&attempt->graph, view->members[i], view->members[j]))
				edges[count++] = (struct sl_edge){i, j};
	assert_int_equal(sl_graph_init(&view->graph, view->n, edges, count, &stage->arena), SL_OK);
}

static void make_view(struct stage *stage, uint32_t k, uint32_t self, enum sl_sharing_kind kind, struct sl_view *view)
{
	const struct history *history = stage->history;
	const struct attempt *attempt = &history->attempts[k];
	*view = (struct sl_view){.t = 1, .a = k + 1, .h = {(uint8_t)k}, .field = stage->field, .sharing = kind};
	view->members = SL_TAKE(&stage->arena, history->learners, uint32_t);
	view->ids = SL_TAKE(&stage->arena, history->learners, sl_id);
	view->position = SL_TAKE(&stage->arena, history->learners, uint32_t);
	for (uint32_t i = 0; i < history->learners; i++) {
		view->position[i] = attempt->present >> i & 1 ? view->n : UINT32_MAX;
		if (attempt->present >> i & 1) {
			view->members[view->n] = i;
			view->ids[view->n++] = i + 1;
		}
	}
	make_graph(stage, attempt, view);
	view->self = view->position[self];
	view->degree = sl_degree(&view->graph, view->self);
	view->neighbours = sl_neighbours(&view->graph, view->self);
	view->roles = SL_TAKE(&stage->arena, view->degree, uint8_t);
	view->agreed.tolerance = 1;
	view->fraction = sl_fraction_bits(stage->field.bits);
	view->encoding = (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED, .clip = 1};
	view->max_weight = 1;
	view->elements = history->elements;
	view->chunks = 1;
}

static void make_vault(struct stage *stage, struct desk *desk, enum sl_sharing_kind kind, size_t scratch)
{
	struct sl_vault *vault = &desk->vault;
	size_t elements = stage->history->elements;
	vault->n = elements - 1;
	vault->trained = SL_TAKE(&stage->arena, elements, float);
	vault->committed = SL_TAKE(&stage->arena, elements, float);
	vault->x = SL_TAKE(&stage->arena, elements, uint64_t);
	vault->s = SL_TAKE(&stage->arena, elements, uint64_t);
	vault->weight = 1;
	vault->coins_from_os = kind != SL_SHARING_SEEDED;
	vault->source = tape_read;
	vault->source_context = &desk->tape;
	void *memory = sl_arena_take(&stage->arena, scratch, 1);
	assert_non_null(memory);
	sl_arena_init(&vault->scratch, memory, scratch);
}

/* One coin for each element of each neighbour's share: as many as the sharing has. */
static size_t count_coins(const struct stage *stage, uint32_t i)
{
	size_t coins = 0;
	for (uint32_t k = 0; k < stage->history->count; k++)
		if (stage->history->attempts[k].present >> i & 1)
			coins += stage->desks[i].views[k].degree * stage->history->elements;
	return coins;
}

static void open_desk(struct stage *stage, uint32_t i, enum sl_sharing_kind kind)
{
	struct desk *desk = &stage->desks[i];
	size_t scratch = 0, spool = 0;
	for (uint32_t k = 0; k < stage->history->count; k++) {
		if (!(stage->history->attempts[k].present >> i & 1))
			continue;
		make_view(stage, k, i, kind, &desk->views[k]);
		size_t need = sl_vault_scratch(&desk->views[k]);
		scratch = need > scratch ? need : scratch;
		spool = stage_spool_bytes(&desk->views[k]) > spool ? stage_spool_bytes(&desk->views[k]) : spool;
	}
	desk->slots = SL_TAKE(&stage->arena, spool, uint8_t);
	assert_non_null(desk->slots);
	make_vault(stage, desk, kind, scratch + 64);
	desk->tape = (struct tape){.field = &stage->field, .elements = stage->history->elements, .junk = i};
	stage->coin_start[i + 1] = stage->coin_start[i] + count_coins(stage, i);
}

static size_t count_rows(const struct history *history)
{
	size_t rows = 0;
	for (uint32_t k = 0; k < history->count; k++)
		for (uint32_t i = 0; i < history->learners; i++)
			if (history->attempts[k].present >> i & 1)
				rows += (size_t)__builtin_popcount(history->attempts[k].graph.adjacent[i]) + 2;
	return rows * history->elements;
}

void stage_open(struct stage *stage, const struct history *history, const struct sl_field *field, enum sl_sharing_kind kind)
{
	*stage = (struct stage){.history = history, .field = *field};
	stage->arena = arena_of(ARENA_BYTES + history->learners * history->elements * ROOM_AN_ELEMENT);
	stage->desks = calloc(history->learners, sizeof *stage->desks);
	assert_non_null(stage->desks);
	for (uint32_t i = 0; i < history->learners; i++)
		open_desk(stage, i, kind);
	for (uint32_t i = 0; i < history->learners; i++)
		for (uint32_t j = 0; j < history->learners; j++)
			stage->mail[i][j] = SL_TAKE(&stage->arena, history->elements * 8 + SL_KEY_BYTES, uint8_t);
	stage->inputs = stage->coin_start[history->learners] + history_models(history);
	stage->outputs = count_rows(history);
	stage->rows = SL_TAKE(&stage->arena, stage->outputs, struct row);
	assert_non_null(stage->rows);
}

/* As the view's survey would have it. */
static void set_engine(struct desk *desk, struct sl_view *view, enum sl_engine engine)
{
	struct sl_job_result result;
	view->agreed.mixing = (uint64_t)engine;
	sl_job_run(&desk->vault, &(struct sl_job){.kind = SL_JOB_SURVEY, .view = view}, &result);
	assert_int_equal(result.code, SL_OK);
	sl_survey_apply(result.survey, view);
	view->costs.k = STAGE_ITERATIONS;
	sl_view_set_engine(view);
}

void stage_speak(struct stage *stage, enum sl_engine engine)
{
	stage->spoken_room = 1u << 16;
	stage->spoken = malloc(stage->spoken_room);
	assert_true(stage->spoken != NULL && stage->history->count == 1); /* a vault keeps what it surveyed last */
	for (uint32_t i = 0; i < stage->history->learners; i++)
		set_engine(&stage->desks[i], &stage->desks[i].views[0], engine);
}

void stage_close(struct stage *stage)
{
	arena_free(&stage->arena);
	free(stage->desks);
	free(stage->spoken);
	seeds_free(&stage->seeds);
}
