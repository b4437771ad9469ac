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

static struct sl_runner_payload *chunk_piece(const struct sl_runner_learner *l, const struct sl_message *m,
					     const struct sl_payload *payload)
{
	struct sl_runner_payload *piece = new_piece(m, m->chunk.size);
	sl_payload_nonce(&l->workspace, l->view, payload, &piece->message.chunk);
	sl_payload_write(&l->workspace, l->view, payload, &m->chunk, l->result, piece->bytes);
	return piece;
}

static void say_shares(const struct sl_runner *runner, struct sl_runner_learner *l,
		       const struct sl_message *m, struct sl_payload payload)
{
	const struct sl_view *view = l->view;
	for (; payload.row < view->degree; payload.row++)
		say(runner, l, chunk_piece(l, m, &payload), sl_view_peer(view, payload.row), 0);
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
	const struct sl_payload *payload = &action->send.payload;
	if (payload->source == SL_SOURCE_SHARES) {
		say_shares(runner, l, m, *payload);
		return;
	}
	struct sl_runner_payload *piece =
		payload->source != SL_SOURCE_NONE ? chunk_piece(l, m, payload) : control_piece(m);
	say(runner, l, piece, SL_NOBODY, keep_set(runner, l, action->send.to));
	if (m->kind == SL_MSG_STATE)
		sl_runner_look(runner, i, m->chunk.index, m->chunk.iteration);
}
