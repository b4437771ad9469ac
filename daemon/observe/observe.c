#include "daemon/observe/observe.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double unix_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sl_observe_begin(struct sl_observe *observe, const struct sl_observed *of)
{
	memset(observe, 0, sizeof *observe);
	observe->of = *of;
	sl_metrics_init(&observe->counters, unix_s());
}

int sl_observe_peers(struct sl_observe *observe, struct sl_error *error)
{
	uint32_t size = observe->of.roster->size;
	observe->peers = calloc(size, sizeof *observe->peers);
	return observe->peers != NULL
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_NOMEM, "out of memory for a roster of %u", size);
}

void sl_observe_report(struct sl_observe *observe, const struct sl_report *report)
{
	sl_metrics_report(&observe->counters, report, unix_s(), (double)uv_hrtime() / 1e9);
}

void sl_observe_spent(struct sl_observe *observe, const struct sl_ledger *ledger)
{
	const struct sl_settings *s = observe->of.settings;
	struct sl_observed_spent *spent = &observe->spent;
	struct sl_metrics *counters = &observe->counters;
	*spent = (struct sl_observed_spent){NAN, NAN, ledger->charges, ledger->guessed};
	if (s->dp == SL_DP_USE_OFF)
		return;
	spent->epsilon = sl_dp_spent_epsilon(&ledger->spent, s->dp_delta, true);
	spent->epsilon_unsampled = sl_dp_spent_epsilon(&ledger->spent, s->dp_delta, false);
	counters->dp_epsilon[0] = spent->epsilon;
	counters->dp_budget[0] = s->dp_epsilon > 0 ? s->dp_epsilon : NAN;
	counters->dp_charges[0] = (double)ledger->charges;
}

enum sl_wait sl_observe_awaits(const struct sl_observe *observe, uint64_t *set)
{
	enum sl_wait wait = sl_core_awaits(observe->of.core, set);
	return wait == SL_WAIT_DISK && atomic_load(&observe->computes) ? SL_WAIT_ARITHMETIC : wait;
}

void sl_observe_close(struct sl_observe *observe)
{
	if (observe->log != NULL)
		sl_log_close(observe->log);
	json_decref(observe->metrics);
	free(observe->peers);
	observe->log = NULL;
	observe->metrics = NULL;
	observe->peers = NULL;
}
