#include "common/protocol/release_log.h"

bool sl_fence_covers(const struct sl_fence *fence, sl_attempt a)
{
	for (uint32_t i = 0; i < fence->count; i++)
		if (fence->released[i] == a)
			return false;
	return a <= fence->a;
}

bool sl_may_go_on(const struct sl_used *used, size_t words)
{
	return sl_count_bits(used->fenced, words) >= 1;
}

bool sl_may_reuse(const struct sl_ledger *ledger, uint64_t draw, uint64_t c, size_t words)
{
	for (uint32_t i = 0; i < ledger->count; i++) {
		const struct sl_used *used = &ledger->used[i];
		if (used->draw == draw && sl_count_bits(used->fenced, words) < c + 1)
			return false;
	}
	return true;
}
