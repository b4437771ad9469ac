#include "common/report/reason.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/field/field.h"
#include "common/report/privacy_text.h"

#define NAMED_MOST 8u

/* ---- parts of sentences ---- */

const char *sl_reason_who(const struct sl_roster *roster, uint32_t index, char text[static SL_WHO_BYTES])
{
	if (index < roster->size)
		snprintf(text, SL_WHO_BYTES, "%s (%" PRIu32 ")", roster->members[index].name,
			 roster->members[index].id);
	else
		snprintf(text, SL_WHO_BYTES, "a learner outside the roster");
	return text;
}

const char *sl_reason_names(const struct sl_roster *roster, const uint64_t *set, char *text, size_t size)
{
	char who[SL_WHO_BYTES];
	size_t used = 0;
	uint32_t count = 0;
	snprintf(text, size, "none");
	for (uint32_t i = 0; i < roster->size; i++) {
		if (set == NULL || !sl_bit(set, i) || count++ >= NAMED_MOST || used >= size)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
					 sl_reason_who(roster, i, who));
	}
	if (count > NAMED_MOST && used < size)
		snprintf(text + used, size - used, " and %" PRIu32 " more", count - NAMED_MOST);
	return text;
}

static const char *start_them(const struct sl_roster *roster, const uint64_t *set)
{
	bool one = set != NULL && sl_bit_count(set, sl_bit_words(roster->size)) == 1;
	return one ? "start it, or check its links" : "start them, or check their links";
}

void sl_reason_absent(const struct sl_roster *roster, uint32_t connected, uint64_t quorum,
		      const uint64_t *missing, char *text, size_t size)
{
	char names[256];
	snprintf(text, size,
		 "%" PRIu32 " of %" PRIu32 " learners %s connected, and the quorum is %" PRIu64
		 "; missing: %s: %s",
		 connected, roster->size, connected == 1 ? "is" : "are", quorum,
		 sl_reason_names(roster, missing, names, sizeof names), start_them(roster, missing));
}

void sl_reason_unlinked(const struct sl_roster *roster, const uint64_t *unlinked, char *text, size_t size)
{
	char names[256];
	snprintf(text, size, "not connected: %s: %s", sl_reason_names(roster, unlinked, names, sizeof names),
		 start_them(roster, unlinked));
}

const char *sl_reason_digest(const uint8_t *hash, const char *none, char text[static SL_DIGEST_TEXT_BYTES])
{
	if (sodium_is_zero(hash, SL_HASH_BYTES))
		return none;
	sodium_bin2hex(text, SL_DIGEST_TEXT_BYTES, hash, SL_HASH_BYTES);
	text[12] = '\0';
	return text;
}

/* ---- reasons that concern the graph or the modulus ---- */

static void p_bound_text(const struct sl_report *r, char *text, size_t size)
{
	uint64_t p = r->why.p_bound.p, prime = sl_field_prime_from(r->why.p_bound.least);
	uint32_t bits = r->why.p_bound.bits_most;
	bool model = r->why.p_bound.values == SL_VALUES_MODEL;
	bool exact = r->why.p_bound.values == SL_VALUES_EXACT;
	const char *digits = model ? "decimals" : exact ? "bits" : "update_bits";
	char fewer[64] = "", larger[64] = "";
	if (sl_values_are_noisy(r->why.p_bound.values) && p >> bits == 0) {
		snprintf(larger, sizeof larger, "modulus %" PRIu64 " is too small to hold", p);
		snprintf(fewer, sizeof fewer, "no modulus below 2^%" PRIu32 " holds", bits);
		snprintf(text, size, "%s the sum of %" PRIu32 " vectors and their noise: %s",
			 p != 0 ? larger : fewer, r->why.p_bound.learners,
			 p != 0 ? "leave modulus at auto" : "lower clipping_range or dp_noise");
		return;
	}
	if (r->why.p_bound.digits_most >= 0 && !exact)
		snprintf(fewer, sizeof fewer, "lower %s to %d", digits, r->why.p_bound.digits_most);
	if (prime != 0 && prime >> bits == 0)
		snprintf(larger, sizeof larger, "raise it to a prime of at least %" PRIu64, prime);
	if (p >> bits != 0)
		snprintf(text, size,
			 "modulus %" PRIu64 " is too large: the engine takes one below 2^%" PRIu32, p, bits);
	else if (p == 0)
		snprintf(text, size,
			 "no prime below 2^%" PRIu32 " can hold the sum of %" PRIu32 " models with %" PRIu64
			 " %s: lower %s%s or max_weight",
			 bits, r->why.p_bound.learners, r->why.p_bound.digits, digits, digits,
			 model ? ", clipping_range" : "");
	else
		snprintf(text, size,
			 "modulus %" PRIu64 " is too small to hold the sum of %" PRIu32
			 " models with %" PRIu64 " %s: %s%s%s",
			 p, r->why.p_bound.learners, r->why.p_bound.digits, digits, larger,
			 *larger != '\0' && *fewer != '\0' ? ", or " : "",
			 *larger == '\0' && *fewer == '\0' ? "lower clipping_range or max_weight" : fewer);
}

