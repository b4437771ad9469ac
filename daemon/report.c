/* The core's facts as sentences and log records. */
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/math/spectrum.h"
#include "daemon/daemon.h"

#define TEXT_BYTES 512u

static const struct sl_member *member(const struct sl_daemon *daemon, uint32_t index)
{
	return &daemon->roster.members[index];
}

static json_t *ids(const struct sl_daemon *daemon, const uint64_t *set)
{
	json_t *array = json_array();
	for (uint32_t i = 0; set != NULL && i < daemon->roster.size; i++)
		if (sl_bit(set, i))
			json_array_append_new(array, json_integer(member(daemon, i)->id));
	return array;
}

static void failed(struct sl_daemon *daemon, const struct sl_report *r)
{
	char reason[TEXT_BYTES], text[TEXT_BYTES + 64];
	sl_reason_text(daemon, r, reason, sizeof reason);
	snprintf(text, sizeof text, "round %u attempt %u ended in %s: %s", r->t, r->a, sl_phase_name(r->phase), reason);
	enum sl_level level = r->reason == SL_REASON_SUPERSEDED ? SL_INFO : SL_WARN;
	if (r->reason == SL_REASON_MODEL || r->reason == SL_REASON_CLIP || r->reason == SL_REASON_WEIGHT ||
	    r->reason == SL_REASON_MARGIN || r->reason == SL_REASON_RESULT) {
		sl_log(daemon->log, SL_ERROR, "fatal", text, "{s:i, s:s, s:s}", "round", (int)r->t, "phase",
		       sl_phase_name(r->phase), "reason", reason);
		return;
	}
	sl_log(daemon->log, level, "attempt_failed", text, "{s:i, s:i, s:s, s:s}", "round", (int)r->t, "attempt", (int)r->a,
	       "phase", sl_phase_name(r->phase), "reason", reason);
}

/* Seconds to send what the view asks for: at the rate of the last round, which has its waits and arithmetic in it; before
 * there is one, as long as the slowest neighbour's link takes by its own measure. 0: nothing is measured. */
static double forecast_s(const struct sl_daemon *daemon, const struct sl_report *r, bool *at_most)
{
	double slowest = 0, count = 0;
	*at_most = false;
	if (daemon->figures.rate > 0)
		return (double)r->bytes / daemon->figures.rate;
	for (uint32_t i = 0; i < daemon->roster.size; i++) {
		double speed = sl_bit(r->set, i) ? sl_links_speed(daemon->links, i) : 0;
		count += sl_bit(r->set, i);
		if (speed <= 0)
			continue;
		slowest = slowest == 0 || speed < slowest ? speed : slowest;
		*at_most = *at_most || sl_links_speed_is_floor(daemon->links, i);
	}
	return slowest > 0 ? (double)r->bytes / count / slowest : 0;
}

static void forecast_text(const struct sl_report *r, double seconds, bool at_most, char *text, size_t size)
{
	int n = snprintf(text, size, "%.1f MB to send", (double)r->bytes / 1e6);
	if (seconds > 0)
		snprintf(text + n, size - (size_t)n, ", %s %.3g s at the measured speed", at_most ? "at most" : "about", seconds);
	else
		snprintf(text + n, size - (size_t)n, "; no link is measured yet");
}

static void view(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES], forecast[96];
	struct sl_links_figures now;
	bool at_most;
	double seconds = forecast_s(daemon, r, &at_most);
	uint32_t bits = 64u - (uint32_t)__builtin_clzll(r->n[3]);
	sl_links_figures(daemon->links, &now);
	daemon->figures.view_bytes = now.bytes_sent;
	daemon->figures.view_ms = uv_hrtime() / 1000000u;
	forecast_text(r, seconds, at_most, forecast, sizeof forecast);
	snprintf(text, sizeof text,
		 "round %u attempt %u: %" PRIu64 " learners, %" PRIu64 " edges, mu %.4f, K %" PRIu64 ", p %" PRIu64 "; %s", r->t, r->a,
		 r->n[0], r->n[1], r->real, r->n[2], r->n[3], forecast);
	sl_log(daemon->log, SL_INFO, "view", text, "{s:i, s:i, s:I, s:I, s:f, s:I, s:I, s:i, s:I, s:f, s:b}", "round", (int)r->t,
	       "attempt", (int)r->a, "learners", (json_int_t)r->n[0], "edges", (json_int_t)r->n[1], "mu", r->real, "k",
	       (json_int_t)r->n[2], "p", (json_int_t)r->n[3], "f", (int)sl_fraction_bits(bits), "forecast_bytes",
	       (json_int_t)r->bytes, "forecast_s", seconds, "forecast_at_most", at_most);
}

