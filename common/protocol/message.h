/* message.h - the messages between learners, as plain structs. Room wire converts them to bytes and back.
 *
 *   Hello      over each link, at its start and at some changes of status (LINKS.md §6.6 Hello)
 *   LinkState  signed, flooded: candidates, model and measurements for one attempt (LINKS.md §6.7 LinkState)
 *   Ready      signed, flooded: commits to deposit, deposit key and challenge (LINKS.md §6.8 Ready)
 *   Digest     signed, flooded, and to learners that catch up: the result (LINKS.md §6.9 Digest)
 *   Request    to one peer: requests a result or a deposit (LINKS.md §6.10 Request)
 *   Abort      signed, flooded: what the sender will never do in an attempt (LINKS.md §6.11 Abort)
 *   Model      to a linked peer with another model: the own tensors (LINKS.md §6.16 Model)
 *
 *   (LINKS.md §6.12 Have, Key, Opening)
 *   Have       to the participants of an attempt: the deposits and deposit keys here
 *   Key        a deposit key
 *   Opening    a key share, shown to others than its holder
 *
 *   (LINKS.md §6.17 Challenge, Checksum, Round)
 *   Challenge  flooded among the participants: the points of the checksums come from all of them
 *   Checksum   signed, flooded among the participants: checksums of masked states
 *   Round      to a learner that catches up: what h is the hash of
 *
 *   (LINKS.md §6.13 Share, State, Result, Deposit, KeyShare)
 *   Share, State, Result, Deposit
 *              one chunk of a vector
 *   KeyShare   to a neighbour: its share of the sender's deposit key
 *
 * Each message has one list of fields, in the order in which they are signed. The lists make the structs
 * below, the payload (wire/codec_fields.c), what is signed (canonical.c), the range checks (wire/check.c) and
 * the random messages of the tests (test/wire/sample.c); fields.h explains the rows. A new field is a row
 * here and a line of proto/messages.proto. A new message is a row of SL_CONTROL_MESSAGES, its list, its
 * .proto message and a handler: a row of the table `messages` in core/step.c.
 *
 * Pointers are borrowed: in a received message until the end of the step, in an action until the next step.
 */
#pragma once

#include "common/protocol/fields.h"

/* X(kind, its number in a frame's header, struct and member, domain of its signature or NULL). The list of
 * fields is SL_<kind>_FIELDS. */
#define SL_CONTROL_MESSAGES(X)                                                                               \
	X(HELLO, 1, hello, NULL)                                                                             \
	X(LINK_STATE, 2, link_state, "starling link state 6")                                                \
	X(READY, 3, ready, "starling ready 3")                                                               \
	X(DIGEST, 4, digest, "starling digest 4")                                                            \
	X(REQUEST, 5, request, NULL)                                                                         \
	X(ABORT, 6, abort, "starling abort 3")                                                               \
	X(HAVE, 7, have, NULL)                                                                               \
	X(MODEL, 8, model, NULL)                                                                             \
	X(KEY, 9, key, NULL)                                                                                 \
	X(OPENING, 10, opening, NULL)                                                                        \
	X(CHALLENGE, 11, challenge, NULL)                                                                    \
	X(CHECKSUM, 12, checksums, "starling checksum 3")                                                    \
	X(ROUND, 13, round_head, NULL)

/* Chunks of vectors, from kind SL_MSG_SHARE on. The struct of all of them is sl_chunk. */
#define SL_VECTOR_MESSAGES(X)                                                                                \
	X(SHARE, 16)                                                                                         \
	X(STATE, 17)                                                                                         \
	X(RESULT, 18)                                                                                        \
	X(DEPOSIT, 19)                                                                                       \
	X(KEY_SHARE, 20)

#define X(kind, number, ...) SL_MSG_##kind = (number),
enum sl_message_kind { SL_CONTROL_MESSAGES(X) SL_VECTOR_MESSAGES(X) };
#undef X
enum { SL_MESSAGE_KINDS = SL_MSG_KEY_SHARE + 1 }; /* every kind is below it; some numbers have no kind */

enum sl_peer_status {
	SL_PEER_STATUS_TRAINING = 1, /* the model of round t is not trained yet */
	SL_PEER_STATUS_READY,	     /* trained; discovering, or in an attempt */
	SL_PEER_STATUS_DONE,	     /* committed the last round */
	SL_PEER_STATUS_OPEN, /* released attempt a of t, or aborted it after its Ready: finishes it first */
	SL_PEER_STATUS_ABSTAINS, /* has forgotten what it signed in round t; takes no part in it */
	SL_PEER_STATUS_FAILING,	 /* training again: the last model of round t could not be used */
};
/* Return "training", "ready" ..., "?" for another number. */
const char *sl_message_status_name(enum sl_peer_status status);

