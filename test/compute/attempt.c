#include "test/compute/attempt.h"

#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "common/base/bytes.h"
#include "common/compute/state.h"
#include "common/mixing/spectrum.h"
#include "test/lib/test.h"

#define GRAPH_BYTES 4096u

static uint64_t draw(struct attempt *a)
{
	a->random = a->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return a->random >> 16;
}

static void source(void *context, uint8_t *bytes, size_t n)
{
	struct attempt *a = context;
	for (size_t k = 0; k < n; k++)
		bytes[k] = (uint8_t)draw(a);
}

static void draw_states(struct attempt *a)
{
	for (uint32_t l = 0; l < ELEMENTS; l++) {
		uint64_t first = draw(a) % a->view.field.p, second = draw(a) % a->view.field.p,
			 total = l + 1 < ELEMENTS ? 0 : LEARNERS;
		a->state[0][l] = first;
		a->state[1][l] = second;
		a->state[2][l] =
			sl_field_sub(&a->view.field, total, sl_field_add(&a->view.field, first, second));
	}
}

static void make_view(struct attempt *a, enum sl_sharing_kind kind, uint64_t p)
{
	static const struct sl_edge edges[] = {{0, 1}, {0, 2}, {1, 2}};
	static sl_id ids[] = {1, 2, 3};
	struct sl_arena arena;
	a->graph = malloc(GRAPH_BYTES);
	sl_arena_init(&arena, a->graph, GRAPH_BYTES);
	a->view = (struct sl_view){.t = 1,
				   .a = 9,
				   .n = LEARNERS,
				   .ids = ids,
				   .elements = ELEMENTS,
				   .chunks = 2,
				   .state_chunks = 2,
				   .state_elements = SL_CHUNK_ELEMENTS,
				   .max_weight = 1,
				   .degree = 2,
				   .sharing = kind,
				   .engine = SL_ENGINE_METROPOLIS};
	a->view.encoding = (struct sl_encoding){
		.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16, .weight_total = LEARNERS};
	a->view.agreed.tolerance = 1;
	assert_int_equal(sl_graph_init(&a->view.graph, LEARNERS, edges, 3, &arena), SL_OK);
	assert_int_equal(sl_field_init(&a->view.field, p), SL_OK);
	a->view.fraction = sl_spectrum_fraction_bits(a->view.field.bits);
	a->view.neighbours = sl_graph_neighbours(&a->view.graph, 0);
}

struct sl_job_result attempt_run(struct attempt *a, struct sl_job job)
{
	struct sl_job_result result;
	job.view = &a->view;
	job.keys = (const uint8_t(*)[SL_KEY_BYTES])a->keys;
	sl_job_run(&a->workspace, &job, &result);
	return result;
}

void attempt_run_well(struct attempt *a, enum sl_job_kind kind, uint32_t chunk)
{
	assert_int_equal(attempt_run(a, (struct sl_job){.kind = kind, .chunk = chunk}).code, SL_OK);
}

static int setup_kind(void **state, enum sl_sharing_kind kind, uint64_t p)
{
	if (sodium_init() < 0)
		return -1;
	struct attempt *a = *state = calloc(1, sizeof *a);
	struct sl_workspace *w = &a->workspace;
	make_view(a, kind, p);
	size_t scratch = sl_job_scratch(&a->view, WORKERS_MOST);
	*w = (struct sl_workspace){.n = ELEMENTS - 1, .weight = 1, .source = source, .source_context = a};
	w->trained = calloc(ELEMENTS, sizeof(float));
	w->committed = calloc(ELEMENTS, sizeof(float));
	w->s_bytes = sl_state_packed(&a->view);
	w->s = calloc(1, w->s_bytes);
	w->second = calloc(ELEMENTS, sizeof *w->second);
	w->second_elements = ELEMENTS;
	sl_arena_init(&w->scratch, calloc(1, scratch), scratch);
	w->state_file.slot_bytes = sl_slot_bytes(&a->view);
	w->state_file.base = calloc(LEARNERS, w->state_file.slot_bytes);
	for (size_t l = 0; l + 1 < ELEMENTS; l++)
		((float *)w->trained)[l] = 1.5f + (float)(l % 9);
	draw_states(a);
	source(a, a->keys[1], 2 * SL_KEY_BYTES);
	attempt_run_well(a, SL_JOB_ENCODE, 0);
	attempt_run_well(a, SL_JOB_SECRETS, 0);
	memcpy(a->keys[0], w->secrets.key, SL_KEY_BYTES);
	return 0;
}