static void measure_rate(struct sl_daemon *daemon, uint64_t bytes_sent)
{
	struct sl_figures_round *f = &daemon->figures;
	sl_ms now = uv_hrtime() / 1000000u;
	if (f->view_ms != 0 && now > f->view_ms && bytes_sent > f->view_bytes)
		f->rate = (double)(bytes_sent - f->view_bytes) * 1000.0 / (double)(now - f->view_ms);
	f->view_ms = 0;
}

static void committed(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES], digest[2 * SL_HASH_BYTES + 1];
	struct sl_links_figures now;
	struct sl_figures_round *last = &daemon->figures;
	sl_links_figures(daemon->links, &now);
	sodium_bin2hex(digest, sizeof digest, r->hash, SL_HASH_BYTES);
	snprintf(text, sizeof text, "round %u committed: %" PRIu64 " learners, K %" PRIu64 ", margin %.4f, %.2f s, model %.12s",
		 r->t, r->n[0], r->n[2], r->real, (double)r->elapsed / 1000.0, digest);
	sl_log(daemon->log, SL_INFO, "committed", text,
	       "{s:i, s:i, s:I, s:I, s:f, s:I, s:f, s:I, s:s, s:s, s:f, s:f, s:I, s:I, s:I}", "round", (int)r->t, "attempt",
	       (int)r->a, "learners", (json_int_t)r->n[0], "edges", (json_int_t)r->n[1], "mu", daemon->vault_view.mu, "k",
	       (json_int_t)r->n[2], "margin", r->real, "total_weight", (json_int_t)r->n[3], "digest", digest, "checkpoint",
	       daemon->checkpoint, "aggregate_s", (double)r->elapsed / 1000.0, "train_s", last->train_s,
	       "round_bytes_sent", (json_int_t)(now.bytes_sent - last->bytes_sent), "round_bytes_received",
	       (json_int_t)(now.bytes_received - last->bytes_received), "round_flood_bytes", (json_int_t)last->flood_bytes);
	measure_rate(daemon, now.bytes_sent);
	last->bytes_sent = now.bytes_sent;
	last->bytes_received = now.bytes_received;
	last->flood_bytes = 0;
}

static void waiting(struct sl_daemon *daemon, const struct sl_report *r)
{
	char who[256], text[TEXT_BYTES];
	sl_names(daemon, r->set, who, sizeof who);
	const char *what = r->phase == SL_PHASE_DISCOVER ? "to be ready"
			   : r->phase == SL_PHASE_READY	 ? "to hold its shares"
			   : r->phase == SL_PHASE_SETTLE ? "to send its digest"
			   : r->phase == SL_PHASE_CATCHUP ? "to show the round that went by"
							 : "";
	if (r->set == NULL)
		snprintf(text, sizeof text, "round %u: waiting to be told who is in range", r->t);
	else if (strcmp(who, "nobody") == 0)
		snprintf(text, sizeof text, "round %u attempt %u: waiting before the next attempt, since the last was refused", r->t,
			 r->a);
	else
		snprintf(text, sizeof text, "round %u attempt %u: waiting for %s %s", r->t, r->a, who, what);
	sl_log_fields(daemon->log, SL_WARN, "waiting", text,
		      json_pack("{s:i, s:i, s:s, s:s, s:o}", "round", (int)r->t, "attempt", (int)r->a, "phase",
				sl_phase_name(r->phase), "for", r->set == NULL ? "the radio" : what, "learners",
				ids(daemon, r->set)));
}

