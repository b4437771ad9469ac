/* explore_parts.h - what explore_world.c, explore_rules.c and explore_choices.c share. */
#pragma once

#include "test/explorer/explore_world.h"

#define LINK_ENDS 0u /* in a queue; a message is its number + 2 */
#define LINK_BEGINS 1u

/* Return true if the bit set has the actor. */
static inline bool sl_explore_in(uint32_t set, uint32_t actor)
{
	return set >> actor & 1;
}

/* Return what can be seen of an actor. */
static inline const struct sl_explore_look *
sl_explore_world_look(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t actor)
{
	return sl_explore_learners_look(&x->learners, w->learner[actor]);
}

static inline bool sl_explore_alive(const struct sl_explore_world *w, uint32_t actor)
{
	return !sl_explore_in(w->down | w->gone, actor);
}

/* Return the roster index of an actor: the two selves of the liar have one. */
static inline uint32_t sl_explore_index(const struct sl_explore *x, uint32_t actor)
{
	return actor == x->options.learners ? x->liar : actor;
}

static inline bool sl_explore_honest(const struct sl_explore *x, uint32_t actor)
{
	return sl_explore_index(x, actor) != x->liar;
}

/* explore_world.c */
/* Note that a rule is broken; the first one counts. */
void sl_explore_world_fail(struct sl_explore *x, const char *why);
/* Return true if a link between the learners is possible: always, or on the ring. */
bool sl_explore_world_near(const struct sl_explore *x, uint32_t a, uint32_t b);
/* Return the queue of receiver `to` and sender `from`. */
const uint32_t *sl_explore_world_queue(const struct sl_explore *x, const struct sl_explore_world *w,
				       uint32_t to, uint32_t from, uint32_t *count);
/* Return the place of the end of the link in the queue, or UINT32_MAX. */
uint32_t sl_explore_world_end_of(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t to,
				 uint32_t from);
/* explore_rules.c: check the world after a choice. */
void sl_explore_rules_check(struct sl_explore *x, const struct sl_explore_world *w);
