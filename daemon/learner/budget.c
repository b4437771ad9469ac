#include "daemon/learner/budget.h"

#include <math.h>

#include "common/field/encoding.h"
#include "daemon/application/application.h"
#include "daemon/learner/daemon.h"
#include "daemon/observe/report_log.h"

/* Return true if attempt a of round t, which costs `round`, can be charged to the ledger without exceeding
 * the budget, or if there is no budget. */
static bool fits_budget(const struct sl_settings *settings, const struct sl_ledger *ledger,
			uint32_t incarnation, sl_round t, sl_attempt a, const struct sl_dp_round *round)
{
	struct sl_ledger charged = *ledger;
	if (!(settings->dp_epsilon > 0))
		return true;
	sl_ledger_charge(&charged, incarnation, t, a, round);
	return sl_dp_spent_epsilon(&charged.spent, settings->dp_delta, true) <= settings->dp_epsilon;
}

void sl_budget_open(struct sl_daemon *daemon)
{
	daemon->budget.ledger = *sl_store_ledger(daemon->store);
	sl_observe_spent(&daemon->observe, &daemon->budget.ledger);
}

/* Set what a round of all learners of the roster costs. One of fewer learners, which each add more noise,
 * costs the same. */
static bool expect(const struct sl_daemon *daemon, struct sl_dp_round *round)
{
	const struct sl_dp_terms terms =
		sl_view_terms(&daemon->core_config.parameters, daemon->core_config.roster_size);
	struct sl_dp_scale scale;
	if (sl_dp_scale_choose(&terms, &scale) != SL_OK)
		return false;
	*round = sl_dp_scale_round(&terms, &scale, daemon->settings->dp_sampling);
	return true;
}

double sl_budget_noise(const struct sl_daemon *daemon, uint32_t learners, uint64_t total_weight)
{
	struct sl_dp_scale scale;
	if (daemon->settings->dp == SL_DP_USE_OFF)
		return 0;
	const struct sl_dp_terms terms = sl_view_terms(&daemon->core_config.parameters, learners);
	return sl_dp_scale_choose(&terms, &scale) == SL_OK
		       ? ldexp(scale.sigma_total, scale.step) / (double)total_weight
		       : NAN;
}

static void log_spent(struct sl_daemon *daemon, enum sl_record_kind kind, sl_round t)
{
	struct sl_record record;
	sl_record_init(&record, kind);
	record.round = t;
	record.epsilon = daemon->observe.spent.epsilon;
	record.budget = daemon->settings->dp_epsilon;
	sl_report_log_record(&daemon->observe, &record);
}

/* End before round t: log it, and tell the application. */
static void end_before(struct sl_daemon *daemon, sl_round t)
{
	daemon->budget.ended = true;
	log_spent(daemon, SL_RECORD_BUDGET_SPENT, t);
	if (sl_settings_has_application(daemon->settings))
		sl_application_end(daemon->trainer, t - 1);
}

bool sl_budget_ends(struct sl_daemon *daemon, sl_round t)
{
	const struct sl_settings *s = daemon->settings;
	struct sl_dp_round round;
	if (s->dp == SL_DP_USE_OFF || s->dp_spent != SL_DP_SPENT_END || !expect(daemon, &round) ||
	    fits_budget(s, &daemon->budget.ledger, daemon->core_config.incarnation, t, 1, &round))
		return false;
	end_before(daemon, t);
	sl_event_queue_add(&daemon->event_queue, SL_EVENT_LAST_ROUND)->event.round = t - 1;
	return true;
}

bool sl_budget_weigh(struct sl_daemon *daemon, const struct sl_view *view)
{
	if (!sl_encoding_is_noisy(&view->encoding))
		return false;
	const struct sl_dp_round round = sl_view_charge(view, daemon->settings->dp_sampling);
	if (fits_budget(daemon->settings, sl_store_ledger(daemon->store), daemon->core_config.incarnation,
			view->t, view->a, &round))
		return false;
	daemon->workspace.weight = 0;
	return true;
}

void sl_budget_zeros(struct sl_daemon *daemon, sl_round t)
{
	if (!daemon->budget.zeros_said)
		log_spent(daemon, SL_RECORD_BUDGET_ZEROS, t);
	daemon->budget.zeros_said = true;
}

void sl_budget_failed(struct sl_daemon *daemon, const struct sl_report *report)
{
	if (report->kind != SL_REPORT_FAILED || report->reason != SL_REASON_WEIGHTLESS ||
	    !daemon->budget.zeros_said || daemon->budget.ended)
		return;
	end_before(daemon, report->t);
	sl_report_log_round(&daemon->observe, SL_RECORD_FINISHED_SPENT, daemon->settings->rounds);
	sl_daemon_finish(daemon);
}

static void log_gap(struct sl_daemon *daemon, const struct sl_ledger *before, const struct sl_ledger *after)
{
	struct sl_record record;
	sl_record_init(&record, SL_RECORD_LEDGER_GAP);
	record.round = after->t;
	record.to = after->t - 1;
	record.attempt = after->a;
	record.from = before->settled ? before->t + 1 : before->t > 0 ? before->t : 1;
	record.guessed = after->guessed - before->guessed;
	sl_report_log_record(&daemon->observe, &record);
}

static void log_charge(struct sl_daemon *daemon)
{
	const struct sl_settings *s = daemon->settings;
	const struct sl_observed_spent *spent = &daemon->observe.spent;
	bool limited = s->dp_epsilon > 0;
	struct sl_record record;
	sl_record_init(&record, limited ? SL_RECORD_CHARGED : SL_RECORD_CHARGED_FREELY);
	record.round = daemon->budget.ledger.t;
	record.attempt = daemon->budget.ledger.a;
	record.epsilon = spent->epsilon;
	record.epsilon_unsampled = spent->epsilon_unsampled;
	record.delta = s->dp_delta;
	record.budget = limited ? s->dp_epsilon : NAN;
	sl_report_log_record(&daemon->observe, &record);
}

void sl_budget_take(struct sl_daemon *daemon, const struct sl_ledger *ledger)
{
	const struct sl_ledger before = daemon->budget.ledger;
	daemon->budget.ledger = *ledger;
	if (ledger->charges == before.charges)
		return;
	sl_observe_spent(&daemon->observe, ledger);
	if (ledger->guessed > before.guessed)
		log_gap(daemon, &before, ledger);
	log_charge(daemon);
}
