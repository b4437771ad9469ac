#include "daemon/observe/report_log.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/model/tensor_bytes.h"
#include "common/report/reason.h"
#include "daemon/observe/observe.h"
#include "daemon/observe/obstacle.h"
#include "daemon/observe/status.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/runtime/process_usage.h"
#include "daemon/store/evidence.h"

#define PEER_WARNING_MS 10000u

void sl_report_log_record(struct sl_observe *observe, const struct sl_record *record)
{
	char text[SL_RECORD_TEXT_BYTES];
	enum sl_level level = sl_record_level(record);
	sl_status_note(observe, record);
	sl_metrics_record(&observe->counters, record);
	uint32_t unsaid;
	if (!sl_log_takes(observe->log, level) ||
	    !sl_record_limit_passes(&observe->record_limit, record, sl_clock_ms(), &unsaid))
		return;
	json_t *fields = sl_record_write(record, observe->of.roster, text, sizeof text);
	if (unsaid > 0)
		json_object_set_new(fields, "unsaid", json_integer(unsaid));
	sl_log(observe->log, level, sl_record_event(record->kind), text, fields);
}

void sl_report_log_attempt(struct sl_observe *observe, enum sl_record_kind kind, sl_round t, sl_attempt a,
			   const char *reason)
{
	struct sl_record record;
	sl_record_init(&record, kind);
	record.round = t;
	record.attempt = a;
	record.reason = reason;
	sl_report_log_record(observe, &record);
}

void sl_report_log_reason(struct sl_observe *observe, enum sl_record_kind kind, const char *reason)
{
	sl_report_log_attempt(observe, kind, 0, 0, reason);
}

void sl_report_log_round(struct sl_observe *observe, enum sl_record_kind kind, sl_round t)
{
	struct sl_record record;
	sl_record_init(&record, kind);
	record.round = record.rounds = t;
	sl_report_log_record(observe, &record);
}

void sl_report_log_warn(struct sl_observe *observe, uint32_t peer, const char *why)
{
	struct sl_peer_warning *peer_warning = &observe->peers[peer].warning;
	sl_ms now = sl_clock_ms();
	struct sl_record record;
	observe->counters.rejected[0]++;
	if (now < peer_warning->quiet_until) {
		peer_warning->unsaid++;
		return;
	}
	sl_record_init(&record, peer_warning->unsaid > 0 ? SL_RECORD_REJECTED_MORE : SL_RECORD_REJECTED);
	sl_record_peer(&record, observe->of.roster, peer);
	record.reason = why;
	record.unsaid = peer_warning->unsaid;
	sl_report_log_record(observe, &record);
	peer_warning->quiet_until = now + PEER_WARNING_MS;
	peer_warning->unsaid = 0;
}

void sl_report_log_tell(struct sl_observe *observe, const struct sl_record *record)
{
	char text[SL_RECORD_TEXT_BYTES];
	if (observe->of.trainer->ops->notice == NULL)
		return;
	json_decref(sl_record_write(record, observe->of.roster, text, sizeof text));
	observe->of.trainer->ops->notice(observe->of.trainer, text);
}

/* ---- peers that train another model ---- */

/* Compare the tensors that the peer has sent, and keep the difference for the attempts that fail for it. */
static void hear_model(struct sl_observe *observe, const struct sl_report *r)
{
	char(*text)[SL_ERROR_BYTES] = &observe->peers[r->peer].other_model;
	struct sl_record record;
	(*text)[0] = '\0';
	int rc = sl_tensor_bytes_compare(&observe->of.trainer->tensors, r->model->tensors, r->model->size,
					 r->model->count, *text, sizeof *text);
	if (rc == SL_ERR_FORMAT) {
		(*text)[0] = '\0';
		sl_report_log_warn(observe, r->peer, "named tensors that no model has");
	} else if (rc != SL_OK) {
		sl_record_report(&record, r, observe->of.roster);
		record.reason = *text;
		sl_report_log_record(observe, &record);
		sl_report_log_tell(observe, &record);
	}
}

/* Name the tensor, if the attempt failed since the model of a peer is another one. */
static void name_tensor(const struct sl_observe *observe, const struct sl_report *r, struct sl_record *record)
{
	char who[SL_WHO_BYTES];
	const char *difference = observe->peers[r->peer].other_model;
	if (r->why.other.model && difference[0] != '\0')
		record->reason = sl_record_words(record, "%s trains another model: %s",
						 sl_reason_who(observe->of.roster, r->peer, who), difference);
}

/* ---- the view and its forecast ---- */

/* Return the forecast duration of sending the payload of the view in seconds, 0 if no link is measured. It
 * uses the rate of the last round, which includes waiting and arithmetic, or before the first commit the
 * speed of the slowest neighbour's link. */
