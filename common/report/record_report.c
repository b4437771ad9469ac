/* The record of a core report: which row of the table it is, and its fields as far as the core knows them. */
#include "common/report/record.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>

#include "common/base/bytes.h"
#include "common/report/reason.h"

#define VIEW_DIGITS 16u /* of the hash of a view */
#define PARTS_MOST 100	/* 1 % of the values may vanish, or of the update be lost, without a warning */

/* Reports whose record has another name. */
#define SL_RECORD_FAILED SL_RECORD_ATTEMPT_FAILED
#define SL_RECORD_OVER SL_RECORD_ATTEMPT_OVER
#define SL_RECORD_DIVERGED SL_RECORD_FATAL_DIVERGED
#define SL_RECORD_EXHAUSTED SL_RECORD_FATAL_EXHAUSTED
#define X(kind, name) SL_RECORD_##kind,
static const enum sl_record_kind kinds[] = {SL_REPORTS(X)}; /* RESUMED has rows of its own, see kind_of */
#undef X

/* The rows that depend on more than the kind. */
static enum sl_record_kind failed_kind(enum sl_reason reason)
{
	switch (reason) {
	case SL_REASON_SUPERSEDED:
	case SL_REASON_INITIAL: /* as the protocol has it: nothing is lost, and nothing is to be done */
		return SL_RECORD_ATTEMPT_FAILED_ELSEWHERE;
	case SL_REASON_MODEL:
	case SL_REASON_CLIP:
	case SL_REASON_ZEROED:
	case SL_REASON_WEIGHT:
	case SL_REASON_RECORD:
		return SL_RECORD_FATAL_REASON;
	default:
		return SL_RECORD_ATTEMPT_FAILED;
	}
}

/* Warn if a tensor is rounded to 0 as a whole, if many values are, or if the rounding error is large beside
 * the update: the mean would be that of other models than were trained. Of updates, what is rounded comes
 * with the next one. */
static enum sl_record_kind encoded_kind(const struct sl_report *report)
{
	bool decimals = report->encoded.values == SL_VALUES_MODEL;
	if (report->encoded.values == SL_VALUES_UPDATE)
		return SL_RECORD_ENCODED_RANGED;
	if (report->encoded.frozen > 0)
		return decimals ? SL_RECORD_ENCODED_FROZEN : SL_RECORD_ENCODED_FROZEN_EXACT;
	if (!decimals)
		return report->encoded.vanished > 0 ? SL_RECORD_ENCODED_VANISHED_EXACT
						    : SL_RECORD_ENCODED_EXACT;
	if (report->encoded.vanished * PARTS_MOST > report->encoded.n)
		return SL_RECORD_ENCODED_VANISHED;
	return report->encoded.update > 0 && report->encoded.rounding * PARTS_MOST > report->encoded.update
		       ? SL_RECORD_ENCODED_COARSE
		       : SL_RECORD_ENCODED;
}

static enum sl_record_kind kind_of(const struct sl_report *report)
{
	switch (report->kind) {
	case SL_REPORT_FAILED:
		return failed_kind(report->reason);
	case SL_REPORT_ENCODED:
		return encoded_kind(report);
	case SL_REPORT_CLAMPED:
		return report->clamped.ranged ? SL_RECORD_CLAMPED_UPDATE : SL_RECORD_CLAMPED;
	case SL_REPORT_RESUMED:
		return report->resumed.released ? SL_RECORD_ATTEMPT_RESUMED_RELEASED
						: SL_RECORD_ATTEMPT_RESUMED;
	case SL_REPORT_OVER:
		return report->peer == SL_NOBODY ? SL_RECORD_ATTEMPT_OVER_BY_OPERATOR
						 : SL_RECORD_ATTEMPT_OVER;
	default:
		return kinds[report->kind];
	}
}

/* "exact, 7 exchanges", "metropolis, mu 0.8182, K 80"; of an attempt that was recovered "recovered" */
static const char *engine_words(struct sl_record *record, enum sl_engine engine)
{
	const char *name = sl_engine_name(engine);
	if (record->steps == 0)
		return "recovered";
	if (engine == SL_ENGINE_METROPOLIS)
		return sl_record_words(record, "%s, mu %.4f, K %" PRIu64, name, record->mu, record->steps);
	return sl_record_words(record, "%s, %" PRIu64 " exchange%s", name, record->steps,
			       record->steps == 1 ? "" : "s");
}

static void set_engine(struct sl_record *record, enum sl_engine engine, uint64_t exchanges, double mu)
{
	record->mixing = sl_engine_name(engine);
	record->steps = exchanges;
	record->mu = engine == SL_ENGINE_METROPOLIS ? mu : NAN;
	record->engine = engine_words(record, engine);
}

