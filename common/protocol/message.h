/* message.h - the messages between learners, as plain structs. Room wire converts them to bytes and back.
 *
 *   Hello      over each link, at its start and at each change of status (PROTOCOL.md §6.6 Hello)
 *   LinkState  signed, flooded: candidates and parameters for one attempt (PROTOCOL.md §6.7 LinkState)
 *   Ready      signed, flooded: has all shares, commits to its masked state (PROTOCOL.md §6.8 Ready)
 *   Digest     signed, to neighbours and learners that catch up: the result (PROTOCOL.md §6.9 Digest)
 *   Request    to one neighbour: requests a result or a masked state (PROTOCOL.md §6.10 Request)
 *   Abort      signed, flooded: attempts that the sender will never release (PROTOCOL.md §6.11 Abort)
 *   Have       to the members of a released view: the masked states here (PROTOCOL.md §6.12 Have)
 *   Model      to a neighbour that trains another model: the own tensors (PROTOCOL.md §6.16 Model)
 *   Share, State, Result, Masked
 *              one chunk of a vector (PROTOCOL.md §6.13 Share, State, Result, Masked)
 *
 * Each message has one list of fields, in the order in which they are signed. The lists make the structs
 * below, the payload (wire/codec_fields.c), what is signed (canonical.c), the range checks (wire/check.c) and
 * the random messages of the tests (test/wire/sample.c); fields.h explains the rows. A new field is a row
 * here and a line of proto/messages.proto. A new message is a row of SL_CONTROL_MESSAGES, its list, its
 * .proto message and a handler (message() in core/step.c).
 *
 * Pointers are borrowed: in a received message until the end of the step, in an action until the next step.
 */
#pragma once

#include "common/protocol/fields.h"

/* X(kind, its number in a frame's header, struct and member, domain of its signature or NULL). The list of
 * fields is SL_<kind>_FIELDS. */
#define SL_CONTROL_MESSAGES(X)                                                                               \
	X(HELLO, 1, hello, NULL)                                                                             \
	X(LINK_STATE, 2, link_state, "starling link state 3")                                                \
	X(READY, 3, ready, "starling ready 1")                                                               \
	X(DIGEST, 4, digest, "starling digest 2")                                                            \
	X(REQUEST, 5, request, NULL)                                                                         \
	X(ABORT, 6, abort, "starling fence 1")                                                               \
	X(HAVE, 7, have, NULL)                                                                               \
	X(MODEL, 8, model, NULL)

/* Chunks of vectors. The struct of all of them is sl_chunk. */
#define SL_VECTOR_MESSAGES(X)                                                                                \
	X(SHARE, 9)                                                                                          \
	X(STATE, 10)                                                                                         \
	X(RESULT, 11)                                                                                        \
	X(MASKED, 12)

#define X(kind, number, ...) SL_MSG_##kind = (number),
enum sl_message_kind { SL_CONTROL_MESSAGES(X) SL_VECTOR_MESSAGES(X) };
#undef X
#define X(...) +1
enum { SL_MESSAGE_KINDS = 1 SL_CONTROL_MESSAGES(X) SL_VECTOR_MESSAGES(X) }; /* every kind is below it */
#undef X

enum sl_peer_status {
	SL_PEER_STATUS_TRAINING = 1, /* the model of round t is not trained yet */
	SL_PEER_STATUS_READY,	     /* trained; discovering, or in an attempt */
	SL_PEER_STATUS_DONE,	     /* committed the last round */
	SL_PEER_STATUS_OPEN, /* has released its masked state in an attempt of t; finishes that one first */
};

#define SL_HELLO_FIELDS(X, S)                                                                                \
	X(S, ID, 1, id)                                                                                      \
	X(S, U32, 2, incarnation, 0, UINT32_MAX, NULL)                                                       \
	X(S, ROUND, 3, t)                                                                                    \
	X(S, ATTEMPT, 4, a)                                                                                  \
	X(S, ENUM, 5, status, sl_peer_status, SL_PEER_STATUS_TRAINING, SL_PEER_STATUS_OPEN,                  \
	  "unknown peer status")                                                                             \
	X(S, RUN, 6, run)                                                                                    \
	X(S, HASH, 7, roster)

