/* The bytes of a chunk, as vector.proto has them; the piece stands last.
 *
 *   08 t | 10 a | 1a 20 view[32] | 20 iteration | 28 index | 30 origin | 3a 20 nonce[32] | 42 length
 * data[length]
 *
 * An integer that is 0 is left out with its tag, as proto3 does.
 */
#include <assert.h>
#include <string.h>

#include "common/wire/codec_parts.h"
#include "proto/vector.pb-c.h"

enum tag { /* field number * 8 + wire type: 0 varint, 2 length-delimited */
	   TAG_T = 1 << 3,
	   TAG_A = 2 << 3,
	   TAG_VIEW = 3 << 3 | 2,
	   TAG_ITERATION = 4 << 3,
	   TAG_INDEX = 5 << 3,
	   TAG_ORIGIN = 6 << 3,
	   TAG_NONCE = 7 << 3 | 2,
	   TAG_DATA = 8 << 3 | 2,
};

static size_t varint_bytes(uint64_t value)
{
	size_t n = 1;
	while ((value >>= 7) != 0)
		n++;
	return n;
}

static uint8_t *put_varint(uint8_t *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*out++ = (uint8_t)(value | 0x80);
	*out++ = (uint8_t)value;
	return out;
}

static bool has_nonce(const struct sl_chunk *chunk)
{
	uint8_t any = 0;
	for (size_t i = 0; i < SL_NONCE_BYTES; i++)
		any |= chunk->nonce[i];
	return any != 0;
}

/* The chunk without its piece, for protobuf-c. */
static Starling__Vector prefix(const struct sl_chunk *chunk)
{
	Starling__Vector v = STARLING__VECTOR__INIT;
	v.t = chunk->t;
	v.a = chunk->a;
	v.view = (ProtobufCBinaryData){.len = SL_HASH_BYTES, .data = (uint8_t *)chunk->view};
	v.iteration = chunk->iteration;
	v.index = chunk->index;
	v.origin = chunk->origin;
	if (has_nonce(chunk))
		v.nonce = (ProtobufCBinaryData){.len = SL_NONCE_BYTES, .data = (uint8_t *)chunk->nonce};
	return v;
}

size_t sl_codec_chunk_bytes(const struct sl_chunk *chunk)
{
	Starling__Vector v = prefix(chunk);
	return starling__vector__get_packed_size(&v) + 1 + varint_bytes(chunk->size) + chunk->size;
}

uint8_t *sl_codec_chunk_write(const struct sl_chunk *chunk, uint8_t *payload, size_t size)
{
	Starling__Vector v = prefix(chunk);
	assert(size == sl_codec_chunk_bytes(chunk));
	uint8_t *out = payload + starling__vector__pack(&v, payload);
	*out++ = TAG_DATA;
	out = put_varint(out, chunk->size);
	assert(out + chunk->size == payload + size);
	return out;
}

struct reader {
	const uint8_t *at;
	const uint8_t *end;
};

static const char overlong[] = "varint cut short or too long";

/* The shortest form only: its last byte is not 0, and nothing is shifted out at the top. */
static const char *take_varint(struct reader *r, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;
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
	if (length > (size_t)(r->end - r->at))
		return "field longer than the message";
	*bytes = r->at;
	*size = (size_t)length;
	r->at += length;
	return NULL;
}

static_assert(SL_HASH_BYTES == SL_NONCE_BYTES, "take_32 takes both");

static const char *take_32(struct reader *r, uint8_t out[static SL_HASH_BYTES])
{
	const uint8_t *bytes = NULL;
	size_t size = 0;
	const char *why = take_span(r, &bytes, &size);
	if (why != NULL)
		return why;
	if (size != SL_HASH_BYTES)
		return "view or nonce of a wrong length";
	memcpy(out, bytes, SL_HASH_BYTES);
	return NULL;
}

static const char *take_field(struct reader *r, uint64_t tag, struct sl_chunk *chunk)
{
	switch (tag) {
	case TAG_T:
		return take_u32(r, &chunk->t);
	case TAG_A:
		return take_u32(r, &chunk->a);
	case TAG_VIEW:
		return take_32(r, chunk->view);
	case TAG_ITERATION:
		return take_u64(r, &chunk->iteration);
	case TAG_INDEX:
		return take_u32(r, &chunk->index);
	case TAG_ORIGIN:
		return take_u32(r, &chunk->origin);
	case TAG_NONCE:
		return take_32(r, chunk->nonce);
	case TAG_DATA:
		return take_span(r, &chunk->bytes, &chunk->size);
	default:
		return "unknown field";
	}
}

const char *sl_codec_chunk_read(const uint8_t *payload, size_t size, struct sl_chunk *chunk)
{
	struct reader r = {.at = payload, .end = payload + size};
	uint64_t last = 0;
	bool viewed = false, nonced = false; /* whose absence their value does not show */
	*chunk = (struct sl_chunk){0};
	while (r.at < r.end) {
		uint64_t tag = 0;
		const char *why = take_varint(&r, &tag);
		if (why == NULL && tag <= last)
			why = "field twice or out of order";
		if (why == NULL)
			why = take_field(&r, tag, chunk);
		if (why != NULL)
			return why;
		viewed = viewed || tag == TAG_VIEW;
		nonced = nonced || tag == TAG_NONCE;
		last = tag;
	}
	if (nonced && !has_nonce(chunk))
		return "a nonce of zeros";
	return viewed ? NULL : "no view";
}
