#include "common/core/suspect.h"

#include "common/core/emit.h"

#define DOUBLINGS_MOST 6u /* at most 64 rounds */

void sl_suspect_add(struct sl_core *core, const uint64_t *missing)
{
	bool any = false;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		struct sl_peer *p = &core->peers[i];
		sl_bit_clear(core->suspects, i);
		if (i == core->config.self || !sl_bit(missing, i))
			continue;
		p->suspect = true;
		p->suspect_of = core->t;
		p->suspect_until = core->t - 1 + ((1u << p->failures) >> 1);
		p->suspect_after = core->a;
		p->failures += p->failures < DOUBLINGS_MOST;
		sl_bit_set(core->suspects, i);
		any = true;
	}
	if (any)
		sl_emit_report(core, SL_REPORT_SUSPECT)->set = core->suspects;
}

void sl_suspect_heard(struct sl_core *core, uint32_t signer, sl_round t, sl_attempt a)
{
	struct sl_peer *p = &core->peers[signer];
	bool later = t > p->suspect_of || (t == p->suspect_of && a > p->suspect_after);
	if (later && t > p->suspect_until)
		p->suspect = false;
}

void sl_suspect_none(struct sl_core *core)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		core->peers[i].suspect = false;
}

void sl_suspect_clear(struct sl_core *core, uint32_t i)
{
	core->peers[i].suspect = false;
	core->peers[i].failures = 0;
}

void sl_suspect_shun(struct sl_core *core)
{
	const struct sl_parameters *own = &core->config.parameters;
	uint64_t others = 0;
	memset(core->shunned, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		bool suspect = core->peers[i].suspect;
		if (suspect)
			sl_bit_set(core->shunned, i);
		others += !suspect && sl_bit(core->range, i) && sl_core_peer_ready(core, i);
	}
	if (others + 1 < own->quorum || others < own->tolerance + 1)
		memset(core->shunned, 0, sl_core_set_bytes(core));
}
