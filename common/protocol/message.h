/* message.h - what learners say to each other, as plain structs; wire turns bytes into these and back.
 *
 *   Hello      to each link, when it comes up and when the sender's standing changes
 *   LinkState  signed, flooded: the sender's candidates and parameters for one attempt   (protocol 5, AGREE)
 *   Ready      signed, flooded: holds all shares, commits to its masked state            (protocol 6, READY)
 *   Share      to one neighbour, in chunks                                               (protocol 6, SHARE)
 *   State      to all neighbours, in chunks, one per iteration; by tree to some of them  (protocol 7)
 *   Digest     signed, to the neighbours, and to who catches up: the result              (protocol 8)
 *   Ask        to one neighbour: its last result, a chunk of it, or one of a masked state (protocol 8; 6,
 * finish) Result     to who asked: a chunk of Z                                                (protocol 8,
 * catch-up) Fence      signed, flooded: attempts that the sender will never release              (protocol 6,
 * Fence) Hold       to the members of a released view: whose masked states the sender has     (protocol 6,
 * finish) Masked     to who asked: a chunk of a masked state                                   (protocol 6,
 * finish)
 *
 * Pointers are borrowed: on receipt for the length of one step, in an action until the next step.
 */
#pragma once

#include "common/base/limits.h"
#include "common/base/types.h"

enum sl_message_kind {
	SL_MSG_HELLO = 1,
	SL_MSG_LINK_STATE,
	SL_MSG_READY,
	SL_MSG_DIGEST,
	SL_MSG_REQUEST,
	SL_MSG_ABORT,
	SL_MSG_HAVE,
	SL_MSG_SHARE, /* from here on: chunks of vectors */
	SL_MSG_STATE,
	SL_MSG_RESULT,
	SL_MSG_MASKED,
};
#define SL_MESSAGE_KINDS 12u

enum sl_peer_status {
	SL_PEER_STATUS_TRAINING = 1, /* the model of round t is not trained yet */
	SL_PEER_STATUS_READY,	     /* trained; discovering, or in an attempt */
	SL_PEER_STATUS_DONE,	     /* committed the last round */
	SL_PEER_STATUS_OPEN, /* has released its masked state in an attempt of t, and finishes that one before
				any other */
};

struct sl_hello {
	sl_id id;
	uint32_t incarnation;
	sl_round t;
	sl_attempt a;
	enum sl_peer_status status;
	uint8_t run[SL_RUN_BYTES];
	uint8_t roster[SL_HASH_BYTES];
};

/* What the learners of a view agree on (protocol 5, AGREE). One table: compared, named, hashed and sent in
 * this order. SAME: it must be equal, or the attempt ends. MOST: the largest counts (the paper's maximum
 * consensus). */
#define SL_PARAMETERS(X)                                                                                     \
	X(n, SAME)                                                                                           \
	X(p, MOST)                                                                                           \
	X(rounds, MOST)                                                                                      \
	X(quorum, MOST)                                                                                      \
	X(tolerance, SAME)                                                                                   \
	X(decimals, SAME)                                                                                    \
	X(clipping_range, SAME)                                                                              \
	X(max_weight, MOST)                                                                                  \
	X(encoding, SAME)                                                                                    \
	X(sharing, SAME)                                                                                     \
	X(mixing, SAME)                                                                                      \
	X(k, MOST)                                                                                           \
	X(iterations_rule, SAME)                                                                             \
	X(max_degree, SAME)

struct sl_parameters {
	uint64_t n;	 /* floats of the model */
	uint64_t p;	 /* 0: auto */
	uint64_t rounds; /* T */
	uint64_t quorum;
	uint64_t tolerance; /* c */
	uint64_t decimals;
	uint64_t clipping_range;  /* the bits of a double */
	uint64_t max_weight;	  /* 1: equal weights */
	uint64_t encoding;	  /* enum sl_encoding_kind */
	uint64_t sharing;	  /* enum sl_sharing_kind */
	uint64_t mixing;	  /* enum sl_engine */
	uint64_t k;		  /* floor under K; with iterations_rule, K itself */
	uint64_t iterations_rule; /* 0 or 1 */
	uint64_t max_degree;	  /* with more peers in range, an overlay of this degree */
};
enum {
#define X(name, rule) SL_PARAMETER_##name,
	SL_PARAMETERS(X)
#undef X
		SL_PARAMETER_COUNT
};
static_assert(sizeof(struct sl_parameters) == SL_PARAMETER_COUNT * sizeof(uint64_t),
	      "the table names every one");

