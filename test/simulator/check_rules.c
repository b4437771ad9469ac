/* Rules of the round: when an attempt is over, when a model may be used again, when
 * a learner may be Ready again, when a key may be shown, and which learners are needed (ROUND.md §9, §10).
 *
 * A certificate is judged by what is on the disks of all learners, not by what its holder has received: an
 * attempt that is over for a learner must be over in the world. Thresholds are computed here from the edges.
 */
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/simulator/check.h"

/* Return true if k can sign an Abort of the attempt: one that is on its disk for a later attempt covers each
 * earlier one in which k never was Ready. */
static bool has_aborted(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t k)
{
	return page->of[k].aborted || (!page->of[k].ready && sim->learners[k].aborted_a[page->t] >= page->a);
}

/* Return how many more Aborts of holders than its own `spare` the key of j needs, to be closed for ever:
 * negative while it can still be opened. */
static int64_t closed_by(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t j)
{
	int64_t degree = 0, aborted = 0, c = (int64_t)sim->options.parameters.tolerance;
	for (uint32_t k = 0; k < sim->n; k++) {
		degree += *sl_sim_check_edge(sim, page, j, k);
		aborted += *sl_sim_check_edge(sim, page, j, k) && has_aborted(sim, page, k);
	}
	int64_t threshold = c + 1 > degree / 2 + 1 ? c + 1 : degree / 2 + 1;
	return has_aborted(sim, page, j) ? aborted - (degree - threshold + 1) : -1;
}

static bool never_ready(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t k)
{
	return !page->of[k].ready && has_aborted(sim, page, k);
}

/* Count the members that aborted and never were Ready, and those whose key can never be opened, even if
 * `more` of its holders break their promise. */
static uint64_t are_out(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint64_t more)
{
	uint64_t count = 0;
	for (uint32_t k = 0; k < page->n; k++)
		count += never_ready(sim, page, page->members[k]) ||
			 closed_by(sim, page, page->members[k]) >= (int64_t)more;
	return count;
}

/* --- attempts that are over --- */

static bool over(const struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	uint64_t f = page->f, unsigned_for = 0;
	for (uint32_t k = 0; k < page->n; k++)
		unsigned_for +=
			page->of[page->members[k]].given_up || never_ready(sim, page, page->members[k]);
	return are_out(sim, page, f) >= f + 1 ||
	       unsigned_for >= page->n - sl_sim_check_digests(sim, page) + 1 + f;
}

/* Return true if those that follow the protocol lack a deposit or a key of a participant, all together. */
static bool lacks(const struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	uint64_t all = page->n < 64 ? (UINT64_C(1) << page->n) - 1 : UINT64_MAX, held = 0, keys = 0;
	for (uint32_t k = 0; k < page->n; k++) {
		const struct sl_sim_part *part = &page->of[page->members[k]];
		const struct sl_sim_learner *l = &sim->learners[page->members[k]];
		if (l->liar || l->lost)
			continue;
		if (part->ready && !part->told)
			return false; /* no learner knows */
		held |= part->held;
		keys |= part->keys;
	}
	return held != all || keys != all;
}

bool sl_sim_check_undecided(const struct sl_sim *sim, uint32_t i)
{
	const struct sl_view *view = sim->learners[i].host.view;
	const struct sl_sim_attempt *page = view != NULL ? sl_sim_check_find(sim, view->h) : NULL;
	uint64_t digests = 0;
	bool decided = true;
	for (uint32_t k = 0; page != NULL && k < page->n; k++) {
		uint32_t m = page->members[k];
		const struct sl_sim_part *part = &page->of[m];
		bool liar = sim->learners[m].liar;
		decided &= part->digested || part->given_up || never_ready(sim, page, m) || liar;
		digests += part->digested && !liar;
	}
	return page != NULL && (decided || lacks(sim, page)) && digests < sl_sim_check_digests(sim, page) &&
	       !over(sim, page);
}

void sl_sim_check_over(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page)
{
	if (!over(sim, page) && !sim->liars && !sim->learners[i].aborted_by_operator &&
	    !sl_sim_check_excused(sim, i, page->t))
		sl_sim_fail(sim, "learner %u holds t%u a%u for over, and it can be completed", sim->ids[i],
			    page->t, page->a);
}

/* --- rule B: a model that was shared and may be summed is not used again --- */

void sl_sim_check_reuse(struct sl_sim *sim, uint32_t i, sl_round t)
{
	uint64_t c = sim->options.parameters.tolerance;
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next) {
		if (page->t != t || page->of[i].x == NULL || page->of[i].draw != sim->learners[i].draw ||
		    !page->of[i].ready || sim->liars)
			continue;
		if (are_out(sim, page, c + page->f) < 1 + c + page->f)
			sl_sim_fail(sim, "learner %u encodes again a model that a%u may still reveal",
				    sim->ids[i], page->a);
	}
}

/* --- rule A: a Ready in each other attempt of the round is of one that is over, and has another number ---
 */

void sl_sim_check_safety(struct sl_sim *sim, uint32_t i, const struct sl_ready *ready)
{
	if (sl_sim_check_excused(sim, i, ready->t))
		return;
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->t == ready->t && memcmp(page->h, ready->view, SL_HASH_BYTES) != 0 &&
		    page->of[i].in && page->of[i].ready && (!page->of[i].over || page->a == ready->a))
			sl_sim_fail(sim, "learner %u is ready for a%u, and was for a%u", sim->ids[i],
				    ready->a, page->a);
}

/* --- what may be shown --- */

void sl_sim_check_shown(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page)
{
	for (uint32_t k = 0; k < page->n; k++)
		if (!page->of[page->members[k]].ready)
			sl_sim_fail(sim, "learner %u shows a key in a%u before %u is ready", sim->ids[i],
				    page->a, sim->ids[page->members[k]]);
	sl_sim_check_charged(sim, page);
	if (page->of[i].ended || !page->of[i].released)
		sl_sim_fail(sim, "learner %u shows a key in a%u, which it %s", sim->ids[i], page->a,
			    page->of[i].ended ? "gave up" : "has not released on its disk");
}

/* --- learners that may be lost --- */

/* Return true if a living learner other than i, no liar, has committed round t: the others catch up from it.
 */
static bool committed_without(const struct sl_sim *sim, uint32_t i, sl_round t)
{
	bool committed = false;
	for (uint32_t j = 0; j < sim->n; j++) {
		const struct sl_sim_learner *l = &sim->learners[j];
		committed |= j != i && !l->lost && !l->liar && l->host.disk.certificate.t >= t;
	}
	return committed;
}

/* An attempt tolerates the loss of c members: the others give it up, if they cannot complete it. For either,
 * as many as a commit needs must be left (ROUND.md §10.4 How recovery ends); a liar may sign another
 * result, and a learner that forgot signs none. */
bool sl_sim_check_needed(const struct sl_sim *sim, uint32_t i)
{
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next) {
		if (!page->of[i].in || !page->of[i].ready)
			continue;
		uint64_t lost = 1, signers = page->n - 1;
		for (uint32_t k = 0; k < page->n; k++) {
			uint32_t j = page->members[k];
			const struct sl_sim_learner *l = &sim->learners[j];
			lost += l->lost;
			signers -= j != i && (l->lost || l->liar || sl_sim_check_excused(sim, j, page->t));
		}
		if (lost > sim->options.parameters.tolerance ||
		    (signers < sl_sim_check_digests(sim, page) && !committed_without(sim, i, page->t)))
			return true;
	}
	return false;
}
