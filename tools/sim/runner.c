/* Building, sweeps, and the clock. */
#include "tools/sim/runner.h"

#include <malloc.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/config/core_config.h"
#include "tools/sim/runner_internal.h"

#define STEP_S 30u
#define MMAP_THRESHOLD (128 << 10) /* fixed: most slots of a state file are never touched, and then take no memory */
#define BARREN_LEAST 3u /* a schedule of one step gets this many chances, as with starling launch */

void *swarm_grow(void *items, size_t *room, size_t count, size_t size)
{
	if (count <= *room)
		return items;
	*room = count + *room / 2 + 16;
	items = reallocarray(items, *room, size);
	if (items == NULL)
		abort(); /* in the middle of a step */
	return items;
}

/* --- building --- */

int swarm_settings(const char *const *set, size_t count, const struct sl_schedule *schedule, struct sl_settings *settings,
		   struct sl_error *error)
{
	char degree[32];
	const char **all = calloc(count + 2, sizeof *all);
	if (all == NULL)
		return sl_fail(error, SL_ERR_NOMEM, "out of memory");
	size_t own = 0;
	if (schedule != NULL) {
		snprintf(degree, sizeof degree, "degree_max=%u", sl_schedule_degree_max(schedule));
		all[own++] = degree;
		all[own++] = "in_range=told";
	}
	memcpy(all + own, set, count * sizeof *set);
	int rc = sl_settings_assign(all, own + count, settings, error);
	free(all);
	return rc;
}

static int build_core(struct swarm *swarm, uint32_t i, uint32_t quorum)
{
	struct swarm_learner *l = &swarm->learners[i];
	struct sl_core_config config = {.self = i, .roster_size = swarm->n, .ids = swarm->ids, .incarnation = 1};
	struct sl_arena arena;
	sl_core_config_set(&config, swarm->options.settings, swarm->options.parameters, quorum);
	config.told = swarm->options.schedule != NULL;
	size_t bytes = sl_core_bytes(&config);
	l->arena = malloc(bytes);
	sl_arena_init(&arena, l->arena, l->arena != NULL ? bytes : 0);
	l->core = sl_core_init(&config, &arena);
	return l->core != NULL ? SL_OK : SL_ERR_NOMEM;
}

static int build_vault(struct swarm *swarm, uint32_t i)
{
	struct swarm_learner *l = &swarm->learners[i];
	struct sl_vault *v = &l->vault;
	l->random = swarm->options.seed * UINT64_C(0xd1342543de82ef95) + i;
	int rc = sim_vectors_open(v, swarm->options.parameters, &l->random);
	if (rc != SL_OK)
		return rc;
	v->clamp = swarm->options.settings->clamp;
	if (swarm->options.initial != NULL)
		memcpy(v->committed, swarm->options.initial, v->n * sizeof *v->committed);
	return SL_OK;
}

static int build_learner(struct swarm *swarm, uint32_t i, uint32_t quorum)
{
	struct swarm_learner *l = &swarm->learners[i];
	l->up = calloc(swarm->words, sizeof *l->up);
	l->wanted = calloc(swarm->words, sizeof *l->wanted);
	l->phase = SL_PHASE_TRAIN;
	if (l->up == NULL || l->wanted == NULL)
		return SL_ERR_NOMEM;
	int rc = build_vault(swarm, i);
	return rc == SL_OK ? build_core(swarm, i, quorum) : rc;
}

static int check(const struct swarm_options *o, struct sl_error *error)
{
	if (o->learners < 2 || o->learners > SL_LEARNERS_MAX)
		return sl_fail(error, SL_ERR_RANGE, "%u learners: from 2 to %u are possible", o->learners, SL_LEARNERS_MAX);
	if (o->schedule != NULL && o->schedule->learners != o->learners)
		return sl_fail(error, SL_ERR_RANGE, "%u learners, and a schedule of %u", o->learners, o->schedule->learners);
	if (o->parameters < 1 || o->parameters >= SL_ELEMENTS_MAX)
		return sl_fail(error, SL_ERR_RANGE, "%zu parameters: from 1 to %u are possible", o->parameters, SL_ELEMENTS_MAX - 1);
	if (o->coordinate_count > SWARM_COORDINATES_MAX)
		return sl_fail(error, SL_ERR_RANGE, "%u coordinates: at most %u", o->coordinate_count, SWARM_COORDINATES_MAX);
	return SL_OK;
}

