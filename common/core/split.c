#include "common/core/split.h"

#include "common/core/aborts.h"
#include "common/core/emit.h"
#include "common/core/held.h"

#define SHOWN_MAX 128u /* actions of a step after which no more Readys are sent beside the flood */

static const uint8_t unknown[SL_HASH_BYTES];

static bool is_known(const uint8_t *readys)
{
	return memcmp(readys, unknown, SL_HASH_BYTES) != 0;
}

static struct sl_message of_ready(const struct sl_ready *ready)
{
	return (struct sl_message){.kind = SL_MSG_READY, .ready = *ready};
}

/* Send `peer` the Readys of the attempt: by the flood, but for those that its records have replaced. */
static void show_readys(struct sl_core *core, uint32_t peer)
{
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t signer = core->view.members[i];
		const struct sl_ready_record *rr = &core->readys[signer];
		struct sl_message message = of_ready(&core->at.readys[i]);
		if (rr->record.present && rr->ready.a == core->view.a)
			sl_held_set(core, SL_MSG_READY, signer, peer, false);
		else if (core->out->count < SHOWN_MAX)
			sl_emit_send(core, sl_emit_only(core, peer), &message, i == core->view.self);
	}
	core->flood_dirty = true;
}

/* Return true if the participant at `position` has said another hash than that of the own Readys. */
static bool said_other(const struct sl_core *core, uint32_t position)
{
	const struct sl_attempt_state *at = &core->at;
	return is_known(at->said_readys[position]) &&
	       memcmp(at->said_readys[position], at->readys_hash, SL_HASH_BYTES) != 0;
}

/* Compare what the participant at `position` has said with the own Readys. If they differ, send it the own
 * ones: it finds the one that is signed twice. */
static void compare(struct sl_core *core, uint32_t position)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t peer = core->view.members[position];
	if (!is_known(at->readys_hash) || !said_other(core, position))
		return;
	if (at->split_from == SL_NOBODY) {
		at->split_from = peer;
		at->split_since = core->now;
	}
	show_readys(core, peer);
	sl_emit_reject(core, peer,
		       "says that it holds other Readys of the attempt: a participant has signed two, or "
		       "this is false");
}

void sl_split_begin(struct sl_core *core)
{
	sl_canonical_readys(&core->config.scope, core->view.h, core->at.readys, core->view.n,
			    core->at.readys_hash);
	for (uint32_t i = 0; i < core->view.n; i++)
		compare(core, i);
}

void sl_split_heard(struct sl_core *core, uint32_t peer, const uint8_t *readys)
{
	uint32_t position = core->view.position[peer];
	if (!is_known(readys) || memcmp(core->at.said_readys[position], readys, SL_HASH_BYTES) == 0)
		return;
	memcpy(core->at.said_readys[position], readys, SL_HASH_BYTES);
	compare(core, position);
}

void sl_split_ready(struct sl_core *core, uint32_t signer, const struct sl_ready *ready)
{
	struct sl_attempt_state *at = &core->at;
	uint8_t held[SL_HASH_BYTES], theirs[SL_HASH_BYTES];
	uint32_t position = core->view_checked ? core->view.position[signer] : UINT32_MAX;
	if (position == UINT32_MAX || at->split_proved || !at->ready_here[position] ||
	    ready->a != core->view.a || !sl_core_in_view(core, ready->t, ready->view) ||
	    memcmp(ready->signature, at->readys[position].signature, SL_SIG_BYTES) == 0)
		return;
	struct sl_message mine = of_ready(&at->readys[position]), other = of_ready(ready);
	sl_canonical_message(&core->config.scope, &mine, held);
	sl_canonical_message(&core->config.scope, &other, theirs);
	if (memcmp(held, theirs, sizeof held) == 0)
		return;
	if (at->split_from == SL_NOBODY)
		at->split_since = core->now;
	at->split_proved = true;
	at->split_from = signer;
	sl_emit_participants(core, SL_NOBODY, signer, &mine, false);
	sl_emit_participants(core, SL_NOBODY, signer, &other, false);
}

bool sl_split_divides(const struct sl_core *core)
{
	bool divides = false;
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t peer = core->view.members[i];
		divides |= peer != core->at.split_from &&
			   (said_other(core, i) ||
			    (sl_aborts_said(core, peer, core->view.a) & SL_ABORT_UNSIGNED) != 0);
	}
	return core->at.split_proved && divides;
}

sl_ms sl_split_due(const struct sl_core *core)
{
	return core->at.split_from != SL_NOBODY ? core->at.split_since + core->config.stall_timeout_ms : 0;
}

bool sl_split_excluded(const struct sl_core *core)
{
	bool all = core->at.split_from == SL_NOBODY;
	for (uint32_t r = 0; r < core->view.degree; r++)
		all &= is_known(core->at.said_readys[core->view.neighbours[r]]);
	return all;
}
