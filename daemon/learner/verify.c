#include "daemon/learner/verify.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static_assert(SL_VERIFY_HASH_BYTES == crypto_shorthash_siphashx24_BYTES &&
		      SL_VERIFY_HASH_KEY_BYTES == crypto_shorthash_siphashx24_KEYBYTES,
	      "hashes of verified records");

int sl_verify_open(struct sl_verifier *verifier, const struct sl_roster *roster, const char *state,
		   struct sl_error *error)
{
	verifier->roster = roster;
	verifier->checked = calloc(roster->size, sizeof *verifier->checked);
	if (verifier->checked == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory for a roster of %u", roster->size);
	randombytes_buf(verifier->hash_key, sizeof verifier->hash_key);
	return sl_keys_open(&verifier->keys, roster, state, error);
}

void sl_verify_close(struct sl_verifier *verifier)
{
	sl_keys_close(&verifier->keys);
	free(verifier->checked);
}

/* Return the hash of the last verified record of the kind of `m` by `signer`, or NULL: it is no record. */
static uint8_t *checked_slot(struct sl_verifier *verifier, int signer, const struct sl_message *m)
{
	switch (m->kind) {
	case SL_MSG_LINK_STATE:
		return verifier->checked[signer][0];
	case SL_MSG_READY:
		return verifier->checked[signer][1];
	case SL_MSG_DIGEST:
		return verifier->checked[signer][2];
	case SL_MSG_CHECKSUM:
		return verifier->checked[signer][3];
	case SL_MSG_ABORT:
		return verifier->checked[signer][4];
	default:
		return NULL;
	}
}

/* Return a text that names the signer of a rejected record: the log names the peer that relayed it. */
static const char *reject(struct sl_verifier *verifier, int signer, const char *what)
{
	const struct sl_member *member = &verifier->roster->members[signer];
	snprintf(verifier->rejection, sizeof verifier->rejection, "passed on a record in which %s (%u) %s",
		 member->name, member->id, what);
	return verifier->rejection;
}

/* The hash of all bytes of the last verified record is kept, so that a copy costs one hash. It is keyed with
 * a secret of this process: no other record can be made that has it. */
const char *sl_verify_message(struct sl_verifier *verifier, const struct sl_scope *scope,
			      const struct sl_message *m, const uint8_t *payload, size_t size)
{
	uint8_t bytes[SL_VERIFY_HASH_BYTES], hash[SL_HASH_BYTES];
	const sl_id *id = sl_message_role(m, SL_ROLE_SIGNER);
	const uint8_t *signature = sl_message_role(m, SL_ROLE_SIGNATURE),
		      *shown = sl_message_role(m, SL_ROLE_KEY);
	if (signature == NULL)
		return NULL;
	int signer = sl_roster_find(verifier->roster, *id);
	if (signer < 0)
		return "passed on a record of a learner that is not in the roster here; compare the roster "
		       "files";
	uint8_t *slot = checked_slot(verifier, signer, m);
	crypto_shorthash_siphashx24(bytes, payload, size, verifier->hash_key);
	if (slot != NULL && memcmp(slot, bytes, sizeof bytes) == 0)
		return NULL;
	if (shown != NULL && !sl_keys_learn(&verifier->keys, (uint32_t)signer, shown))
		return reject(verifier, signer, "shows a key that the roster here does not pin");
	const uint8_t *key = sl_keys_of(&verifier->keys, (uint32_t)signer);
	if (key == NULL)
		return reject(verifier, signer, "has not shown its key yet");
	sl_canonical_message(scope, m, hash);
	if (crypto_sign_verify_detached(signature, hash, sizeof hash, key) != 0)
		return reject(verifier, signer, "has an invalid signature (another run?)");
	if (slot != NULL)
		memcpy(slot, bytes, sizeof bytes);
	return NULL;
}
