/* launch.h - `starling launch`: run N daemons on this machine, play a topology schedule to them, and show
 * their rounds.
 *
 * One libuv loop. The daemons' log records come over their control sockets (tools/lib/control_client). They
 * are put together into rounds (tools/lib/round_table), which move the schedule on (playback.c) and are shown
 * (rows.c). The last round, a failure and a signal end the run; the loop then runs until no child is left.
 *
 *   starting --all connected--> running --last round, failure, signal--> ending
 *            --no child, no handle--> over
 *
 * A learner that dies is restarted (restart.c) and gets its neighbours again. Rounds that it committed
 * without reporting them are looked up in its folder (adopt.c).
 *
 * The launcher does not coordinate rounds: it tells each learner its neighbours, and otherwise only listens.
 */
#pragma once

#include "tools/launch/plan.h"

/* Read the plan of the run in the folder options->resume, and check it as sl_plan_make does. Raise its rounds
 * to options->rounds. Wait until no learner of an earlier launch is running. */
int sl_resume_plan(struct sl_plan *plan, const struct sl_launch_options *options,
		   struct sl_progress *progress, struct sl_error *error);
/* Return true if all rounds are committed and shown: there is nothing to resume. */
bool sl_resume_finished(const struct sl_plan *plan);

/* Run the plan to its end; return the exit status. */
int sl_launch_run(struct sl_plan *plan, struct sl_progress *progress);

/* Return a row as a new object, as summary.json has it. */
json_t *sl_summary_row(const struct sl_round_row *row);
