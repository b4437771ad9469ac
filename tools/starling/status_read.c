/* Ask the learners, and read the logs of those that have ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/command.h"
#include "tools/lib/log_end.h"
#include "tools/starling/status.h"

#define ANSWER_MS 2000
#define TAIL_BYTES 65536
#define NAMES_MOST 2u /* awaited learners that are named */
#define PEERS_MOST 3u /* learners that are asked what they know of their peers */

void sl_status_open(struct sl_status_all *all, struct sl_learners_options *options)
{
	*all = (struct sl_status_all){0};
	sl_learners_open(&all->of, options);
	all->rows = sl_command_memory(all->of.count, sizeof *all->rows);
	for (size_t i = 0; i < all->of.count; i++)
		all->rows[i].asked = &all->of.asked[i];
}

void sl_status_close(struct sl_status_all *all)
{
	for (size_t i = 0; i < all->of.count; i++)
		json_decref(all->rows[i].last);
	free(all->rows);
	sl_learners_close(&all->of);
}

/* ---- a learner that has ended ---- */

/* Return true if a record of `event` does not describe the learner. An evaluation runs beside the round and
 * may end after the record that says why the learner ends; an application leaves after that record. */
static bool follows(const struct sl_status_row *row, const char *event)
{
	return strcmp(event, "evaluated") == 0 || (row->ended && strcmp(event, "application") == 0);
}

/* Take a record of the log of `context`, a row: the last one stays. */
static void take_record(void *context, const struct sl_record *record)
{
	struct sl_status_row *row = context;
	if (record->kind == SL_RECORD_COMMITTED || record->kind == SL_RECORD_CAUGHT_UP)
		row->committed = (sl_round)record->round;
	/* a launcher ends its learners after the last round, in phase DONE */
	if (record->kind == SL_RECORD_PHASE)
		row->finished =
			record->phase != NULL && strcmp(record->phase, sl_phase_name(SL_PHASE_DONE)) == 0;
	row->finished |= record->kind == SL_RECORD_FINISHED;
	if (row->last != NULL && record->event != NULL && follows(row, record->event))
		return;
	row->ended = record->kind == SL_RECORD_FINISHED || record->kind == SL_RECORD_STOPPING ||
		     record->kind == SL_RECORD_FATAL || record->kind == SL_RECORD_AGAIN;
	json_decref(row->last);
	row->last = json_incref((json_t *)record->json);
}

/* ---- all ---- */

static void take(struct sl_status_row *row)
{
	struct sl_control_query *asked = row->asked;
	json_decref(row->last);
	row->last = NULL;
	row->ended = row->finished = false;
	row->status = json_is_true(json_object_get(asked->reply, "ok")) ? asked->reply : NULL;
	if (row->status != NULL) {
		sl_learners_know(asked, row->status, "id");
		bool overdue = json_is_true(json_object_get(row->status, "overdue"));
		row->state = overdue ? SL_STATUS_OVERDUE : SL_STATUS_RUNNING;
		row->committed = (sl_round)sl_learners_number(row->status, "committed");
		row->rounds = (sl_round)sl_learners_number(row->status, "rounds");
		return;
	}
	bool forming = json_is_true(json_object_get(asked->reply, "forming"));
	if (forming || json_is_true(json_object_get(asked->reply, "waiting"))) {
		sl_learners_know(asked, asked->reply, "id");
		row->state = forming ? SL_STATUS_FORMING : SL_STATUS_WAITING;
		return;
	}
	sl_log_end_read(asked->log, 0, TAIL_BYTES, take_record, row);
	sl_control_query_clean(row->last);
	long process;
	row->state = !sl_control_query_absent(asked)		 ? SL_STATUS_SILENT
		     : sl_learners_runs(asked->folder, &process) ? SL_STATUS_WAITING
		     : asked->fresh				 ? SL_STATUS_NEW
		     : row->finished				 ? SL_STATUS_FINISHED
								 : SL_STATUS_STOPPED;
	sl_learners_know(asked, row->last, "learner");
}

/* Read what the launcher of this run has verified. */
static sl_round read_verified(const char *folder)
{
	char path[PATH_MAX];
	unsigned verified = 0;
	FILE *in = *folder != '\0' && snprintf(path, sizeof path, "%s/progress.txt", folder) < PATH_MAX
			   ? fopen(path, "re")
			   : NULL;
	if (in != NULL && fscanf(in, "round %*u step %*u verified %u", &verified) != 1)
		verified = 0;
	if (in != NULL)
		fclose(in);
	return verified;
}

