/* A round, and the run, as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/bytes.h"
#include "tools/lib/round_table.h"
#include "tools/timeline/clocks.h"
#include "tools/timeline/durations.h"
#include "tools/timeline/lanes.h"
#include "tools/timeline/separators.h"
#include "tools/timeline/timeline.h"

#define CAUSE_LEAST_S 0.1
#define ADOPTED "its learners received the result of the round from peers"

/* ---- values ---- */

/* Return a number of seconds in whole microseconds, or null: in a broken log it may be too large. */
static json_t *seconds(double s)
{
	double us = round(s * 1e6);
	return isfinite(us) ? json_real(us / 1e6) : json_null();
}

/* Return a number, or NULL: it is not known. */
static json_t *real(double value)
{
	return isnan(value) ? NULL : json_real(value);
}

static json_t *whole(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* Return a text, or NULL for none. Texts of records are UTF-8: they were JSON. */
static json_t *text(const char *value)
{
	return value != NULL && value[0] != '\0' ? json_string(value) : NULL;
}

/* Return a point in time, seconds since 1970, as in a log. */
static json_t *time_of(double s)
{
	char date[40];
	struct tm tm;
	long long ms = llround(s * 1000);
	time_t seconds = (time_t)(ms / 1000);
	gmtime_r(&seconds, &tm);
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
	return json_sprintf("%s.%03dZ", date, (int)(ms % 1000));
}

/* Return the name of a phase, or NULL for none. */
static json_t *phase_of(uint8_t phase)
{
	char name[16];
	if (phase >= SL_PHASE_COUNT)
		return NULL;
	sl_durations_phase_name((enum sl_phase)phase, name);
	return json_string(name);
}

static json_t *ids_json(const uint64_t *ids, uint32_t count)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(array, whole(ids[i]));
	return array;
}

static json_t *edges_json(const struct sl_attempt_row *row, const struct sl_edge *edges, uint32_t count)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(
			array, json_pack("[o, o]", whole(row->ids[edges[i].a]), whole(row->ids[edges[i].b])));
	return array;
}

/* ---- attempts ---- */

struct attempt_end {
	double from, to;
	bool committed;
	const struct sl_failure *failure; /* the first one that did not only follow others */
	double failed;
	double *ends; /* when learners gave the attempt up, or adopted the result */
	uint32_t end_count, learners;
};

static void see_end(struct attempt_end *end, double at)
{
	end->ends = sl_rounds_grow(end->ends, end->end_count, sizeof *end->ends);
	end->ends[end->end_count++] = at;
}

static void see_failure(struct attempt_end *end, const struct sl_failure *failure, double at)
{
	bool better = end->failure == NULL || (end->failure->elsewhere && !failure->elsewhere) ||
		      (end->failure->elsewhere == failure->elsewhere && at < end->failed);
	if (better) {
		end->failure = failure;
		end->failed = at;
	}
	see_end(end, at);
}

