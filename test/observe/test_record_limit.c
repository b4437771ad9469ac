/* A peer that makes a learner log without end fills no disk, and what is left out is counted. */
#include <string.h>

#include "daemon/observe/record_limit.h"
#include "test/lib/test.h"

#define SECOND 1000u

/* Offer a record every 10 ms for `seconds`; return how many pass, and add up those that they tell of. */
static uint32_t offer(struct sl_record_limit *limit, enum sl_record_kind kind, uint64_t attempt, sl_ms *now,
		      uint32_t seconds, uint32_t *told)
{
	struct sl_record record;
	uint32_t passed = 0, unsaid;
	sl_record_init(&record, kind);
	record.attempt = attempt;
	for (uint32_t i = 0; i < 100 * seconds; i++, *now += 10) {
		passed += sl_record_limit_passes(limit, &record, *now, &unsaid);
		*told += unsaid;
	}
	return passed;
}

TEST(test_a_flood_of_records)
{
	static struct sl_record_limit limit;
	sl_ms now = 5000 * SECOND;
	uint32_t told = 0, unsaid;
	struct sl_record record;
	assert_int_equal(offer(&limit, SL_RECORD_ATTEMPT_FAILED, 1, &now, 40, &told), 32 + 9);
	assert_int_equal(offer(&limit, SL_RECORD_STALE, 1, &now, 1, &told), 32); /* each kind has its own */
	now += 3600 * SECOND;
	sl_record_init(&record, SL_RECORD_ATTEMPT_FAILED);
	assert_true(sl_record_limit_passes(&limit, &record, now, &unsaid));
	assert_true(told + unsaid == 40 * 100 - (32 + 9)); /* none of the other kind is told yet */
	now += SECOND;
	assert_int_equal(offer(&limit, SL_RECORD_ATTEMPT_FAILED, 1, &now, 1, &told), 31);
}

/* Rounds may be short: the records of their first attempts all count, and so do errors. Rejected messages are
 * limited before. */
TEST(test_what_is_not_limited)
{
	static struct sl_record_limit limit;
	sl_ms now = 5000 * SECOND;
	uint32_t told = 0;
	assert_int_equal(offer(&limit, SL_RECORD_PHASE, 8, &now, 2, &told), 200);
	assert_int_equal(offer(&limit, SL_RECORD_COMMITTED, 1, &now, 2, &told), 200);
	assert_int_equal(offer(&limit, SL_RECORD_FATAL, 1, &now, 2, &told), 200);
	assert_int_equal(offer(&limit, SL_RECORD_REJECTED_MORE, 1, &now, 2, &told), 200);
	assert_int_equal(offer(&limit, SL_RECORD_PHASE, 9, &now, 2, &told), 32);
	assert_int_equal(told, 0);
}