static void about_peer(struct sl_daemon *daemon, const struct sl_report *r, enum sl_level level, const char *event,
		       const char *what)
{
	char text[TEXT_BYTES];
	const struct sl_member *peer = member(daemon, r->peer);
	snprintf(text, sizeof text, "%s (learner %u): %s", peer->name, peer->id, what);
	sl_log(daemon->log, level, event, text, "{s:i, s:i, s:I, s:s}", "round", (int)r->t, "attempt", (int)r->a, "peer",
	       (json_int_t)peer->id, "reason", what);
}

static void behind(struct sl_daemon *daemon, const struct sl_report *r)
{
	char what[256];
	snprintf(what, sizeof what,
		 "round %u was committed without this learner (it is in round %" PRIu64
		 "), and nobody in range has shown its result; whoever is linked anew or a round further is asked again",
		 r->t, r->n[0]);
	about_peer(daemon, r, SL_WARN, "behind", what);
}

static void stale(struct sl_daemon *daemon, const struct sl_report *r)
{
	char model[2 * SL_HASH_BYTES + 1], what[320];
	sodium_bin2hex(model, sizeof model, r->hash, SL_HASH_BYTES);
	model[12] = '\0';
	snprintf(what, sizeof what,
		 "it stands in round %" PRIu64 " (its last committed model is %s) and this learner in round %u: it has been away, "
		 "or starts from an old checkpoint; its neighbours show it what it missed",
		 r->n[0], sodium_is_zero(r->hash, SL_HASH_BYTES) ? "the initial one" : model, r->t);
	about_peer(daemon, r, SL_WARN, "stale", what);
}

static void caught_up(struct sl_daemon *daemon, const struct sl_report *r)
{
	char model[2 * SL_HASH_BYTES + 1], text[TEXT_BYTES];
	sodium_bin2hex(model, sizeof model, r->hash, SL_HASH_BYTES);
	snprintf(text, sizeof text,
		 "caught up with round %" PRIu64 " from %s (%u): %" PRIu64 " learners, model %.12s, signed by %" PRIu64, r->n[0],
		 member(daemon, r->peer)->name, member(daemon, r->peer)->id, r->n[1], model, r->n[2]);
	sl_log(daemon->log, SL_INFO, "caught_up", text, "{s:i, s:I, s:I, s:I, s:s, s:s}", "round", (int)r->n[0],
	       "peer", (json_int_t)member(daemon, r->peer)->id, "learners", (json_int_t)r->n[1], "signers",
	       (json_int_t)r->n[2], "digest", model, "checkpoint", daemon->checkpoint);
}

static void quarantined(struct sl_daemon *daemon, const struct sl_report *r)
{
	char what[256];
	snprintf(what, sizeof what,
		 "it shows %s %" PRIu64 " and has been seen with %" PRIu64
		 ": its disk was set back; it takes no part before round %u is committed",
		 r->word, r->n[0], r->n[1], r->t);
	about_peer(daemon, r, SL_WARN, "quarantined", what);
}

static void evidence(struct sl_daemon *daemon, const struct sl_report *r)
{
	char name[64], what[256];
	struct sl_error error;
	if (sl_evidence_write(daemon, r, name, sizeof name, &error) == SL_OK)
		snprintf(what, sizeof what, "it signed two link states for one attempt; both are kept in %s", name);
	else
		snprintf(what, sizeof what, "it signed two link states for one attempt; they cannot be kept: %.128s", error.text);
	about_peer(daemon, r, SL_WARN, "equivocation", what);
}

static void privacy(struct sl_daemon *daemon, const struct sl_report *r)
{
	char who[256], text[TEXT_BYTES];
	sl_names(daemon, r->set, who, sizeof who);
	snprintf(text, sizeof text,
		 "round %u: since the last one %" PRIu64 " came and %" PRIu64 " left (%s): fewer than c+2, so the difference of the two "
		 "sums tells about them",
		 r->t, r->n[0], r->n[1], who);
	sl_log_fields(daemon->log, SL_WARN, "privacy", text,
		      json_pack("{s:i, s:I, s:I, s:o}", "round", (int)r->t, "came", (json_int_t)r->n[0], "left",
				(json_int_t)r->n[1], "learners", ids(daemon, r->set)));
}

