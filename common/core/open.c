#include "common/core/open.h"

#include <assert.h>
#include <sodium.h>

#include "common/core/aborts.h"
#include "common/core/emit.h"
#include "common/core/held.h"
#include "common/core/mix.h"
#include "common/core/penalty.h"
#include "common/core/split.h"
#include "common/field/key_share.h"
#include "common/protocol/key_tree.h"

#define SENDS_MAX 192u /* actions of a step after which no more keys are sent */

/* --- keys --- */

static bool is_known(const struct sl_core *core, uint32_t position)
{
	return sl_core_has(core->at.known, position);
}

/* Take the memory of openings. Most attempts need none; sl_core_bytes has it. */
static void take_openings(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	size_t words = sl_core_words(core);
	if (at->opening_count > 0)
		return;
	at->opening_count = (uint32_t)sl_open_most(core->view.n);
	at->openings = SL_ARENA_TAKE(&core->arena, at->opening_count, struct sl_opened);
	uint64_t *sent = SL_ARENA_TAKE(&core->arena, at->opening_count * words, uint64_t);
	assert(!core->arena.full);
	for (uint32_t k = 0; k < at->opening_count; k++)
		at->openings[k] = (struct sl_opened){.origin = SL_NOBODY, .sent = sent + k * words};
}

static void forget_openings(struct sl_core *core, uint32_t origin)
{
	for (uint32_t k = 0; k < core->at.opening_count; k++)
		if (core->at.openings[k].origin == origin)
			core->at.openings[k].origin = SL_NOBODY;
}

static void learn(struct sl_core *core, uint32_t position)
{
	struct sl_attempt_state *at = &core->at;
	sl_core_mark(at->known, position);
	at->key_count++;
	at->edition++;
	at->open_dirty = true;
	at->progress = core->now;
	if (position != core->view.self ||
	    at->released) /* a bound learner sends openings in place of its key */
		forget_openings(core, position);
	if (core->phase == SL_PHASE_MIX)
		sl_mix_key(core, position);
}

/* Learn a key if it is that of the owner's Ready. */
static bool take_key(struct sl_core *core, uint32_t position, const uint8_t *key)
{
	uint8_t hash[SL_HASH_BYTES];
	sl_canonical_key(&core->config.scope, core->view.ids[position], key, hash);
	if (memcmp(hash, core->at.readys[position].key_hash, SL_HASH_BYTES) != 0)
		return false;
	memmove(core->at.keys[position], key, SL_KEY_BYTES);
	learn(core, position);
	return true;
}

/* Return the position of learner `id` in the view, or UINT32_MAX. */
static uint32_t position_of(const struct sl_core *core, sl_id id)
{
	uint32_t i = sl_core_index(core, id);
	return i == UINT32_MAX ? UINT32_MAX : core->view.position[i];
}

/* Return true if `peer` may show what is another's. No honest participant does before a Have of this learner,
 * so each key in MIX is from its owner (ROUND.md §10.3 Keys and openings). */
static bool may_show(struct sl_core *core, uint32_t peer)
{
	if (core->phase > SL_PHASE_MIX)
		return true;
	sl_emit_reject(core, peer, "shows the key or key share of another without a request");
	return false;
}

void sl_open_key(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	const struct sl_key *key = &message->key;
	if (!sl_core_in_view(core, key->t, key->view) || core->at.keys == NULL)
		return;
	uint32_t origin = position_of(core, key->origin), from = core->view.position[peer];
	if (origin == UINT32_MAX || from == UINT32_MAX)
		return;
	sl_core_mark(core->at.holders[from].keys, origin);
	sl_split_heard(core, peer, key->readys);
	if (is_known(core, origin) || (origin != from && origin != core->view.self && !may_show(core, peer)))
		return;
	if (core->at.ready_here[origin]) {
		if (!take_key(core, origin, key->key))
			sl_emit_reject(core, peer, "a deposit key that its owner did not sign for");
	} else if (origin == from) {
		memcpy(core->at.keys[origin], key->key, SL_KEY_BYTES);
		core->at.claimed[origin] = true;
	}
}

void sl_open_ready(struct sl_core *core, uint32_t position)
{
	if (core->at.claimed[position] && !is_known(core, position))
		take_key(core, position, core->at.keys[position]);
}

static struct sl_message key_message(const struct sl_core *core, uint32_t origin)
{
	struct sl_message message = {.kind = SL_MSG_KEY};
	message.key.t = core->t;
	message.key.a = core->view.a;
	message.key.origin = core->view.ids[origin];
	memcpy(message.key.view, core->view.h, SL_HASH_BYTES);
	memcpy(message.key.key, core->at.keys[origin], SL_KEY_BYTES);
	memcpy(message.key.readys, core->at.readys_hash, SL_HASH_BYTES);
	return message;
}

