/* Execute the actions of a core, except those on links: work, training, disk, buffers. */
#include <stdlib.h>

#include "tools/sim/check.h"

/* --- buffers: handed in, and back exactly once --- */

void sim_give(struct sim *sim, uint32_t i, uint32_t peer, enum sl_message_kind kind, struct sl_buffer *buffer)
{
	struct sim_learner *l = &sim->learners[i];
	if (l->held_count == SIM_BUFFERS_MAX)
		sim_fail(sim, "learner %u holds %u buffers", sim->ids[i], l->held_count);
	if (l->held_count == l->held_room) {
		l->held_room = l->held_room * 2 + 16;
		l->held = realloc(l->held, l->held_room * sizeof *l->held);
	}
	l->held[l->held_count++] = (struct sim_held){.buffer = buffer, .peer = peer, .kind = kind};
}

static struct sim_held *find_held(struct sim *sim, uint32_t i, const struct sl_buffer *buffer)
{
	struct sim_learner *l = &sim->learners[i];
	for (uint32_t k = 0; k < l->held_count; k++)
		if (l->held[k].buffer == buffer)
			return &l->held[k];
	sim_fail(sim, "learner %u gave back a buffer that it does not hold", sim->ids[i]);
}

void sim_take_back(struct sim *sim, uint32_t i, struct sl_buffer *list)
{
	struct sim_learner *l = &sim->learners[i];
	while (list != NULL) {
		struct sl_buffer *next = list->next;
		*find_held(sim, i, list) = l->held[l->held_count - 1];
		l->held_count--;
		free(list->bytes);
		free(list);
		list = next;
	}
}

/* --- work: one thing at a time, in the order given --- */

/* From now on it survives a crash, also one that comes before the core hears of it. */
static void write_record(struct sim *sim, uint32_t i, struct sim_record *record)
{
	if (record->what.kind == SL_PERSIST_COMMIT)
		record->packed = sim_vectors_pack(&sim->learners[i].vault, record->proof->p);
	check_durable(sim, i, record);
	sim_disk_write(&sim->learners[i].disk, record);
}

/* A job runs between the moment it was asked for and the moment its result is told; which one is chance. */
static void run(struct sim *sim, uint32_t i, struct sim_work *work)
{
	struct sim_learner *l = &sim->learners[i];
	struct sl_vault *vault = &l->vault;
	if (work->ran)
		return;
	work->ran = true;
	if (work->kind == SIM_WIPE)
		sim_vectors_wipe(vault);
	if (work->kind == SIM_PERSIST)
		write_record(sim, i, work->record);
	if (work->kind != SIM_JOB)
		return;
	const struct sl_job *job = &work->job;
	sim_vectors_prepare(vault, job);
	if (job->kind == SL_JOB_ENCODE) {
		l->slots = job->view->n;
		l->own_slot = job->view->self;
	}
	sl_job_run(vault, job, &work->result);
	if (job->kind == SL_JOB_ENCODE && work->result.code == SL_OK) {
		check_encoded(sim, i, job->view);
		check_coins(sim, i, job->view);
	}
	if (job->kind == SL_JOB_CLOSE || job->kind == SL_JOB_SUM)
		check_closed(sim, i, job->view);
	if (sim->tap_result != NULL)
		sim->tap_result(sim, i, &work->result);
	sim_take_back(sim, i, job->buffers);
}

static bool fails(const struct sim_learner *l, const struct sim_work *work)
{
	return work->kind == SIM_PERSIST && !work->ran && l->disk_fails;
}

static void run_all(struct sim *sim, uint32_t i)
{
	const struct sim_learner *l = &sim->learners[i];
	for (struct sim_work *work = l->work; work != NULL && !fails(l, work); work = work->next)
		run(sim, i, work);
}

static void free_work(struct sim_work *work)
{
	sim_record_free(work->record);
	free(work);
}

static struct sim_work *take_work(struct sim_learner *l)
{
	struct sim_work *work = l->work;
	l->work = work->next;
	if (l->work == NULL)
		l->work_end = &l->work;
	return work;
}

static void give_work(struct sim *sim, uint32_t i, struct sim_work work)
{
	struct sim_learner *l = &sim->learners[i];
	struct sim_work *w = malloc(sizeof *w);
	*w = work;
	w->next = NULL;
	*l->work_end = w;
	l->work_end = &w->next;
	uint64_t at = sim->now + sim_delay(sim, sim->options.delay_ms + l->slow_ms);
	l->work_at = at > l->work_at ? at : l->work_at + 1;
	sim_post(sim, l->work_at, (struct sim_event){.kind = SIM_WORK, .learner = i});
	if (work.kind == SIM_JOB && (work.job.kind == SL_JOB_ENCODE || work.job.kind == SL_JOB_CHECK))
		l->view = work.job.view;
	if (sim_random(&sim->random) % 2 == 0)
		run_all(sim, i);
}

void sim_work_due(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	if (l->stopped || l->work == NULL)
		return;
	if (l->work->kind == SIM_JOB && l->work->job.kind == l->stuck) {
		sim_post(sim, sim->now + 50000, (struct sim_event){.kind = SIM_WORK, .learner = i});
		return;
	}
	if (fails(l, l->work)) {
		sim_crash(sim, i); /* it may not go on as if it were written; on the disk is what was there */
		return;
	}
	run(sim, i, l->work);
	if (sim->crash_point != NULL && sim->crash_point(sim, i, NULL, l->work)) {
		sim_crash(sim, i);
		return;
	}
	struct sim_work *work = take_work(l);
	while (l->work != NULL && l->work->kind == SIM_WIPE && !l->work->ran)
		run(sim, i, l->work); /* before the core hears of the job that it waited for */
	if (work->kind == SIM_JOB)
		sim_deliver(sim, i, &(struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &work->result});
	if (work->kind == SIM_PERSIST && work->record->what.kind == SL_PERSIST_COMMIT)
		l->committed = work->record->what.t;
	if (work->kind == SIM_PERSIST)
		sim_deliver(sim, i, &(struct sl_event){.kind = SL_EVENT_DURABLE, .durable = work->record->what});
	free_work(work);
}

