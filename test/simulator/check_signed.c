/* The rules on what learners sign: an edge is what both ends listed, an attempt has one view, no learner
 * signs two things for one attempt, and no Ready while a released attempt may still be completed by others
 * (safety rule). */
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/simulator/check.h"

static uint32_t index_of(const struct sl_sim *sim, sl_id id)
{
	uint32_t i = 0;
	while (i < sim->n && sim->ids[i] != id)
		i++;
	return i;
}

/* --- one record of a kind --- */

static void keep_same(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page,
		      struct sl_sim_record *first, const uint8_t *hash, const char *what)
{
	if (first->known && memcmp(first->hash, hash, SL_HASH_BYTES) != 0 &&
	    !sl_sim_check_excused(sim, i, page->t))
		sl_sim_fail(sim, "learner %u signs two different %s for t%u a%u", sim->ids[i], what, page->t,
			    page->a);
	first->known = true;
	memcpy(first->hash, hash, SL_HASH_BYTES);
}

/* Learner i signs `message`, of which it may sign one only in the attempt, in whichever life. */
static void sign_once(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page,
		      struct sl_sim_record *first, const struct sl_message *message, const char *what)
{
	static const struct sl_scope scope; /* the roster may have changed */
	uint8_t hash[SL_HASH_BYTES];
	sl_canonical_message(&scope, message, hash);
	keep_same(sim, i, page, first, hash, what);
}

/* --- link states --- */

static struct sl_sim_listed *next_listed(struct sl_sim_learner *l)
{
	struct sl_sim_listed oldest = l->listed[SL_SIM_LISTED_MAX - 1];
	memmove(l->listed + 1, l->listed, (SL_SIM_LISTED_MAX - 1) * sizeof oldest);
	l->listed[0] = oldest;
	return &l->listed[0];
}

static void check_link_state(struct sl_sim *sim, uint32_t i, const struct sl_link_state *state)
{
	struct sl_sim_learner *l = &sim->learners[i];
	size_t bytes = sl_bit_words(sim->n) * sizeof(uint64_t);
	struct sl_sim_listed *last = &l->listed[0];
	bool again = last->t == state->t && last->a == state->a && last->incarnation == state->incarnation;
	uint64_t named[SL_LEARNERS_MAX / 64 + 1];
	memset(named, 0, bytes);
	for (uint32_t c = 0; c < state->count; c++)
		if (index_of(sim, state->candidates[c]) < sim->n)
			sl_bit_set(named, index_of(sim, state->candidates[c]));
	if (again && memcmp(last->named, named, bytes) != 0)
		sl_sim_fail(sim, "learner %u signs two link states for t%u a%u", sim->ids[i], state->t,
			    state->a);
	struct sl_sim_listed *listed = again ? last : next_listed(l);
	memcpy(listed->named, named, bytes);
	listed->t = state->t;
	listed->a = state->a;
	listed->incarnation = state->incarnation;
}

/* Return true if learner i may have signed, for this attempt, that it lists j (or, without `lists`, that it
 * does not). After a restart it may have signed both, and the newer link state may not have been sent. Those
 * from before its disk was set back are not known here, and others may still have them. */
static bool may_list(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t i, uint32_t j,
		     bool lists)
{
	bool known = false;
	if (sl_sim_check_excused(sim, i, page->t))
		return true;
	for (uint32_t k = 0; k < SL_SIM_LISTED_MAX; k++) {
		const struct sl_sim_listed *listed = &sim->learners[i].listed[k];
		if (listed->t != page->t || listed->a != page->a)
			continue;
		known |= listed->incarnation == sim->learners[i].host.config.incarnation;
		if (sl_bit(listed->named, j) == lists)
			return true;
	}
	return !known;
}

void sl_sim_check_edges(struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	for (uint32_t k = 0; k < page->n && !sim->liars; k++)
		for (uint32_t m = k + 1; m < page->n; m++) {
			uint32_t i = page->members[k], j = page->members[m];
			bool edge = *sl_sim_check_edge(sim, page, i, j);
			bool one = may_list(sim, page, i, j, edge), both = may_list(sim, page, j, i, edge);
			if (edge ? !one || !both : !one && !both)
				sl_sim_fail(sim, "t%u a%u: the edge %u-%u is %s", page->t, page->a,
					    sim->ids[i], sim->ids[j],
					    edge ? "listed by one end only" : "missing");
		}
}

