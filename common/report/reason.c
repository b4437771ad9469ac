/* Why an attempt ended, or a learner: facts of the core as one sentence. */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "daemon/learner/daemon.h"

static const struct sl_member *member(const struct sl_daemon *daemon, uint32_t index)
{
	return &daemon->roster.members[index];
}

/* "ana (2), bo (5) and 3 more" */
void sl_reason_names(const struct sl_daemon *daemon, const uint64_t *set, char *text, size_t size)
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
		int n = snprintf(text + used, size - used, "%s%s (%u)", said > 0 ? ", " : "",
				 member(daemon, i)->name, member(daemon, i)->id);
		used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
		said++;
	}
	if (left > 0)
		snprintf(text + used, size - used, " and %u more", left);
	if (said == 0)
		snprintf(text, size, "nobody");
}

static void p_bound_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	uint32_t bits = sl_engine_p_bits((enum sl_engine)daemon->core_config.parameters.mixing);
	char smaller[64] = "no sigma does";
	if (r->real >= 0)
		snprintf(smaller, sizeof smaller, "sigma at most %d would do", (int)r->real);
	if (r->n[0] == 0)
		snprintf(text, size,
			 "no prime up to 2^%u holds the sum of %" PRIu64 " models at sigma %" PRIu64
			 ": p > %" PRIu64 " is needed; lower sigma, clip or max_weight",
			 bits, r->n[3], r->n[2], r->n[1] - 1);
	else
		snprintf(text, size,
			 "p = %" PRIu64 " is too small for %" PRIu64 " learners at sigma %" PRIu64
			 ": p of at least %" PRIu64 " (and at most 2^%u), or %s",
			 r->n[0], r->n[3], r->n[2], r->n[1], bits, smaller);
}

/* What an operator calls it. */
static const char *setting(const char *parameter)
{
	return strcmp(parameter, "n") == 0		   ? "a model (setting `hidden`) of size"
	       : strcmp(parameter, "iterations_rule") == 0 ? "k_rule"
							   : parameter;
}

/* A parameter as it stands in a configuration. */
static const char *value_text(const char *parameter, uint64_t value, char text[static 32])
{
	static const char *const words[][3] = {
		{"weighted", "literal"}, {"shamir", "additive", "seeded"}, {"floor", "fixed"}};
	int kind = strcmp(parameter, "encoding") == 0	       ? 0
		   : strcmp(parameter, "sharing") == 0	       ? 1
		   : strcmp(parameter, "iterations_rule") == 0 ? 2
							       : -1;
	double clipping_range;
	memcpy(&clipping_range, &value, sizeof clipping_range);
	if (kind >= 0 && value < 3 && words[kind][value] != NULL)
		snprintf(text, 32, "%s", words[kind][value]);
	else if (strcmp(parameter, "mixing") == 0)
		snprintf(text, 32, "%s", sl_engine_name((enum sl_engine)value));
	else if (strcmp(parameter, "clipping_range") == 0)
		snprintf(text, 32, "%.15g", clipping_range);
	else
		snprintf(text, 32, "%" PRIu64, value);
	return text;
}

const char *sl_reason_hash(const uint8_t *hash, const char *none, char text[static 2 * SL_HASH_BYTES + 1])
{
	if (sodium_is_zero(hash, SL_HASH_BYTES))
		return none;
	sodium_bin2hex(text, 2 * SL_HASH_BYTES + 1, hash, SL_HASH_BYTES);
	text[12] = '\0';
	return text;
}

static void difference_text(const struct sl_report *r, const char *who, char *text, size_t size)
{
	char own[2 * SL_HASH_BYTES + 1], its[2 * SL_HASH_BYTES + 1];
	if (r->reason == SL_REASON_PARAMETER)
		snprintf(text, size, "%s has %s %s, this learner %s", who, setting(r->word),
			 value_text(r->word, r->n[1], its), value_text(r->word, r->n[0], own));
	else if (r->reason == SL_REASON_ROSTER)
		snprintf(text, size,
			 "%s has another roster: %" PRIu64 " learners (%s), here %" PRIu64
			 " (%s); compare the roster files",
			 who, r->n[1], sl_reason_hash(r->hash2, "?", its), r->n[0],
			 sl_reason_hash(r->hash, "?", own));
	else
		snprintf(text, size, "%s starts round %u from another committed model: %s, here %s", who,
			 r->t, sl_reason_hash(r->hash2, "the initial one", its),
			 sl_reason_hash(r->hash, "the initial one", own));
}

