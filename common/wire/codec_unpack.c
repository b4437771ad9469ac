/* Control messages: bytes -> protobuf-c's struct -> ours. All memory is one block, sized from the payload before
 * protobuf-c sees it, so that no payload is amplified. */
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

/* Honest messages need about 4 times their size (a packed id of one byte becomes four) and a few structs. Thousands of
 * empty unknown fields would need 30 times theirs; they are cut off here. */
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
	hello->standing = (enum sl_standing)m->standing;
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
#define X(name, key, rule) ls->parameters.name = m->parameters->name;
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
	digest->sigma = m->sigma;
	digest->encoding = m->encoding;
	digest->clip = m->clip;
	bool whole = COPY(digest->key, m->key) && COPY(digest->view, m->view) &&
		     COPY(digest->digest, m->digest) && COPY(digest->signature, m->signature);
	return whole ? NULL : wrong_length;
}

static const char *read_ask(const Starling__Ask *m, struct sl_ask *ask)
{
	ask->t = m->t;
	ask->index = m->index;
	ask->a = m->a;
	ask->origin = m->origin;
	return NULL;
}

static const char *read_fence(const Starling__Fence *m, struct sl_fence *fence)
{
	if (m->n_released > SL_RELEASED_MAX)
		return "too many released attempts";
	fence->id = m->id;
	fence->incarnation = m->incarnation;
	fence->t = m->t;
	fence->a = m->a;
	fence->dead = m->dead;
	fence->count = (uint32_t)m->n_released;
	for (uint32_t i = 0; i < fence->count; i++)
		fence->released[i] = m->released[i];
	return COPY(fence->key, m->key) && COPY(fence->signature, m->signature) ? NULL : wrong_length;
}

static const char *read_hold(const Starling__Hold *m, struct sl_hold *hold)
{
	hold->t = m->t;
	hold->a = m->a;
	hold->size = (uint32_t)m->held.len; /* no more than the payload */
	hold->held = m->held.data;
	return COPY(hold->view, m->view) ? NULL : wrong_length;
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
	case SL_MSG_ASK:
		return read_ask((const Starling__Ask *)m, &message->ask);
	case SL_MSG_FENCE:
		return read_fence((const Starling__Fence *)m, &message->fence);
	case SL_MSG_HOLD:
		return read_hold((const Starling__Hold *)m, &message->hold);
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
	case SL_MSG_ASK:
		return &starling__ask__descriptor;
	case SL_MSG_FENCE:
		return &starling__fence__descriptor;
	case SL_MSG_HOLD:
		return &starling__hold__descriptor;
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

/* protobuf-c takes the last of two fields, drops what is over 32 bits and reads fields in any order; we do not. */
static bool canonical(const ProtobufCMessage *m, const uint8_t *payload, size_t size)
{
	struct comparison c = {.base = {compare}, .at = payload, .left = size, .same = true};
	protobuf_c_message_pack_to_buffer(m, &c.base);
	return c.same && c.left == 0;
}

int sl_control_read(const uint8_t *payload, size_t size, struct sl_message *message, void **memory,
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
