#include "daemon/observe/record_limit.h"

#define BURST 32u
#define REFILL_MS 4000u
#define USUAL_ATTEMPTS 8u /* of a round; the records of more attempts count */

/* Return true if peers decide how many of these records there are. Waits and errors limit themselves, and of
 * rejected messages each peer has a share of its own (sl_report_log_warn). */
static bool is_limited(const struct sl_record *record)
{
	enum sl_level level = sl_record_level(record);
	bool of_attempt = record->kind == SL_RECORD_PHASE || record->kind == SL_RECORD_VIEW ||
			  record->kind == SL_RECORD_ENCODED ||
			  record->kind == SL_RECORD_ATTEMPT_FAILED_ELSEWHERE;
	if (of_attempt)
		return record->attempt > USUAL_ATTEMPTS;
	if (record->kind == SL_RECORD_REJECTED || record->kind == SL_RECORD_REJECTED_MORE)
		return false;
	return level == SL_WARN || record->kind == SL_RECORD_JOINING || record->kind == SL_RECORD_FOUND ||
	       record->kind == SL_RECORD_LINK_DOWN || record->kind == SL_RECORD_LINK_FAILED_AGAIN;
}

bool sl_record_limit_passes(struct sl_record_limit *limit, const struct sl_record *record, sl_ms now,
			    uint32_t *unsaid)
{
	struct sl_record_bucket *bucket = &limit->buckets[record->kind];
	*unsaid = 0;
	if (!is_limited(record))
		return true;
	sl_ms earned = (now - bucket->since) / REFILL_MS;
	bucket->spent -= earned < bucket->spent ? (uint32_t)earned : bucket->spent;
	bucket->since = bucket->spent == 0 ? now : bucket->since + earned * REFILL_MS;
	if (bucket->spent == BURST) {
		bucket->unsaid++;
		return false;
	}
	bucket->spent++;
	*unsaid = bucket->unsaid;
	bucket->unsaid = 0;
	return true;
}