/* Describe a refusal of the privacy check; `names` names the learners of the report's set. */
static void privacy_text(const struct sl_roster *roster, const struct sl_report *r, const char *names,
			 char *text, size_t size)
{
	struct sl_edge links[SL_ADVICE_MAX];
	bool few = r->reason == SL_REASON_FEW;
	struct sl_privacy_refusal refusal = {.privacy = few ? SL_PRIVACY_FEW : SL_PRIVACY_CUT,
					     .pruned = r->reason == SL_REASON_PRUNED,
					     .learners = r->why.tolerance.learners,
					     .kappa = r->why.tolerance.kappa,
					     .c = r->why.tolerance.tolerance,
					     .cut = names,
					     .links = links,
					     .link_count = r->why.tolerance.edge_count,
					     .missing = r->why.tolerance.missing};
	for (uint32_t i = 0; !few && i < roster->size; i++)
		refusal.cut_count += sl_bit(r->set, i);
	for (uint32_t e = 0; e < refusal.link_count; e++) {
		const struct sl_edge *edge = &r->why.tolerance.edges[e];
		links[e] = (struct sl_edge){roster->members[edge->a].id, roster->members[edge->b].id};
	}
	sl_privacy_text(&refusal, text, size);
}

/* ---- reasons that concern one peer ---- */

static void model_text(const struct sl_report *r, const char *who, char *text, size_t size)
{
	static const char *const values[] = {[SL_VALUES_MODEL] = "models with decimals",
					     [SL_VALUES_UPDATE] = "updates",
					     [SL_VALUES_EXACT] = "exact models",
					     [SL_VALUES_NOISY] = "models with noise",
					     [SL_VALUES_NOISY_UPDATE] = "updates with noise"};
	if (r->why.other.own_n != r->why.other.their_n)
		snprintf(text, size,
			 "%s has a model of size %" PRIu64 ", this learner one of size %" PRIu64
			 "; start the same program with the same settings at all learners",
			 who, r->why.other.their_n, r->why.other.own_n);
	else if (r->why.other.model)
		snprintf(
			text, size,
			"%s has another model: start the same program with the same settings at all learners",
			who);
	else
		snprintf(
			text, size,
			"%s averages %s, this learner %s: start programs that ask for the same values at all "
			"learners",
			who, values[r->why.other.their_values], values[r->why.other.own_values]);
}

static void difference_text(const struct sl_report *r, const char *who, char *text, size_t size)
{
	char own[SL_DIGEST_TEXT_BYTES], theirs[SL_DIGEST_TEXT_BYTES];
	if (r->reason == SL_REASON_OTHER_MODEL)
		model_text(r, who, text, size);
	else if (r->reason == SL_REASON_ROSTER)
		snprintf(text, size,
			 "%s has another roster or other shared settings: %" PRIu32
			 " learners (%s), here %" PRIu32
			 " (%s); compare roster.yaml, and starlingd.yaml if the roster has no settings",
			 who, r->why.roster.their_size, sl_reason_digest(r->why.roster.theirs, "?", theirs),
			 r->why.roster.own_size, sl_reason_digest(r->why.roster.own, "?", own));
	else if (memcmp(r->why.history.theirs, r->why.history.own, SL_HASH_BYTES) == 0)
		snprintf(text, size,
			 "%s begins with another initial model, and dp with values: update needs the same "
			 "one: start from one file, or from one seed",
			 who);
	else
		snprintf(text, size,
			 "%s starts round %" PRIu32
			 " from another committed model: %s, here %s; the one whose "
			 "state folder is moved away takes the model of the others",
			 who, r->t, sl_reason_digest(r->why.history.theirs, "the initial one", theirs),
			 sl_reason_digest(r->why.history.own, "the initial one", own));
}

