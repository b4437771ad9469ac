/* seal.h - the key that seals the secrets of the open attempt in the database.
 *
 * Pages of deleted rows stay in the database's log until it is emptied. The secrets of an attempt are
 * therefore written sealed (XSalsa20-Poly1305), and to erase their key is to erase them wherever they are.
 *
 * The key lies in state/attempt.key, mode 0600, which is not synchronised: it survives the end of the
 * process, not a loss of power. The learner writes it at the front of the state file, too, which is
 * synchronised before the secrets are recorded. To erase it is to overwrite it, in both files. At the end of
 * an attempt this is not synchronised, and a loss of power may bring the key back. A start and an end without
 * open attempt therefore overwrite it again, and synchronise that before they remove the state file.
 */
#pragma once

#include <sodium.h>

#include "common/base/err.h"
#include "daemon/store/folder.h"

#define SL_STATE_FILE "attempt.states" /* state_file.h; begins with the copy of the key */
#define SL_SEAL_KEY_BYTES crypto_secretbox_KEYBYTES
/* Bytes of a sealed text beyond those of the text. */
#define SL_SEAL_BYTES (crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES)

struct sl_seal {
	char path[SL_FOLDER_PATH_BYTES], states[SL_FOLDER_PATH_BYTES]; /* of attempt.key and the state file */
	int fd;							       /* -1: not open */
	bool known;
	uint8_t key[SL_SEAL_KEY_BYTES];
};

/* Open or make the file in the folder and read its key; all zeros are none. SL_ERR_IO. */
int sl_seal_open(struct sl_seal *seal, const char *folder, struct sl_error *error);
/* Erase the memory and close the file, which need not be open. */
void sl_seal_close(struct sl_seal *seal);
/* Take this key, or a new one if `key` is NULL, and write it to the file; SL_ERR_IO. */
int sl_seal_take(struct sl_seal *seal, const uint8_t *key, struct sl_error *error);
/* Erase the key in memory and in both files, at the end of an attempt; SL_ERR_IO. */
int sl_seal_erase(struct sl_seal *seal, struct sl_error *error);
/* The same, synchronised; then remove the state file, of which nothing is needed; SL_ERR_IO. */
int sl_seal_discard(struct sl_seal *seal, struct sl_error *error);

/* Write SL_SEAL_BYTES + `size` bytes to `sealed`. The key must be known. */
void sl_seal_shut(const struct sl_seal *seal, const uint8_t *text, size_t size, uint8_t *sealed);
/* Write `size` - SL_SEAL_BYTES bytes to `text`; return false if they were not sealed under this key. */
bool sl_seal_break(const uint8_t key[static SL_SEAL_KEY_BYTES], const uint8_t *sealed, size_t size,
		   uint8_t *text);
