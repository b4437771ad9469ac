/* fault_kinds.h - what a fault does to the world, and how it ends. Drawn and timed by fault.c. */
#pragma once

#include "tools/sim/fault.h"

#define NO_LEARNER UINT32_MAX
#define LINK_DEAD_MS 6000u /* silence after which a link counts as lost */

enum sl_sim_fault_call { CALL_WANT, CALL_FIRE, CALL_RARE, CALL_HEAL, CALL_DEAD };

uint64_t sl_sim_fault_below(struct sl_sim_faults *f, uint64_t bound);
/* Return a duration, mostly short: uniform on a logarithmic scale. */
uint64_t sl_sim_fault_span_us(struct sl_sim_faults *f, uint64_t least_ms, uint64_t most_ms);
/* Post an event for `what` of a fault of `kind`, `us` from now on. */
void sl_sim_fault_call(struct sl_sim_faults *f, uint64_t us, enum sl_sim_fault_call what, uint32_t learner,
		       uint32_t kind, uint32_t peer);

void sl_sim_fault_apply(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i);
/* End a fault of learner i, with learner or slot j. */
void sl_sim_fault_heal(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i, uint32_t j);
/* Let the operator of learner i give its attempt up: one that is not released, or one that waits for a
 * learner that is lost. Return false if it is in none. */
bool sl_sim_fault_operator(struct sl_sim_faults *f, uint32_t i, bool released);
void sl_sim_fault_come_back(struct sl_sim *sim, uint32_t i);
void sl_sim_fault_come_back_after(struct sl_sim_faults *f, uint32_t i, enum sl_sim_fault kind);
