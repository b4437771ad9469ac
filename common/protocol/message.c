#include "common/protocol/message.h"

/* The ends of the ranges of `values` and of `k`. */
#include "common/field/encoding.h"
#include "common/mixing/engine.h"

#define X(kind, number, name, ...)                                                                           \
	static const struct sl_message_field name##_fields[] = {                                             \
		SL_##kind##_FIELDS(SL_FIELD, struct sl_##name)};
SL_CONTROL_MESSAGES(X)
X(CHUNK, 0, chunk)
#undef X

#define FIELDS(name) .count = sizeof name##_fields / sizeof *name##_fields, .fields = name##_fields
static const struct sl_message_type types[SL_MESSAGE_KINDS] = {
#define X(kind, number, member, signature) [number] = {.name = #member, .domain = signature, FIELDS(member)},
	SL_CONTROL_MESSAGES(X)
#undef X
#define X(kind, number) [number] = {.name = "chunk", .vector = true, FIELDS(chunk)},
		SL_VECTOR_MESSAGES(X)
#undef X
};

const struct sl_message_type *sl_message_type(uint32_t kind)
{
	return kind < SL_MESSAGE_KINDS && types[kind].name != NULL ? &types[kind] : NULL;
}

void *sl_message_role(const struct sl_message *message, enum sl_field_role role)
{
	const struct sl_message_type *type = sl_message_type(message->kind);
	for (uint32_t i = 0; type != NULL && i < type->count; i++)
		if (type->fields[i].role == role)
			return sl_message_body(message) + type->fields[i].offset;
	return NULL;
}

const char *sl_message_status_name(enum sl_peer_status status)
{
	static const char *const names[] = {"?", "training", "ready", "done", "open", "abstains", "failing"};
	return (size_t)status < sizeof names / sizeof *names ? names[status] : "?";
}
