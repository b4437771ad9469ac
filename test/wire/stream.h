/* stream.h - feed bytes to a splitter as a link does. */
#pragma once

#include <string.h>

#include "common/wire/frame.h"

/* Take bytes from *bytes and *count, which advance, until a frame is complete or refused or all bytes are used. */
static inline int stream_take(struct sl_splitter *splitter, const uint8_t **bytes, size_t *count)
{
	int err = SL_PENDING;
	while (err == SL_PENDING && *count > 0) {
		size_t size;
		uint8_t *room = sl_splitter_room(splitter, &size);
		size = size < *count ? size : *count;
		memcpy(room, *bytes, size);
		*bytes += size;
		*count -= size;
		err = sl_splitter_took(splitter, size);
	}
	return err;
}
