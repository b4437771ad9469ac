/* limits.h - every maximum of Starling (ROUND.md §13.3 Limits), related by static_assert.
 *
 * A length that arrives from outside is checked against one of these before memory is allocated.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

#define SL_LEARNERS_MAX 2000u	  /* roster size; metropolis needs a dense eigensolver */
#define SL_NAME_BYTES 64u	  /* a learner's or a run's name, with its terminating zero */
#define SL_ADDRESS_BYTES 256u	  /* "host:port,host:port", with its terminating zero */
#define SL_ADDRESSES_MAX 4u	  /* addresses of one learner */
#define SL_DIALS_MAX 128u	  /* dials under way at a time */
#define SL_DIALS_PER_TICK_MAX 20u /* dials begun in one tick of 0.1 s */

#define SL_HASH_BYTES 32u /* BLAKE2b-256: h, D, roster hash; SHA-256: pins */
#define SL_KEY_BYTES 32u  /* Ed25519 public key; ChaCha20 key of a share, of a deposit */
#define SL_SIG_BYTES 64u  /* Ed25519 signature */
#define SL_RUN_BYTES 16u  /* run id: BLAKE2b-128 of the run's name */

#define SL_PARAMETERS_MAX (1u << 30) /* values of a model */
/* field elements of one vector: in an exact round a value has several */
#define SL_ELEMENTS_MAX (1ull << 33)
#ifndef SL_CHUNK_ELEMENTS
#define SL_CHUNK_ELEMENTS                                                                                    \
	32768u /* elements of one chunk, the last may be shorter; simtest has smaller ones */
#endif
#define SL_BLOCK_ELEMENTS                                                                                    \
	((SL_CHUNK_ELEMENTS + 127u) / 128u * 8u) /* 2048: a stream has so many, and a worker works on them   \
						  */
#define SL_CHUNK_BYTES_MAX (256u << 10)
#define SL_RESULT_BYTES (SL_CHUNK_ELEMENTS * 8u) /* of a model in one chunk of a Result */
#define SL_STATE_BYTES 8u			 /* one int64 mixing state on the wire */
#define SL_OVERS_MAX 16u	  /* attempts of one round whose Aborts a learner keeps after their end */
#define SL_ABORTS_AHEAD_MAX 4u	  /* .. and attempts above its own one whose Aborts it keeps */
#define SL_KEY_SHARE_BYTES 40u	  /* 5 elements of F_(2^61-1) */
#define SL_KEY_SHARE_PATH_MAX 11u /* hashes from a key share to the root */
#define SL_KEY_SHARE_BYTES_MAX (SL_KEY_SHARE_BYTES + SL_KEY_SHARE_PATH_MAX * SL_HASH_BYTES)
#define SL_ADVICE_MAX 32u  /* links named in a refusal; the others are counted */
#define SL_DEGREE_LEAST 4u /* of the overlay */
#define SL_SEED_CHUNKS                                                                                       \
	8u /* chunks per job that expands seeds: a job for one chunk would cost more than it computes */
#define SL_WINDOW 4u /* window: chunks per neighbour under way at a time, in SHARE and in MIX */
#define SL_EARLY_MOST (2u * SL_WINDOW + 1u) /* chunks kept of a peer before the view: with a key share */
#define SL_HOP_BYTES_MAX (1ull << 32)
#define SL_TREES_MAX 64u				 /* trees of a forest */
#define SL_TREE_ELEMENTS ((SL_CHUNK_ELEMENTS + 7u) / 8u) /* 4096: of a vector, at least, for each tree */
#define SL_FOREST_WINDOW_MAX                                                                                 \
	128u /* the window in MIX of forest, where a chunk travels to a root and back, in each tree */
#define SL_FOREST_WINDOW_BYTES                                                                               \
	(8u << 20) /* .. of which so many bytes are under way, if 128 chunks have them */

#define SL_FRAME_HEADER_BYTES 8u
#define SL_CONTROL_BYTES_MAX (64u << 10)		 /* protobuf of a control message */
#define SL_TENSOR_BYTES_MAX (60u << 10)			 /* of the tensors that a Model names */
#define SL_CHECKSUM_BYTES_MAX (60u << 10)		 /* of the values of a Checksum */
#define SL_VECTOR_BYTES_MAX (SL_CHUNK_BYTES_MAX + 1024u) /* protobuf of a vector chunk */
#define SL_LINK_QUEUE_BYTES (1u << 20)			 /* ciphertext waiting in one link */
#define SL_LINK_ANSWER_BYTES                                                                                 \
	(8u * SL_CHUNK_BYTES_MAX)	  /* vectors waiting, beyond which requests get no answer */
