#include "common/core/relay.h"

#include <assert.h>

#include "common/core/emit.h"
#include "common/core/held.h"
#include "common/core/overlay.h"
#include "common/core/spare.h"

#define RESERVE 192u /* actions of a step that a pump leaves to the rest of it */

/* Note of the links of word `w` of their set whether the other ends have the record of `signer`. */
static void note(struct sl_core *core, uint32_t signer, enum sl_message_kind kind, size_t w, uint64_t links,
		 bool has)
{
	for (; links != 0; links &= links - 1)
		sl_held_set(core, kind, signer, (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(links), has);
}

void sl_relay_record(struct sl_core *core, enum sl_message_kind kind, uint32_t signer, uint32_t from)
{
	struct sl_record *record = sl_held_of(core, signer, kind);
	record->present = true;
	record->told = false;
	record->since = core->now;
	for (size_t w = 0; w < sl_core_words(core); w++)
		note(core, signer, kind, w, core->linked[w], false);
	sl_held_set(core, kind, signer, from, true);
	core->flood_dirty = true;
	sl_spare_news(core);
}

/* --- candidates --- */

void sl_relay_room(struct sl_core *core, struct sl_link_record *lr, uint32_t count)
{
	if (count <= lr->room)
		return;
	if (count <= SL_FEW_CANDIDATES) {
		lr->candidates = lr->few;
		lr->room = SL_FEW_CANDIDATES;
		return;
	}
	lr->candidates = core->names + core->names_used;
	lr->room = count;
	core->names_used += count;
	assert(core->names_used <= sl_core_names(core->config.roster_size));
}

/* Return the link state with the first candidates from `from` on, or NULL. */
static struct sl_link_record *next_of(struct sl_core *core, const sl_id *from)
{
	struct sl_link_record *first = NULL;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		struct sl_link_record *lr = &core->links[i];
		if (lr->room > SL_FEW_CANDIDATES && lr->candidates >= from &&
		    (first == NULL || lr->candidates < first->candidates))
			first = lr;
	}
	return first;
}

/* A link state of many candidates leaves the place of the one before it. */
void sl_relay_make_room(struct sl_core *core)
{
	uint32_t R = core->config.roster_size;
	if (core->names_used + SL_STEP_LINK_STATES * sl_core_candidates_max(R) <= sl_core_names(R))
		return;
	sl_id *end = core->names;
	for (struct sl_link_record *lr = next_of(core, end); lr != NULL; lr = next_of(core, end)) {
		lr->room = lr->state.count > SL_FEW_CANDIDATES ? lr->state.count : SL_FEW_CANDIDATES + 1;
		memmove(end, lr->candidates, lr->room * sizeof *end);
		lr->state.candidates = lr->candidates = end;
		end += lr->room;
	}
	core->names_used = (size_t)(end - core->names);
}

void sl_relay_own_link_state(struct sl_core *core, const uint64_t *candidates)
{
	struct sl_link_record *lr = &core->links[core->config.self];
	struct sl_link_state *state = &lr->state;
	sl_relay_room(core, lr, (uint32_t)sl_bit_count(candidates, sl_core_words(core)));
	*state = (struct sl_link_state){.id = core->config.ids[core->config.self],
					.incarnation = core->config.incarnation,
					.t = core->t,
					.a = core->a,
					.n = core->parameters.n,
					.model = core->parameters.model,
					.values = core->parameters.values,
					.initial = core->parameters.initial,
					.failed = core->parameters.failed,
					.hop_bytes = core->parameters.hop_bytes,
					.candidates = lr->candidates};
	memcpy(state->key, core->config.key, sizeof state->key);
	memcpy(state->roster, core->config.scope.roster, sizeof state->roster);
	state->roster_size = core->config.roster_size;
	memcpy(state->previous, core->previous, sizeof state->previous);
	memset(lr->named, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (sl_bit(candidates, i)) {
			lr->candidates[state->count++] = core->config.ids[i];
			sl_bit_set(lr->named, i);
		}
	core->flood_news = true;
	sl_relay_record(core, SL_MSG_LINK_STATE, core->config.self, core->config.self);
}

void sl_relay_now(struct sl_core *core, struct sl_record *record)
{
	record->since = core->now >= core->config.relay_ms ? core->now - core->config.relay_ms : 0;
	core->flood_dirty = true;
}

void sl_relay_forget(struct sl_core *core, uint32_t link)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		for (enum sl_message_kind kind = SL_MSG_LINK_STATE; kind <= SL_MSG_DIGEST; kind++)
			sl_held_set(core, kind, i, link, false);
		sl_held_set(core, SL_MSG_ABORT, i, link, false);
	}
	core->flood_dirty = true;
}

