#include "common/core/have.h"

#include "common/core/deposit.h"
#include "common/core/emit.h"
#include "common/core/open.h"

void sl_have_heard(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	const struct sl_have *have = &message->have;
	if (!sl_core_in_view(core, have->t, have->view) || core->phase < SL_PHASE_READY)
		return;
	uint32_t position = core->view.position[peer];
	size_t size = sl_core_held_bytes(&core->view);
	if (position == UINT32_MAX || have->size != size || have->keys_size != size) {
		sl_emit_reject(core, peer, "says that it holds deposits of a view that it is not in");
		return;
	}
	struct sl_holder *holder = &core->at.holders[position];
	memcpy(holder->held, have->held, size);
	memcpy(holder->keys, have->keys, size);
	if (!holder->heard && core->at.joined_count++ == 0) {
		core->at.joined = peer;
		core->at.joined_at = core->now;
	}
	holder->heard = true;
	core->at.open_dirty = true;
}

void sl_have_link(struct sl_core *core, uint32_t peer)
{
	uint32_t position = core->view_checked ? core->view.position[peer] : UINT32_MAX;
	if (position == UINT32_MAX)
		return;
	struct sl_holder *holder = &core->at.holders[position];
	holder->told = 0;
	sl_open_link(core, position);
	if (holder->fetching)
		core->at.slots[holder->origin] = SL_SLOT_UNSEEN;
	holder->fetching = false;
}

/* Send Have to the linked participants that do not know it; in CONFIRM, to those that have sent one. */
static void tell_held(struct sl_core *core)
{
	uint64_t any = 0;
	memset(core->have_targets, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t peer = core->view.members[i];
		if (!sl_bit(core->linked, peer) || core->at.holders[i].told == core->at.edition)
			continue;
		if (core->phase != SL_PHASE_RECOVER && !core->at.holders[i].heard)
			continue;
		core->at.holders[i].told = core->at.edition;
		sl_bit_set(core->have_targets, peer);
		any = 1;
	}
	if (any == 0)
		return;
	struct sl_message message = {.kind = SL_MSG_HAVE};
	message.have.t = core->t;
	message.have.a = core->a;
	memcpy(message.have.view, core->view.h, SL_HASH_BYTES);
	message.have.size = message.have.keys_size = sl_core_held_bytes(&core->view);
	message.have.held = core->at.held;
	message.have.keys = core->at.known;
	sl_emit_send(core, core->have_targets, &message, true);
}

void sl_have_serve(struct sl_core *core)
{
	sl_open_advance(core);
	tell_held(core);
}

void sl_have_request(struct sl_core *core, uint32_t peer, const struct sl_request *request)
{
	uint32_t origin = sl_core_index(core, request->origin);
	bool open = core->view_checked && core->phase >= SL_PHASE_READY && core->phase <= SL_PHASE_RECOVER &&
		    request->t == core->t && request->a == core->view.a;
	if (!open || origin == UINT32_MAX || core->view.position[peer] == UINT32_MAX ||
	    request->index >= core->view.chunks)
		return;
	uint32_t position = core->view.position[origin];
	if (position != UINT32_MAX && sl_core_has(core->at.held, position))
		sl_deposit_send(core, sl_emit_only(core, peer), position, request->index, true);
}
