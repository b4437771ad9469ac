#include "daemon/observe/status.h"

#include <math.h>
#include <sodium.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/report/record.h"
#include "common/report/status_table.h"
#include "daemon/observe/health.h"
#include "daemon/observe/observe.h"
#include "daemon/observe/obstacle.h"
#include "daemon/runtime/process_usage.h"

/* ---- what records say ---- */

/* Return the kind of record that says that a problem is over; `kind` itself: it lasts. */
static enum sl_record_kind end_of(enum sl_record_kind kind)
{
	static const struct {
		const char *events;
		enum sl_record_kind end;
	} ends[] = {
		{" attempt_failed attempt_over model_invalidated waiting recovering behind stale abstains "
		 "roster "
		 "past_roster ignored disk_hangs result damaged decoded copied ",
		 SL_RECORD_COMMITTED},
		{" application command ", SL_RECORD_TRAINED},
		{" no_address ", SL_RECORD_LISTENING},
		{" link_down ", SL_RECORD_COUNT}, /* sl_status_linked */
		{" discovery ", SL_RECORD_DISCOVERY},
		{" evaluated ", SL_RECORD_EVALUATED},
		{" reloaded ", SL_RECORD_RELOADED},
		{" backup ", SL_RECORD_BACKUP},
	};
	char word[64];
	snprintf(word, sizeof word, " %s ", sl_record_event(kind));
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (strstr(ends[i].events, word) != NULL)
			return ends[i].end;
	return kind;
}

static void note_problem(struct sl_observe *observe, const struct sl_record *record)
{
	bool lasts = end_of(record->kind) == record->kind;
	struct sl_status_problem *problem = lasts ? &observe->notes.lasting : &observe->notes.passing;
	json_decref(sl_record_write(record, observe->of.roster, problem->text, sizeof problem->text));
	sl_log_now(problem->at);
	problem->kind = record->kind;
	problem->level = sl_record_level(record);
	problem->peer = (sl_id)record->peer;
}

/* Forget the problem that can be over. The link to a peer may still be down: its failure is the problem then.
 */
static void forget(struct sl_observe *observe)
{
	const struct sl_roster *roster = observe->of.roster;
	struct sl_record record;
	observe->notes.passing.at[0] = '\0';
	for (uint32_t i = 0; observe->peers != NULL && i < roster->size; i++) {
		if (observe->peers[i].fault.count == 0)
			continue;
		sl_record_init(&record, SL_RECORD_LINK_FAILED);
		sl_record_peer(&record, roster, i);
		record.address = roster->members[i].address;
		record.reason = observe->peers[i].fault.said[0];
		note_problem(observe, &record);
		return;
	}
}

void sl_status_linked(struct sl_observe *observe, uint32_t peer)
{
	const struct sl_status_problem *problem = &observe->notes.passing;
	if (problem->kind == SL_RECORD_LINK_FAILED && problem->peer == observe->of.roster->members[peer].id)
		forget(observe);
}

/* Forget the problem that a record of this kind says is over. */
static void end_problem(struct sl_observe *observe, enum sl_record_kind kind)
{
	kind = kind == SL_RECORD_CAUGHT_UP	    ? SL_RECORD_COMMITTED
	       : kind == SL_RECORD_TRAINED_ONLY	    ? SL_RECORD_TRAINED
	       : kind == SL_RECORD_LISTENING_ON_ALL ? SL_RECORD_LISTENING
						    : kind;
	if (observe->notes.passing.at[0] != '\0' && end_of(observe->notes.passing.kind) == kind)
		forget(observe);
}

void sl_status_note(struct sl_observe *observe, const struct sl_record *record)
{
	struct sl_status_notes *notes = &observe->notes;
	switch (record->kind) {
	case SL_RECORD_TRAINED:
		notes->trained_loss = record->loss;
		break;
	case SL_RECORD_TRAINED_ONLY:
		notes->trained_loss = NAN;
		break;
	case SL_RECORD_COMMITTED:
	case SL_RECORD_CAUGHT_UP:
		notes->committed = (sl_round)record->round;
		notes->committed_at = time(NULL);
		notes->loss = record->kind == SL_RECORD_COMMITTED ? notes->trained_loss : NAN;
		break;
	case SL_RECORD_EVALUATED:
		notes->evaluated = (sl_round)record->round;
		notes->mse = record->mse;
		break;
	default:
		break;
	}
	if (sl_record_level(record) >= SL_WARN)
		note_problem(observe, record);
	else
		end_problem(observe, record->kind);
}

/* ---- values ---- */

static json_t *instant(time_t at)
{
	char text[32];
	struct tm tm;
	if (at == 0)
		return json_null();
	gmtime_r(&at, &tm);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(text);
}

