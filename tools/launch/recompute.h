/* recompute.h - the check of a round by the Python package starling_verify: it recomputes the mean from the
 * models that the learners dumped, with code that shares nothing with the daemon's. A request is a line of
 * JSON, and so is the answer (tools/verify/starling_verify/__main__.py).
 */
#pragma once

#include <jansson.h>

#include "common/field/encoding.h"
#include "tools/lib/run_folder.h"

#define SL_RECOMPUTE_MODULE "starling_verify.__main__"

struct sl_recompute_round {
	const struct sl_run_folder *folder;
	struct sl_encoding encoding; /* kind, values and update_bits; decimals, and with `clamp` the clipping
					range */
	uint32_t tolerance;	     /* c */
	sl_round round;
	const uint64_t *who; /* bit set over the roster: the learners of the view */
	const uint64_t
		*passed; /* those of them that need not have the model, because they have a later one */
};

/* Return the request to check a round. */
json_t *sl_recompute_request(const struct sl_recompute_round *round);
