#include "common/core/split.h"

#include "common/core/emit.h"

static const uint8_t unknown[SL_HASH_BYTES];

static bool is_known(const uint8_t *readys)
{
	return memcmp(readys, unknown, SL_HASH_BYTES) != 0;
}

/* Compare what the participant at `position` has said with the own Readys. If they differ, send it the own
 * ones: it finds the one that is signed twice. */
static void compare(struct sl_core *core, uint32_t position)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t peer = core->view.members[position];
	if (!is_known(at->readys_hash) || !is_known(at->said_readys[position]) ||
	    memcmp(at->said_readys[position], at->readys_hash, SL_HASH_BYTES) == 0)
		return;
	at->split_from = peer;
	for (uint32_t i = 0; i < core->view.n; i++)
		sl_bit_clear(core->readys[core->view.members[i]].record.sent, peer);
	core->flood_dirty = true;
	sl_emit_reject(core, peer, "holds other Readys of the attempt: a participant has signed two");
}

void sl_split_begin(struct sl_core *core)
{
	sl_canonical_readys(&core->config.scope, core->view.h, core->at.readys, core->view.n,
			    core->at.readys_hash);
	for (uint32_t i = 0; i < core->view.n; i++)
		compare(core, i);
}

void sl_split_heard(struct sl_core *core, uint32_t peer, const uint8_t *readys)
{
	uint32_t position = core->view.position[peer];
	if (!is_known(readys) || memcmp(core->at.said_readys[position], readys, SL_HASH_BYTES) == 0)
		return;
	memcpy(core->at.said_readys[position], readys, SL_HASH_BYTES);
	compare(core, position);
}

uint32_t sl_split_from(const struct sl_core *core)
{
	return core->at.split_from;
}

bool sl_split_excluded(const struct sl_core *core)
{
	bool all = core->at.split_from == SL_NOBODY;
	for (uint32_t r = 0; r < core->view.degree; r++)
		all &= is_known(core->at.said_readys[core->view.neighbours[r]]);
	return all;
}
