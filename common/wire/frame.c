#include "common/wire/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 'S'

bool sl_frame_known(uint32_t kind)
{
	return kind == SL_FRAME_PING || (kind >= SL_FRAME_ROSTER_VERSION && kind <= SL_FRAME_PLACE) ||
	       sl_message_type(kind) != NULL;
}

bool sl_frame_group(uint32_t kind)
{
	return kind >= SL_FRAME_ROSTER_VERSION && kind <= SL_FRAME_PROGRAM;
}

bool sl_frame_later(uint32_t kind)
{
	return kind >= SL_FRAME_LATER_FIRST && kind <= SL_FRAME_LATER_LAST;
}

size_t sl_frame_limit(uint32_t kind)
{
	const struct sl_message_type *type = sl_message_type(kind);
	if (kind >= SL_FRAME_ROSTER_VERSION && kind <= SL_FRAME_LATER_LAST)
		return SL_CONTROL_BYTES_MAX;
	if (type == NULL)
		return 0; /* also for a ping, which has no payload */
	return type->vector ? SL_VECTOR_BYTES_MAX : SL_CONTROL_BYTES_MAX;
}

void sl_frame_header(uint8_t header[static SL_FRAME_HEADER_BYTES], uint32_t kind, size_t payload_bytes)
{
	assert(sl_frame_known(kind) && payload_bytes <= sl_frame_limit(kind));
	header[0] = MAGIC;
	header[1] = SL_FRAME_VERSION;
	header[2] = (uint8_t)kind;
	header[3] = (uint8_t)(kind >> 8);
	for (unsigned i = 0; i < 4; i++)
		header[4 + i] = (uint8_t)(payload_bytes >> (8 * i));
}

uint32_t sl_frame_kind(const uint8_t header[static SL_FRAME_HEADER_BYTES])
{
	return header[2] | (uint32_t)header[3] << 8;
}

/* Check the complete header, then allocate the payload that it announces. */
static int open_frame(struct sl_deframer *s)
{
	const uint8_t *h = s->header;
	if (h[0] != MAGIC || h[1] != SL_FRAME_VERSION)
		return SL_ERR_FORMAT;
	s->kind = sl_frame_kind(h);
	s->size = (size_t)h[4] | (size_t)h[5] << 8 | (size_t)h[6] << 16 | (size_t)h[7] << 24;
	if (!(sl_frame_known(s->kind) || sl_frame_later(s->kind)) || s->size > sl_frame_limit(s->kind)) {
		s->size = 0; /* no payload was allocated, so none is to be wiped */
		return SL_ERR_FORMAT;
	}
	if (s->size == 0)
		return SL_OK;
	s->payload = malloc(s->size);
	if (s->payload == NULL) {
		s->size = 0;
		return SL_ERR_NOMEM;
	}
	return SL_OK;
}

uint8_t *sl_deframer_room(struct sl_deframer *s, size_t *size)
{
	/* After the header there is a checked length with its buffer; a complete or refused frame is not
	 * continued. */
	assert(s->have < SL_FRAME_HEADER_BYTES || s->have < SL_FRAME_HEADER_BYTES + s->size);
	bool header = s->have < SL_FRAME_HEADER_BYTES;
	size_t at = header ? s->have : s->have - SL_FRAME_HEADER_BYTES;
	*size = (header ? SL_FRAME_HEADER_BYTES : s->size) - at;
	return (header ? s->header : s->payload) + at;
}

int sl_deframer_took(struct sl_deframer *s, size_t count)
{
	assert(count > 0);
	s->have += count;
	if (s->have == SL_FRAME_HEADER_BYTES) {
		int err = open_frame(s);
		if (err != SL_OK)
			return err;
	}
	return s->have >= SL_FRAME_HEADER_BYTES && s->have == SL_FRAME_HEADER_BYTES + s->size ? SL_OK
											      : SL_PENDING;
}

void sl_deframer_next(struct sl_deframer *s)
{
	if (s->payload != NULL)
		explicit_bzero(s->payload, s->size); /* it may hold a share */
	free(s->payload);
	*s = (struct sl_deframer){0};
}

int sl_deframer_version(const struct sl_deframer *s)
{
	int version = s->header[1];
	if (s->have < SL_FRAME_HEADER_BYTES || s->header[0] != MAGIC || version == SL_FRAME_VERSION)
		return 0;
	return version < (int)SL_FRAME_VERSION ? -1 : 1;
}

bool sl_deframer_between(const struct sl_deframer *s)
{
	return s->have == 0;
}

void sl_deframer_close(struct sl_deframer *s)
{
	sl_deframer_next(s);
}
