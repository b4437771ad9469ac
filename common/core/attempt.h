/* attempt.h - how an attempt ends without a result (ROUND.md §7.2 Rounds, attempts, and the end of an
 * attempt). */
#pragma once

#include "common/core/state.h"

/* Report that the attempt cannot go on for `reason`. In AGREE and SHARE it ends; the next one begins at once
 * or, with `refused`, after a pause, since it would fail alike. In READY this learner aborts it, and is
 * bound. After the release it is recovered. The caller fills the fields of the report that report.h names for
 * the reason. */
struct sl_report *sl_attempt_fail(struct sl_core *core, enum sl_reason reason, bool refused);
/* The same, through `peer`, which the report names. */
struct sl_report *sl_attempt_fail_by(struct sl_core *core, uint32_t peer, enum sl_reason reason,
				     bool refused);
/* Return the time at which MIX or CHECK ends for want of progress, if nothing arrives before: early if other
 * participants recover. */
sl_ms sl_attempt_ends_at(const struct sl_core *core);
/* End MIX or CHECK at that time: through the first participant that recovers if half of stall_timeout was
 * left, else since data of the peers of core->missing did not come. */
void sl_attempt_stalled(struct sl_core *core);
/* The `fail` of AGREE and SHARE: end the attempt; once shares may have left, with a signed Abort. */
struct sl_report *sl_attempt_abort(struct sl_core *core, enum sl_reason reason, bool refused);
/* The `lost` of SHARE and MIX: fail the attempt if `peer` is a neighbour in the view. */
void sl_attempt_lost(struct sl_core *core, uint32_t peer);
/* In MIX and CHECK: recover if participants hold other Readys, and return true. */
bool sl_attempt_split(struct sl_core *core);
/* The round has used all attempt numbers: stop. */
void sl_attempt_exhausted(struct sl_core *core);
/* End an attempt, however far it got, and go on to the next one: with the same model, or with a new one if
 * the old one is invalidated (ROUND.md §9.4 Rule B). */
void sl_attempt_leave(struct sl_core *core, enum sl_reason reason, bool model_invalidated);
/* Overwrite keys and key shares of the attempt, as soon as no job is out. */
void sl_attempt_wipe(struct sl_core *core);
/* Return the pause after a refusal: between half and all of 0.5 s, doubled with each refusal, up to 30 s. The
 * core has no randomness, so the jitter that keeps learners out of step is a hash of learner, round and
 * attempt. */
sl_ms sl_attempt_pause(const struct sl_core *core);
