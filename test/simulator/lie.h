/* lie.h - messages that are not what the core of their sender sent: lies of one or two learners, flipped
 * bits, and copies of flooded records that arrive again, late and over another link.
 *
 * A lie is a function that changes an outgoing message, adds one or drops it. The liar signs what it says.
 * All else that the liar does is what its core does. A new lie is a row of SL_SIM_LIES and a LIE in lie.c.
 */
#pragma once

#include "test/simulator/sim.h"

/* X(NAME, its name on the command line, do the others go on whatever it does, what the liar does). Those that
 * may stop the others are told on request only; DOUBLE also where the protocol withstands it: forgetful > 0.
 */
#define SL_SIM_LIES(X)                                                                                       \
	X(SHARE, "share", false, "shares do not add up to its model")                                        \
	X(STATE, "state", true, "its states, partial sums and sums are others than mixing makes them")       \
	X(DEPOSIT, "deposit", false, "sends deposits, its own or those of others, altered")                  \
	X(KEY, "key", true, "sends deposit keys altered")                                                    \
	X(READYS, "readys", true, "says to half of the others that it holds other Readys")                   \
	X(KEY_SHARE, "key-share", false, "sends key shares altered")                                         \
	X(OPENING, "opening", true, "opens deposits with altered key shares")                                \
	X(CHALLENGE, "challenge", true, "sends challenges altered")                                          \
	X(CHECKSUM, "checksum", true, "signs other checksums than those of the deposits")                    \
	X(GIVE_UP, "give-up", false, "gives up each attempt for which it is ready")                          \
	X(RESULT, "result", true, "shows an invented result to learners that come back")                     \
	X(DIGEST, "digest", true, "signs another digest than that of the result")                            \
	X(COMMITMENT, "commitment", false, "commits to another state than it has")                           \
	X(TWICE, "twice", false, "signs two link states for one attempt")                                    \
	X(ABORT, "abort", false, "aborts at some learners the attempt for which it is ready")                \
	X(ABORT_ALL, "abort-all", false, "aborts all attempts up to the largest number")                     \
	X(ABSENT, "absent", false, "names a learner that it has no link to")                                 \
	X(JUMP, "jump", false, "numbers its attempts far ahead")                                             \
	X(INITIAL, "initial", true, "states another initial model")                                          \
	X(MAGNITUDES, "magnitudes", true, "says that its updates are the largest, or the smallest")          \
	X(HISTORY, "history", true, "has another last result")                                               \
	X(ROSTER, "roster", true, "has another roster")                                                      \
	X(HAVE, "have", true, "claims to have all masked states and sends none")                             \
	X(MUTE, "mute", false, "sends no vectors")                                                           \
	X(SLOW, "slow", true, "sends a vector every 9.9 s")                                                  \
	X(ROUND, "round", false, "claims to be a round ahead")                                               \
	X(EARLY, "early", false, "begins attempt 2 while the others train, and says that one failed")        \
	X(DOUBLE, "double", false,                                                                           \
	  "is two learners with one key, each with its own input, to half of the others")                    \
	X(KEEP, "keep", true, "passes on no record of others")                                               \
	X(TOLD, "told", true, "tells that it holds other records than it does")

enum sl_sim_lie {
#define X(name, ...) SL_SIM_LIE_##name,
	SL_SIM_LIES(X)
#undef X
		SL_SIM_LIE_COUNT
};
#define X(name, word, usual, text) | (usual ? 1u << SL_SIM_LIE_##name : 0u)
enum { SL_SIM_LIES_USUAL = 0 SL_SIM_LIES(X) }; /* a bit set */
#undef X
const char *sl_sim_lie_name(enum sl_sim_lie lie);

#define SL_SIM_REPLAYED 32u

struct sl_sim_lies {
	uint64_t random;
	uint32_t liar; /* SL_NOBODY: there is none */
	uint32_t lies; /* bit set; of the liar */
	uint32_t second,
		second_lies; /* of another one, that lies in the same rounds; 0 lies: there is none */
	uint32_t rarity;     /* they lie in one of so many rounds */
	bool differ;	     /* they lie to some learners only, and not the same to each */
	uint32_t flips;	     /* the learner whose next vector gets a flipped bit; SL_NOBODY: none */
	bool recording;	     /* keep flooded records for sl_sim_replay */
	struct sl_packet *records[SL_SIM_REPLAYED];
	uint32_t recorded;
	uint32_t told[SL_SIM_LIE_COUNT]; /* how often */
};

/* Return the lies of learner i. */
static inline uint32_t sl_sim_lies_of(const struct sl_sim_lies *lies, uint32_t i)
{
	return (lies->liar == i ? lies->lies : 0) | (lies->second == i ? lies->second_lies : 0);
}
/* Change the magnitudes that learner i states for a view, if it lies about them. */
void sl_sim_lies_encoded(struct sl_sim *sim, uint32_t i, const struct sl_view *view);
/* Change `message`, on its way from i to j, if it is a lie or has a flipped bit. Return false to drop it. */
bool sl_sim_lies_change(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *message);
/* Deliver a record that was flooded earlier once more, over any link. */
void sl_sim_lies_replay(struct sl_sim *sim);
void sl_sim_lies_free(struct sl_sim_lies *lies);
