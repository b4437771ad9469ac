#include "common/protocol/release_log.h"

bool sl_release_log_covers(const struct sl_abort *abort_record, sl_attempt a)
{
	for (uint32_t i = 0; i < abort_record->count; i++)
		if (abort_record->released[i] == a)
			return false;
	return a <= abort_record->a;
}

bool sl_release_log_may_proceed(const struct sl_used *used, size_t words)
{
	return sl_bit_count(used->aborted, words) >= 1;
}

bool sl_release_log_may_reuse(const struct sl_release_log *release_log, uint64_t draw, uint64_t c,
			      size_t words)
{
	for (uint32_t i = 0; i < release_log->count; i++) {
		const struct sl_used *used = &release_log->used[i];
		if (used->draw == draw && sl_bit_count(used->aborted, words) < c + 1)
			return false;
	}
	return true;
}
