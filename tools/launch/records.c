/* Take the log records of the daemons, and their replies on the control socket. */
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "tools/launch/state.h"

static void ask(struct sl_learner *l, const char *op)
{
	sl_control_client_send(&l->control, json_pack("{s:s}", "op", op));
}

static void opened(void *context)
{
	struct sl_learner *l = context;
	l->heard_ms = uv_now(&l->launch->loop);
	ask(l, "watch");
	ask(l, "status"); /* records before this one were missed */
	l->told = false;
}

/* The learner takes part: its first program has joined. */
static void take_part(struct sl_learner *l)
{
	struct sl_launch *launch = l->launch;
	bool first = !l->was_up;
	l->connected = l->was_up = l->told = true;
	l->early = 0;
	sl_wait_moved(l);
	sl_playback_tell(launch, l->index);
	if (first && ++launch->was_up == launch->plan->learners && !launch->ending) {
		sl_progress_line(launch->progress, "%u learners are up; run folder %s", launch->was_up,
				 launch->plan->folder.shown);
		if (launch->plan->options.http_port != 0)
			sl_progress_line(
				launch->progress,
				"http://127.0.0.1:%u/metrics and the next %u ports show their metrics; "
				"prometheus.yaml is in the run folder",
				launch->plan->options.http_port, launch->plan->learners - 1);
		sl_progress_header(launch->progress);
		sl_chaos_begin(launch);
	}
}

static void ended(void *context, const char *reason)
{
	struct sl_learner *l = context;
	(void)reason;
	l->alone_ms = uv_now(&l->launch->loop);
}

/* ---- records ---- */

/* A record without a count has 0. */
static void hear_clamped(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	sl_round_table_clamped(row, &l->clamped, record->count);
}

static void hear_trained(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	l->activity = SL_SEEKING;
	sl_wait_moved(l);
	hear_clamped(l, row, record); /* 0: parameters of an invalidated model do not count */
	sl_round_table_trained(row, record);
}

static void hear_view(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	l->activity = SL_WORKING;
	sl_wait_moved(l);
	sl_round_table_view(row, record);
	sl_round_table_member(row, l->index, (sl_attempt)record->attempt);
	if (row->committed == 0)
		row->step = l->launch->step;
}

/* Earlier rounds whose records were missed are committed too. */
static void set_committed(struct sl_learner *l, const struct sl_round_row *row)
{
	l->activity = SL_TRAINING;
	sl_wait_moved(l);
	if (row->round > l->committed + 1)
		sl_adopt(l, row->round - 1);
	if (row->round > l->committed)
		l->committed = row->round;
}

static void hear_committed(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	set_committed(l, row);
	if (sl_round_table_committed(row, l->index, record))
		sl_playback_committed(l->launch, row);
}

/* Adopted from a peer: it must be the same model, or the run is not exact. */
static void hear_caught_up(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	set_committed(l, row);
	sl_round_table_shown(row, l->index, record->digest != NULL ? record->digest : "");
}

static void hear_evaluated(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	(void)l;
	sl_round_table_evaluated(row, record);
}

/* Note why the last attempt failed. Without a learner that is left out the others may be too few: then its
 * difference is the cause. */
static void set_reason(const struct sl_learner *l, const struct sl_round_row *row, const char *why)
{
	struct sl_launch *launch = l->launch;
	if (launch->odd != NULL)
		snprintf(launch->reason, sizeof launch->reason, "%s", launch->odd);
	else
		snprintf(launch->reason, sizeof launch->reason, "%s, round %u: %s", l->name, row->round, why);
}

