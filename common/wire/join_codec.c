#include "common/wire/join_codec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/bytes.h"
#include "common/wire/exact_form.h"
#include "proto/join.pb-c.h"

/* Memory of one message: its struct, and each field that protobuf-c copies. A field takes at least two bytes
 * of the payload; eight fields are known, and of unknown ones there are few before the block is used up. */
#define MEMORY_BYTES(size) (2048 + (size))

#define X(name, number)                                                                                      \
	static_assert((int)SL_JOIN_##name == (int)STARLING__JOIN__VERDICT__VERDICT_##name,                   \
		      "as in join.proto");
SL_JOIN_VERDICTS(X)
#undef X

static size_t put(const ProtobufCMessage *message, uint8_t *bytes)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	if (bytes != NULL) {
		struct sl_writer w = {.bytes = bytes, .size = SL_JOIN_HEAD_BYTES};
		sl_bytes_put_u32(&w, (uint32_t)size);
		protobuf_c_message_pack(message, bytes + SL_JOIN_HEAD_BYTES);
	}
	return SL_JOIN_HEAD_BYTES + size;
}

static ProtobufCBinaryData lend(const void *bytes, size_t size)
{
	return (ProtobufCBinaryData){.len = size, .data = (uint8_t *)bytes};
}

size_t sl_join_codec_put_request(const struct sl_join_request *request, uint8_t *bytes)
{
	Starling__Join__Request m = STARLING__JOIN__REQUEST__INIT;
	m.kind = (Starling__Join__Kind)request->kind;
	m.group = lend(request->group, strlen(request->group));
	m.version = request->version;
	if (request->kind == SL_JOIN_ASK) {
		m.invitation = lend(request->invitation, SL_JOIN_INVITATION_BYTES);
		m.proof = lend(request->proof, SL_JOIN_PROOF_BYTES);
		m.name = lend(request->name, strlen(request->name));
		m.address = lend(request->address, strlen(request->address));
	} else if (request->kind == SL_JOIN_RENEW) {
		m.proof = lend(request->proof, SL_SIG_BYTES);
		m.key = lend(request->key, SL_KEY_BYTES);
	}
	return put(&m.base, bytes);
}

size_t sl_join_codec_put_answer(const struct sl_join_answer *answer, uint8_t *bytes)
{
	Starling__Join__Answer m = STARLING__JOIN__ANSWER__INIT;
	assert(answer->roster_bytes <= SL_GROUP_TEXT_MAX);
	m.verdict = (Starling__Join__Verdict)answer->verdict;
	m.time = answer->time;
	m.roster = lend(answer->roster, answer->roster_bytes);
	return put(&m.base, bytes);
}

size_t sl_join_codec_length(const uint8_t head[static SL_JOIN_HEAD_BYTES])
{
	return sl_bytes_get_u32(head);
}

/* ---- decoding ---- */

static void *take_memory(void *arena, size_t size)
{
	return sl_arena_take(arena, 1, size);
}

static void leave_memory(void *arena, void *piece)
{
	(void)arena; /* all at once, with the block */
	(void)piece;
}

/* Unpack into the arena. Return NULL and set *why if the payload is not in the canonical form. */
static ProtobufCMessage *unpack(const ProtobufCMessageDescriptor *descriptor, struct sl_arena *arena,
				const uint8_t *payload, size_t size, const char **why)
{
	ProtobufCAllocator allocator = {take_memory, leave_memory, arena};
	ProtobufCMessage *m = protobuf_c_message_unpack(descriptor, &allocator, size, payload);
	if (m == NULL)
		*why = "not protobuf";
	else if (m->n_unknown_fields > 0 || !sl_exact_form(m, payload, size))
		*why = "not the canonical form";
	else
		*why = NULL;
	return *why == NULL ? m : NULL;
}

