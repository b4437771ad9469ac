/* progress.h - shows the service manager that the learner makes progress, and what it is doing.
 *
 * Progress is that of the learner's own work:
 *   - the loop turns,
 *   - it has taken an event from the event queue since the last look, unless the queue is empty,
 *   - the task under way on the compute worker, which also writes the records, is at most
 *     SL_PROGRESS_TASK_MS old.
 * Only then the watchdog is fed. A training may take hours (`training_deadline`), and a wait for other
 * learners is no fault of this process (/healthz): neither is looked at.
 */
#pragma once

struct sl_daemon;

#define SL_PROGRESS_TASK_MS 600000u /* a task of the largest model takes a tenth of that */

/* Look whether the learner makes progress; called several times a second by the loop. */
void sl_progress_look(struct sl_daemon *daemon);
/* Say that the start waits for `what` from outside; called again and again while it does. The learner counts
 * as started. */
void sl_progress_wait(struct sl_daemon *daemon, const char *what);