/* "3-7, 5-9 and 4 more" */
static void edges_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	size_t used = 0;
	uint32_t most = r->edge_count < 8 ? r->edge_count : 8;
	for (uint32_t e = 0; e < most && used < size; e++)
		used += (size_t)snprintf(text + used, size - used, "%s%u-%u", e > 0 ? ", " : "",
					 member(daemon, r->edges[e].a)->id,
					 member(daemon, r->edges[e].b)->id);
	if (r->n[2] > most && used < size)
		snprintf(text + used, size - used, " and %" PRIu64 " more", r->n[2] - most);
}

/* One cut vertex is enough (kappa 1): "ana (2) alone", "each of ana (2), bo (5)"; else they must act
 * together. */
static void weak_text(const struct sl_daemon *daemon, const struct sl_report *r, const char *who, char *text,
		      size_t size)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < daemon->roster.size; i++)
		count += sl_bit(r->set, i);
	if (r->n[0] > 1)
		snprintf(text, size, "%s together", who);
	else
		snprintf(text, size, count > 1 ? "each of %s" : "%s alone", who);
}

static void tolerance_text(const struct sl_daemon *daemon, const struct sl_report *r, const char *who,
			   char *text, size_t size)
{
	char edges[160] = "", weak[300];
	weak_text(daemon, r, who, weak, sizeof weak);
	edges_text(daemon, r, edges, sizeof edges);
	snprintf(text, size,
		 "this graph does not tolerate c = %" PRIu64
		 ": %s would learn sums of parts of the others; it needs %" PRIu64 " more edge%s: %s",
		 r->n[1], weak, r->n[2], r->n[2] == 1 ? "" : "s", edges);
}

/* Reasons that lie with somebody: the link, the record or the chunk of a peer. */
static bool peer_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	char who[SL_NAME_BYTES + 16];
	snprintf(who, sizeof who, "%s (%u)", member(daemon, r->peer)->name, member(daemon, r->peer)->id);
	switch (r->reason) {
	case SL_REASON_LINK:
		snprintf(text, size, "the link to %s was lost", who);
		return true;
	case SL_REASON_PARAMETER:
	case SL_REASON_ROSTER:
	case SL_REASON_HISTORY:
		difference_text(r, who, text, size);
		return true;
	case SL_REASON_EQUIVOCATION:
		snprintf(text, size, "%s signed two link states for one attempt", who);
		return true;
	case SL_REASON_SUPERSEDED:
		snprintf(text, size, "%s began attempt %" PRIu64, who, r->n[0]);
		return true;
	case SL_REASON_COMMITTED:
		snprintf(text, size, "%s has committed this round without this learner", who);
		return true;
	case SL_REASON_ABORTED:
		snprintf(text, size, "%s has given it up", who);
		return true;
	case SL_REASON_JOINED:
		snprintf(text, size, "%s brings the masked states together", who);
		return true;
	case SL_REASON_BAD_STATE:
		snprintf(text, size, "%s sent a masked state that is not of the field", who);
		return true;
	case SL_REASON_BAD_SHARE:
		snprintf(text, size, "%s sent a share that is not of the field", who);
		return true;
	default:
		return false;
	}
}

