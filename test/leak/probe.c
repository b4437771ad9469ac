#include "test/leak/probe.h"

#define PREDICTIONS 2

static void recover(struct probe *probe)
{
	struct stage *stage = &probe->stage;
	struct matrix *cells = &probe->map.cells;
	uint64_t *inputs = calloc(stage->inputs, sizeof *inputs), *outputs = calloc(stage->outputs, sizeof *outputs);
	stage_run(stage, inputs, probe->base);
	for (size_t o = 0; o < stage->outputs; o++)
		matrix_add(cells);
	for (size_t c = 0; c < stage->inputs; c++) {
		inputs[c] = 1;
		stage_run(stage, inputs, outputs);
		inputs[c] = 0;
		for (size_t o = 0; o < stage->outputs; o++)
			matrix_row(cells, o)[c] = sl_sub(&stage->field, outputs[o], probe->base[o]);
	}
	free(inputs);
	free(outputs);
}

/* Affine it is: some inputs that are no units come out as the map says. */
static void confirm(struct probe *probe)
{
	struct stage *stage = &probe->stage;
	uint64_t *inputs = calloc(stage->inputs, sizeof *inputs), *outputs = calloc(stage->outputs, sizeof *outputs);
	uint64_t seed = stage->inputs;
	for (int time = 0; time < PREDICTIONS; time++) {
		for (size_t c = 0; c < stage->inputs; c++)
			inputs[c] = any64(&seed) % stage->field.p;
		stage_run(stage, inputs, outputs);
		for (size_t o = 0; o < stage->outputs; o++)
			assert_int_equal(outputs[o], map_predict(&probe->map, o, probe->base[o], inputs));
	}
	free(inputs);
	free(outputs);
}

void probe_open(struct probe *probe, const struct history *history, const struct sl_field *field, enum sl_sharing_kind kind,
		enum mistake mistake)
{
	struct stage *stage = &probe->stage;
	stage_open(stage, history, field, kind);
	stage->rewinds = mistake == MISTAKE_COINS_TWICE;
	probe->map = (struct map){.history = history,
				  .field = *field,
				  .inputs = stage->inputs,
				  .outputs = stage->outputs,
				  .rows = stage->rows,
				  .own_sent = mistake == MISTAKE_OWN_SENT,
				  .cells = matrix_of(field, stage->inputs)};
	memcpy(probe->map.coin_start, stage->coin_start, sizeof stage->coin_start);
	probe->base = calloc(stage->outputs, sizeof *probe->base);
	recover(probe);
	confirm(probe);
}

void probe_close(struct probe *probe)
{
	matrix_free(&probe->map.cells);
	free(probe->base);
	stage_close(&probe->stage);
}