void sl_open_remind(struct sl_core *core, uint32_t peer)
{
	uint32_t position = core->view_checked ? core->view.position[peer] : UINT32_MAX;
	if (position == UINT32_MAX || core->at.keys == NULL || !is_known(core, position))
		return;
	struct sl_message message = key_message(core, position);
	sl_emit_send(core, sl_emit_only(core, peer), &message, true);
}

void sl_open_release(struct sl_core *core)
{
	uint32_t self = core->view.self;
	if (!is_known(core, self))
		learn(core, self);
	core->at.released_at = core->now;
	struct sl_message message = key_message(core, self);
	sl_emit_send(core, core->view_neighbours, &message, true);
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (sl_bit(core->linked, sl_view_peer(&core->view, r)))
			sl_core_mark(core->at.holders[core->view.neighbours[r]].keys_sent, self);
}

/* --- openings --- */

static uint32_t count_of(const struct sl_core *core, uint32_t origin)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < core->at.opening_count; k++)
		count += core->at.openings[k].origin == origin;
	return count;
}

/* Return the opening, or a free place for it, or NULL. */
static struct sl_opened *place_of(const struct sl_core *core, uint32_t origin, sl_id holder)
{
	struct sl_opened *place = NULL;
	for (uint32_t k = 0; k < core->at.opening_count; k++) {
		struct sl_opened *o = &core->at.openings[k];
		if (o->origin == origin && o->holder == holder)
			return o;
		if (o->origin == SL_NOBODY && place == NULL)
			place = o;
	}
	return place;
}

/* Compute the key of `origin` if there are openings enough. */
static void combine(struct sl_core *core, uint32_t origin)
{
	uint32_t theta = sl_view_threshold(&core->view, origin), count = 0;
	uint8_t key[SL_KEY_BYTES];
	if (count_of(core, origin) < theta)
		return;
	for (uint32_t k = 0; k < core->at.opening_count && count < theta; k++) {
		const struct sl_opened *o = &core->at.openings[k];
		if (o->origin != origin)
			continue;
		core->at.combine_ids[count] = o->holder;
		memcpy(core->at.combine[count++], o->share.bytes, SL_KEY_SHARE_BYTES);
	}
	int rc = sl_key_share_combine(core->at.combine_ids,
				      (const uint8_t(*)[SL_KEY_SHARE_BYTES])core->at.combine, theta, key);
	if (rc != SL_OK || !take_key(core, origin, key)) {
		sl_emit_reject(core, core->view.members[origin],
			       "key shares that do not give the deposit key it signed for");
		sl_penalty_lied(core, core->view.members[origin]);
	}
	sodium_memzero(key, sizeof key);
}

/* Keep a valid opening. `from`: the peer that sent it, or the own index. */
static void keep(struct sl_core *core, uint32_t origin, sl_id holder, const uint8_t *share, size_t size,
		 uint32_t from)
{
	take_openings(core);
	struct sl_opened *o = place_of(core, origin, holder);
	if (o == NULL)
		return;
	if (o->origin != SL_NOBODY) {
		sl_bit_set(o->sent, from);
		return;
	}
	o->origin = origin;
	o->holder = holder;
	o->share.size = (uint32_t)size;
	memcpy(o->share.bytes, share, size);
	memset(o->sent, 0, sl_core_set_bytes(core));
	sl_bit_set(o->sent, from);
	core->at.open_dirty = true;
	core->at.progress = core->now;
	combine(core, origin);
}

/* Return true if the share leads to the root in the Ready of `origin`, as that of `holder`. */
static bool is_valid(const struct sl_core *core, uint32_t origin, uint32_t holder, const uint8_t *share,
		     size_t size)
{
	const struct sl_graph *graph = &core->view.graph;
	const uint32_t *holders = sl_graph_neighbours(graph, origin);
	uint32_t count = sl_graph_degree(graph, origin), r = 0;
	while (r < count && holders[r] != holder)
		r++;
	return r < count && size == sl_key_tree_share_bytes(count) &&
	       sl_key_tree_check(&core->config.scope, core->view.t, core->view.a, core->view.ids[origin],
				 core->view.ids[holder], r, count, share, share + SL_KEY_SHARE_BYTES,
				 size - SL_KEY_SHARE_BYTES, core->at.readys[origin].share_root);
}

bool sl_open_share_fits(const struct sl_core *core, uint32_t r)
{
	const struct sl_held_share *share = &core->at.secrets->shares[r];
	return is_valid(core, core->view.neighbours[r], core->view.self, share->bytes, share->size);
}

void sl_open_opening(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	const struct sl_opening *o = &message->opening;
	if (!sl_core_in_view(core, o->t, o->view) || core->at.keys == NULL)
		return;
	uint32_t origin = position_of(core, o->origin), holder = position_of(core, o->holder);
	if (origin == UINT32_MAX || holder == UINT32_MAX || is_known(core, origin) ||
	    !core->at.ready_here[origin] || !may_show(core, peer))
		return;
	if (is_valid(core, origin, holder, o->share, o->size))
		keep(core, origin, o->holder, o->share, o->size, peer);
	else
		sl_emit_reject(core, peer, "an opening that its owner did not sign for");
}