int attempt_setup(void **state)
{
	return setup_kind(state, SL_SHARING_SHAMIR, PRIME);
}

int attempt_setup_seeded(void **state)
{
	return setup_kind(state, SL_SHARING_SEEDED, PRIME);
}

int attempt_setup_wide(void **state)
{
	return setup_kind(state, SL_SHARING_SHAMIR, WIDE_PRIME);
}

int attempt_teardown(void **state)
{
	struct attempt *a = *state;
	free(a->graph);
	free(a->workspace.trained);
	free(a->workspace.committed);
	free(a->workspace.s);
	free(a->workspace.second);
	free(a->workspace.scratch.base);
	free(a->workspace.state_file.base);
	free(a);
	return 0;
}

static uint64_t bits(double value)
{
	uint64_t b;
	memcpy(&b, &value, sizeof b);
	return b;
}

void attempt_set_noise(struct attempt *a, double noise, enum sl_dp_unit unit)
{
	struct sl_view *view = &a->view;
	static const struct sl_layout none;
	view->agreed = (struct sl_parameters){.n = ELEMENTS - 1,
					      .tolerance = 1,
					      .max_weight = 1,
					      .values = SL_VALUES_NOISY,
					      .sharing = view->sharing,
					      .dp_unit = unit,
					      .dp_clip = bits(2),
					      .dp_noise = bits(noise)};
	sl_view_set_encoding(view, &none);
	assert_int_equal(view->elements, ELEMENTS);
}

void attempt_set_state(struct attempt *a, const uint64_t state[ELEMENTS])
{
	sl_bytes_pack(a->workspace.s, state, ELEMENTS, a->view.field.bits);
}

uint64_t attempt_state(const struct attempt *a, size_t l)
{
	return sl_bytes_element(a->workspace.s, l, a->view.field.bits);
}

/* Block by block: the masks are streams of their own. */
void attempt_deposit(struct attempt *a, uint32_t i, uint8_t *packed)
{
	uint64_t *masked = malloc(sizeof a->state[i]);
	memcpy(masked, a->state[i], sizeof a->state[i]);
	for (uint32_t b = 0; b * SL_BLOCK_ELEMENTS < ELEMENTS; b++) {
		uint32_t left = ELEMENTS - b * SL_BLOCK_ELEMENTS;
		struct sl_prg mask;
		sl_prg_open_at(&mask, a->keys[i], b + 1);
		sl_prg_add(&mask, &a->view.field, masked + (size_t)b * SL_BLOCK_ELEMENTS,
			   left < SL_BLOCK_ELEMENTS ? left : SL_BLOCK_ELEMENTS);
	}
	sl_bytes_pack(packed, masked, ELEMENTS, a->view.field.bits);
	free(masked);
}

void attempt_fetch(struct attempt *a, uint32_t first, uint32_t last, uint32_t chunk)
{
	struct sl_buffer buffers[LEARNERS];
	for (uint32_t i = first; i <= last; i++) {
		size_t start = sl_packed_bytes((size_t)chunk * SL_CHUNK_ELEMENTS, a->view.field.bits);
		uint8_t *packed = malloc(sl_slot_state_bytes(&a->view));
		attempt_deposit(a, i, packed);
		buffers[i] = (struct sl_buffer){.index = chunk, .from = i, .origin = i + 1, .memory = packed};
		buffers[i].size =
			sl_packed_bytes(sl_view_chunk_elements(&a->view, chunk), a->view.field.bits);
		buffers[i].bytes = packed + start;
		buffers[i].next = i < last ? &buffers[i + 1] : NULL;
	}
	struct sl_job job = {.kind = SL_JOB_FETCH, .buffers = &buffers[first]};
	assert_int_equal(attempt_run(a, job).code, SL_OK);
	for (uint32_t i = first; i <= last; i++)
		free(buffers[i].memory);
}

void attempt_add(struct attempt *a, size_t l, uint64_t change)
{
	const struct sl_field *field = &a->view.field;
	a->state[0][l] = sl_field_add(field, a->state[0][l], sl_field_lift(field, change));
}

void attempt_fetch_all(struct attempt *a)
{
	for (uint32_t m = 0; m < a->view.chunks; m++)
		attempt_fetch(a, 0, LEARNERS - 1, m);
}
