/* The payload of a chunk, as message Chunk of proto/messages.proto has it; the elements are last.
 *
 *   08 t | 10 a | 1a 20 view[32] | 20 iteration | 28 index | 30 origin | 3a 20 nonce[32] | 42 size
 * bytes[size]
 *
 * A number that is 0 and a nonce of zeros are left out with their tags, as proto3 leaves out default values.
 */
#include <assert.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/wire/codec_parts.h"

/* Return the tag of field `f`: its number and protobuf's wire type, 0 for varints and 2 for bytes with their
 * length. */
static uint64_t tag_of(const struct sl_message_field *f)
{
	bool number = f->form == SL_FORM_U32 || f->form == SL_FORM_U64;
	return f->number << 3 | (number ? 0 : 2);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	uint8_t any = 0;
	for (size_t i = 0; i < size; i++)
		any |= bytes[i];
	return any == 0;
}

/* --- writing --- */

static void put_varint(struct sl_writer *w, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		sl_bytes_put(w, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
	sl_bytes_put(w, &(uint8_t){(uint8_t)value}, 1);
}

static void put_number(struct sl_writer *w, const struct sl_message_field *f, uint64_t value)
{
	if (value == 0)
		return;
	put_varint(w, tag_of(f));
	put_varint(w, value);
}

/* Write field `f` of the struct `body`; of the elements only the tag and the length. */
static void put_field(struct sl_writer *w, const struct sl_message_field *f, const uint8_t *body)
{
	const uint8_t *at = body + f->offset;
	switch (f->form) {
	case SL_FORM_U32:
		put_number(w, f, *(const uint32_t *)at);
		break;
	case SL_FORM_U64:
		put_number(w, f, *(const uint64_t *)at);
		break;
	case SL_FORM_BYTES:
		if (f->role == SL_ROLE_NONCE && is_zero(at, f->size))
			break;
		put_varint(w, tag_of(f));
		put_varint(w, f->size);
		sl_bytes_put(w, at, f->size);
		break;
	case SL_FORM_SPAN:
		put_varint(w, tag_of(f));
		put_varint(w, *(const size_t *)(body + f->count_offset));
		break;
	case SL_FORM_LIST:
	case SL_FORM_ARRAY:
	case SL_FORM_PARAMETERS:
		assert(false && "a chunk has no such field");
	}
}

static struct sl_writer write_head(const struct sl_chunk *chunk, uint8_t *payload, size_t size)
{
	const struct sl_message_type *type = sl_message_type(SL_MSG_SHARE);
	struct sl_writer w = {.bytes = payload, .size = size};
	for (uint32_t i = 0; i < type->count; i++)
		put_field(&w, &type->fields[i], (const uint8_t *)chunk);
	return w;
}

size_t sl_codec_chunk_bytes(const struct sl_chunk *chunk)
{
	return write_head(chunk, NULL, 0).used + chunk->size;
}

uint8_t *sl_codec_chunk_write(const struct sl_chunk *chunk, uint8_t *payload, size_t size)
{
	struct sl_writer w = write_head(chunk, payload, size);
	assert(size == w.used + chunk->size);
	return payload + w.used;
}

/* --- reading --- */

struct reader {
	const uint8_t *at;
	size_t left;
};

static const char overlong[] = "varint cut short or too long";

/* Read a varint in its shortest form: the last byte is not 0, and no bit is beyond 64. */
static const char *take_varint(struct reader *r, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && r->left > 0; shift += 7) {
		uint8_t byte = *r->at++;
		r->left--;
		if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0))
			return overlong;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return NULL;
	}
	return overlong;
}

static const char *take_u64(struct reader *r, uint64_t *value)
{
	const char *why = take_varint(r, value);
	return why == NULL && *value == 0 ? "a zero spelled out" : why;
}

static const char *take_u32(struct reader *r, uint32_t *value)
{
	uint64_t wide = 0;
	const char *why = take_u64(r, &wide);
	*value = (uint32_t)wide;
	return why == NULL && wide > UINT32_MAX ? "number too large" : why;
}

static const char *take_span(struct reader *r, const uint8_t **bytes, size_t *size)
{
	uint64_t length = 0;
	const char *why = take_varint(r, &length);
	if (why != NULL)
		return why;
	if (length > r->left)
		return "field longer than the message";
	*bytes = r->at;
	*size = (size_t)length;
	r->at += length;
	r->left -= (size_t)length;
	return NULL;
}

static const char *take_bytes(struct reader *r, uint8_t *out, size_t size)
{
	const uint8_t *bytes = NULL;
	size_t length = 0;
	const char *why = take_span(r, &bytes, &length);
	if (why != NULL)
		return why;
	if (length != size)
		return "view or nonce of a wrong length";
	memcpy(out, bytes, size);
	return NULL;
}

static const char *take_field(struct reader *r, const struct sl_message_field *f, uint8_t *body)
{
	uint8_t *at = body + f->offset;
	const char *why = NULL;
	switch (f->form) {
	case SL_FORM_U32:
		return take_u32(r, (uint32_t *)at);
	case SL_FORM_U64:
		return take_u64(r, (uint64_t *)at);
	case SL_FORM_BYTES:
		why = take_bytes(r, at, f->size);
		return why == NULL && f->role == SL_ROLE_NONCE && is_zero(at, f->size) ? "a nonce of zeros"
										       : why;
	case SL_FORM_SPAN:
		return take_span(r, (const uint8_t **)at, (size_t *)(body + f->count_offset));
	case SL_FORM_LIST:
	case SL_FORM_ARRAY:
	case SL_FORM_PARAMETERS:
		assert(false && "a chunk has no such field");
	}
	return NULL;
}

const char *sl_codec_chunk_read(const uint8_t *payload, size_t size, struct sl_chunk *chunk)
{
	const struct sl_message_type *type = sl_message_type(SL_MSG_SHARE);
	struct reader r = {.at = payload, .left = size};
	uint64_t last = 0;
	bool viewed = false;
	*chunk = (struct sl_chunk){0};
	while (r.left > 0) {
		uint64_t tag = 0;
		uint32_t i = 0;
		const char *why = take_varint(&r, &tag);
		while (i < type->count && tag_of(&type->fields[i]) != tag)
			i++;
		if (why == NULL && tag <= last)
			why = "field twice or out of order";
		if (why == NULL)
			why = i < type->count ? take_field(&r, &type->fields[i], (uint8_t *)chunk)
					      : "unknown field";
		if (why != NULL)
			return why;
		viewed = viewed || type->fields[i].offset == offsetof(struct sl_chunk, view);
		last = tag;
	}
	return viewed ? NULL : "no view";
}