/* Add how one learner went through the attempt. */
static void see_lane(struct attempt_end *end, const struct sl_timeline *timeline, const struct sl_lane *lane,
		     uint32_t attempt)
{
	const struct sl_part *part = lane->part;
	uint32_t before = end->end_count;
	bool entered = false;
	for (uint32_t k = 0; k < lane->span_count; k++)
		if (lane->spans[k].attempt == attempt && lane->spans[k].phase != SL_PHASE_TRAIN) {
			end->from = fmin(end->from, lane->spans[k].from);
			entered = true;
		}
	for (uint32_t k = 0; k < part->failure_count; k++)
		if (part->failures[k].attempt == attempt)
			see_failure(end, &part->failures[k], part->failures[k].when - timeline->start);
	if (part->committed && !part->adopted && part->attempt == attempt) {
		end->to = fmax(end->to, lane->commit);
		end->committed = true;
	} else if (part->adopted && end->end_count == before) {
		see_end(end, lane->commit);
	}
	end->learners += entered;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Return how attempt `row` went at all of its learners. One that fails is over when half of them have given
 * it up: a learner that was stopped hears of it later. */
static struct attempt_end end_of(const struct sl_timeline *timeline, const struct sl_timeline_round *round,
				 const struct sl_lanes *lanes, const struct sl_attempt_row *row)
{
	struct attempt_end end = {.from = NAN, .to = NAN};
	for (uint32_t i = 0; i < lanes->count; i++)
		if (sl_rounds_own_attempt(round, lanes->lanes[i].part, row->attempt) == row)
			see_lane(&end, timeline, &lanes->lanes[i], row->attempt);
	if (end.end_count > 0)
		qsort(end.ends, end.end_count, sizeof *end.ends, by_time);
	if (!end.committed && end.end_count > 0)
		end.to = end.ends[(end.end_count - 1) / 2];
	free(end.ends);
	end.ends = NULL;
	return end;
}

/* Return true if an attempt without a view is one that others had a view for. */
static bool is_hidden(const struct sl_timeline_round *round, const struct sl_attempt_row *row)
{
	for (uint32_t i = 0; row->view[0] == '\0' && i < round->attempt_count; i++)
		if (round->attempts[i].attempt == row->attempt && round->attempts[i].view[0] != '\0')
			return true;
	return false;
}

static void set_graph(json_t *object, const struct sl_attempt_row *row)
{
	struct sl_separators s;
	json_t *cuts = json_array();
	sl_separators_init(&s, row);
	for (uint32_t i = 0; i < s.vertex_count; i++)
		json_array_append_new(cuts, whole(row->ids[s.vertices[i]]));
	json_object_update_new(
		object, json_pack("{s:o, s:o, s:o}", "participants", ids_json(row->ids, row->count), "edges",
				  edges_json(row, s.edges, s.edge_count), "edge_count", whole(row->edges)));
	if (s.edge_count >= row->edges) /* else what separates others is not known */
		json_object_update_new(object, json_pack("{s:O, s:o}", "cut_vertices", cuts, "bridges",
							 edges_json(row, s.bridges, s.bridge_count)));
	json_object_update_new(object, json_pack("{s:o?, s:o, s:o*, s:o*}", "mixing", text(row->mixing),
						 "steps", whole(row->steps), "tolerance",
						 row->tolerance < 0 ? NULL : json_integer(row->tolerance),
						 "atom", row->atom < 0 ? NULL : json_integer(row->atom)));
	json_decref(cuts);
	sl_separators_close(&s);
}

static json_t *attempt_json(const struct sl_timeline *timeline, const struct sl_timeline_round *round,
			    const struct sl_lanes *lanes, const struct sl_attempt_row *row)
{
	json_t *object = json_object();
	struct attempt_end end = end_of(timeline, round, lanes, row);
	bool adopted = end.failure == NULL && end.learners > 0 && end.end_count >= end.learners;
	bool failed = !end.committed && (end.failure != NULL || adopted);
	json_object_update_new(
		object, json_pack("{s:o, s:o?}", "attempt", whole(row->attempt), "view", text(row->view)));
	if (row->count > 0)
		set_graph(object, row);
	json_object_update_new(
		object, json_pack("{s:o, s:o, s:s?, s:o?, s:o?}", "from_s", seconds(end.from), "to_s",
				  seconds(end.to), "ended",
				  end.committed ? "committed"
				  : failed	? "failed"
						: NULL,
				  "reason", !failed ? NULL : text(adopted ? ADOPTED : end.failure->reason),
				  "recovering", text(row->recovering)));
	return object;
}

static int by_attempt(const void *a, const void *b)
{
	const struct sl_attempt_row *x = *(const struct sl_attempt_row *const *)a,
				    *y = *(const struct sl_attempt_row *const *)b;
	return x->attempt != y->attempt ? (x->attempt > y->attempt) - (x->attempt < y->attempt)
					: strcmp(x->view, y->view);
}

static json_t *attempts_json(const struct sl_timeline *timeline, const struct sl_timeline_round *round,
			     const struct sl_lanes *lanes)
{
	const struct sl_attempt_row *rows[SL_ATTEMPTS_KEPT];
	json_t *array = json_array();
	uint32_t n = 0;
	for (uint32_t i = 0; i < round->attempt_count; i++)
		if (!is_hidden(round, &round->attempts[i]))
			rows[n++] = &round->attempts[i];
	qsort(rows, n, sizeof *rows, by_attempt);
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(array, attempt_json(timeline, round, lanes, rows[i]));
	return array;
}

/* ---- learners ---- */

static json_t *spans_json(const struct sl_lane *lane)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < lane->span_count; i++) {
		const struct sl_span *span = &lane->spans[i];
		json_array_append_new(array,
				      json_pack("{s:o?, s:o, s:o, s:o}", "phase", phase_of(span->phase),
						"attempt", whole(span->attempt > 0 ? span->attempt : 1),
						"from_s", seconds(span->from), "to_s", seconds(span->to)));
	}
	return array;
}

