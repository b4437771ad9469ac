/* The rules on what learners sign: an edge is what both ends listed, an attempt has one view, nobody signs two things
 * for one attempt, and no Ready while a released attempt may still be completed by others (protocol 6, rule A). */
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/core/check.h"

static bool member(const struct sim_attempt *page, uint32_t i)
{
	for (uint32_t k = 0; k < page->n; k++)
		if (page->members[k] == i)
			return true;
	return false;
}

static uint32_t index_of(const struct sim *sim, sl_id id)
{
	uint32_t i = 0;
	while (i < sim->n && sim->ids[i] != id)
		i++;
	return i;
}

/* --- link states --- */

static void check_link_state(struct sim *sim, uint32_t i, const struct sl_link_state *state)
{
	struct sim_learner *l = &sim->learners[i];
	size_t bytes = sl_bits_words(sim->n) * sizeof(uint64_t);
	uint64_t *named = calloc(1, bytes);
	for (uint32_t c = 0; c < state->count; c++)
		if (index_of(sim, state->candidates[c]) < sim->n)
			sl_bit_set(named, index_of(sim, state->candidates[c]));
	if (l->listed->t == state->t && l->listed->a == state->a && l->listed->incarnation == state->incarnation &&
	    memcmp(l->named, named, bytes) != 0)
		sim_fail(sim, "learner %u signs two link states for t%u a%u", sim->ids[i], state->t, state->a);
	memcpy(l->named, named, bytes);
	free(named);
	*l->listed = *state;
	l->listed->candidates = NULL;
	sl_attempt *highest = &l->signed_a[state->t <= sim->options.parameters.rounds ? state->t : 0];
	*highest = state->a > *highest ? state->a : *highest;
}

static bool of_page(const struct sim *sim, uint32_t i, const struct sim_attempt *page)
{
	const struct sl_link_state *listed = sim->learners[i].listed;
	return listed->t == page->t && listed->a == page->a;
}

/* Of those who have not signed for another attempt since. */
void check_edges(struct sim *sim, const struct sim_attempt *page)
{
	for (uint32_t k = 0; k < page->n && !sim->liars; k++)
		for (uint32_t m = k + 1; m < page->n; m++) {
			uint32_t i = page->members[k], j = page->members[m];
			bool mutual = sl_bit(sim->learners[i].named, j) && sl_bit(sim->learners[j].named, i);
			if (of_page(sim, i, page) && of_page(sim, j, page) &&
			    mutual != page->edge[(size_t)i * sim->n + j])
				sim_fail(sim, "t%u a%u: the edge %u-%u is %s", page->t, page->a, sim->ids[i], sim->ids[j],
					 mutual ? "missing" : "one's word only");
		}
}

/* Whoever restarts has another incarnation, and so another view. */
static bool may_differ(const struct sim *sim, const struct sim_attempt *page)
{
	for (uint32_t k = 0; k < page->n; k++)
		if (sim->learners[page->members[k]].life > 0)
			return true;
	return sim->liars;
}

void check_one_view(struct sim *sim, const struct sim_attempt *page)
{
	for (const struct sim_attempt *other = sim->attempts; other != NULL; other = other->next) {
		if (other == page || other->t != page->t || other->a != page->a || may_differ(sim, page) ||
		    may_differ(sim, other))
			continue;
		for (uint32_t k = 0; k < page->n; k++)
			if (member(other, page->members[k]))
				sim_fail(sim, "t%u a%u has two views, and %u is in both", page->t, page->a,
					 sim->ids[page->members[k]]);
	}
}

/* --- Readys --- */

static bool released(const struct sim_attempt *page, uint32_t i)
{
	for (uint32_t m = 0; m < page->chunks; m++)
		if (page->out[(size_t)i * page->chunks + m] >= 0)
			return true;
	return false;
}

/* Until releases are on the disk, the rule is kept by those only who have not restarted. */
static void check_rule_a(struct sim *sim, uint32_t i, const struct sl_ready *ready)
{
	for (const struct sim_attempt *page = sim->attempts; page != NULL; page = page->next) {
		if (page->t != ready->t || memcmp(page->h, ready->view, SL_HASH_BYTES) == 0 || !member(page, i) ||
		    !released(page, i) || sim->learners[i].life > 0)
			continue;
		for (uint32_t k = 0; k < page->n; k++)
			if (sim->learners[page->members[k]].signed_a[ready->t] <= page->a)
				sim_fail(sim, "learner %u is ready for a%u, but it released a%u, which %u may complete",
					 sim->ids[i], ready->a, page->a, sim->ids[page->members[k]]);
	}
}

static void check_ready(struct sim *sim, uint32_t i, const struct sl_ready *ready)
{
	struct sim_attempt *page = check_find(sim, ready->view);
	sl_attempt *last = &sim->learners[i].ready_a[ready->t];
	if (page == NULL || page->ended[i])
		sim_fail(sim, "learner %u is ready for a view that it does not have", sim->ids[i]);
	if (page->ready[i])
		return; /* again, over a new link */
	if (ready->a <= *last)
		sim_fail(sim, "learner %u is ready for a%u after a%u", sim->ids[i], ready->a, *last);
	*last = ready->a;
	page->ready[i] = true;
	check_rule_a(sim, i, ready);
}

void check_signed(struct sim *sim, uint32_t i, const struct sl_action *action)
{
	if (!action->send.own)
		return;
	if (action->send.message.kind == SL_MSG_LINK_STATE)
		check_link_state(sim, i, &action->send.message.link_state);
	else if (action->send.message.kind == SL_MSG_READY)
		check_ready(sim, i, &action->send.message.ready);
}

/* What it had promised to do, nobody does any more. */
void check_crashed(struct sim *sim, uint32_t i)
{
	struct sim_learner *l = &sim->learners[i];
	for (struct sim_attempt *page = sim->attempts; page != NULL; page = page->next)
		if (member(page, i))
			page->ended[i] = true;
	memset(l->ready_a, 0, (sim->options.parameters.rounds + 2) * sizeof *l->ready_a);
	memset(l->listed, 0, sizeof *l->listed);
	l->phase = SL_PHASE_TRAIN;
	l->released = false;
}
