/* Attempts given up, by this learner and by others (protocol 6, Fence), and what that means for those in
 * which this learner's masked state may have left. */
#include "common/core/state.h"

/* --- the ledger --- */

struct sl_used *sl_release_log_find(struct sl_core *core, sl_attempt a)
{
	for (uint32_t i = 0; i < core->release_log.count; i++)
		if (core->release_log.used[i].a == a)
			return &core->release_log.used[i];
	return NULL;
}

void sl_release_log_forget(struct sl_core *core)
{
	core->release_log.count = 0;
	core->release_log.aborted = core->release_log.closed = 0;
}

/* In its place, ascending; its sets are those of the place that is free. */
static struct sl_used *add_used(struct sl_core *core, sl_attempt a)
{
	struct sl_release_log *release_log = &core->release_log;
	if (release_log->count == SL_RELEASED_MAX)
		return NULL;
	struct sl_used fresh = release_log->used[release_log->count];
	uint32_t k = release_log->count++;
	for (; k > 0 && release_log->used[k - 1].a > a; k--)
		release_log->used[k] = release_log->used[k - 1];
	fresh.a = a;
	fresh.draw = 0;
	memset(fresh.members, 0, sl_core_set_bytes(core));
	memset(fresh.aborted, 0, sl_core_set_bytes(core));
	release_log->used[k] = fresh;
	return &release_log->used[k];
}

bool sl_release_log_note(struct sl_core *core, sl_attempt a)
{
	return sl_release_log_find(core, a) != NULL || add_used(core, a) != NULL;
}

static bool covers(const struct sl_core *core, uint32_t signer, sl_attempt a)
{
	const struct sl_abort_record *fr = &core->aborts[signer];
	if (core->peers[signer].quarantined != 0)
		return false; /* it may have forgotten what it released */
	return fr->record.present && fr->abort_record.t == core->t &&
	       sl_release_log_covers(&fr->abort_record, a);
}

void sl_release_log_use(struct sl_core *core)
{
	struct sl_used *used = sl_release_log_find(core, core->a);
	if (used == NULL)
		used = add_used(core, core->a); /* there was room when the view passed the gate */
	used->draw = core->draws;
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t member = core->view.members[i];
		sl_bit_set(used->members, member);
		if (covers(core, member, used->a))
			sl_bit_set(used->aborted, member);
	}
}

/* --- the own fences --- */

void sl_abort_own(struct sl_core *core, sl_attempt a)
{
	core->release_log.aborted = a > core->release_log.aborted ? a : core->release_log.aborted;
	sl_emit_persist(core, SL_PERSIST_ABORTED, a);
}

void sl_abort_durable(struct sl_core *core, sl_attempt a)
{
	struct sl_abort_record *fr = &core->aborts[core->config.self];
	struct sl_abort *abort_record = &fr->abort_record;
	if (fr->record.present && abort_record->t == core->t &&
	    (abort_record->a > a ||
	     (abort_record->a == a && abort_record->closed >= core->release_log.closed)))
		return;
	*abort_record =
		(struct sl_abort){.id = core->config.ids[core->config.self],
				  .incarnation = core->config.incarnation,
				  .t = core->t,
				  .a = a,
				  .closed = core->release_log.closed < a ? core->release_log.closed : a};
	memcpy(abort_record->key, core->config.key, SL_KEY_BYTES);
	for (uint32_t i = 0; i < core->release_log.count && core->release_log.used[i].a <= a; i++)
		abort_record->released[abort_record->count++] = core->release_log.used[i].a;
	sl_flood_own_abort(core);
}

/* --- those of others --- */

/* It has not released attempt a, or will not finish it: whoever has not released it either need not. */
static bool gave_up(const struct sl_core *core, uint32_t signer, sl_attempt a)
{
	const struct sl_abort_record *fr = &core->aborts[signer];
	bool known =
		fr->record.present && fr->abort_record.t == core->t && core->peers[signer].quarantined == 0;
	return covers(core, signer, a) || (known && a <= fr->abort_record.closed);
}

uint32_t sl_abort_of_view(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->view.members[i] != core->config.self &&
		    gave_up(core, core->view.members[i], core->view.a))
			return core->view.members[i];
	return SL_NOBODY;
}

bool sl_abort_by_all(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->view.members[i] != core->config.self &&
		    !gave_up(core, core->view.members[i], core->view.a))
			return false;
	return true;
}

void sl_abort_heard(struct sl_core *core, uint32_t signer)
{
	for (uint32_t i = 0; i < core->release_log.count; i++) {
		struct sl_used *used = &core->release_log.used[i];
		if (sl_bit(used->members, signer) && covers(core, signer, used->a))
			sl_bit_set(used->aborted, signer);
	}
	bool sharing = core->phase == SL_PHASE_SHARE || core->phase == SL_PHASE_READY;
	if (sharing && core->view.position[signer] != UINT32_MAX && gave_up(core, signer, core->view.a))
		sl_attempt_fail(core, SL_REASON_ABORTED, true)->peer =
			signer; /* whoever failed first knows whether to wait */
}

/* --- what an earlier life of this learner may have been in --- */

/* A view may count this learner as it was before a crash. Had it sent its Ready there, it would have been on
 * record: so it never released, and says so (protocol 6, restart). Unless its own Ready comes back to it:
 * then it is the record that was lost, and it must not deny what it may have shown. */
void sl_abort_unknown(struct sl_core *core, const struct sl_ready *ready)
{
	bool known =
		(core->view_checked && core->view.a == ready->a) || ready->a <= core->release_log.aborted;
	if (core->t != core->started || ready->t != core->t || known ||
	    sl_release_log_find(core, ready->a) != NULL || sl_flood_far(core, ready->a))
		return;
	if (ready->id == core->config.ids[core->config.self] && !sl_release_log_note(core, ready->a))
		return;
	core->pending_abort = ready->a > core->pending_abort ? ready->a : core->pending_abort;
	core->seen = ready->a > core->seen ? ready->a : core->seen;
	bool busy = core->phase == SL_PHASE_AGREE || core->phase == SL_PHASE_SHARE;
	if (busy && core->a < core->pending_abort) /* of the same number, it may be of the view that is about
						      to be closed here */
		sl_attempt_fail(core, SL_REASON_SUPERSEDED, false)->n[0] = core->pending_abort;
}

/* Here or elsewhere: then nobody needs a word about the round any more, and behind the commit the disk takes
 * none. */
static bool is_committed(const struct sl_core *core)
{
	return core->phase == SL_PHASE_COMMIT || core->phase == SL_PHASE_CATCHUP;
}

void sl_abort_pending(struct sl_core *core)
{
	bool free = core->phase == SL_PHASE_TRAIN || core->phase == SL_PHASE_DISCOVER;
	if (core->pending_abort <= core->release_log.aborted || core->pending_abort >= SL_ATTEMPTS_MAX ||
	    is_committed(core))
		return;
	if (free && core->a <= core->pending_abort)
		core->a = core->pending_abort + 1;
	if (core->a > core->pending_abort)
		sl_abort_own(core, core->pending_abort);
}
