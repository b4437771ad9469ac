#include "test/leak/probe.h"

#define PREDICTIONS 2

static void recover(struct probe *probe)
{
	struct replay *replay = &probe->replay;
	struct matrix *cells = &probe->map.cells;
	uint64_t *inputs = calloc(replay->inputs, sizeof *inputs),
		 *outputs = calloc(replay->outputs, sizeof *outputs);
	replay_run(replay, inputs, probe->base);
	for (size_t o = 0; o < replay->outputs; o++)
		matrix_add(cells);
	for (size_t c = 0; c < replay->inputs; c++) {
		inputs[c] = 1;
		replay_run(replay, inputs, outputs);
		inputs[c] = 0;
		for (size_t o = 0; o < replay->outputs; o++)
			matrix_row(cells, o)[c] = sl_field_sub(&replay->field, outputs[o], probe->base[o]);
	}
	free(inputs);
	free(outputs);
}

/* The map is affine: it predicts the outputs of other inputs than units. */
static void confirm(struct probe *probe)
{
	struct replay *replay = &probe->replay;
	uint64_t *inputs = calloc(replay->inputs, sizeof *inputs),
		 *outputs = calloc(replay->outputs, sizeof *outputs);
	uint64_t seed = replay->inputs;
	for (int time = 0; time < PREDICTIONS; time++) {
		for (size_t c = 0; c < replay->inputs; c++)
			inputs[c] = any64(&seed) % replay->field.p;
		replay_run(replay, inputs, outputs);
		for (size_t o = 0; o < replay->outputs; o++)
			assert_int_equal(outputs[o], map_predict(&probe->map, o, probe->base[o], inputs));
	}
	free(inputs);
	free(outputs);
}

void probe_open(struct probe *probe, const struct history *history, const struct sl_field *field,
		enum sl_sharing_kind kind, enum mistake mistake)
{
	struct replay *replay = &probe->replay;
	replay_open(replay, history, field, kind);
	replay->rewinds = mistake == MISTAKE_RANDOMNESS_TWICE;
	probe->map = (struct map){.history = history,
				  .field = *field,
				  .inputs = replay->inputs,
				  .outputs = replay->outputs,
				  .rows = replay->rows,
				  .own_sent = mistake == MISTAKE_OWN_SENT,
				  .cells = matrix_of(field, replay->inputs)};
	memcpy(probe->map.random_start, replay->random_start, sizeof replay->random_start);
	probe->base = calloc(replay->outputs, sizeof *probe->base);
	recover(probe);
	confirm(probe);
}

void probe_close(struct probe *probe)
{
	matrix_free(&probe->map.cells);
	free(probe->base);
	replay_close(&probe->replay);
}
