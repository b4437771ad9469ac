/* Messages of a learner, packed once for all receivers; a share has one receiver. */
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
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

static void say(const struct swarm *swarm, struct swarm_learner *l, struct swarm_piece *piece, uint32_t peer, size_t set)
{
	struct swarm_said said = {.piece = piece, .peer = peer, .set = set};
	SWARM_PUSH(l->said, said);
	if (piece == NULL)
		return;
	piece->frame_bytes = swarm->options.frame_bytes != NULL ? swarm->options.frame_bytes(&piece->message) : 0;
	l->spoke |= piece->message.kind >= SL_MSG_SHARE;
}

static size_t keep_set(const struct swarm *swarm, struct swarm_learner *l, const uint64_t *set)
{
	size_t at = l->sets.count;
	for (size_t w = 0; w < swarm->words; w++)
		SWARM_PUSH(l->sets, set[w]);
	return at;
}

/* Row r of the vault for neighbour r. */
static void say_shares(const struct swarm *swarm, struct swarm_learner *l, const struct sl_message *m)
{
	const struct sl_view *view = l->view;
	for (uint32_t r = 0; r < view->degree; r++) {
		struct swarm_piece *piece = new_piece(m, m->chunk.size);
		memcpy(piece->bytes, l->vault.shares[r], m->chunk.size);
		say(swarm, l, piece, sl_view_peer(view, r), 0);
	}
}

static uint32_t position_of(const struct sl_view *view, sl_id id)
{
	uint32_t i = 0;
	while (i < view->n && view->ids[i] != id)
		i++;
	return i;
}

/* A piece of a vector of the learner's, as it lies in its memory. */
static const void *vector_of(const struct swarm_learner *l, const struct sl_message *m)
{
	size_t first = (size_t)m->chunk.index * SL_CHUNK_ELEMENTS;
	if (m->kind == SL_MSG_RESULT)
		return l->result + first * sim_vectors_width(l->p);
	return sl_slot_chunk(&l->vault.spool, l->view, position_of(l->view, m->chunk.origin), m->chunk.index);
}

/* A masked state's first chunk brings the nonce that its owner committed with. */
static void add_nonce(const struct swarm_learner *l, struct sl_message *m)
{
	if (!sl_nonce_due(m->kind, &m->chunk))
		return;
	uint32_t owner = m->kind == SL_MSG_STATE ? l->view->self : position_of(l->view, m->chunk.origin);
	memcpy(m->chunk.nonce, sl_slot_nonce(&l->vault.spool, owner), SL_NONCE_BYTES);
}

static struct swarm_piece *chunk_piece(const struct swarm_learner *l, const struct sl_message *m)
{
	struct swarm_piece *piece = new_piece(m, m->chunk.size);
	if (m->kind == SL_MSG_STATE)
		sl_vault_state(&l->vault, l->view, &m->chunk, piece->bytes);
	else
		memcpy(piece->bytes, vector_of(l, m), m->chunk.size);
	add_nonce(l, &piece->message);
	return piece;
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
		say(swarm, l, NULL, SL_NOBODY, keep_set(swarm, l, action->to));
		return;
	}
	const struct sl_message *m = &action->send.message;
	if (m->kind == SL_MSG_SHARE) {
		say_shares(swarm, l, m);
		return;
	}
	struct swarm_piece *piece = m->kind > SL_MSG_SHARE ? chunk_piece(l, m) : control_piece(m);
	say(swarm, l, piece, SL_NOBODY, keep_set(swarm, l, action->send.to));
	if (m->kind == SL_MSG_STATE)
		swarm_look(swarm, i, m->chunk.index, m->chunk.iteration);
}
