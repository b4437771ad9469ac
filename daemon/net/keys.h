/* keys.h - the public keys of others, as far as they have been shown and are those that the roster pins.
 *
 * A record is checked with its signer's key, whoever has passed it on. A Ready does not bring that: the link
 * state before it did. Who starts again in the middle of an attempt has not heard that one, so the keys are
 * kept: state/keys, a place of SL_KEY_BYTES for each line of the roster. A pin proves a key wherever it comes
 * from: what is damaged, or another roster's, is not believed, and what could not be written is learned
 * again.
 *
 * Owns its arrays and the file.
 */
#pragma once

#include "common/config/roster.h"

struct sl_keys {
	const struct sl_roster *roster; /* not owned */
	uint8_t (*keys)[SL_KEY_BYTES];	/* by roster index */
	bool *known;
	int file; /* -1: there is none */
};

/* With those that are kept in the folder. SL_ERR_NOMEM. */
int sl_keys_open(struct sl_keys *keys, const struct sl_roster *roster, const char *folder,
		 struct sl_error *error);
/* Whether this is the signer's key; then it is known, and kept. */
bool sl_keys_learn(struct sl_keys *keys, uint32_t signer, const uint8_t key[static SL_KEY_BYTES]);
/* NULL: the signer has not shown it yet. */
const uint8_t *sl_keys_of(const struct sl_keys *keys, uint32_t signer);
/* One that was not opened may be closed. */
void sl_keys_close(struct sl_keys *keys);
