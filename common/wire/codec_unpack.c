/* Control messages: bytes -> protobuf-c's struct -> ours. All memory is one block, sized from the payload
 * before protobuf-c sees it, so that no payload is amplified. */
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/wire/codec_parts.h"
#include "proto/ask.pb-c.h"
#include "proto/digest.pb-c.h"
#include "proto/fence.pb-c.h"
#include "proto/hello.pb-c.h"
#include "proto/hold.pb-c.h"
#include "proto/link_state.pb-c.h"
#include "proto/ready.pb-c.h"

/* Honest messages need about 4 times their size (a packed id of one byte becomes four) and a few structs.
 * Thousands of empty unknown fields would need 30 times theirs; they are cut off here. */
#define BUDGET_FACTOR 8u
#define BUDGET_FLOOR 4096u

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

static const char wrong_length[] = "hash, key or signature of a wrong length";

static bool copy(uint8_t *out, size_t size, ProtobufCBinaryData in)
{
	if (in.len != size)
		return false;
	memcpy(out, in.data, size);
	return true;
}

#define COPY(out, in) copy((out), sizeof(out), (in))

static const char *read_hello(const Starling__Hello *m, struct sl_hello *hello)
{
	hello->id = m->id;
	hello->incarnation = m->incarnation;
	hello->t = m->t;
	hello->a = m->a;
	hello->status = (enum sl_peer_status)m->status;
	return COPY(hello->run, m->run) && COPY(hello->roster, m->roster) ? NULL : wrong_length;
}

static const char *read_link_state(const Starling__LinkState *m, struct sl_link_state *ls)
{
	if (m->parameters == NULL)
		return "no parameters";
	ls->id = m->id;
	ls->incarnation = m->incarnation;
	ls->t = m->t;
	ls->a = m->a;
#define X(name, rule) ls->parameters.name = m->parameters->name;
	SL_PARAMETERS(X)
#undef X
	ls->roster_size = m->roster_size;
	ls->count = (uint32_t)m->n_candidates; /* fewer than the payload has bytes */
	ls->candidates = m->candidates;
	bool whole = COPY(ls->key, m->key) && COPY(ls->roster, m->roster) &&
		     COPY(ls->previous, m->previous) && COPY(ls->signature, m->signature);
	return whole ? NULL : wrong_length;
}

static const char *read_ready(const Starling__Ready *m, struct sl_ready *ready)
{
	ready->id = m->id;
	ready->t = m->t;
	ready->a = m->a;
	ready->k = m->k;
	bool whole = COPY(ready->view, m->view) && COPY(ready->commitment, m->commitment) &&
		     COPY(ready->signature, m->signature);
	return whole ? NULL : wrong_length;
}

static const char *read_digest(const Starling__Digest *m, struct sl_digest *digest)
{
	digest->id = m->id;
	digest->t = m->t;
	digest->a = m->a;
	digest->p = m->p;
	digest->learners = m->learners;
	digest->decimals = m->decimals;
	digest->encoding = m->encoding;
	digest->clipping_range = m->clipping_range;
	bool whole = COPY(digest->key, m->key) && COPY(digest->view, m->view) &&
		     COPY(digest->digest, m->digest) && COPY(digest->signature, m->signature);
	return whole ? NULL : wrong_length;
}

static const char *read_request(const Starling__Request *m, struct sl_request *request)
{
	request->t = m->t;
	request->index = m->index;
	request->a = m->a;
	request->origin = m->origin;
	return NULL;
}

static const char *read_abort(const Starling__Abort *m, struct sl_abort *abort_record)
{
	if (m->n_released > SL_RELEASED_MAX)
		return "too many released attempts";
	abort_record->id = m->id;
	abort_record->incarnation = m->incarnation;
	abort_record->t = m->t;
	abort_record->a = m->a;
	abort_record->closed = m->closed;
	abort_record->count = (uint32_t)m->n_released;
	for (uint32_t i = 0; i < abort_record->count; i++)
		abort_record->released[i] = m->released[i];
	return COPY(abort_record->key, m->key) && COPY(abort_record->signature, m->signature) ? NULL
											      : wrong_length;
}

