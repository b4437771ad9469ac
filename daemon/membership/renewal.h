/* renewal.h - the proof that a member has the key that it asks for in place of its present one (GROUP.md
 * §12.9 Joining). */
#pragma once

#include "daemon/net/identity.h"

/* Sign with the next key, for a connection that `exported` was derived from, on which the present key was
 * shown.
 */
void sl_renewal_sign(const struct sl_identity *next, const uint8_t exported[static SL_HASH_BYTES],
		     const uint8_t present_pin[static SL_HASH_BYTES], uint8_t proof[static SL_SIG_BYTES]);
/* Return true if `proof` is such a signature by the public key `next`. */
bool sl_renewal_verify(const uint8_t next[static SL_KEY_BYTES], const uint8_t exported[static SL_HASH_BYTES],
		       const uint8_t present_pin[static SL_HASH_BYTES],
		       const uint8_t proof[static SL_SIG_BYTES]);
