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

/* "ana (2), bo (5) and 3 more" */
static void names(const struct sl_daemon *daemon, const uint64_t *set, char *text, size_t size)
{
	size_t used = 0;
	uint32_t said = 0, left = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < daemon->roster.size; i++) {
		if (set == NULL || !sl_bit(set, i))
			continue;
		if (said == 8) {
			left++;
			continue;
		}
		int n = snprintf(text + used, size - used, "%s%s (%u)", said > 0 ? ", " : "", member(daemon, i)->name,
				 member(daemon, i)->id);
		used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
		said++;
	}
	if (left > 0)
		snprintf(text + used, size - used, " and %u more", left);
	if (said == 0)
		snprintf(text, size, "nobody");
}

static json_t *ids(const struct sl_daemon *daemon, const uint64_t *set)
{
	json_t *array = json_array();
	for (uint32_t i = 0; set != NULL && i < daemon->roster.size; i++)
		if (sl_bit(set, i))
			json_array_append_new(array, json_integer(member(daemon, i)->id));
	return array;
}

static void p_bound_text(const struct sl_report *r, char *text, size_t size)
{
	char smaller[64] = "no sigma does";
	if (r->real >= 0)
		snprintf(smaller, sizeof smaller, "sigma at most %d would do", (int)r->real);
	if (r->n[0] == 0)
		snprintf(text, size,
			 "no prime up to 2^44 holds the sum of %" PRIu64 " models at sigma %" PRIu64 ": p > %" PRIu64
			 " is needed; lower sigma, clip or max_weight",
			 r->n[3], r->n[2], r->n[1] - 1);
	else
		snprintf(text, size,
			 "p = %" PRIu64 " is too small for %" PRIu64 " learners at sigma %" PRIu64 ": p of at least %" PRIu64
			 " (and at most 2^44), or %s",
			 r->n[0], r->n[3], r->n[2], r->n[1], smaller);
}

/* What an operator calls it. */
static const char *setting(const char *parameter)
{
	return strcmp(parameter, "n") == 0 ? "a model (setting `hidden`) of size" : parameter;
}

/* Reasons that lie with somebody: the link, the record or the chunk of a peer. */
static bool peer_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	const char *name = member(daemon, r->peer)->name;
	sl_id id = member(daemon, r->peer)->id;
	switch (r->reason) {
	case SL_REASON_LINK:
		snprintf(text, size, "the link to %s (%u) was lost", name, id);
		return true;
	case SL_REASON_PARAMETER:
		snprintf(text, size, "%s (%u) has %s %" PRIu64 ", this learner %" PRIu64, name, id, setting(r->word), r->n[1],
			 r->n[0]);
		return true;
	case SL_REASON_HISTORY:
		snprintf(text, size, "%s (%u) starts from another committed model", name, id);
		return true;
	case SL_REASON_EQUIVOCATION:
		snprintf(text, size, "%s (%u) signed two link states for one attempt", name, id);
		return true;
	case SL_REASON_SUPERSEDED:
		snprintf(text, size, "%s (%u) began attempt %" PRIu64, name, id, r->n[0]);
		return true;
	case SL_REASON_BAD_SHARE:
		snprintf(text, size, "%s (%u) sent a share that is not of the field", name, id);
		return true;
	default:
		return false;
	}
}

/* Reasons that lie with the view: who is missing, what the gate does not let pass. */
static bool view_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	char who[256];
	names(daemon, r->set, who, sizeof who);
	switch (r->reason) {
	case SL_REASON_FLOOD:
		snprintf(text, size, "no link state from %s", who);
		return true;
	case SL_REASON_ALONE:
		snprintf(text, size, "nobody in range lists this learner (a round needs %" PRIu64 ")", r->n[1]);
		return true;
	case SL_REASON_QUORUM:
		snprintf(text, size, "%" PRIu64 " learners are connected and the quorum is %" PRIu64 "; missing: %s", r->n[0], r->n[1],
			 who);
		return true;
	case SL_REASON_STALLED:
		snprintf(text, size, "nothing came from %s, who owed something", who);
		return true;
	case SL_REASON_P_BOUND:
		p_bound_text(r, text, size);
		return true;
	case SL_REASON_P_IDS:
		snprintf(text, size, "p = %" PRIu64 " must be larger than every id and than N: %" PRIu64, r->n[0], r->n[1]);
		return true;
	case SL_REASON_WIDTH:
		snprintf(text, size,
			 "f = %" PRIu64 " fractional bits cannot hold this graph's rounding (2^f of at least %.3g is needed): "
			 "p of at most %" PRIu64 " bits would do",
			 r->n[0], r->real, r->n[1]);
		return true;
	case SL_REASON_ITERATIONS:
		snprintf(text, size, "this graph needs K = %" PRIu64 " iterations; the limit is %" PRIu64, r->n[0], r->n[1]);
		return true;
	default:
		return false;
	}
}