static int build(struct swarm *swarm, uint32_t quorum, struct sl_error *error)
{
	uint32_t n = swarm->n;
	swarm->ids = calloc(n, sizeof *swarm->ids);
	swarm->learners = calloc(n, sizeof *swarm->learners);
	swarm->ranges = calloc(n * swarm->words, sizeof *swarm->ranges);
	swarm->todo = calloc(n, sizeof *swarm->todo);
	if (swarm->todo == NULL || swarm->ids == NULL || swarm->learners == NULL || swarm->ranges == NULL)
		return sl_fail(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++)
		swarm->ids[i] = swarm->options.ids != NULL ? swarm->options.ids[i] : i + 1;
	for (uint32_t i = 0; i < n; i++)
		if (build_learner(swarm, i, quorum) != SL_OK)
			return sl_fail(error, SL_ERR_NOMEM, "out of memory at learner %u of %u", i + 1, n);
	return SL_OK;
}

int swarm_open(const struct swarm_options *options, struct swarm **swarm, struct sl_error *error)
{
	uint32_t quorum = 0;
	*swarm = NULL;
	int rc = check(options, error);
	if (rc == SL_OK)
		rc = sl_settings_quorum(options->settings, options->learners, &quorum, error);
	if (rc != SL_OK)
		return rc;
	if (sodium_init() < 0)
		abort();
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	struct swarm *s = calloc(1, sizeof *s);
	if (s == NULL)
		return sl_fail(error, SL_ERR_NOMEM, "out of memory");
	s->options = *options;
	s->n = options->learners;
	s->words = sl_bits_words(s->n);
	s->survey_code = SL_PENDING; /* of no view */
	rc = swarm_workers_open(s);
	rc = rc == SL_OK ? build(s, quorum, error) : sl_fail(error, rc, "cannot start a thread");
	if (rc == SL_OK)
		*swarm = s;
	else
		swarm_close(s);
	return rc;
}

/* --- closing --- */

static void close_learner(struct swarm *swarm, uint32_t i)
{
	struct swarm_learner *l = &swarm->learners[i];
	if (!l->stopped && l->core != NULL)
		swarm_give_back(swarm->workers[0], sl_core_held(l->core));
	swarm_drop(swarm->workers[0], i);
	for (size_t k = 0; k < l->said.count; k++)
		if (l->said.items[k].piece != NULL) {
			swarm_unread(l->said.items[k].piece, 0); /* not delivered */
		}
	sim_vectors_close(&l->vault);
	void *owned[] = {l->arena, l->inbox.items, l->work.items, l->said.items, l->sets.items, l->up, l->wanted, l->result};
	for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
		free(owned[k]);
}

void swarm_close(struct swarm *swarm)
{
	if (swarm == NULL)
		return;
	for (uint32_t i = 0; swarm->learners != NULL && i < swarm->n; i++)
		close_learner(swarm, i);
	swarm_workers_close(swarm);
	swarm_sums_forget(swarm, UINT32_MAX);
	free(swarm->todo);
	free(swarm->ids);
	free(swarm->learners);
	free(swarm->ranges);
	free(swarm);
}

/* --- the clock --- */

static void begin(struct swarm *swarm)
{
	for (uint32_t i = 0; i < swarm->n; i++)
		swarm_post(swarm, i, (struct swarm_mail){.kind = SWARM_START});
	swarm_radio_next(swarm);
}

static bool idle(const struct swarm *swarm)
{
	for (uint32_t i = 0; i < swarm->n; i++)
		if (swarm_has_to_do(&swarm->learners[i]))
			return false;
	return true;
}

static bool over(const struct swarm *swarm)
{
	for (uint32_t i = 0; i < swarm->n; i++)
		if (!swarm->learners[i].stopped)
			return false;
	return true;
}

