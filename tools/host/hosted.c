#include "tools/host/hosted.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/random.h"
#include "common/compute/job_model.h"
#include "common/compute/state.h"
#include "tools/host/heap.h"

/* --- memory --- */

static void random_bytes(void *context, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)sl_random_next(context);
}

/* Memory cannot be refused in the middle of an attempt. */
static void *insist(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

int sl_hosted_open(struct sl_hosted *l, const struct sl_core_config *config, const struct sl_tensors *tensors,
		   uint64_t random)
{
	size_t n = config->parameters.n, bytes = sl_tensors_bytes(tensors, n);
	struct sl_workspace *v = &l->workspace;
	l->config = *config;
	l->ranges = sl_heap_zeroed(1, sl_ranges_memory(tensors));
	if (l->ranges == NULL)
		return SL_ERR_NOMEM;
	if (sl_values_have_limbs(config->parameters.values))
		sl_ranges_set(&v->ranges, tensors, n, l->ranges);
	l->config.layout = v->ranges.layout;
	l->config.model_bytes = bytes + sl_ranges_bytes(&v->ranges);
	l->random = random;
	l->phase = SL_PHASE_TRAIN;
	l->work_end = &l->work;
	l->wanted = sl_heap_zeroed(sl_bit_words(config->roster_size), sizeof *l->wanted);
	v->n = n;
	v->weight = 1;
	v->source = random_bytes;
	v->source_context = &l->random;
	v->trained = sl_heap_zeroed(1, bytes);
	v->rest = v->ranges.count > 0 ? sl_heap_zeroed(1, bytes) : NULL;
	v->committed = sl_heap_zeroed(1, l->config.model_bytes);
	v->fetched = sl_heap_zeroed(1, l->config.model_bytes);
	if (tensors != NULL)
		v->tensors = *tensors;
	bool whole = l->wanted != NULL && v->trained != NULL && v->committed != NULL && v->fetched != NULL;
	return whole ? SL_OK : SL_ERR_NOMEM;
}

int sl_hosted_start(struct sl_hosted *l)
{
	size_t bytes = sl_core_bytes(&l->config);
	struct sl_arena arena;
	l->workspace.scope = l->config.scope;
	if (l->initial != NULL) {
		memcpy(l->workspace.committed, l->initial, l->config.model_bytes);
		l->config.parameters.initial = sl_job_model_begin(&l->workspace);
		memcpy(l->initial, l->workspace.committed, l->config.model_bytes);
	}
	sl_heap_give(l->arena);
	l->arena = sl_heap_zeroed(1, bytes);
	l->arena_bytes = bytes;
	sl_arena_init_zeros(&arena, l->arena, l->arena != NULL ? bytes : 0);
	l->core = sl_core_init(&l->config, &arena);
	l->committed = l->config.committed;
	if (l->disk.model != NULL)
		memcpy(l->workspace.committed, l->disk.model, l->config.model_bytes);
	return l->core != NULL ? SL_OK : SL_ERR_NOMEM;
}

static void end_state_file(struct sl_workspace *workspace)
{
	sl_heap_give(workspace->state_file.base);
	workspace->state_file.base = NULL;
}

void sl_hosted_close(struct sl_hosted *l)
{
	struct sl_workspace *v = &l->workspace;
	void *owned[] = {l->arena,  l->wanted,	     v->trained, v->committed, v->fetched, v->s,
			 v->second, v->scratch.base, l->ranges,	 l->initial,   v->rest};
	end_state_file(v);
	sl_host_disk_free(&l->disk);
	for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
		sl_heap_give(owned[k]);
}

uint64_t sl_hosted_state(const struct sl_hosted *l, uint64_t k, size_t e)
{
	const struct sl_workspace *v = &l->workspace;
	bool rounds = sl_engine_rows[l->view->engine].rounds;
	return rounds && k > 0 ? v->second[e] : sl_state_element(v, l->view, e);
}

/* --- work --- */

void sl_hosted_ask(struct sl_hosted *l, const struct sl_action *action, bool whole)
{
	struct sl_work *work = insist(sl_heap_zeroed(1, sizeof *work));
	if (action->kind == SL_ACTION_COMPUTE) {
		work->kind = SL_WORK_JOB;
		work->job = action->job;
		if (action->job.kind == SL_JOB_ENCODE || action->job.kind == SL_JOB_CHECK)
			l->view = action->job.view;
	} else if (action->kind == SL_ACTION_PERSIST) {
		work->kind = SL_WORK_PERSIST;
		work->record = sl_host_disk_copy(&action->persist, whole);
	} else if (action->kind == SL_ACTION_TRAIN) {
		work->kind = SL_WORK_TRAIN;
		work->t = action->train.t;
		work->draw = action->train.draw;
	} else {
		work->kind = SL_WORK_WIPE;
	}
	*l->work_end = work;
	l->work_end = &work->next;
}

/* Make room for what `job` needs of s and second. */
static void prepare_state(struct sl_workspace *w, const struct sl_job *job)
{
	size_t bytes = sl_state_packed(job->view), elements = sl_state_second(job->view);
	if (job->kind == SL_JOB_MIX && w->second_elements < elements) {
		sl_heap_give(w->second);
		w->second = insist(sl_heap_zeroed(elements, sizeof *w->second));
		w->second_elements = elements;
	}
	bool begins = job->kind == SL_JOB_ENCODE || job->kind == SL_JOB_SUM;
	if (begins && w->s_bytes < bytes) {
		sl_heap_give(w->s);
		w->s = insist(sl_heap_zeroed(1, bytes));
		w->s_bytes = bytes;
	}
}

/* Make scratch memory before ANALYSE and ENCODE, and an empty state file before ENCODE. */
static void prepare(struct sl_workspace *workspace, const struct sl_job *job)
{
	prepare_state(workspace, job);
	if (job->kind == SL_JOB_ANALYSE || job->kind == SL_JOB_ENCODE) {
		size_t need = sl_job_scratch(job->view, 1);
		if (workspace->scratch.size < need) {
			sl_heap_give(workspace->scratch.base);
			sl_arena_init(&workspace->scratch, insist(sl_heap_take(need)), need);
		}
	}
	if (job->kind == SL_JOB_ENCODE) {
		size_t bytes = sl_slot_bytes(job->view);
		end_state_file(workspace);
		workspace->state_file = (struct sl_slots){.base = insist(sl_heap_zeroed(job->view->n, bytes)),
							  .slot_bytes = bytes};
	}
}

/* Make a record durable, a commit with its model. */
static void write_record(struct sl_hosted *l, struct sl_persist *record)
{
	uint8_t *model = NULL;
	if (record->what.kind == SL_PERSIST_COMMIT) {
		model = insist(sl_heap_take(l->config.model_bytes));
		memcpy(model, l->workspace.committed, l->config.model_bytes);
	}
	sl_host_disk_write(&l->disk, record, model);
}

void sl_hosted_run(struct sl_hosted *l, struct sl_work *work)
{
	work->ran = true;
	if (work->kind == SL_WORK_WIPE) {
		sl_job_wipe(&l->workspace);
		end_state_file(&l->workspace);
	} else if (work->kind == SL_WORK_PERSIST) {
		write_record(l, &work->record);
	} else if (work->kind == SL_WORK_JOB) {
		prepare(&l->workspace, &work->job);
		sl_job_run(&l->workspace, &work->job, &work->result);
	}
}

struct sl_work *sl_hosted_take(struct sl_hosted *l)
{
	struct sl_work *work = l->work;
	if (work != NULL)
		l->work = work->next;
	if (l->work == NULL)
		l->work_end = &l->work;
	return work;
}

bool sl_hosted_event(struct sl_hosted *l, const struct sl_work *work, struct sl_event *event)
{
	*event = (struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &work->result};
	if (work->kind == SL_WORK_TRAIN)
		*event = (struct sl_event){.kind = SL_EVENT_TRAINED};
	if (work->kind == SL_WORK_PERSIST)
		*event = (struct sl_event){.kind = SL_EVENT_DURABLE, .durable = work->record.what};
	if (event->kind == SL_EVENT_DURABLE && event->durable.kind == SL_PERSIST_COMMIT)
		l->committed = event->durable.t;
	return work->kind != SL_WORK_WIPE;
}

void sl_hosted_done(struct sl_work *work)
{
	sl_host_disk_drop(&work->record);
	sl_heap_give(work);
}