static double forecast_s(const struct sl_observe *observe, const struct sl_report *r, bool *at_most)
{
	double slowest = 0, count = 0;
	*at_most = false;
	if (observe->figures.rate > 0)
		return (double)r->view.bytes / observe->figures.rate;
	for (uint32_t i = 0; i < observe->of.roster->size; i++) {
		bool floor = false;
		double speed = sl_bit(r->set, i) ? sl_links_speed(observe->of.links, i, &floor) : 0;
		count += sl_bit(r->set, i);
		if (speed <= 0)
			continue;
		slowest = slowest == 0 || speed < slowest ? speed : slowest;
		*at_most = *at_most || floor;
	}
	return slowest > 0 ? (double)r->view.bytes / count / slowest : 0;
}

static void add_view(struct sl_observe *observe, const struct sl_report *r, struct sl_record *record)
{
	observe->figures.view_bytes = sl_links_figures(observe->of.links)->bytes_sent;
	observe->figures.view_ms = sl_clock_ms();
	record->forecast_s = forecast_s(observe, r, &record->forecast_at_most);
	double megabytes = (double)r->view.bytes / 1e6;
	if (record->forecast_s > 0)
		record->forecast =
			sl_record_words(record, "%.1f MB to send, %s %.3g s at the measured speed", megabytes,
					record->forecast_at_most ? "at most" : "about", record->forecast_s);
	else
		record->forecast =
			sl_record_words(record, "%.1f MB to send; no link is measured yet", megabytes);
}

/* ---- the commit and its costs ---- */

static void measure_rate(struct sl_observe *observe, uint64_t bytes_sent)
{
	struct sl_figures_round *f = &observe->figures;
	sl_ms now = sl_clock_ms();
	if (f->view_ms != 0 && now > f->view_ms && bytes_sent > f->view_bytes)
		f->rate = (double)(bytes_sent - f->view_bytes) * 1000.0 / (double)(now - f->view_ms);
	f->view_ms = 0;
}

/* Add the time since the last change of phase to the phase that ends. An attempt begins with DISCOVER, a
 * round with TRAIN. */
static void enter_phase(struct sl_observe *observe, enum sl_phase phase)
{
	struct sl_phase_times *times = &observe->figures.times;
	double now = (double)uv_hrtime() / 1e9;
	if (times->since > 0)
		times->spent[times->phase] += now - times->since;
	for (int p = 0; p < SL_PHASE_COUNT; p++)
		if ((phase == SL_PHASE_DISCOVER && p != SL_PHASE_TRAIN) || phase == SL_PHASE_TRAIN)
			times->spent[p] = 0;
	times->phase = phase;
	times->since = now;
}

/* Return {"train_s": 1.25, ...}: the phases in which this learner was. */
static json_t *phases_json(struct sl_observe *observe)
{
	json_t *object = json_object();
	struct sl_phase_times *times = &observe->figures.times;
	enter_phase(observe, times->phase); /* COMMIT, which goes on */
	for (int p = 0; p < SL_PHASE_COUNT; p++) {
		char key[16];
		size_t n = 0;
		for (const char *c = sl_phase_name((enum sl_phase)p); *c != '\0'; c++)
			key[n++] = (char)tolower(*c);
		memcpy(key + n, "_s", 3);
		if (times->spent[p] > 0)
			json_object_set_new(object, key, json_real(round(times->spent[p] * 1e6) / 1e6));
	}
	return object;
}

/* Return [{"peer": 2, "sent": 1200, "received": 800}, ...]: the links that carried bytes since the last
 * commit. */
static json_t *links_json(struct sl_observe *observe)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < observe->of.roster->size; i++) {
		struct sl_link_bytes now = sl_links_bytes(observe->of.links, i),
				     *last = &observe->peers[i].bytes;
		if (now.sent > last->sent || now.received > last->received)
			json_array_append_new(list,
					      json_pack("{s:I, s:I, s:I}", "peer",
							(json_int_t)observe->of.core_config->ids[i], "sent",
							(json_int_t)(now.sent - last->sent), "received",
							(json_int_t)(now.received - last->received)));
		*last = now;
	}
	return list;
}

static void add_commit(struct sl_observe *observe, struct sl_record *record)
{
	const struct sl_links_figures *now = sl_links_figures(observe->of.links);
	struct sl_figures_round *last = &observe->figures;
	double cpu_s = last->cpu_s;
	record->checkpoint = observe->of.checkpoint;
	record->train_s = last->train_s;
	record->round_bytes_sent = now->bytes_sent - last->bytes_sent;
	record->round_bytes_received = now->bytes_received - last->bytes_received;
	record->round_flood_bytes = last->flood_bytes;
	last->cpu_s = sl_process_usage_cpu_s();
	record->round_cpu_s = last->cpu_s - cpu_s;
	record->peak_bytes = sl_process_usage_bytes("VmHWM");
	measure_rate(observe, now->bytes_sent);
	last->bytes_sent = now->bytes_sent;
	last->bytes_received = now->bytes_received;
	last->flood_bytes = 0;
}

/* The parts of the record are freed with it. */
static void log_commit(struct sl_observe *observe, struct sl_record *record)
{
	json_t *phases = phases_json(observe), *links = links_json(observe);
	add_commit(observe, record);
	record->phases = phases;
	record->links = links;
	sl_report_log_record(observe, record);
	json_decref(phases);
	json_decref(links);
}

