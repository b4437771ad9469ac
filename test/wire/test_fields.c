/* The field lists of message.h against proto/messages.proto, against the literal ranges and against literal
 * messages. */
#include <stddef.h>
#include <stdint.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "proto/messages.pb-c.h"
#include "test/lib/test.h"
#include "test/wire/literal.h"
#include "test/wire/refuse.h"
#include "test/wire/sample.h"

static bool type_fits(const struct sl_message_field *f, const ProtobufCFieldDescriptor *d)
{
	bool list = f->form == SL_FORM_LIST;
	if (list != (d->label == PROTOBUF_C_LABEL_REPEATED) ||
	    list != ((d->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0))
		return false;
	switch (f->form) {
	case SL_FORM_U32:
		return d->type == PROTOBUF_C_TYPE_UINT32 || d->type == PROTOBUF_C_TYPE_ENUM;
	case SL_FORM_U64:
		return d->type == PROTOBUF_C_TYPE_UINT64 || d->type == PROTOBUF_C_TYPE_FIXED64;
	case SL_FORM_BYTES:
	case SL_FORM_SPAN:
		return d->type == PROTOBUF_C_TYPE_BYTES;
	case SL_FORM_LIST:
		return d->type == PROTOBUF_C_TYPE_UINT32;
	}
	return false;
}

static void expect_fields(const ProtobufCMessageDescriptor *d, const struct sl_message_field *fields,
			  uint32_t count)
{
	assert_int_equal(d->n_fields, count);
	for (const struct sl_message_field *f = fields; f < fields + count; f++) {
		const ProtobufCFieldDescriptor *theirs =
			protobuf_c_message_descriptor_get_field_by_name(d, f->name);
		assert_non_null(theirs);
		assert_int_equal(theirs->id, f->number);
		assert_ptr_equal(theirs, &d->fields[f->number - 1]); /* numbered from 1 without a gap */
		assert_true(type_fits(f, theirs));
	}
}

TEST(lists_are_the_proto_file)
{
	SAMPLE_EACH_KIND(kind)
	{
		const struct sl_message_type *type = sl_message_type(kind);
		expect_fields(described(kind), type->fields, type->count);
	}
	assert_null(sl_message_type(0));
	assert_null(sl_message_type(14));
	assert_null(sl_message_type(SL_MESSAGE_KINDS));
}

/* Return true if the range of `f` is the whole type, so that no value is refused. */
static bool unbounded(const struct sl_message_field *f)
{
	return f->form == SL_FORM_BYTES ||
	       (f->least == 0 && f->most == (f->form == SL_FORM_U32 ? UINT32_MAX : UINT64_MAX));
}

/* A range in message.h without a literal row would be tested against itself alone. */
TEST(ranges_stand_twice)
{
	SAMPLE_EACH_KIND(kind)
	{
		const struct sl_message_type *type = sl_message_type(kind);
		for (uint32_t i = 0; i < type->count; i++)
			if (!unbounded(&type->fields[i]) &&
			    sample_bound_of(kind, type->fields[i].name) == NULL)
				fail_msg("sample_bounds has no row for field %s of %s", type->fields[i].name,
					 type->name);
	}
}

static void expect_hex(const uint8_t *bytes, size_t size, const char *hex)
{
	char *text = malloc(2 * size + 1);
	assert_non_null(text);
	assert_string_equal(sodium_bin2hex(text, 2 * size + 1, bytes, size), hex);
	free(text);
}

TEST(literal_messages)
{
	for (size_t i = 0; i < literals_count; i++) {
		const struct sl_message *m = &literals[i].message;
		uint8_t frame[1024], hash[SL_HASH_BYTES];
		size_t size = sl_codec_bytes(m);
		assert_in_range(size, SL_FRAME_HEADER_BYTES, sizeof frame);
		sl_codec_encode(m, frame, size, NULL);
		expect_hex(frame + SL_FRAME_HEADER_BYTES, size - SL_FRAME_HEADER_BYTES, literals[i].payload);
		assert_int_equal(sl_canonical_message(&literal_scope, m, hash), literals[i].hash != NULL);
		if (literals[i].hash != NULL)
			expect_hex(hash, sizeof hash, literals[i].hash);
	}
}
