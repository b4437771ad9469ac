#include "common/core/releases.h"

#include "common/core/emit.h"
#include "common/core/relay.h"

struct sl_used *sl_releases_find(struct sl_core *core, sl_attempt a)
{
	for (uint32_t i = 0; i < core->release_log.count; i++)
		if (core->release_log.used[i].a == a)
			return &core->release_log.used[i];
	return NULL;
}

bool sl_releases_has(const struct sl_core *core, sl_attempt a)
{
	for (uint32_t i = 0; i < core->release_log.count; i++)
		if (core->release_log.used[i].a == a)
			return true;
	return false;
}

void sl_releases_forget(struct sl_core *core)
{
	core->release_log.count = 0;
	core->release_log.aborted = core->release_log.closed = 0;
}

/* Insert attempt `a`, in ascending order; it takes over the sets of the free place. Return NULL if there is
 * no room. */
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

bool sl_releases_note(struct sl_core *core, sl_attempt a)
{
	return sl_releases_has(core, a) || add_used(core, a) != NULL;
}

/* Return true if `signer` has signed that it never released attempt `a` of round t. */
static bool covers(const struct sl_core *core, uint32_t signer, sl_attempt a)
{
	const struct sl_abort_record *fr = &core->aborts[signer];
	if (core->peers[signer].quarantined != 0)
		return false; /* it may have forgotten what it released */
	return fr->record.present && fr->abort.t == core->t && sl_release_log_covers(&fr->abort, a);
}

void sl_releases_use(struct sl_core *core)
{
	struct sl_used *used = sl_releases_find(core, core->a);
	if (used == NULL)
		used = add_used(core, core->a); /* there was room at the privacy check */
	used->draw = core->draws;
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t member = core->view.members[i];
		sl_bit_set(used->members, member);
		if (covers(core, member, used->a))
			sl_bit_set(used->aborted, member);
	}
}

void sl_releases_heard(struct sl_core *core, uint32_t signer)
{
	for (uint32_t i = 0; i < core->release_log.count; i++) {
		struct sl_used *used = &core->release_log.used[i];
		if (sl_bit(used->members, signer) && covers(core, signer, used->a))
			sl_bit_set(used->aborted, signer);
	}
}

/* --- the own Aborts --- */

void sl_releases_abort_own(struct sl_core *core, sl_attempt a)
{
	core->release_log.aborted = a > core->release_log.aborted ? a : core->release_log.aborted;
	sl_emit_persist(core, SL_PERSIST_ABORTED, a);
}

void sl_releases_abort_durable(struct sl_core *core, sl_attempt a)
{
	struct sl_abort_record *fr = &core->aborts[core->config.self];
	struct sl_abort *abort_record = &fr->abort;
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
	sl_relay_own_abort(core);
}

/* --- the Aborts of other learners --- */

bool sl_releases_aborted(const struct sl_core *core, uint32_t signer, sl_attempt a)
{
	const struct sl_abort_record *fr = &core->aborts[signer];
	bool known = fr->record.present && fr->abort.t == core->t && core->peers[signer].quarantined == 0;
	return covers(core, signer, a) || (known && a <= fr->abort.closed);
}

uint32_t sl_releases_abort_of_view(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->view.members[i] != core->config.self &&
		    sl_releases_aborted(core, core->view.members[i], core->view.a))
			return core->view.members[i];
	return SL_NOBODY;
}

bool sl_releases_aborted_by_all(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if (core->view.members[i] != core->config.self &&
		    !sl_releases_aborted(core, core->view.members[i], core->view.a))
			return false;
	return true;
}