/* Copy a text of 1 to size - 1 bytes. */
static bool take_text(const ProtobufCBinaryData *from, char *to, size_t size)
{
	if (from->len == 0 || from->len >= size || memchr(from->data, 0, from->len) != NULL)
		return false;
	memcpy(to, from->data, from->len);
	return true;
}

static bool take_bytes(const ProtobufCBinaryData *from, uint8_t *to, size_t size)
{
	if (from->len != size)
		return false;
	if (size > 0)
		memcpy(to, from->data, size);
	return true;
}

static const char *read_request(const Starling__Join__Request *m, struct sl_join_request *request)
{
	*request = (struct sl_join_request){.kind = (enum sl_join_kind)m->kind, .version = m->version};
	bool ask = m->kind == STARLING__JOIN__KIND__KIND_JOIN,
	     renew = m->kind == STARLING__JOIN__KIND__KIND_RENEW;
	if (!ask && !renew && m->kind != STARLING__JOIN__KIND__KIND_ROSTER)
		return "unknown kind";
	if (!take_text(&m->group, request->group, sizeof request->group))
		return "group out of range";
	if (!(ask ? take_bytes(&m->invitation, request->invitation, sizeof request->invitation)
		  : m->invitation.len == 0))
		return "invitation of a wrong length";
	if (!take_bytes(&m->proof, request->proof, ask ? SL_JOIN_PROOF_BYTES : renew ? SL_SIG_BYTES : 0))
		return "proof of a wrong length";
	if (!(ask ? take_text(&m->name, request->name, sizeof request->name) : m->name.len == 0))
		return "name out of range";
	if (!(ask ? take_text(&m->address, request->address, sizeof request->address) : m->address.len == 0))
		return "address out of range";
	if (!take_bytes(&m->key, request->key, renew ? SL_KEY_BYTES : 0))
		return "key of a wrong length";
	return NULL;
}

const char *sl_join_codec_take_request(const uint8_t *payload, size_t size, struct sl_join_request *request)
{
	_Alignas(max_align_t) uint8_t memory[MEMORY_BYTES(SL_JOIN_REQUEST_BYTES_MAX)];
	struct sl_arena arena;
	const char *why;
	if (size > SL_JOIN_REQUEST_BYTES_MAX)
		return "payload too large";
	sl_arena_init(&arena, memory, sizeof memory);
	ProtobufCMessage *m = unpack(&starling__join__request__descriptor, &arena, payload, size, &why);
	return m == NULL ? why : read_request((const Starling__Join__Request *)m, request);
}

/* Point the roster of `answer` to its bytes in the payload, of which it is the last field. */
static const char *read_answer(const Starling__Join__Answer *m, const uint8_t *payload, size_t size,
			       struct sl_join_answer *answer)
{
	*answer = (struct sl_join_answer){.verdict = (enum sl_join_verdict)m->verdict, .time = m->time};
	if ((uint32_t)m->verdict == 0 || (uint32_t)m->verdict >= SL_JOIN_VERDICT_COUNT)
		return "unknown verdict";
	if (m->roster.len > SL_GROUP_TEXT_MAX)
		return "roster too long";
	answer->roster_bytes = m->roster.len;
	answer->roster = m->roster.len > 0 ? payload + size - m->roster.len : NULL;
	return NULL;
}

const char *sl_join_codec_take_answer(const uint8_t *payload, size_t size, struct sl_join_answer *answer)
{
	struct sl_arena arena;
	const char *why;
	if (size > SL_JOIN_ANSWER_BYTES_MAX)
		return "payload too large";
	void *memory = malloc(MEMORY_BYTES(size));
	if (memory == NULL)
		return "out of memory";
	sl_arena_init(&arena, memory, MEMORY_BYTES(size));
	ProtobufCMessage *m = unpack(&starling__join__answer__descriptor, &arena, payload, size, &why);
	if (m != NULL)
		why = read_answer((const Starling__Join__Answer *)m, payload, size, answer);
	free(memory);
	return why;
}
