/* What a learner says, packed once for all who hear it; a share is for one alone. */
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/wire/codec.h"
#include "tools/sim/runner_internal.h"

static struct swarm_piece *new_piece(const struct sl_message *message, size_t bytes)
{
	struct swarm_piece *piece = malloc(sizeof *piece + bytes);
	if (piece == NULL)
		abort(); /* what is on its way cannot be given up */
	atomic_init(&piece->readers, 0);
	piece->message = *message;
	return piece;
}

void swarm_unread(struct swarm_piece *piece, uint32_t readers)
{
	if (atomic_fetch_sub_explicit(&piece->readers, readers, memory_order_acq_rel) == readers)
		free(piece);
}

static void say(struct swarm_learner *l, struct swarm_piece *piece, uint32_t peer, size_t set)
{
	struct swarm_said said = {.piece = piece, .peer = peer, .set = set};
	SWARM_PUSH(l->said, said);
	if (piece == NULL)
		return;
	piece->frame_bytes = sl_encode_bytes(&piece->message);
	l->spoke |= piece->message.kind >= SL_MSG_SHARE;
}

static size_t keep_set(const struct swarm *swarm, struct swarm_learner *l, const uint64_t *set)
{
	size_t at = l->sets.count;
	for (size_t w = 0; w < swarm->words; w++)
		SWARM_PUSH(l->sets, set[w]);
	return at;
}

static struct swarm_piece *chunk_piece(const struct swarm_learner *l, const struct sl_message *m, const struct sl_payload *payload)
{
	struct swarm_piece *piece = new_piece(m, m->chunk.size);
	sl_payload_nonce(&l->vault, l->view, payload, &piece->message.chunk);
	sl_payload_write(&l->vault, l->view, payload, &m->chunk, l->result, piece->bytes);
	return piece;
}

static void say_shares(struct swarm_learner *l, const struct sl_message *m, struct sl_payload payload)
{
	const struct sl_view *view = l->view;
	for (; payload.row < view->degree; payload.row++)
		say(l, chunk_piece(l, m, &payload), sl_view_peer(view, payload.row), 0);
}

static struct swarm_piece *control_piece(const struct sl_message *m)
{
	size_t bytes = m->kind == SL_MSG_LINK_STATE ? m->link_state.count * sizeof(sl_id)
		       : m->kind == SL_MSG_HOLD	    ? m->hold.size
						    : 0;
	struct swarm_piece *piece = new_piece(m, bytes);
	if (m->kind == SL_MSG_LINK_STATE) {
		memcpy(piece->bytes, m->link_state.candidates, bytes);
		piece->message.link_state.candidates = (const sl_id *)piece->bytes;
	} else if (m->kind == SL_MSG_HOLD) {
		memcpy(piece->bytes, m->hold.held, bytes);
		piece->message.hold.held = piece->bytes;
	}
	return piece;
}

void swarm_say(struct swarm *swarm, uint32_t i, const struct sl_action *action)
{
	struct swarm_learner *l = &swarm->learners[i];
	if (action->kind == SL_ACTION_LINKS) {
		say(l, NULL, SL_NOBODY, keep_set(swarm, l, action->to));
		return;
	}
	const struct sl_message *m = &action->send.message;
	const struct sl_payload *payload = &action->send.payload;
	if (payload->source == SL_SOURCE_SHARES) {
		say_shares(l, m, *payload);
		return;
	}
	struct swarm_piece *piece = payload->source != SL_SOURCE_NONE ? chunk_piece(l, m, payload) : control_piece(m);
	say(l, piece, SL_NOBODY, keep_set(swarm, l, action->send.to));
	if (m->kind == SL_MSG_STATE)
		swarm_look(swarm, i, m->chunk.index, m->chunk.iteration);
}