/* ---- all reasons ---- */

/* Sentences that name nothing but learners: the text before and after them. */
static const struct {
	const char *before;
	enum { NONE, PEER, SET } named;
	const char *after;
} around[] = {
	[SL_REASON_LINK] = {"the link to ", PEER, " was lost"},
	[SL_REASON_FLOOD] = {"timed out waiting for the link state of ", SET,
			     ": out of reach, or waiting for another learner itself"},
	[SL_REASON_CHECKSUM] = {"a sum that was passed on in mixing is wrong; checksums that differ are of ",
				SET, ""},
	[SL_REASON_STALLED] = {"timed out waiting for data from ", SET, ""},
	[SL_REASON_SLOW] = {"much slower than the others: ", SET, ""},
	[SL_REASON_EQUIVOCATION] = {"", PEER, " signed two different link states for one attempt"},
	[SL_REASON_COMMITTED] = {"", PEER, " says that it has committed this round without this learner"},
	[SL_REASON_ABORTED] = {"", PEER, " has aborted the attempt"},
	[SL_REASON_MUTE] = {"", PEER, " is connected and says nothing: its program may hang"},
	[SL_REASON_JOINED] = {"", PEER, " is recovering the attempt already"},
	[SL_REASON_READYS] = {"", PEER,
			      " says that it holds other Readys of the attempt: a participant has signed "
			      "two, or this is false"},
	[SL_REASON_BAD_STATE] = {"", PEER, " sent a sum with a value outside the field"},
	[SL_REASON_BAD_DEPOSIT] = {"", PEER, " gave a deposit or a key share that does not match its Ready"},
	[SL_REASON_BAD_SHARE] = {"", PEER, " sent a share with a value outside the field"},
	[SL_REASON_MEMBERSHIP] =
		{"with the sums that were seen, this one would tell sums over few learners: ", SET,
		 " (membership_change); take them back, or admit or remove more at once"},
	[SL_REASON_INITIAL] =
		{"the learners begin with different models, or one has changed a tensor beyond its first "
		 "range: the first round averages whole models",
		 NONE, ""},
	[SL_REASON_WEIGHTLESS] =
		{"the weights of all learners are 0: one at least must have a weight above 0", NONE, ""},
	[SL_REASON_RESTARTED] = {"this learner was restarted during the attempt", NONE, ""},
	[SL_REASON_OPERATOR_ABORT] = {"the operator has aborted the attempt", NONE, ""},
	[SL_REASON_MEMORY] = {"the view does not fit the memory reserved for it", NONE, ""},
};
static_assert(sizeof around / sizeof *around == SL_REASON_MEMORY + 1, "a row for each reason");

/* Write a reason that lies in this learner's own records, model or sum. */
static void own_text(const struct sl_report *r, char *text, size_t size)
{
	switch (r->reason) {
	case SL_REASON_MARGIN:
		snprintf(text, size,
			 "rounding margin too small (%.3f from a tie); the exact sum is recovered instead",
			 0.5 - r->why.margin.distance);
		break;
	case SL_REASON_RECORD:
		snprintf(text, size,
			 "attempt %" PRIu32
			 " is open, and its record is damaged or belongs to another roster or model: put "
			 "back the earlier roster and settings until the round is committed",
			 r->why.attempt.a);
		break;
	case SL_REASON_MODEL:
		snprintf(text, size,
			 "the trained model is not finite at parameter %" PRIu64
			 ": %g; check the training data and settings",
			 r->why.model.index, r->why.model.value);
		break;
	case SL_REASON_CLIP:
		if (r->why.model.exact)
			snprintf(text, size,
				 "the trained model has %g at parameter %" PRIu64
				 ", which is too large to be averaged exactly: scale it down",
				 r->why.model.value, r->why.model.index);
		else
			snprintf(text, size,
				 "the trained model exceeds clipping_range %g at parameter %" PRIu64
				 ": %g; raise clipping_range, or set clipping: clamp",
				 r->why.model.clipping_range, r->why.model.index, r->why.model.value);
		break;
	case SL_REASON_ZEROED:
		snprintf(text, size,
			 "trained, and rounded to 0 as a whole by all learners in each of the last three "
			 "rounds: %s at all learners, or set rounded_to_zero: warn",
			 r->why.model.exact ? "scale it up" : "raise decimals");
		break;
	case SL_REASON_WEIGHT:
		if (r->why.weight.weight == 0)
			snprintf(text, size, "weight 0 needs a max_weight of at least 2 at every learner");
		else
			snprintf(text, size,
				 "weight %" PRIu64 " is above max_weight, %" PRIu64
				 "; raise max_weight at every learner",
				 r->why.weight.weight, r->why.weight.most);
		break;
	case SL_REASON_RESULT:
		snprintf(text, size,
			 "the data of a participant make the sum implausible: it is not one of %" PRIu32
			 " models within clipping_range; which participant cannot be told; the sum is "
			 "discarded; if every attempt ends so, take tolerance + 2 learners at a time "
			 "out of the roster, until one does not",
			 r->why.result.learners);
		break;
	default:
		assert(false && "a reason without a sentence");
	}
}

