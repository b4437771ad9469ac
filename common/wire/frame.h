/* frame.h - messages on a byte stream: an 8-byte header, then protobuf (LINKS.md §6.3 Frames).
 *
 *    0        1        2                 4                                   8
 *   +--------+--------+-----------------+-----------------------------------+----------
 *   |   'S'  | version|  kind (le16)    |  payload bytes (le32)             | payload
 *   +--------+--------+-----------------+-----------------------------------+----------
 *
 * The deframer owns one payload buffer, into which the stream is read without a copy. A length is checked
 * against the limit of its kind before memory is allocated.
 */
#pragma once

#include "common/base/err.h"
#include "common/protocol/message.h"

#define SL_FRAME_PING 64u /* not a message: a frame without payload that shows that the peer is alive */
#define SL_FRAME_VERSION 15u
/* Between learners that have a signed roster (daemon/membership/group_update.h): not messages of the core. */
#define SL_FRAME_ROSTER_VERSION 32u
#define SL_FRAME_ROSTER_PART 33u
#define SL_FRAME_PROGRAM 34u /* version of the program */
#define SL_FRAME_RELAY 35u   /* of links through a third learner (daemon/net/relay.h) */
#define SL_FRAME_PLACE 36u   /* where a process of a learner was seen (daemon/net/links_places.c) */
/* Kinds of control messages that a later edition may add: taken from the stream, and not looked at. */
#define SL_FRAME_LATER_FIRST 37u
#define SL_FRAME_LATER_LAST 63u

/* Return the largest payload of `kind`; 0 for a ping and for an unknown kind. */
size_t sl_frame_limit(uint32_t kind);
/* Return true if `kind` is a message, of a group or a ping. */
bool sl_frame_known(uint32_t kind);
/* Return true if `kind` is of a group: of learners that have a signed roster. */
bool sl_frame_group(uint32_t kind);
/* Return true if `kind` is reserved for later editions. */
bool sl_frame_later(uint32_t kind);

void sl_frame_header(uint8_t header[static SL_FRAME_HEADER_BYTES], uint32_t kind, size_t payload_bytes);

/* Return the kind in a header. */
uint32_t sl_frame_kind(const uint8_t header[static SL_FRAME_HEADER_BYTES]);

struct sl_deframer {
	uint8_t header[SL_FRAME_HEADER_BYTES];
	size_t have; /* bytes of header and payload so far */
	uint32_t kind;
	size_t size;	  /* payload bytes announced */
	uint8_t *payload; /* size bytes, allocated once the header is complete and checked */
};

/* Return the place of the next bytes of the stream and write to `size` how many fit there, at least one.
 * After SL_OK call sl_deframer_next first. */
uint8_t *sl_deframer_room(struct sl_deframer *deframer, size_t *size);
/* Take note of `count` bytes that were put there. Return SL_OK if a frame is complete in kind, size and
 * payload, SL_PENDING if more bytes are needed, SL_ERR_FORMAT or SL_ERR_NOMEM if the link must be closed. */
int sl_deframer_took(struct sl_deframer *deframer, size_t count);
/* Get ready for the next frame. Wipe and free the payload unless the caller took it. */
void sl_deframer_next(struct sl_deframer *deframer);
/* Return what the peer's version is compared with this one, after SL_ERR_FORMAT: -1 older, 1 newer, 0 the
 * same or not a frame. */
int sl_deframer_version(const struct sl_deframer *deframer);
/* Return true if the stream may end here: no frame is incomplete. */
bool sl_deframer_between(const struct sl_deframer *deframer);
void sl_deframer_close(struct sl_deframer *deframer);
