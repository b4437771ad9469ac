/* verify.h - signatures of the records that arrive. A record that was verified is known again by a hash,
 * since a flooded one arrives over several links. */
#pragma once

#include "common/protocol/canonical.h"
#include "daemon/net/keys.h"

#define SL_VERIFY_HASH_BYTES 16u /* SipHash-2-4-128 */
#define SL_VERIFY_HASH_KEY_BYTES 16u

struct sl_verifier {
	const struct sl_roster *roster;		     /* borrowed */
	struct sl_keys keys;			     /* of the roster */
	uint8_t (*checked)[5][SL_VERIFY_HASH_BYTES]; /* by signer: hash of the last verified LinkState, Ready,
							Digest, Checksum, Abort */
	uint8_t hash_key[SL_VERIFY_HASH_KEY_BYTES];  /* of these hashes, drawn at the start */
	char rejection[256];			     /* text of the last rejected record */
};

/* Open the keys that the state folder has, for the members of `roster`. */
int sl_verify_open(struct sl_verifier *verifier, const struct sl_roster *roster, const char *state,
		   struct sl_error *error);
/* Verify the signature of `m`, which came as `payload`. Return NULL, or the reason to reject it; that text
 * stands until the next call. */
const char *sl_verify_message(struct sl_verifier *verifier, const struct sl_scope *scope,
			      const struct sl_message *m, const uint8_t *payload, size_t size);
void sl_verify_close(struct sl_verifier *verifier);
