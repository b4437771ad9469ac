/* seeds.h - what seeds stand for, as coins that are handed in (PROTOCOL.md §5 Randomness and shares,
 * `seeded`).
 *
 * Whoever is not shown a seed cannot tell its expansion from uniform coins. So a seed is but a name here: of
 * coins, at its owner and at whom it is sent to. A stream under a key that nobody drew fails the test.
 */
#pragma once

#include "common/field/prg.h"
#include "test/leak/tape.h"

struct seeds {
	struct seed *first; /* owned */
};

/* The stream is the owner's, fresh: from now on it gives these coins, one filling of them, and its key is
 * their name. */
void seeds_own(struct seeds *seeds, struct sl_prg *stream, const struct sl_field *field,
	       const uint64_t *randomness, size_t count);
/* The stream is opened with a seed that was sent: it gives the same. */
void seeds_hold(const struct seeds *seeds, struct sl_prg *stream);
/* What the bytes of a share stand for. */
const uint64_t *seeds_randomness(const struct seeds *seeds, const uint8_t *bytes);
void seeds_free(struct seeds *seeds);
