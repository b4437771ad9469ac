/* sample.h - random valid messages, and a second opinion on what valid means.
 *
 * The seed is SL_SEED from the environment or 1; a failing test prints it.
 */
#pragma once

#include "common/protocol/message.h"

#define SAMPLE_PIECE_MAX 300u /* bytes of a random chunk's piece */

struct sample {
	struct sl_message message;
	sl_id candidates[SL_LEARNERS_MAX];
	uint8_t piece[SL_CHUNK_BYTES_MAX];
};

/* Prints the seed and starts from it. */
void sample_seed(void);
uint64_t sample_random(void);
/* Uniform enough in [least, most]. */
uint64_t sample_range(uint64_t least, uint64_t most);

/* A valid message of the kind with random contents; values at the ends of their ranges are frequent. */
void sample_make(struct sample *sample, enum sl_message_kind kind);

/* Field by field, padding and pointers apart. */
bool sample_equal(const struct sl_message *a, const struct sl_message *b);

/* Every promise of message.h and codec.h, written down a second time: independent of common/wire/check.c. */
bool sample_promises(const struct sl_message *message);
