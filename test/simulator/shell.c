/* A step of a core, and its actions except those on links: work, training, disk, buffers, the end of a life.
 */
#include <math.h>
#include <stdlib.h>

#include "common/compute/job_model.h"
#include "common/core/execute.h"
#include "test/simulator/check.h"
#include "test/simulator/forget.h"
#include "test/simulator/lie.h"

/* --- buffers: handed in, and back exactly once --- */

void sl_sim_give(struct sl_sim *sim, uint32_t i, uint32_t peer, struct sl_buffer *buffer)
{
	struct sl_sim_learner *l = &sim->learners[i];
	if (l->held_count == SL_SIM_BUFFERS_MAX)
		sl_sim_fail(sim, "learner %u holds %u buffers", sim->ids[i], l->held_count);
	if (l->held_count == l->held_room) {
		l->held_room = l->held_room * 2 + 16;
		l->held = realloc(l->held, l->held_room * sizeof *l->held);
	}
	l->held[l->held_count++] = (struct sl_sim_held){.buffer = buffer, .peer = peer};
}

static struct sl_sim_held *find_held(struct sl_sim *sim, uint32_t i, const struct sl_buffer *buffer)
{
	struct sl_sim_learner *l = &sim->learners[i];
	for (uint32_t k = 0; k < l->held_count; k++)
		if (l->held[k].buffer == buffer)
			return &l->held[k];
	sl_sim_fail(sim, "learner %u gave back a buffer that it does not hold", sim->ids[i]);
}

void sl_sim_take_back(struct sl_sim *sim, uint32_t i, struct sl_buffer *list)
{
	struct sl_sim_learner *l = &sim->learners[i];
	for (const struct sl_buffer *b = list; b != NULL; b = b->next) {
		*find_held(sim, i, b) = l->held[l->held_count - 1];
		l->held_count--;
	}
	sl_packet_give_back(list);
}

/* --- lives --- */

/* Free the work and buffers of a stopped learner. */
void sl_sim_halt(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	while (l->host.work != NULL) {
		struct sl_work *work = sl_hosted_take(&l->host);
		if (work->kind == SL_WORK_JOB && !work->ran)
			sl_sim_take_back(sim, i, work->job.buffers);
		sl_hosted_done(work);
	}
	while (l->held_count > 0) { /* a core that the end of the test cut short still has some */
		l->held[0].buffer->next = NULL;
		sl_sim_take_back(sim, i, l->held[0].buffer);
	}
}

static void end_life(struct sl_sim *sim, uint32_t i, uint32_t notice_ms)
{
	struct sl_sim_learner *l = &sim->learners[i];
	l->host.stopped = l->down = true;
	sim->due[i] = UINT64_MAX;
	sl_sim_halt(sim, i);
	sl_sim_unlink(sim, i, notice_ms);
	sl_sim_check_crashed(sim, i);
	l->life++;
	l->host.view = NULL;
	l->host.config.incarnation++;
	if (l->host.workspace.s != NULL)
		memset(l->host.workspace.s, 0xa5, l->host.workspace.s_bytes); /* memory is lost */
	memset(l->host.workspace.trained, 0xff,
	       sl_tensors_bytes(&l->host.workspace.tensors, l->host.workspace.n));
	if (l->host.workspace.rest != NULL)
		memset(l->host.workspace.rest, 0, sl_workspace_model_bytes(&l->host.workspace));
	sl_host_disk_read(&l->host.disk, &l->host.config);
}

void sl_sim_crash(struct sl_sim *sim, uint32_t i)
{
	end_life(sim, i, 0);
}

/* A slot that was written and not synchronised is kept, or lost, or damaged. */
static void tear(struct sl_sim *sim, uint8_t *slot, size_t size)
{
	uint64_t how = sl_sim_random(&sim->random);
	size_t used = 64 < size ? 64 : size;
	if (how % 3 == 1)
		memset(slot, 0, size);
	else if (how % 3 == 2)
		memset(slot + (how >> 8) % used, (int)(how >> 40 & 255), size - (how >> 8) % used);
}

