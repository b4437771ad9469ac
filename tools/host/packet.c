#include "tools/host/packet.h"

#include <stdlib.h>
#include <string.h>

#include "tools/host/heap.h"

/* Return the bytes that `message` points to. */
static const void *behind(const struct sl_message *m, size_t *bytes)
{
	const void *at = NULL;
	*bytes = 0;
	if (m->kind == SL_MSG_LINK_STATE) {
		*bytes = m->link_state.count * sizeof(sl_id);
		at = m->link_state.candidates;
	} else if (m->kind == SL_MSG_OPENING) {
		*bytes = m->opening.size;
		at = m->opening.share;
	} else if (m->kind == SL_MSG_CHECKSUM) {
		*bytes = m->checksums.size;
		at = m->checksums.values;
	} else if (m->kind == SL_MSG_ROUND) {
		*bytes = m->round_head.count * sizeof(uint32_t);
		at = m->round_head.members;
	} else if (m->kind == SL_MSG_MODEL) {
		*bytes = m->model.size;
		at = m->model.tensors;
	} else if (m->kind >= SL_MSG_SHARE) {
		*bytes = m->chunk.size;
		at = m->chunk.bytes;
	}
	return at;
}

/* Return a packet with room behind the message; a test may add a candidate to a link state. */
static struct sl_packet *open_packet(const struct sl_message *m, size_t bytes)
{
	struct sl_packet *packet = sl_heap_take(sizeof *packet + bytes + sizeof(sl_id));
	if (packet == NULL)
		abort(); /* a message cannot be lost for want of memory */
	atomic_init(&packet->references, 1);
	packet->frame_bytes = 0;
	packet->message = *m;
	if (m->kind == SL_MSG_LINK_STATE)
		packet->message.link_state.candidates = (const sl_id *)packet->bytes;
	else if (m->kind == SL_MSG_HAVE)
		packet->message.have.held = packet->bytes;
	else if (m->kind == SL_MSG_OPENING)
		packet->message.opening.share = packet->bytes;
	else if (m->kind == SL_MSG_CHECKSUM)
		packet->message.checksums.values = packet->bytes;
	else if (m->kind == SL_MSG_ROUND)
		packet->message.round_head.members = (const uint32_t *)packet->bytes;
	else if (m->kind == SL_MSG_MODEL)
		packet->message.model.tensors = packet->bytes;
	else if (m->kind >= SL_MSG_SHARE)
		packet->message.chunk.bytes = packet->bytes;
	return packet;
}

/* A Have has two sets. */
static struct sl_packet *copy_have(const struct sl_have *have, const struct sl_message *message)
{
	struct sl_packet *packet = open_packet(message, have->size + have->keys_size);
	memcpy(packet->bytes, have->held, have->size);
	memcpy(packet->bytes + have->size, have->keys, have->keys_size);
	packet->message.have.keys = packet->bytes + have->size;
	return packet;
}

struct sl_packet *sl_packet_copy(const struct sl_message *message)
{
	size_t bytes;
	const void *from = behind(message, &bytes);
	if (message->kind == SL_MSG_HAVE)
		return copy_have(&message->have, message);
	struct sl_packet *packet = open_packet(message, bytes);
	if (bytes > 0)
		memcpy(packet->bytes, from, bytes);
	return packet;
}

struct sl_packet *sl_packet_new(const struct sl_hosted *l, const struct sl_message *message,
				const struct sl_payload *payload)
{
	if (payload->source == SL_SOURCE_NONE)
		return sl_packet_copy(message);
	struct sl_packet *packet = open_packet(message, message->chunk.size);
	struct sl_chunk *chunk = &packet->message.chunk;
	sl_payload_write(&l->workspace, l->view, payload, chunk, l->disk.model, packet->bytes);
	return packet;
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

struct sl_buffer *sl_packet_lend(struct sl_packet *packet)
{
	struct sl_buffer *buffer = sl_heap_zeroed(1, sizeof *buffer);
	if (buffer == NULL)
		abort();
	buffer->bytes = packet->bytes;
	buffer->size = packet->message.chunk.size;
	buffer->memory = sl_packet_share(packet);
	return buffer;
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