/* Say once in a round that its attempts fail in one way: the learners are busy, so that none waits. */
static void say_repeated(const struct sl_learner *l, const struct sl_round_row *row,
			 const struct sl_record *record, const char *why)
{
	struct sl_failures *f = &l->launch->failures;
	if (f->since == 0 || f->round != row->round || strcmp(f->how, why) != 0) {
		snprintf(f->how, sizeof f->how, "%s", why);
		f->round = row->round;
		f->since = record->attempt;
	}
	if (record->attempt == f->since || f->reported == row->round)
		return;
	f->reported = row->round;
	sl_progress_line(l->launch->progress, "%s (%u): %s", l->name, l->index + 1, record->text);
}

static void hear_failed(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	const char *why = record->reason != NULL ? record->reason
			  : record->text != NULL ? record->text
						 : "no reason given";
	bool follows = record->level != NULL &&
		       sl_level_find(record->level) == SL_INFO; /* a peer's attempt failed first */
	l->activity = SL_SEEKING;
	if (follows && l->launch->reason[0] != '\0')
		return;
	say_repeated(l, row, record, why);
	set_reason(l, row, why);
}

static void hear_waiting(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	(void)row;
	sl_wait_heard(l, record);
	if (record->waits_for != NULL && strcmp(record->waits_for, sl_wait_words(SL_WAIT_RANGE)) == 0)
		sl_playback_tell(l->launch, l->index); /* a list that was sent while it died is lost */
	if (l->activity == SL_TRAINING)		       /* its `trained` was written before we listened */
		l->activity = SL_SEEKING;
}

static void hear_phase(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	(void)row;
	(void)record;
	sl_wait_over(l);
}

static void hear_moved(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	(void)row;
	(void)record;
	sl_wait_moved(l);
}

/* A model outside the clipping range, a result that differs from a peer's: a restart would end in the same
 * way. */
static void hear_fatal(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	(void)row;
	(void)record;
	l->final = true;
}

/* Return true if enough learners may take part in one round: some learner differs from few enough. */
static bool may_agree(const struct sl_launch *launch)
{
	const struct sl_plan *plan = launch->plan;
	uint32_t n = plan->learners, private = plan->settings.tolerance + 2;
	bool enforced = plan->settings.privacy_check == SL_PRIVACY_ENFORCE;
	uint32_t least = enforced && private > plan->quorum ? private : plan->quorum;
	for (uint32_t i = 0; i < n; i++)
		if (n - sl_bit_count(launch->learners[i].differs, sl_bit_words(n)) >= least)
			return true;
	return false;
}

/* Return true if `cause` was not said before, and note that it is. */
static bool is_new_cause(struct sl_launch *launch, const char *cause)
{
	for (uint32_t i = 0; i < SL_ODD_CAUSES; i++) {
		if (strcmp(launch->odd_causes[i], cause) == 0)
			return false;
		if (launch->odd_causes[i][0] != '\0')
			continue;
		snprintf(launch->odd_causes[i], sizeof launch->odd_causes[i], "%s", cause);
		return true;
	}
	return false;
}

/* A learner is left out until it is started with the parameters of the others: say so at once, once for each
 * cause, and end the run if too few are left. The learners at both ends of a link write such a record. */
static void hear_odd(struct sl_learner *l, const struct sl_record *record, const char *cause)
{
	struct sl_launch *launch = l->launch;
	char text[SL_ERROR_BYTES];
	if (record->peer < 1 || record->peer > launch->plan->learners)
		return;
	sl_bit_set(l->differs, record->peer - 1);
	sl_bit_set(launch->learners[record->peer - 1].differs, l->index);
	snprintf(text, sizeof text, "%s (%u): %s", l->name, l->index + 1, record->text);
	if (l->odd[0] == '\0')
		strcpy(l->odd, text);
	if (launch->learners[record->peer - 1].odd[0] == '\0')
		strcpy(launch->learners[record->peer - 1].odd, text);
	launch->odd = l->odd;
	if (!may_agree(launch))
		sl_launch_fail(launch, "%s", text);
	else if (is_new_cause(launch, cause))
		sl_progress_line(launch->progress, "%s", text);
}