/* records: hash of the flooded records that the sender held when it told of them last (ROUND.md §7.6 Link
 * states and the flood); zeros: not yet. */
#define SL_HELLO_FIELDS(X, S)                                                                                \
	X(S, ID, 1, id)                                                                                      \
	X(S, U32, 2, incarnation, 0, UINT32_MAX, NULL)                                                       \
	X(S, ROUND, 3, t)                                                                                    \
	X(S, ATTEMPT, 4, a)                                                                                  \
	X(S, ENUM, 5, status, sl_peer_status, SL_PEER_STATUS_TRAINING, SL_PEER_STATUS_FAILING,               \
	  "unknown peer status")                                                                             \
	X(S, RUN, 6, run)                                                                                    \
	X(S, HASH, 7, roster)                                                                                \
	X(S, HASH, 8, records)

/* What each learner states of itself, in a LinkState; in a Round, what follows for the view (ROUND.md §3.1
 * What a learner states). `first` is the number of the first field.
 *
 *   n          values of its model
 *   model      hash of names, dtypes and shapes of the model's tensors (common/model/tensor_bytes.h)
 *   values     enum sl_values: what is averaged, which its program may choose
 *   initial    hash of the model before the first round (canonical.h), from which updates are if all have it;
 *              0: after the first commit, or whole models are averaged
 *   failed     1: an attempt of this round has ended in which the learner had begun to share
 *   hop_bytes  bytes that could be sent while a message crosses a link; 0: not measured
 *
 * Of failed and hop_bytes the largest value that c+1 participants reach counts, so that no c of them raise
 * it.
 */
#define SL_STATEMENT_FIELDS(X, S, first)                                                                     \
	X(S, U64, first, n, 1, SL_PARAMETERS_MAX, "n out of range")                                          \
	X(S, U64, (first) + 1, model, 0, UINT64_MAX, NULL)                                                   \
	X(S, U64, (first) + 2, values, 0, SL_VALUES_NOISY_UPDATE, "unknown values")                          \
	X(S, U64, (first) + 3, initial, 0, UINT64_MAX, NULL)                                                 \
	X(S, U64, (first) + 4, failed, 0, 1, "failed is neither 0 nor 1")                                    \
	X(S, U64, (first) + 5, hop_bytes, 0, SL_HOP_BYTES_MAX, "hop_bytes out of range")

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
	SL_STATEMENT_FIELDS(X, S, 8)                                                                         \
	X(S, HASH, 14, previous)                                                                             \
	X(S, LIST, 15, candidates, count, SL_LEARNERS_MAX, "too many candidates")                            \
	X(S, SIGNATURE, 16, signature)

/* view: h. k: K_i; SL_ITERATIONS_NONE: metropolis is impossible; 0: this view does not ask for it. deposit,
 * key_hash, challenge_hash: hashes of the signer's deposit, deposit key and challenge (canonical.h).
 * share_root: root of the hash tree over its key shares. */
#define SL_READY_FIELDS(X, S)                                                                                \
	X(S, ROUND, 2, t)                                                                                    \
	X(S, ATTEMPT, 3, a)                                                                                  \
	X(S, ID, 1, id)                                                                                      \
	X(S, HASH, 4, view)                                                                                  \
	X(S, U64, 5, k, 0, SL_ITERATIONS_NONE, "K out of range")                                             \
	X(S, HASH, 6, deposit)                                                                               \
	X(S, HASH, 7, key_hash)                                                                              \
	X(S, HASH, 8, challenge_hash)                                                                        \
	X(S, HASH, 9, share_root)                                                                            \
	X(S, SIGNATURE, 10, signature)

/* key: the signer's, which a learner that catches up may not know yet. view: h. digest: D. */
#define SL_DIGEST_FIELDS(X, S)                                                                               \
	X(S, ROUND, 2, t)                                                                                    \
	X(S, ATTEMPT, 3, a)                                                                                  \
	X(S, ID, 1, id)                                                                                      \
	X(S, KEY, 4, key)                                                                                    \
	X(S, HASH, 5, view)                                                                                  \
	X(S, HASH, 6, digest)                                                                                \
	X(S, SIGNATURE, 7, signature)

/* t: round of the vector; 0: Round and digests of the last result. index: chunk. a, origin: attempt and owner
 * of the deposit; 0: a result is requested. */
