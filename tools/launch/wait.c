/* Print why the run makes no progress, from the records `waiting`: what the learner closest to the cause
 * waits for. */
#include <stdio.h>
#include <string.h>

#include "tools/launch/state.h"

#define STILL_MS 10000u /* without progress of any learner */
#define AGAIN_MS 30000u
#define NOTE_MS 1000u /* the same, before the bar says so */

void sl_wait_heard(struct sl_learner *learner, const struct sl_record *record)
{
	json_decref(learner->waiting);
	learner->waiting = json_deep_copy(record->json);
	learner->waiting_round = (sl_round)record->round;
	learner->waiting_phase = sl_phase_find(record->phase);
}

void sl_wait_over(struct sl_learner *learner)
{
	json_decref(learner->waiting);
	learner->waiting = NULL;
}

void sl_wait_moved(struct sl_learner *learner)
{
	sl_wait_over(learner);
	learner->launch->moved_ms = uv_now(&learner->launch->loop);
}

/* Return the ids that `l` waits for. */
static const json_t *ids_of(const struct sl_learner *l)
{
	struct sl_record record;
	sl_record_read(&record, l->waiting);
	return record.has[SL_FIELD_awaited];
}

static bool waits(const struct sl_learner *l)
{
	return l->waiting != NULL && !l->exited;
}

/* A learner that the others wait for may wait too: its phase is then later, or its round earlier. */
static bool is_nearer(const struct sl_learner *a, const struct sl_learner *b)
{
	bool names_any = json_array_size(ids_of(a)) > 0;
	if (names_any != (json_array_size(ids_of(b)) > 0))
		return names_any;
	return a->waiting_round != b->waiting_round ? a->waiting_round < b->waiting_round
						    : a->waiting_phase > b->waiting_phase;
}

static const struct sl_learner *nearest(const struct sl_launch *launch)
{
	const struct sl_learner *best = NULL;
	for (uint32_t i = 0; i < launch->plan->learners; i++) {
		const struct sl_learner *l = &launch->learners[i];
		if (waits(l) && (best == NULL || is_nearer(l, best)))
			best = l;
	}
	return best;
}

/* Print what the learner waits for, in the words of its record. If deposits or keys are missing, name the
 * command for this run folder in place of the record's command for one learner. */
static void say(struct sl_launch *launch, const struct sl_learner *l)
{
	struct sl_record record;
	char command[64];
	sl_record_read(&record, l->waiting);
	const char *text = record.text != NULL ? record.text : "waits";
	bool pause = l->waiting_phase == SL_PHASE_DISCOVER && json_array_size(ids_of(l)) == 0 &&
		     record.reason == NULL; /* else the text says it */
	bool lost = l->waiting_phase == SL_PHASE_RECOVER && json_array_size(ids_of(l)) > 0;
	const char *remedy = lost ? strstr(text, " If none ever will:") : NULL;
	int length = (int)(remedy != NULL ? (size_t)(remedy - text) : strlen(text));
	sl_progress_line(launch->progress, "%s (%u): %.*s%s", l->name, l->index + 1, length, text,
			 lost ? " If none ever will:" : "");
	if (pause && launch->reason[0] != '\0')
		sl_progress_line(launch->progress, "  the last attempt failed: %s", launch->reason);
	snprintf(command, sizeof command, "abort --round %u --run", l->waiting_round);
	if (lost)
		sl_launch_command(launch, "  ", command);
}

void sl_wait_tick(struct sl_launch *launch, uint64_t now)
{
	if (now - launch->moved_ms < STILL_MS ||
	    (launch->wait_said_ms != 0 && now - launch->wait_said_ms < AGAIN_MS))
		return;
	const struct sl_learner *l = nearest(launch);
	if (l == NULL)
		return;
	launch->wait_said_ms = now;
	say(launch, l);
}

bool sl_wait_note(const struct sl_launch *launch, char *note, size_t size)
{
	const struct sl_learner *l =
		uv_now(&launch->loop) - launch->moved_ms < NOTE_MS ? NULL : nearest(launch);
	const json_t *ids = l != NULL ? ids_of(l) : NULL;
	struct sl_record record;
	json_int_t first = json_integer_value(json_array_get(ids, 0));
	size_t more = json_array_size(ids) > 0 ? json_array_size(ids) - 1 : 0;
	if (l != NULL && json_array_size(ids) == 0 && sl_record_read(&record, l->waiting) &&
	    record.reason != NULL) {
		snprintf(note, size, "%s", record.reason);
		return true;
	}
	if (first < 1 || first > launch->plan->learners)
		return false;
	int n = snprintf(note, size, "waits for %s (%lld)", launch->learners[first - 1].name,
			 (long long)first);
	if (more > 0 && n > 0 && (size_t)n < size)
		snprintf(note + n, size - (size_t)n, " and %zu more", more);
	return true;
}

void sl_wait_close(struct sl_launch *launch)
{
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		json_decref(launch->learners[i].waiting);
}
