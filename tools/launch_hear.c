/* What the daemons say: their log records, and their replies. */
#include <stdio.h>
#include <string.h>

#include "tools/launch.h"

static void ask(struct sl_learner *l, const char *op)
{
	sl_client_send(&l->control, json_pack("{s:s}", "op", op));
}

static void opened(void *context)
{
	struct sl_learner *l = context;
	struct sl_launch *launch = l->launch;
	l->connected = true;
	ask(l, "watch");
	sl_radio_tell(launch, l->index);
	ask(l, "status"); /* it may have trained before we listened */
	if (++launch->connected == launch->plan->learners && !launch->ending) {
		sl_progress_line(launch->progress, "%u learners are up; run folder %s", launch->connected,
				 launch->plan->folder.shown);
		sl_progress_header(launch->progress);
	}
}

static void ended(void *context, const char *reason)
{
	struct sl_learner *l = context;
	l->lost_ms = uv_now(&l->launch->loop);
	snprintf(l->lost_why, sizeof l->lost_why, "%s", reason);
	sl_child_judge(l);
}

/* ---- records ---- */

/* Each attempt encodes anew: the last one's count stands. */
static void set_clamped(struct sl_learner *l, struct sl_round_row *row, uint64_t count)
{
	sl_round_clamped(row, l->clamped_round == row->round ? l->clamped : 0, count);
	l->clamped_round = row->round;
	l->clamped = count;
}

static void hear_clamped(struct sl_learner *l, struct sl_round_row *row, const json_t *record)
{
	set_clamped(l, row, sl_field_whole(record, "count", 0));
}

static void hear_trained(struct sl_learner *l, struct sl_round_row *row, const json_t *record)
{
	l->activity = SL_SEEKING;
	set_clamped(l, row, 0); /* a burned model's are gone with it */
	sl_round_trained(row, record);
}

static void hear_view(struct sl_learner *l, struct sl_round_row *row, const json_t *record)
{
	l->activity = SL_WORKING;
	sl_round_view(row, record);
	if (row->committed == 0)
		row->step = l->launch->step;
}

static void hear_committed(struct sl_learner *l, struct sl_round_row *row, const json_t *record)
{
	struct sl_launch *launch = l->launch;
	l->activity = SL_TRAINING;
	if (row->round > l->committed)
		l->committed = row->round;
	if (!sl_round_committed(row, l->index, record))
		return;
	if (row->step == 0)
		row->step = launch->step;
	launch->barren = 0;
	if (row->round < launch->rounds.most)
		sl_radio_next(launch);
}

/* A round that went by without it, from a neighbour: the same model, or the run is not exact. */
static void hear_caught_up(struct sl_learner *l, struct sl_round_row *row, const json_t *record)
{
	l->activity = SL_TRAINING;
	if (row->round > l->committed)
		l->committed = row->round;
	row->same = row->same && strcmp(row->digest, sl_field_text(record, "digest", "")) == 0;
}

static void hear_evaluated(struct sl_learner *l, struct sl_round_row *row, const json_t *record)
{
	(void)l;
	sl_round_evaluated(row, record);
}

static void hear_failed(struct sl_learner *l, struct sl_round_row *row, const json_t *record)
{
	const char *why = sl_field_text(record, "reason", sl_field_text(record, "text", "no reason given"));
	bool follows = strcmp(sl_field_text(record, "level", ""), "info") == 0; /* another's attempt failed first */
	l->activity = SL_SEEKING;
	if (follows && l->launch->reason[0] != '\0')
		return;
	snprintf(l->launch->reason, sizeof l->launch->reason, "%s, round %u: %s", l->name, row->round, why);
}

static void hear_waiting(struct sl_learner *l, struct sl_round_row *row, const json_t *record)
{
	(void)row;
	(void)record;
	if (l->activity == SL_TRAINING) /* its `trained` was written before we listened */
		l->activity = SL_SEEKING;
}

static const struct {
	const char *event;
	void (*hear)(struct sl_learner *, struct sl_round_row *, const json_t *);
} events[] = {
	{"trained", hear_trained},	 {"view", hear_view},
	{"committed", hear_committed},	 {"evaluated", hear_evaluated},
	{"attempt_failed", hear_failed}, {"waiting", hear_waiting},
	{"clamped", hear_clamped},	 {"caught_up", hear_caught_up},
};

/* Rounds are handed out in order, each once. */
static void hand_out(struct sl_launch *launch)
{
	struct sl_rounds *r = &launch->rounds;
	while (launch->handed < r->count && sl_round_complete(&r->rows[launch->handed]))
		sl_launch_round_done(launch, &r->rows[launch->handed++]);
}

static void hear_record(struct sl_learner *l, const char *event, const json_t *record)
{
	for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
		if (strcmp(events[i].event, event) != 0)
			continue;
		struct sl_round_row *row = sl_rounds_row(&l->launch->rounds, record);
		if (row != NULL)
			events[i].hear(l, row, record);
		hand_out(l->launch);
		return;
	}
}

/* ---- replies ---- */

static void hear_status(struct sl_learner *l, const json_t *reply)
{
	l->round = (sl_round)sl_field_whole(reply, "round", l->round);
	l->phase = sl_phase_find(sl_field_text(reply, "phase", ""));
	l->part = sl_field_real(reply, "progress", 0) / 1000;
	if (l->activity == SL_TRAINING && l->phase > SL_PHASE_TRAIN && l->round > l->committed)
		l->activity = SL_SEEKING;
}

static void hear_reply(struct sl_learner *l, const json_t *reply)
{
	if (!json_is_true(json_object_get(reply, "ok")))
		sl_launch_fail(l->launch, "%s refused a request: %s", l->name,
			       sl_field_text(reply, "error", "no reason given"));
	else if (json_object_get(reply, "phase") != NULL)
		hear_status(l, reply);
}

static void heard(void *context, const json_t *object)
{
	struct sl_learner *l = context;
	const char *event = sl_field_text(object, "event", NULL);
	if (l->launch->ending)
		return;
	if (event != NULL)
		hear_record(l, event, object);
	else if (json_object_get(object, "ok") != NULL)
		hear_reply(l, object);
}

const struct sl_client_events sl_learner_events = {opened, heard, ended};
