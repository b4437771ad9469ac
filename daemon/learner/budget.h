/* budget.h - the privacy budget of a learner (settings dp_epsilon, dp_spent). What is spent is in the ledger
 * (daemon/store/ledger.h).
 *
 *   before a training   with dp_spent: end, the learner ends if a round of all would exceed the budget
 *   before ENCODE       it sends zeros if the view would, as after an attempt that failed; it ends if all do
 *   PREPARED            the view is charged, unless zeros were sent
 *
 * The ledger of the store belongs to the compute worker; the loop thread has a copy, as of the last PREPARED.
 */
#pragma once

#include "common/config/settings.h"
#include "common/protocol/report.h"
#include "common/protocol/view.h"
#include "daemon/store/ledger.h"

struct sl_daemon;

/* Loop thread: copy the ledger when the store is open, and show it. */
void sl_budget_open(struct sl_daemon *daemon);
/* Loop thread, before the training of round t: end the run of this learner if it may not take part and
 * dp_spent: end. Return true if it ends. */
bool sl_budget_ends(struct sl_daemon *daemon, sl_round t);
/* Return the standard deviation of the noise in each coordinate of the mean of a view of `learners`, of which
 * `total_weight` did not send zeros; 0: there is no noise. */
double sl_budget_noise(const struct sl_daemon *daemon, uint32_t learners, uint64_t total_weight);
/* Worker, before ENCODE: set the weight 0 if `view` would exceed the budget; return true if so. */
bool sl_budget_weigh(struct sl_daemon *daemon, const struct sl_view *view);
/* Loop thread: log that zeros are sent in round t; once. */
void sl_budget_zeros(struct sl_daemon *daemon, sl_round t);
/* Loop thread: end the run of this learner if it sends zeros, and `report` says that an attempt failed
 * because all did. */
void sl_budget_failed(struct sl_daemon *daemon, const struct sl_report *report);
/* Loop thread: copy the ledger after a record was written, and log what that charged. */
void sl_budget_take(struct sl_daemon *daemon, const struct sl_ledger *ledger);
