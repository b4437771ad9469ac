#include "test/leak/run.h"

#include <sodium.h>

#include "common/base/bytes.h"
#include "test/simulator/check.h"

#define FAULTS_US (UINT64_C(120) * 1000 * 1000)
#define END_US (UINT64_C(1800) * 1000 * 1000)
#define SIGMA 4u
#define UNIT 1e-4 /* a model of one unit is encoded as 1 */
#define NOISY_UNIT 1.0
#define NOISY_CLIP 512.0 /* a step is 1 for a few floats */
#define NOISY_RANGE 1e5	 /* so that RUN_FIELD has room */
#define NOISY_NOISE 3.0

static struct run *run_of(struct sl_sim *sim)
{
	return (struct run *)sim->context;
}

/* --- inputs --- */

static uint64_t take_input(struct run *run, struct input input)
{
	size_t k = run->input_count++;
	if (k >= run->input_room) {
		run->input_room = 2 * run->input_room + 64;
		run->inputs = realloc(run->inputs, run->input_room * sizeof *run->inputs);
		assert_non_null(run->inputs);
	}
	run->inputs[k] = input;
	return k < run->given_count ? run->given[k] : 0;
}

static void open_attempt(struct run *run, const struct sl_sim_attempt *page)
{
	assert_true(run->history.count < HISTORY_ATTEMPTS && page->p == RUN_FIELD);
	struct attempt *attempt = &run->history.attempts[run->history.count];
	memcpy(run->h[run->history.count++], page->h, SL_HASH_BYTES);
	attempt->graph.n = run->options.learners;
	attempt->tolerance = 1;
	for (uint32_t k = 0; k < page->n; k++)
		attempt->present |= 1u << page->members[k];
	for (uint32_t i = 0; i < run->options.learners; i++)
		for (uint32_t j = 0; j < run->options.learners; j++)
			if (page->edge[i * run->options.learners + j])
				brute_join(&attempt->graph, i, j);
}

static uint32_t attempt_number(struct run *run, const uint8_t *h)
{
	uint32_t k = 0;
	while (k < run->history.count && memcmp(run->h[k], h, SL_HASH_BYTES) != 0)
		k++;
	if (k == run->history.count)
		open_attempt(run, sl_sim_check_find(run->faults.sim, h));
	return k;
}

/* Draw the random numbers for one neighbour, in the learner's present attempt. */
static void draw_randomness(struct drawer *drawer)
{
	struct run *run = drawer->run;
	uint32_t k = attempt_number(run, run->faults.sim->learners[drawer->learner].host.view->h);
	run->history.attempts[k].draw[drawer->learner] = drawer->draws - 1;
	for (size_t e = 0; e < drawer->random_script.elements; e++)
		drawer->randomness[e] = take_input(
			run, (struct input){
				     .random = true, .learner = drawer->learner, .attempt = k, .element = e});
}

/* An sl_key_source of keys, nonces and streams. One filling of a stream is for one neighbour. */
static void draw(void *context, uint8_t *bytes, size_t n)
{
	struct drawer *drawer = context;
	if (n != SL_KEY_BYTES) {
		draw_randomness(drawer);
		drawer->random_script.next = 0;
	}
	random_script_read(&drawer->random_script, bytes, n);
}

static void own_seed(struct run *run, struct drawer *drawer, struct sl_prg *stream)
{
	draw_randomness(drawer);
	seeds_own(&run->seeds, stream, &run->field, drawer->randomness, drawer->random_script.elements);
}

static void hold_seed(const struct run *run, struct sl_prg *stream)
{
	if (stream->source == NULL && !sodium_is_zero(stream->key, SL_KEY_BYTES)) /* it has just arrived */
		seeds_hold(&run->seeds, stream);
}

/* Replace every stream when it is opened, before its first use. */
static void replace_randomness(struct sl_sim *sim, uint32_t i, struct sl_job_result *result)
{
	struct run *run = run_of(sim);
	struct sl_workspace *workspace = &sim->learners[i].host.workspace;
	bool opened = result->kind == SL_JOB_ENCODE && result->code == SL_OK;
	bool seeded = run->options.kind == SL_SHARING_SEEDED;
	for (uint32_t r = 0; opened && r < workspace->sharing.degree; r++) {
		if (seeded)
			own_seed(run, &run->drawers[i], &workspace->randomness[r]);
		else
			sl_prg_open_source(&workspace->randomness[r], draw, &run->drawers[i]);
	}
	for (uint32_t r = 0; seeded && result->kind == SL_JOB_GATHER && r < workspace->sharing.degree; r++)
		hold_seed(run, &workspace->theirs[r]);
}