#define SL_LINK_WAITING_BYTES (80u << 20) /* frames waiting, beyond which the link is closed */

#define SL_JOIN_HEAD_BYTES 4u		/* length of a request, or of an answer */
#define SL_JOIN_REQUEST_BYTES_MAX 1024u /* .. protobuf */
#define SL_GROUP_TEXT_MAX                                                                                    \
	(1u << 20) /* text of a signed roster; SL_LEARNERS_MAX lines take two thirds of it */
#define SL_JOIN_ANSWER_BYTES_MAX (SL_GROUP_TEXT_MAX + 64u)
#define SL_JOINS_MAX 16u	    /* connections of joining learners at a time */
#define SL_JOINS_PER_SECOND_MAX 64u /* requests of all of them */
#define SL_JOIN_WRONG_MAX 5u	    /* wrong proofs for one invitation in a minute */

#define SL_RELAY_SPLICES_MAX 256u     /* of a relay: pairs of learners that it connects */
#define SL_RELAY_SPLICES_EACH_MAX 64u /* .. of which one learner has asked for */
#define SL_RELAY_BYTES (64u << 10)    /* .. that wait in each direction of a pair */
#define SL_RELAY_EARLY_BYTES 4096u    /* .. before both connections are there */

#define SL_HTTP_CONNECTIONS_MAX 64u
#define SL_HTTP_ADDRESS_MAX 16u		  /* .. of one address that wait for a request */
#define SL_HTTP_HEAD_SECONDS 10u	  /* from accept, or the last answer, to the end of the headers */
#define SL_HTTP_REQUEST_BYTES (32u << 10) /* the headers of a request, and of its answer */
#define SL_HTTP_SECONDS 60u		  /* from accept, or the last answer, to the end of the next answer */
#define SL_HTTP_QUEUE_BYTES (8u << 20)	  /* unread events of one stream */

#define SL_DECIMALS_MAX 12u	 /* 10^12 times a float is still an exact double */
#define SL_UPDATE_BITS_MAX 48u	 /* 2^48 is a double, and so is a half more */
#define SL_P_BITS_LEAST 12u	 /* of a modulus that `auto` chooses */
#define SL_P_BITS_MAX 61u	 /* p < 2^61 */
#define SL_MIXING_P_BITS_MAX 44u /* int64 states of metropolis: p up to 2^44 */
#define SL_ROUNDS_MAX 1000000u
#define SL_ATTEMPTS_MAX (1u << 24) /* of one round: 16 years, at one per 30 s */
#define SL_ITERATIONS_MAX 1000000u /* K: a line of 1,000 learners needs about 10^7 and is refused */

#define SL_SPREADS_MAX 100u /* measured spreads of the states of one attempt (metropolis) */
/* Of one step: the digests of a certificate fit; a flood that needs more continues in the next. */
#define SL_ACTIONS_MAX (SL_LEARNERS_MAX + 512u)
#define SL_ERROR_BYTES 512u

static_assert(SL_CHUNK_ELEMENTS % 8 == 0, "a packed chunk ends at a byte");
static_assert(SL_CHUNK_ELEMENTS * SL_STATE_BYTES <= SL_CHUNK_BYTES_MAX, "a chunk of states fits a message");
static_assert(SL_WINDOW * 2 >= 2, "one chunk under way and one an iteration ahead");
static_assert(SL_TENSOR_BYTES_MAX + 16 <= SL_CONTROL_BYTES_MAX, "a Model fits a control message");
static_assert(SL_LINK_WAITING_BYTES >= SL_LEARNERS_MAX * (SL_LEARNERS_MAX * 2 + 1024) + SL_LINK_ANSWER_BYTES +
					       2 * SL_FOREST_WINDOW_MAX * SL_CHUNK_BYTES_MAX,
	      "the link states of all learners and the vectors of a round fit the queue of a link");
static_assert(SL_LEARNERS_MAX * 5 + 1024 <= SL_CONTROL_BYTES_MAX, "a link state naming every learner fits");
static_assert(SL_LEARNERS_MAX * 10 + 1024 <= SL_CONTROL_BYTES_MAX, "a Round with every learner fits");
static_assert(SL_CHECKSUM_BYTES_MAX + 256 <= SL_CONTROL_BYTES_MAX, "a Checksum fits a control message");
static_assert(SL_LEARNERS_MAX <= 1u << SL_KEY_SHARE_PATH_MAX, "a path for every neighbour");
