/* state_file.h - the deposits of one attempt as a file: state/attempt.states, a slot for each participant.
 *
 *   | slot of position 0 | slot of position 1 | ...     `slot_bytes` each:
 *   | deposit (layout: common/compute/slots.h) | page of the key, in the own slot only |
 *
 * Vectors are kept in a file and not in memory: a recovering learner holds all N of them. The file is sparse
 * and mapped. A slot is reserved before it is written, so that a full disk is an error and not a SIGBUS. The
 * own slot, and the key behind it (seal.h), is durable before the Ready that commits to it is sent. The other
 * slots need no checksum and no synchronisation: a slot is used only if it has the hash in its owner's Ready.
 *
 * Writing a page of a new file costs several times as much as copying its bytes. The file therefore serves
 * one attempt after the other, under one name, and the slots then hold what they held. The name is
 * synchronised with the first slot after the file was opened.
 *
 * A state file owns its map and descriptors. Its mode is 0600: deposits are for members of the view only.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"
#include "daemon/store/seal.h"

#define SL_STATE_FILE_KEY_ROOM 4096u /* of a slot, for the key */

struct sl_state_file {
	uint32_t slots; /* 0: not open */
	size_t slot_bytes;
	uint8_t *base;	    /* of slot 0 */
	uint64_t *reserved; /* bit set over the slots */
	int folder, fd;
	bool named;   /* the name is durable */
	uint8_t *key; /* that was put behind a slot; NULL: none */
};

/* Open the file, or make it; a file of another size is emptied. slot_bytes: SL_STATE_FILE_KEY_ROOM included.
 * SL_ERR_IO, SL_ERR_NOMEM. */
int sl_state_file_open(struct sl_state_file *state_file, const char *folder, uint32_t slots,
		       size_t slot_bytes, struct sl_error *error);
/* Close the file and keep it on disk; it need not be open. */
void sl_state_file_close(struct sl_state_file *state_file);
/* Close and remove the file. */
void sl_state_file_remove(struct sl_state_file *state_file);

/* Allocate disk space for `slot`, before it is written for the first time. */
int sl_state_file_reserve(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error);
/* Return the key behind `slot`, SL_SEAL_KEY_BYTES that are zeros if there is none. The slot must be reserved.
 */
const uint8_t *sl_state_file_key(struct sl_state_file *state_file, uint32_t slot);
/* Put a key behind `slot`, which is reserved. */
void sl_state_file_put_key(struct sl_state_file *state_file, uint32_t slot,
			   const uint8_t key[static SL_SEAL_KEY_BYTES]);
/* Overwrite the key that was put or read. */
void sl_state_file_erase_key(struct sl_state_file *state_file);
/* Make `slot`, its key and the name of the file durable. After an error the call must not be repeated. */
int sl_state_file_sync(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error);

/* Remove the file, of which nothing is needed. */
void sl_state_file_forget(const char *folder);
