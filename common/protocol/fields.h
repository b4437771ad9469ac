/* fields.h - the types of a message's fields: all that a row of a field list in message.h can say.
 *
 * A row reads X(S, type, number, name, ...): S is the struct (given by the expansion), `number` the field's
 * number in proto/messages.proto, and the rest depends on the type:
 *
 *   type                        in the struct            on the wire  in what is signed
 *   ID, ROUND, ATTEMPT          sl_id, sl_round, ..      uint32       8 bytes; the values start at 1
 *   U32(least, most, flaw)      uint32_t                 uint32       8 bytes
 *   ENUM(e, least, most, flaw)  enum e                   enum         8 bytes
 *   U64(least, most, flaw)      uint64_t                 uint64       8 bytes; on the wire also fixed64
 *   HASH, KEY, SECRET, RUN      uint8_t[32], .., 16      bytes        as they are
 *   STRANDS                     uint8_t[256]             bytes        as they are
 *   ROSTER                      uint8_t[32]              bytes        replaces the scope's roster hash
 *   SIGNATURE                   uint8_t[64]              bytes        nothing
 *   LIST(count, most, flaw)     count, const uint32_t *  packed       count, items: 8 bytes each
 *   SPAN(size, most, flaw)      size, const uint8_t *    bytes        size, bytes as they are; 1 <= size
 *
 * `flaw` is the reason for refusing a value outside least..most. Code that handles a message loops over its
 * rows as an array of struct sl_message_field and distinguishes only the forms.
 */
#pragma once

#include "common/base/limits.h"
#include "common/base/types.h"
#include "common/field/vector_hash.h"

/* A learner that committed the last round names the one after it. */
#define SL_ROUND_LAST (SL_ROUNDS_MAX + 1u)
#define SL_CHUNKS_MAX ((SL_ELEMENTS_MAX + SL_CHUNK_ELEMENTS - 1) / SL_CHUNK_ELEMENTS)
#define SL_P_LAST ((UINT64_C(1) << SL_P_BITS_MAX) - 1)

enum sl_field_form {
	SL_FORM_U32,
	SL_FORM_U64,
	SL_FORM_BYTES, /* an array of fixed size */
	SL_FORM_LIST,  /* 32-bit numbers outside the struct */
	SL_FORM_SPAN,  /* bytes outside the struct */
};

enum sl_field_role {
	SL_ROLE_VALUE,
	SL_ROLE_SIGNER,
	SL_ROLE_KEY,
	SL_ROLE_ROSTER,
	SL_ROLE_SIGNATURE,
};

struct sl_message_field {
	const char *name;
	uint32_t number;       /* in proto/messages.proto */
	uint32_t offset, size; /* in the struct, in bytes */
	uint32_t count_offset; /* of a list's count or a span's size */
	enum sl_field_form form;
	enum sl_field_role role;
	uint64_t least, most; /* of a number, or of a count or size */
	const char *flaw;
};

/* The members that a row declares. */
#define SL_MEMBER(S, type, number, name, ...) SL_MEMBER_##type(name, __VA_ARGS__)
#define SL_MEMBER_ID(name, ...) sl_id name;
#define SL_MEMBER_ROUND(name, ...) sl_round name;
#define SL_MEMBER_ATTEMPT(name, ...) sl_attempt name;
#define SL_MEMBER_U32(name, ...) uint32_t name;
#define SL_MEMBER_U64(name, ...) uint64_t name;
#define SL_MEMBER_ENUM(name, e, ...) enum e name;
#define SL_MEMBER_HASH(name, ...) uint8_t name[SL_HASH_BYTES];
#define SL_MEMBER_KEY(name, ...) uint8_t name[SL_KEY_BYTES];
#define SL_MEMBER_RUN(name, ...) uint8_t name[SL_RUN_BYTES];
#define SL_MEMBER_SECRET(name, ...) uint8_t name[SL_KEY_BYTES];
#define SL_MEMBER_STRANDS(name, ...) uint8_t name[SL_STRANDS_BYTES];
#define SL_MEMBER_ROSTER(name, ...) uint8_t name[SL_HASH_BYTES];
#define SL_MEMBER_SIGNATURE(name, ...) uint8_t name[SL_SIG_BYTES];
#define SL_MEMBER_LIST(name, count, ...)                                                                     \
	uint32_t count;                                                                                      \
	const uint32_t *name;
#define SL_MEMBER_SPAN(name, size, ...)                                                                      \
	size_t size;                                                                                         \
	const uint8_t *name;

/* The struct sl_message_field that a row stands for. */
#define SL_FIELD(S, type, field_number, field, ...)                                                          \
	{.name = #field,                                                                                     \
	 .number = (field_number),                                                                           \
	 .offset = offsetof(S, field),                                                                       \
	 .size = sizeof((S *)NULL)->field,                                                                   \
	 SL_FIELD_##type(S, __VA_ARGS__)},
#define SL_FIELD_ID(S, ...) .role = SL_ROLE_SIGNER, SL_FIELD_U32(S, 1, UINT32_MAX, "id is 0")
#define SL_FIELD_ROUND(S, ...) SL_FIELD_U32(S, 1, SL_ROUND_LAST, "round out of range")
#define SL_FIELD_ATTEMPT(S, ...) SL_FIELD_U32(S, 1, SL_ATTEMPTS_MAX, "attempt out of range")
#define SL_FIELD_U32(S, ...) .form = SL_FORM_U32, SL_RANGE(__VA_ARGS__)
#define SL_FIELD_U64(S, ...) .form = SL_FORM_U64, SL_RANGE(__VA_ARGS__)
#define SL_FIELD_ENUM(S, e, ...) .form = SL_FORM_U32, SL_RANGE(__VA_ARGS__)
#define SL_FIELD_HASH(S, ...) .form = SL_FORM_BYTES
#define SL_FIELD_STRANDS(S, ...) .form = SL_FORM_BYTES
#define SL_FIELD_KEY(S, ...) .form = SL_FORM_BYTES, .role = SL_ROLE_KEY
#define SL_FIELD_RUN(S, ...) .form = SL_FORM_BYTES
#define SL_FIELD_SECRET(S, ...) .form = SL_FORM_BYTES
#define SL_FIELD_ROSTER(S, ...) .form = SL_FORM_BYTES, .role = SL_ROLE_ROSTER
#define SL_FIELD_SIGNATURE(S, ...) .form = SL_FORM_BYTES, .role = SL_ROLE_SIGNATURE
#define SL_FIELD_LIST(S, count, ...)                                                                         \
	.form = SL_FORM_LIST, .count_offset = offsetof(S, count), SL_RANGE(0, __VA_ARGS__)
#define SL_FIELD_SPAN(S, size, ...)                                                                          \
	.form = SL_FORM_SPAN, .count_offset = offsetof(S, size), SL_RANGE(1, __VA_ARGS__)
#define SL_RANGE(low, high, text) .least = (low), .most = (high), .flaw = (text)
