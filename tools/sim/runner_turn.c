/* A learner's turn: its mail through the core, and then what the core asked for. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/runner_internal.h"

/* --- chunks: read where they lie --- */

static struct sl_buffer *lend(struct sl_runner_worker *w, struct sl_runner_payload *piece)
{
	struct sl_buffer *buffer = w->spare;
	if (buffer != NULL)
		w->spare = buffer->next;
	else if ((buffer = malloc(sizeof *buffer)) == NULL)
		abort();
	buffer->next = NULL;
	buffer->bytes = piece->bytes;
	buffer->size = piece->message.chunk.size;
	buffer->memory = piece;
	return buffer;
}

void sl_runner_give_back(struct sl_runner_worker *w, struct sl_buffer *list)
{
	while (list != NULL) {
		struct sl_buffer *next = list->next;
		sl_runner_unread(list->memory, 1);
		list->next = w->spare;
		w->spare = list;
		list = next;
	}
}

/* --- what the core asks for --- */

static void stop(struct sl_runner *runner, uint32_t i, int code)
{
	struct sl_runner_learner *l = &runner->learners[i];
	struct sl_error error;
	l->stopped = true;
	if (code == SL_OK)
		return;
	sl_err_set(&error, code, "learner %u ended in round %u (%s)", runner->ids[i], l->committed + 1,
		   sl_err_text(code));
	sl_runner_fail(runner, i, &error);
}

static void report(struct sl_runner_worker *w, uint32_t i, const struct sl_report *report)
{
	const struct sl_runner_options *o = &w->runner->options;
	struct sl_runner_learner *l = &w->runner->learners[i];
	if (report->kind == SL_REPORT_PHASE) {
		sl_runner_tick(w, &w->seconds[l->phase]);
		l->phase = report->phase;
	}
	if (o->reported == NULL)
		return;
	pthread_mutex_lock(&w->runner->lock);
	o->reported(o->context, i, report);
	pthread_mutex_unlock(&w->runner->lock);
}

static void keep_commit(struct sl_runner_work *work, const struct sl_persist *persist)
{
	if (persist->what.kind != SL_PERSIST_COMMIT)
		return;
	memcpy(work->digest, persist->certificate->digest, SL_HASH_BYTES);
	work->p = persist->certificate->p;
	work->total_weight = persist->total_weight;
}

static void add_work(struct sl_runner_learner *l, const struct sl_action *action)
{
	struct sl_runner_work work = {.kind = SL_RUNNER_WIPE};
	if (action->kind == SL_ACTION_COMPUTE) {
		work.kind = SL_RUNNER_JOB;
		work.job = action->job;
	} else if (action->kind == SL_ACTION_TRAIN) {
		work.kind = SL_RUNNER_TRAIN;
		work.durable.t = action->train.t;
		work.draw = action->train.draw;
	} else if (action->kind == SL_ACTION_PERSIST) {
		work.kind = SL_RUNNER_PERSIST;
		work.durable = action->persist.what;
		keep_commit(&work, &action->persist);
	}
	SL_RUNNER_PUSH(l->work, work);
}

static void carry(struct sl_runner_worker *w, uint32_t i, const struct sl_action *action)
{
	switch (action->kind) {
	case SL_ACTION_SEND:
	case SL_ACTION_LINKS:
		sl_runner_say(w->runner, i, action);
		break;
	case SL_ACTION_COMPUTE:
	case SL_ACTION_TRAIN:
	case SL_ACTION_PERSIST:
	case SL_ACTION_WIPE:
		add_work(&w->runner->learners[i], action);
		break;
	case SL_ACTION_DROP:
		sl_runner_give_back(w, action->buffers);
		break;
	case SL_ACTION_REPORT:
		report(w, i, &action->report);
		break;
	case SL_ACTION_STOP:
		stop(w->runner, i, action->code);
		break;
	}
}

void sl_runner_event(struct sl_runner_worker *w, uint32_t i, struct sl_event *event)
{
	event->now = w->runner->now;
	if (sl_core_step(w->runner->learners[i].core, event, &w->actions) != SL_OK) {
		sl_runner_give_back(w, event->buffer);
		return;
	}
	for (uint32_t k = 0; k < w->actions.count; k++)
		carry(w, i, &w->actions.items[k]);
}

/* --- the mail --- */

static void read_piece(struct sl_runner_worker *w, uint32_t i, const struct sl_runner_mail *mail)
{
	struct sl_runner_payload *piece = mail->piece;
	struct sl_event event = {.kind = SL_EVENT_MESSAGE, .peer = mail->peer, .message = &piece->message};
	if (piece->message.kind >= SL_MSG_SHARE) {
		event.buffer = lend(w, piece);
		sl_runner_event(w, i, &event);
	} else {
		sl_runner_event(w, i, &event);
		sl_runner_unread(piece, 1);
	}
}

static void take(struct sl_runner_worker *w, uint32_t i, const struct sl_runner_mail *mail)
{
	static const enum sl_event_kind kinds[] = {[SL_RUNNER_START] = SL_EVENT_START,
						   [SL_RUNNER_LINK_UP] = SL_EVENT_LINK_UP,
						   [SL_RUNNER_LINK_DOWN] = SL_EVENT_LINK_DOWN,
						   [SL_RUNNER_RANGE] = SL_EVENT_RANGE,
						   [SL_RUNNER_DEADLINE] = SL_EVENT_DEADLINE};
	if (mail->kind == SL_RUNNER_PAYLOAD) {
		read_piece(w, i, mail);
		return;
	}
	const uint64_t *range = w->runner->ranges + i * w->runner->words;
	struct sl_event event = {.kind = kinds[mail->kind], .peer = mail->peer, .range = range};
	sl_runner_event(w, i, &event);
}

void sl_runner_drop(struct sl_runner_worker *w, uint32_t i)
{
	struct sl_runner_learner *l = &w->runner->learners[i];
	for (; l->inbox_done < l->inbox.count; l->inbox_done++)
		if (l->inbox.items[l->inbox_done].piece != NULL)
			sl_runner_unread(l->inbox.items[l->inbox_done].piece, 1);
	for (; l->work_done < l->work.count; l->work_done++)
		if (l->work.items[l->work_done].kind == SL_RUNNER_JOB)
			sl_runner_give_back(w, l->work.items[l->work_done].job.buffers);
	l->due = SL_NEVER;
}

void sl_runner_turn(struct sl_runner_worker *w, uint32_t i)
{
	struct sl_runner_learner *l = &w->runner->learners[i];
	l->spoke = false;
	while (l->inbox_done < l->inbox.count && !l->stopped)
		take(w, i, &l->inbox.items[l->inbox_done++]);
	while (l->work_done < l->work.count && !l->stopped && !l->spoke)
		sl_runner_work(w, i);
	l->due = sl_core_deadline(l->core);
	if (l->stopped)
		sl_runner_drop(w, i);
	l->inbox_done = l->inbox.count = 0;
	if (l->work_done == l->work.count)
		l->work_done = l->work.count = 0;
	sl_runner_tick(w, &w->seconds[l->phase]);
}