/* A learner that restarts has another incarnation, and so another view. One that is set up otherwise may see
 * itself in a view from which the others leave it out, like one that has seen other sums. */
static bool may_differ(const struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	for (uint32_t k = 0; k < page->n; k++)
		if (sim->learners[page->members[k]].life > 0 || sim->learners[page->members[k]].odd ||
		    !sl_sim_check_alike(sim, page->members[0], page->members[k]))
			return true;
	return sim->liars;
}

void sl_sim_check_one_view(struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	for (const struct sl_sim_attempt *other = sim->attempts; other != NULL; other = other->next) {
		if (other == page || other->t != page->t || other->a != page->a || may_differ(sim, page) ||
		    may_differ(sim, other))
			continue;
		for (uint32_t k = 0; k < page->n; k++)
			if (other->of[page->members[k]].in)
				sl_sim_fail(sim, "t%u a%u has two views, and %u is in both", page->t, page->a,
					    sim->ids[page->members[k]]);
	}
}

/* Return true if learner i was in a view of an earlier attempt of the round; `shared`: and shared in it. */
static bool was_in(const struct sl_sim *sim, const struct sl_view *view, uint32_t i, bool shared)
{
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->t == view->t && page->a < view->a && page->of[i].in &&
		    (!shared || page->of[i].x != NULL))
			return true;
	return false;
}

void sl_sim_check_failed(struct sl_sim *sim, const struct sl_view *view)
{
	uint64_t enough = sim->options.parameters.tolerance + 1, least = 0, most = 0;
	enough = enough < view->n ? enough : view->n;
	for (uint32_t k = 0; k < view->n; k++) {
		uint32_t i = view->members[k];
		bool fresh = sim->learners[i].life == 0;
		least += fresh && was_in(sim, view, i, true);
		most += !fresh || was_in(sim, view, i, false); /* its disk may say more or less */
	}
	if (!sim->liars && (view->agreed.failed ? most < enough : least >= enough))
		sl_sim_fail(sim, "t%u a%u: %llu to %llu learners had an attempt fail, and `failed` is %llu",
			    view->t, view->a, (unsigned long long)least, (unsigned long long)most,
			    (unsigned long long)view->agreed.failed);
}

/* --- Readys --- */

static void check_ready(struct sl_sim *sim, uint32_t i, const struct sl_message *message)
{
	const struct sl_ready *ready = &message->ready;
	struct sl_sim_attempt *page = sl_sim_check_find(sim, ready->view);
	sl_attempt *last = &sim->learners[i].ready_a[ready->t];
	if (page == NULL || (page->of[i].ended && !sl_sim_check_excused(sim, i, ready->t)))
		sl_sim_fail(sim, "learner %u is ready for a view that it does not have", sim->ids[i]);
	sign_once(sim, i, page, &page->of[i].signed_ready, message, "Readys");
	if (page->of[i].ready)
		return; /* again, over a new link */
	const struct sl_host_disk *disk = &sim->learners[i].host.disk;
	if (disk->certificate.t >= ready->t)
		return; /* it has fetched the round: no Ready of it binds a learner any more */
	if (disk->open.a != ready->a || memcmp(disk->open.readys[0].view, ready->view, SL_HASH_BYTES) != 0)
		sl_sim_fail(sim, "learner %u is ready for a%u, which is not on its disk", sim->ids[i],
			    ready->a);
	if (ready->a <= sim->learners[i].aborted_a[ready->t])
		sl_sim_fail(sim, "learner %u is ready for a%u, and aborted all up to a%u", sim->ids[i],
			    ready->a, sim->learners[i].aborted_a[ready->t]);
	if (ready->a <= *last)
		sl_sim_fail(sim, "learner %u is ready for a%u after a%u", sim->ids[i], ready->a, *last);
	*last = ready->a;
	page->of[i].ready = true;
	sl_sim_check_safety(sim, i, ready);
}