/* Free the work and buffers of a stopped learner. */
void sim_halt(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	while (l->work != NULL) {
		struct sim_work *work = take_work(l);
		if (work->kind == SIM_JOB && !work->ran)
			sim_take_back(sim, i, work->job.buffers);
		free_work(work);
	}
	while (l->held_count > 0) { /* a core that the end of the test cut short still has some */
		l->held[0].buffer->next = NULL;
		sim_take_back(sim, i, l->held[0].buffer);
	}
}

static void stop(struct sim *sim, uint32_t i, int code)
{
	struct sim_learner *l = &sim->learners[i];
	uint32_t working = 0;
	l->stopped = true;
	sim->due[i] = UINT64_MAX;
	l->code = code;
	for (uint32_t k = 0; k < l->held_count; k++)
		working += l->held[k].working;
	if (working != l->held_count)
		sim_fail(sim, "learner %u stopped with %u buffers in hand", sim->ids[i], l->held_count - working);
	sim_halt(sim, i);
	sim_unlink(sim, i, 0);
}

void sim_unlink(struct sim *sim, uint32_t i, uint32_t notice_ms)
{
	for (uint32_t j = 0; j < sim->n; j++) {
		struct sim_link *link = sim_link(sim, i, j), *back = sim_link(sim, j, i);
		if (link->up) {
			link->last = (link->last > sim->now ? link->last : sim->now) + notice_ms * UINT64_C(1000) + 1;
			sim_post(sim, link->last, (struct sim_event){.kind = SIM_LINK_DOWN, .learner = j, .peer = i});
		}
		link->up = back->up = false; /* what it said before still arrives */
	}
}

/* --- training --- */

static void train(struct sim *sim, uint32_t i, sl_round t, uint64_t draw)
{
	struct sim_learner *l = &sim->learners[i];
	draw |= (uint64_t)l->life << 12;
	uint64_t random = sim->options.seed ^ ((uint64_t)t << 40 | draw << 20 | i);
	l->draw = draw;
	for (uint64_t l_ = 0; l_ < l->vault.n; l_++) {
		double unit = (double)(sim_random(&random) >> 11) * 0x1p-52 - 1.0;
		double clip = sim->options.clip != 0 ? sim->options.clip : 16.0;
		l->vault.trained[l_] = (float)(unit * clip);
	}
	if (!l->silent)
		sim_post(sim, sim->now + sim_delay(sim, l->training_ms != 0 ? l->training_ms : 500),
			 (struct sim_event){.kind = SIM_TRAINED, .learner = i, .generation = ++l->training});
}

void sim_train_done(struct sim *sim, uint32_t i, uint32_t generation)
{
	struct sim_learner *l = &sim->learners[i];
	if (!l->stopped && generation == l->training)
		sim_deliver(sim, i, &(struct sl_event){.kind = SL_EVENT_TRAINED});
}

static void compute(struct sim *sim, uint32_t i, const struct sl_job *job)
{
	for (struct sl_buffer *b = job->buffers; b != NULL; b = b->next) {
		struct sim_held *held = find_held(sim, i, b);
		if (held->working)
			sim_fail(sim, "learner %u gave one buffer to two jobs", sim->ids[i]);
		held->working = true;
	}
	if (job->kind == SL_JOB_SURVEY) {
		check_view(sim, job->view);
		sim->learners[i].viewed_at = sim->now;
	}
	give_work(sim, i, (struct sim_work){.kind = SIM_JOB, .job = *job});
}

static void wipe(struct sim *sim, uint32_t i)
{
	if (sim->learners[i].work == NULL)
		sim_vectors_wipe(&sim->learners[i].vault);
	else
		give_work(sim, i, (struct sim_work){.kind = SIM_WIPE});
}

static void carry(struct sim *sim, uint32_t i, const struct sl_action *action)
{
	switch (action->kind) {
	case SL_ACTION_PERSIST:
		give_work(sim, i, (struct sim_work){.kind = SIM_PERSIST, .record = sim_record_new(&action->persist)});
		break;
	case SL_ACTION_SEND:
		sim_send(sim, i, action);
		break;
	case SL_ACTION_TRAIN:
		train(sim, i, action->train.t, action->train.draw);
		break;
	case SL_ACTION_COMPUTE:
		compute(sim, i, &action->job);
		break;
	case SL_ACTION_LINKS:
		sim_want(sim, i, action->to);
		break;
	case SL_ACTION_DROP:
		sim_take_back(sim, i, action->buffers);
		break;
	case SL_ACTION_WIPE:
		wipe(sim, i);
		break;
	case SL_ACTION_REPORT:
		check_report(sim, i, &action->report);
		break;
	case SL_ACTION_STOP:
		stop(sim, i, action->code);
		break;
	}
}

void sim_carry(struct sim *sim, uint32_t i, const struct sl_actions *actions)
{
	uint32_t life = sim->learners[i].life;
	for (uint32_t k = 0; k < actions->count && sim->learners[i].life == life; k++) {
		if (sim->crash_point != NULL && sim->crash_point(sim, i, &actions->items[k], NULL))
			sim_crash(sim, i);
		else
			carry(sim, i, &actions->items[k]);
	}
}
