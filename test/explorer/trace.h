/* trace.h - one step of a core as one line, "cause -> effect, effect": tests compare it, a failing run prints
 * it.
 *
 *   link up 2 -> hello to 2
 *   trained -> DISCOVER, links 2 3, hello to 2
 *
 * Learners are written as their ids. Owns nothing.
 */
#pragma once

#include "common/core/core.h"

#define SL_SIM_TRACE_BYTES 2048u

struct sl_sim_trace {
	const sl_id *ids;
	uint32_t count;
	char text[SL_SIM_TRACE_BYTES];
	size_t used;
};

const char *sl_sim_trace_job(enum sl_job_kind kind);

void sl_sim_trace_cause(struct sl_sim_trace *trace, const struct sl_event *event);
void sl_sim_trace_effects(struct sl_sim_trace *trace, const struct sl_actions *actions);