void sl_sim_lose_power(struct sl_sim *sim, uint32_t i, uint32_t notice_ms)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	end_life(sim, i, notice_ms);
	for (uint32_t k = 0; l->host.workspace.state_file.base != NULL && k < l->slots; k++)
		if (k != l->own_slot)
			tear(sim,
			     l->host.workspace.state_file.base + k * l->host.workspace.state_file.slot_bytes,
			     l->host.workspace.state_file.slot_bytes);
}

/* --- work: one thing at a time, in the order given --- */

static void check_job(struct sl_sim *sim, uint32_t i, struct sl_work *work)
{
	const struct sl_job *job = &work->job;
	if (job->kind == SL_JOB_ENCODE && work->result.code == SL_OK) {
		sl_sim_lies_encoded(sim, i, job->view);
		sl_sim_check_encoded(sim, i, job->view);
		sl_sim_check_prg(sim, i, job->view);
		sl_sim_check_noise_keys(sim, i, job->view);
	}
	if (job->kind == SL_JOB_COMMITMENT)
		sl_sim_check_noise_gone(sim, i);
	if ((job->kind == SL_JOB_CLOSE && !sim->liars) || job->kind == SL_JOB_SUM)
		sl_sim_check_closed(sim, i, job->view);
	if (sim->tap_result != NULL)
		sim->tap_result(sim, i, &work->result);
	sl_sim_take_back(sim, i, job->buffers);
}

/* Run work at a random time between the request and the event of its result. A record survives a crash from
 * then on, even before the core knows that it is durable. */
static void run(struct sl_sim *sim, uint32_t i, struct sl_work *work)
{
	struct sl_sim_learner *l = &sim->learners[i];
	if (work->ran)
		return;
	if (work->kind == SL_WORK_PERSIST)
		sl_sim_check_durable(sim, i, &work->record);
	if (work->kind == SL_WORK_JOB && work->job.kind == SL_JOB_ENCODE) {
		l->slots = work->job.view->n;
		l->own_slot = work->job.view->self;
	}
	sl_hosted_run(&l->host, work);
	if (work->kind == SL_WORK_PERSIST && sim->copies != NULL)
		sl_sim_forget_keep(sim, i);
	if (work->kind == SL_WORK_JOB)
		check_job(sim, i, work);
}

static bool fails(const struct sl_sim_learner *l, const struct sl_work *work)
{
	return work->kind == SL_WORK_PERSIST && !work->ran && l->disk_fails;
}

static void run_all(struct sl_sim *sim, uint32_t i)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	for (struct sl_work *work = l->host.work; work != NULL && !fails(l, work); work = work->next)
		run(sim, i, work);
}

static void give_work(void *shell, const struct sl_action *action)
{
	struct sl_sim *sim = shell;
	uint32_t i = sim->actor;
	struct sl_sim_learner *l = &sim->learners[i];
	sl_hosted_ask(&l->host, action, true);
	uint64_t at = sim->now + sl_sim_delay(sim, sim->options.delay_ms + l->slow_ms);
	l->work_at = at > l->work_at ? at : l->work_at + 1;
	sl_sim_post(sim, l->work_at, (struct sl_sim_event){.kind = SL_SIM_WORK, .learner = i});
	if (sl_sim_random(&sim->random) % 2 == 0)
		run_all(sim, i);
}

void sl_sim_work_due(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	if (l->host.stopped || l->host.work == NULL)
		return;
	if (l->host.work->kind == SL_WORK_JOB && l->host.work->job.kind == l->stuck) {
		sl_sim_post(sim, sim->now + 50000, (struct sl_sim_event){.kind = SL_SIM_WORK, .learner = i});
		return;
	}
	if (fails(l, l->host.work)) {
		sl_sim_crash(sim, i); /* the disk keeps the older record */
		return;
	}
	run(sim, i, l->host.work);
	if (sim->failpoint != NULL && sim->failpoint(sim, i, NULL, l->host.work)) {
		sl_sim_crash(sim, i);
		return;
	}
	struct sl_work *work = sl_hosted_take(&l->host);
	struct sl_event event;
	while (l->host.work != NULL && l->host.work->kind == SL_WORK_WIPE && !l->host.work->ran)
		run(sim, i, l->host.work); /* before the event of the job that it waited for */
	if (sl_hosted_event(&l->host, work, &event))
		sl_sim_deliver(sim, i, &event);
	sl_hosted_done(work);
}