/* Write the reason that `around` leaves out; `who` names the peer, `names` the learners of the set. */
static void one_text(const struct sl_roster *roster, const struct sl_report *r, const char *who,
		     const char *names, char *text, size_t size)
{
	switch (r->reason) {
	case SL_REASON_ALONE:
		snprintf(text, size,
			 "no learner in range lists this one; a round needs %" PRIu64
			 " learners: start others, or check their links",
			 r->why.quorum.quorum);
		break;
	case SL_REASON_QUORUM:
		sl_reason_absent(roster, r->why.quorum.learners, r->why.quorum.quorum, r->set, text, size);
		break;
	case SL_REASON_P_BOUND:
		p_bound_text(r, text, size);
		break;
	case SL_REASON_ELEMENTS:
		snprintf(text, size,
			 "a round that averages whole models would send %" PRIu64
			 " elements, more than %llu: let all learners state the same initial model before "
			 "they "
			 "train",
			 r->why.elements.count, SL_ELEMENTS_MAX);
		break;
	case SL_REASON_P_IDS:
		snprintf(text, size,
			 "modulus %" PRIu64
			 " is not larger than the number of learners and every id: raise it above %" PRIu64,
			 r->why.p_ids.p, r->why.p_ids.largest);
		break;
	case SL_REASON_WIDTH:
		snprintf(text, size,
			 "%" PRIu32 " fractional bits are too few for the rounding on this graph (2^g of at "
			 "least %.3g is needed): set a modulus of at most %" PRIu32 " bits",
			 r->why.width.fraction, r->why.width.need, r->why.width.p_bits_most);
		break;
	case SL_REASON_ITERATIONS:
		snprintf(text, size,
			 "this graph needs %" PRIu64 " iterations and the limit is %" PRIu64
			 ": add links, or set mixing: exact",
			 r->why.iterations.need, r->why.iterations.limit);
		break;
	case SL_REASON_ITERATIONS_RULE:
		snprintf(text, size,
			 "iterations is fixed at %" PRIu64 " and this graph needs %" PRIu64
			 ": raise iterations, or set iterations_rule: at_least",
			 r->why.iterations.limit, r->why.iterations.need);
		break;
	case SL_REASON_FEW:
	case SL_REASON_TOLERANCE:
	case SL_REASON_PRUNED:
		privacy_text(roster, r, names, text, size);
		break;
	case SL_REASON_SUPERSEDED:
		snprintf(text, size, "%s started attempt %" PRIu32, who, r->why.attempt.a);
		break;
	case SL_REASON_OTHER_MODEL:
	case SL_REASON_ROSTER:
	case SL_REASON_HISTORY:
		difference_text(r, who, text, size);
		break;
	default:
		own_text(r, text, size);
	}
}

void sl_reason_text(const struct sl_roster *roster, const struct sl_report *report, char *text, size_t size)
{
	char who[SL_WHO_BYTES], names[256];
	sl_reason_who(roster, report->peer, who);
	sl_reason_names(roster, report->set, names, sizeof names);
	if (around[report->reason].before == NULL) {
		one_text(roster, report, who, names, text, size);
		return;
	}
	const char *const named[] = {[NONE] = "", [PEER] = who, [SET] = names};
	snprintf(text, size, "%s%s%s", around[report->reason].before, named[around[report->reason].named],
		 around[report->reason].after);
}
