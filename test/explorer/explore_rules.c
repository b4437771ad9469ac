/* The rules that every world has to keep. */
#include "test/explorer/explore_parts.h"

#include <string.h>

static bool has(const struct sl_explore_look *look, uint32_t kind, uint64_t view)
{
	for (uint32_t k = 0; k < look->past_count; k++)
		if (look->past[k].kind == kind && look->past[k].view == view)
			return true;
	return false;
}

/* Return true if the masked state of `i` in the view may be known, also to c learners that use the key shares
 * they hold: it sent its key, or enough of its holders may open it. */
static bool may_be_known(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t i,
			 uint32_t members, uint64_t view)
{
	uint32_t c = x->options.tolerance, degree = 0, openers = c;
	for (uint32_t j = 0; j < x->options.learners; j++)
		degree += j != i && sl_explore_in(members, j) && sl_explore_world_near(x, i, j);
	uint32_t threshold = c + 1 > degree / 2 + 1 ? c + 1 : degree / 2 + 1;
	for (uint32_t j = 0; j < x->options.learners; j++)
		openers += j != i && sl_explore_in(members, j) && sl_explore_world_near(x, i, j) &&
			   has(sl_explore_world_look(x, w, j), SL_PERSIST_RELEASED, view);
	return has(sl_explore_world_look(x, w, i), SL_PERSIST_RELEASED, view) ||
	       (openers > c && openers >= threshold);
}

/* A model that was in an attempt may enter another one only if the masked states of at least c+1 participants
 * of the first are never known (ROUND.md §9.4 Rule B). `released` is the record of any participant. */
static void check_reuse(struct sl_explore *x, const struct sl_explore_world *w,
			const struct sl_explore_record *released)
{
	uint32_t known = 0;
	for (uint32_t i = 0; i < x->options.learners; i++)
		known += sl_explore_in(released->members, i) &&
			 may_be_known(x, w, i, released->members, released->view);
	if ((uint32_t)__builtin_popcount(released->members) >= known + x->options.tolerance + 1)
		return;
	for (uint32_t i = 0; i < x->options.learners; i++) {
		const struct sl_explore_look *look = sl_explore_world_look(x, w, i);
		const struct sl_explore_record *first = NULL;
		for (const struct sl_explore_record *r = look->past; r < look->past + look->past_count; r++) {
			if (r->kind != SL_PERSIST_PREPARED)
				continue;
			if (first != NULL && r->model == first->model)
				sl_explore_world_fail(
					x, "a model is used again although too many masked states of its "
					   "attempt may be known");
			if (r->view == released->view)
				first = r;
		}
	}
}

static void check_releases(struct sl_explore *x, const struct sl_explore_world *w,
			   const struct sl_explore_look *look)
{
	for (uint32_t k = 0; k < look->past_count; k++) {
		const struct sl_explore_record *r = &look->past[k];
		if (r->kind != SL_PERSIST_RELEASED)
			continue;
		for (uint32_t i = 0; i < x->options.learners; i++)
			if (sl_explore_in(r->members, i) && sl_explore_honest(x, i) &&
			    !has(sl_explore_world_look(x, w, i), SL_PERSIST_PREPARED, r->view))
				sl_explore_world_fail(x, "a learner releases before a participant is ready");
		check_reuse(x, w, r);
	}
}

void sl_explore_rules_check(struct sl_explore *x, const struct sl_explore_world *w)
{
	uint64_t digest = 0;
	for (uint32_t i = 0; i < x->options.learners; i++) {
		const struct sl_explore_look *look = sl_explore_world_look(x, w, i);
		if (!sl_explore_honest(x, i))
			continue;
		if (look->digest != 0 && digest != 0 && look->digest != digest)
			sl_explore_world_fail(x,
					      "two learners have committed different results of one round");
		if (look->digest != 0)
			digest = look->digest;
		if (look->past_count > 0 && w->faults == 0)
			check_releases(x, w, look);
	}
}

static bool is_left(const struct sl_explore_world *w, uint32_t i)
{
	return sl_explore_alive(w, i) && !sl_explore_in(w->cut, i);
}

/* Return true if those that are left are too few for a view, and none of them has committed: they can do no
 * more than leave the attempt. */
static bool are_few(const struct sl_explore *x, const struct sl_explore_world *w)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < x->options.learners; i++) {
		left += is_left(w, i);
		if (is_left(w, i) && sl_explore_world_look(x, w, i)->committed > 0)
			return false;
	}
	return left < x->options.tolerance + 2;
}

void sl_explore_world_last(struct sl_explore *x, const struct sl_explore_world *w)
{
	uint32_t lost = (uint32_t)__builtin_popcount(w->gone | w->cut);
	bool few = are_few(x, w);
	if (w->faults != 0 || lost > x->options.tolerates)
		return;
	for (uint32_t i = 0; i < x->options.learners; i++) {
		const struct sl_explore_look *look = sl_explore_world_look(x, w, i);
		if (!is_left(w, i) || look->committed > 0 || (few && look->phase == SL_PHASE_DISCOVER))
			continue;
		sl_explore_world_fail(x, "no progress: all is quiet, and a learner has not committed");
		return;
	}
}
