#include "common/core/check.h"

#include "common/base/bytes.h"
#include "common/core/attempt.h"
#include "common/core/confirm.h"
#include "common/core/emit.h"
#include "common/core/move.h"
#include "common/core/penalty.h"
#include "common/core/split.h"

static bool may_take(const struct sl_core *core, sl_round t, const uint8_t *view)
{
	bool due = core->phase == SL_PHASE_MIX || core->phase == SL_PHASE_CHECK;
	return due && sl_core_in_view(core, t, view);
}

static bool by_forest(const struct sl_core *core)
{
	return core->view.engine == SL_ENGINE_FOREST;
}

/* Pass a message of `author`, a position, on to the neighbours in tree 0 but `from`; where there is none,
 * to the linked participants but `from` and its author. */
static void pass_on(struct sl_core *core, uint32_t from, uint32_t author, const struct sl_message *message,
		    bool own)
{
	if (!by_forest(core)) {
		sl_emit_participants(core, from, core->view.members[author], message, own);
		return;
	}
	uint64_t *to = sl_emit_set(core);
	memcpy(to, core->check_near, sl_core_set_bytes(core));
	sl_bit_clear(to, from);
	if (sl_bit_count(to, sl_core_words(core)) > 0)
		sl_emit_send(core, to, message, own);
}

/* --- challenges --- */

static void take_challenge(struct sl_core *core, uint32_t position, const uint8_t *value)
{
	core->at.challenge_here[position] = true;
	core->at.challenge_count++;
	memcpy(core->at.challenges[position], value, SL_KEY_BYTES);
	core->at.progress = core->now;
}

void sl_check_challenge(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	const struct sl_challenge *c = &message->challenge;
	uint32_t author = sl_core_index(core, c->origin);
	uint8_t hash[SL_HASH_BYTES];
	if (author == UINT32_MAX || !may_take(core, c->t, c->view))
		return;
	uint32_t position = core->view.position[author];
	if (position == UINT32_MAX || core->at.challenge_here[position])
		return;
	sl_canonical_challenge(&core->config.scope, c->origin, c->value, hash);
	if (memcmp(hash, core->at.readys[position].challenge_hash, SL_HASH_BYTES) != 0) {
		sl_emit_reject(core, peer, "a challenge that its author did not sign for");
		return;
	}
	take_challenge(core, position, c->value);
	pass_on(core, peer, position, message, false);
}

/* Z is fixed: show the own challenge. */
static void reveal(struct sl_core *core)
{
	struct sl_message message = {.kind = SL_MSG_CHALLENGE};
	message.challenge.t = core->t;
	message.challenge.a = core->view.a;
	message.challenge.origin = core->view.ids[core->view.self];
	memcpy(message.challenge.view, core->view.h, SL_HASH_BYTES);
	memcpy(message.challenge.value, core->at.secrets->challenge, SL_KEY_BYTES);
	take_challenge(core, core->view.self, core->at.secrets->challenge);
	pass_on(core, core->config.self, core->view.self, &message, true);
}

void sl_check_closed(struct sl_core *core, const struct sl_job_result *result)
{
	if (!sl_confirm_take(core, result))
		return;
	core->at.fixed = true;
	if (core->phase != SL_PHASE_CHECK)
		sl_confirm_settle(core);
}

/* --- checksums --- */

/* Return the bytes of the packed checksum of one vector. */
static size_t packed_bytes(const struct sl_core *core)
{
	return sl_packed_bytes(core->at.points, core->view.field.bits);
}

/* Return what was said first of the masked state of `owner` (k = 0), or what was said otherwise (k = 1). */
static uint64_t *phi_of(const struct sl_core *core, uint32_t owner, uint32_t k)
{
	return core->at.phi + ((size_t)owner * 2 + k) * core->at.points;
}

/* `signer` says that the masked state of `owner` has these checksums: positions. */
static void compare(struct sl_core *core, uint32_t owner, uint32_t signer, const uint64_t *values)
{
	uint32_t *signers = core->at.signers[owner], k = signers[0] != SL_NOBODY;
	size_t bytes = core->at.points * sizeof *values;
	if (k == 1 && memcmp(phi_of(core, owner, 0), values, bytes) == 0)
		return;
	if (k == 1) {
		sl_bit_set(core->disputed, core->view.members[owner]);
		sl_bit_set(core->disputed, core->view.members[signer]);
	}
	if (signers[k] != SL_NOBODY)
		return;
	signers[k] = signer;
	memcpy(phi_of(core, owner, k), values, bytes);
}

