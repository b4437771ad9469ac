/* The list of attempts: one entry for each, opened when the first learner closes its view. */
#include "test/simulator/check.h"

struct sl_sim_attempt *sl_sim_check_find(const struct sl_sim *sim, const uint8_t *h)
{
	struct sl_sim_attempt *page = sim->attempts;
	while (page != NULL && memcmp(page->h, h, SL_HASH_BYTES) != 0)
		page = page->next;
	return page;
}

struct sl_sim_attempt *sl_sim_check_open(struct sl_sim *sim, const struct sl_view *view)
{
	struct sl_sim_attempt *page = sl_sim_alloc(sim, 1, sizeof *page);
	*page = (struct sl_sim_attempt){.next = sim->attempts,
					.t = view->t,
					.a = view->a,
					.n = view->n,
					.chunks = sl_view_state_chunks_most(view->elements),
					.p = view->field.p,
					.elements = view->elements,
					.f = view->agreed.forgetful};
	sim->attempts = page;
	memcpy(page->h, view->h, SL_HASH_BYTES);
	page->members = sl_sim_copy(sim, view->members, view->n * sizeof *page->members);
	page->edge = sl_sim_alloc(sim, (size_t)sim->n * sim->n, sizeof *page->edge);
	page->of = sl_sim_alloc(sim, sim->n, sizeof *page->of);
	for (uint32_t k = 0; k < view->n; k++) {
		struct sl_sim_part *part = &page->of[view->members[k]];
		part->in = true;
		for (const struct sl_sim_aborted *aborted = sim->learners[view->members[k]].aborted;
		     aborted != NULL; aborted = aborted->next)
			part->aborted |= aborted->t == view->t && aborted->a == view->a;
	}
	page->out = sl_sim_alloc(sim, (size_t)sim->n * page->chunks, sizeof *page->out);
	return page;
}

/* Return the number of equal digests that a commit needs: one of them is of an honest learner, and two sets
 * of them have more than f signers in common (ROUND.md §7.14 Confirm). */
uint64_t sl_sim_check_digests(const struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	uint64_t digests = 0, c = sim->options.parameters.tolerance;
	while (digests < page->n && (digests <= c || 2 * digests <= page->n + page->f))
		digests++;
	return digests;
}