#define SL_REQUEST_FIELDS(X, S)                                                                              \
	X(S, U32, 1, t, 0, SL_ROUND_LAST, "round out of range")                                              \
	X(S, U32, 2, index, 0, SL_CHUNKS_MAX - 1, "chunk index out of range")                                \
	X(S, U32, 3, a, 0, SL_ATTEMPTS_MAX, "attempt out of range")                                          \
	X(S, U32, 4, origin, 0, UINT32_MAX, NULL)

enum {
	SL_ABORT_UNRELEASED = 1, /* the signer has not released attempt a and never will: it shows neither its
				    deposit key nor a key share of the attempt */
	SL_ABORT_UNSIGNED = 2,	 /* it has signed no Digest of attempt a and never will */
	SL_ABORT_STUCK = 4,	 /* it recovers attempt a, and nothing of it comes any more; no promise */
	SL_ABORT_PROMISES = SL_ABORT_UNRELEASED | SL_ABORT_UNSIGNED,
};

/* ready: what the signer's own Ready of the attempt signs (sl_canonical_message); zeros: it has sent none,
 * and never will. says: bits of above. */
#define SL_ABORT_FIELDS(X, S)                                                                                \
	X(S, ROUND, 3, t)                                                                                    \
	X(S, ATTEMPT, 4, a)                                                                                  \
	X(S, U32, 2, incarnation, 0, UINT32_MAX, NULL)                                                       \
	X(S, ID, 1, id)                                                                                      \
	X(S, KEY, 5, key)                                                                                    \
	X(S, U32, 8, says, 1, SL_ABORT_PROMISES | SL_ABORT_STUCK, "an Abort that says nothing known")        \
	X(S, HASH, 6, ready)                                                                                 \
	X(S, SIGNATURE, 7, signature)

/* held: deposits that were checked; keys: known deposit keys. Bit sets over the view's positions, the lowest
 * bit of a byte first, of equal size. */
#define SL_HAVE_FIELDS(X, S)                                                                                 \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, HASH, 3, view)                                                                                  \
	X(S, SPAN, 4, held, size, SL_LEARNERS_MAX / 8, "set of members out of range")                        \
	X(S, SPAN, 5, keys, keys_size, SL_LEARNERS_MAX / 8, "set of members out of range")

/* tensors: the first of the sender's `count` tensors, as common/model/tensor_bytes.h writes them: as many as
 * fit. */
#define SL_MODEL_FIELDS(X, S)                                                                                \
	X(S, U32, 1, count, 1, SL_PARAMETERS_MAX, "number of tensors out of range")                          \
	X(S, SPAN, 2, tensors, size, SL_TENSOR_BYTES_MAX, "list of tensors out of range")

/* key: deposit key of learner `origin`. Valid if it has the key_hash of that learner's Ready. readys: hash of
 * the Readys that the sender holds (sl_canonical_readys); zeros: it lacks some. */
#define SL_KEY_FIELDS(X, S)                                                                                  \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, HASH, 3, view)                                                                                  \
	X(S, U32, 4, origin, 1, UINT32_MAX, "origin is 0")                                                   \
	X(S, SECRET, 5, key)                                                                                 \
	X(S, HASH, 6, readys)

/* share: key share of learner `origin` at learner `holder`, and its path, as in a KeyShare. Valid if it leads
 * to the share_root of the Ready of `origin`. */
#define SL_OPENING_FIELDS(X, S)                                                                              \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, HASH, 3, view)                                                                                  \
	X(S, U32, 4, origin, 1, UINT32_MAX, "origin is 0")                                                   \
	X(S, U32, 5, holder, 1, UINT32_MAX, "holder is 0")                                                   \
	X(S, SPAN, 6, share, size, SL_KEY_SHARE_BYTES_MAX, "key share of a wrong size")

/* value: challenge of learner `origin`. Valid if it has the challenge_hash of that learner's Ready. */
#define SL_CHALLENGE_FIELDS(X, S)                                                                            \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, HASH, 3, view)                                                                                  \
	X(S, U32, 4, origin, 1, UINT32_MAX, "origin is 0")                                                   \
	X(S, SECRET, 5, value)

/* digest: D of the signer's Z. values: checksums of the signer's masked state and of those whose deposits it
 * keeps, ascending by position: each one element of Z_p for each point, packed (ROUND.md §4.1 The field). */
#define SL_CHECKSUM_FIELDS(X, S)                                                                             \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, ID, 4, id)                                                                                      \
	X(S, HASH, 3, view)                                                                                  \
	X(S, HASH, 5, digest)                                                                                \
	X(S, SPAN, 6, values, size, SL_CHECKSUM_BYTES_MAX, "checksums out of range")                         \
	X(S, SIGNATURE, 7, signature)