/* Return [{"learner":3,"s":9.5}]: the learners that caused it, in the order of their ids. */
static json_t *causes_json(const struct sl_lanes *lanes, const struct sl_lane_wait *wait)
{
	json_t *array = json_array();
	for (uint32_t i = 0; !sl_lanes_stood_still(wait) && i < wait->wait->count; i++) {
		struct sl_cause cause = sl_lanes_cause(lanes, wait, wait->wait->ids[i]);
		if (cause.s >= CAUSE_LEAST_S)
			json_array_append_new(array, json_pack("{s:o, s:o}", "learner", whole(cause.learner),
							       "s", seconds(cause.s)));
	}
	return array;
}

static json_t *waits_json(const struct sl_lanes *lanes, const struct sl_lane *lane)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < lane->wait_count; i++) {
		const struct sl_lane_wait *w = &lane->waits[i];
		json_array_append_new(array, json_pack("{s:o?, s:o, s:o, s:o, s:o?, s:o, s:o, s:b}", "phase",
						       phase_of(w->wait->phase), "attempt",
						       whole(w->wait->attempt), "from_s", seconds(w->from),
						       "to_s", seconds(w->to), "for", text(w->wait->what),
						       "awaited", ids_json(w->wait->ids, w->wait->count),
						       "causes", causes_json(lanes, w), "stood_still",
						       sl_lanes_stood_still(w)));
	}
	return array;
}

static json_t *restarts_json(const struct sl_timeline *timeline, const struct sl_lane *lane)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < lane->restart_count; i++) {
		const struct sl_restart *restart = &lane->restarts[i];
		json_array_append_new(
			array,
			json_pack("{s:o, s:o, s:o?, s:o*}", "at", time_of(timeline->start + restart->at),
				  "at_s", seconds(restart->at), "phase", phase_of(restart->phase), "attempt",
				  restart->attempt > 0 ? whole(restart->attempt) : NULL));
	}
	return array;
}

static json_t *lane_json(const struct sl_timeline *timeline, const struct sl_lanes *lanes,
			 const struct sl_lane *lane)
{
	const struct sl_part *part = lane->part;
	bool own = part->committed && !part->adopted;
	json_t *digest = text(part->digest);
	if (part->committed && digest == NULL)
		digest = json_null();
	return json_pack(
		"{s:o, s:o, s:o, s:o*, s:o, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:O*}", "learner",
		whole(lane->id), "spans", spans_json(lane), "waits", waits_json(lanes, lane), "restarts",
		lane->restart_count > 0 ? restarts_json(timeline, lane) : NULL, "committed_s",
		seconds(lane->commit), "adopted", part->committed ? json_boolean(part->adopted) : NULL,
		"digest", digest, "bytes_sent", own ? whole(part->sent) : NULL, "bytes_received",
		own ? whole(part->received) : NULL, "train_s", real(part->train_s), "loss", real(part->loss),
		"mse", real(part->mse), "margin", real(part->margin), "metrics", part->metrics);
}

