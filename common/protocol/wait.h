/* wait.h - what a learner waits for, stated once: for the log, the control socket and the tools. */
#pragma once

/* X(wait, words). The words complete "waits for ana (1) ..." where learners are awaited, and "waits for ..."
 * where none is: the rows below `of no learner`. */
#define SL_WAITS(X)                                                                                          \
	X(READINESS, "to be ready")                                                                          \
	X(RETRAINING, "to train again, for the last model could not be used")                                \
	X(LINK_STATES, "to send a link state")                                                               \
	X(SHARES, "to send shares and deposits")                                                             \
	X(READYS, "to receive shares and deposits")                                                          \
	X(STATES, "to send a deposit key or a state")                                                        \
	X(CHECKSUMS, "to send checksums")                                                                    \
	X(DIGESTS, "to send a digest")                                                                       \
	X(DEPOSITS, "to send deposits and deposit keys")                                                     \
	X(RESULT, "to send the result of a missed round")                                                    \
	X(FETCH, "to fetch the last round")                                                                  \
	X(ROSTER, "to have the same roster")                                                                 \
	X(MODEL, "to have the same model")                                                                   \
	X(HISTORY, "to have the same last result")                                                           \
	/* of no learner: */                                                                                 \
	X(NOTHING, "nothing")                                                                                \
	X(TRAINING, "its training")                                                                          \
	X(ARITHMETIC, "its arithmetic")                                                                      \
	X(DISK, "its disk")                                                                                  \
	X(RANGE, "the list of learners in range")                                                            \
	X(PAUSE, "the end of the pause after a refused attempt")                                             \
	X(CHANGE, "other links or settings, since the last attempt was refused")                             \
	X(OTHERS, "the others to commit or abort the attempt")

enum sl_wait {
#define X(wait, words) SL_WAIT_##wait,
	SL_WAITS(X)
#undef X
		SL_WAIT_COUNT
};

/* Return the words of the table. */
const char *sl_wait_words(enum sl_wait wait);
