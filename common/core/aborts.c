#include "common/core/aborts.h"

#include "common/core/emit.h"
#include "common/core/relay.h"

#define SHOWN_MAX 128u /* Aborts that are sent in one step; the flood brings the others */

/* --- the own Readys of the round --- */

void sl_aborts_readied(struct sl_core *core, sl_attempt a)
{
	core->readied[core->readied_count++ % SL_READIED_MAX] = a;
}

bool sl_aborts_may_deny(const struct sl_core *core, sl_attempt a)
{
	uint32_t kept = core->readied_count < SL_READIED_MAX ? core->readied_count : SL_READIED_MAX;
	bool earlier = core->readied_count > SL_READIED_MAX; /* than all that are remembered */
	for (uint32_t k = 0; k < kept; k++) {
		if (core->readied[k] == a)
			return false;
		earlier &= a < core->readied[k];
	}
	return !earlier;
}

/* --- the sets --- */

void sl_aborts_forget(struct sl_core *core)
{
	core->aborted = 0;
	core->readied_count = 0;
	core->over = 0;
	for (uint32_t k = 0; k < SL_ABORT_SETS; k++)
		core->abort_sets[k].a = 0;
}

struct sl_abort_set *sl_aborts_find(const struct sl_core *core, sl_attempt a)
{
	for (uint32_t k = 0; k < SL_ABORT_SETS; k++)
		if (core->abort_sets[k].a == a)
			return (struct sl_abort_set *)&core->abort_sets[k];
	return NULL;
}

/* Return the earliest set of an attempt up to the own one, a free place first; ahead: of a later attempt. */
static struct sl_abort_set *earliest(struct sl_core *core, bool ahead)
{
	struct sl_abort_set *found = NULL;
	for (uint32_t k = 0; k < SL_ABORT_SETS; k++) {
		struct sl_abort_set *set = &core->abort_sets[k];
		if ((set->a > core->a) == ahead && (found == NULL || set->a < found->a))
			found = set;
	}
	return found;
}

static uint32_t count_ahead(const struct sl_core *core)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < SL_ABORT_SETS; k++)
		count += core->abort_sets[k].a > core->a;
	return count;
}

struct sl_abort_set *sl_aborts_set(struct sl_core *core, sl_attempt a)
{
	struct sl_abort_set *set = sl_aborts_find(core, a);
	if (set != NULL)
		return set;
	struct sl_abort_set *place = earliest(core, a > core->a && count_ahead(core) == SL_ABORTS_AHEAD_MAX);
	if (place->a > a)
		return NULL;
	place->a = a;
	memset(place->aborts, 0, core->config.roster_size * sizeof *place->aborts);
	return place;
}

uint32_t sl_aborts_said(const struct sl_core *core, uint32_t signer, sl_attempt a)
{
	const struct sl_abort_set *set = sl_aborts_find(core, a);
	return set != NULL ? set->aborts[signer].says : 0;
}

uint32_t sl_aborts_take(struct sl_core *core, uint32_t signer, const struct sl_abort *abort_record)
{
	sl_attempt highest = core->seen > core->a ? core->seen : core->a;
	struct sl_abort_set *set =
		abort_record->a <= highest + 1 ? sl_aborts_set(core, abort_record->a) : NULL;
	struct sl_abort *held = set == NULL ? NULL : &set->aborts[signer];
	uint32_t said = held == NULL ? 0 : held->says, news = abort_record->says & ~said;
	if (held == NULL || news == 0 || (said & ~abort_record->says & SL_ABORT_PROMISES) != 0 ||
	    (said != 0 && memcmp(held->ready, abort_record->ready, SL_HASH_BYTES) != 0))
		return 0; /* nothing new, or something that contradicts the Abort that is held */
	*held = *abort_record;
	return news;
}

static void restore_over(struct sl_core *core, const struct sl_over *over)
{
	struct sl_abort_set *set = sl_aborts_set(core, over->a);
	sl_aborts_readied(core, over->a);
	for (uint32_t i = 0; set != NULL && i < over->count; i++) {
		uint32_t signer = sl_core_index(core, over->aborts[i].id);
		if (signer != UINT32_MAX)
			set->aborts[signer] = over->aborts[i];
	}
}

