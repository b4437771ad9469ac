/* forget.h - disks that forget: copies of a learner's disk as it was at earlier writes, each of which may
 * come back in place of the present one, as when a snapshot of a machine is restored.
 */
#pragma once

#include "test/simulator/sim.h"

/* Keep copies of the disks from now on. */
void sl_sim_forget_begin(struct sl_sim *sim);
/* Keep a copy of the disk of learner i, in place of its oldest one. */
void sl_sim_forget_keep(struct sl_sim *sim, uint32_t i);
/* Replace the disk of learner i, which has crashed, by one of its copies, or if `empty` by an empty one. */
void sl_sim_forget_now(struct sl_sim *sim, uint32_t i, bool empty, uint64_t random);
void sl_sim_forget_end(struct sl_sim *sim);
