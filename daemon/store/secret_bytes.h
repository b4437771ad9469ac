/* secret_bytes.h - what an attempt keeps secret, as bytes: key, challenge, root, number of neighbours; for
 * each of these the size of its key share, and the share. They are sealed before they are written (seal.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/protocol/secrets.h"

#define SL_SECRET_BYTES_HEAD (2u * SL_KEY_BYTES + SL_HASH_BYTES + 4u) /* without shares */

/* Return the secrets as bytes, and their size; the caller wipes and frees them. NULL: out of memory. */
uint8_t *sl_secret_bytes_pack(const struct sl_secrets *secrets, size_t *size);
/* Return true if the bytes are the secrets of an attempt. */
bool sl_secret_bytes_valid(const uint8_t *bytes, size_t size);
/* Read checked bytes into `secrets`, which own their shares; SL_ERR_NOMEM. */
int sl_secret_bytes_unpack(const uint8_t *bytes, struct sl_secrets *secrets);
