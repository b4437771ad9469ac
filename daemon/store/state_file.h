/* state_file.h - the deposits of one attempt as a file: state/attempt-000007-000002.states, a slot for
 * each participant.
 *
 *   | slot of position 0 | slot of position 1 | ...     `slot_bytes` each (layout: common/compute/slots.h)
 *
 * Vectors are kept in a file and not in memory: a recovering learner holds all N of them. The file is sparse
 * and mapped. A slot is reserved before it is written, so that a full disk is an error and not a SIGBUS. The
 * own slot is durable before the Ready that commits to it is sent. The other slots need no checksum and no
 * synchronisation: a slot is used only if it has the hash in its owner's Ready.
 *
 * Writing a page of a new file costs several times as much as copying its bytes. A file that is no longer
 * needed is therefore reused for a later attempt, whose slots then hold what it held.
 *
 * A state file owns its map and descriptors. Its mode is 0600: deposits are for members of the view only.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_state_file {
	sl_round t; /* 0: not open */
	sl_attempt a;
	uint32_t slots;
	size_t slot_bytes;
	uint8_t *base;	    /* of slot 0 */
	uint64_t *reserved; /* bit set over the slots */
	int folder, fd;
};

/* Open the file of attempt `a` of round `t`, or make it; a file of another size is emptied. SL_ERR_IO,
 * SL_ERR_NOMEM. */
int sl_state_file_open(struct sl_state_file *state_file, const char *folder, sl_round t, sl_attempt a,
		       uint32_t slots, size_t slot_bytes, struct sl_error *error);
/* Reuse the file for another attempt with the same number and size of slots. */
int sl_state_file_reuse(struct sl_state_file *state_file, sl_round t, sl_attempt a, struct sl_error *error);
/* Close the file and keep it on disk; it need not be open. */
void sl_state_file_close(struct sl_state_file *state_file);
/* Close and remove the file. */
void sl_state_file_remove(struct sl_state_file *state_file);

/* Allocate disk space for `slot`, before it is written for the first time. */
int sl_state_file_reserve(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error);
/* Make `slot` and the name of the file durable. After an error the call must not be repeated. */
int sl_state_file_sync(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error);

/* Remove every state file in the folder for which `keep` returns false. */
void sl_state_file_sweep(const char *folder, bool (*keep)(const void *context, sl_round t, sl_attempt a),
			 const void *context);