static void stop(void *shell, const struct sl_action *action)
{
	struct sl_sim *sim = shell;
	uint32_t i = sim->actor;
	struct sl_sim_learner *l = &sim->learners[i];
	uint32_t working = 0;
	l->host.stopped = true;
	sim->due[i] = UINT64_MAX;
	l->code = action->code;
	for (uint32_t k = 0; k < l->held_count; k++)
		working += l->held[k].working;
	if (working != l->held_count)
		sl_sim_fail(sim, "learner %u stopped with %u buffers in hand", sim->ids[i],
			    l->held_count - working);
	sl_sim_halt(sim, i);
	sl_sim_unlink(sim, i, 0);
}

/* --- training --- */

void sl_sim_set_element(const struct sl_tensor_run *run, void *model, size_t e, double value)
{
	uint8_t *at = (uint8_t *)model + run->offset;
	if (run->dtype == SL_FLOAT32)
		((float *)at)[e] = (float)value;
	else if (run->dtype == SL_FLOAT64)
		((double *)at)[e] = value;
	else
		((int64_t *)at)[e] = llround(value);
}

static void train(void *shell, const struct sl_action *action)
{
	struct sl_sim *sim = shell;
	uint32_t i = sim->actor;
	struct sl_sim_learner *l = &sim->learners[i];
	uint64_t draw = action->train.draw | (uint64_t)l->life << 12;
	uint64_t random = sim->options.seed ^ ((uint64_t)action->train.t << 40 | draw << 20 | i);
	l->draw = draw;
	double clipping_range = sim->options.clipping_range != 0 ? sim->options.clipping_range : 16.0;
	for (struct sl_tensor_run run = {0};
	     sl_tensors_next(&l->host.workspace.tensors, l->host.workspace.n, &run);)
		for (size_t e = 0; e < run.count; e++) {
			double unit = (double)(sl_sim_random(&random) >> 11) * 0x1p-52 - 1.0;
			sl_sim_set_element(&run, l->host.workspace.trained, e, unit * clipping_range);
		}
	if (sl_values_are_noisy(sim->options.parameters.values)) /* of a third of them, in turn */
		l->host.workspace.weight = (i + action->train.t) % 3 != 1;
	sl_job_model_add_rest(&l->host.workspace);
	if (!l->silent)
		sl_sim_post(sim, sim->now + sl_sim_delay(sim, l->training_ms != 0 ? l->training_ms : 500),
			    (struct sl_sim_event){
				    .kind = SL_SIM_TRAINED, .learner = i, .generation = ++l->training});
}

static void compute(void *shell, const struct sl_action *action)
{
	struct sl_sim *sim = shell;
	uint32_t i = sim->actor;
	const struct sl_job *job = &action->job;
	for (struct sl_buffer *b = job->buffers; b != NULL; b = b->next) {
		struct sl_sim_held *held = find_held(sim, i, b);
		if (held->working)
			sl_sim_fail(sim, "learner %u gave one buffer to two jobs", sim->ids[i]);
		held->working = true;
	}
	if (job->kind == SL_JOB_ANALYSE)
		sim->learners[i].viewed_at = sim->now;
	if (job->kind == SL_JOB_ENCODE) /* a view that is only analysed may be pruned */
		sl_sim_check_view(sim, job->view);
	give_work(shell, action);
}

static void wipe(void *shell, const struct sl_action *action)
{
	const struct sl_sim *sim = shell;
	struct sl_hosted *host = &sim->learners[sim->actor].host;
	if (host->work == NULL)
		sl_hosted_run(host, &(struct sl_work){.kind = SL_WORK_WIPE});
	else
		give_work(shell, action);
}

static void send(void *shell, const struct sl_action *action)
{
	sl_sim_send(shell, ((struct sl_sim *)shell)->actor, action);
}

static void links(void *shell, const struct sl_action *action)
{
	sl_sim_want(shell, ((struct sl_sim *)shell)->actor, action->to);
}

static void drop(void *shell, const struct sl_action *action)
{
	sl_sim_take_back(shell, ((struct sl_sim *)shell)->actor, action->buffers);
}