static void set_digest(struct sl_record *record, const uint8_t *digest)
{
	char hex[SL_DIGEST_TEXT_BYTES];
	sodium_bin2hex(hex, sizeof hex, digest, SL_HASH_BYTES);
	record->digest = sl_record_words(record, "%s", hex);
	record->model = sl_record_words(record, "%.12s", hex);
}

static const char *digest_words(struct sl_record *record, const uint8_t *digest)
{
	char text[SL_DIGEST_TEXT_BYTES];
	return sl_record_words(record, "%s", sl_reason_digest(digest, "the initial one", text));
}

static void set_view(struct sl_record *record, const struct sl_report *report)
{
	char hex[VIEW_DIGITS + 1];
	sodium_bin2hex(hex, sizeof hex, report->view.h, VIEW_DIGITS / 2);
	record->view = sl_record_words(record, "%s", hex);
	record->participants = report->view.participants;
	record->neighbours = report->set;
	record->tolerance = report->view.tolerance;
	record->atom = report->view.atom;
	record->learners = report->view.learners;
	record->edges = report->view.edges;
	record->p = report->view.p;
	record->forecast_bytes = report->view.bytes;
	set_engine(record, report->view.engine, report->view.exchanges, report->view.mu);
}

static void set_mixed(struct sl_record *record, const struct sl_report *report)
{
	const struct sl_spreads *spreads = report->mixed.spreads;
	record->steps = report->mixed.exchanges;
	record->spread = spreads;
	record->first = spreads->points[0].spread;
	record->last = spreads->points[spreads->count - 1].spread;
}

static void set_committed(struct sl_record *record, const struct sl_report *report)
{
	static const char *const names[] = {[SL_VALUES_MODEL] = "model",
					    [SL_VALUES_UPDATE] = "update",
					    [SL_VALUES_EXACT] = "exact",
					    [SL_VALUES_NOISY] = "noisy",
					    [SL_VALUES_NOISY_UPDATE] = "noisy update"};
	record->learners = report->committed.learners;
	record->edges = report->committed.edges;
	record->margin = report->committed.margin;
	record->values = names[report->committed.values];
	record->decimals = report->committed.decimals;
	record->clipping_range = report->committed.clipping_range;
	record->bits = report->committed.update_bits;
	record->aggregate_s = (double)report->committed.elapsed / 1000.0;
	set_engine(record, report->committed.engine, report->committed.exchanges, report->committed.mu);
	set_digest(record, report->committed.digest);
}

/* The update itself is not logged: it is a coordinate of the trained model's change. */
static void set_encoded(struct sl_record *record, const struct sl_report *report)
{
	double rounding = report->encoded.rounding, update = report->encoded.update;
	record->quantum = report->encoded.step;
	record->vanished = report->encoded.vanished;
	record->frozen = report->encoded.frozen;
	if (record->frozen > 0) /* the learner, which knows the names, replaces the number */
		record->tensor = sl_record_words(record, "%u", report->encoded.first_frozen + 1);
	record->rounding = rounding;
	if (update > 0)
		record->error =
			sl_record_words(record, "%.1g %% of the largest update", 100 * rounding / update);
	else
		record->error = sl_record_words(record, "%.2g", rounding);
}

static void set_caught_up(struct sl_record *record, const struct sl_report *report)
{
	record->round = report->caught_up.t;
	record->learners = report->caught_up.learners;
	record->signers = report->caught_up.signers;
	set_digest(record, report->caught_up.digest);
}

static void set_privacy(struct sl_record *record, const struct sl_report *report)
{
	record->since = report->privacy.since;
	record->atom = report->privacy.atom;
	record->gone = report->privacy.gone;
	if (record->gone > 0)
		record->whom = sl_record_words(record, "%s%s%" PRIu64 " outside the roster",
					       record->whom != NULL ? record->whom : "",
					       record->whom != NULL ? ", and " : "", record->gone);
	record->limit = report->privacy.tolerance + 2;
}

static void set_abstains(struct sl_record *record, const struct sl_report *report)
{
	record->counter = report->abstains.record;
	record->shown = report->abstains.t;
}

static void set_diverged(struct sl_record *record, const struct sl_report *report)
{
	record->model = digest_words(record, report->diverged.own);
	record->theirs = digest_words(record, report->diverged.theirs);
}

static void set_recovered(struct sl_record *record, const struct sl_report *report)
{
	record->learners = report->recovered.learners;
	record->fetched = report->recovered.fetched;
}

