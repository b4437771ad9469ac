/* execute.h - a step of a core with all that it leads to, as every shell does it: simulator, explorer,
 * in-process runner, libstarlingcore, the driver of the tests. The daemon takes the step itself, since it has
 * to know of a commit first, and has the actions executed here.
 *
 * A shell is a table of duties, one for each kind of action. They are done one by one, in the order of the
 * step, which is what the safety of the protocol rests on (ROUND.md §14.1 What is durable before what is
 * sent):
 *
 *   COMPUTE  queue the job; jobs run one at a time, in the order given. Afterwards SL_EVENT_COMPUTED
 *   PERSIST  queue the entry behind the jobs; make it durable, in order. Then, and not sooner,
 *            SL_EVENT_DURABLE
 *   WIPE     queue it behind the jobs and the entries
 *   SEND     send at once: what has to be durable first is so, since the core waits for that event
 *   TRAIN    ask the application for a model. Afterwards SL_EVENT_TRAINED
 *   LINKS    keep links to these peers, and to no others: SL_EVENT_LINK_UP, SL_EVENT_LINK_DOWN
 *   DROP     free the buffers
 *   REPORT   tell the user
 *   STOP     hand in no event any more
 *
 * Afterwards the shell sets its timer to sl_core_deadline: SL_EVENT_DEADLINE.
 */
#pragma once

#include "common/core/core.h"

struct sl_duties {
	/* By kind; NULL: the shell has nothing to do, which it has for DROP. */
	void (*of[SL_ACTION_KINDS])(void *shell, const struct sl_action *action);
	/* The core has processed `event` and returned `code`; no action is done yet. May be NULL. */
	void (*stepped)(void *shell, const struct sl_event *event, int code);
	/* Return false if the shell has failed: `action` and those after it are not done. May be NULL. */
	bool (*alive)(void *shell, const struct sl_action *action);
};

/* Do what `actions` ask for. */
void sl_core_execute(const struct sl_actions *actions, const struct sl_duties *duties, void *shell);

/* Process `event` and do what it leads to; `actions` is room for it. Return the code of sl_core_step. The
 * buffer of an event that is refused is dropped. */
int sl_core_run(struct sl_core *core, const struct sl_event *event, struct sl_actions *actions,
		const struct sl_duties *duties, void *shell);
