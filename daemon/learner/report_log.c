/* The core's facts as sentences and log records. */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "common/mixing/spectrum.h"
#include "daemon/learner/daemon.h"
#include "daemon/runtime/process_usage.h"

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
	snprintf(text, sizeof text, "round %u attempt %u ended in %s: %s", r->t, r->a,
		 sl_phase_name(r->phase), reason);
	enum sl_level level = r->reason == SL_REASON_SUPERSEDED ? SL_INFO : SL_WARN;
	if (r->reason == SL_REASON_MODEL || r->reason == SL_REASON_CLIP || r->reason == SL_REASON_WEIGHT ||
	    r->reason == SL_REASON_RESULT || r->reason == SL_REASON_RECORD) {
		sl_log(daemon->log, SL_ERROR, "fatal", text, "{s:i, s:s, s:s}", "round", (int)r->t, "phase",
		       sl_phase_name(r->phase), "reason", reason);
		return;
	}
	sl_log(daemon->log, level, "attempt_failed", text, "{s:i, s:i, s:s, s:s}", "round", (int)r->t,
	       "attempt", (int)r->a, "phase", sl_phase_name(r->phase), "reason", reason);
}

/* Seconds to send what the view asks for: at the rate of the last round, which has its waits and arithmetic
 * in it; before there is one, as long as the slowest neighbour's link takes by its own measure. 0: nothing is
 * measured. */
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
		snprintf(text + n, size - (size_t)n, ", %s %.3g s at the measured speed",
			 at_most ? "at most" : "about", seconds);
	else
		snprintf(text + n, size - (size_t)n, "; no link is measured yet");
}

/* "exact, 7 exchanges", "metropolis, mu 0.8182, K 80" */
static const char *mixing_text(const struct sl_report *r, double mu, char *text, size_t size)
{
	const char *name = sl_engine_name(r->engine);
	if (r->n[2] == 0)
		snprintf(text, size, "added up");
	else if (r->engine == SL_ENGINE_METROPOLIS)
		snprintf(text, size, "%s, mu %.4f, K %" PRIu64, name, mu, r->n[2]);
	else
		snprintf(text, size, "%s, %" PRIu64 " %s%s", name, r->n[2],
			 r->engine == SL_ENGINE_TREE ? "step" : "exchange", r->n[2] == 1 ? "" : "s");
	return text;
}

/* Only metropolis has one. */
static json_t *mu_json(enum sl_engine engine, double mu)
{
	return engine == SL_ENGINE_METROPOLIS ? json_real(mu) : json_null();
}

static void view(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES], forecast[96], mixing[96];
	struct sl_links_figures now;
	bool at_most;
	double seconds = forecast_s(daemon, r, &at_most);
	sl_links_figures(daemon->links, &now);
	daemon->figures.view_bytes = now.bytes_sent;
	daemon->figures.view_ms = uv_hrtime() / 1000000u;
	forecast_text(r, seconds, at_most, forecast, sizeof forecast);
	snprintf(text, sizeof text,
		 "round %u attempt %u: %" PRIu64 " learners, %" PRIu64 " edges, %s, p %" PRIu64 "; %s", r->t,
		 r->a, r->n[0], r->n[1], mixing_text(r, r->real, mixing, sizeof mixing), r->n[3], forecast);
	sl_log(daemon->log, SL_INFO, "view", text, "{s:i, s:i, s:I, s:I, s:s, s:I, s:o, s:I, s:I, s:f, s:b}",
	       "round", (int)r->t, "attempt", (int)r->a, "learners", (json_int_t)r->n[0], "edges",
	       (json_int_t)r->n[1], "mixing", sl_engine_name(r->engine), "steps", (json_int_t)r->n[2], "mu",
	       mu_json(r->engine, r->real), "p", (json_int_t)r->n[3], "forecast_bytes", (json_int_t)r->bytes,
	       "forecast_s", seconds, "forecast_at_most", at_most);
}

static void measure_rate(struct sl_daemon *daemon, uint64_t bytes_sent)
{
	struct sl_figures_round *f = &daemon->figures;
	sl_ms now = uv_hrtime() / 1000000u;
	if (f->view_ms != 0 && now > f->view_ms && bytes_sent > f->view_bytes)
		f->rate = (double)(bytes_sent - f->view_bytes) * 1000.0 / (double)(now - f->view_ms);
	f->view_ms = 0;
}

