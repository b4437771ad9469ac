/* The state machine: one row for each phase of the diagram in phase.h. */
#include "common/core/phases.h"

#include "common/core/agree.h"
#include "common/core/attempt.h"
#include "common/core/catchup.h"
#include "common/core/check.h"
#include "common/core/confirm.h"
#include "common/core/discover.h"
#include "common/core/done.h"
#include "common/core/mix.h"
#include "common/core/ready.h"
#include "common/core/recover.h"
#include "common/core/share.h"
#include "common/core/train.h"

/* --- what holds in a phase --- */

static bool is_trained(const struct sl_core *core)
{
	return core->trained;
}

static bool is_open(const struct sl_core *core)
{
	return core->trained && !core->view_checked;
}

static bool may_share(const struct sl_core *core)
{
	return core->trained && core->view_checked && core->view.a == core->a;
}

static bool has_view(const struct sl_core *core)
{
	return core->view_checked && core->view.a == core->a;
}

static bool is_prepared(const struct sl_core *core)
{
	return has_view(core) && core->at.prepared;
}

static bool is_released(const struct sl_core *core)
{
	return is_prepared(core) && core->at.released;
}

static bool is_bound(const struct sl_core *core)
{
	return is_prepared(core) && (core->at.released || core->at.aborted);
}

static bool may_mix(const struct sl_core *core)
{
	return is_released(core) && !core->at.resumed;
}

static bool has_result(const struct sl_core *core)
{
	return is_bound(core) && core->at.result_known && !core->at.given_up;
}

static bool may_go_back(const struct sl_core *core)
{
	return sl_phase_allows(SL_PHASE_CATCHUP, core->catchup.back);
}

static bool is_done(const struct sl_core *core)
{
	return core->committed >= core->rounds;
}

/* --- the table --- */

const struct sl_phase_row sl_phases[SL_PHASE_COUNT] = {
	[SL_PHASE_TRAIN] = {.status = SL_PEER_STATUS_TRAINING,
			    .enter = sl_train_enter,
			    .awaits = sl_train_awaits},
	[SL_PHASE_DISCOVER] = {.status = SL_PEER_STATUS_READY,
			       .enter = sl_discover_enter,
			       .advance = sl_discover_advance,
			       .deadline = sl_discover_deadline,
			       .awaits = sl_discover_awaits,
			       .invariant = is_trained},
	[SL_PHASE_AGREE] = {.status = SL_PEER_STATUS_READY,
			    .enter = sl_agree_enter,
			    .advance = sl_agree_advance,
			    .of_all = true,
			    .deadline = sl_agree_deadline,
			    .awaits = sl_agree_awaits,
			    .fail = sl_attempt_abort,
			    .lost = sl_agree_lost,
			    .invariant = is_open},
	[SL_PHASE_SHARE] = {.status = SL_PEER_STATUS_READY,
			    .enter = sl_share_enter,
			    .advance = sl_share_advance,
			    .deadline = sl_share_deadline,
			    .awaits = sl_share_awaits,
			    .fail = sl_attempt_abort,
			    .lost = sl_attempt_lost,
			    .permille = sl_share_permille,
			    .invariant = may_share},
	[SL_PHASE_READY] = {.status = SL_PEER_STATUS_READY,
			    .enter = sl_ready_enter,
			    .advance = sl_ready_advance,
			    .of_all = true,
			    .deadline = sl_ready_deadline,
			    .awaits = sl_ready_awaits,
			    .fail = sl_ready_abort,
			    .record = SL_PERSIST_PREPARED,
			    .durable = sl_ready_prepared,
			    .invariant = has_view},
	[SL_PHASE_RELEASE] = {.status = SL_PEER_STATUS_OPEN,
			      .fail = sl_recover_fail,
			      .record = SL_PERSIST_RELEASED,
			      .durable = sl_ready_released,
			      .invariant = is_prepared},
	[SL_PHASE_MIX] = {.status = SL_PEER_STATUS_OPEN,
			  .enter = sl_mix_enter,
			  .advance = sl_mix_advance,
			  .deadline = sl_mix_deadline,
			  .awaits = sl_mix_awaits,
			  .fail = sl_recover_fail,
			  .lost = sl_attempt_lost,
			  .permille = sl_mix_permille,
			  .invariant = may_mix},
	[SL_PHASE_CHECK] = {.status = SL_PEER_STATUS_OPEN,
			    .advance = sl_check_advance,
			    .deadline = sl_check_deadline,
			    .awaits = sl_check_awaits,
			    .fail = sl_recover_fail,
			    .lost = sl_check_lost,
			    .invariant = may_mix},
	[SL_PHASE_CONFIRM] = {.status = SL_PEER_STATUS_OPEN,
			      .advance = sl_confirm_advance,
			      .of_all = true,
			      .deadline = sl_confirm_deadline,
			      .awaits = sl_confirm_awaits,
			      .fail = sl_recover_fail,
			      .invariant = is_bound},
	[SL_PHASE_COMMIT] = {.status = SL_PEER_STATUS_OPEN,
			     .enter = sl_confirm_commit_enter,
			     .record = SL_PERSIST_COMMIT,
			     .durable = sl_confirm_durable,
			     .invariant = has_result},
	[SL_PHASE_RECOVER] = {.status = SL_PEER_STATUS_OPEN,
			      .enter = sl_recover_enter,
			      .advance = sl_recover_advance,
			      .deadline = sl_recover_deadline,
			      .awaits = sl_recover_awaits,
			      .permille = sl_recover_permille,
			      .invariant = is_bound},
	[SL_PHASE_CATCHUP] = {.enter = sl_catchup_enter,
			      .advance = sl_catchup_advance,
			      .deadline = sl_catchup_deadline,
			      .awaits = sl_catchup_awaits,
			      .lost = sl_catchup_lost,
			      .record = SL_PERSIST_COMMIT,
			      .durable = sl_catchup_durable,
			      .invariant = may_go_back},
	[SL_PHASE_DONE] = {.status = SL_PEER_STATUS_DONE,
			   .enter = sl_done_enter,
			   .advance = sl_done_advance,
			   .deadline = sl_done_deadline,
			   .awaits = sl_done_awaits,
			   .invariant = is_done},
};
