#include "test/wire/refuse.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "proto/messages.pb-c.h"
#include "test/lib/test.h"
#include "test/wire/literal.h"

static uint8_t room[SL_VECTOR_BYTES_MAX + 64]; /* for the payload under construction */
struct sl_writer w;

void expect(uint32_t kind, const uint8_t *payload, size_t size, const char *reason)
{
	struct sl_decoded decoded;
	const char *why;
	uint8_t *copy = malloc(size > 0 ? size : 1);
	assert_non_null(copy);
	if (size > 0)
		memcpy(copy, payload, size);
	int err = sl_codec_decode(kind, copy, size, &decoded, &why);
	if (reason == NULL) {
		assert_int_equal(err, SL_OK);
		assert_null(why);
	} else {
		assert_int_equal(err, SL_ERR_FORMAT);
		assert_string_equal(why, reason);
		assert_null(decoded.memory);
	}
	sl_codec_close(&decoded);
	free(copy);
}

void expect_packed(uint32_t kind, const void *message, const char *reason)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	assert_true(size <= sizeof room);
	protobuf_c_message_pack(message, room);
	expect(kind, room, size, reason);
}

const ProtobufCMessageDescriptor *described(uint32_t kind)
{
	switch (kind) {
#define X(kind, number, name, ...)                                                                           \
	case number:                                                                                         \
		return &starling__##name##__descriptor;
		SL_CONTROL_MESSAGES(X)
#undef X
	default:
		return &starling__chunk__descriptor;
	}
}

static void *arena_alloc(void *arena, size_t size)
{
	return sl_arena_take(arena, 1, size);
}

static void arena_free(void *arena, void *piece)
{
	(void)arena;
	(void)piece;
}

/* Return a valid message of `kind` in which any one number may be as large as its range allows. */
static struct sl_message roomy(uint32_t kind)
{
	struct sl_message m = literal_of(kind)->message;
	if (kind == SL_MSG_REQUEST)
		m.request = (struct sl_request){.t = 1, .a = 1, .origin = 1, .index = 1};
	if (sl_message_type(kind)->vector)
		m.chunk.index = kind == SL_MSG_KEY_SHARE ? 0 : 1;
	return m;
}

ProtobufCMessage *valid(uint32_t kind)
{
	static _Alignas(max_align_t) uint8_t memory[8192];
	static uint8_t frame[4096];
	static struct sl_arena arena;
	ProtobufCAllocator allocator = {arena_alloc, arena_free, &arena};
	struct sl_message message = roomy(kind);
	size_t size = sl_codec_bytes(&message);
	assert_true(size <= sizeof frame);
	sl_codec_encode(&message, frame, size, NULL);
	sl_arena_init(&arena, memory, sizeof memory);
	size -= SL_FRAME_HEADER_BYTES;
	ProtobufCMessage *m =
		protobuf_c_message_unpack(described(kind), &allocator, size, frame + SL_FRAME_HEADER_BYTES);
	assert_non_null(m);
	return m;
}

static const ProtobufCFieldDescriptor *find(const ProtobufCMessage *m, const char *name)
{
	const ProtobufCFieldDescriptor *d =
		protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name);
	assert_non_null(d);
	return d;
}

void *member(ProtobufCMessage *m, const char *name)
{
	const ProtobufCFieldDescriptor *d = find(m, name);
	return (uint8_t *)m + d->offset;
}

void set(ProtobufCMessage *m, const char *name, uint64_t value)
{
	static uint8_t zeros[SL_CHUNK_BYTES_MAX + 1];
	static uint32_t ascending[2 * SL_LEARNERS_MAX + 1];
	const ProtobufCFieldDescriptor *d = find(m, name);
	void *at = (uint8_t *)m + d->offset;
	if (d->label == PROTOBUF_C_LABEL_REPEATED) {
		for (uint32_t i = 0; i <= 2 * SL_LEARNERS_MAX; i++)
			ascending[i] = i + 1;
		*(uint32_t **)at = ascending;
		*(size_t *)((uint8_t *)m + d->quantifier_offset) = (size_t)value;
	} else if (d->type == PROTOBUF_C_TYPE_BYTES) {
		*(ProtobufCBinaryData *)at = (ProtobufCBinaryData){.len = (size_t)value, .data = zeros};
		if (strcmp(name, "held") == 0 || strcmp(name, "keys") == 0) /* a Have's are of one size */
			*(ProtobufCBinaryData *)member(m, *name == 'h' ? "keys" : "held") =
				*(ProtobufCBinaryData *)at;
	} else if (d->type == PROTOBUF_C_TYPE_UINT32 || d->type == PROTOBUF_C_TYPE_ENUM) {
		*(uint32_t *)at = (uint32_t)value;
	} else {
		*(uint64_t *)at = value;
	}
}

void expect_with(uint32_t kind, const char *name, uint64_t value, const char *reason)
{
	ProtobufCMessage *m = valid(kind);
	set(m, name, value);
	expect_packed(kind, m, reason);
}

void begin(void)
{
	w = (struct sl_writer){.bytes = room, .size = sizeof room};
}

void put_byte(unsigned byte)
{
	sl_bytes_put(&w, &(uint8_t){(uint8_t)byte}, 1);
}

void put_varint(uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte((unsigned)(value & 0x7f) | 0x80);
	put_byte((unsigned)value);
}

void put_span(unsigned tag, const void *bytes, size_t size)
{
	put_varint(tag);
	put_varint(size);
	sl_bytes_put(&w, bytes, size);
}

void put_packed(const void *message)
{
	assert_true(w.used + protobuf_c_message_get_packed_size(message) <= w.size);
	w.used += protobuf_c_message_pack(message, w.bytes + w.used);
}

void expect_written(uint32_t kind, const char *reason)
{
	assert_true(w.used <= w.size);
	expect(kind, room, w.used, reason);
}