/* By the clock of the records, so that those of all learners of one machine compare. */
static void entered(struct sl_daemon *daemon, enum sl_phase phase)
{
	if (phase == SL_PHASE_DISCOVER)
		memset(daemon->figures.entered_ms, 0, sizeof daemon->figures.entered_ms);
	daemon->figures.entered_ms[phase] = (double)uv_hrtime() / 1e6;
}

static json_t *when(const struct sl_daemon *daemon, enum sl_phase phase)
{
	double ms = daemon->figures.entered_ms[phase];
	return ms > 0 ? json_real(ms) : json_null();
}

/* When the parts of the round began, and what it took of the machine. */
static json_t *costs(struct sl_daemon *daemon)
{
	double before = daemon->figures.cpu_s;
	daemon->figures.cpu_s = sl_process_usage_cpu_s();
	return json_pack("{s:o, s:o, s:o, s:o, s:f, s:I}", "share_ms", when(daemon, SL_PHASE_SHARE),
			 "ready_ms", when(daemon, SL_PHASE_READY), "mix_ms", when(daemon, SL_PHASE_MIX),
			 "settle_ms", when(daemon, SL_PHASE_CONFIRM), "round_cpu_s",
			 daemon->figures.cpu_s - before, "peak_bytes",
			 (json_int_t)sl_process_usage_peak_bytes());
}

static void committed(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES], digest[2 * SL_HASH_BYTES + 1], mixing[96];
	struct sl_links_figures now;
	struct sl_figures_round *last = &daemon->figures;
	double mu = daemon->workspace_view->mu;
	sl_links_figures(daemon->links, &now);
	sodium_bin2hex(digest, sizeof digest, r->hash, SL_HASH_BYTES);
	snprintf(text, sizeof text,
		 "round %u committed: %" PRIu64 " learners, %s, margin %.4f, %.2f s, model %.12s", r->t,
		 r->n[0], mixing_text(r, mu, mixing, sizeof mixing), r->real, (double)r->elapsed / 1000.0,
		 digest);
	sl_log(daemon->log, SL_INFO, "committed", text,
	       "{s:i, s:i, s:I, s:I, s:s, s:I, s:o, s:f, s:I, s:s, s:s, s:f, s:f, s:I, s:I, s:I, s:o}",
	       "round", (int)r->t, "attempt", (int)r->a, "learners", (json_int_t)r->n[0], "edges",
	       (json_int_t)r->n[1], "mixing", sl_engine_name(r->engine), "steps", (json_int_t)r->n[2], "mu",
	       mu_json(r->engine, mu), "margin", r->real, "total_weight", (json_int_t)r->n[3], "digest",
	       digest, "checkpoint", daemon->checkpoint, "aggregate_s", (double)r->elapsed / 1000.0,
	       "train_s", last->train_s, "round_bytes_sent", (json_int_t)(now.bytes_sent - last->bytes_sent),
	       "round_bytes_received", (json_int_t)(now.bytes_received - last->bytes_received),
	       "round_flood_bytes", (json_int_t)last->flood_bytes, "costs", costs(daemon));
	measure_rate(daemon, now.bytes_sent);
	last->bytes_sent = now.bytes_sent;
	last->bytes_received = now.bytes_received;
	last->flood_bytes = 0;
}

static bool nobody(const struct sl_daemon *daemon, const uint64_t *set)
{
	for (uint32_t i = 0; i < daemon->roster.size; i++)
		if (sl_bit(set, i))
			return false;
	return true;
}

/* As it can be typed in any folder; in single quotes where a shell would take it for more. */
static void own_socket(const struct sl_daemon *daemon, char *text, size_t size)
{
	const char *path = daemon->settings->control,
		   *quote = strpbrk(path, " '\"$&;()<>|*?#\\`") != NULL ? "'" : "";
	char folder[PATH_MAX] = "";
	if (*path != '/' && getcwd(folder, sizeof folder - 1) != NULL)
		strcat(folder, "/");
	quote = strpbrk(folder, " '\"$&;()<>|*?#\\`") != NULL ? "'" : quote;
	snprintf(text, size, "%s%s%s%s", quote, folder, path, quote);
}

