/* release_log.h - the attempts of one round that this learner has aborted, released and closed, and the two
 * rules that follow from them (PROTOCOL.md §9 Abort, safety rule, reuse rule): pure functions.
 */
#pragma once

#include "common/base/bytes.h"
#include "common/protocol/message.h"

/* An attempt in which the masked state of this learner may have left. */
struct sl_used {
	sl_attempt a;
	uint64_t draw;	   /* of the model that went in */
	uint64_t *members; /* participants, a bit set over the roster; empty: unknown, since the attempt is
			      of an earlier start */
	uint64_t *aborted; /* the members that have signed an Abort of this attempt */
};

struct sl_release_log {
	sl_attempt aborted; /* highest aborted attempt; 0: none. No attempt up to it is released here, except
			       those in `used` */
	sl_attempt closed;  /* highest closed attempt; 0: none. None of `used` up to it is finished here */
	uint32_t count;
	struct sl_used used[SL_RELEASED_MAX]; /* ascending by a */
};

static inline uint32_t sl_bit_count(const uint64_t *set, size_t words)
{
	uint32_t count = 0;
	for (size_t w = 0; w < words; w++)
		count += (uint32_t)__builtin_popcountll(set[w]);
	return count;
}

/* Return true if `abort_record` states that its signer never released attempt `a` of that round, and never
 * will. */
bool sl_release_log_covers(const struct sl_abort *abort_record, sl_attempt a);

/* The safety rule (PROTOCOL.md §9.4 The safety rule): one participant that never released an attempt proves
 * that no learner can complete it. */
bool sl_release_log_may_proceed(const struct sl_used *used, size_t words);

/* The reuse rule, for privacy: a model may go into another attempt if in every attempt that it was released
 * in at least c+1 participants never released theirs: one of them is honest, and F3 holds (PROTOCOL.md §2.3
 * What a coalition learns). */
bool sl_release_log_may_reuse(const struct sl_release_log *release_log, uint64_t draw, uint64_t c,
			      size_t words);