void sl_aborts_restore(struct sl_core *core)
{
	const struct sl_core_config *config = &core->config;
	for (uint32_t k = 0; k < config->over_count; k++)
		restore_over(core, &config->over[k]);
	if (config->open != NULL)
		sl_aborts_readied(core, config->open->a);
	core->over = config->over_count;
	core->aborted = config->aborted;
	core->parameters.failed = config->aborted > 0;
	if (config->aborted > 0 && sl_aborts_may_deny(core, config->aborted))
		sl_aborts_sign(core, SL_ABORT_PROMISES, config->aborted, NULL);
}

/* --- the own Aborts --- */

/* Return the own Abort of `a`, which says nothing at first; NULL: there is no room. */
static struct sl_abort *find_own(struct sl_core *core, sl_attempt a, const struct sl_ready *own)
{
	uint32_t self = core->config.self;
	struct sl_abort_set *set = sl_aborts_set(core, a);
	struct sl_abort *abort_record = set == NULL ? NULL : &set->aborts[self];
	if (abort_record == NULL || abort_record->a == a)
		return abort_record;
	*abort_record = (struct sl_abort){
		.id = core->config.ids[self], .incarnation = core->config.incarnation, .t = core->t, .a = a};
	memcpy(abort_record->key, core->config.key, SL_KEY_BYTES);
	if (own != NULL)
		sl_canonical_message(&core->config.scope,
				     &(struct sl_message){.kind = SL_MSG_READY, .ready = *own},
				     abort_record->ready);
	return abort_record;
}

void sl_aborts_own(struct sl_core *core, uint32_t says, sl_attempt a, const struct sl_ready *own)
{
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_ABORTED, a);
	persist->what.says = says;
	persist->ready = own != NULL;
	if (own == NULL && a > core->aborted)
		core->aborted = a;
	find_own(core, a, own);
}

void sl_aborts_durable(struct sl_core *core, uint32_t says, sl_attempt a)
{
	uint32_t self = core->config.self;
	struct sl_abort_set *set = sl_aborts_find(core, a);
	struct sl_abort_record *ar = &core->aborts[self];
	if (set == NULL || set->aborts[self].a != a)
		return;
	set->aborts[self].says |= says;
	if (ar->record.present && ar->abort.t == core->t && ar->abort.a > a) {
		sl_aborts_pass(core, self, &set->aborts[self]);
		return;
	}
	ar->abort = set->aborts[self];
	sl_relay_record(core, SL_MSG_ABORT, self, self);
}

void sl_aborts_sign(struct sl_core *core, uint32_t says, sl_attempt a, const struct sl_ready *own)
{
	find_own(core, a, own);
	sl_aborts_durable(core, says, a);
}

/* --- learners that are open --- */

static bool is_open_in(const struct sl_core *core, uint32_t peer, sl_attempt a)
{
	const struct sl_peer *p = &core->peers[peer];
	return sl_bit(core->linked, peer) && p->hello && p->t == core->t && p->a == a &&
	       p->status == SL_PEER_STATUS_OPEN;
}

/* Return true if a learner has signed that it is stuck in attempt `a`: it may be out of reach of those that
 * can end it. */
static bool is_stuck_in(const struct sl_core *core, sl_attempt a)
{
	const struct sl_abort_set *set = sl_aborts_find(core, a);
	uint32_t says = 0;
	for (uint32_t i = 0; set != NULL && i < core->config.roster_size; i++)
		says |= set->aborts[i].says;
	return (says & SL_ABORT_STUCK) != 0;
}

void sl_aborts_pass(struct sl_core *core, uint32_t from, const struct sl_abort *abort_record)
{
	bool own = abort_record->id == core->config.ids[core->config.self];
	bool far = is_stuck_in(core, abort_record->a);
	uint64_t *to = NULL;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (i != from && (is_open_in(core, i, abort_record->a) || (far && sl_bit(core->linked, i)))) {
			to = to == NULL ? sl_emit_set(core) : to;
			sl_bit_set(to, i);
		}
	if (to != NULL)
		sl_emit_send(core, to, &(struct sl_message){.kind = SL_MSG_ABORT, .abort = *abort_record},
			     own);
}

