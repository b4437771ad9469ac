/* packet.h - a message on its way inside this process, packed once and shared by its receivers. Freed when
 * the last reference is dropped. Receivers read a chunk where it lies.
 */
#pragma once

#include <stdatomic.h>

#include "tools/host/hosted.h"

struct sl_packet {
	atomic_uint references;
	size_t frame_bytes; /* of the message as a frame; set by the in-process runner */
	struct sl_message message;
	_Alignas(64) uint8_t bytes[]; /* of the chunk, candidates or bits: message points here */
};

/* Return the packet of a Send of `learner`, with one reference. For SL_SOURCE_SHARES, payload->row is the
 * receiver's position among the neighbours. */
struct sl_packet *sl_packet_new(const struct sl_hosted *learner, const struct sl_message *message,
				const struct sl_payload *payload);
/* Return a packet with a copy of `message`, its chunk included. */
struct sl_packet *sl_packet_copy(const struct sl_message *message);
/* The duty `drop` of a shell whose buffers are packets (execute.h). */
void sl_packet_drop_action(void *shell, const struct sl_action *action);
/* Free the work of `learner` that has not run, and its packets. */
void sl_packet_forget_work(struct sl_hosted *learner);
/* Return the learner whose record `message` is, which others pass on as it is, or 0. */
sl_id sl_packet_signer(const struct sl_message *message);
/* Return true if the packet is one of `message`, a record. */
bool sl_packet_is(const struct sl_packet *packet, const struct sl_message *message);
/* Add a reference. */
struct sl_packet *sl_packet_share(struct sl_packet *packet);
void sl_packet_drop(struct sl_packet *packet); /* NULL: nothing to do */

/* Return the event that a packet arrives from `peer`. Its buffer, of a chunk, holds a reference. */
struct sl_event sl_packet_event(struct sl_packet *packet, uint32_t peer);
/* Free a list of such buffers. */
void sl_packet_give_back(struct sl_buffer *list);

/* Sign a message without a key: the hash of what is signed, and the signer. Like Ed25519 it is the same for
 * the same content and different for any other. */
void sl_packet_tag(const struct sl_scope *scope, struct sl_message *message);
