/* payload.h - where the bytes of a chunk lie that the core sends, and how they get into a message. The core
 * says where; each shell (daemon, simulator, in-process runner) copies them by the functions below.
 */
#pragma once

#include "common/compute/workspace.h"

enum sl_source {
	SL_SOURCE_NONE,	      /* the message has no chunk */
	SL_SOURCE_SHARES,     /* the share of each neighbour: a message for each, `row` is set by the shell */
	SL_SOURCE_KEY_SHARES, /* the key share of each neighbour, and its path: likewise */
	SL_SOURCE_STATE,      /* the present state of the chunk */
	SL_SOURCE_SLOT,	      /* the slot of position `row`, from byte `at` of the deposit on */
	SL_SOURCE_RESULT,     /* the last committed model, from byte `at` on */
};

/* Return true if the payload is another one for each neighbour. */
static inline bool sl_source_by_neighbour(enum sl_source source)
{
	return source == SL_SOURCE_SHARES || source == SL_SOURCE_KEY_SHARES;
}

struct sl_payload {
	enum sl_source source;
	uint32_t row;
	size_t at;
	bool requested; /* the answer to a request, which a peer that does not read may repeat elsewhere */
};

/* Write the bytes of `chunk` to `out`. model: the last committed one, of SL_SOURCE_RESULT; else unused. */
void sl_payload_write(const struct sl_workspace *workspace, const struct sl_view *view,
		      const struct sl_payload *payload, const struct sl_chunk *chunk, const uint8_t *model,
		      uint8_t *out);
