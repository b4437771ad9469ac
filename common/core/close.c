#include "common/core/close.h"

#include "common/core/aborts.h"
#include "common/core/attempt.h"
#include "common/core/emit.h"
#include "common/core/over.h"
#include "common/core/seen.h"

static uint8_t judge_abort(const struct sl_core *core, uint32_t position, const struct sl_abort *abort_record)
{
	uint8_t hash[SL_HASH_BYTES];
	if (!core->at.ready_here[position])
		return sl_over_judge(abort_record, NULL);
	sl_canonical_message(&core->config.scope,
			     &(struct sl_message){.kind = SL_MSG_READY, .ready = core->at.readys[position]},
			     hash);
	return sl_over_judge(abort_record, hash);
}

uint32_t sl_close_judge(struct sl_core *core)
{
	const struct sl_abort_set *set = sl_aborts_find(core, core->view.a);
	uint32_t count = 0;
	for (uint32_t i = 0; i < core->view.n; i++) {
		uint32_t member = core->view.members[i];
		core->marks[i] = 0;
		if (set != NULL && set->aborts[member].says != 0)
			core->marks[i] = judge_abort(core, i, &set->aborts[member]);
		if ((core->marks[i] & SL_ABORT_PROMISES) != 0)
			core->proof[count++] = set->aborts[member];
	}
	return count;
}

/* End the attempt: on disk, with the `count` Aborts of core->proof. If its sum was refused, or another
 * attempt of the round is over already, pause: the same participant may be the cause again. */
static void end(struct sl_core *core, uint32_t count, bool reuse)
{
	bool refused = core->at.refused != SL_REASON_NONE || core->over > 0;
	sl_ms pause = refused ? sl_attempt_pause(core) : 0;
	struct sl_persist *persist = sl_emit_persist(core, SL_PERSIST_OVER, core->view.a);
	persist->aborts = core->proof;
	persist->abort_count = count;
	persist->reuse = reuse;
	if (!reuse) { /* others may know the sum, whether this learner has released or not */
		sl_seen_over(core);
		persist->seen = core->sums;
	}
	core->over++;
	sl_aborts_show_all(core, core->view.a);
	sl_attempt_leave(core, SL_REASON_ABORTED, core->trained && !reuse);
	if (refused && !core->stopped) {
		core->not_before = core->now + pause;
		core->refusals++;
	}
}

/* Return a participant whose Abort counts, another one than this learner if there is one. */
static uint32_t first_signer(const struct sl_core *core)
{
	for (uint32_t i = 0; i < core->view.n; i++)
		if ((core->marks[i] & SL_ABORT_PROMISES) != 0 && i != core->view.self)
			return core->view.members[i];
	return core->config.self;
}

bool sl_close_attempt(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t count = sl_close_judge(core);
	bool proved = count > 0 && sl_over_proved(&core->view, core->marks); /* looks at all edges */
	if (!proved && !at->operator_aborted) {
		at->over_since = SL_NEVER; /* a Ready has come that an Abort denied: it counts no more */
		return false;
	}
	bool reuse = !at->operator_aborted && sl_over_reusable(&core->view, core->marks);
	if (at->over_since == SL_NEVER)
		at->over_since = core->now;
	if (core->trained && !reuse && !at->operator_aborted &&
	    core->now < at->over_since + sl_core_hello_ms(&core->config))
		return false;
	sl_emit_report(core, SL_REPORT_OVER)->peer = at->operator_aborted ? SL_NOBODY : first_signer(core);
	end(core, at->operator_aborted ? 0 : count, reuse);
	return true;
}

sl_ms sl_close_deadline(const struct sl_core *core)
{
	return core->at.over_since == SL_NEVER ? SL_NEVER
					       : core->at.over_since + sl_core_hello_ms(&core->config);
}
