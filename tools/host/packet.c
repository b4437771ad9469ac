#include "tools/host/packet.h"

#include <stdlib.h>
#include <string.h>

#include "tools/host/heap.h"

/* Return the place of the pointer of `m` to bytes outside of it, and their number; NULL: there is none. */
static void *pointer_of(struct sl_message *m, size_t *bytes)
{
	switch (m->kind) {
	case SL_MSG_LINK_STATE:
		*bytes = m->link_state.count * sizeof(sl_id);
		return &m->link_state.candidates;
	case SL_MSG_HAVE:
		*bytes = m->have.size;
		return &m->have.held;
	case SL_MSG_OPENING:
		*bytes = m->opening.size;
		return &m->opening.share;
	case SL_MSG_CHECKSUM:
		*bytes = m->checksums.size;
		return &m->checksums.values;
	case SL_MSG_ROUND:
		*bytes = m->round_head.count * sizeof(uint32_t);
		return &m->round_head.members;
	case SL_MSG_MODEL:
		*bytes = m->model.size;
		return &m->model.tensors;
	default:
		*bytes = m->kind >= SL_MSG_SHARE ? m->chunk.size : 0;
		return m->kind >= SL_MSG_SHARE ? &m->chunk.bytes : NULL;
	}
}

/* Return a packet with room for `more` bytes behind those that the message points to; a test may add a
 * candidate to a link state. */
static struct sl_packet *open_packet(const struct sl_message *m, size_t more, const void **from,
				     size_t *bytes)
{
	struct sl_message message = *m;
	void *place = pointer_of(&message, bytes);
	struct sl_packet *packet = sl_heap_take(sizeof *packet + *bytes + more + sizeof(sl_id));
	if (packet == NULL)
		abort(); /* a message cannot be lost for want of memory */
	const uint8_t *to = packet->bytes;
	if (place != NULL) {
		memcpy(from, place, sizeof *from);
		memcpy(place, &to, sizeof to);
	}
	atomic_init(&packet->references, 1);
	packet->frame_bytes = 0;
	packet->message = message;
	return packet;
}

struct sl_packet *sl_packet_copy(const struct sl_message *message)
{
	size_t bytes, more = message->kind == SL_MSG_HAVE ? message->have.keys_size : 0; /* a second set */
	const void *from = NULL;
	struct sl_packet *packet = open_packet(message, more, &from, &bytes);
	if (bytes > 0)
		memcpy(packet->bytes, from, bytes);
	if (message->kind == SL_MSG_HAVE)
		packet->message.have.keys = packet->bytes + bytes;
	if (more > 0)
		memcpy(packet->bytes + bytes, message->have.keys, more);
	return packet;
}

struct sl_packet *sl_packet_new(const struct sl_hosted *l, const struct sl_message *message,
				const struct sl_payload *payload)
{
	if (payload->source == SL_SOURCE_NONE)
		return sl_packet_copy(message);
	size_t bytes;
	const void *from;
	struct sl_packet *packet = open_packet(message, 0, &from, &bytes);
	struct sl_chunk *chunk = &packet->message.chunk;
	sl_payload_write(&l->workspace, l->view, payload, chunk, l->disk.model, packet->bytes);
	return packet;
}

sl_id sl_packet_signer(const struct sl_message *m)
{
	switch (m->kind) {
	case SL_MSG_LINK_STATE:
		return m->link_state.id;
	case SL_MSG_READY:
		return m->ready.id;
	case SL_MSG_DIGEST:
		return m->digest.id;
	case SL_MSG_CHALLENGE:
		return m->challenge.origin;
	case SL_MSG_CHECKSUM:
		return m->checksums.id;
	default:
		return 0;
	}
}

bool sl_packet_is(const struct sl_packet *packet, const struct sl_message *m)
{
	struct sl_message message = *m;
	const uint8_t *from = NULL, *here = packet->bytes;
	size_t bytes;
	void *place = pointer_of(&message, &bytes);
	if (place != NULL) {
		memcpy(&from, place, sizeof from);
		memcpy(place, &here, sizeof here);
	}
	return memcmp(&message, &packet->message, sizeof message) == 0 &&
	       (bytes == 0 || memcmp(here, from, bytes) == 0);
}

struct sl_packet *sl_packet_share(struct sl_packet *packet)
{
	atomic_fetch_add_explicit(&packet->references, 1, memory_order_relaxed);
	return packet;
}

void sl_packet_drop(struct sl_packet *packet)
{
	if (packet != NULL && atomic_fetch_sub_explicit(&packet->references, 1, memory_order_acq_rel) == 1)
		sl_heap_give(packet);
}

static struct sl_buffer *lend(struct sl_packet *packet)
{
	struct sl_buffer *buffer = sl_heap_zeroed(1, sizeof *buffer);
	if (buffer == NULL)
		abort();
	buffer->bytes = packet->bytes;
	buffer->size = packet->message.chunk.size;
	buffer->memory = sl_packet_share(packet);
	return buffer;
}

struct sl_event sl_packet_event(struct sl_packet *packet, uint32_t peer)
{
	struct sl_event event = {.kind = SL_EVENT_MESSAGE, .peer = peer, .message = &packet->message};
	if (packet->message.kind >= SL_MSG_SHARE)
		event.buffer = lend(packet);
	return event;
}

void sl_packet_tag(const struct sl_scope *scope, struct sl_message *m)
{
	uint8_t hash[SL_HASH_BYTES], *signature = sl_message_role(m, SL_ROLE_SIGNATURE);
	if (signature == NULL || !sl_canonical_message(scope, m, hash))
		return;
	memset(signature, 0, SL_SIG_BYTES);
	memcpy(signature, hash, sizeof hash);
	memcpy(signature + sizeof hash, sl_message_role(m, SL_ROLE_SIGNER), sizeof(sl_id));
}

void sl_packet_give_back(struct sl_buffer *list)
{
	while (list != NULL) {
		struct sl_buffer *next = list->next;
		sl_packet_drop(list->memory);
		sl_heap_give(list);
		list = next;
	}
}

void sl_packet_forget_work(struct sl_hosted *l)
{
	while (l->work != NULL) {
		struct sl_work *work = sl_hosted_take(l);
		sl_packet_give_back(work->job.buffers);
		sl_hosted_done(work);
	}
}

void sl_packet_drop_action(void *shell, const struct sl_action *action)
{
	(void)shell;
	sl_packet_give_back(action->buffers);
}
