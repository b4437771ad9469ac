/* random_script.h - scripted randomness: the operating system's generator as a list of wanted numbers.
 *
 * Each number comes behind a word that has to be rejected, and under bits that have to be masked away; the
 * words after the last number are rejected too. A reader that uses the bytes in another way does not get the
 * numbers.
 *
 * With `sharing: seeded` a learner without the seed cannot tell its stream from uniform numbers (ROUND.md
 * §5.2 Sharing). A seed is therefore only a name here: it stands for the same script at its owner and at the
 * learner to which it was sent. A stream under an unknown key fails the test.
 */
#pragma once

#include "common/field/prg.h"
#include "test/graph/unit.h"

struct random_script {
	const struct sl_field *field;
	const uint64_t *randomness; /* count of them, the wanted values */
	size_t count, next;
	size_t elements; /* numbers in one filling of a stream */
	uint64_t junk;	 /* state of the bits that do not matter, and of keys */
};

/* An sl_key_source of streams and keys; fails the test when asked for more numbers than there are. */
void random_script_read(void *random_script, uint8_t *bytes, size_t n);

struct seeds {
	struct seed *first; /* owned */
};

/* Let the fresh stream of a seed's owner give these numbers, in one filling. */
void seeds_own(struct seeds *seeds, struct sl_prg *stream, const struct sl_field *field,
	       const uint64_t *randomness, size_t count);
/* Let a stream that was opened with a received seed give the same numbers. */
void seeds_hold(const struct seeds *seeds, struct sl_prg *stream);
/* Return the numbers for which the bytes of a share stand. */
const uint64_t *seeds_randomness(const struct seeds *seeds, const uint8_t *bytes);
void seeds_free(struct seeds *seeds);