/* Return what leaves updates `wanted` bits, as a sentence. */
static const char *remedy_of_bits(const struct sl_settings *s, const struct sl_report *r, uint32_t wanted,
				  struct sl_record *record)
{
	int room = (int)sl_engine_p_bits(r->committed.engine) - (int)wanted - 1;
	double weight = floor(ldexp(0.99, room) / r->committed.learners);
	if (s->modulus != SL_MODULUS_AUTO)
		return "set modulus: auto at all learners";
	if (weight < 1)
		return "set a smaller update_bits at all learners";
	return sl_record_words(
		record,
		"%u times max_weight leaves no room for more; set max_weight to %.0f or less at all learners",
		r->committed.learners, weight);
}

/* Name the setting if the modulus leaves fewer bits than update_bits below the updates. In fresh rounds
 * ranges are above the values of the model, by SL_RANGE_FIRST_ROOM. */
static void warn_of_bits(struct sl_observe *observe, const struct sl_report *r)
{
	uint32_t room = r->t <= SL_VIEW_FRESH_ROUNDS ? SL_RANGE_FIRST_ROOM : 0,
		 wanted = observe->of.settings->update_bits + room;
	struct sl_record record;
	if (r->committed.values != SL_VALUES_UPDATE || r->committed.update_bits >= wanted)
		return;
	sl_record_init(&record, SL_RECORD_FEW_BITS);
	record.round = r->t;
	record.bits = r->committed.update_bits;
	record.reason = remedy_of_bits(observe->of.settings, r, wanted, &record);
	sl_report_log_record(observe, &record);
}

/* ---- other reports ---- */

static void keep_evidence(struct sl_observe *observe, const struct sl_report *r, struct sl_record *record)
{
	struct sl_evidence evidence = {.kind = sl_evidence_kind(r->evidence),
				       .scope = observe->of.core_config->scope,
				       .records = {r->evidence[0], r->evidence[1]}};
	char name[SL_EVIDENCE_FILE_BYTES];
	struct sl_error error;
	snprintf(evidence.run, sizeof evidence.run, "%s", observe->of.settings->run);
	memcpy(evidence.key, sl_keys_of(observe->of.keys, r->peer),
	       sizeof evidence.key); /* it verified them */
	bool kept = sl_evidence_write(observe->of.settings->state, &evidence, name, &error) == SL_OK;
	sl_links_suspect(observe->of.links, r->peer);
	record->kind = kept ? SL_RECORD_EVIDENCE : SL_RECORD_EVIDENCE_LOST;
	record->conflict = sl_evidence_conflict(evidence.kind);
	record->file = sl_record_words(record, "%.128s", kept ? name : error.text);
}

static void crash_in(enum sl_phase phase)
{
	if (phase == SL_PHASE_RECOVER)
		sl_failpoint_reach(SL_FAILPOINT_RECOVERING);
	if (phase == SL_PHASE_CATCHUP)
		sl_failpoint_reach(SL_FAILPOINT_CATCHING_UP);
}

void sl_report_log(struct sl_observe *observe, const struct sl_report *r)
{
	struct sl_record record;
	sl_observe_report(observe, r);
	sl_obstacle_fetch(observe, r);
	if (r->kind == SL_REPORT_WAITING)
		return; /* wait_log.h looks for itself */
	if (r->kind == SL_REPORT_REJECTED) {
		sl_report_log_warn(observe, r->peer, r->rejected.text);
		return;
	}
	if (r->kind == SL_REPORT_MODEL) {
		hear_model(observe, r);
		return;
	}
	sl_record_report(&record, r, observe->of.roster);
	if (r->kind == SL_REPORT_PHASE) {
		crash_in(r->phase);
		enter_phase(observe, r->phase);
	} else if (r->kind == SL_REPORT_VIEW) {
		add_view(observe, r, &record);
	} else if (r->kind == SL_REPORT_COMMITTED) {
		log_commit(observe, &record);
		warn_of_bits(observe, r);
		return;
	} else if (r->kind == SL_REPORT_CAUGHT_UP) {
		record.checkpoint = observe->of.checkpoint;
		observe->notes.cut = 0;
	} else if (r->kind == SL_REPORT_CLAMPED) {
		observe->notes.cut = r->clamped.ranged ? r->clamped.count : 0;
	} else if (r->kind == SL_REPORT_ENCODED) {
		observe->notes.cut = 0;
		observe->notes.rounded = r->encoded.frozen;
		if (r->encoded.frozen > 0)
			record.tensor = observe->of.trainer->tensors.items[r->encoded.first_frozen].name;
	} else if (r->reason == SL_REASON_ZEROED) {
		record.reason = sl_record_words(&record, "tensor %s: %s",
						observe->of.trainer->tensors.items[r->why.model.index].name,
						record.reason);
	} else if (r->reason == SL_REASON_OTHER_MODEL) {
		name_tensor(observe, r, &record);
	} else if (r->kind == SL_REPORT_EVIDENCE) {
		keep_evidence(observe, r, &record);
	}
	if (r->reason != SL_REASON_NONE)
		sl_obstacle_report(observe, r, record.reason);
	sl_report_log_record(observe, &record);
}
