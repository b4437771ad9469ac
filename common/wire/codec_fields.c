/* The struct of message.h -> protobuf-c's struct -> bytes, and back. Reading takes its memory from one block,
 * sized from the payload before protobuf-c sees it, so that no payload makes it grow. */
#include "common/wire/codec_fields.h"

#include <assert.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/wire/exact_form.h"
#include "proto/messages.pb-c.h"

static const ProtobufCMessageDescriptor *const descriptors[SL_MESSAGE_KINDS] = {
#define X(kind, number, name, ...) [number] = &starling__##name##__descriptor,
	SL_CONTROL_MESSAGES(X)
#undef X
#define X(kind, number) [number] = &starling__chunk__descriptor,
		SL_VECTOR_MESSAGES(X)
#undef X
};

/* Return the number of fields of `message` that are handled here: all but the elements of a chunk. */
static uint32_t fields_of(const struct sl_message *message)
{
	const struct sl_message_type *type = sl_message_type(message->kind);
	return type->count - (type->vector ? 1 : 0);
}

/* Return the member of `m`, a struct of protobuf-c, that holds field `f`. protobuf-c sorts fields by number.
 */
static const ProtobufCFieldDescriptor *described(const ProtobufCMessage *m, const struct sl_message_field *f)
{
	return &m->descriptor->fields[f->number - 1];
}

static void *place(const ProtobufCMessage *m, const struct sl_message_field *f)
{
	return (uint8_t *)m + described(m, f)->offset;
}

/* Return the number of items of field `f`, which is a list. */
static size_t *items(const ProtobufCMessage *m, const struct sl_message_field *f)
{
	return (size_t *)((uint8_t *)m + described(m, f)->quantifier_offset);
}

/* --- packing: protobuf-c's struct borrows every array --- */

union outgoing {
	ProtobufCMessage base;
	uint8_t room[512];
};

static void lend_bytes(void *to, const uint8_t *bytes, size_t size)
{
	*(ProtobufCBinaryData *)to = (ProtobufCBinaryData){.len = size, .data = (uint8_t *)bytes};
}

static void lend_field(union outgoing *out, const struct sl_message_field *f, const uint8_t *body)
{
	const uint8_t *from = body + f->offset, *count = body + f->count_offset;
	void *to = place(&out->base, f);
	switch (f->form) {
	case SL_FORM_U32:
	case SL_FORM_U64:
		memcpy(to, from, f->size);
		break;
	case SL_FORM_BYTES:
		lend_bytes(to, from, f->size);
		break;
	case SL_FORM_SPAN:
		lend_bytes(to, *(const uint8_t *const *)from, *(const size_t *)count);
		break;
	case SL_FORM_LIST:
		*(const uint32_t **)to = *(const uint32_t *const *)from;
		*items(&out->base, f) = *(const uint32_t *)count;
	}
}

static void lend_message(const struct sl_message *message, union outgoing *out)
{
	const struct sl_message_type *type = sl_message_type(message->kind);
	const ProtobufCMessageDescriptor *descriptor = descriptors[message->kind];
	assert(descriptor->sizeof_message <= sizeof out->room);
	descriptor->message_init(&out->base);
	for (uint32_t i = 0; i < fields_of(message); i++)
		lend_field(out, &type->fields[i], sl_message_body(message));
}

size_t sl_codec_fields_bytes(const struct sl_message *message)
{
	union outgoing out;
	lend_message(message, &out);
	return protobuf_c_message_get_packed_size(&out.base);
}

void sl_codec_fields_write(const struct sl_message *message, uint8_t *payload, size_t size)
{
	union outgoing out;
	lend_message(message, &out);
	assert(size == protobuf_c_message_get_packed_size(&out.base));
	protobuf_c_message_pack(&out.base, payload);
}

/* --- unpacking --- */

struct budget {
	struct sl_arena arena;
	bool spent;
};

static void *budget_alloc(void *data, size_t size)
{
	struct budget *budget = data;
	void *piece = sl_arena_take(&budget->arena, 1, size);
	budget->spent = budget->spent || piece == NULL;
	return piece;
}

static void budget_free(void *data, void *piece)
{
	(void)data; /* all at once, with the block */
	(void)piece;
}

static const char *read_bytes(uint8_t *to, const struct sl_message_field *f, const ProtobufCBinaryData *from)
{
	if (from->len != f->size)
		return "hash, key, challenge or signature of a wrong length";
	memcpy(to, from->data, from->len);
	return NULL;
}

static const char *read_field(uint8_t *body, const struct sl_message_field *f, const ProtobufCMessage *m)
{
	uint8_t *to = body + f->offset, *count = body + f->count_offset;
	const void *from = place(m, f);
	const ProtobufCBinaryData *span = from;
	switch (f->form) {
	case SL_FORM_U32:
	case SL_FORM_U64:
		memcpy(to, from, f->size);
		return NULL;
	case SL_FORM_BYTES:
		return read_bytes(to, f, span);
	case SL_FORM_SPAN:
		*(const uint8_t **)to = span->data;
		*(size_t *)count = span->len;
		return NULL;
	case SL_FORM_LIST:
		*(const uint32_t **)to = *(uint32_t *const *)from;
		*(uint32_t *)count = (uint32_t)*items(m, f); /* fewer than the payload has bytes */
		return NULL;
	}
	return NULL;
}

static const char *read_message(const ProtobufCMessage *m, struct sl_message *message)
{
	const struct sl_message_type *type = sl_message_type(message->kind);
	const char *why = NULL;
	for (uint32_t i = 0; i < fields_of(message) && why == NULL; i++)
		why = read_field(sl_message_body(message), &type->fields[i], m);
	return why;
}

const char *sl_codec_fields_read(const uint8_t *payload, size_t size, struct sl_message *message,
				 void *memory)
{
	struct budget budget = {.spent = false};
	ProtobufCAllocator allocator = {budget_alloc, budget_free, &budget};
	sl_arena_init(&budget.arena, memory, SL_CODEC_FIELDS_MEMORY(size));
	ProtobufCMessage *m =
		protobuf_c_message_unpack(descriptors[message->kind], &allocator, size, payload);
	if (m == NULL)
		return budget.spent ? "needs more memory than its size allows" : "not protobuf";
	if (m->n_unknown_fields != 0)
		return "unknown field";
	return sl_exact_form(m, payload, size) ? read_message(m, message) : "not the canonical form";
}
