/* Why nothing moves, and for whom: what the daemons that wait have said of it, as one line. */
#include <stdio.h>

#include "common/base/bytes.h"
#include "tools/launch/launch.h"

#define STILL_MS 10000u /* without a step of anybody; the daemons say whom they await as often */
#define AGAIN_MS 30000u
#define FRESH_MS 15000u /* a wait that is not said again is over */
#define NAMED_MOST 4u

void sl_wait_heard(struct sl_learner *learner, const json_t *record)
{
	json_decref(learner->waiting);
	learner->waiting = json_deep_copy(record);
	learner->waiting_ms = uv_now(&learner->launch->loop);
}

void sl_wait_moved(struct sl_learner *learner)
{
	json_decref(learner->waiting);
	learner->waiting = NULL;
	learner->launch->moved_ms = uv_now(&learner->launch->loop);
}

static sl_round round_of(const json_t *waiting)
{
	return (sl_round)sl_round_table_field_whole(waiting, "round", 0);
}

static enum sl_phase phase_of(const json_t *waiting)
{
	return sl_launch_phase_find(sl_round_table_field_text(waiting, "phase", ""));
}

static bool names_any(const json_t *waiting)
{
	return json_array_size(json_object_get(waiting, "learners")) > 0;
}

static bool is_fresh(const struct sl_learner *l, uint64_t now)
{
	return l->waiting != NULL && !l->exited && now - l->waiting_ms < FRESH_MS;
}

/* Whom the others wait for may wait itself: then it is further on, or a round behind. */
static bool is_nearer(const json_t *a, const json_t *b)
{
	if (names_any(a) != names_any(b))
		return names_any(a);
	return round_of(a) != round_of(b) ? round_of(a) < round_of(b) : phase_of(a) > phase_of(b);
}

static const struct sl_learner *nearest(const struct sl_launch *launch, uint64_t now)
{
	const struct sl_learner *best = NULL;
	for (uint32_t i = 0; i < launch->plan->learners; i++) {
		const struct sl_learner *l = &launch->learners[i];
		if (is_fresh(l, now) && (best == NULL || is_nearer(l->waiting, best->waiting)))
			best = l;
	}
	return best;
}

/* Whom all await that wait in the same phase of the same round; how many those are. */
static uint32_t missing(const struct sl_launch *launch, const json_t *as, uint64_t now, uint64_t *set)
{
	const json_t *ids, *id;
	uint32_t n = launch->plan->learners, count = 0;
	size_t at;
	for (uint32_t i = 0; i < n; i++) {
		const json_t *waiting = launch->learners[i].waiting;
		if (!is_fresh(&launch->learners[i], now) || round_of(waiting) != round_of(as) ||
		    phase_of(waiting) != phase_of(as))
			continue;
		ids = json_object_get(waiting, "learners");
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

static void say_lost(struct sl_launch *launch, const json_t *waiting, const char *who, bool one)
{
	char command[64];
	sl_progress_line(launch->progress,
			 "round %u waits in RECOVER for %s: nobody in reach holds %s; the round goes on by "
			 "itself when %s back. "
			 "If %s lost for good:",
			 round_of(waiting), who, one ? "its masked state" : "their masked states",
			 one ? "it is" : "they are", one ? "it is" : "they are");
	snprintf(command, sizeof command, "abort --round %u --run", round_of(waiting));
	sl_launch_command(launch, "  ", command);
}

static void say(struct sl_launch *launch, const struct sl_learner *l, uint64_t now)
{
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64] = {0};
	char who[NAMED_MOST * (SL_NAME_BYTES + 16) + 32];
	uint32_t count = missing(launch, l->waiting, now, set);
	enum sl_phase phase = phase_of(l->waiting);
	name_all(launch, set, count, who, sizeof who);
	if (count == 0)
		sl_progress_line(launch->progress, "%s (%u): %s", l->name, l->index + 1,
				 sl_round_table_field_text(l->waiting, "text", "waits"));
	else if (phase == SL_PHASE_RECOVER)
		say_lost(launch, l->waiting, who, count == 1);
	else
		sl_progress_line(launch->progress, "round %u waits in %s for %s %s", round_of(l->waiting),
				 sl_phase_name(phase), who, sl_round_table_field_text(l->waiting, "for", ""));
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