/* The parameters that the learners of a view agree on (PROTOCOL.md §3 Parameters and how they are agreed),
 * compared, named, hashed and sent in this order: X(name, its setting, rule of agreement, least, most, flaw).
 * SAME: learners with different values are not in one view. MOST: the largest value counts (the paper's
 * maximum consensus). BACKED: the largest value that c+1 participants reach counts, so that no c of them
 * raise it alone.
 *
 *   n           floats of the model; the vectors have one element more, the weight
 *   p           prime of the field; 0: auto
 *   rounds      T
 *   tolerance   c; at least two learners do not collude
 *   clipping_range  bits of a double
 *   max_weight  1: equal weights
 *   encoding    enum sl_encoding_kind; sharing: enum sl_sharing_kind; mixing: enum sl_engine
 *   k           floor under K; with iterations_rule, K itself
 *   max_degree  with more peers in range, the learner offers an overlay of this degree
 *   model       hash of names, dtypes and shapes of the model's tensors (common/model/tensor_bytes.h)
 *   privacy_check  0: warn; 1: enforce, as soon as one participant asks for it
 */
#define SL_PARAMETERS(X)                                                                                     \
	X(n, n, SAME, 1, SL_ELEMENTS_MAX - 1, "n out of range")                                              \
	X(p, modulus, MOST, 0, SL_P_LAST, "modulus out of range")                                            \
	X(rounds, rounds, BACKED, 1, SL_ROUNDS_MAX, "rounds out of range")                                   \
	X(quorum, quorum, MOST, 1, SL_LEARNERS_MAX, "quorum out of range")                                   \
	X(tolerance, tolerance, SAME, 1, SL_LEARNERS_MAX - 2, "tolerance out of range")                      \
	X(decimals, decimals, MOST, 0, SL_DECIMALS_MAX, "decimals out of range")                             \
	X(clipping_range, clipping_range, MOST, 1, SL_DOUBLE_LAST,                                           \
	  "clipping_range is not a positive number")                                                         \
	X(max_weight, max_weight, MOST, 1, UINT64_MAX, "max_weight is 0")                                    \
	X(encoding, encoding, SAME, 0, SL_ENCODING_PAPER, "unknown encoding")                                \
	X(sharing, sharing, SAME, 0, SL_SHARING_SEEDED, "unknown sharing")                                   \
	X(mixing, mixing, SAME, 0, SL_ENGINE_AUTO, "unknown mixing")                                         \
	X(k, iterations, BACKED, 0, SL_ITERATIONS_MAX, "k out of range")                                     \
	X(iterations_rule, iterations_rule, SAME, 0, 1, "iterations_rule is neither 0 nor 1")                \
	X(max_degree, max_degree, SAME, SL_DEGREE_LEAST, SL_LEARNERS_MAX, "max_degree out of range")         \
	X(model, model, SAME, 0, UINT64_MAX, NULL)                                                           \
	X(privacy_check, privacy_check, MOST, 0, 1, "privacy_check is neither 0 nor 1")

#define X(name, ...) uint64_t name;
struct sl_parameters {
	SL_PARAMETERS(X)
};
#undef X
#define X(name, ...) SL_PARAMETER_##name,
enum { SL_PARAMETERS(X) SL_PARAMETER_COUNT };
#undef X

/* roster: hash of the signer's roster. key: the signer's public key; the roster pins its hash. previous: D of
 * the last committed round; zeros before the first. candidates: ids, strictly ascending. */
#define SL_LINK_STATE_FIELDS(X, S)                                                                           \
	X(S, ROSTER, 6, roster)                                                                              \
	X(S, ROUND, 3, t)                                                                                    \
	X(S, ATTEMPT, 4, a)                                                                                  \
	X(S, U32, 2, incarnation, 0, UINT32_MAX, NULL)                                                       \
	X(S, ID, 1, id)                                                                                      \
	X(S, KEY, 5, key)                                                                                    \
	X(S, U32, 7, roster_size, 1, SL_LEARNERS_MAX, "roster_size out of range")                            \
	X(S, PARAMETERS, 8, parameters)                                                                      \
	X(S, HASH, 9, previous)                                                                              \
	X(S, LIST, 10, candidates, count, SL_LEARNERS_MAX, "too many candidates")                            \
	X(S, SIGNATURE, 11, signature)

