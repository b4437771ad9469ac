#include "test/leak/watch.h"

#define PREDICTIONS 2
#define MODEL_MOST 1000 /* units, so that floats keep them */

/* Number the columns: random numbers, learner by learner in order of appearance, then models. */
static size_t *number_columns(struct watch *watch)
{
	const struct run *run = &watch->run;
	struct map *map = &watch->map;
	size_t *column = calloc(run->input_count + 1, sizeof *column), next = 0;
	for (uint32_t i = 0; i < run->options.learners; i++) {
		map->random_start[i] = next;
		for (size_t k = 0; k < run->input_count; k++)
			if (run->inputs[k].random && run->inputs[k].learner == i)
				column[k] = next++;
	}
	map->random_start[run->options.learners] = next;
	for (size_t k = 0; k < run->input_count; k++)
		if (!run->inputs[k].random)
			column[k] = next + history_model(&run->history, run->inputs[k].learner,
							 run->inputs[k].draw, run->inputs[k].element);
	map->inputs = next + history_models(&run->history);
	return column;
}

static void replay(struct watch *watch, const uint64_t *given, struct run *run)
{
	const struct run *zeros = &watch->run;
	run_play(run, &zeros->options, given, zeros->input_count);
	assert_true(run->digest == zeros->digest && run->input_count == zeros->input_count);
	assert_int_equal(run->output_count, zeros->output_count);
	assert_memory_equal(run->inputs, zeros->inputs, zeros->input_count * sizeof *zeros->inputs);
}

/* Probe some inputs at once, at most one of each attempt. */
static void probe_inputs(struct watch *watch, const size_t *column, const size_t *input, uint32_t attempts)
{
	const struct run *zeros = &watch->run;
	uint64_t *given = calloc(zeros->input_count, sizeof *given);
	struct run run;
	for (uint32_t k = 0; k < attempts; k++)
		if (input[k] != SIZE_MAX)
			given[input[k]] = 1;
	replay(watch, given, &run);
	for (size_t o = 0; o < run.output_count; o++) {
		size_t k = input[attempts == 1 ? 0 : zeros->rows[o].attempt];
		if (k != SIZE_MAX)
			matrix_row(&watch->map.cells, o)[column[k]] =
				sl_field_sub(&zeros->field, run.outputs[o], zeros->outputs[o]);
	}
	run_free(&run);
	free(given);
}

/* Choose the next unprobed random number of each attempt. Return false if there is none. */
static bool next_randomness(const struct run *run, bool *probed, size_t *input)
{
	bool any = false;
	for (uint32_t k = 0; k < HISTORY_ATTEMPTS; k++)
		input[k] = SIZE_MAX;
	for (size_t c = 0; c < run->input_count; c++) {
		const struct input *number = &run->inputs[c];
		if (!number->random || probed[c] || input[number->attempt] != SIZE_MAX)
			continue;
		input[number->attempt] = c;
		probed[c] = any = true;
	}
	return any;
}

static void recover(struct watch *watch, const size_t *column)
{
	const struct run *zeros = &watch->run;
	bool *probed = calloc(zeros->input_count + 1, sizeof *probed);
	size_t input[HISTORY_ATTEMPTS];
	while (next_randomness(zeros, probed, input))
		probe_inputs(watch, column, input, HISTORY_ATTEMPTS);
	for (size_t c = 0; c < zeros->input_count; c++)
		if (!zeros->inputs[c].random)
			probe_inputs(watch, column, &c, 1);
	free(probed);
}

static void confirm(struct watch *watch, const size_t *column)
{
	const struct run *zeros = &watch->run;
	uint64_t *given = calloc(zeros->input_count, sizeof *given),
		 *inputs = calloc(watch->map.inputs, sizeof *inputs);
	uint64_t seed = zeros->options.seed;
	struct run run;
	for (size_t c = 0; c < zeros->input_count; c++)
		given[c] = inputs[column[c]] =
			any64(&seed) % (zeros->inputs[c].random ? zeros->field.p : MODEL_MOST);
	replay(watch, given, &run);
	for (size_t o = 0; o < run.output_count; o++)
		assert_int_equal(run.outputs[o], map_predict(&watch->map, o, zeros->outputs[o], inputs));
	run_free(&run);
	free(given);
	free(inputs);
}

void watch_open(struct watch *watch, const struct run_options *options)
{
	*watch = (struct watch){0};
	run_play(&watch->run, options, NULL, 0);
	size_t *column = number_columns(watch);
	struct map *map = &watch->map;
	map->history = &watch->run.history;
	map->field = watch->run.field;
	map->outputs = watch->run.output_count;
	map->rows = watch->run.rows;
	map->cells = matrix_of(&map->field, map->inputs);
	for (size_t o = 0; o < map->outputs; o++)
		matrix_add(&map->cells);
	recover(watch, column);
	for (int time = 0; time < PREDICTIONS; time++)
		confirm(watch, column);
	free(column);
}

void watch_close(struct watch *watch)
{
	matrix_free(&watch->map.cells);
	run_free(&watch->run);
}
