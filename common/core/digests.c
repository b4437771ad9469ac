#include "common/core/digests.h"

#include "common/core/allowance.h"
#include "common/core/held.h"
#include "common/core/relay.h"

const struct sl_digest *sl_digests_of(const struct sl_core *core, uint32_t position)
{
	const struct sl_digest_record *dr = &core->digests[core->view.members[position]];
	bool here = dr->record.present && sl_core_in_view(core, dr->digest.t, dr->digest.view);
	return here ? &dr->digest : NULL;
}

uint64_t sl_digests_count(const struct sl_core *core, const uint8_t *digest)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < core->view.n; i++) {
		const struct sl_digest *other = sl_digests_of(core, i);
		count += other != NULL && memcmp(other->digest, digest, SL_HASH_BYTES) == 0;
	}
	return count;
}

/* Return true if `digest` is of the own result. */
static bool agrees(const struct sl_core *core, const struct sl_digest *digest)
{
	return memcmp(digest->digest, core->at.digest, SL_HASH_BYTES) == 0;
}

void sl_digests_sign(struct sl_core *core)
{
	const struct sl_digest *before = sl_digests_of(core, core->view.self);
	core->at.agreeing += before == NULL || !agrees(core, before);
	struct sl_digest_record *record = &core->digests[core->config.self];
	struct sl_digest *own = &record->digest;
	*own = (struct sl_digest){.id = core->config.ids[core->config.self], .t = core->t, .a = core->a};
	memcpy(own->key, core->config.key, SL_KEY_BYTES);
	memcpy(own->view, core->view.h, SL_HASH_BYTES);
	memcpy(own->digest, core->at.digest, SL_HASH_BYTES);
	sl_relay_record(core, SL_MSG_DIGEST, core->config.self, core->config.self);
}

bool sl_digests_take(struct sl_core *core, uint32_t from, const struct sl_digest *digest)
{
	uint32_t signer = sl_core_index(core, digest->id);
	uint32_t position = signer == UINT32_MAX ? UINT32_MAX : core->view.position[signer];
	bool here = core->view_checked && sl_core_in_view(core, digest->t, digest->view);
	if (!here || position == UINT32_MAX || signer == core->config.self)
		return false;
	struct sl_digest_record *dr = &core->digests[signer];
	if (sl_digests_of(core, position) != NULL) {
		sl_held_set(core, SL_MSG_DIGEST, signer, from, true);
		return false;
	}
	if (!sl_allowance_record(core, signer, digest->t))
		return false;
	dr->digest = *digest;
	core->at.agreeing += agrees(core, digest);
	sl_relay_record(core, SL_MSG_DIGEST, signer, from);
	return true;
}
