/* sample.h - random valid messages, and a second statement of the ranges of fields.
 *
 * The seed is SL_SEED from the environment or 1; a failing test prints it.
 */
#pragma once

#include "common/protocol/message.h"

/* For each kind of message. */
#define SAMPLE_EACH_KIND(kind)                                                                               \
	for (uint32_t kind = 1; kind < SL_MESSAGE_KINDS; kind++)                                             \
		if (sl_message_type(kind) != NULL)

#define SAMPLE_PIECE_MAX 300u /* bytes of a random span */

struct sample {
	struct sl_message message;
	sl_id candidates[SL_LEARNERS_MAX];
	uint8_t piece[SL_CHUNK_BYTES_MAX];
};

/* Print the seed and start from it. */
void sample_seed(void);
uint64_t sample_random(void);
/* Return a number in [least, most], nearly uniform. */
uint64_t sample_range(uint64_t least, uint64_t most);

/* Make a valid message of `kind` with random contents; values at the ends of their ranges are frequent. */
void sample_make(struct sample *sample, enum sl_message_kind kind);

/* The range of a field in literal numbers: independent of message.h, so that a range changed there fails a
 * test. */
struct sample_bound {
	uint32_t kind;	      /* or SAMPLE_ANY: every kind without a row of its own */
	const char *name;     /* of a field, or "parameters." and the name of a parameter */
	uint64_t least, most; /* of a number, or of a list's count or a span's size */
	const char *reason;   /* of a refusal */
};
#define SAMPLE_ANY 0u

extern const struct sample_bound sample_bounds[];
extern const size_t sample_bounds_count;
/* Return the range of field `name` of messages of `kind`, or NULL. */
const struct sample_bound *sample_bound_of(uint32_t kind, const char *name);
