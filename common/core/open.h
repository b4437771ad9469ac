/* open.h - deposit keys and openings: what this learner knows of them, shows of its own, and passes on
 * (ROUND.md §7.12 Release, §10.3 Keys and openings).
 *
 * A key is known once it has the key_hash of its owner's Ready. theta openings of a key give it, too.
 */
#pragma once

#include "common/core/state.h"

/* Return the openings for which there is room in a view of `learners`. More than that are lost learners' that
 * have to wait until the keys of others are known. */
static inline size_t sl_open_most(uint32_t learners)
{
	size_t all = (size_t)learners * learners;
	return all < 4096 ? all : 4096;
}

/* A Key, an Opening has come. */
void sl_open_key(struct sl_core *core, uint32_t peer, const struct sl_message *message);
void sl_open_opening(struct sl_core *core, uint32_t peer, const struct sl_message *message);
/* The Ready of `position` has come: a key that its owner sent before it can be judged. */
void sl_open_ready(struct sl_core *core, uint32_t position);

/* The release is durable: the own deposit key is shown to the neighbours. */
void sl_open_release(struct sl_core *core);
/* The link to `peer` came up: show it its own deposit key, if it is known. */
void sl_open_remind(struct sl_core *core, uint32_t peer);
/* A link came up or fell: forget what was sent over it, and what the participant has. */
void sl_open_link(struct sl_core *core, uint32_t position);

/* Return true if the key share that neighbour `r` gave fits its Ready. */
bool sl_open_share_fits(const struct sl_core *core, uint32_t r);
/* Show the own key shares of neighbours whose keys stay away, and send to each participant that has sent a
 * Have the keys and openings that it lacks. */
void sl_open_advance(struct sl_core *core);
/* Return the time at which sl_open_advance has something to do. */
sl_ms sl_open_deadline(const struct sl_core *core);
