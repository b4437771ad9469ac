/* record_limit.h - a limit for records that a peer can cause as often as it likes: of each kind, a few at
 * once and then one every few seconds. Records that are left out are counted. */
#pragma once

#include "common/report/record.h"

/* Of each kind; all zeros at the start. */
struct sl_record_limit {
	struct sl_record_bucket {
		uint32_t spent;	 /* records of late, at most the burst */
		uint32_t unsaid; /* left out since the last one that was written */
		sl_ms since;	 /* time at which `spent` was updated */
	} buckets[SL_RECORD_COUNT];
};

/* Return true if `record` may be written at `now`; *unsaid is the number of its kind that were left out
 * before it. */
bool sl_record_limit_passes(struct sl_record_limit *limit, const struct sl_record *record, sl_ms now,
			    uint32_t *unsaid);