void sl_aborts_show(struct sl_core *core, uint32_t peer)
{
	const struct sl_abort_set *set = sl_aborts_find(core, core->peers[peer].a);
	uint32_t shown = 0;
	if (set == NULL || !is_open_in(core, peer, core->peers[peer].a))
		return;
	for (uint32_t i = 0; i < core->config.roster_size && shown < SHOWN_MAX; i++) {
		if (set->aborts[i].says == 0 || i == peer)
			continue;
		sl_emit_send(core, sl_emit_only(core, peer),
			     &(struct sl_message){.kind = SL_MSG_ABORT, .abort = set->aborts[i]},
			     i == core->config.self);
		shown++;
	}
}

void sl_aborts_show_all(struct sl_core *core, sl_attempt a)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (is_open_in(core, i, a) && core->out->count < SHOWN_MAX)
			sl_aborts_show(core, i);
}

/* Return the attempt of the round in which learner i waits for others, by its Hello, or by its word that it
 * is stuck, which comes without a link; 0: none. */
static sl_attempt waits_in(const struct sl_core *core, uint32_t i)
{
	const struct sl_abort_record *ar = &core->aborts[i];
	if (is_open_in(core, i, core->peers[i].a))
		return core->peers[i].a;
	bool stuck = ar->record.present && ar->abort.t == core->t && (ar->abort.says & SL_ABORT_STUCK) != 0;
	return stuck ? ar->abort.a : 0;
}

/* Each learner that is open in an attempt below the own, and has shown its Ready, is told that the own Ready
 * never comes. */
static void deny(struct sl_core *core)
{
	for (uint32_t i = 0; core->a > 1 && i < core->config.roster_size; i++) {
		const struct sl_ready_record *rr = &core->readys[i];
		sl_attempt a = waits_in(core, i);
		bool asked = a != 0 && a < core->a && rr->record.present && rr->ready.t == core->t &&
			     rr->ready.a == a;
		if (!asked || !sl_aborts_may_deny(core, a))
			continue;
		struct sl_abort_set *set = sl_aborts_set(core, a);
		if (set == NULL || set->aborts[core->config.self].a == a)
			continue; /* signed, or on its way to the disk */
		if (a <= core->aborted)
			sl_aborts_sign(core, SL_ABORT_PROMISES, a, NULL);
		else
			sl_aborts_own(core, SL_ABORT_PROMISES, a, NULL);
	}
}

void sl_aborts_pending(struct sl_core *core)
{
	bool free = core->phase == SL_PHASE_TRAIN || core->phase == SL_PHASE_DISCOVER;
	bool committed = core->phase == SL_PHASE_COMMIT || core->phase == SL_PHASE_CATCHUP ||
			 core->phase == SL_PHASE_DONE; /* too late */
	if (committed || sl_core_abstains(core))
		return;
	deny(core);
	if (core->pending_abort <= core->aborted || core->pending_abort >= SL_ATTEMPTS_MAX)
		return;
	if (free && core->a <= core->pending_abort)
		core->a = core->pending_abort + 1;
	if (core->a > core->pending_abort && sl_aborts_may_deny(core, core->pending_abort))
		sl_aborts_own(core, SL_ABORT_PROMISES, core->pending_abort, NULL);
}

/* --- the present attempt --- */

uint32_t sl_aborts_of_view(const struct sl_core *core)
{
	const struct sl_abort_set *set = sl_aborts_find(core, core->view.a);
	for (uint32_t i = 0; set != NULL && i < core->view.n; i++)
		if (core->view.members[i] != core->config.self &&
		    (set->aborts[core->view.members[i]].says & SL_ABORT_UNRELEASED) != 0)
			return core->view.members[i];
	return SL_NOBODY;
}