/* Return the time at which the key share of neighbour `r` is shown; SL_NEVER: not at all. */
static sl_ms opens_at(const struct sl_core *core, uint32_t r)
{
	uint32_t position = core->view.neighbours[r];
	bool shown = core->exchange[r].opened || is_known(core, position);
	if (!core->at.released || shown || core->at.keys == NULL || core->at.secrets->shares[r].size == 0)
		return SL_NEVER;
	uint32_t said = sl_aborts_said(core, core->view.members[position], core->view.a);
	return (said & SL_ABORT_UNRELEASED) != 0 ? 0 : core->at.released_at + core->config.stall_timeout_ms;
}

static void open_due(struct sl_core *core)
{
	for (uint32_t r = 0; r < core->view.degree; r++) {
		const struct sl_held_share *share = &core->at.secrets->shares[r];
		if (core->now < opens_at(core, r))
			continue;
		core->exchange[r].opened = true;
		if (sl_open_share_fits(core, r))
			keep(core, core->view.neighbours[r], core->view.ids[core->view.self], share->bytes,
			     share->size, core->config.self);
	}
}

/* --- what others lack --- */

static bool lacks(const struct sl_holder *holder, uint32_t origin)
{
	return !sl_core_has(holder->keys, origin) && !sl_core_has(holder->keys_sent, origin);
}

static void send_opening(struct sl_core *core, uint32_t peer, const struct sl_opened *o)
{
	struct sl_message message = {.kind = SL_MSG_OPENING};
	message.opening.t = core->t;
	message.opening.a = core->view.a;
	message.opening.origin = core->view.ids[o->origin];
	message.opening.holder = o->holder;
	message.opening.share = o->share.bytes;
	message.opening.size = o->share.size;
	memcpy(message.opening.view, core->view.h, SL_HASH_BYTES);
	sl_emit_send(core, sl_emit_only(core, peer), &message, true);
}

/* Send `peer` the Ready of `origin`, unless it is known to have it: it ignores a key that it cannot check. */
static void show_ready(struct sl_core *core, uint32_t peer, uint32_t origin)
{
	uint32_t signer = core->view.members[origin];
	const struct sl_ready_record *rr = &core->readys[signer];
	struct sl_message message = {.kind = SL_MSG_READY, .ready = core->at.readys[origin]};
	bool flooded = rr->record.present && rr->ready.t == core->t && rr->ready.a == core->view.a;
	if (flooded && sl_held_there(core, SL_MSG_READY, signer, peer))
		return;
	if (flooded)
		sl_held_set(core, SL_MSG_READY, signer, peer, true);
	sl_emit_send(core, sl_emit_only(core, peer), &message, origin == core->view.self);
}

/* Return false if the step has no room left. A bound learner does not send its own key. */
static bool supply(struct sl_core *core, uint32_t position)
{
	struct sl_holder *holder = &core->at.holders[position];
	uint32_t peer = core->view.members[position];
	for (uint32_t i = 0; i < core->view.n; i++) {
		if (!is_known(core, i) || !lacks(holder, i) || (i == core->view.self && !core->at.released))
			continue;
		if (core->out->count > SENDS_MAX)
			return false;
		show_ready(core, peer, i);
		struct sl_message message = key_message(core, i);
		sl_emit_send(core, sl_emit_only(core, peer), &message, true);
		sl_core_mark(holder->keys_sent, i);
	}
	for (uint32_t k = 0; k < core->at.opening_count; k++) {
		struct sl_opened *o = &core->at.openings[k];
		if (o->origin == SL_NOBODY || sl_bit(o->sent, peer) || !lacks(holder, o->origin))
			continue;
		if (core->out->count > SENDS_MAX)
			return false;
		show_ready(core, peer, o->origin);
		send_opening(core, peer, o);
		sl_bit_set(o->sent, peer);
	}
	return true;
}

void sl_open_link(struct sl_core *core, uint32_t position)
{
	struct sl_holder *holder = &core->at.holders[position];
	holder->heard = false;
	memset(holder->held, 0, 3 * sl_core_held_bytes(&core->view));
	for (uint32_t k = 0; k < core->at.opening_count; k++)
		sl_bit_clear(core->at.openings[k].sent, core->view.members[position]);
	core->at.open_dirty = true;
}

void sl_open_advance(struct sl_core *core)
{
	open_due(core);
	if (!core->at.open_dirty || core->at.keys == NULL)
		return;
	core->at.open_dirty = false;
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->at.holders[i].heard && sl_bit(core->linked, core->view.members[i]) &&
		    !supply(core, i)) {
			core->at.open_dirty = true; /* the rest in the next step */
			return;
		}
}

sl_ms sl_open_deadline(const struct sl_core *core)
{
	sl_ms due = core->at.open_dirty ? core->now : SL_NEVER;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		sl_ms at = opens_at(core, r);
		due = at < due ? at : due;
	}
	return due;
}
