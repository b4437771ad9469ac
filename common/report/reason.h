/* reason.h - why an attempt, or a learner, ended: the reason of a report as one sentence, cause then remedy.
 *
 * Also the parts that such sentences share: names of learners and short forms of digests. No sentence ends
 * with a period: callers embed it.
 */
#pragma once

#include "common/config/roster.h"
#include "common/protocol/report.h"

/* Write the reason of `report` (FAILED, EXPOSED or RECOVERING) as a sentence; `roster` gives names. */
void sl_reason_text(const struct sl_roster *roster, const struct sl_report *report, char *text, size_t size);

#define SL_WHO_BYTES (SL_NAME_BYTES + 16u)
/* Write "ana (2)" for the learner at roster index `index`; return `text`. */
const char *sl_reason_who(const struct sl_roster *roster, uint32_t index, char text[static SL_WHO_BYTES]);
/* Write "ana (2), bo (5) and 3 more" for a bit set over the roster, "none" for an empty one or NULL; return
 * `text`. */
const char *sl_reason_names(const struct sl_roster *roster, const uint64_t *set, char *text, size_t size);

/* Write that the learners of `missing` are not here, and the remedy: "2 of 5 learners are connected, and the
 * quorum is 3; missing: ana (2), bo (5): start them, or check their links". `connected` counts this learner.
 */
void sl_reason_absent(const struct sl_roster *roster, uint32_t connected, uint64_t quorum,
		      const uint64_t *missing, char *text, size_t size);

/* Write that this learner has no link to the learners of `unlinked`, and the remedy: "not connected: ana (2):
 * start it, or check its links". */
void sl_reason_unlinked(const struct sl_roster *roster, const uint64_t *unlinked, char *text, size_t size);

#define SL_DIGEST_TEXT_BYTES (2u * SL_HASH_BYTES + 1u)
/* Return the first 12 hexadecimal digits of `hash`, in `text`; `none` if it is all zeros. */
const char *sl_reason_digest(const uint8_t *hash, const char *none, char text[static SL_DIGEST_TEXT_BYTES]);
