/* verify.h - check that a committed model is the exact mean, bit for bit, in local runs whose learners dump
 * their encodings.
 *
 * encoding-000003.u64 in a learner's state folder: p, then the n+1 field elements that it encoded in round 3,
 * as 64-bit little-endian integers. Their sum mod p, decoded, must be the model in every learner's
 * checkpoint, and the checkpoints must be the same bytes.
 */
#pragma once

#include "common/field/encoding.h"
#include "tools/lib/run_folder.h"

struct sl_verify {
	const struct sl_run_folder *folder;
	struct sl_encoding encoding; /* kind and decimals are used */
	sl_round round;
	const uint64_t *who; /* bit set over the roster: the learners of the view */
	const uint64_t
		*passed; /* those of them that need not have the model, because they have a later one */
};

/* Return SL_OK if it is exact, and delete the encodings of the round. Otherwise error->text names the file
 * and what differs, and the encodings are kept. */
int sl_verify_round(const struct sl_verify *verify, struct sl_error *error);
