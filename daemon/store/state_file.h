/* state_file.h - the deposits of one attempt as a file: state/attempt.states, a slot for each participant.
 *
 *   | page of the key | own slot | slot of another participant | ...     `slot_bytes` for each slot
 *
 * Vectors are kept in a file and not in memory: a recovering learner holds all N of them. The file is sparse
 * and mapped. A slot is reserved before it is written, so that a full disk is an error and not a SIGBUS. The
 * own slot, and the key before it (seal.h), is durable before the Ready that commits to it is sent. The other
 * slots need no checksum and no synchronisation: a slot is used only if it has the hash in its owner's Ready.
 *
 * Writing a page of a new file costs several times as much as copying its bytes. The file therefore serves
 * one attempt after the other, under one name, and the slots then hold what they held. The page of the key
 * has one place, and is kept when the size changes: an erased key is overwritten on disk, too. The name is
 * synchronised with the first slot after the file was opened.
 *
 * A state file owns its map and descriptors. Its mode is 0600: deposits are for members of the view only.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"
#include "daemon/store/seal.h"

#define SL_STATE_FILE_KEY_ROOM 4096u /* at the front, for the key */

struct sl_state_file {
	uint32_t slots; /* 0: not open */
	size_t slot_bytes;
	uint8_t *map;	    /* the file, which begins with the key */
	uint8_t *base;	    /* slot 0, the own one */
	uint64_t *reserved; /* bit set over the slots */
	int folder, fd;
	bool named; /* the name is durable */
};

/* Open the file, or make it; a file of another size loses its slots. SL_ERR_IO, SL_ERR_NOMEM. */
int sl_state_file_open(struct sl_state_file *state_file, const char *folder, uint32_t slots,
		       size_t slot_bytes, struct sl_error *error);
/* Close the file and keep it on disk; it need not be open. */
void sl_state_file_close(struct sl_state_file *state_file);

/* Allocate disk space for `slot`, before it is written for the first time; for slot 0 also that of the key.
 */
int sl_state_file_reserve(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error);
/* Return the key, SL_SEAL_KEY_BYTES that are zeros if there is none. */
const uint8_t *sl_state_file_key(const struct sl_state_file *state_file);
/* Write the key; slot 0 is reserved. sl_seal_erase overwrites it. */
void sl_state_file_put_key(struct sl_state_file *state_file, const uint8_t key[static SL_SEAL_KEY_BYTES]);
/* Have the kernel begin to write bytes `from` to `to` of slot 0, and do not wait: sl_state_file_sync then has
 * less to wait for, and reports what went wrong. */
void sl_state_file_write_out(const struct sl_state_file *state_file, size_t from, size_t to);
/* Make key, slot 0 and name durable. After an error the call must not be repeated. */
int sl_state_file_sync(struct sl_state_file *state_file, struct sl_error *error);
