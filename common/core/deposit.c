#include "common/core/deposit.h"

#include "common/core/emit.h"

void sl_deposit_begin(struct sl_core *core, bool all)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		core->at.slots[i] = all ? SL_SLOT_UNSEEN : SL_SLOT_MISSING;
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (sl_view_keeps(&core->view, r))
			core->at.slots[core->view.neighbours[r]] = SL_SLOT_UNSEEN;
}

void sl_deposit_hold(struct sl_core *core, uint32_t position)
{
	core->at.slots[position] = SL_SLOT_HELD;
	sl_core_mark(core->at.held, position);
	core->at.held_count++;
	core->at.edition++;
}

void sl_deposit_restart(struct sl_core *core)
{
	core->at.checking = false;
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->at.slots[i] == SL_SLOT_CHECKING)
			core->at.slots[i] = SL_SLOT_UNSEEN;
}

void sl_deposit_check(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n && !core->at.checking; i++) {
		if (core->at.slots[i] != SL_SLOT_UNSEEN || !core->at.ready_here[i])
			continue;
		core->at.slots[i] = SL_SLOT_CHECKING;
		core->at.checking = true;
		sl_emit_job_on(core, SL_JOB_CHECK, i, &core->view)->expected = core->at.readys[i].deposit;
	}
}

void sl_deposit_checked(struct sl_core *core, const struct sl_job_result *result)
{
	core->at.checking = false;
	if (result->code == SL_OK)
		sl_deposit_hold(core, result->chunk);
	else
		core->at.slots[result->chunk] = SL_SLOT_MISSING;
}

size_t sl_deposit_chunk_bytes(const struct sl_core *core, uint32_t index)
{
	return sl_packed_bytes(sl_view_chunk_elements(&core->view, index), core->view.field.bits);
}

void sl_deposit_send(struct sl_core *core, const uint64_t *to, uint32_t position, uint32_t index,
		     bool requested)
{
	struct sl_chunk chunk = {.origin = core->view.ids[position],
				 .index = index,
				 .size = sl_deposit_chunk_bytes(core, index)};
	size_t at = sl_packed_bytes((size_t)index * SL_CHUNK_ELEMENTS, core->view.field.bits);
	sl_emit_chunk(core, to, SL_MSG_DEPOSIT, chunk,
		      (struct sl_payload){
			      .source = SL_SOURCE_SLOT, .row = position, .at = at, .requested = requested});
}