/* Unpack a checksum to at.said. Return false if it is not of the field. */
static bool unpack(struct sl_core *core, const uint8_t *packed)
{
	uint32_t points = core->at.points, bits = core->view.field.bits;
	bool valid = sl_bytes_filled(packed, points, bits);
	sl_bytes_unpack(core->at.said, packed, points, bits);
	for (uint32_t k = 0; k < points; k++)
		valid = valid && core->at.said[k] < core->view.field.p;
	return valid;
}

/* Return NULL if `values` are the packed checksums of `kept` masked states, or why not. */
static const char *flaw_of(struct sl_core *core, size_t kept, const uint8_t *values, size_t size)
{
	size_t bytes = packed_bytes(core);
	if (size != kept * bytes)
		return "checksums of the wrong number";
	for (size_t k = 0; k < kept; k++)
		if (!unpack(core, values + k * bytes))
			return "a checksum that is not of the field";
	return NULL;
}

/* Take the checksums of `signer`: of its own masked state, and of those that it keeps. Return NULL, or why
 * they are not acceptable. */
static const char *take(struct sl_core *core, uint32_t signer, const uint8_t *values, size_t size)
{
	const uint32_t *neighbours = sl_graph_neighbours(&core->view.graph, signer);
	uint32_t degree = sl_graph_degree(&core->view.graph, signer);
	size_t bytes = packed_bytes(core), kept = 1;
	for (uint32_t k = 0; k < degree; k++)
		kept += sl_view_keeper(&core->view, neighbours[k], signer);
	const char *flaw = flaw_of(core, kept, values, size);
	if (flaw != NULL)
		return flaw;
	for (uint32_t k = 0; k <= degree; k++) {
		uint32_t owner = k == 0 ? signer : neighbours[k - 1];
		if (k > 0 && !sl_view_keeper(&core->view, owner, signer))
			continue;
		unpack(core, values);
		compare(core, owner, signer, core->at.said);
		values += bytes;
	}
	core->at.checksum_here[signer] = true;
	core->at.checksum_count++;
	core->at.progress = core->now;
	return NULL;
}

void sl_check_checksum(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	const struct sl_checksums *c = &message->checksums;
	uint32_t signer = sl_core_index(core, c->id);
	if (signer == UINT32_MAX || !may_take(core, c->t, c->view))
		return;
	uint32_t position = core->view.position[signer];
	if (position == UINT32_MAX || core->at.checksum_here[position])
		return;
	const char *flaw = take(core, position, c->values, c->size);
	if (flaw == NULL)
		pass_on(core, peer, position, message, false);
	else
		sl_emit_reject(core, peer, flaw);
}

void sl_check_summed(struct sl_core *core, const struct sl_job_result *result)
{
	struct sl_attempt_state *at = &core->at;
	struct sl_message message = {.kind = SL_MSG_CHECKSUM};
	struct sl_checksums *c = &message.checksums;
	size_t kept = 1;
	if (result->code != SL_OK) {
		sl_attempt_fail_by(core, sl_view_peer(&core->view, result->from), SL_REASON_BAD_STATE, false);
		return;
	}
	for (uint32_t r = 0; r < core->view.degree; r++)
		kept += sl_view_keeps(&core->view, r);
	uint8_t *packed = (uint8_t *)at->own_values; /* as large as not packed */
	for (size_t k = 0; k < kept; k++)
		sl_bytes_pack(packed + k * packed_bytes(core), result->values + k * at->points, at->points,
			      core->view.field.bits);
	at->z_values = at->own_values + kept * at->points;
	memcpy(at->z_values, result->values + kept * at->points, at->points * sizeof *at->z_values);
	c->t = core->t;
	c->a = core->view.a;
	c->id = core->view.ids[core->view.self];
	memcpy(c->view, core->view.h, SL_HASH_BYTES);
	memcpy(c->digest, at->digest, SL_HASH_BYTES);
	c->values = packed;
	c->size = kept * packed_bytes(core);
	take(core, core->view.self, c->values, c->size);
	pass_on(core, core->config.self, core->view.self, &message, true);
}

/* --- the end --- */

/* Return true if the checksums of all masked states add up to that of Z. */
static bool adds_up(const struct sl_core *core)
{
	const struct sl_attempt_state *at = &core->at;
	for (uint32_t k = 0; k < at->points; k++) {
		uint64_t sum = 0;
		for (uint32_t i = 0; i < core->view.n; i++)
			sum = sl_field_add(&core->view.field, sum, phi_of(core, i, 0)[k]);
		if (sum != at->z_values[k])
			return false;
	}
	return true;
}

/* --- disputes --- */

uint32_t sl_check_disputed(const struct sl_core *core)
{
	for (uint32_t i = 0; core->at.judging && i < core->view.n; i++)
		if (core->at.signers[i][1] != SL_NOBODY)
			return i;
	return SL_NOBODY;
}

