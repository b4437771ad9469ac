#include "common/wire/exact_form.h"

#include <string.h>

/* A buffer of protobuf-c that compares what is packed into it with the payload. */
struct comparison {
	ProtobufCBuffer base;
	const uint8_t *at;
	size_t left;
	bool same;
};

static void compare(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
	struct comparison *c = (struct comparison *)buffer;
	c->same = c->same && size <= c->left && (size == 0 || memcmp(c->at, bytes, size) == 0);
	if (!c->same || size == 0)
		return;
	c->at += size;
	c->left -= size;
}

bool sl_exact_form(const ProtobufCMessage *m, const uint8_t *payload, size_t size)
{
	struct comparison c = {.base = {compare}, .at = payload, .left = size, .same = true};
	protobuf_c_message_pack_to_buffer(m, &c.base);
	return c.same && c.left == 0;
}
