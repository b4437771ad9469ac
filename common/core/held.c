#include "common/core/held.h"

bool sl_held_wanted(const struct sl_core *core, const struct sl_link_state *state)
{
	return state->t >= core->t || state->count == 0;
}

struct sl_record *sl_held_record(struct sl_core *core, uint32_t signer, enum sl_message_kind kind)
{
	struct sl_link_record *lr = &core->links[signer];
	struct sl_ready_record *rr = &core->readys[signer];
	struct sl_digest_record *dr = &core->digests[signer];
	struct sl_abort_record *ar = &core->aborts[signer];
	if (kind == SL_MSG_LINK_STATE)
		return lr->record.present && sl_held_wanted(core, &lr->state) ? &lr->record : NULL;
	if (kind == SL_MSG_READY)
		return rr->record.present && rr->ready.t >= core->t ? &rr->record : NULL;
	if (kind == SL_MSG_DIGEST)
		return dr->record.present && dr->digest.t == core->t ? &dr->record : NULL;
	return ar->record.present && ar->abort.t >= core->t ? &ar->record : NULL;
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