static void report(void *shell, const struct sl_action *action)
{
	sl_sim_check_report(shell, ((struct sl_sim *)shell)->actor, &action->report);
}

/* Crash before an action, on request. */
static bool alive(void *shell, const struct sl_action *action)
{
	struct sl_sim *sim = shell;
	const struct sl_sim_learner *l = &sim->learners[sim->actor];
	if (l->life == sim->life && sim->failpoint != NULL && sim->failpoint(sim, sim->actor, action, NULL))
		sl_sim_crash(sim, sim->actor);
	return l->life == sim->life;
}

/* --- a step --- */

/* Its next deadline, in the world's time. */
static void reckon(struct sl_sim *sim, uint32_t i)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	sl_ms due = l->host.stopped ? SL_NEVER : sl_core_deadline(l->host.core);
	sim->due[i] = due == SL_NEVER ? UINT64_MAX : due * 1000 > l->ahead ? due * 1000 - l->ahead : 0;
	if (sim->due[i] < l->paused_until)
		sim->due[i] = l->paused_until;
}

void sl_sim_clock_jump(struct sl_sim *sim, uint32_t i, uint64_t us)
{
	struct sl_sim_learner *l = &sim->learners[i];
	l->ahead += us;
	if (sim->due[i] != UINT64_MAX)
		reckon(sim, i);
}

/* Write the line of a step; only on request, since lines take half of a run's time. */
static void tell(struct sl_sim *sim, uint32_t i, const struct sl_event *event)
{
	sl_sim_trace_cause(&sim->trace, event);
	sl_sim_trace_effects(&sim->trace, &sim->actions);
	fprintf(sim->lines, "%8llu [%u] %s\n", (unsigned long long)(sim->now / 1000), sim->ids[i],
		sim->trace.text);
}

static void mix(uint64_t *digest, uint64_t word)
{
	*digest = (*digest ^ word) * UINT64_C(0x9fb21c651e98df25);
	*digest ^= *digest >> 29;
}

static void digest_step(struct sl_sim *sim, uint32_t i, const struct sl_event *event)
{
	mix(&sim->digest, sim->now << 8 | i);
	mix(&sim->digest, (uint64_t)event->kind << 8 | (event->message != NULL ? event->message->kind : 0));
	for (uint32_t k = 0; k < sim->actions.count; k++)
		mix(&sim->digest, sim->actions.items[k].kind);
}

static void stepped(void *shell, const struct sl_event *event, int code)
{
	struct sl_sim *sim = shell;
	uint32_t i = sim->actor;
	if (code != SL_OK && sim->actions.count != 0)
		sl_sim_fail(sim, "learner %u: actions of a step that was refused", i);
	if (code != SL_OK)
		return;
	reckon(sim, i);
	sim->steps++;
	sim->cause = event;
	digest_step(sim, i, event);
	if (sim->lines != NULL)
		tell(sim, i, event);
}

static bool execute(struct sl_sim *sim, uint32_t i, const struct sl_event *event)
{
	static const struct sl_duties duties = {.of = {[SL_ACTION_COMPUTE] = compute,
						       [SL_ACTION_PERSIST] = give_work,
						       [SL_ACTION_WIPE] = wipe,
						       [SL_ACTION_SEND] = send,
						       [SL_ACTION_TRAIN] = train,
						       [SL_ACTION_LINKS] = links,
						       [SL_ACTION_DROP] = drop,
						       [SL_ACTION_REPORT] = report,
						       [SL_ACTION_STOP] = stop},
						.stepped = stepped,
						.alive = alive};
	sim->actor = i;
	sim->life = sim->learners[i].life;
	return sl_core_run(sim->learners[i].host.core, event, &sim->actions, &duties, sim) == SL_OK;
}

void sl_sim_deliver(struct sl_sim *sim, uint32_t i, struct sl_event *event)
{
	struct sl_sim_learner *l = &sim->learners[i];
	uint32_t life = l->life;
	event->now = (sim->now + l->ahead) / 1000;
	if (!execute(sim, i, event))
		return;
	if (l->life == life)
		sl_sim_check_step(sim, i, &sim->actions);
	sim->cause = NULL;
	if (sim->after_step != NULL)
		sim->after_step(sim, i);
}
