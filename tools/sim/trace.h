/* trace.h - one step of a core as one line, "cause -> effect, effect": what tests compare and a failing run prints.
 *
 *   link up 2 -> hello to 2
 *   trained -> DISCOVER, links 2 3, hello to 2
 *
 * Learners are written as their ids. Owns nothing.
 */
#pragma once

#include "common/core/core.h"

#define TRACE_BYTES 2048u

struct trace {
	const sl_id *ids;
	uint32_t count;
	char text[TRACE_BYTES];
	size_t used;
};

const char *trace_job(enum sl_job_kind kind);

void trace_cause(struct trace *trace, const struct sl_event *event);
void trace_effects(struct trace *trace, const struct sl_actions *actions);