static void hear_model(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	(void)row;
	hear_odd(l, record, "model");
}

/* Of another model, the record `model` names the tensor. */
static void hear_left_out(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	(void)row;
	if (record->cause != NULL && strcmp(record->cause, "model") != 0)
		hear_odd(l, record, record->cause);
}

/* Say once in a run that the decimals do not fit the models. */
static void hear_precision(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	bool *warned = &l->launch->warned;
	bool frozen = record->has[SL_FIELD_frozen] && record->frozen > 0;
	bool again = frozen ? record->round >= 2 * l->launch->frozen : !*warned; /* frozen: 1, 2, 4, 8 .. */
	sl_round_table_encoded(row, record);
	if (!again || record->level == NULL || sl_level_find(record->level) != SL_WARN)
		return;
	if (frozen)
		l->launch->frozen = (sl_round)record->round;
	else
		*warned = true;
	sl_progress_line(l->launch->progress, "%s (%u): %s", l->name, l->index + 1, record->text);
}

/* End after a round before the last one. */
static void end_after(struct sl_launch *launch, sl_round last)
{
	if (launch->asked == 0)
		launch->asked = launch->rounds.most;
	launch->rounds.most = last;
	if (launch->handed >= last)
		sl_launch_finish(launch);
}

/* The learners have agreed to stop: the present round is the last one. */
static void hear_end(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	(void)record;
	end_after(l->launch, row->round);
}

void sl_records_spent(struct sl_learner *l, sl_round t, const char *text)
{
	l->spent = true;
	if (!l->launch->spent)
		sl_progress_line(l->launch->progress, "%s (%u): %s", l->name, l->index + 1, text);
	l->launch->spent = true;
	end_after(l->launch, t - 1);
}

/* A learner ends: this round would exceed its privacy budget. */
static void hear_spent(struct sl_learner *l, struct sl_round_row *row, const struct sl_record *record)
{
	sl_records_spent(l, row->round, record->text);
}

static const struct {
	enum sl_record_kind kind;
	void (*hear)(struct sl_learner *, struct sl_round_row *, const struct sl_record *);
} handlers[] = {
	{SL_RECORD_PHASE, hear_phase},
	{SL_RECORD_TRAINED, hear_trained},
	{SL_RECORD_VIEW, hear_view},
	{SL_RECORD_COMMITTED, hear_committed},
	{SL_RECORD_EVALUATED, hear_evaluated},
	{SL_RECORD_ATTEMPT_FAILED, hear_failed},
	{SL_RECORD_WAITING, hear_waiting},
	{SL_RECORD_CLAMPED, hear_clamped},
	{SL_RECORD_CAUGHT_UP, hear_caught_up},
	{SL_RECORD_MODEL, hear_model},
	{SL_RECORD_LEFT_OUT, hear_left_out},
	{SL_RECORD_ENCODED, hear_precision},
	{SL_RECORD_FEW_BITS, hear_precision},
	{SL_RECORD_RECOVERING, hear_moved},
	{SL_RECORD_RECOVERED, hear_moved},
	{SL_RECORD_AGREED_END, hear_end},
	{SL_RECORD_BUDGET_SPENT, hear_spent},
	{SL_RECORD_FATAL, hear_fatal}, /* of a round; others name none */
};

/* A privacy budget ends the run: note what a learner with more does after the last round; ask it to end, if
 * the others were. */
static void hear_late(struct sl_learner *l, const struct sl_record *record)
{
	if (!l->launch->spent || l->spent || record->round <= l->launch->rounds.most)
		return;
	if (record->kind == SL_RECORD_COMMITTED)
		l->committed = (sl_round)record->round;
	if (record->kind != SL_RECORD_TRAINED)
		return;
	l->activity = SL_SEEKING;
	if (l->launch->ending)
		ask(l, "stop");
}

