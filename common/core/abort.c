/* Attempts given up, by this learner and by others (protocol 6, Fence), and what that means for those in which this
 * learner's masked state may have left. */
#include "common/core/state.h"

/* --- the ledger --- */

struct sl_used *sl_ledger_find(struct sl_core *core, sl_attempt a)
{
	for (uint32_t i = 0; i < core->ledger.count; i++)
		if (core->ledger.used[i].a == a)
			return &core->ledger.used[i];
	return NULL;
}

void sl_ledger_forget(struct sl_core *core)
{
	core->ledger.count = 0;
	core->ledger.fenced = core->ledger.dead = 0;
}

/* In its place, ascending; its sets are those of the place that is free. */
static struct sl_used *add_used(struct sl_core *core, sl_attempt a)
{
	struct sl_ledger *ledger = &core->ledger;
	if (ledger->count == SL_RELEASED_MAX)
		return NULL;
	struct sl_used fresh = ledger->used[ledger->count];
	uint32_t k = ledger->count++;
	for (; k > 0 && ledger->used[k - 1].a > a; k--)
		ledger->used[k] = ledger->used[k - 1];
	fresh.a = a;
	fresh.draw = 0;
	memset(fresh.members, 0, sl_set_bytes(core));
	memset(fresh.fenced, 0, sl_set_bytes(core));
	ledger->used[k] = fresh;
	return &ledger->used[k];
}

bool sl_ledger_note(struct sl_core *core, sl_attempt a)
{
	return sl_ledger_find(core, a) != NULL || add_used(core, a) != NULL;
}

static bool covers(const struct sl_core *core, uint32_t signer, sl_attempt a)
{
	const struct sl_fence_record *fr = &core->fences[signer];
	if (core->peers[signer].quarantined != 0)
		return false; /* it may have forgotten what it released */
	return fr->record.present && fr->fence.t == core->t && sl_fence_covers(&fr->fence, a);
}

void sl_ledger_use(struct sl_core *core)
{
	struct sl_used *used = sl_ledger_find(core, core->a);
	if (used == NULL)
		used = add_used(core, core->a); /* there was room when the view passed the gate */
	used->draw = core->draws;
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t member = core->view.members[i];
		sl_bit_set(used->members, member);
		if (covers(core, member, used->a))
			sl_bit_set(used->fenced, member);
	}
}

/* --- the own fences --- */

void sl_fence_own(struct sl_core *core, sl_attempt a)
{
	core->ledger.fenced = a > core->ledger.fenced ? a : core->ledger.fenced;
	sl_persist(core, SL_PERSIST_FENCED, a);
}

void sl_fence_durable(struct sl_core *core, sl_attempt a)
{
	struct sl_fence_record *fr = &core->fences[core->config.self];
	struct sl_fence *fence = &fr->fence;
	if (fr->record.present && fence->t == core->t && (fence->a > a || (fence->a == a && fence->dead >= core->ledger.dead)))
		return;
	*fence = (struct sl_fence){.id = core->config.ids[core->config.self],
				   .incarnation = core->config.incarnation,
				   .t = core->t,
				   .a = a,
				   .dead = core->ledger.dead < a ? core->ledger.dead : a};
	memcpy(fence->key, core->config.key, SL_KEY_BYTES);
	for (uint32_t i = 0; i < core->ledger.count && core->ledger.used[i].a <= a; i++)
		fence->released[fence->count++] = core->ledger.used[i].a;
	sl_flood_own_fence(core);
}

/* --- those of others --- */

/* It has not released attempt a, or will not finish it: whoever has not released it either need not. */
static bool gave_up(const struct sl_core *core, uint32_t signer, sl_attempt a)
{
	const struct sl_fence_record *fr = &core->fences[signer];
	bool known = fr->record.present && fr->fence.t == core->t && core->peers[signer].quarantined == 0;
	return covers(core, signer, a) || (known && a <= fr->fence.dead);
}

uint32_t sl_fence_of_view(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->view.members[i] != core->config.self && gave_up(core, core->view.members[i], core->view.a))
			return core->view.members[i];
	return SL_NOBODY;
}

bool sl_fence_by_all(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->view.members[i] != core->config.self && !gave_up(core, core->view.members[i], core->view.a))
			return false;
	return true;
}

void sl_fence_heard(struct sl_core *core, uint32_t signer)
{
	for (uint32_t i = 0; i < core->ledger.count; i++) {
		struct sl_used *used = &core->ledger.used[i];
		if (sl_bit(used->members, signer) && covers(core, signer, used->a))
			sl_bit_set(used->fenced, signer);
	}
	bool sharing = core->phase == SL_PHASE_SHARE || core->phase == SL_PHASE_READY;
	if (sharing && core->view.position[signer] != UINT32_MAX && gave_up(core, signer, core->view.a))
		sl_fail_attempt(core, SL_REASON_FENCED, true)->peer = signer; /* whoever failed first knows whether to wait */
}

/* --- what an earlier life of this learner may have been in --- */

/* A view may count this learner as it was before a crash. Had it sent its Ready there, it would have been on record: so it
 * never released, and says so (protocol 6, restart). Unless its own Ready comes back to it: then it is the record that was
 * lost, and it must not deny what it may have shown. */
void sl_fence_unknown(struct sl_core *core, const struct sl_ready *ready)
{
	bool known = (core->view_gated && core->view.a == ready->a) || ready->a <= core->ledger.fenced;
	if (core->t != core->started || ready->t != core->t || known || sl_ledger_find(core, ready->a) != NULL ||
	    sl_flood_far(core, ready->a))
		return;
	if (ready->id == core->config.ids[core->config.self] && !sl_ledger_note(core, ready->a))
		return;
	core->owed = ready->a > core->owed ? ready->a : core->owed;
	core->seen = ready->a > core->seen ? ready->a : core->seen;
	bool busy = core->phase == SL_PHASE_FREEZE || core->phase == SL_PHASE_SHARE;
	if (busy && core->a < core->owed) { /* of the same number, it may be of the view that is about to be closed here */
		struct sl_report *report = sl_fail_attempt(core, SL_REASON_SUPERSEDED, false);
		report->peer = sl_index(core, ready->id);
		report->why.attempt.a = core->owed;
	}
}

/* Here or elsewhere: then nobody needs a word about the round any more, and behind the commit the disk takes none. */
static bool is_committed(const struct sl_core *core)
{
	return core->phase == SL_PHASE_COMMIT || core->phase == SL_PHASE_CATCHUP;
}

void sl_fence_owed(struct sl_core *core)
{
	bool free = core->phase == SL_PHASE_TRAIN || core->phase == SL_PHASE_DISCOVER;
	if (core->owed <= core->ledger.fenced || core->owed >= SL_ATTEMPTS_MAX || is_committed(core))
		return;
	if (free && core->a <= core->owed)
		core->a = core->owed + 1;
	if (core->a > core->owed)
		sl_fence_own(core, core->owed);
}
