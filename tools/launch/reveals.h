/* reveals.h - the secret encodings that learners of a --verify run leave in their state folders, and their
 * end.
 *
 * encoding-000003.u64 is the encoding of round 3. A check that succeeds deletes those of its round at once
 * (verify.h); an attempt that failed, a round that was not finished or a learner that was left out leave some
 * over.
 */
#pragma once

#include "tools/lib/run_folder.h"

/* Whether the encodings of a round stay: they are evidence. */
typedef bool (*sl_encoding_dump_keep)(const void *context, sl_round round);

/* Once no learner runs any more: deletes them, but for those to be kept. Returns how many it could not
 * delete; the error names the first, and why. */
uint32_t sl_launch_encoding_dump_delete(const struct sl_run_folder *folder, sl_encoding_dump_keep keep,
					const void *context, struct sl_error *error);
