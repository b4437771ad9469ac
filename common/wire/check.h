/* check.h - what a message struct promises, whoever made it: the decoder refuses what does not keep it, and the
 * encoder asserts that we do.
 *
 *   all        ids, t and a >= 1; t at most one past SL_ROUNDS_MAX; enums in range
 *   LinkState  n < SL_ELEMENTS_MAX; p 0 or 2 < p < 2^61; sigma, T, quorum, K floor under their limits; clip a
 *              positive finite double; max_weight >= 1; candidates strictly ascending, at most SL_LEARNERS_MAX
 *   Ready      1 <= K_i <= SL_ITERATIONS_MAX
 *   Share      iteration 0          \ index under the chunks of SL_ELEMENTS_MAX,
 *   State      iteration < limit    / 1..SL_CHUNK_BYTES_MAX bytes
 *
 * Lengths of hashes are the array types' own; the decoder sees to them. Whether a value fits this run is the core's.
 */
#pragma once

#include "common/core/message.h"

/* NULL, or what is wrong, as a constant string. Does not look at chunk.bytes. */
const char *sl_message_flaw(const struct sl_message *message);