/* view: h. k: K_i; SL_ITERATIONS_NONE: metropolis is impossible; 0: this view does not ask for it. */
#define SL_READY_FIELDS(X, S)                                                                                \
	X(S, ROUND, 2, t)                                                                                    \
	X(S, ATTEMPT, 3, a)                                                                                  \
	X(S, ID, 1, id)                                                                                      \
	X(S, HASH, 4, view)                                                                                  \
	X(S, U64, 5, k, 0, SL_ITERATIONS_NONE, "K out of range")                                             \
	X(S, HASH, 6, commitment)                                                                            \
	X(S, SIGNATURE, 7, signature)

/* key: the signer's, which a learner that catches up may not know yet. p to clipping_range (bits of a
 * double): of the view, needed to decode Z; learners is N. digest: D. */
#define SL_DIGEST_FIELDS(X, S)                                                                               \
	X(S, ROUND, 2, t)                                                                                    \
	X(S, ATTEMPT, 3, a)                                                                                  \
	X(S, ID, 1, id)                                                                                      \
	X(S, KEY, 4, key)                                                                                    \
	X(S, U64, 7, p, 3, SL_P_LAST, "modulus out of range")                                                \
	X(S, U32, 8, learners, 2, SL_LEARNERS_MAX, "learners out of range")                                  \
	X(S, U32, 9, decimals, 0, SL_DECIMALS_MAX, "decimals out of range")                                  \
	X(S, U32, 10, encoding, 0, SL_ENCODING_PAPER, "unknown encoding")                                    \
	X(S, U64, 11, clipping_range, 1, SL_DOUBLE_LAST, "clipping_range is not a positive number")          \
	X(S, HASH, 5, view)                                                                                  \
	X(S, HASH, 6, digest)                                                                                \
	X(S, SIGNATURE, 12, signature)

/* t: round of the vector; 0: the digests of the last result. index: chunk. a, origin: attempt and owner of
 * the masked state; 0: a result is requested. */
#define SL_REQUEST_FIELDS(X, S)                                                                              \
	X(S, U32, 1, t, 0, SL_ROUND_LAST, "round out of range")                                              \
	X(S, U32, 2, index, 0, SL_CHUNKS_MAX - 1, "chunk index out of range")                                \
	X(S, U32, 3, a, 0, SL_ATTEMPTS_MAX, "attempt out of range")                                          \
	X(S, U32, 4, origin, 0, UINT32_MAX, NULL)

/* Of round t the signer has released, and will ever release, no attempt up to a but those in `released`
 * (strictly ascending). Cumulative: the latest Abort of a learner replaces its earlier ones. closed: the
 * signer will finish none of `released` up to this one; 0: none is closed. */
#define SL_ABORT_FIELDS(X, S)                                                                                \
	X(S, ROUND, 3, t)                                                                                    \
	X(S, ATTEMPT, 4, a)                                                                                  \
	X(S, U32, 2, incarnation, 0, UINT32_MAX, NULL)                                                       \
	X(S, ID, 1, id)                                                                                      \
	X(S, KEY, 6, key)                                                                                    \
	X(S, U32, 7, closed, 0, SL_ATTEMPTS_MAX, "closed attempt above a")                                   \
	X(S, ARRAY, 5, released, count, SL_RELEASED_MAX, "too many released attempts")                       \
	X(S, SIGNATURE, 8, signature)

/* held: bit set over the view's positions, the lowest bit of a byte first. */
#define SL_HAVE_FIELDS(X, S)                                                                                 \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, HASH, 3, view)                                                                                  \
	X(S, SPAN, 4, held, size, SL_LEARNERS_MAX / 8, "set of members out of range")

/* tensors: the first of the sender's `count` tensors, as common/model/tensor_bytes.h writes them: as many as
 * fit. */
#define SL_MODEL_FIELDS(X, S)                                                                                \
	X(S, U32, 1, count, 1, SL_ELEMENTS_MAX, "number of tensors out of range")                            \
	X(S, SPAN, 2, tensors, size, SL_TENSOR_BYTES_MAX, "list of tensors out of range")

