/* keys.h - public keys of the roster's members, learned when a peer shows one that the roster pins.
 *
 * A record is verified with the key of its signer, independent of the peer that relays it. A Ready does not
 * carry the key; the LinkState before it does. A learner that restarts during an attempt has missed that
 * LinkState, so that the keys are kept in state/keys: SL_KEY_BYTES for each line of the roster. The pin
 * proves a key of any source: damaged keys are ignored, the line is not trusted after a change of the roster,
 * and a key that could not be written is learned again.
 *
 * Owns its arrays and the file.
 */
#pragma once

#include "common/config/roster.h"

struct sl_keys {
	const struct sl_roster *roster; /* not owned */
	uint8_t (*keys)[SL_KEY_BYTES];	/* by roster index */
	bool *known;
	int file; /* descriptor; -1: none */
};

/* Open the keys and read those kept in `folder`; SL_ERR_NOMEM. */
int sl_keys_open(struct sl_keys *keys, const struct sl_roster *roster, const char *folder,
		 struct sl_error *error);
/* Return true if `key` is the key of member `signer`, and keep it. */
bool sl_keys_learn(struct sl_keys *keys, uint32_t signer, const uint8_t key[static SL_KEY_BYTES]);
/* Return the key of member `signer`, or NULL if it is unknown. */
const uint8_t *sl_keys_of(const struct sl_keys *keys, uint32_t signer);
/* Close `keys`, opened or zeroed. */
void sl_keys_close(struct sl_keys *keys);
