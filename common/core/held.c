#include "common/core/held.h"

bool sl_held_wanted(const struct sl_core *core, const struct sl_link_state *state)
{
	return state->t >= core->t || state->count == 0;
}

struct sl_record *sl_held_of(struct sl_core *core, uint32_t signer, enum sl_message_kind kind)
{
	return kind == SL_MSG_LINK_STATE ? &core->links[signer].record
	       : kind == SL_MSG_READY	 ? &core->readys[signer].record
	       : kind == SL_MSG_DIGEST	 ? &core->digests[signer].record
					 : &core->aborts[signer].record;
}

struct sl_record *sl_held_record(struct sl_core *core, uint32_t signer, enum sl_message_kind kind)
{
	struct sl_record *record = sl_held_of(core, signer, kind);
	bool wanted = kind == SL_MSG_LINK_STATE ? sl_held_wanted(core, &core->links[signer].state)
		      : kind == SL_MSG_READY	? core->readys[signer].ready.t >= core->t
		      : kind == SL_MSG_DIGEST	? core->digests[signer].digest.t == core->t
						: core->aborts[signer].abort.t >= core->t;
	return record->present && wanted ? record : NULL;
}

struct sl_message sl_held_message(const struct sl_core *core, uint32_t signer, enum sl_message_kind kind)
{
	struct sl_message message = {.kind = kind};
	if (kind == SL_MSG_LINK_STATE)
		message.link_state = core->links[signer].state;
	else if (kind == SL_MSG_READY)
		message.ready = core->readys[signer].ready;
	else if (kind == SL_MSG_DIGEST)
		message.digest = core->digests[signer].digest;
	else
		message.abort = core->aborts[signer].abort;
	return message;
}

/* Return the signers whose record the other end of a link has. A set for each link, and not for each record:
 * few links are up in a large group, and the others take no memory. */
static uint64_t *sent_to(const struct sl_core *core, enum sl_message_kind kind, uint32_t peer)
{
	uint32_t set = kind == SL_MSG_ABORT ? SL_RECORD_KINDS - 1 : kind - SL_MSG_LINK_STATE;
	return core->sent + (set * (size_t)core->config.roster_size + peer) * sl_core_words(core);
}

void sl_held_set(struct sl_core *core, enum sl_message_kind kind, uint32_t signer, uint32_t peer, bool has)
{
	uint64_t *set = sent_to(core, kind, peer);
	if (has)
		sl_bit_set(set, signer);
	else
		sl_bit_clear(set, signer);
}

bool sl_held_there(const struct sl_core *core, enum sl_message_kind kind, uint32_t signer, uint32_t peer)
{
	return sl_bit(sent_to(core, kind, peer), signer);
}
