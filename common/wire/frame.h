/* frame.h - messages on a byte stream: an 8-byte header, then protobuf.
 *
 *    0        1        2                 4                                   8
 *   +--------+--------+-----------------+-----------------------------------+----------
 *   |   'S'  | version|  kind (le16)    |  payload bytes (le32)             | payload
 *   +--------+--------+-----------------+-----------------------------------+----------
 *
 * The splitter owns one payload buffer, into which the stream is read without a copy between; a length is
 * checked against its kind's limit before memory is asked for.
 */
#pragma once

#include "common/base/err.h"
#include "common/protocol/message.h"

#define SL_FRAME_PING 64u /* a kind below the messages: no payload, only life */
#define SL_FRAME_VERSION 4u

/* Largest payload of a kind; 0 for an unknown kind. Ping: 0 payload, but known. */
size_t sl_frame_limit(uint32_t kind);
bool sl_frame_known(uint32_t kind);

void sl_frame_header(uint8_t header[static SL_FRAME_HEADER_BYTES], uint32_t kind, size_t payload_bytes);

struct sl_deframer {
	uint8_t header[SL_FRAME_HEADER_BYTES];
	size_t have; /* bytes of header and payload so far */
	uint32_t kind;
	size_t size;	  /* payload bytes announced */
	uint8_t *payload; /* size bytes, allocated once the header is complete and checked */
};

/* Where the next bytes of the stream belong, and how many of them at most; never none. After SL_OK,
 * sl_deframer_next comes first. */
uint8_t *sl_deframer_room(struct sl_deframer *deframer, size_t *size);
/* So many bytes were put there. SL_OK: one frame is complete in kind/size/payload; SL_PENDING: more needed;
 * SL_ERR_FORMAT / SL_ERR_NOMEM: the link must be closed. */
int sl_deframer_took(struct sl_deframer *deframer, size_t count);
/* For the next frame; the payload, if it is still here, is wiped and freed. */
void sl_deframer_next(struct sl_deframer *deframer);
/* Whether the stream may end here without truncation. */
bool sl_deframer_between(const struct sl_deframer *deframer);
void sl_deframer_close(struct sl_deframer *deframer);
