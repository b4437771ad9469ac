/* tape.h - the operating system's generator, as a list of coins: bytes that make each coin what it is wanted
 * to be.
 *
 * Every coin comes behind a word that has to be rejected, and under bits that have to be masked away; what
 * follows the coins of one filling is rejected too. A reader that does anything else with the bytes does not
 * get the coins.
 */
#pragma once

#include "test/graph/unit.h"

struct random_script {
	const struct sl_field *field;
	const uint64_t *randomness; /* count of them, the wanted values */
	size_t count, next;
	size_t elements;	       /* coins in one filling of a stream */
	uint64_t junk;		       /* state of the bits that do not matter */
	uint32_t nonces;	       /* asked for so far */
	uint8_t nonce[SL_NONCE_BYTES]; /* the last */
};

/* An sl_key_source; fails the test when asked for more coins than there are. */
void random_script_read(void *random_script, uint8_t *bytes, size_t n);
