/* A learner's turn: its mail through the core, and then what the core asked for. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/runner_internal.h"

/* --- chunks: read where they lie --- */

static struct sl_buffer *lend(struct swarm_worker *w, struct swarm_piece *piece)
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

void swarm_give_back(struct swarm_worker *w, struct sl_buffer *list)
{
	while (list != NULL) {
		struct sl_buffer *next = list->next;
		swarm_unread(list->memory, 1);
		list->next = w->spare;
		w->spare = list;
		list = next;
	}
}

/* --- what the core asks for --- */

static void stop(struct swarm *swarm, uint32_t i, int code)
{
	struct swarm_learner *l = &swarm->learners[i];
	struct sl_error error;
	l->stopped = true;
	if (code == SL_OK)
		return;
	sl_fail(&error, code, "learner %u ended in round %u (%s)", swarm->ids[i], l->committed + 1, sl_err_text(code));
	swarm_fail(swarm, i, &error);
}

static void report(struct swarm_worker *w, uint32_t i, const struct sl_report *report)
{
	const struct swarm_options *o = &w->swarm->options;
	struct swarm_learner *l = &w->swarm->learners[i];
	if (report->kind == SL_REPORT_PHASE) {
		swarm_tick(w, &w->seconds[l->phase]);
		l->phase = report->phase;
	}
	if (o->reported == NULL)
		return;
	pthread_mutex_lock(&w->swarm->lock);
	o->reported(o->context, i, report);
	pthread_mutex_unlock(&w->swarm->lock);
}

static void keep_commit(struct swarm_work *work, const struct sl_persist *persist)
{
	if (persist->what.kind != SL_PERSIST_COMMIT)
		return;
	memcpy(work->digest, persist->proof->digest, SL_HASH_BYTES);
	work->p = persist->proof->p;
	work->total_weight = persist->total_weight;
}

static void add_work(struct swarm_learner *l, const struct sl_action *action)
{
	struct swarm_work work = {.kind = SWARM_WIPE};
	if (action->kind == SL_ACTION_COMPUTE) {
		work.kind = SWARM_JOB;
		work.job = action->job;
	} else if (action->kind == SL_ACTION_TRAIN) {
		work.kind = SWARM_TRAIN;
		work.durable.t = action->train.t;
		work.draw = action->train.draw;
	} else if (action->kind == SL_ACTION_PERSIST) {
		work.kind = SWARM_PERSIST;
		work.durable = action->persist.what;
		keep_commit(&work, &action->persist);
	}
	SWARM_PUSH(l->work, work);
}

static void carry(struct swarm_worker *w, uint32_t i, const struct sl_action *action)
{
	switch (action->kind) {
	case SL_ACTION_SEND:
	case SL_ACTION_LINKS:
		swarm_say(w->swarm, i, action);
		break;
	case SL_ACTION_COMPUTE:
	case SL_ACTION_TRAIN:
	case SL_ACTION_PERSIST:
	case SL_ACTION_WIPE:
		add_work(&w->swarm->learners[i], action);
		break;
	case SL_ACTION_DROP:
		swarm_give_back(w, action->buffers);
		break;
	case SL_ACTION_REPORT:
		report(w, i, &action->report);
		break;
	case SL_ACTION_STOP:
		stop(w->swarm, i, action->code);
		break;
	}
}

void swarm_event(struct swarm_worker *w, uint32_t i, struct sl_event *event)
{
	event->now = w->swarm->now;
	if (sl_core_step(w->swarm->learners[i].core, event, &w->actions) != SL_OK) {
		swarm_give_back(w, event->buffer);
		return;
	}
	for (uint32_t k = 0; k < w->actions.count; k++)
		carry(w, i, &w->actions.items[k]);
}

/* --- the mail --- */

static void read_piece(struct swarm_worker *w, uint32_t i, const struct swarm_mail *mail)
{
	struct swarm_piece *piece = mail->piece;
	struct sl_event event = {.kind = SL_EVENT_MESSAGE, .peer = mail->peer, .message = &piece->message};
	if (piece->message.kind >= SL_MSG_SHARE) {
		event.buffer = lend(w, piece);
		swarm_event(w, i, &event);
	} else {
		swarm_event(w, i, &event);
		swarm_unread(piece, 1);
	}
}

static void take(struct swarm_worker *w, uint32_t i, const struct swarm_mail *mail)
{
	static const enum sl_event_kind kinds[] = {[SWARM_START] = SL_EVENT_START,
						   [SWARM_LINK_UP] = SL_EVENT_LINK_UP,
						   [SWARM_LINK_DOWN] = SL_EVENT_LINK_DOWN,
						   [SWARM_RANGE] = SL_EVENT_RANGE,
						   [SWARM_DEADLINE] = SL_EVENT_DEADLINE};
	if (mail->kind == SWARM_PIECE) {
		read_piece(w, i, mail);
		return;
	}
	const uint64_t *range = w->swarm->ranges + i * w->swarm->words;
	struct sl_event event = {.kind = kinds[mail->kind], .peer = mail->peer, .range = range};
	swarm_event(w, i, &event);
}

void swarm_drop(struct swarm_worker *w, uint32_t i)
{
	struct swarm_learner *l = &w->swarm->learners[i];
	for (; l->inbox_done < l->inbox.count; l->inbox_done++)
		if (l->inbox.items[l->inbox_done].piece != NULL)
			swarm_unread(l->inbox.items[l->inbox_done].piece, 1);
	for (; l->work_done < l->work.count; l->work_done++)
		if (l->work.items[l->work_done].kind == SWARM_JOB)
			swarm_give_back(w, l->work.items[l->work_done].job.buffers);
	l->due = SL_NEVER;
}

void swarm_turn(struct swarm_worker *w, uint32_t i)
{
	struct swarm_learner *l = &w->swarm->learners[i];
	l->spoke = false;
	while (l->inbox_done < l->inbox.count && !l->stopped)
		take(w, i, &l->inbox.items[l->inbox_done++]);
	while (l->work_done < l->work.count && !l->stopped && !l->spoke)
		swarm_work(w, i);
	l->due = sl_core_deadline(l->core);
	if (l->stopped)
		swarm_drop(w, i);
	l->inbox_done = l->inbox.count = 0;
	if (l->work_done == l->work.count)
		l->work_done = l->work.count = 0;
	swarm_tick(w, &w->seconds[l->phase]);
}