static const char *read_have(const Starling__Have *m, struct sl_have *have)
{
	have->t = m->t;
	have->a = m->a;
	have->size = (uint32_t)m->held.len; /* no more than the payload */
	have->held = m->held.data;
	return COPY(have->view, m->view) ? NULL : wrong_length;
}

static const char *read_message(const ProtobufCMessage *m, struct sl_message *message)
{
	switch (message->kind) {
	case SL_MSG_HELLO:
		return read_hello((const Starling__Hello *)m, &message->hello);
	case SL_MSG_LINK_STATE:
		return read_link_state((const Starling__LinkState *)m, &message->link_state);
	case SL_MSG_READY:
		return read_ready((const Starling__Ready *)m, &message->ready);
	case SL_MSG_DIGEST:
		return read_digest((const Starling__Digest *)m, &message->digest);
	case SL_MSG_REQUEST:
		return read_request((const Starling__Request *)m, &message->request);
	case SL_MSG_ABORT:
		return read_abort((const Starling__Abort *)m, &message->abort_record);
	case SL_MSG_HAVE:
		return read_have((const Starling__Have *)m, &message->have);
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
	default:
		return "not a control message";
	}
}

static const ProtobufCMessageDescriptor *descriptor(enum sl_message_kind kind)
{
	switch (kind) {
	case SL_MSG_HELLO:
		return &starling__hello__descriptor;
	case SL_MSG_LINK_STATE:
		return &starling__link_state__descriptor;
	case SL_MSG_READY:
		return &starling__ready__descriptor;
	case SL_MSG_DIGEST:
		return &starling__digest__descriptor;
	case SL_MSG_REQUEST:
		return &starling__request__descriptor;
	case SL_MSG_ABORT:
		return &starling__abort__descriptor;
	case SL_MSG_HAVE:
		return &starling__have__descriptor;
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
	default:
		return NULL;
	}
}

static bool unknown_fields(const ProtobufCMessage *m)
{
	if (m->n_unknown_fields != 0)
		return true;
	if (m->descriptor != &starling__link_state__descriptor)
		return false;
	const Starling__Parameters *parameters = ((const Starling__LinkState *)m)->parameters;
	return parameters != NULL && parameters->base.n_unknown_fields != 0;
}

/* Packs again, against the payload instead of into memory. */
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
	if (!c->same)
		return;
	c->at += size;
	c->left -= size;
}

/* protobuf-c takes the last of two fields, drops what is over 32 bits and reads fields in any order; we do
 * not. */
static bool canonical(const ProtobufCMessage *m, const uint8_t *payload, size_t size)
{
	struct comparison c = {.base = {compare}, .at = payload, .left = size, .same = true};
	protobuf_c_message_pack_to_buffer(m, &c.base);
	return c.same && c.left == 0;
}

int sl_codec_control_read(const uint8_t *payload, size_t size, struct sl_message *message, void **memory,
			  const char **why)
{
	size_t room = BUDGET_FACTOR * size + BUDGET_FLOOR;
	struct budget budget = {.spent = false};
	ProtobufCAllocator allocator = {budget_alloc, budget_free, &budget};
	*memory = malloc(room);
	*why = "out of memory";
	if (*memory == NULL)
		return SL_ERR_NOMEM;
	sl_arena_init(&budget.arena, *memory, room);
	ProtobufCMessage *m = protobuf_c_message_unpack(descriptor(message->kind), &allocator, size, payload);
	if (m == NULL)
		*why = budget.spent ? "needs more memory than its size allows" : "not protobuf";
	else if (unknown_fields(m))
		*why = "unknown field";
	else if (!canonical(m, payload, size))
		*why = "not the canonical form";
	else
		*why = read_message(m, message);
	return *why == NULL ? SL_OK : SL_ERR_FORMAT;
}