/* ---- the round ---- */

/* What one end has told of a link: a < b. */
struct link {
	uint64_t a, b;
	uint64_t sent, received; /* bytes, as that end counted them */
};

static int by_ends(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	if (x->a != y->a)
		return (x->a > y->a) - (x->a < y->a);
	return (x->b > y->b) - (x->b < y->b);
}

/* Return what all learners have told, ascending: one or two entries for each link. */
static struct link *list_links(const struct sl_lanes *lanes, size_t *count)
{
	struct link *links = NULL;
	size_t n = 0;
	for (uint32_t i = 0; i < lanes->count; i++) {
		const struct sl_part *part = lanes->lanes[i].part;
		for (uint32_t k = 0; k < part->traffic_count; k++) {
			uint64_t own = lanes->lanes[i].id, peer = part->traffic[k].peer;
			links = sl_rounds_grow(links, n, sizeof *links);
			links[n++] = (struct link){own < peer ? own : peer, own < peer ? peer : own,
						   part->traffic[k].sent, part->traffic[k].received};
		}
	}
	if (n > 0)
		qsort(links, n, sizeof *links, by_ends);
	*count = n;
	return links;
}

/* Each end counts what it sent; where only one has told, what it received stands for what the other sent. */
static json_t *links_json(const struct sl_lanes *lanes)
{
	json_t *array = json_array();
	size_t n;
	struct link *links = list_links(lanes, &n);
	for (size_t i = 0; i < n; i++) {
		const struct link *link = &links[i];
		bool both = i + 1 < n && by_ends(link, &links[i + 1]) == 0;
		uint64_t bytes = link->sent + (both ? links[++i].sent : link->received);
		json_array_append_new(array, json_pack("{s:o, s:o, s:o}", "a", whole(link->a), "b",
						       whole(link->b), "bytes", whole(bytes)));
	}
	free(links);
	return array;
}

static json_t *spread_json(const struct sl_timeline_round *round)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < round->spread_count; i++) {
		const struct sl_round_spread *point = &round->spreads[i];
		json_array_append_new(array,
				      json_pack("{s:o, s:o*, s:o*}", "step", whole(point->step), "spread",
						real(point->spread), "bound", real(point->bound)));
	}
	return array;
}

static json_t *notes_json(const struct sl_timeline_round *round)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < round->note_count; i++) {
		const struct sl_note *note = &round->notes[i];
		json_array_append_new(array, json_pack("{s:o, s:s, s:s, s:s}", "learner",
						       whole(note->learner), "level", note->level, "event",
						       note->event, "text", note->text));
	}
	return array;
}

/* Return whether all learners that committed have the same model, without a doubt of rounding; null where
 * none has committed. The mean is not recomputed here: `starling launch --verify` does that. */
static json_t *same_json(const struct sl_lanes *lanes)
{
	const char *digest = NULL;
	bool same = true, known = false;
	for (uint32_t i = 0; i < lanes->count; i++) {
		const struct sl_part *part = lanes->lanes[i].part;
		if (!part->committed)
			continue;
		known |= !part->adopted;
		same = same && (digest == NULL || strcmp(digest, part->digest) == 0) &&
		       !(part->margin >= SL_MARGIN_MOST);
		digest = part->digest;
	}
	return !same ? json_false() : known ? json_true() : json_null();
}

static json_t *loss_json(const struct sl_lanes *lanes)
{
	double sum = 0, n = 0;
	for (uint32_t i = 0; i < lanes->count; i++) {
		double loss = lanes->lanes[i].part->loss;
		sum += isnan(loss) ? 0 : loss;
		n += !isnan(loss);
	}
	return n > 0 ? json_real(sum / n) : json_null();
}

