#include "test/wire/refuse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <protobuf-c/protobuf-c.h>
#include <stdlib.h>
#include <string.h>

static uint8_t room[SL_VECTOR_BYTES_MAX + 64]; /* a payload under construction */
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
	put_byte(tag);
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
