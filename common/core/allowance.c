#include "common/core/allowance.h"

#include "common/core/emit.h"
#include "common/core/penalty.h"

#define RECORDS 128u	  /* an attempt takes at most five */
#define OWN 8u		  /* are counted for an own attempt */
#define RECORD_MS 62u	  /* 16 a second */
#define ATTEMPTS 1000u	  /* that a round may have failed while this learner was away: some hours */
#define ATTEMPT_MS 10000u /* a round has 2^24 */
#define REPORT_MS 10000u  /* between two reports about one signer */

/* Take `count` from a store that holds `most` and gets one in `every_ms`. */
static bool take(struct sl_store_of_signer *store, sl_ms now, uint32_t most, uint32_t every_ms,
		 uint32_t count)
{
	sl_ms fresh = (now - store->since) / every_ms;
	store->left = fresh < most - store->left ? store->left + (uint32_t)fresh : most;
	store->since = store->left == most ? now : store->since + fresh * every_ms;
	if (count > store->left)
		return false;
	store->left -= count;
	return true;
}

void sl_allowance_fill(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		core->peers[i].records = (struct sl_store_of_signer){.left = RECORDS, .since = core->now};
		core->peers[i].attempts = (struct sl_store_of_signer){.left = ATTEMPTS, .since = core->now};
	}
}

bool sl_allowance_record(struct sl_core *core, uint32_t signer, sl_round t)
{
	struct sl_peer *p = &core->peers[signer];
	if (take(&p->records, core->now, RECORDS, RECORD_MS, 1))
		return true;
	p->ignored += t == core->t;
	if (p->ignored > 0 && core->now >= p->ignored_report) {
		struct sl_report *report = sl_emit_report(core, SL_REPORT_FLOODED);
		report->peer = signer;
		report->flooded.count = p->ignored;
		sl_penalty_lied(core, signer);
		p->ignored = 0;
		p->ignored_report = core->now + REPORT_MS;
	}
	return false;
}

bool sl_allowance_spent(const struct sl_core *core, uint32_t signer, sl_ms now)
{
	const struct sl_peer *p = &core->peers[signer];
	return p->penalty.lied == core->t && p->records.left == 0 && now < p->records.since + RECORD_MS;
}

/* A learner counts more records for an own attempt than it can sign in it, so that it never exceeds what
 * others allow it. */
sl_ms sl_allowance_next_attempt(const struct sl_core *core)
{
	const struct sl_store_of_signer *own = &core->peers[core->config.self].records;
	return own->left >= OWN ? 0 : own->since + (OWN - own->left) * RECORD_MS;
}

void sl_allowance_begin_attempt(struct sl_core *core)
{
	take(&core->peers[core->config.self].records, core->now, RECORDS, RECORD_MS, OWN);
}

bool sl_allowance_attempts(struct sl_core *core, uint32_t signer, uint32_t count)
{
	return take(&core->peers[signer].attempts, core->now, ATTEMPTS, ATTEMPT_MS, count);
}
