/* The rules on attempts that the edition of the protocol decides: when a model may be used again, when a
 * learner may be Ready again, when a masked state may be shown, and which learners are needed (PROTOCOL.md §9
 * Abort, safety rule, reuse rule; §10 Recovery). */
#include <stdlib.h>

#include "common/base/bytes.h"
#include "tools/sim/check.h"

/* --- the reuse rule --- */

static uint32_t aborts(const struct sl_sim *sim, const struct sl_sim_attempt *page)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		count += page->of[i].aborted;
	return count;
}

/* Check the reuse rule: learner i may encode its model again. */
void sl_sim_check_reuse(struct sl_sim *sim, uint32_t i, sl_round t)
{
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->t == t && page->of[i].x != NULL && page->of[i].draw == sim->learners[i].draw &&
		    page->of[i].released && aborts(sim, page) < sim->options.parameters.tolerance + 1)
			sl_sim_fail(sim,
				    "learner %u encodes a model that it released in a%u, which %u aborted",
				    sim->ids[i], page->a, aborts(sim, page));
}

/* --- the safety rule --- */

/* Return true if the operators of all other members have aborted the attempt: without i, none can finish it.
 */
static bool given_up_by_all_but(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t i)
{
	for (uint32_t k = 0; k < page->n; k++)
		if (page->members[k] != i && !sim->learners[page->members[k]].aborted_by_operator)
			return false;
	return true;
}

void sl_sim_check_safety(struct sl_sim *sim, uint32_t i, const struct sl_ready *ready)
{
	if (sl_sim_check_excused(sim, i, ready->t))
		return;
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next) {
		if (page->t != ready->t || memcmp(page->h, ready->view, SL_HASH_BYTES) == 0 ||
		    !page->of[i].in || !page->of[i].released)
			continue;
		bool closed = sim->learners[i].aborted_by_operator || given_up_by_all_but(sim, page, i);
		for (uint32_t k = 0; k < page->n; k++)
			closed |= page->of[page->members[k]].aborted;
		if (!closed)
			sl_sim_fail(sim,
				    "learner %u is ready for a%u, but it released a%u, which may be complete",
				    sim->ids[i], ready->a, page->a);
	}
}

/* --- what may be shown --- */

void sl_sim_check_shown(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page)
{
	for (uint32_t k = 0; k < page->n; k++)
		if (!page->of[page->members[k]].ready)
			sl_sim_fail(sim, "learner %u releases a%u before %u is ready", sim->ids[i], page->a,
				    sim->ids[page->members[k]]);
	if (page->of[i].ended || !page->of[i].released)
		sl_sim_fail(sim, "learner %u shows its state in a%u, which it %s", sim->ids[i], page->a,
			    page->of[i].ended ? "gave up" : "has not released on its disk");
}

/* --- learners that may be lost --- */

static uint32_t position(const struct sl_sim_attempt *page, uint32_t i)
{
	uint32_t k = 0;
	while (page->members[k] != i)
		k++;
	return k;
}

static bool lives(const struct sl_sim *sim, uint32_t j)
{
	return !sim->learners[j].lost && sim->learners[j].host.core != NULL;
}

static bool holds(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t j, uint32_t i)
{
	const struct sl_sim_disk *disk = &sim->learners[j].host.disk;
	const struct sl_slots *state_file = &sim->learners[j].host.workspace.state_file,
			      *own = &sim->learners[i].host.workspace.state_file;
	size_t at = position(page, i) * own->slot_bytes;
	return disk->open.a != 0 && memcmp(disk->open.readys[0].view, page->h, SL_HASH_BYTES) == 0 &&
	       state_file->base != NULL && own->base != NULL &&
	       memcmp(state_file->base + at, own->base + at, own->slot_bytes) == 0;
}

static bool needed_in(const struct sl_sim *sim, const struct sl_sim_attempt *page, uint32_t i)
{
	bool waits = false;
	for (uint32_t k = 0; k < page->n; k++) {
		uint32_t j = page->members[k];
		if (j == i || !lives(sim, j))
			continue;
		if (sim->learners[j].host.disk.certificate.t >= page->t || page->of[j].aborted ||
		    holds(sim, page, j, i))
			return false;
		waits = true;
	}
	return waits;
}

bool sl_sim_check_needed(const struct sl_sim *sim, uint32_t i)
{
	for (const struct sl_sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (page->of[i].in && page->of[i].ready && !page->of[i].aborted && needed_in(sim, page, i))
			return true;
	return false;
}
