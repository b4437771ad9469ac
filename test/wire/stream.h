/* stream.h - feed bytes to a deframer as a link does. */
#pragma once

#include <string.h>

#include "common/wire/frame.h"

/* Take bytes from *bytes and *count, which advance, until a frame is complete or refused or all bytes are
 * used. */
static inline int stream_take(struct sl_deframer *deframer, const uint8_t **bytes, size_t *count)
{
	int err = SL_PENDING;
	while (err == SL_PENDING && *count > 0) {
		size_t size;
		uint8_t *room = sl_deframer_room(deframer, &size);
		size = size < *count ? size : *count;
		memcpy(room, *bytes, size);
		*bytes += size;
		*count -= size;
		err = sl_deframer_took(deframer, size);
	}
	return err;
}
