/* admin_key.h - the secret key of a group's admin, in the file admin.key of the group's folder.
 *
 * One line: `ed25519:` and the 64 hexadecimal digits of the seed. Mode 0600; another mode is refused. The key
 * is held in guarded memory and never printed.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/types.h"

#define SL_ADMIN_KEY_FILE "admin.key"
#define SL_SECRET_KEY_BYTES 64u /* Ed25519 secret key of libsodium; its second half is the public key */

/* Make a key in `folder`. SL_ERR_BUSY: there is one. */
int sl_admin_key_create(const char *folder, uint8_t public_key[static SL_KEY_BYTES], struct sl_error *error);
/* Return the secret key, of SL_SECRET_KEY_BYTES, for sl_admin_key_close; NULL with an error. SL_ERR_NOTFOUND:
 * this is not the machine of an admin. */
uint8_t *sl_admin_key_load(const char *folder, struct sl_error *error);
void sl_admin_key_close(uint8_t *key);
/* Return the public key that belongs to a secret one. */
static inline const uint8_t *sl_admin_key_public(const uint8_t key[static SL_SECRET_KEY_BYTES])
{
	return key + SL_SECRET_KEY_BYTES - SL_KEY_BYTES;
}

#define SL_ADMIN_PREFIX "admin:" /* of the public key of an admin, as text */
#define SL_ADMIN_TEXT_BYTES (sizeof SL_ADMIN_PREFIX + 2 * SL_KEY_BYTES)
/* Write the public key of an admin as "admin:" and 64 hexadecimal digits. */
void sl_admin_key_text(const uint8_t admin[static SL_KEY_BYTES], char text[static SL_ADMIN_TEXT_BYTES]);
/* Read the text of a public key. SL_ERR_INVALID. */
int sl_admin_key_parse(const char *text, uint8_t admin[static SL_KEY_BYTES], struct sl_error *error);
