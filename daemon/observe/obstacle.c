#include "daemon/observe/obstacle.h"

#include <math.h>
#include <stdio.h>

#include "common/base/bytes.h"
#include "common/report/reason.h"

void sl_obstacle_report(struct sl_observe *observe, const struct sl_report *report, const char *text)
{
	struct sl_obstacles *kept = &observe->obstacles;
	bool differs = report->reason == SL_REASON_ROSTER || report->reason == SL_REASON_OTHER_MODEL ||
		       report->reason == SL_REASON_HISTORY;
	if (report->kind == SL_REPORT_FAILED) {
		snprintf(kept->refused, sizeof kept->refused, "%s", text);
		kept->reason = report->reason;
	}
	if (differs) {
		snprintf(kept->different, sizeof kept->different, "%s", text);
		kept->peer = report->peer;
	}
}

/* Add what has come since CATCHUP began. */
static void add_fetched(const struct sl_observe *observe, struct sl_fetched *f)
{
	uint64_t now = sl_links_figures(observe->of.links)->bytes_received;
	double now_s = (double)uv_hrtime() / 1e9;
	if (f->since > 0) {
		f->seconds += now_s - f->since;
		f->bytes += now - f->at;
	}
	f->since = now_s;
	f->at = now;
}

void sl_obstacle_fetch(struct sl_observe *observe, const struct sl_report *report)
{
	struct sl_fetched *f = &observe->fetched;
	bool fetches = report->kind == SL_REPORT_PHASE && report->phase == SL_PHASE_CATCHUP;
	if (report->kind == SL_REPORT_CAUGHT_UP || report->kind == SL_REPORT_COMMITTED)
		*f = (struct sl_fetched){0};
	if (fetches || (f->since > 0 && report->kind == SL_REPORT_PHASE))
		add_fetched(observe, f);
	if (report->kind == SL_REPORT_PHASE && !fetches)
		f->since = 0;
	if (fetches && f->begun == 0)
		f->begun = f->since;
}

/* The others wait for straggler_timeout once (ROUND.md §11.1): say so if a model needs longer. Twice as
 * much is safe: some chunks may come from two peers. */
static const char *describe_thin_link(const struct sl_observe *observe, char *text)
{
	struct sl_fetched f = observe->fetched;
	const struct sl_core_config *config = observe->of.core_config;
	double bytes = (double)config->model_bytes, waits = (double)config->straggler_timeout_ms / 1e3;
	if (f.since > 0)
		add_fetched(observe, &f);
	double takes = f.bytes >= SL_RESULT_BYTES / 4 ? bytes / (double)f.bytes * f.seconds : 0;
	if (takes > waits && (double)uv_hrtime() / 1e9 > f.begun + waits)
		snprintf(text, SL_OBSTACLE_BYTES,
			 "the model of a missed round has %.3g MB and comes at %.3g Mbit/s, so it takes %.0f "
			 "s or "
			 "more, and the others have waited for straggler_timeout, %.0f s; this learner needs "
			 "%.3g "
			 "Mbit/s, or all of them a straggler_timeout of %.0f s",
			 bytes / 1e6, 8e-6 * bytes / takes, takes, waits, 16e-6 * bytes / waits,
			 ceil(2 * takes));
	return text;
}

/* Set `absent` to the learners of `awaited`, or, if it is NULL, of those in range, that are not linked.
 * Return true if there is one. *connected counts those that are, with this one. */
static bool find_absent(const struct sl_observe *observe, const uint64_t *awaited, uint64_t *absent,
			uint32_t *connected)
{
	struct sl_core_peer peer;
	bool any = false;
	*connected = 1;
	for (uint32_t i = 0; i < observe->of.roster->size; i++) {
		sl_core_peer(observe->of.core, i, &peer);
		*connected += peer.linked;
		if (i == observe->of.core_config->self || peer.linked ||
		    !(awaited != NULL ? sl_bit(awaited, i) : peer.in_range))
			continue;
		sl_bit_set(absent, i);
		any = true;
	}
	return any;
}

/* Return true if the links of this learner tell that no quorum is connected: others may be connected through
 * its neighbours, unless all learners are in range. */
static bool lacks_quorum(const struct sl_observe *observe, uint32_t connected)
{
	struct sl_core_peer peer;
	for (uint32_t i = 0; i < observe->of.roster->size; i++) {
		sl_core_peer(observe->of.core, i, &peer);
		if (i != observe->of.core_config->self && !peer.in_range)
			return false;
	}
	return connected < observe->of.core_config->parameters.quorum;
}

/* The learners that are awaited may just train: then it is no obstacle. */
static void describe_absent(const struct sl_observe *observe, const uint64_t *awaited, char *text)
{
	uint64_t absent[(SL_LEARNERS_MAX + 63) / 64] = {0};
	uint32_t connected;
	if (!find_absent(observe, awaited, absent, &connected))
		return;
	if (lacks_quorum(observe, connected))
		sl_reason_absent(observe->of.roster, connected, observe->of.core_config->parameters.quorum,
				 absent, text, SL_OBSTACLE_BYTES);
	else
		sl_reason_unlinked(observe->of.roster, absent, text, SL_OBSTACLE_BYTES);
}

/* A refusal for a quorum names the learners that are missing. More of them may cure others, too. */
static const char *describe_refusal(const struct sl_observe *observe, char *text)
{
	const struct sl_obstacles *kept = &observe->obstacles;
	uint64_t absent[(SL_LEARNERS_MAX + 63) / 64] = {0};
	char names[256];
	uint32_t connected;
	bool name = kept->reason != SL_REASON_QUORUM && find_absent(observe, NULL, absent, &connected);
	snprintf(text, SL_OBSTACLE_BYTES, "%.*s%s%s", (int)(SL_OBSTACLE_BYTES - sizeof names - 32),
		 kept->refused, name ? "; not connected: " : "",
		 name ? sl_reason_names(observe->of.roster, absent, names, sizeof names) : "");
	return text;
}

const char *sl_obstacle(const struct sl_observe *observe, enum sl_wait wait, const uint64_t *awaited,
			char text[static SL_OBSTACLE_BYTES])
{
	const struct sl_obstacles *kept = &observe->obstacles;
	text[0] = '\0';
	switch (wait) {
	case SL_WAIT_CHANGE:
		return describe_refusal(observe, text);
	case SL_WAIT_READINESS:
		describe_absent(observe, awaited, text);
		return text[0] != '\0' ? text : describe_thin_link(observe, text);
	case SL_WAIT_RESULT:
		return describe_thin_link(observe, text);
	case SL_WAIT_ROSTER:
	case SL_WAIT_MODEL:
	case SL_WAIT_HISTORY:
		return sl_bit(awaited, kept->peer) ? kept->different : text;
	default:
		return text;
	}
}