static json_t *real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *words(const char *text)
{
	return *text != '\0' ? json_string(text) : json_null();
}

static json_t *whole(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* Return the ids of the learners of a bit set over the roster. */
static json_t *ids(const struct sl_observe *observe, const uint64_t *set)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < observe->of.roster->size; i++)
		if (sl_bit(set, i))
			json_array_append_new(array, whole(observe->of.roster->members[i].id));
	return array;
}

static json_t *neighbours(const struct sl_observe *observe)
{
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64] = {0};
	struct sl_core_peer peer;
	for (uint32_t i = 0; i < observe->of.roster->size; i++) {
		sl_core_peer(observe->of.core, i, &peer);
		if (peer.neighbour)
			sl_bit_set(set, i);
	}
	return ids(observe, set);
}

/* ---- objects ---- */

/* Declare `values`, which has a field for each row of `FIELDS`, and make an object of them. */
#define DECLARE(field, ...) json_t *field;
#define ADD(field, ...) json_object_set_new(object, #field, values.field);

static json_t *commit_object(const struct sl_observe *observe, const struct sl_core_status *status)
{
	const struct sl_status_notes *notes = &observe->notes;
	bool here = notes->committed == status->committed;
	char digest[2 * SL_HASH_BYTES + 1];
	json_t *object;
	if (status->committed == 0)
		return json_null();
	sodium_bin2hex(digest, sizeof digest, status->digest, SL_HASH_BYTES);
	struct {
		SL_STATUS_COMMIT_FIELDS(DECLARE)
	} values = {
		.round = whole(status->committed),
		.at = instant(here ? notes->committed_at : 0),
		.digest = json_string(digest),
		.loss = real(here ? notes->loss : NAN),
		.mse = real(notes->evaluated == status->committed ? notes->mse : NAN),
	};
	object = json_object();
	SL_STATUS_COMMIT_FIELDS(ADD)
	return object;
}

static json_t *dp_object(const struct sl_observe *observe)
{
	const struct sl_settings *s = observe->of.settings;
	const struct sl_observed_spent *spent = &observe->spent;
	json_t *object;
	if (s->dp == SL_DP_USE_OFF)
		return json_null();
	struct {
		SL_STATUS_DP_FIELDS(DECLARE)
	} values = {
		.unit = json_string(s->dp == SL_DP_USE_RECORD ? "record" : "learner"),
		.epsilon = real(spent->epsilon),
		.epsilon_unsampled = real(spent->epsilon_unsampled),
		.delta = real(s->dp_delta),
		.budget = real(s->dp_epsilon > 0 ? s->dp_epsilon : NAN),
		.left = real(s->dp_epsilon > 0 ? fmax(s->dp_epsilon - spent->epsilon, 0) : NAN),
		.charges = whole(spent->charges),
		.guessed = whole(spent->guessed),
	};
	object = json_object();
	SL_STATUS_DP_FIELDS(ADD)
	return object;
}

static json_t *problem_object(const struct sl_observe *observe)
{
	const struct sl_status_problem *last = &observe->notes.passing, *lasting = &observe->notes.lasting;
	json_t *object;
	last = strcmp(last->at, lasting->at) >= 0 ? last : lasting;
	if (last->at[0] == '\0')
		return json_null();
	struct {
		SL_STATUS_PROBLEM_FIELDS(DECLARE)
	} values = {
		.at = json_string(last->at),
		.level = json_string(sl_level_name(last->level)),
		.event = json_string(sl_record_event(last->kind)),
		.text = json_string(last->text),
	};
	object = json_object();
	SL_STATUS_PROBLEM_FIELDS(ADD)
	return object;
}

static const char *const ways[] = {
#define X(path, name) [SL_LINK_##path] = name,
	SL_LINK_WAYS(X)
#undef X
};