/* The one thing that may last for ever (protocol 6): who could end it, and how an operator can. */
static void waiting_for_states(struct sl_daemon *daemon, const struct sl_report *r)
{
	char socket[PATH_MAX + SL_PATH_BYTES + 2], text[2 * TEXT_BYTES + sizeof socket];
	if (nobody(daemon, r->set)) {
		daemon->missing[0] = '\0';
		snprintf(text, sizeof text, "round %u attempt %u: bringing the masked states together", r->t,
			 r->a);
	} else {
		sl_reason_names(daemon, r->set, daemon->missing, sizeof daemon->missing);
		own_socket(daemon, socket, sizeof socket);
		snprintf(text, sizeof text,
			 "round %u attempt %u: nobody in reach holds the masked state of %s; the attempt "
			 "goes on when a learner that "
			 "does comes into reach. If none ever will: starling abort --round %u --control %s",
			 r->t, r->a, daemon->missing, r->t, socket);
	}
	sl_log_fields(daemon->log, SL_WARN, "waiting", text,
		      json_pack("{s:i, s:i, s:s, s:s, s:o}", "round", (int)r->t, "attempt", (int)r->a,
				"phase", sl_phase_name(r->phase), "for", "masked states", "learners",
				ids(daemon, r->set)));
}

static void waiting(struct sl_daemon *daemon, const struct sl_report *r)
{
	char who[256], text[TEXT_BYTES];
	if (r->phase == SL_PHASE_RECOVER) {
		waiting_for_states(daemon, r);
		return;
	}
	sl_reason_names(daemon, r->set, who, sizeof who);
	const char *what = r->phase == SL_PHASE_DISCOVER  ? "to be ready"
			   : r->phase == SL_PHASE_READY	  ? "to hold its shares"
			   : r->phase == SL_PHASE_CONFIRM ? "to send its digest"
			   : r->phase == SL_PHASE_CATCHUP ? "to show the round that went by"
							  : "";
	if (r->set == NULL)
		snprintf(text, sizeof text, "round %u: waiting to be told who is in range", r->t);
	else if (strcmp(who, "nobody") == 0)
		snprintf(text, sizeof text,
			 "round %u attempt %u: waiting before the next attempt, since the last was refused",
			 r->t, r->a);
	else
		snprintf(text, sizeof text, "round %u attempt %u: waiting for %s %s", r->t, r->a, who, what);
	sl_log_fields(daemon->log, SL_WARN, "waiting", text,
		      json_pack("{s:i, s:i, s:s, s:s, s:o}", "round", (int)r->t, "attempt", (int)r->a,
				"phase", sl_phase_name(r->phase), "for", r->set == NULL ? "the radio" : what,
				"learners", ids(daemon, r->set)));
}

static void about_peer(struct sl_daemon *daemon, const struct sl_report *r, enum sl_level level,
		       const char *event, const char *what)
{
	char text[TEXT_BYTES];
	const struct sl_member *peer = member(daemon, r->peer);
	snprintf(text, sizeof text, "%s (learner %u): %s", peer->name, peer->id, what);
	sl_log(daemon->log, level, event, text, "{s:i, s:i, s:I, s:s}", "round", (int)r->t, "attempt",
	       (int)r->a, "peer", (json_int_t)peer->id, "reason", what);
}

static void behind(struct sl_daemon *daemon, const struct sl_report *r)
{
	char what[256];
	snprintf(what, sizeof what,
		 "round %u was committed without this learner (it is in round %" PRIu64
		 "), and nobody in range has shown its result; whoever is linked anew or a round further is "
		 "asked again",
		 r->t, r->n[0]);
	about_peer(daemon, r, SL_WARN, "behind", what);
}

static void stale(struct sl_daemon *daemon, const struct sl_report *r)
{
	char model[2 * SL_HASH_BYTES + 1], what[320];
	snprintf(what, sizeof what,
		 "it stands in round %" PRIu64
		 " (its last committed model is %s) and this learner in round %u: it has been away, "
		 "or starts from an old checkpoint; its neighbours show it what it missed",
		 r->n[0], sl_reason_hash(r->hash, "the initial one", model), r->t);
	about_peer(daemon, r, SL_WARN, "stale", what);
}