/* Reasons that lie with this learner's model, or with the result: they end it. */
static void model_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	switch (r->reason) {
	case SL_REASON_MODEL:
		snprintf(text, size, "the trained model is not finite at parameter %" PRIu64 ": %g", r->n[0], r->real);
		break;
	case SL_REASON_CLIP:
		snprintf(text, size,
			 "the trained model exceeds clip %g at parameter %" PRIu64 ": %g (raise clip, or set clip_policy: clamp)",
			 daemon->settings->clip, r->n[0], r->real);
		break;
	case SL_REASON_WEIGHT:
		snprintf(text, size, "the weight %" PRIu64 " is not in 1..max_weight = %" PRIu64 " (raise max_weight at every learner)",
			 r->n[0], r->n[1]);
		break;
	case SL_REASON_RESULT:
		snprintf(text, size,
			 "the sum is not one of %u models within clip: somebody did not follow the protocol; it is not taken",
			 daemon->vault_view.n);
		break;
	case SL_REASON_MARGIN:
		snprintf(text, size, "rounding came within %.3f of a half; the result is not taken", 0.5 - r->real);
		break;
	default:
		snprintf(text, size, "the view does not fit the memory set aside for it");
	}
}

static void reason_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	if (!peer_text(daemon, r, text, size) && !view_text(daemon, r, text, size))
		model_text(daemon, r, text, size);
}

static void failed(struct sl_daemon *daemon, const struct sl_report *r)
{
	char reason[TEXT_BYTES], text[TEXT_BYTES + 64];
	reason_text(daemon, r, reason, sizeof reason);
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

static void view(struct sl_daemon *daemon, const struct sl_report *r)
{
	char text[TEXT_BYTES];
	uint32_t bits = 64u - (uint32_t)__builtin_clzll(r->n[3]);
	snprintf(text, sizeof text,
		 "round %u attempt %u: %" PRIu64 " learners, %" PRIu64 " edges, mu %.4f, K %" PRIu64 ", p %" PRIu64, r->t, r->a,
		 r->n[0], r->n[1], r->real, r->n[2], r->n[3]);
	sl_log(daemon->log, SL_INFO, "view", text, "{s:i, s:i, s:I, s:I, s:f, s:I, s:I, s:i}", "round", (int)r->t, "attempt",
	       (int)r->a, "learners", (json_int_t)r->n[0], "edges", (json_int_t)r->n[1], "mu", r->real, "k",
	       (json_int_t)r->n[2], "p", (json_int_t)r->n[3], "f", (int)sl_fraction_bits(bits));
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
	       "{s:i, s:i, s:I, s:I, s:f, s:I, s:f, s:I, s:s, s:s, s:f, s:f, s:I, s:I}", "round", (int)r->t, "attempt",
	       (int)r->a, "learners", (json_int_t)r->n[0], "edges", (json_int_t)r->n[1], "mu", daemon->vault_view.mu, "k",
	       (json_int_t)r->n[2], "margin", r->real, "total_weight", (json_int_t)r->n[3], "digest", digest, "checkpoint",
	       daemon->checkpoint, "aggregate_s", (double)r->elapsed / 1000.0, "train_s", last->train_s,
	       "round_bytes_sent", (json_int_t)(now.bytes_sent - last->bytes_sent), "round_bytes_received",
	       (json_int_t)(now.bytes_received - last->bytes_received));
	last->bytes_sent = now.bytes_sent;
	last->bytes_received = now.bytes_received;
}

static void waiting(struct sl_daemon *daemon, const struct sl_report *r)
{
	char who[256], text[TEXT_BYTES];
	names(daemon, r->set, who, sizeof who);
	const char *what = r->phase == SL_PHASE_DISCOVER ? "to be ready"
			   : r->phase == SL_PHASE_READY	 ? "to hold its shares"
			   : r->phase == SL_PHASE_SETTLE ? "to send its digest"
							 : "";
	if (r->set == NULL)
		snprintf(text, sizeof text, "round %u: waiting to be told who is in range", r->t);
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
	char what[400];
	snprintf(what, sizeof what,
		 "round %u was committed without this learner (it is in round %" PRIu64
		 "). This version cannot catch up by itself: end this learner, copy state/round-%06" PRIu64
		 ".safetensors from that one (the file is the same everywhere) into its state folder, and start it again",
		 r->t, r->n[0], r->n[0] - 1);
	about_peer(daemon, r, SL_WARN, "behind", what);
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
