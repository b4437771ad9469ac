/* Messages of a learner, packed once for all receivers; a share has one receiver. */
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "tools/sim/runner_internal.h"

static struct sl_runner_payload *new_piece(const struct sl_message *message, size_t bytes)
{
	struct sl_runner_payload *piece = malloc(sizeof *piece + bytes);
	if (piece == NULL)
		abort(); /* what is on its way cannot be given up */
	atomic_init(&piece->readers, 0);
	piece->message = *message;
	return piece;
}

void sl_runner_unread(struct sl_runner_payload *piece, uint32_t readers)
{
	if (atomic_fetch_sub_explicit(&piece->readers, readers, memory_order_acq_rel) == readers)
		free(piece);
}

static void say(const struct sl_runner *runner, struct sl_runner_learner *l, struct sl_runner_payload *piece,
		uint32_t peer, size_t set)
{
	struct sl_runner_said said = {.piece = piece, .peer = peer, .set = set};
	SL_RUNNER_PUSH(l->said, said);
	if (piece == NULL)
		return;
	piece->frame_bytes =
		runner->options.frame_bytes != NULL ? runner->options.frame_bytes(&piece->message) : 0;
	l->spoke |= piece->message.kind >= SL_MSG_SHARE;
}

static size_t keep_set(const struct sl_runner *runner, struct sl_runner_learner *l, const uint64_t *set)
{
	size_t at = l->sets.count;
	for (size_t w = 0; w < runner->words; w++)
		SL_RUNNER_PUSH(l->sets, set[w]);
	return at;
}

/* Row r of the vault for neighbour r. */
static void say_shares(const struct sl_runner *runner, struct sl_runner_learner *l,
		       const struct sl_message *m)
{
	const struct sl_view *view = l->view;
	for (uint32_t r = 0; r < view->degree; r++) {
		struct sl_runner_payload *piece = new_piece(m, m->chunk.size);
		memcpy(piece->bytes, l->workspace.shares[r], m->chunk.size);
		say(runner, l, piece, sl_view_peer(view, r), 0);
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
static const void *vector_of(const struct sl_runner_learner *l, const struct sl_message *m)
{
	size_t first = (size_t)m->chunk.index * SL_CHUNK_ELEMENTS;
	if (m->kind == SL_MSG_RESULT)
		return l->result + first * sim_vectors_width(l->p);
	return sl_slot_chunk(&l->workspace.state_file, l->view, position_of(l->view, m->chunk.origin),
			     m->chunk.index);
}

/* A masked state's first chunk brings the nonce that its owner committed with. */
static void add_nonce(const struct sl_runner_learner *l, struct sl_message *m)
{
	if (!sl_message_nonce_due(m->kind, &m->chunk))
		return;
	uint32_t owner = m->kind == SL_MSG_STATE ? l->view->self : position_of(l->view, m->chunk.origin);
	memcpy(m->chunk.nonce, sl_slot_nonce(&l->workspace.state_file, owner), SL_NONCE_BYTES);
}

static struct sl_runner_payload *chunk_piece(const struct sl_runner_learner *l, const struct sl_message *m)
{
	struct sl_runner_payload *piece = new_piece(m, m->chunk.size);
	if (m->kind == SL_MSG_STATE)
		sl_job_mix_state(&l->workspace, l->view, &m->chunk, piece->bytes);
	else
		memcpy(piece->bytes, vector_of(l, m), m->chunk.size);
	add_nonce(l, &piece->message);
	return piece;
}

static struct sl_runner_payload *control_piece(const struct sl_message *m)
{
	size_t bytes = m->kind == SL_MSG_LINK_STATE ? m->link_state.count * sizeof(sl_id)
		       : m->kind == SL_MSG_HAVE	    ? m->have.size
						    : 0;
	struct sl_runner_payload *piece = new_piece(m, bytes);
	if (m->kind == SL_MSG_LINK_STATE) {
		memcpy(piece->bytes, m->link_state.candidates, bytes);
		piece->message.link_state.candidates = (const sl_id *)piece->bytes;
	} else if (m->kind == SL_MSG_HAVE) {
		memcpy(piece->bytes, m->have.held, bytes);
		piece->message.have.held = piece->bytes;
	}
	return piece;
}

void sl_runner_say(struct sl_runner *runner, uint32_t i, const struct sl_action *action)
{
	struct sl_runner_learner *l = &runner->learners[i];
	if (action->kind == SL_ACTION_LINKS) {
		say(runner, l, NULL, SL_NOBODY, keep_set(runner, l, action->to));
		return;
	}
	const struct sl_message *m = &action->send.message;
	if (m->kind == SL_MSG_SHARE) {
		say_shares(runner, l, m);
		return;
	}
	struct sl_runner_payload *piece = m->kind > SL_MSG_SHARE ? chunk_piece(l, m) : control_piece(m);
	say(runner, l, piece, SL_NOBODY, keep_set(runner, l, action->send.to));
	if (m->kind == SL_MSG_STATE)
		sl_runner_look(runner, i, m->chunk.index, m->chunk.iteration);
}