void sl_check_judge(struct sl_core *core)
{
	uint32_t owner = sl_check_disputed(core);
	if (core->at.slots[owner] != SL_SLOT_HELD || !sl_core_has(core->at.known, owner))
		return;
	struct sl_job *job = sl_emit_job_on(core, SL_JOB_CHECKSUM, 1 + owner, &core->view);
	job->expected = core->at.seed;
	job->keys = (const uint8_t(*)[SL_KEY_BYTES])core->at.keys;
	core->at.summing = true;
}

static void believe(struct sl_core *core, uint32_t owner, const uint64_t *values)
{
	memmove(phi_of(core, owner, 0), values, core->at.points * sizeof *values);
	core->at.signers[owner][1] = SL_NOBODY;
}

bool sl_check_judged(struct sl_core *core, const uint64_t *truth)
{
	uint32_t disputed = sl_check_disputed(core);
	memset(core->failed, 0, sl_core_set_bytes(core));
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t signer = core->view.members[core->at.signers[disputed][k]];
		if (memcmp(phi_of(core, disputed, k), truth, core->at.points * sizeof *truth) == 0)
			continue;
		sl_bit_set(core->failed, signer);
		sl_emit_reject(core, signer, "a checksum that is not that of the deposit");
	}
	sl_penalty_failed(core, core->failed, SL_REASON_BAD_STATE);
	believe(core, disputed, truth);
	/* With deposits = forest two speak of each; where more do, a deposit decides again. */
	for (uint32_t i = 0; i < core->view.n && core->view.deposits_forest; i++)
		for (uint32_t k = 0; k < 2 && core->at.signers[i][1] != SL_NOBODY; k++)
			if (sl_bit(core->failed, core->view.members[core->at.signers[i][k]]))
				believe(core, i, phi_of(core, i, 1 - k));
	core->at.judging = sl_check_disputed(core) != SL_NOBODY;
	return !core->at.judging && adds_up(core);
}

static void find_missing(const struct sl_core *core, uint64_t *set)
{
	memset(set, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++)
		if (!core->at.challenge_here[i] || !core->at.checksum_here[i])
			sl_bit_set(set, core->view.members[i]);
}

enum sl_wait sl_check_awaits(const struct sl_core *core, uint64_t *set)
{
	if (core->jobs > 0)
		return SL_WAIT_ARITHMETIC;
	find_missing(core, set);
	return SL_WAIT_CHECKSUMS;
}

/* Return true if the points can be drawn, and the keys of all deposits that are kept here are known. */
static bool may_compute(const struct sl_core *core)
{
	bool may = core->at.challenge_count == core->view.n && !core->at.points_asked;
	for (uint32_t r = 0; may && r < core->view.degree; r++)
		may = !sl_view_keeps(&core->view, r) || sl_core_has(core->at.known, core->view.neighbours[r]);
	return may;
}

bool sl_check_advance(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	if (sl_attempt_split(core))
		return true;
	if (at->fixed && !at->challenge_here[core->view.self] && sl_split_excluded(core))
		reveal(core);
	if (may_compute(core)) {
		struct sl_job *job = sl_emit_job_on(core, SL_JOB_CHECKSUM, 0, &core->view);
		sl_canonical_points(&core->config.scope, core->view.h,
				    (const uint8_t(*)[SL_KEY_BYTES])at->challenges, core->view.n, at->seed);
		job->expected = at->seed;
		job->keys = (const uint8_t(*)[SL_KEY_BYTES])at->keys;
		at->points_asked = true;
	}
	if (at->checksum_count == core->view.n && at->z_values != NULL) {
		at->judging = sl_bit_count(core->disputed, sl_core_words(core)) > 0;
		if (at->judging || !adds_up(core)) {
			sl_attempt_fail(core, SL_REASON_CHECKSUM, false)->set = core->disputed;
			return true;
		}
		sl_move_to(core, SL_PHASE_CONFIRM);
		sl_confirm_settle(core);
		return true;
	}
	if (core->jobs > 0 || core->now < sl_attempt_ends_at(core))
		return false;
	find_missing(core, core->missing);
	sl_attempt_stalled(core);
	return true;
}

sl_ms sl_check_deadline(const struct sl_core *core)
{
	return core->jobs > 0 ? SL_NEVER : sl_attempt_ends_at(core);
}

void sl_check_lost(struct sl_core *core, uint32_t peer)
{
	uint32_t position = core->view.position[peer];
	bool owes = by_forest(core) ? sl_bit(core->check_near, peer)
				    : position != UINT32_MAX && !core->at.checksum_here[position];
	if (owes)
		sl_attempt_lost(core, peer);
}
