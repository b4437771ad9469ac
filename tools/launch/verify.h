/* verify.h - check that a committed model is the exact mean, bit for bit, in local runs whose learners dump
 * their trained models.
 *
 * state/trained-000003.model of a learner: its weight, then the elements of the model that it trained in
 * round 3, as they lie in a checkpoint. The mean is computed in exact rationals, by code that shares nothing
 * with the daemon's; it must be the model in every learner's checkpoint, and the checkpoints must be the same
 * bytes.
 */
#pragma once

#include "common/field/encoding.h"
#include "tools/lib/run_folder.h"

struct sl_verify {
	const struct sl_run_folder *folder;
	struct sl_encoding encoding; /* kind, values and update_bits; decimals, and with `clamp` the clipping
					range */
	uint32_t tolerance;	     /* c */
	sl_round round;
	const uint64_t *who; /* bit set over the roster: the learners of the view */
	const uint64_t
		*passed; /* those of them that need not have the model, because they have a later one */
};

/* Return SL_OK if it is exact. Otherwise error->text names the file and what differs. */
int sl_verify_round(const struct sl_verify *verify, struct sl_error *error);
