/* What an Abort says, and the two rules that rest on Aborts (PROTOCOL.md §9.2 What an Abort says, §9.4 The
 * safety rule, §9.5 The reuse rule). */
#include <stddef.h>
#include <stdint.h>

#include "common/protocol/release_log.h"
#include "test/lib/test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

TEST(abort_covers)
{
	static const struct {
		sl_attempt up_to, released[3];
		uint32_t count;
		sl_attempt a;
		bool covers;
	} cases[] = {
		{1, {0}, 0, 1, true},
		{1, {0}, 0, 2, false}, /* nothing is said of later ones */
		{2, {0}, 0, 1, true},  /* cumulative */
		{7, {0}, 0, 7, true},
		{7, {0}, 0, 8, false},
		{1, {1}, 1, 1, false}, /* it did release that one */
		{2, {1}, 1, 1, false},
		{2, {1}, 1, 2, true},
		{2, {2}, 1, 1, true},
		{2, {2}, 1, 2, false},
		{3, {1, 3}, 2, 1, false}, /* the first .. */
		{3, {1, 3}, 2, 2, true},
		{3, {1, 3}, 2, 3, false}, /* .. and the last of them */
		{3, {1, 3}, 2, 4, false},
		{5, {2, 3, 4}, 3, 3, false},
		{5, {2, 3, 4}, 3, 5, true},
		{5, {2, 3, 4}, 2, 4, true}, /* no more than `count` */
		{SL_ATTEMPTS_MAX, {0}, 0, SL_ATTEMPTS_MAX, true},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sl_abort abort_record = {.a = cases[i].up_to, .count = cases[i].count};
		memcpy(abort_record.released, cases[i].released, sizeof cases[i].released);
		if (sl_release_log_covers(&abort_record, cases[i].a) != cases[i].covers)
			fail_msg("case %zu", i);
	}
}

TEST(all_of_the_list_counts)
{
	struct sl_abort abort_record = {.a = 2 * SL_RELEASED_MAX, .count = SL_RELEASED_MAX};
	for (uint32_t i = 0; i < SL_RELEASED_MAX; i++)
		abort_record.released[i] = 2 * (i + 1);
	for (sl_attempt a = 1; a <= abort_record.a; a++)
		assert_int_equal(sl_release_log_covers(&abort_record, a), a % 2 == 1);
}

/* The learners of a roster of up to 128 that have aborted, as a bit set of two words. */
struct aborted {
	uint64_t set[2];
};

TEST(safety_rule)
{
	static const struct {
		struct aborted aborted;
		size_t words;
		bool may;
	} cases[] = {
		{{{0, 0}}, 1, false}, /* no Abort: the attempt may complete */
		{{{1, 0}}, 1, true},  /* one is proof enough */
		{{{UINT64_C(1) << 63, 0}}, 1, true},
		{{{6, 0}}, 1, true},
		{{{0, 0}}, 2, false},
		{{{0, 1}}, 2, true},
		{{{0, UINT64_C(1) << 63}}, 2, true},
		{{{0, 1}}, 1, false}, /* not of this roster */
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct aborted aborted = cases[i].aborted;
		if (sl_release_log_may_proceed(&(struct sl_used){.a = 1, .aborted = aborted.set},
					       cases[i].words) != cases[i].may)
			fail_msg("case %zu", i);
	}
}

/* Models of the training nonces 3 to 5: may 4 be used again? */
TEST(reuse_rule)
{
	static const struct {
		uint32_t count;
		struct {
			uint64_t draw;
			struct aborted aborted;
		} used[3];
		uint64_t c;
		bool may;
	} cases[] = {
		{0, {{0}}, 1, true},	    /* never released: always */
		{0, {{4, {{0}}}}, 1, true}, /* entries beyond the count do not count */
		{1, {{4, {{0}}}}, 1, false},
		{1, {{4, {{1}}}}, 1, false}, /* c: all of them may be colluders */
		{1, {{4, {{3}}}}, 1, true},  /* c + 1: one of them is honest */
		{1, {{4, {{7}}}}, 1, true},
		{1, {{4, {{3}}}}, 2, false},
		{1, {{4, {{7}}}}, 2, true},
		{1, {{4, {{0}}}}, 0, false},
		{1, {{4, {{1}}}}, 0, true},
		{1, {{4, {{1, 1}}}}, 1, true}, /* counted over the whole roster */
		{1, {{4, {{0, 1}}}}, 1, false},
		{1, {{4, {{3}}}}, SL_LEARNERS_MAX - 2, false},
		{1, {{5, {{0}}}}, 1, true}, /* another model */
		{1, {{3, {{0}}}}, 1, true},
		{2, {{4, {{3}}}, {4, {{3}}}}, 1, true},
		{2, {{4, {{3}}}, {4, {{1}}}}, 1, false}, /* in every one of its attempts */
		{2, {{4, {{1}}}, {4, {{3}}}}, 1, false},
		{2, {{4, {{1}}}, {4, {{2}}}}, 1, false}, /* two in all are not two of one attempt */
		{2, {{5, {{0}}}, {4, {{3}}}}, 1, true},
		{2, {{5, {{3}}}, {4, {{1}}}}, 1, false},
		{3, {{4, {{3}}}, {5, {{0}}}, {4, {{0}}}}, 1, false},
		{3, {{3, {{0}}}, {5, {{0}}}, {4, {{3}}}}, 1, true},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct aborted aborted[3];
		struct sl_release_log release_log = {.count = cases[i].count};
		for (uint32_t k = 0; k < 3; k++) {
			aborted[k] = cases[i].used[k].aborted;
			release_log.used[k] = (struct sl_used){
				.a = k + 1, .draw = cases[i].used[k].draw, .aborted = aborted[k].set};
		}
		if (sl_release_log_may_reuse(&release_log, 4, cases[i].c, 2) != cases[i].may)
			fail_msg("case %zu", i);
	}
}
