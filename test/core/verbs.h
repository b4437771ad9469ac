/* verbs.h - verbs of tests of the simulator: wait for a condition under a virtual deadline, look at reports.
 */
#pragma once

#include "test/simulator/sim.h"

void sl_sim_elapse(struct sl_sim *sim, sl_ms ms);

void sl_sim_run_until_round(struct sl_sim *sim, sl_round t);		  /* all learners have committed it */
void sl_sim_run_until_commit(struct sl_sim *sim, uint32_t i, sl_round t); /* i has */
void sl_sim_run_until_phase(struct sl_sim *sim, uint32_t i, enum sl_phase phase);
const struct sl_sim_note *sl_sim_run_until_report(struct sl_sim *sim, uint32_t i, enum sl_report_kind kind,
						  enum sl_reason reason);
/* Every learner that runs has reported it, from now on or earlier. */
void sl_sim_run_until_all_say(struct sl_sim *sim, enum sl_report_kind kind, enum sl_reason reason);
void sl_sim_run_until_done(struct sl_sim *sim); /* all learners have stopped with SL_OK */
void sl_sim_run_until_stopped(struct sl_sim *sim, uint32_t i, int code);

void sl_sim_join(struct sl_sim *sim, uint32_t i, uint32_t j); /* a link that could not be so far */

/* Return the number of such reports of i; the last one in *last, unless that is NULL or there is none. */
uint32_t sl_sim_count(const struct sl_sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason,
		      const struct sl_sim_note **last);

const struct sl_sim_note *sl_sim_find(const struct sl_sim *sim, uint32_t i, enum sl_report_kind kind,
				      enum sl_reason reason);
const struct sl_sim_note *sl_sim_expect(struct sl_sim *sim, uint32_t i, enum sl_report_kind kind,
					enum sl_reason reason);
void sl_sim_expect_none(struct sl_sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason);

/* tap_result: for ten seconds no learner accepts a sum. All give their attempts up, after the release. */
void sl_sim_refuse_sums(struct sl_sim *sim, uint32_t i, struct sl_job_result *result);
