#include "common/core/allowance.h"

#include "common/core/emit.h"
#include "common/core/penalty.h"

#define RECORDS 128u	  /* an attempt takes at most five */
#define OWN 8u		  /* are counted for an own attempt */
#define RECORD_MS 62u	  /* 16 a second */
#define ATTEMPTS 1000u	  /* that a round may have failed while this learner was away: some hours */
#define ATTEMPT_MS 10000u /* a round has 2^24 */

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
		struct sl_penalty *p = &core->peers[i].penalty;
		p->records = (struct sl_store_of_signer){.left = RECORDS, .since = core->now};
		p->attempts = (struct sl_store_of_signer){.left = ATTEMPTS, .since = core->now};
		p->claimed = 0;
	}
}

bool sl_allowance_record(struct sl_core *core, uint32_t signer, sl_round t)
{
	if (take(&core->peers[signer].penalty.records, core->now, RECORDS, RECORD_MS, 1))
		return true;
	if (t == core->t && sl_emit_once(core, signer, SL_ONCE_FLOODED, t)) {
		sl_emit_report(core, SL_REPORT_FLOODED)->peer = signer;
		sl_penalty_lied(core, signer);
	}
	return false;
}

bool sl_allowance_spent(const struct sl_core *core, uint32_t signer, sl_ms now)
{
	const struct sl_penalty *p = &core->peers[signer].penalty;
	return p->last[SL_FAULT_LIED] == core->t && p->records.left == 0 &&
	       now < p->records.since + RECORD_MS;
}

/* A learner counts more records for an own attempt than it can sign in it, so that it never exceeds what
 * others allow it. */
sl_ms sl_allowance_next_attempt(const struct sl_core *core)
{
	const struct sl_store_of_signer *own = &core->peers[core->config.self].penalty.records;
	return own->left >= OWN ? 0 : own->since + (OWN - own->left) * RECORD_MS;
}

void sl_allowance_begin_attempt(struct sl_core *core)
{
	take(&core->peers[core->config.self].penalty.records, core->now, RECORDS, RECORD_MS, OWN);
}

void sl_allowance_claim(struct sl_core *core, uint32_t signer, const struct sl_link_state *state)
{
	struct sl_penalty *p = &core->peers[signer].penalty;
	if (state->t == core->t && state->a > p->claimed)
		p->claimed = state->a;
}

/* Return true if c+1 learners, or all others, have claimed attempt `a` or a later one. */
static bool claimed_by_enough(const struct sl_core *core, sl_attempt a)
{
	uint64_t claims = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		claims += i != core->config.self && core->peers[i].penalty.claimed >= a;
	return claims > core->config.parameters.tolerance || claims + 1 >= core->config.roster_size;
}

bool sl_allowance_jumps(struct sl_core *core, uint32_t signer, sl_attempt a)
{
	sl_attempt known = core->seen > core->a ? core->seen : core->a;
	struct sl_store_of_signer *store = &core->peers[signer].penalty.attempts;
	return a > known && !claimed_by_enough(core, a) &&
	       !take(store, core->now, ATTEMPTS, ATTEMPT_MS, a - known);
}