static void caught_up(struct sl_daemon *daemon, const struct sl_report *r)
{
	char model[2 * SL_HASH_BYTES + 1], text[TEXT_BYTES];
	sodium_bin2hex(model, sizeof model, r->hash, SL_HASH_BYTES);
	snprintf(text, sizeof text,
		 "caught up with round %" PRIu64 " from %s (%u): %" PRIu64
		 " learners, model %.12s, signed by %" PRIu64,
		 r->n[0], member(daemon, r->peer)->name, member(daemon, r->peer)->id, r->n[1], model,
		 r->n[2]);
	sl_log(daemon->log, SL_INFO, "caught_up", text, "{s:i, s:I, s:I, s:I, s:s, s:s}", "round",
	       (int)r->n[0], "peer", (json_int_t)member(daemon, r->peer)->id, "learners", (json_int_t)r->n[1],
	       "signers", (json_int_t)r->n[2], "digest", model, "checkpoint", daemon->checkpoint);
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
		snprintf(what, sizeof what, "it signed two link states for one attempt; both are kept in %s",
			 name);
	else
		snprintf(what, sizeof what,
			 "it signed two link states for one attempt; they cannot be kept: %.128s",
			 error.text);
	about_peer(daemon, r, SL_WARN, "equivocation", what);
}

static void privacy(struct sl_daemon *daemon, const struct sl_report *r)
{
	char who[256], text[TEXT_BYTES];
	sl_reason_names(daemon, r->set, who, sizeof who);
	snprintf(text, sizeof text,
		 "round %u: since the last one %" PRIu64 " came and %" PRIu64
		 " left (%s): fewer than %llu, so the difference of the two "
		 "sums tells about them",
		 r->t, r->n[0], r->n[1], who, (unsigned long long)daemon->settings->tolerance + 2);
	sl_log_fields(daemon->log, SL_WARN, "privacy", text,
		      json_pack("{s:i, s:I, s:I, s:o}", "round", (int)r->t, "came", (json_int_t)r->n[0],
				"left", (json_int_t)r->n[1], "learners", ids(daemon, r->set)));
}

/* A released attempt is finished, whatever became of mixing (protocol 6). */
static void recovering(struct sl_daemon *daemon, const struct sl_report *r)
{
	char reason[TEXT_BYTES], text[TEXT_BYTES + 128];
	sl_reason_text(daemon, r, reason, sizeof reason);
	snprintf(text, sizeof text,
		 "round %u attempt %u goes on without mixing (%s): the masked states of all %" PRIu64
		 " learners are brought together",
		 r->t, r->a, reason, r->n[2]);
	sl_log(daemon->log, SL_WARN, "recovering", text, "{s:i, s:i, s:s, s:I}", "round", (int)r->t,
	       "attempt", (int)r->a, "reason", reason, "learners", (json_int_t)r->n[2]);
}

static void recovered(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES];
	snprintf(text, sizeof text,
		 "round %u attempt %u: the masked states of all %" PRIu64
		 " learners are here and add up, %" PRIu64 " of them from others",
		 r->t, r->a, r->n[0], r->n[1]);
	sl_log(daemon->log, SL_INFO, "recovered", text, "{s:i, s:i, s:I, s:I}", "round", (int)r->t, "attempt",
	       (int)r->a, "learners", (json_int_t)r->n[0], "fetched", (json_int_t)r->n[1]);
}

static void resumed(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES];
	snprintf(text, sizeof text,
		 "round %u attempt %u goes on where the last run of this learner was cut short: it had %s",
		 r->t, r->a,
		 r->n[0] ? "released its masked state" : "said that it is ready, and released nothing");
	sl_log(daemon->log, SL_INFO, "attempt_resumed", text, "{s:i, s:i, s:b}", "round", (int)r->t,
	       "attempt", (int)r->a, "released", r->n[0] != 0);
}

static void given_up(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES], who[SL_NAME_BYTES + 32] = "the operator has abandoned it";
	bool certified = r->peer != SL_NOBODY;
	if (certified)
		snprintf(who, sizeof who, "%s (%u) has given it up", member(daemon, r->peer)->name,
			 member(daemon, r->peer)->id);
	snprintf(text, sizeof text, "round %u attempt %u is over: %s%s", r->t, r->a, who,
		 certified ? ", so nobody can complete it" : "");
	sl_log(daemon->log, SL_WARN, "given_up", text, "{s:i, s:i, s:b}", "round", (int)r->t, "attempt",
	       (int)r->a, "abandoned", !certified);
}