void sl_status_read(struct sl_status_all *all)
{
	bool peers = all->of.count <= PEERS_MOST;
	json_t *request = json_pack("{s:s, s:b}", "op", "status", "peers", (int)peers);
	sl_control_query_all(all->of.asked, all->of.count, request, ANSWER_MS);
	json_decref(request);
	for (size_t i = 0; i < all->of.count; i++)
		take(&all->rows[i]);
	all->verified = read_verified(all->of.folder);
}

void sl_status_count(const struct sl_status_all *all, size_t counts[static SL_STATUS_STATES])
{
	memset(counts, 0, SL_STATUS_STATES * sizeof *counts);
	for (size_t i = 0; i < all->of.count; i++)
		counts[all->rows[i].state]++;
}

int sl_status_exit(const struct sl_status_all *all)
{
	size_t counts[SL_STATUS_STATES];
	sl_status_count(all, counts);
	if (counts[SL_STATUS_STOPPED] + counts[SL_STATUS_NEW] + counts[SL_STATUS_FINISHED] > 0)
		return 2;
	return counts[SL_STATUS_RUNNING] < all->of.count;
}

bool sl_status_over(const struct sl_status_all *all)
{
	size_t counts[SL_STATUS_STATES];
	sl_status_count(all, counts);
	return counts[SL_STATUS_FINISHED] > 0 &&
	       counts[SL_STATUS_STOPPED] + counts[SL_STATUS_FINISHED] == all->of.count;
}

sl_round sl_status_least(const struct sl_status_all *all)
{
	sl_round least = 0;
	bool any = false;
	for (size_t i = 0; i < all->of.count; i++) {
		const struct sl_status_row *row = &all->rows[i];
		if (row->status == NULL || (any && row->committed >= least))
			continue;
		least = row->committed;
		any = true;
	}
	return least;
}

/* ---- words ---- */

const char *sl_status_name(const struct sl_status_row *row)
{
	return *row->asked->name != '\0' ? row->asked->name : row->asked->shown;
}

const char *sl_status_state_name(enum sl_status_state state)
{
	static const char *const names[] = {
		[SL_STATUS_RUNNING] = "running", [SL_STATUS_FINISHED] = "finished",
		[SL_STATUS_FORMING] = "forming", [SL_STATUS_WAITING] = "waiting",
		[SL_STATUS_NEW] = "new",	 [SL_STATUS_OVERDUE] = "overdue",
		[SL_STATUS_SILENT] = "silent",	 [SL_STATUS_STOPPED] = "stopped"};
	return names[state];
}

void sl_status_wait(const struct sl_status_all *all, const struct sl_status_row *row, char *text, size_t size)
{
	char names[512];
	*text = '\0';
	if (row->status == NULL)
		return;
	sl_learners_names(&all->of, json_object_get(row->status, "awaits"), NAMES_MOST, names, sizeof names);
	const char *obstacle = sl_learners_text(row->status, "obstacle");
	snprintf(text, size, "waits for %s%s%s%s%s", names, *names != '\0' ? " " : "",
		 sl_learners_text(row->status, "waits_for"), *obstacle != '\0' ? ": " : "", obstacle);
}

/* ---- for programs ---- */

static json_t *row_json(const struct sl_status_all *all, const struct sl_status_row *row)
{
	json_t *exact = row->committed > 0 && row->committed <= all->verified ? json_true() : json_null();
	return json_pack("{s:s, s:s, s:s, s:I, s:o, s:O?, s:O?}", "learner", sl_status_name(row), "where",
			 row->asked->shown, "state", sl_status_state_name(row->state), "committed",
			 (json_int_t)row->committed, "exact", exact, "status", row->status, "last_record",
			 row->last);
}

json_t *sl_status_json(const struct sl_status_all *all)
{
	json_t *learners = json_array();
	for (size_t i = 0; i < all->of.count; i++)
		json_array_append_new(learners, row_json(all, &all->rows[i]));
	return json_pack("{s:i, s:i, s:o}", "v", 1, "exit_status", sl_status_exit(all), "learners", learners);
}