/* Return true while the peers that `origin` named in its link state are left to it: it has a link to each of
 * them, or had one. An Abort does not wait for that. */
static bool left_to_signer(const struct sl_core *core, uint32_t origin, const struct sl_record *record)
{
	bool urgent = record == &core->aborts[origin].record;
	const struct sl_link_record *lr = &core->links[origin];
	return origin != core->config.self && core->now < record->since + core->config.relay_ms &&
	       lr->record.present && lr->state.t == core->t && !urgent;
}

/* Return the links of word `w` of their set that lack the record of `origin`. */
static uint64_t lacking(const struct sl_core *core, uint32_t origin, enum sl_message_kind kind, size_t w,
			uint64_t links)
{
	uint64_t lack = links;
	for (uint64_t left = links; left != 0; left &= left - 1)
		if (sl_held_there(core, kind, origin, (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left)))
			lack &= ~(left & -left);
	return lack;
}

/* Return the links of `reach` that are not known to have `record`, and are not spared; they count as having
 * it from now on. NULL: there are none. */
static const uint64_t *find_new(struct sl_core *core, uint32_t origin, enum sl_message_kind kind,
				const struct sl_record *record)
{
	uint64_t left = 0, *to = NULL;
	bool spare = left_to_signer(core, origin, record), own = origin == core->config.self;
	for (size_t w = 0; w < sl_core_words(core); w++) {
		uint64_t links = core->reach[w] & (own ? UINT64_MAX : ~sl_spare_word(core, kind, w)),
			 open = lacking(core, origin, kind, w, links),
			 signers = spare ? open & core->links[origin].named[w] : 0;
		left |= signers;
		if ((open & ~signers) == 0)
			continue;
		to = to == NULL ? sl_emit_set(core) : to;
		to[w] = open & ~signers;
		note(core, origin, kind, w, to[w], true);
	}
	if (left != 0 && record->since + core->config.relay_ms < core->flood_again)
		core->flood_again = record->since + core->config.relay_ms;
	return to;
}

/* Find the links over which records are flooded: those to peers in range or, with an overlay, those of the
 * overlay and those to the candidates of the own link state; in an open attempt those to its participants. */
static void find_reach(struct sl_core *core)
{
	if (!core->reach_stale)
		return;
	core->reach_stale = false;
	for (size_t w = 0; w < sl_core_words(core); w++)
		core->eligible[w] = core->linked[w] & core->range[w];
	sl_overlay(core, core->eligible, core->reach);
	for (size_t w = 0; w < sl_core_words(core); w++)
		core->reach[w] |= core->eligible[w] & (core->tried_candidates[w] | core->branches[w]);
	for (uint32_t i = 0; sl_core_open(core) && i < core->view.n; i++)
		if (sl_bit(core->linked, core->view.members[i]))
			sl_bit_set(core->reach, core->view.members[i]);
}

/* Send the records of the kinds from `first` to `last`. Return false if the step has no room left. */
static bool pump(struct sl_core *core, enum sl_message_kind first, enum sl_message_kind last)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (core->out->count + RESERVE > SL_ACTIONS_MAX)
			return false;
		for (enum sl_message_kind kind = first; kind <= last; kind++) {
			const struct sl_record *record = sl_held_record(core, i, kind);
			const uint64_t *to = record == NULL ? NULL : find_new(core, i, kind, record);
			if (to == NULL)
				continue;
			struct sl_message message = sl_held_message(core, i, kind);
			sl_emit_send(core, to, &message, i == core->config.self);
		}
	}
	return true;
}

/* Aborts go before Readys: a learner that comes back must hear that an attempt is over before it finds all
 * Readys. What has no room is still dirty: the deadline is now. */
void sl_relay_pump(struct sl_core *core)
{
	if (!core->flood_dirty && core->now < core->flood_again)
		return;
	core->flood_dirty = true;
	find_reach(core);
	core->flood_again = sl_spare_look(core);
	core->flood_dirty =
		!pump(core, SL_MSG_ABORT, SL_MSG_ABORT) || !pump(core, SL_MSG_LINK_STATE, SL_MSG_DIGEST);
}