static json_t *peer_object(const struct sl_observe *observe, uint32_t index)
{
	const struct sl_member *member = &observe->of.roster->members[index];
	struct sl_core_peer peer;
	struct sl_link_figures link;
	const char *program = observe->peers[index].program;
	sl_core_peer(observe->of.core, index, &peer);
	bool linked = sl_links_figures_of(observe->of.links, index, &link);
	struct {
		SL_STATUS_PEER_FIELDS(DECLARE)
	} values = {
		.id = whole(member->id),
		.name = json_string(member->name),
		.link = json_string(peer.linked ? "up" : "down"),
		.path = !linked ? json_null()
			: link.way == SL_LINK_RELAY
				? json_sprintf("relay %s", observe->of.roster->members[link.via].name)
				: json_string(ways[link.way]),
		.segment = linked ? whole(link.segment) : json_null(),
		.in_range = json_boolean(peer.in_range),
		.participant = json_boolean(peer.participant),
		.neighbour = json_boolean(peer.neighbour),
		.rtt_s = real(link.rtt_s > 0 ? link.rtt_s : NAN),
		.rate = real(link.rate > 0 ? round(link.rate) : NAN),
		.unsent = whole(link.waiting + link.unsent),
		.left_out_until = peer.left_out > 0 ? whole(peer.left_out) : json_null(),
		.two_places = words(sl_observe_places(&observe->peers[index])),
		.other_run = json_boolean(observe->peers[index].warning.other_run),
		.round = peer.heard ? whole(peer.t) : json_null(),
		.attempt = peer.heard ? whole(peer.a) : json_null(),
		.state = peer.heard ? json_string(sl_message_status_name(peer.status)) : json_null(),
		.version = words(program),
	};
	json_t *object = json_object();
	SL_STATUS_PEER_FIELDS(ADD)
	return object;
}

static json_t *peer_array(const struct sl_observe *observe)
{
	json_t *array = json_array();
	for (uint32_t i = 0; i < observe->of.roster->size; i++)
		if (i != observe->of.core_config->self)
			json_array_append_new(array, peer_object(observe, i));
	return array;
}

/* ---- the whole ---- */

static uint32_t progress(struct sl_observe *observe, const struct sl_core_status *status)
{
	return status->phase == SL_PHASE_TRAIN ? atomic_load(&observe->training_permille) : status->permille;
}

static json_t *tolerance(const struct sl_observe *observe)
{
	uint32_t losses;
	return sl_core_tolerates(observe->of.core, &losses) ? whole(losses) : json_null();
}

static double seconds_between(sl_ms from, sl_ms to)
{
	return ((double)to - (double)from) / 1000;
}

json_t *sl_status(struct sl_observe *observe, bool peers)
{
	struct sl_core_status status;
	uint64_t awaited[(SL_LEARNERS_MAX + 63) / 64];
	const struct sl_links_figures *figures = sl_links_figures(observe->of.links);
	const struct sl_member *self = &observe->of.roster->members[observe->of.core_config->self];
	sl_ms now = sl_clock_ms();
	sl_core_status(observe->of.core, &status);
	enum sl_wait wait = sl_observe_awaits(observe, awaited);
	bool limited = status.deadline != SL_NEVER;
	char obstacle[SL_OBSTACLE_BYTES];
	struct {
		SL_STATUS_FIELDS(DECLARE)
	} values = {
		.ok = json_true(),
		.v = whole(SL_STATUS_VERSION),
		.id = whole(self->id),
		.name = json_string(self->name),
		.run = json_string(observe->of.settings->run),
		.version = json_string(SL_VERSION),
		.pid = whole((uint64_t)getpid()),
		.started_at = instant(observe->notes.started_at),
		.round = whole(status.t),
		.rounds = whole(status.rounds),
		.attempt = whole(status.a),
		.phase = json_string(sl_phase_name(status.phase)),
		.phase_s = real(seconds_between(status.since, now)),
		.deadline_s = limited ? real(seconds_between(now, status.deadline)) : json_null(),
		.overdue = json_boolean(sl_health_overdue(&status, wait, now)),
		.progress = whole(progress(observe, &status)),
		.waits_for = json_string(sl_wait_words(wait)),
		.awaits = ids(observe, awaited),
		.obstacle = words(sl_obstacle(observe, wait, awaited, obstacle)),
		.learners = whole(status.learners),
		.neighbours = neighbours(observe),
		.mixing = json_string(sl_engine_name(status.engine)),
		.steps = whole(status.steps),
		.tolerance = tolerance(observe),
		.atom = status.atom > 0 ? whole(status.atom) : json_null(),
		.dp = dp_object(observe),
		.rounded = whole(observe->notes.rounded),
		.committed = whole(status.committed),
		.last_commit = commit_object(observe, &status),
		.links = whole(figures->up),
		.bytes_sent = whole(figures->bytes_sent),
		.bytes_received = whole(figures->bytes_received),
		.round_bytes_sent = whole(figures->bytes_sent - observe->figures.bytes_sent),
		.step = whole(observe->step),
		.metrics = observe->metrics != NULL ? json_incref(observe->metrics) : json_null(),
		.memory_bytes = whole(sl_process_usage_bytes("VmRSS")),
		.peak_bytes = whole(sl_process_usage_bytes("VmHWM")),
		.last_problem = problem_object(observe),
		.two_places = words(sl_observe_places(&observe->peers[observe->of.core_config->self])),
		.peers = peers ? peer_array(observe) : json_null(),
	};
	json_t *object = json_object();
	SL_STATUS_FIELDS(ADD)
	return object;
}
