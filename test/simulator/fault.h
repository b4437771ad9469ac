/* fault.h - the faults of a run, drawn from a seed: kind, victim, and phase of the victim's round.
 *
 *   wanted --a learner enters the phase, or a timeout--> on --a timeout, or sl_sim_calm--> healed
 *
 * Each run has some of the kinds and a density: many runs with different kinds find more than one run with
 * all (swarm testing). Counts how often a kind met a phase, and at which point a crash came. Acts through the
 * verbs of sim.h.
 */
#pragma once

#include "test/simulator/fault_kinds.h"

/* Begin to cause faults in `sim`, which is not started yet. */
void sl_sim_faults_begin(struct sl_sim_faults *faults, struct sl_sim *sim, const struct sl_sim_mix *mix);
/* Do what operators would: abort what waits for a learner that is lost, or is undecided for good; lower a
 * quorum that was raised. */
void sl_sim_faults_operator(struct sl_sim_faults *faults);
/* End all faults and restart the learners that are down, except up to lost_most that the others do not need.
 */
void sl_sim_calm(struct sl_sim_faults *faults);
