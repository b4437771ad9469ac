/* Say in one line why the run makes no progress, and which learners it waits for: from the records `waiting`.
 */
#include <stdio.h>

#include "common/base/bytes.h"
#include "tools/launch/launch.h"

#define STILL_MS 10000u /* without progress of any learner; daemons write `waiting` as often */
#define AGAIN_MS 30000u
#define FRESH_MS 15000u /* a wait that is not reported again is over */
#define NAMED_MOST 4u

void sl_wait_heard(struct sl_learner *learner, const struct sl_record *record)
{
	json_decref(learner->waiting);
	learner->waiting = json_deep_copy(record->json);
	learner->waiting_round = (sl_round)record->round;
	learner->waiting_phase = sl_phase_find(record->phase);
	learner->waiting_ms = uv_now(&learner->launch->loop);
}

void sl_wait_moved(struct sl_learner *learner)
{
	json_decref(learner->waiting);
	learner->waiting = NULL;
	learner->launch->moved_ms = uv_now(&learner->launch->loop);
}

/* Return the ids that `l` waits for. */
static const json_t *ids_of(const struct sl_learner *l)
{
	struct sl_record record;
	sl_record_read(&record, l->waiting);
	return sl_record_ids(&record, SL_FIELD_set);
}

static bool is_fresh(const struct sl_learner *l, uint64_t now)
{
	return l->waiting != NULL && !l->exited && now - l->waiting_ms < FRESH_MS;
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

static const struct sl_learner *nearest(const struct sl_launch *launch, uint64_t now)
{
	const struct sl_learner *best = NULL;
	for (uint32_t i = 0; i < launch->plan->learners; i++) {
		const struct sl_learner *l = &launch->learners[i];
		if (is_fresh(l, now) && (best == NULL || is_nearer(l, best)))
			best = l;
	}
	return best;
}

/* Add the learners that are awaited in the phase and round of `as` to `set`; return how many. */
static uint32_t missing(const struct sl_launch *launch, const struct sl_learner *as, uint64_t now,
			uint64_t *set)
{
	const json_t *ids, *id;
	uint32_t n = launch->plan->learners, count = 0;
	size_t at;
	for (uint32_t i = 0; i < n; i++) {
		const struct sl_learner *l = &launch->learners[i];
		if (!is_fresh(l, now) || l->waiting_round != as->waiting_round ||
		    l->waiting_phase != as->waiting_phase)
			continue;
		ids = ids_of(l);
		json_array_foreach(ids, at, id)
		{
			json_int_t value = json_integer_value(id);
			if (value < 1 || value > n || sl_bit(set, (size_t)value - 1))
				continue;
			sl_bit_set(set, (size_t)value - 1);
			count++;
		}
	}
	return count;
}

/* "learner-03 (3), learner-05 (5) and 4 more" */
static void name_all(const struct sl_launch *launch, const uint64_t *set, uint32_t count, char *text,
		     size_t size)
{
	uint32_t named = 0;
	size_t used = 0;
	*text = '\0';
	for (uint32_t i = 0; i < launch->plan->learners && named < NAMED_MOST && used < size; i++)
		if (sl_bit(set, i))
			used += (size_t)snprintf(text + used, size - used, "%s%s (%u)",
						 named++ > 0 ? ", " : "", launch->learners[i].name, i + 1);
	if (count > named && used < size)
		snprintf(text + used, size - used, " and %u more", count - named);
}

static void say_lost(struct sl_launch *launch, sl_round round, const char *who)
{
	char command[64];
	sl_progress_line(
		launch->progress,
		"round %u waits in RECOVER for the masked state of %s, which no learner in reach has; "
		"the round continues when a learner that has it is back. If it is lost for good:",
		round, who);
	snprintf(command, sizeof command, "abort --round %u --run", round);
	sl_launch_command(launch, "  ", command);
}

static void say(struct sl_launch *launch, const struct sl_learner *l, uint64_t now)
{
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64] = {0};
	char who[NAMED_MOST * (SL_NAME_BYTES + 16) + 32];
	struct sl_record record;
	uint32_t count = missing(launch, l, now, set);
	name_all(launch, set, count, who, sizeof who);
	sl_record_read(&record, l->waiting);
	if (count == 0)
		sl_progress_line(launch->progress, "%s (%u): %s", l->name, l->index + 1,
				 record.text != NULL ? record.text : "waits");
	else if (l->waiting_phase == SL_PHASE_RECOVER)
		say_lost(launch, l->waiting_round, who);
	else
		sl_progress_line(launch->progress, "round %u waits in %s for %s %s", l->waiting_round,
				 sl_phase_name(l->waiting_phase), who,
				 record.waits_for != NULL ? record.waits_for : "");
}

void sl_wait_tick(struct sl_launch *launch, uint64_t now)
{
	if (now - launch->moved_ms < STILL_MS ||
	    (launch->wait_said_ms != 0 && now - launch->wait_said_ms < AGAIN_MS))
		return;
	const struct sl_learner *l = nearest(launch, now);
	if (l == NULL)
		return;
	launch->wait_said_ms = now;
	say(launch, l, now);
}

void sl_wait_close(struct sl_launch *launch)
{
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		json_decref(launch->learners[i].waiting);
}