/* Replace every trained model before it is encoded. */
static void replace_models(struct run *run)
{
	double unit = run->options.noisy ? NOISY_UNIT : UNIT;
	for (uint32_t i = 0; i < run->options.learners; i++) {
		struct sl_sim_learner *l = &run->faults.sim->learners[i];
		struct drawer *drawer = &run->drawers[i];
		if (l->training == drawer->draws)
			continue;
		float *trained = l->host.workspace.trained;
		drawer->draws = l->training;
		l->host.workspace.weight = (run->options.weightless >> i & 1) == 0;
		for (uint32_t e = 0; e < run->options.floats; e++) {
			struct input input = {.learner = i, .draw = drawer->draws - 1, .element = e};
			trained[e] = (float)((double)take_input(run, input) * unit);
		}
		if (drawer->draws > run->history.draws)
			run->history.draws = drawer->draws;
	}
}

/* --- outputs --- */

static void put_output(struct run *run, struct row row, uint64_t value)
{
	size_t k = run->output_count++;
	if (k >= run->output_room) {
		run->output_room = 2 * run->output_room + 64;
		run->rows = realloc(run->rows, run->output_room * sizeof *run->rows);
		run->outputs = realloc(run->outputs, run->output_room * sizeof *run->outputs);
		assert_true(run->rows != NULL && run->outputs != NULL);
	}
	run->rows[k] = row;
	run->outputs[k] = value;
}

static void hear_share(struct run *run, uint32_t i, uint32_t j, const struct sl_chunk *chunk)
{
	uint64_t unpacked[16];
	const uint64_t *elements = unpacked;
	uint32_t k = attempt_number(run, chunk->view);
	bool seeded = run->options.kind == SL_SHARING_SEEDED;
	assert_int_equal(chunk->size,
			 seeded ? SL_KEY_BYTES : sl_packed_bytes(run->options.floats + 1, run->field.bits));
	if (seeded)
		elements = seeds_randomness(&run->seeds, chunk->bytes);
	else
		sl_bytes_unpack(unpacked, chunk->bytes, run->options.floats + 1, run->field.bits);
	for (size_t e = 0; e <= run->options.floats; e++)
		put_output(run, (struct row){ROW_SHARE, k, i, j, e}, elements[e]);
}

/* Record the masked state of the owner when its deposit is first sent. The owner's key is in its workspace.
 * The mask itself is no input: that deposits are uniform without their keys, test_graphs.c shows. */
static void hear_deposit(struct run *run, uint32_t i, const struct sl_chunk *chunk)
{
	const struct sl_workspace *workspace = &run->faults.sim->learners[i].host.workspace;
	uint32_t k = attempt_number(run, chunk->view);
	uint64_t elements[16];
	struct sl_prg mask;
	if (run->faults.sim->ids[i] != chunk->origin || run->history.attempts[k].deposited >> i & 1)
		return;
	assert_false(
		sodium_is_zero(workspace->secrets.key, SL_KEY_BYTES)); /* it is in SHARE of this attempt */
	run->history.attempts[k].deposited |= 1u << i;
	sl_bytes_unpack(elements, chunk->bytes, run->options.floats + 1, run->field.bits);
	sl_prg_open_at(&mask, workspace->secrets.key, 1);
	sl_prg_subtract(&mask, &run->field, elements, run->options.floats + 1);
	for (size_t e = 0; e <= run->options.floats; e++)
		put_output(run, (struct row){ROW_STATE, k, i, i, e}, elements[e]);
}

static uint32_t learner_of(const struct run *run, sl_id id)
{
	uint32_t i = 0;
	while (run->faults.sim->ids[i] != id)
		i++;
	return i;
}

/* Later states, checksums and Z are functions of the masked states (test_replay.c). */
static bool hear(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *message)
{
	struct run *run = run_of(sim);
	if (message->kind == SL_MSG_SHARE)
		hear_share(run, i, j, &message->chunk);
	if (message->kind == SL_MSG_DEPOSIT)
		hear_deposit(run, i, &message->chunk);
	if (message->kind == SL_MSG_KEY) {
		struct attempt *attempt = &run->history.attempts[attempt_number(run, message->key.view)];
		attempt->released = attempt->shown |= 1u << learner_of(run, message->key.origin);
	}
	if (message->kind == SL_MSG_OPENING) {
		struct attempt *attempt = &run->history.attempts[attempt_number(run, message->opening.view)];
		attempt->opened[learner_of(run, message->opening.origin)] |=
			1u << learner_of(run, message->opening.holder);
	}
	return true;
}

