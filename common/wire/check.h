/* check.h - what a message struct promises, whoever made it: the decoder refuses what does not keep it, and
 * the encoder asserts that we do.
 *
 *   all        ids, t and a >= 1; t at most one past SL_ROUNDS_MAX; enums in range
 *   LinkState  n < SL_ELEMENTS_MAX; p 0 or 2 < p < 2^61; sigma, T, quorum, k under their limits;
 * iterations_rule 0, or 1 with k >= 1; tolerance 1..SL_LEARNERS_MAX-2; degree_max from SL_DEGREE_LEAST; clip
 * a positive finite double; max_weight >= 1; roster_size 1..SL_LEARNERS_MAX; candidates strictly ascending,
 * at most so many Ready      1 <= K_i <= SL_ITERATIONS_MAX Digest     2 < p < 2^61; 2..SL_LEARNERS_MAX
 * learners Ask        t may be 0; index under the chunks of SL_ELEMENTS_MAX
 *   Share      iteration 0        \
 *   State      iteration < limit   > index as in Ask, 1..SL_CHUNK_BYTES_MAX bytes
 *   Result     iteration 0        /
 *
 * Lengths of hashes are the array types' own; the decoder sees to them. Whether a value fits this run is the
 * core's.
 */
#pragma once

#include "common/protocol/message.h"

/* NULL, or what is wrong, as a constant string. Does not look at chunk.bytes. */
const char *sl_check_message(const struct sl_message *message);