/* Reasons that lie with the view: who is missing, what the gate does not let pass. */
static bool view_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	char who[256];
	sl_reason_names(daemon, r->set, who, sizeof who);
	switch (r->reason) {
	case SL_REASON_FLOOD:
		snprintf(text, size, "no link state from %s", who);
		return true;
	case SL_REASON_ALONE:
		snprintf(text, size, "nobody in range lists this learner (a round needs %" PRIu64 ")",
			 r->n[1]);
		return true;
	case SL_REASON_QUORUM:
		snprintf(text, size,
			 "%" PRIu64 " learners are connected and the quorum is %" PRIu64 "; missing: %s",
			 r->n[0], r->n[1], who);
		return true;
	case SL_REASON_STALLED:
		snprintf(text, size, "nothing came from %s, who owed something", who);
		return true;
	case SL_REASON_P_BOUND:
		p_bound_text(daemon, r, text, size);
		return true;
	case SL_REASON_P_IDS:
		snprintf(text, size, "p = %" PRIu64 " must be larger than every id and than N: %" PRIu64,
			 r->n[0], r->n[1]);
		return true;
	case SL_REASON_WIDTH:
		snprintf(text, size,
			 "f = %" PRIu64 " fractional bits cannot hold this graph's rounding (2^f of at least "
					"%.3g is needed): "
			 "p of at most %" PRIu64 " bits would do",
			 r->n[0], r->real, r->n[1]);
		return true;
	case SL_REASON_FEW:
		snprintf(text, size,
			 "%" PRIu64 " learners are too few for c = %" PRIu64 ": with fewer than %" PRIu64
			 ", the mean itself tells c of them about the others",
			 r->n[0], r->n[1], r->n[1] + 2);
		return true;
	case SL_REASON_TOLERANCE:
		tolerance_text(daemon, r, who, text, size);
		return true;
	case SL_REASON_ITERATIONS_RULE:
		snprintf(text, size,
			 "k is fixed at %" PRIu64 ", and this graph needs K = %" PRIu64
			 ": raise k, or set k_rule: floor",
			 r->n[0], r->n[1]);
		return true;
	case SL_REASON_USED_UP:
		snprintf(text, size,
			 "this learner's masked state has left in %" PRIu64
			 " attempts of this round, and no more fit on record: it takes part again when the "
			 "round is committed",
			 r->n[0]);
		return true;
	case SL_REASON_MARGIN:
		snprintf(text, size, "rounding came within %.3f of a half; mixing's result is not taken",
			 0.5 - r->real);
		return true;
	case SL_REASON_RECORD:
		snprintf(text, size,
			 "attempt %" PRIu64 " was released, and its record is not of this roster and model: "
					    "put back what was there until "
			 "the round has committed",
			 r->n[0]);
		return true;
	case SL_REASON_RESTARTED:
		snprintf(text, size, "this learner was started again in the middle of it");
		return true;
	case SL_REASON_OPERATOR_ABORT:
		snprintf(text, size, "the operator has abandoned it");
		return true;
	case SL_REASON_ITERATIONS:
		snprintf(text, size, "this graph needs K = %" PRIu64 " iterations; the limit is %" PRIu64,
			 r->n[0], r->n[1]);
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
		snprintf(text, size, "the trained model is not finite at parameter %" PRIu64 ": %g", r->n[0],
			 r->real);
		break;
	case SL_REASON_CLIP:
		snprintf(text, size,
			 "the trained model exceeds clip %g at parameter %" PRIu64
			 ": %g (raise clip, or set clip_policy: clamp)",
			 daemon->settings->clipping_range, r->n[0], r->real);
		break;
	case SL_REASON_WEIGHT:
		snprintf(text, size,
			 "the weight %" PRIu64 " is not in 1..max_weight = %" PRIu64
			 " (raise max_weight at every learner)",
			 r->n[0], r->n[1]);
		break;
	case SL_REASON_RESULT:
		snprintf(text, size,
			 "the sum is not one of %u models within clip: somebody did not follow the protocol; "
			 "it is not taken",
			 daemon->workspace_view->n);
		break;
	default:
		snprintf(text, size, "the view does not fit the memory set aside for it");
	}
}

void sl_reason_text(const struct sl_daemon *daemon, const struct sl_report *r, char *text, size_t size)
{
	if (!peer_text(daemon, r, text, size) && !view_text(daemon, r, text, size))
		model_text(daemon, r, text, size);
}