static void set_facts(struct sl_record *record, const struct sl_report *report)
{
	switch (report->kind) {
	case SL_REPORT_VIEW:
		set_view(record, report);
		break;
	case SL_REPORT_ENCODED:
		set_encoded(record, report);
		break;
	case SL_REPORT_CLAMPED:
		record->count = report->clamped.count;
		record->clipping_range = report->clamped.clipping_range;
		break;
	case SL_REPORT_MIXED:
		set_mixed(record, report);
		break;
	case SL_REPORT_COMMITTED:
		set_committed(record, report);
		break;
	case SL_REPORT_RECOVERING:
		record->learners = report->recovering.learners;
		break;
	case SL_REPORT_RECOVERED:
		set_recovered(record, report);
		break;
	case SL_REPORT_RESUMED:
		record->released = report->resumed.released;
		break;
	case SL_REPORT_OVER:
		record->operator_aborted = report->peer == SL_NOBODY;
		break;
	case SL_REPORT_MODEL_INVALIDATED:
		record->limit = report->model_invalidated.tolerance + 1;
		break;
	case SL_REPORT_REJECTED:
		record->reason = report->rejected.text;
		break;
	case SL_REPORT_BEHIND:
		record->shown = report->behind.t;
		break;
	case SL_REPORT_STALE:
		record->shown = report->stale.t;
		record->model = digest_words(record, report->stale.digest);
		break;
	case SL_REPORT_CAUGHT_UP:
		set_caught_up(record, report);
		break;
	case SL_REPORT_ABSTAINS:
		set_abstains(record, report);
		break;
	case SL_REPORT_PRIVACY:
		set_privacy(record, report);
		break;
	case SL_REPORT_DIVERGED:
		set_diverged(record, report);
		break;
	case SL_REPORT_EXHAUSTED:
		record->limit = SL_ATTEMPTS_MAX;
		break;
	default: /* no more than every report has */
		break;
	}
}

/* Name the learner that is left out for good: since it has another model or roster. */
static void set_left_out(struct sl_record *record, const struct sl_report *report,
			 const struct sl_roster *roster)
{
	if (report->reason != SL_REASON_OTHER_MODEL && report->reason != SL_REASON_ROSTER)
		return;
	record->peer = roster->members[report->peer].id;
	record->cause = report->reason == SL_REASON_ROSTER ? "roster"
			: report->why.other.model	   ? "model"
							   : "values";
}

void sl_record_report(struct sl_record *record, const struct sl_report *report,
		      const struct sl_roster *roster)
{
	char text[512];
	sl_record_init(record, kind_of(report));
	record->round = report->t;
	record->attempt = report->a;
	record->phase = sl_phase_name(report->phase);
	record->set = report->set;
	if (report->set != NULL && report->reason == SL_REASON_NONE)
		record->whom = sl_record_words(record, "%s", sl_reason_names(roster, report->set, text, 256));
	if (report->reason != SL_REASON_NONE) {
		sl_reason_text(roster, report, text, sizeof text);
		record->reason = sl_record_words(record, "%s", text);
	} else if (report->peer < roster->size) {
		sl_record_peer(record, roster, report->peer);
	}
	if (report->kind == SL_REPORT_LEFT_OUT)
		set_left_out(record, report, roster);
	set_facts(record, report);
}

/* ---- waits ---- */

/* Fill in the learners that are awaited, and for what; return true if there are any. */
static bool set_awaited(struct sl_record *record, enum sl_wait wait, const uint64_t *set,
			const struct sl_roster *roster)
{
	char text[256];
	bool any = false;
	for (uint32_t i = 0; i < roster->size; i++)
		any |= sl_bit(set, i);
	record->awaited = set;
	record->waits_for = sl_wait_words(wait);
	if (any)
		record->whom = sl_record_words(record, "%s", sl_reason_names(roster, set, text, sizeof text));
	return any;
}

void sl_record_waiting(struct sl_record *record, enum sl_wait wait, const uint64_t *set, bool overdue,
		       const char *obstacle, const struct sl_roster *roster)
{
	sl_record_init(record, SL_RECORD_WAITING);
	bool any = set_awaited(record, wait, set, roster);
	if (wait == SL_WAIT_DEPOSITS && (overdue || !any))
		record->kind = any ? SL_RECORD_WAITING_LOST : SL_RECORD_WAITING_STATES;
	else if (!any)
		record->kind = *obstacle != '\0' ? SL_RECORD_WAITING_CHANGE : SL_RECORD_WAITING_NONE;
	else if (*obstacle != '\0')
		record->kind = SL_RECORD_WAITING_FOR_CHANGE;
	record->overdue = overdue;
	record->reason = obstacle;
}

void sl_record_waited(struct sl_record *record, enum sl_wait wait, const uint64_t *set,
		      const struct sl_roster *roster)
{
	sl_record_init(record, SL_RECORD_WAITED);
	if (!set_awaited(record, wait, set, roster))
		record->kind = SL_RECORD_WAITED_NONE;
}
