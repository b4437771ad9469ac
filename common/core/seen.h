/* seen.h - the sums that this learner has seen, and what they tell together (GROUP.md §12.7 Privacy over
 * several sums).
 *
 * The sum of an attempt may be known to any participant when it is over without the proof that nothing was
 * learnt; that of a result when it is committed or adopted. Until then no other view is entered. Over several
 * sums, learners that took part in exactly the same ones are an *atom*: a linear combination of the sums has
 * one coefficient for all of an atom. With c+2 learners in each, a coalition of c learns nothing about fewer
 * than two others together.
 */
#pragma once

#include "common/core/state.h"

/* Return the bytes of memory for the sums. */
size_t sl_seen_bytes(const struct sl_core_config *config);
/* Take that memory; false: there is too little. Take what the disk remembers. */
bool sl_seen_open(struct sl_core *core, struct sl_arena *arena);

/* The attempt of the view is over, and others may know its sum. */
void sl_seen_over(struct sl_core *core);
/* The result of `certificate` is to be committed, or is committed already: its sum is seen. */
void sl_seen_commit(struct sl_core *core, const struct sl_certificate *certificate);

/* Set core->atom to the size of the smallest atom of the sums with that of the view, and report the learners
 * of atoms below c+2, once. Return true if the view makes such an atom: with membership_change wait or
 * cohort it is not entered. core->changed: the learners of these atoms. */
bool sl_seen_tells(struct sl_core *core);
/* Of the learners that core->view.position has, add those to core->excluded that membership_change leaves out
 * of the view: whole atoms with members that are missing, and fewer than c+2 newcomers. core->changed: of the
 * atom of this learner those that are missing, or the newcomers. */
void sl_seen_leave_out(struct sl_core *core);