/* Go on to the next step of the schedule after one without a commit; fail after a whole schedule without one. */
static int give_way(struct swarm *swarm)
{
	const struct sl_schedule *schedule = swarm->options.schedule;
	uint32_t most = schedule != NULL && schedule->steps > BARREN_LEAST ? schedule->steps : BARREN_LEAST;
	if (++swarm->barren >= most)
		return sl_fail(&swarm->error, SL_ERR_REFUSED, "no round committed in %u steps", swarm->barren);
	swarm_radio_next(swarm);
	return SL_PENDING;
}

/* Advance the clock to the next deadline: no learner has anything to do. */
static int wait(struct swarm *swarm)
{
	sl_ms step_ms = 1000 * (sl_ms)(swarm->options.step_s != 0 ? swarm->options.step_s : STEP_S);
	sl_ms due = SL_NEVER, limit = swarm->step_at + step_ms;
	for (uint32_t i = 0; i < swarm->n; i++)
		due = swarm->learners[i].due < due ? swarm->learners[i].due : due;
	if (due > limit) {
		swarm->now = limit > swarm->now ? limit : swarm->now;
		return swarm->first < swarm->options.settings->rounds ? give_way(swarm) : SL_OK;
	}
	swarm->now = due > swarm->now ? due : swarm->now;
	for (uint32_t i = 0; i < swarm->n; i++)
		if (swarm->learners[i].due <= swarm->now)
			swarm_post(swarm, i, (struct swarm_mail){.kind = SWARM_DEADLINE});
	return SL_PENDING;
}

/* The radio's next step comes with the first commit of a round. */
static void heed_commits(struct swarm *swarm)
{
	sl_round latest = 0;
	for (uint32_t i = 0; i < swarm->n; i++)
		latest = swarm->learners[i].committed > latest ? swarm->learners[i].committed : latest;
	if (latest == swarm->first)
		return;
	swarm->first = latest;
	swarm->barren = 0;
	swarm_sums_forget(swarm, latest > 1 ? latest - 2 : 0);
	if (latest < swarm->options.settings->rounds)
		swarm_radio_next(swarm);
}

int swarm_step(struct swarm *swarm, struct sl_error *error)
{
	int rc = SL_PENDING;
	if (swarm->steps == 0)
		begin(swarm);
	else if (idle(swarm))
		rc = wait(swarm);
	if (rc == SL_PENDING) {
		swarm_sweep(swarm);
		swarm_deliver(swarm);
		swarm_tick(swarm->workers[0], &swarm->deliver_s);
		swarm->sweeps++;
		heed_commits(swarm);
	}
	if (swarm->error.code != SL_OK) {
		if (error != NULL)
			*error = swarm->error;
		return swarm->error.code;
	}
	return over(swarm) ? SL_OK : rc;
}

int swarm_run(struct swarm *swarm, struct sl_error *error)
{
	int rc;
	do
		rc = swarm_step(swarm, error);
	while (rc == SL_PENDING);
	return rc;
}

/* --- figures --- */

uint64_t swarm_bytes(const struct swarm *swarm, uint32_t i)
{
	return swarm->learners[i].bytes;
}

void swarm_figures(const struct swarm *swarm, struct swarm_figures *figures)
{
	*figures = (struct swarm_figures){
		.committed = SL_ROUNDS_MAX, .steps = swarm->steps, .sweeps = swarm->sweeps, .t = SL_ROUNDS_MAX + 1};
	figures->deliver_s = swarm->deliver_s;
	for (uint32_t w = 0; w < swarm->worker_count; w++)
		for (int p = 0; p < SL_PHASE_COUNT; p++)
			figures->seconds[p] += swarm->workers[w]->seconds[p];
	for (uint32_t i = 0; i < swarm->n; i++) {
		struct sl_core_status s;
		sl_core_status(swarm->learners[i].core, &s);
		if (s.committed < figures->committed)
			figures->committed = s.committed;
		if (s.t > figures->t || (s.t == figures->t && s.phase >= figures->phase))
			continue;
		figures->t = s.t;
		figures->phase = s.phase;
		figures->permille = s.permille;
	}
}
