/* join_codec.h - request and answer of a learner that joins a group, as bytes and back (GROUP.md §12.9
 * Joining).
 *
 * Decoding accepts a message only in its canonical form, with every field of the right size for its kind. It
 * takes its memory from one block whose size follows from the payload. Names and addresses are checked for
 * size and zero bytes alone; their characters are the caller's to check.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

enum sl_join_kind { SL_JOIN_ASK = 1, SL_JOIN_RENEW = 2, SL_JOIN_ROSTER = 3 };

#define SL_JOIN_INVITATION_BYTES 8u
#define SL_JOIN_PROOF_BYTES 32u /* of ASK; of RENEW it is a signature */

struct sl_join_request {
	enum sl_join_kind kind;
	char group[SL_NAME_BYTES];
	uint64_t version;				     /* of the roster that the learner has; 0: none */
	uint8_t invitation[SL_JOIN_INVITATION_BYTES];	     /* ASK */
	uint8_t proof[SL_SIG_BYTES];			     /* ASK: SL_JOIN_PROOF_BYTES; RENEW: all */
	char name[SL_NAME_BYTES], address[SL_ADDRESS_BYTES]; /* ASK */
	uint8_t key[SL_KEY_BYTES];			     /* RENEW */
};

/* X(verdict, number): as in proto/join.proto. */
#define SL_JOIN_VERDICTS(X)                                                                                  \
	X(ADMITTED, 1)                                                                                       \
	X(WAITING, 2)                                                                                        \
	X(UNKNOWN, 3)                                                                                        \
	X(EXPIRED, 4)                                                                                        \
	X(USED, 5)                                                                                           \
	X(OTHER_GROUP, 6)                                                                                    \
	X(NAME_TAKEN, 7)                                                                                     \
	X(ADDRESS_TAKEN, 8)                                                                                  \
	X(KEY_TAKEN, 9)                                                                                      \
	X(NO_MEMBER, 10)                                                                                     \
	X(FULL, 11)                                                                                          \
	X(LATER, 12)                                                                                         \
	X(FAILED, 13)                                                                                        \
	X(INVALID, 14)                                                                                       \
	X(ELSEWHERE, 15)

enum sl_join_verdict {
#define X(name, number) SL_JOIN_##name = number,
	SL_JOIN_VERDICTS(X)
#undef X
		SL_JOIN_VERDICT_COUNT
};

struct sl_join_answer {
	enum sl_join_verdict verdict;
	uint64_t time;	       /* seconds since 1970, of the answering learner's clock */
	const uint8_t *roster; /* text of a signed roster, borrowed; NULL: none */
	size_t roster_bytes;
};

/* Return the number of bytes of the message with its length before it; `bytes` NULL: only that. */
size_t sl_join_codec_put_request(const struct sl_join_request *request, uint8_t *bytes);
size_t sl_join_codec_put_answer(const struct sl_join_answer *answer, uint8_t *bytes);
/* Return the length that the first SL_JOIN_HEAD_BYTES bytes announce. */
size_t sl_join_codec_length(const uint8_t head[static SL_JOIN_HEAD_BYTES]);

/* Decode a payload, without its length. Return NULL, or the reason why it is refused. */
const char *sl_join_codec_take_request(const uint8_t *payload, size_t size, struct sl_join_request *request);
/* The roster of the answer points into `payload`. */
const char *sl_join_codec_take_answer(const uint8_t *payload, size_t size, struct sl_join_answer *answer);