/* What h is the hash of (sl_canonical_round), without the edges themselves, and what D is the hash of beside
 * h and the model (sl_canonical_result). p, update_bits: resolved. forgetful: of the participants' roster,
 * which says how many digests commit. previous: D of the round before. roster: hash of the participants'
 * roster. members: id and incarnation of each participant, ascending by id. edges: sl_canonical_edges. total:
 * weight, Z_n. strands: of Z, sl_canonical_strands. */
#define SL_ROUND_FIELDS(X, S)                                                                                \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, U64, 3, p, 3, SL_P_LAST, "modulus out of range")                                                \
	X(S, U64, 4, update_bits, 0, SL_UPDATE_BITS_MAX, "update_bits out of range")                         \
	X(S, U64, 5, forgetful, 0, SL_LEARNERS_MAX, "forgetful out of range")                                \
	SL_STATEMENT_FIELDS(X, S, 6)                                                                         \
	X(S, HASH, 12, previous)                                                                             \
	X(S, ROSTER, 13, roster)                                                                             \
	X(S, LIST, 14, members, count, 2 * SL_LEARNERS_MAX, "too many members")                              \
	X(S, HASH, 15, edges)                                                                                \
	X(S, U64, 16, total, 0, UINT64_MAX, NULL)                                                            \
	X(S, STRANDS, 17, strands)

/* The numbers of a view beside its roster's, t, a and p, in the order in which h has them. */
#define SL_VIEW_NUMBERS(X)                                                                                   \
	X(update_bits) X(forgetful) X(n) X(model) X(values) X(initial) X(failed) X(hop_bytes)

/* In the order of the bytes on the wire, the elements last. iteration: k of a State, from 1; 0 in the others.
 * index: chunk m, the coordinates from m * SL_CHUNK_ELEMENTS on (State: m * view->state_elements); 0 in a
 * KeyShare. origin: owner of a Deposit; 0 in the others. bytes: packed elements; of a KeyShare:
 * SL_KEY_SHARE_BYTES, then the hashes of its path, from the leaf up. */
#define SL_CHUNK_FIELDS(X, S)                                                                                \
	X(S, ROUND, 1, t)                                                                                    \
	X(S, ATTEMPT, 2, a)                                                                                  \
	X(S, HASH, 3, view)                                                                                  \
	X(S, U64, 4, iteration, 0, SL_ITERATIONS_MAX - 1, "iteration out of range")                          \
	X(S, U32, 5, index, 0, SL_CHUNKS_MAX - 1, "chunk index out of range")                                \
	X(S, U32, 6, origin, 0, UINT32_MAX, NULL)                                                            \
	X(S, SPAN, 7, bytes, size, SL_CHUNK_BYTES_MAX, "chunk size out of range")

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
		struct sl_chunk chunk; /* Share, State, Result, Deposit, KeyShare */
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

/* Return the number of participants. */
static inline uint32_t sl_round_learners(const struct sl_round_head *round)
{
	return round->count / 2;
}
/* Return true if learner `id` is a participant. */
static inline bool sl_round_member(const struct sl_round_head *round, sl_id id)
{
	for (uint32_t i = 0; i < round->count; i += 2)
		if (round->members[i] == id)
			return true;
	return false;
}

/* Certificate of a committed round: its Round, and signed digests of participants that agree with one another
 * (ROUND.md §11.3 Certificates and signers). */
struct sl_certificate {
	sl_round t; /* 0: none */
	sl_attempt a;
	uint8_t view[SL_HASH_BYTES]; /* h of `round` */
	uint8_t digest[SL_HASH_BYTES];
	const struct sl_round_head *round; /* not owned, and nor are its members */
	uint32_t count;
	struct sl_digest *digests; /* `room` places, not owned: distinct signers; the first is the holder's
				      own, if it took part */
	uint32_t room;
};

/* A received chunk. Owned by the shell; the core may keep it from the step that received it until the one job
 * (or drop) in which it returns it. */
struct sl_buffer {
	struct sl_buffer *next;
	uint32_t from; /* position of the sender among the view's neighbours (set by the core) */
	sl_round t;
	uint32_t index;	    /* chunk */
	uint64_t iteration; /* k of a State; 0 in the others */
	uint8_t view[SL_HASH_BYTES];
	sl_id origin;		   /* owner of a Deposit */
	enum sl_message_kind kind; /* set by the core */
	size_t size;
	uint8_t *bytes;
	void *memory;	    /* the shell's allocation that `bytes` points into */
	size_t secret_size; /* bytes that the shell wipes; 0 except for shares and key shares */
};