/* The names of metrics are the application's: they are read from the record's text. */
static void hear_metrics(const struct sl_learner *l, const struct sl_record *record, const json_t *object)
{
	struct sl_round_row *row = record->kind == SL_RECORD_TRAINED
					   ? sl_round_table_at(&l->launch->rounds, record->round)
					   : NULL;
	if (row != NULL)
		sl_round_table_metrics(row, l->name, object);
}

/* Show what the command of trainer: exec has printed, and that it has ended. */
static void hear_command(const struct sl_learner *l, const struct sl_record *record)
{
	static const char printed[] = "command: ";
	bool ended = record->level != NULL && sl_level_find(record->level) >= SL_WARN;
	bool prints = record->text != NULL && strncmp(record->text, printed, sizeof printed - 1) == 0;
	if ((ended || prints) && record->reason != NULL)
		sl_progress_line(l->launch->progress, "%s: %s", l->name, record->reason);
}

static void hear_record(struct sl_learner *l, const struct sl_record *record)
{
	for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
		if (handlers[i].kind != record->kind)
			continue;
		struct sl_round_row *row = sl_round_table_at(&l->launch->rounds, record->round);
		if (row != NULL) {
			handlers[i].hear(l, row, record);
			sl_rows_late(l, row);
		}
		sl_rows_tick(l->launch);
		return;
	}
}

/* ---- replies ---- */

static void hear_status(struct sl_learner *l, const json_t *reply)
{
	sl_round committed = (sl_round)sl_round_table_field_whole(reply, "committed", 0);
	if (!l->told)
		take_part(l);
	if (committed > l->committed) {
		sl_adopt(l, committed);
		sl_rows_tick(l->launch);
	}
	l->round = (sl_round)sl_round_table_field_whole(reply, "round", l->round);
	l->phase = sl_phase_find(sl_round_table_field_text(reply, "phase", ""));
	l->part = sl_round_table_field_real(reply, "progress") / 1000;
	const char *awaited = sl_round_table_field_text(l->waiting, "for", "");
	if (strcmp(sl_round_table_field_text(reply, "waits_for", awaited), awaited) != 0)
		sl_wait_over(l);
	if (l->phase > SL_PHASE_TRAIN && l->round > l->committed) {
		struct sl_round_row *row = sl_round_table_at(&l->launch->rounds, l->round);
		if (l->activity == SL_TRAINING)
			l->activity = SL_SEEKING;
		if (row != NULL) /* its record may be older than this connection */
			sl_round_table_metrics(row, l->name, reply);
	}
}

static void hear_reply(struct sl_learner *l, const json_t *reply)
{
	if (json_is_true(json_object_get(reply, "waiting")))
		return; /* its record "listening" tells that it waits no longer */
	if (!json_is_true(json_object_get(reply, "ok")))
		sl_launch_fail(l->launch, "%s refused a request: %s", l->name,
			       sl_round_table_field_text(reply, "error", "no reason given"));
	else if (json_object_get(reply, "phase") != NULL)
		hear_status(l, reply);
}

static void heard(void *context, const json_t *object)
{
	struct sl_learner *l = context;
	struct sl_record record;
	l->heard_ms = uv_now(&l->launch->loop);
	bool is_record = sl_record_read(&record, object);
	if (is_record && record.kind == SL_RECORD_COMMAND)
		hear_command(l, &record); /* also after the last round */
	l->spent |= is_record && record.kind == SL_RECORD_BUDGET_SPENT;
	if (is_record && (record.kind == SL_RECORD_LISTENING || record.kind == SL_RECORD_LISTENING_ON_ALL))
		ask(l, "status");
	if (is_record)
		hear_late(l, &record);
	if (l->launch->ending)
		return;
	if (is_record) {
		hear_metrics(l, &record, object);
		hear_record(l, &record);
	} else if (json_object_get(object, "ok") != NULL)
		hear_reply(l, object);
}

const struct sl_control_client_events sl_records_events = {opened, heard, ended};