static void model_invalidated(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES];
	snprintf(text, sizeof text,
		 "the masked state of this model was released in an attempt that came to nothing, and fewer "
		 "than %llu others have "
		 "signed that theirs was not: the model is trained again; the new one differs from it only "
		 "by training noise",
		 (unsigned long long)daemon->settings->tolerance + 1);
	sl_log(daemon->log, SL_WARN, "burned", text, "{s:i, s:i}", "round", (int)r->t, "attempt", (int)r->a);
}

/* The gate only warns: what it would have refused. */
static void exposed(struct sl_daemon *daemon, const struct sl_report *r)
{
	char reason[TEXT_BYTES], text[TEXT_BYTES + 64];
	sl_reason_text(daemon, r, reason, sizeof reason);
	snprintf(text, sizeof text, "round %u attempt %u goes on, since gate: warn is set: %s", r->t, r->a,
		 reason);
	sl_log(daemon->log, SL_WARN, "exposed", text, "{s:i, s:i, s:s}", "round", (int)r->t, "attempt",
	       (int)r->a, "reason", reason);
}

static void diverged(struct sl_daemon *daemon, const struct sl_report *r)
{
	char ours[2 * SL_HASH_BYTES + 1], theirs[2 * SL_HASH_BYTES + 1], what[256];
	sodium_bin2hex(ours, sizeof ours, r->hash, SL_HASH_BYTES);
	sodium_bin2hex(theirs, sizeof theirs, r->hash2, SL_HASH_BYTES);
	snprintf(what, sizeof what,
		 "its result differs: %s, here %s; nothing is averaged away, this learner stops", theirs,
		 ours);
	about_peer(daemon, r, SL_ERROR, "fatal", what);
}

static void crash_in(enum sl_phase phase)
{
	if (phase == SL_PHASE_RECOVER)
		sl_failpoint_reach(SL_FAILPOINT_RECOVERING);
	if (phase == SL_PHASE_CATCHUP)
		sl_failpoint_reach(SL_FAILPOINT_CATCHING_UP);
}

void sl_report_log(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES];
	switch (r->kind) {
	case SL_REPORT_PHASE:
		crash_in(r->phase);
		entered(daemon, r->phase);
		daemon->missing[0] = '\0';
		snprintf(text, sizeof text, "round %u attempt %u: %s", r->t, r->a, sl_phase_name(r->phase));
		sl_log(daemon->log, SL_DEBUG, "phase", text, "{s:i, s:i, s:s}", "round", (int)r->t, "attempt",
		       (int)r->a, "phase", sl_phase_name(r->phase));
		break;
	case SL_REPORT_VIEW:
		view(daemon, r);
		break;
	case SL_REPORT_CLAMPED:
		snprintf(text, sizeof text, "%" PRIu64 " parameters were clamped to clip %g", r->n[0],
			 daemon->settings->clipping_range);
		sl_log(daemon->log, SL_WARN, "clamped", text, "{s:i, s:I}", "round", (int)r->t, "count",
		       (json_int_t)r->n[0]);
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
	case SL_REPORT_RECOVERING:
		recovering(daemon, r);
		break;
	case SL_REPORT_RECOVERED:
		recovered(daemon, r);
		break;
	case SL_REPORT_RESUMED:
		resumed(daemon, r);
		break;
	case SL_REPORT_CLOSED:
		given_up(daemon, r);
		break;
	case SL_REPORT_MODEL_INVALIDATED:
		model_invalidated(daemon, r);
		break;
	case SL_REPORT_REJECTED:
		sl_events_warn(daemon, r->peer, r->word);
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
		snprintf(text, sizeof text,
			 "round %u has had all its attempts (%u): this learner ends; start it again when the "
			 "cause is mended",
			 r->t, SL_ATTEMPTS_MAX);
		sl_log(daemon->log, SL_ERROR, "fatal", text, "{s:i, s:s}", "round", (int)r->t, "reason",
		       text);
		break;
	}
}