/* --- Aborts --- */

static void check_abort(struct sl_sim *sim, uint32_t i, const struct sl_abort *abort_record)
{
	static const uint8_t none[SL_HASH_BYTES];
	bool denies = memcmp(abort_record->ready, none, sizeof none) == 0;
	if (sl_sim_check_excused(sim, i, abort_record->t))
		return;
	for (struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next) {
		if (page->t != abort_record->t || page->a != abort_record->a || !page->of[i].in)
			continue;
		if (page->of[i].released && (abort_record->says & SL_ABORT_UNRELEASED) != 0)
			sl_sim_fail(sim, "learner %u signs that it never released a%u", sim->ids[i], page->a);
		if (page->of[i].ready && denies)
			sl_sim_fail(sim, "learner %u signs that it never was ready for a%u", sim->ids[i],
				    page->a);
		keep_same(sim, i, page, &page->of[i].named, abort_record->ready, "Aborts");
	}
}

static void check_digest(struct sl_sim *sim, uint32_t i, const struct sl_message *message)
{
	const struct sl_digest *digest = &message->digest;
	struct sl_sim_attempt *page = sl_sim_check_find(sim, digest->view);
	if (page == NULL || digest->id != sim->ids[i] || !page->of[i].in)
		return; /* of a round that it fetched */
	if (page->of[i].given_up && !sl_sim_check_excused(sim, i, page->t))
		sl_sim_fail(sim, "learner %u signs a result of a%u, which it has given up", sim->ids[i],
			    page->a);
	page->of[i].digested = true;
	sign_once(sim, i, page, &page->of[i].signed_digest, message, "Digests");
}

static void check_checksums(struct sl_sim *sim, uint32_t i, const struct sl_message *message)
{
	struct sl_sim_attempt *page = sl_sim_check_find(sim, message->checksums.view);
	if (page == NULL || !page->of[i].released)
		sl_sim_fail(sim, "learner %u signs checksums of a view that it has not released",
			    sim->ids[i]);
	sign_once(sim, i, page, &page->of[i].signed_checksum, message, "Checksums");
}

void sl_sim_check_signed(struct sl_sim *sim, uint32_t i, const struct sl_action *action)
{
	if (!action->send.own)
		return;
	if (action->send.message.kind == SL_MSG_LINK_STATE)
		check_link_state(sim, i, &action->send.message.link_state);
	else if (action->send.message.kind == SL_MSG_READY)
		check_ready(sim, i, &action->send.message);
	else if (action->send.message.kind == SL_MSG_DIGEST)
		check_digest(sim, i, &action->send.message);
	else if (action->send.message.kind == SL_MSG_CHECKSUM)
		check_checksums(sim, i, &action->send.message);
	else if (action->send.message.kind == SL_MSG_ABORT)
		check_abort(sim, i, &action->send.message.abort);
}

/* Forget the promises of a crashed learner that are not on its disk. */
void sl_sim_check_crashed(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	for (struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->of[i].in) /* the next life is in the attempt if it is on the disk */
			page->of[i].ended =
				l->host.disk.open.a == 0 ||
				memcmp(l->host.disk.open.readys[0].view, page->h, SL_HASH_BYTES) != 0;
	memset(l->ready_a, 0, (sim->options.parameters.rounds + 2) * sizeof *l->ready_a);
	l->host.phase = SL_PHASE_TRAIN;
}

/* The disk of a crashed learner was set back: forget what it has signed since. What it released stays known.
 */
void sl_sim_check_forgot(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	memset(l->aborted_a, 0, (sim->options.parameters.rounds + 2) * sizeof *l->aborted_a);
	memset(l->listed, 0, sizeof l->listed);
	for (uint32_t k = 0; k < SL_SIM_LISTED_MAX; k++)
		l->listed[k].named = sl_sim_alloc(sim, sl_bit_words(sim->n), sizeof(uint64_t));
	sl_sim_check_crashed(sim, i);
}