/* --- the run --- */

static void set_noise(struct sl_parameters *p)
{
	double clip = NOISY_CLIP, noise = NOISY_NOISE, range = NOISY_RANGE;
	p->values = SL_VALUES_NOISY;
	p->dp_unit = SL_DP_RECORD;
	memcpy(&p->dp_clip, &clip, sizeof clip);
	memcpy(&p->dp_noise, &noise, sizeof noise);
	memcpy(&p->dp_range, &range, sizeof range);
}

static struct sl_sim *build(struct run *run)
{
	struct sl_sim_options o = {
		.seed = run->options.seed, .learners = run->options.learners, .delay_ms = 100};
	o.parameters = (struct sl_parameters){.n = run->options.floats,
					      .rounds = run->options.rounds,
					      .p = RUN_FIELD,
					      .decimals = SIGMA,
					      .quorum = run->options.absences ? 3 : 0, /* of a cohort, too */
					      .sharing = run->options.kind,
					      .mixing = run->options.mixing};
	if (run->options.noisy)
		set_noise(&o.parameters);
	struct sl_sim *sim = sl_sim_new(&o);
	for (uint32_t i = 0; i < sim->n; i++) {
		struct drawer *drawer = &run->drawers[i];
		*drawer = (struct drawer){.run = run, .learner = i};
		drawer->random_script = (struct random_script){.field = &run->field,
							       .randomness = drawer->randomness,
							       .count = run->options.floats + 1,
							       .elements = run->options.floats + 1,
							       .junk = i};
		sim->learners[i].host.workspace.source = draw;
		sim->learners[i].host.workspace.source_context = drawer;
		sim->learners[i].host.config.parameters.privacy_check = 1;
		/* Some abort while others release. Of learners that come and go, two: they are no quorum, and
		 * cannot split the others. */
		uint32_t short_ms = run->options.absences ? 30 : 100;
		if (!run->options.absences || i < 2)
			sim->learners[i].host.config.stall_timeout_ms = short_ms << run->options.seed % 3;
	}
	for (uint32_t i = 0; i < sim->n && run->options.absences; i++)
		sim->learners[i].host.config.membership_change = run->options.change;
	sim->tap = hear;
	sim->tap_result = replace_randomness;
	return sim;
}

static struct sl_sim_mix any_mix(const struct run *run)
{
	uint64_t random = run->options.seed;
	struct sl_sim_mix mix = {.gap_ms = 40, .most = 400, .down_most = run->options.learners / 2};
	if (run->options.absences)
		return (struct sl_sim_mix){
			.gap_ms = 4000, .most = 2, .kinds = 1u << SL_SIM_FAULT_AWAY, .down_most = 1};
	mix.gap_ms <<= sl_sim_random(&random) % 4;
	mix.kinds = (uint32_t)(sl_sim_random(&random) %
			       (1u << (SL_SIM_FAULT_AWAY + 1))); /* of honest learners with their disks */
	return mix;
}

static bool over(const struct run *run, const struct sl_sim *sim)
{
	bool all = true;
	for (uint32_t i = 0; i < sim->n; i++)
		all &= sim->learners[i].host.stopped &&
		       sim->learners[i].host.committed == run->options.rounds;
	return all || sim->now > END_US || run->history.count == HISTORY_ATTEMPTS;
}

static void play(struct run *run, struct sl_sim *sim)
{
	bool calm = false;
	sl_sim_start(sim);
	while (!over(run, sim) && sl_sim_step(sim)) {
		replace_models(run);
		if (!calm && sim->now > FAULTS_US) {
			sl_sim_calm(&run->faults);
			calm = true;
		}
	}
}

void run_play(struct run *run, const struct run_options *options, const uint64_t *given, size_t given_count)
{
	*run = (struct run){.options = *options, .given = given, .given_count = given_count};
	run->field = field_of(RUN_FIELD);
	run->history = history_of(options->learners, options->floats);
	assert_true(options->learners <= HISTORY_LEARNERS && options->floats < 16);
	struct sl_sim *sim = build(run);
	struct sl_sim_mix mix = any_mix(run);
	sl_sim_faults_begin(&run->faults, sim, &mix);
	play(run, sim);
	run->digest = sim->digest;
	sl_sim_free(sim);
	seeds_free(&run->seeds);
}

void run_free(struct run *run)
{
	free(run->inputs);
	free(run->rows);
	free(run->outputs);
}