static json_t *slowest_json(const struct sl_lanes *lanes)
{
	struct sl_slowest slowest = sl_lanes_slowest(lanes);
	if (!slowest.known)
		return json_null();
	return json_pack("{s:o, s:o?, s:o}", "learner", whole(slowest.learner), "phase",
			 phase_of(slowest.phase), "s", seconds(slowest.s));
}

/* Return null where the order of messages shows no difference. */
static json_t *clock_gap_json(const struct sl_timeline_round *round, const struct sl_lanes *lanes)
{
	struct sl_clock_gap gap = sl_clocks_gap(round, lanes);
	if (gap.s == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "ahead", whole(gap.ahead), "behind", whole(gap.behind), "s",
			 seconds(gap.s));
}

static json_t *learners_json(const struct sl_timeline *timeline)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < timeline->learner_count; i++) {
		const struct sl_timeline_learner *learner = &timeline->learners[timeline->order[i]];
		json_array_append_new(array, json_pack("{s:o, s:o?}", "id", whole(learner->id), "name",
						       text(learner->name)));
	}
	return array;
}

static json_t *head(const struct sl_timeline *timeline)
{
	return json_pack("{s:i, s:o?, s:o?, s:o}", "v", 1, "run", text(timeline->run), "rounds",
			 timeline->rounds_most > 0 ? whole(timeline->rounds_most) : NULL, "learners",
			 learners_json(timeline));
}

/* Return false where privacy_check: warn let an attempt go on after a failed check; else null until the
 * round is over, then true: a learner shares nothing before its check has passed. */
static json_t *private_json(const struct sl_timeline_round *round, const struct sl_lanes *lanes)
{
	if (round->exposed)
		return json_false();
	return lanes->over ? json_true() : json_null();
}

json_t *sl_timeline_round_json(const struct sl_timeline *timeline, uint64_t t)
{
	const struct sl_timeline_round *round = sl_rounds_find(timeline, t);
	struct sl_lanes lanes;
	if (round == NULL)
		return NULL;
	json_t *object = head(timeline), *learners = json_array();
	sl_lanes_init(&lanes, timeline, round);
	json_t *attempts = attempts_json(timeline, round, &lanes);
	for (uint32_t i = 0; i < lanes.count; i++)
		json_array_append_new(learners, lane_json(timeline, &lanes, &lanes.lanes[i]));
	json_object_update_new(
		object,
		json_pack("{s:o, s:o*, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "round",
			  whole(round->t), "start",
			  isnan(lanes.from) ? NULL : time_of(timeline->start + lanes.from), "start_s",
			  seconds(lanes.from), "end_s", seconds(lanes.over ? lanes.commit : NAN), "attempts",
			  attempts, "learners_of_round", learners, "links", links_json(&lanes), "spread",
			  spread_json(round), "notes", notes_json(round), "loss", loss_json(&lanes), "same",
			  same_json(&lanes), "private", private_json(round, &lanes), "slowest",
			  slowest_json(&lanes), "clock_gap", clock_gap_json(round, &lanes)));
	sl_lanes_close(&lanes);
	return object;
}

/* ---- the run ---- */

static double last_record(const struct sl_timeline *timeline)
{
	double last = NAN;
	for (uint32_t i = 0; i < timeline->learner_count; i++)
		last = fmax(last, timeline->learners[i].last);
	return last - timeline->start;
}

json_t *sl_timeline_run_json(const struct sl_timeline *timeline)
{
	json_t *object = head(timeline);
	size_t n = timeline->count;
	bool begun = timeline->learner_count > 0;
	json_object_update_new(object, json_pack("{s:o, s:o, s:o*, s:o*}", "first",
						 whole(n > 0 ? timeline->rounds[0].t : 0), "last",
						 whole(n > 0 ? timeline->rounds[n - 1].t : 0), "start",
						 begun ? time_of(timeline->start) : NULL, "end_s",
						 begun ? seconds(last_record(timeline)) : NULL));
	return object;
}
