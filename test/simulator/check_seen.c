/* The rules on privacy over several sums (GROUP.md §12.7), from the records on the learners' disks. */
#include "common/base/bytes.h"
#include "test/simulator/check.h"

#define OF_VIEW (1u << SL_SIM_SUMS) /* after the bits of the sums */

/* Learner i has made durable that participants may know the sum of the attempt. */
void sl_sim_check_sum_seen(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page)
{
	struct sl_sim_learner *l = &sim->learners[i];
	for (uint32_t s = 0; s < SL_SIM_SUMS; s++)
		if (l->sums[s] == page)
			return;
	l->sums[l->sum_count++ % SL_SIM_SUMS] = page;
}

bool sl_sim_check_alike(const struct sl_sim *sim, uint32_t i, uint32_t j)
{
	const struct sl_sim_learner *one = &sim->learners[i], *other = &sim->learners[j];
	uint32_t common = 0, known = 0;
	if (one->host.config.membership_change == SL_MEMBERSHIP_WARN)
		return true;
	for (uint32_t s = 0; s < SL_SIM_SUMS * SL_SIM_SUMS; s++) {
		const struct sl_sim_attempt *page = one->sums[s / SL_SIM_SUMS];
		common += (uint32_t)(page != NULL && page == other->sums[s % SL_SIM_SUMS]);
	}
	for (uint32_t s = 0; s < SL_SIM_SUMS; s++)
		known += (uint32_t)(one->sums[s] != NULL) + (uint32_t)(other->sums[s] != NULL);
	return 2 * common == known;
}

/* Return the sums of learner i in which k took part. */
static uint32_t sums_of(const struct sl_sim *sim, uint32_t i, uint32_t k)
{
	uint32_t set = 0;
	for (uint32_t s = 0; s < SL_SIM_SUMS; s++) {
		const struct sl_sim_attempt *page = sim->learners[i].sums[s];
		set |= (uint32_t)(page != NULL && page->of[k].in) << s;
	}
	return set;
}

/* Learner i shares: its report names the smallest atom, and with `wait` and `cohort` the attempt makes none
 * that is too small. An atom is made if it is of newcomers, or was part of a larger one. */
void sl_sim_check_atoms(struct sl_sim *sim, uint32_t i, const struct sl_sim_attempt *page)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	uint32_t sums[SL_LEARNERS_MAX], smallest = UINT32_MAX;
	if (l->forgot || l->liar)
		return;
	for (uint32_t k = 0; k < sim->n; k++)
		sums[k] = sums_of(sim, i, k) | (page->of[k].in ? OF_VIEW : 0);
	for (uint32_t k = 0; k < sim->n; k++) {
		uint32_t size = 0, before = 0;
		for (uint32_t m = 0; m < sim->n; m++) {
			size += sums[m] == sums[k];
			before += (sums[m] & ~OF_VIEW) == (sums[k] & ~OF_VIEW);
		}
		smallest = sums[k] != 0 && size < smallest ? size : smallest;
		if (l->host.config.membership_change != SL_MEMBERSHIP_WARN && sums[k] != 0 &&
		    size < sim->options.parameters.tolerance + 2 && (sums[k] == OF_VIEW || before > size) &&
		    !(page->of[k].in && size == page->n))
			sl_sim_fail(sim,
				    "learner %u shares in t%u a%u: with earlier sums it tells one of %u "
				    "learners, %u among them",
				    sim->ids[i], page->t, page->a, size, sim->ids[k]);
	}
	if (l->atom != smallest)
		sl_sim_fail(sim, "learner %u, t%u a%u: says %u, and the smallest atom has %u", sim->ids[i],
			    page->t, page->a, l->atom, smallest);
}
