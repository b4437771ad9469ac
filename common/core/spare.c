#include "common/core/spare.h"

#include <sodium.h>

#include "common/core/emit.h"
#include "common/core/held.h"

#define MOST 4u		  /* relay delays for which more records, or what a peer tells, are waited for */
#define POSTPONED_MOST 2u /* times that records which still come put off to compare */

static void clear(struct sl_core *core)
{
	memset(core->branches, 0, sl_core_set_bytes(core));
	memset(core->spared, 0, sl_core_set_bytes(core));
}

void sl_spare_view(struct sl_core *core)
{
	const struct sl_view *view = &core->view;
	clear(core);
	core->reach_stale = core->flood_dirty = true;
	core->tells = core->config.relay_ms != 0;
	sl_spare_news(core);
	if (view->costs.trees == 0 || !core->tells)
		return;
	for (uint32_t i = 0; i < view->n; i++)
		if (sl_bit(core->linked, view->members[i]))
			sl_bit_set(core->spared, view->members[i]);
	for (uint32_t r = 0; r < view->degree; r++)
		if (((view->up[r] | view->down[r]) & 1) != 0) {
			sl_bit_set(core->branches, sl_view_peer(view, r));
			sl_bit_clear(core->spared, sl_view_peer(view, r));
		}
}

/* Compare at `at` what others have told, or before. */
static void look_at(struct sl_core *core, sl_ms at)
{
	core->compare_at = at < core->compare_at ? at : core->compare_at;
	core->flood_again = at < core->flood_again ? at : core->flood_again;
}

void sl_spare_link(struct sl_core *core, uint32_t peer)
{
	bool inside = sl_core_open(core) && core->view.position[peer] != UINT32_MAX;
	if (sl_bit(core->branches, peer))
		clear(core);
	sl_bit_clear(core->spared, peer);
	memset(core->peers[peer].records, 0, SL_HASH_BYTES);
	if (!inside || !core->sparing || !sl_bit(core->linked, peer))
		return;
	sl_bit_set(core->spared, peer);
	look_at(core, core->now + core->config.relay_ms);
}

void sl_spare_news(struct sl_core *core)
{
	sl_ms delay = core->config.relay_ms;
	if (!core->tells)
		return;
	if (core->tell_at == SL_NEVER)
		core->untold_since = core->now;
	core->tell_at = core->untold_since + MOST * delay;
	core->tell_at = core->now + delay < core->tell_at ? core->now + delay : core->tell_at;
}

/* Set `told` to a hash of all records that are passed on now. */
static void summarize(struct sl_core *core)
{
	uint8_t both[2][SL_HASH_BYTES] = {{0}};
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		for (enum sl_message_kind kind = SL_MSG_LINK_STATE; kind <= SL_MSG_DIGEST; kind++) {
			struct sl_record *record = sl_held_record(core, i, kind);
			if (record == NULL)
				continue;
			record->told = true;
			struct sl_message message = sl_held_message(core, i, kind);
			sl_canonical_message(&core->config.scope, &message, both[1]);
			crypto_generichash(both[0], sizeof both[0], both[0], sizeof both, NULL, 0);
		}
	memcpy(core->told, both[0], sizeof both[0]);
	core->told_at = core->now;
}

/* Return true if `peer` has told the same: it holds all that was told of here. */
static bool holds_the_same(struct sl_core *core, uint32_t peer)
{
	if (memcmp(core->peers[peer].records, core->told, SL_HASH_BYTES) != 0)
		return false;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		for (enum sl_message_kind kind = SL_MSG_LINK_STATE; kind <= SL_MSG_DIGEST; kind++) {
			const struct sl_record *record = sl_held_record(core, i, kind);
			if (record != NULL && record->told)
				sl_held_set(core, kind, i, peer, true);
		}
	return true;
}

static bool is_on_tree(const struct sl_core *core, uint32_t peer)
{
	return sl_bit(core->branches, peer) || sl_bit(core->spared, peer);
}

void sl_spare_hello(struct sl_core *core, uint32_t peer, const uint8_t records[static SL_HASH_BYTES])
{
	memcpy(core->peers[peer].records, records, SL_HASH_BYTES);
	core->peers[peer].records_at = core->now;
	if (core->told_at != SL_NEVER && core->tell_at == SL_NEVER && is_on_tree(core, peer) &&
	    !holds_the_same(core, peer))
		look_at(core, core->now + core->config.relay_ms);
}

/* Return true if `peer` has told something else since the own records were told of, or nothing for long;
 * while new records still come, if it has not told the same last. */
static bool differs(struct sl_core *core, uint32_t peer)
{
	const struct sl_peer *p = &core->peers[peer];
	sl_ms most = core->told_at + MOST * core->config.relay_ms;
	if (core->told_at == SL_NEVER || p->t > core->t || holds_the_same(core, peer))
		return false;
	if (core->tell_at != SL_NEVER) /* it was put off long enough */
		return true;
	if (p->records_at >= core->told_at || core->now >= most)
		return true;
	look_at(core, most);
	return false;
}

/* Spare no longer the links over which something else was told, and say there what is held here. */
static void compare(struct sl_core *core)
{
	uint64_t *to = NULL;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (is_on_tree(core, i) && differs(core, i)) {
			sl_bit_clear(core->branches, i);
			sl_bit_clear(core->spared, i);
			to = to == NULL ? sl_emit_set(core) : to;
			sl_bit_set(to, i);
		}
	if (to != NULL)
		sl_emit_hello(core, to);
}

/* Return true if the tree holds: this learner floods over all its links to it. */
static bool is_whole(const struct sl_core *core)
{
	bool any = false, whole = true;
	for (size_t w = 0; w < sl_core_words(core); w++) {
		any |= core->branches[w] != 0;
		whole &= (core->branches[w] & ~core->reach[w]) == 0;
	}
	return any && whole;
}

/* Tell what is held here. A peer may spare its link to this learner, though the tree is cut here. */
static void tell(struct sl_core *core)
{
	core->tell_at = SL_NEVER;
	summarize(core);
	sl_emit_hello(core, core->reach);
	look_at(core, core->now + core->config.relay_ms);
}

sl_ms sl_spare_look(struct sl_core *core)
{
	core->sparing = is_whole(core);
	if (core->now >= core->compare_at) {
		core->compare_at = SL_NEVER;
		if (core->tell_at == SL_NEVER || core->postponed++ == POSTPONED_MOST) {
			core->postponed = 0;
			compare(core);
		}
	} else if (core->now >= core->tell_at) {
		tell(core);
	}
	return core->tell_at < core->compare_at ? core->tell_at : core->compare_at;
}

uint64_t sl_spare_word(const struct sl_core *core, enum sl_message_kind kind, size_t word)
{
	if (!core->sparing || kind == SL_MSG_ABORT)
		return 0;
	bool agreed = kind == SL_MSG_LINK_STATE && core->view_checked;
	return core->spared[word] | (agreed ? core->branches[word] : 0);
}
