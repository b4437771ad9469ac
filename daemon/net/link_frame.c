/* link_frame.c - frames of a link: one that is sent, and the one that arrives. */
#include "daemon/net/link.h"

#include <sodium.h>
#include <stdlib.h>

struct sl_frame *sl_link_frame_new(size_t size, bool vector)
{
	struct sl_frame *frame = malloc(sizeof *frame + size);
	if (frame == NULL)
		return NULL;
	frame->references = 1;
	frame->vector = vector;
	frame->secret = false;
	frame->size = size;
	return frame;
}

void sl_link_frame_release(struct sl_frame *frame)
{
	if (frame == NULL || --frame->references > 0)
		return;
	if (frame->secret)
		sodium_memzero(frame->bytes, frame->size);
	free(frame);
}

int sl_link_decrypt(struct sl_link *link, bool *whole)
{
	size_t size, got;
	uint8_t *room = sl_deframer_room(&link->deframer, &size);
	*whole = false;
	int rc = sl_tls_session_read(&link->session, room, size, &got);
	if (rc != SL_OK)
		return rc;
	rc = sl_deframer_took(&link->deframer, got);
	*whole = rc == SL_OK;
	return rc == SL_PENDING ? SL_OK : rc;
}