/* The gate only warns: what it would have refused. */
static void exposed(struct sl_daemon *daemon, const struct sl_report *r)
{
	char reason[TEXT_BYTES], text[TEXT_BYTES + 64];
	sl_reason_text(daemon, r, reason, sizeof reason);
	snprintf(text, sizeof text, "round %u attempt %u goes on, since gate: warn is set: %s", r->t, r->a, reason);
	sl_log(daemon->log, SL_WARN, "exposed", text, "{s:i, s:i, s:s}", "round", (int)r->t, "attempt", (int)r->a, "reason",
	       reason);
}

static void diverged(struct sl_daemon *daemon, const struct sl_report *r)
{
	char ours[2 * SL_HASH_BYTES + 1], theirs[2 * SL_HASH_BYTES + 1], what[256];
	sodium_bin2hex(ours, sizeof ours, r->hash, SL_HASH_BYTES);
	sodium_bin2hex(theirs, sizeof theirs, r->hash2, SL_HASH_BYTES);
	snprintf(what, sizeof what, "its result differs: %s, here %s; nothing is averaged away, this learner stops", theirs, ours);
	about_peer(daemon, r, SL_ERROR, "fatal", what);
}

void sl_daemon_report(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES];
	switch (r->kind) {
	case SL_REPORT_PHASE:
		snprintf(text, sizeof text, "round %u attempt %u: %s", r->t, r->a, sl_phase_name(r->phase));
		sl_log(daemon->log, SL_DEBUG, "phase", text, "{s:i, s:i, s:s}", "round", (int)r->t, "attempt", (int)r->a,
		       "phase", sl_phase_name(r->phase));
		break;
	case SL_REPORT_VIEW:
		view(daemon, r);
		break;
	case SL_REPORT_CLAMPED:
		snprintf(text, sizeof text, "%" PRIu64 " parameters were clamped to clip %g", r->n[0], daemon->settings->clip);
		sl_log(daemon->log, SL_WARN, "clamped", text, "{s:i, s:I}", "round", (int)r->t, "count", (json_int_t)r->n[0]);
		break;
	case SL_REPORT_COMMITTED:
		committed(daemon, r);
		break;
	case SL_REPORT_WAITING:
		waiting(daemon, r);
		break;
	case SL_REPORT_FAILED:
		failed(daemon, r);
		break;
	case SL_REPORT_BURNED:
		sl_log(daemon->log, SL_WARN, "burned",
		       "the masked state of this model was released in an attempt that failed: the model is trained again; "
		       "the new one differs from it only by training noise",
		       "{s:i, s:i}", "round", (int)r->t, "attempt", (int)r->a);
		break;
	case SL_REPORT_REJECTED:
		sl_complain(daemon, r->peer, r->word);
		break;
	case SL_REPORT_BEHIND:
		behind(daemon, r);
		break;
	case SL_REPORT_EXPOSED:
		exposed(daemon, r);
		break;
	case SL_REPORT_STALE:
		stale(daemon, r);
		break;
	case SL_REPORT_CAUGHT_UP:
		caught_up(daemon, r);
		break;
	case SL_REPORT_QUARANTINED:
		quarantined(daemon, r);
		break;
	case SL_REPORT_EVIDENCE:
		evidence(daemon, r);
		break;
	case SL_REPORT_PRIVACY:
		privacy(daemon, r);
		break;
	case SL_REPORT_DIVERGED:
		diverged(daemon, r);
		break;
	case SL_REPORT_EXHAUSTED:
		snprintf(text, sizeof text, "round %u has had all its attempts (%u): this learner ends; start it again when the cause is mended",
			 r->t, SL_ATTEMPTS_MAX);
		sl_log(daemon->log, SL_ERROR, "fatal", text, "{s:i, s:s}", "round", (int)r->t, "reason", text);
		break;
	}
}
