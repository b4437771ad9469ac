/* state_file.h - the masked states of one attempt as a file: state/attempt-000007-000002.spool, a slot for
 * each participant.
 *
 *   | slot of position 0 | slot of position 1 | ...     `slot_bytes` each (common/compute/slots.h says what
 * is in one)
 *
 * Vectors are kept here and not in memory: a learner that recovers holds all N of them. The file is sparse
 * and mapped. A slot is reserved before it is written, so that a full disk is an error and not a SIGBUS; the
 * own one is made durable before the Ready that commits to it. Nobody believes a slot that does not match its
 * commitment, so that the rest need no checksum and no synchronisation.
 *
 * To write a page of a new file costs several times what the bytes in it cost to copy: a file that is not
 * needed any more becomes the next attempt's, with every slot empty.
 *
 * A state file owns its map and its descriptor. Mode 0600: masked states are for members of the view only.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_state_file {
	sl_round t; /* 0: none is open */
	sl_attempt a;
	uint32_t slots;
	size_t slot_bytes;
	uint8_t *base;	    /* of slot 0 */
	uint64_t *reserved; /* bit set over the slots */
	int folder, fd;
};

/* Makes the file, or finds it as it was left; what has another size is begun again. SL_ERR_IO, SL_ERR_NOMEM.
 */
int sl_state_file_open(struct sl_state_file *state_file, const char *folder, sl_round t, sl_attempt a,
		       uint32_t slots, size_t slot_bytes, struct sl_error *error);
/* The file of an attempt that is over becomes another one's, which has as many slots, as large ones; they
 * hold nothing. */
int sl_state_file_reuse(struct sl_state_file *state_file, sl_round t, sl_attempt a, struct sl_error *error);
/* The file stays. One that is not open may be closed. */
void sl_state_file_close(struct sl_state_file *state_file);
/* The file goes. */
void sl_state_file_remove(struct sl_state_file *state_file);

/* Room for a slot, before it is written for the first time. */
int sl_state_file_reserve(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error);
/* The slot, and the file's name, to the disk; an error is not to be tried again. */
int sl_state_file_sync(struct sl_state_file *state_file, uint32_t slot, struct sl_error *error);

/* Removes every state file in the folder that `keep` does not want. */
void sl_state_file_sweep(const char *folder, bool (*keep)(const void *context, sl_round t, sl_attempt a),
			 const void *context);
