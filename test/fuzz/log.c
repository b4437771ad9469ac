/* Read the end of a log, and fill a table of rounds with its records. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "test/fuzz/fuzz.h"
#include "tools/lib/log_end.h"
#include "tools/lib/round_table.h"

#define LEARNERS 3u
#define END_BYTES 65536u

static void take(void *context, const struct sl_record *record)
{
	struct sl_round_table *rounds = context;
	struct sl_round_row *row = sl_round_table_at(rounds, record->round);
	struct sl_round_clamped last = {0};
	double seconds[SL_PARTS];
	uint64_t set[1] = {0};
	uint32_t learner = (uint32_t)(record->learner % LEARNERS);
	if (row == NULL)
		return;
	sl_round_table_trained(row, record);
	sl_round_table_metrics(row, "ana", record->json);
	sl_round_table_view(row, record);
	sl_round_table_member(row, learner, (sl_attempt)record->attempt);
	sl_round_table_committed(row, learner, record);
	sl_round_table_shown(row, learner, record->digest != NULL ? record->digest : "");
	sl_round_table_evaluated(row, record);
	sl_round_table_encoded(row, record);
	sl_round_table_clamped(row, &last, 1);
	sl_round_table_parts(row, seconds);
	sl_round_table_absent(row, set);
	assert(sl_round_table_metric(row, "loss") != INFINITY);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct sl_round_table rounds;
	sl_round_table_init(&rounds, LEARNERS, 100);
	sl_log_end_read(fuzz_file("log.jsonl", bytes, count), 0, END_BYTES, take, &rounds);
	sl_round_table_close(&rounds);
	return 0;
}
