#include "common/core/releases.h"

#include "common/core/emit.h"
#include "common/core/relay.h"

struct sl_used *sl_ledger_find(struct sl_core *core, sl_attempt a)
{
	for (uint32_t i = 0; i < core->ledger.count; i++)
		if (core->ledger.used[i].a == a)
			return &core->ledger.used[i];
	return NULL;
}

bool sl_ledger_has(const struct sl_core *core, sl_attempt a)
{
	for (uint32_t i = 0; i < core->ledger.count; i++)
		if (core->ledger.used[i].a == a)
			return true;
	return false;
}

void sl_ledger_forget(struct sl_core *core)
{
	core->ledger.count = 0;
	core->ledger.fenced = core->ledger.dead = 0;
}

/* Insert attempt `a`, in ascending order; it takes over the sets of the free place. Return NULL if there is no room. */
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
	return sl_ledger_has(core, a) || add_used(core, a) != NULL;
}

/* Return true if `signer` has signed that it never released attempt `a` of round t. */
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
		used = add_used(core, core->a); /* there was room at the privacy check */
	used->draw = core->draws;
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t member = core->view.members[i];
		sl_bit_set(used->members, member);
		if (covers(core, member, used->a))
			sl_bit_set(used->fenced, member);
	}
}

void sl_ledger_heard(struct sl_core *core, uint32_t signer)
{
	for (uint32_t i = 0; i < core->ledger.count; i++) {
		struct sl_used *used = &core->ledger.used[i];
		if (sl_bit(used->members, signer) && covers(core, signer, used->a))
			sl_bit_set(used->fenced, signer);
	}
}

/* --- the own Aborts --- */

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
	sl_relay_own_fence(core);
}

/* --- the Aborts of other learners --- */

bool sl_fence_given_up(const struct sl_core *core, uint32_t signer, sl_attempt a)
{
	const struct sl_fence_record *fr = &core->fences[signer];
	bool known = fr->record.present && fr->fence.t == core->t && core->peers[signer].quarantined == 0;
	return covers(core, signer, a) || (known && a <= fr->fence.dead);
}

uint32_t sl_fence_of_view(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->view.members[i] != core->config.self && sl_fence_given_up(core, core->view.members[i], core->view.a))
			return core->view.members[i];
	return SL_NOBODY;
}

bool sl_fence_by_all(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->view.members[i] != core->config.self && !sl_fence_given_up(core, core->view.members[i], core->view.a))
			return false;
	return true;
}