/* In the order of the bytes on the wire, the elements last. iteration: k of a State; 0 in the others.
 * index: chunk m, the coordinates from m * SL_CHUNK_ELEMENTS on. origin: owner of a Masked; 0 in the others.
 * nonce: of the commitment, with chunk 0 of a masked state (State of k = 0, Masked); zeros in the others.
 * bytes: packed elements. */
#define SL_CHUNK_FIELDS(X, S)                                                                                \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, HASH, 3, view)                                                                                  \
	X(S, U64, 4, iteration, 0, SL_ITERATIONS_MAX - 1, "iteration out of range")                          \
	X(S, U32, 5, index, 0, SL_CHUNKS_MAX - 1, "chunk index out of range")                                \
	X(S, U32, 6, origin, 0, UINT32_MAX, NULL)                                                            \
	X(S, NONCE, 7, nonce)                                                                                \
	X(S, SPAN, 8, bytes, size, SL_CHUNK_BYTES_MAX, "chunk size out of range")

#define X(kind, number, name, ...)                                                                           \
	struct sl_##name {                                                                                   \
		SL_##kind##_FIELDS(SL_MEMBER, _)                                                             \
	};
SL_CONTROL_MESSAGES(X)
X(CHUNK, 0, chunk)
#undef X

#define X(kind, number, name, ...) struct sl_##name name;
struct sl_message {
	enum sl_message_kind kind;
	union {
		SL_CONTROL_MESSAGES(X)
		struct sl_chunk chunk; /* Share, State, Result, Masked */
	};
};
#undef X

struct sl_message_type {
	const char *name;   /* of the struct's member */
	const char *domain; /* of the signature; NULL: not signed */
	bool vector;	    /* a chunk */
	uint32_t count;
	const struct sl_message_field *fields; /* `count`, in the order of the list */
};

extern const struct sl_message_field sl_message_parameter_fields[SL_PARAMETER_COUNT];

/* Return the type of messages of `kind`, or NULL for an unknown kind. */
const struct sl_message_type *sl_message_type(uint32_t kind);
/* Return the struct within `message`, to which the offsets of its fields refer; `message` may be
 * const only where the result is not written to. */
static inline uint8_t *sl_message_body(const struct sl_message *message)
{
	return (uint8_t *)message + offsetof(struct sl_message, hello);
}
/* Return the field of `message` that has `role`, or NULL. */
void *sl_message_role(const struct sl_message *message, enum sl_field_role role);

/* Return true if `chunk` is the first chunk of a masked state, which brings the nonce of the commitment. */
static inline bool sl_message_nonce_due(enum sl_message_kind kind, const struct sl_chunk *chunk)
{
	return chunk->index == 0 &&
	       (kind == SL_MSG_MASKED || (kind == SL_MSG_STATE && chunk->iteration == 0));
}

/* Certificate of a committed round: signed digests that agree with one another (PROTOCOL.md §11.3
 * Certificates and signers). */
struct sl_certificate {
	sl_round t; /* 0: none */
	sl_attempt a;
	uint8_t view[SL_HASH_BYTES];
	uint8_t digest[SL_HASH_BYTES];
	uint64_t p;
	uint32_t learners;
	uint32_t decimals, encoding;
	uint64_t clipping_range;
	uint32_t count;
	struct sl_digest digests[SL_SIGNERS_MAX]; /* distinct signers; the first is the holder's own, if it
						     took part */
};

/* A received chunk. Owned by the shell; the core may keep it from the step that received it until the one job
 * (or drop) in which it returns it. */
struct sl_buffer {
	struct sl_buffer *next;
	uint32_t from; /* position of the sender among the view's neighbours (set by the core) */
	sl_round t;
	uint32_t index;	    /* chunk */
	uint64_t iteration; /* k; 0 for shares */
	uint8_t view[SL_HASH_BYTES];
	sl_id origin;		       /* owner of a Masked */
	uint8_t nonce[SL_NONCE_BYTES]; /* of the commitment, with chunk 0 of a masked state */
	size_t size;
	uint8_t *bytes;
	void *memory;	    /* the shell's allocation that `bytes` points into */
	size_t secret_size; /* bytes that the shell wipes; 0 except for shares */
};