struct sl_link_state {
	sl_id id;
	uint32_t incarnation;
	sl_round t;
	sl_attempt a;
	uint8_t key[SL_KEY_BYTES];     /* the signer's public key; its hash is the roster's pin */
	uint8_t roster[SL_HASH_BYTES]; /* of the signer's roster, which its signature covers in place of ours
					*/
	uint32_t roster_size;
	struct sl_parameters parameters;
	uint8_t previous[SL_HASH_BYTES]; /* D of the last committed round; zeros before the first */
	uint32_t count;
	const sl_id *candidates; /* `count` ids, strictly ascending */
	uint8_t signature[SL_SIG_BYTES];
};

struct sl_ready {
	sl_id id;
	sl_round t;
	sl_attempt a;
	uint8_t view[SL_HASH_BYTES]; /* h */
	uint64_t k; /* K_i; SL_ITERATIONS_NONE: no metropolis; 0: it is not asked in this view */
	uint8_t commitment[SL_HASH_BYTES];
	uint8_t signature[SL_SIG_BYTES];
};

struct sl_digest {
	sl_id id;
	sl_round t;
	sl_attempt a;
	uint8_t key[SL_KEY_BYTES]; /* the signer's: who catches up may never have heard of it */
	uint8_t view[SL_HASH_BYTES];
	uint8_t digest[SL_HASH_BYTES]; /* D */
	uint64_t p;		       /* of the view, with N: what it takes to decode Z */
	uint32_t learners;
	uint32_t decimals, encoding; /* what Z stands for */
	uint64_t clipping_range;     /* the bits of a double */
	uint8_t signature[SL_SIG_BYTES];
};

/* What a committed round can be shown with: signed digests that agree with one another (protocol 8,
 * catch-up). */
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

struct sl_request {
	sl_round t; /* of the result that the chunk is of; 0: the digests of the last one, whichever it is */
	sl_attempt a;	/* of the masked state; 0: of a result */
	sl_id origin;	/* whose masked state; 0: of a result */
	uint32_t index; /* chunk */
};

/* Of round t the signer has released, and will ever release, no attempt up to a but these. Cumulative, so
 * that the latest one of a learner says all. */
struct sl_abort {
	sl_id id;
	uint32_t incarnation;
	sl_round t;
	sl_attempt a;
	uint8_t key[SL_KEY_BYTES];
	uint32_t count;
	sl_attempt released[SL_RELEASED_MAX]; /* `count`, strictly ascending, at most a */
	sl_attempt closed; /* of those, none up to this one will be finished by the signer; 0: none */
	uint8_t signature[SL_SIG_BYTES];
};

struct sl_have {
	sl_round t;
	sl_attempt a;
	uint8_t view[SL_HASH_BYTES];
	uint32_t size;	     /* bytes of `held` */
	const uint8_t *held; /* bit set over the view's positions, the lowest bit of a byte first */
};

/* A piece of a vector as it came off the wire. Owned by the shell; the core may hold it between the step that
 * received it and the one job (or drop) in which it goes back. */
struct sl_buffer {
	struct sl_buffer *next;
	uint32_t from;	    /* position of the sender among the view's neighbours (set by the core) */
	uint32_t index;	    /* chunk */
	uint64_t iteration; /* k; 0 for shares */
	uint8_t view[SL_HASH_BYTES];
	sl_id origin;		       /* of a Masked */
	uint8_t nonce[SL_NONCE_BYTES]; /* with chunk 0 of a masked state: what its commitment was made with */
	size_t size;
	uint8_t *bytes;
	void *memory;	    /* the shell's: what `bytes` points into */
	size_t secret_size; /* how much of it the shell wipes; 0 but for shares */
};

struct sl_chunk {
	sl_round t;
	sl_attempt a;
	uint8_t view[SL_HASH_BYTES];
	uint64_t iteration;	       /* k of a State; 0 in the others */
	uint32_t index;		       /* chunk m: coordinates m*SL_CHUNK_ELEMENTS .. */
	sl_id origin;		       /* of a Masked: whose masked state; 0 in the others */
	uint8_t nonce[SL_NONCE_BYTES]; /* with chunk 0 of a masked state (State of k = 0, Masked); zeros in
					  the others */
	size_t size;		       /* bytes of the vector piece, 1..SL_CHUNK_BYTES_MAX */
	const uint8_t *bytes;
};

struct sl_message {
	enum sl_message_kind kind;
	union {
		struct sl_hello hello;
		struct sl_link_state link_state;
		struct sl_ready ready;
		struct sl_digest digest;
		struct sl_request request;
		struct sl_abort abort_record;
		struct sl_have have;
		struct sl_chunk chunk; /* Share, State, Result, Masked */
	};
};

/* Whether a chunk is the first of a masked state, and brings the nonce of its commitment. */
static inline bool sl_message_nonce_due(enum sl_message_kind kind, const struct sl_chunk *chunk)
{
	return chunk->index == 0 &&
	       (kind == SL_MSG_MASKED || (kind == SL_MSG_STATE && chunk->iteration == 0));
}
