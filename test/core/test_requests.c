/* Catch-up, message by message: requests of a learner that is behind (ROUND.md §11 Catch-up). */
#include "common/base/bytes.h"
#include "common/core/certificate.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

#define CHUNKS (SL_WINDOW + 2u)
#define MANY (CHUNKS * SL_CHUNK_ELEMENTS - 1) /* n + 1 elements: the last chunk is full */

/* 2 has committed round 4; 3 is linked, and behind as well. */
static struct driver *behind(uint64_t n)
{
	struct driver *p = driver_new(3, n);
	p->config.parameters.rounds = 9;
	play(p, "link up 2 3\n"
		"hello t1 training from 3\n"
		"hello t5 ready from 2 ->\n" /* training goes on */
		"trained -> DISCOVER, links 2 3, hello t1 ready to 2 3, CATCHUP, request t0 0 to 2");
	return p;
}

/* The Round and as many digests as c = 1 asks for are here: this learner says to all that it is behind. */
static struct driver *with_digests(uint64_t n)
{
	struct driver *p = behind(n);
	play(p, "round t4 from 2\n"
		"digest t4 from 2 ->\n"
		"digest of 3 t4 from 2 -> link state of 1 a1 to 2 3");
	return p;
}

TEST(signers)
{
	struct driver *p = behind(4);
	play(p, "digest of 3 t4 from 2 ->\n" /* before the Round: it does not count */
		"round t4 from 2 ->\n"
		"digest t4 from 2 ->\n"
		"digest of 3 t4 from 2 -> link state of 1 a1 to 2 3\n"
		"digest t4 from 2 ->\n" /* the same signer counts once */
		"result 0 t4 from 2 -> compute absorb, compute adopt\n"
		"absorb done ->\n"
		"adopt done -> persist commit t4 a1");
	const struct sl_certificate *certificate = p->actions.items[0].persist.certificate;
	assert_int_equal(certificate->count, 2);
	assert_int_equal(sl_round_learners(certificate->round), 3);
	play(p, "durable commit -> CAUGHT UP 2, wipe, TRAIN, train t5 draw 1, hello t5 training to 2 3");
	const struct sl_report *report = driver_report(p, SL_REPORT_CAUGHT_UP);
	assert_int_equal(report->caught_up.t, 4);
	assert_int_equal(report->caught_up.learners, 3);
	assert_int_equal(report->caught_up.signers, 2);
	assert_int_equal(report->caught_up.digest[0], 7);
	driver_free(p);
}

/* A peer that is in the round which was fetched is one that the others did not wait for. */
CASE(a_straggler_of_the_others, with_digests(4),
     "result 0 t4 from 2\n"
     "absorb done\n"
     "adopt done\n"
     "durable commit -> CAUGHT UP 2, *\n"
     "hello t4 training from 3\n"
     "trained\n"
     "deadline +2000 -> *AGREE*")

CASE(too_few_signers, behind(4),
     "round t4 from 2\n"
     "digest t4 from 2\n"
     "digest t4 from 2\n"
     "result 0 t4 from 2 -> REJECTED 2: a result with the digests of too few participants, drop, "
     "DISCOVER, wipe, links 2 3, hello t1 ready to 2 3")

/* Readys that count on an earlier incarnation arrive while the result is written: the store takes no Abort of
 * a round that is over. */
CASE(a_ready_after_the_result, with_digests(4),
     "result 0 t4 from 2\n"
     "ready of 3 a1 from 3 -> ready of 3 a1 to 2\n"
     "absorb done\n"
     "adopt done -> persist commit t4 a1\n"
     "ready of 2 a1 from 2 -> ready of 2 a1 to 3\n"
     "durable commit -> CAUGHT UP 2, wipe, TRAIN, train t5 draw 1, hello t5 training to 2 3")

/* If the result is rejected, the Abort is recorded. */
CASE(a_ready_before_a_false_result, with_digests(4),
     "result 0 t4 from 2\n"
     "ready of 3 a1 from 3\n"
     "absorb done\n"
     "adopt failed -> *persist aborted t1 a1*")

/* SL_WINDOW chunks are requested ahead. */
CASE(window, with_digests(MANY),
     "result 0 t4 from 2 -> compute absorb, request t4 1 to 2, request t4 2 to 2, request t4 3 to 2, request "
     "t4 4 to 2\n"
     "result 1 t4 from 2 -> compute absorb, request t4 5 to 2\n"
     "result 1 t4 from 2 -> drop\n"
     "result 2 t4 from 2 -> compute absorb\n"
     "result 3 t4 from 3 -> drop\n" /* was not asked */
     "result 3 t4 from 2\n"
     "result 4 t4 from 2\n"
     "result 5 t4 from 2 -> compute absorb, compute adopt\n"
     "link down 2 ->\n" /* not needed any more */
     "absorb done\n"
     "absorb done\n"
     "absorb done\n"
     "absorb done\n"
     "absorb done\n"
     "absorb done\n"
     "adopt done -> persist commit t4 a1")

/* The peer may answer a request again, with the round that it has committed meanwhile. Answers that arrive
 * when the result is complete are dropped. */
CASE(two_answers, with_digests(4),
     "result 0 t4 from 2 -> compute absorb, compute adopt\n"
     "hello t6 training from 2 ->\n"
     "round t5 from 2 ->\n"
     "digest t5 from 2 ->\n"
     "result 0 t5 from 2 -> drop\n"
     "absorb done\n"
     "adopt done -> persist commit t4 a1\n"
     "result 0 t5 from 2 -> drop\n"
     "durable commit -> *CAUGHT UP*")

static void expect_rejected(struct driver *p, const char *result, const char *why)
{
	play(p,
	     "result %s from 2 -> REJECTED 2: %s, drop, DISCOVER, wipe, links 2 3, hello t1 ready to 2 3\n"
	     "deadline +10000 -> BEHIND 2, WAITING 2 3\n" /* not asked again, */
	     "hello t5 done from 2 ->\n"
	     "hello t6 training from 2 -> CATCHUP, request t0 0 to 2",
	     result, why); /* until it is in a later round */
	driver_free(p);
}

TEST(rejected_chunks)
{
	expect_rejected(behind(MANY), "0 t4", "a result without a digest");
	expect_rejected(with_digests(MANY), "0 t5", "a result without a digest");
	expect_rejected(with_digests(MANY), "6 t4", "a chunk of a result that has fewer");
	expect_rejected(with_digests(MANY), "0 t4 size -4", "a chunk of a result of the wrong size");
	expect_rejected(with_digests(MANY), "0 t4 size +4", "a chunk of a result of the wrong size");
}

CASE(linked_again, behind(4),
     "deadline +10000\n"
     "link down 2\n"
     "link up 2\n"
     "hello t5 ready from 2 -> CATCHUP, request t0 0 to 2")

CASE(absorb_fails, with_digests(4),
     "result 0 t4 from 2\n"
     "absorb failed -> REJECTED 2: a result that is not what its signers signed, DISCOVER, wipe, links 2 3, "
     "hello t1 ready to 2 3\n"
     "adopt done ->") /* late */

CASE(adopt_fails, with_digests(4),
     "result 0 t4 from 2\n"
     "absorb done\n"
     "adopt failed -> REJECTED 2: a result that is not what its signers signed, DISCOVER, wipe, links 2 3, "
     "hello t1 ready to 2 3")

/* What belongs to a later round does not count: a Hello names it first. */
CASE(a_later_round, with_digests(MANY),
     "result 0 t4 from 2\n"
     "absorb done\n"
     "round t5 from 2 ->\n"
     "digest t5 from 2 ->\n"
     "result 0 t5 from 2 -> REJECTED 2: a result without a digest, drop, DISCOVER, *\n"
     "hello t6 ready from 2 -> *CATCHUP, request t0 0 to 2*\n"
     "round t5 from 2\n"
     "digest t5 from 2\n"
     "digest of 3 t5 from 2\n"
     "result 0 t5 from 2 -> compute absorb, request t5 1 to 2, request t5 2 to 2, request t5 3 to 2, request "
     "t5 4 to 2")

/* The Hello of the next round overtakes chunks of the one that was shown: they say nothing of the peer, which
 * is asked at once for the round that it has now, however often it commits. */
#define COMMITS_AGAIN(shown, t)                                                                              \
	"round t" #shown " from 2\n"                                                                         \
	"digest t" #shown " from 2\n"                                                                        \
	"digest of 3 t" #shown " from 2\n"                                                                   \
	"result 0 t" #shown " from 2 -> compute absorb, *\n"                                                 \
	"absorb done\n"                                                                                      \
	"hello t" #t " ready from 2 -> DISCOVER, *CATCHUP, request t0 0 to 2\n"                              \
	"result 1 t" #shown " from 2 -> drop\n"

CASE(a_peer_that_commits_again, behind(MANY),
     COMMITS_AGAIN(4, 6) COMMITS_AGAIN(5, 7) "round t6 from 2\n"
					     "result 2 t5 from 2 -> drop\n"
					     "result 0 t6 from 2 -> REJECTED 2: a result without a digest*")

/* As many participants as a commit needs have signed round 1, which does not follow the own last result. */
CASE(a_fork, driver_new(3, 4),
     "link up 2 3\n"
     "hello t2 ready from 2\n"
     "trained -> *CATCHUP*\n"
     "round d5 from 2\n"
     "digest from 2 ->\n"
     "digest of 3 from 2 -> DIVERGED 2, stop -7")

/* A peer that shows two results of one round is asked no further. */
CASE(digests_that_differ, behind(4),
     "round t4 from 2\n"
     "digest t4 from 2\n"
     "digest of 3 t4 d8 from 2 -> REJECTED 2: digests of one round that differ, DISCOVER, wipe, links 2 3, "
     "hello t1 ready "
     "to 2 3")

/* A Round of an earlier round than the own one counts as none, with all its digests. */
TEST(a_round_of_the_past)
{
	struct driver *p = driver_new(3, 4);
	p->config.parameters.rounds = 9;
	p->config.committed = 4;
	play(p, "link up 2 3\n"
		"hello t7 training from 2\n"
		"trained -> *CATCHUP*\n"
		"round t4 from 2 ->\n"
		"digest t4 from 2\n"
		"digest of 3 t4 from 2\n"
		"result 0 t4 from 2 -> REJECTED 2: a result without a digest*");
	driver_free(p);
}

/* A Round of more participants than there is room for, and one of a model of another size. */
TEST(rounds_that_do_not_fit)
{
	static sl_id members[2 * 2 * 100];
	for (uint32_t i = 0; i < 200; i++)
		members[2 * i] = i + 1;
	for (uint32_t k = 0; k < 2; k++) {
		struct driver *p = behind(4);
		struct sl_message round = {.kind = SL_MSG_ROUND,
					   .round_head = {.t = 4,
							  .a = 1,
							  .n = k == 0 ? 4 : 5,
							  .p = UINT64_C(2147483647),
							  .count = k == 0 ? 400 : 6,
							  .members = members}};
		const char *said = driver_step(
			p, (struct sl_event){.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &round});
		assert_non_null(strstr(said, k == 0 ? "REJECTED 2: a round with more participants"
						    : "REJECTED 2: a round of another model"));
		driver_free(p);
	}
}

/* Who signs is a participant that the Round names: 4 is none. */
TEST(a_signer_outside_the_round)
{
	struct driver *p = driver_new(4, 4);
	sl_id members[] = {1, 1, 2, 1, 3, 1};
	struct sl_message round = {
		.kind = SL_MSG_ROUND,
		.round_head = {
			.t = 4, .a = 1, .n = 4, .p = UINT64_C(2147483647), .count = 6, .members = members}};
	p->config.parameters.rounds = 9;
	play(p, "link up 2 3 4\n"
		"hello t1 training from 3 4\n"
		"hello t5 ready from 2\n"
		"trained -> *CATCHUP*");
	sl_canonical_round(&p->config.scope, &round.round_head, p->h);
	driver_step(p, (struct sl_event){.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &round});
	play(p, "digest t4 from 2\n"
		"digest of 4 t4 from 2\n"
		"result 0 t4 from 2 -> REJECTED 2: a result with the digests of too few participants*");
	driver_free(p);
}

/* What has come before is no progress, however often it comes. */
CASE(the_same_again_and_again, with_digests(MANY),
     "result 0 t4 from 2\n"
     "absorb done\n"
     "deadline +9000\n"
     "result 0 t4 from 2 -> drop\n"
     "digest of 3 t4 from 2 ->\n"
     "round t4 from 2 ->\n"
     "deadline +999 ->\n"
     "deadline +1 -> WAITING 2, DISCOVER, *")

/* Requests without a result are followed by growing pauses. */
TEST(fruitless_requests)
{
	struct driver *p = behind(4);
	play(p, "deadline +10000\n"
		"hello t6 ready from 2 -> *CATCHUP*\n"
		"deadline +10000\n"
		"hello t7 ready from 2 ->\n"
		"deadline +9999");
	assert_false(driver_says(p, "CATCHUP"));
	play(p, "deadline +1 -> *CATCHUP*\n"
		"deadline +10000\n"
		"hello t8 ready from 2\n"
		"deadline +19999");
	assert_false(driver_says(p, "CATCHUP"));
	play(p, "deadline +1 -> *CATCHUP*");
	driver_free(p);
}

/* A Hello proves nothing: others that begin an attempt of the own round show that it goes on. */
CASE(others_begin_an_attempt, behind(4),
     "hello t1 ready from 3\n"
     "deadline +1 ->\n"
     "link state a1 names 1 3 from 2\n"
     "link state a1 names 1 2 from 3 -> DISCOVER, *\n"
     "deadline +2000 -> AGREE, compute analysis, link state of 1 a1 to 2 3") /* as long as for a silent peer
									      */

/* .. unless the signers of a later one do. */
CASE(others_begin_in_vain, with_digests(4),
     "link state a2 names 1 2 from 2\n"
     "link state a2 names 1 2 from 3 -> link state of 3 a2 to 2")

/* Two are asked at once. The one that is slow, or silent, holds nothing up. */
CASE(another_peer_has_it, behind(4),
     "hello t5 ready from 3 -> request t0 1 to 3\n"
     "round t4 from 3\n"
     "digest t4 from 3\n"
     "digest of 2 t4 from 3\n"
     "round t4 from 2 ->\n"
     "result 0 t4 from 3 -> compute absorb, compute adopt\n"
     "result 0 t4 from 2 -> drop\n"
     "absorb done\n"
     "adopt done -> persist commit t4 a1\n"
     "durable commit -> CAUGHT UP 3*")

/* The result of the quicker one is false: the other shows its own. */
CASE(a_false_result_of_the_first, behind(4),
     "hello t5 ready from 3\n"
     "round t4 from 2\n"
     "digest t4 from 2\n"
     "digest of 3 t4 from 2\n"
     "result 0 t4 from 2 -> compute absorb, compute adopt\n"
     "absorb done\n"
     "adopt failed -> REJECTED 2: a result that is not what its signers signed, request t0 1 to 3\n"
     "round t4 from 3\n"
     "digest t4 from 3\n"
     "digest of 2 t4 from 3 -> request t4 0 to 3, *\n"
     "result 0 t4 from 3 -> compute absorb, compute adopt")

/* Both say nothing: neither is asked again. */
CASE(two_that_are_silent, behind(4),
     "hello t5 ready from 3 -> request t0 1 to 3\n"
     "deadline +10000 -> WAITING 2 3, DISCOVER, wipe, links 2 3, hello t1 ready to 2 3")

/* The first one sends its Round alone: the other is asked anew, and its digests count. */
CASE(digests_that_do_not_come, behind(4),
     "hello t5 ready from 3 -> request t0 1 to 3\n"
     "round t4 from 2\n"
     "digest t4 from 2\n"
     "round t4 from 3 ->\n"
     "digest t4 from 3 ->\n"
     "result 0 t4 from 3 -> drop\n"
     "link down 2 -> request t0 1 to 3\n"
     "round t4 from 3\n"
     "digest t4 from 3\n"
     "digest of 2 t4 from 3\n"
     "result 0 t4 from 3 -> compute absorb, compute adopt")

/* Two divide the chunks: 2 brings the first ones, 3 the last ones. A chunk of which it is not the turn, such
 * as the first one of a program that shows it to both, is dropped. */
#define DIVIDED                                                                                              \
	"hello t5 ready from 3 -> request t0 1 to 3\n"                                                       \
	"round t4 from 2\n"                                                                                  \
	"round t4 from 3\n"                                                                                  \
	"digest t4 from 2\n"                                                                                 \
	"digest of 3 t4 from 2 -> request t4 5 to 3, link state of 1 a1 to 2 3\n"                            \
	"result 0 t4 from 3 -> drop\n"                                                                       \
	"result 0 t4 from 2 -> compute absorb, request t4 1 to 2, request t4 2 to 2, request t4 3 to 2, "    \
	"request t4 4 to 2\n"                                                                                \
	"result 5 t4 from 3 -> compute absorb\n"                                                             \
	"absorb done\n"                                                                                      \
	"absorb done\n"                                                                                      \
	"result 1 t4 from 2 -> compute absorb\n"                                                             \
	"absorb done\n"

#define ALL_DIVIDED                                                                                          \
	DIVIDED "result 2 t4 from 2\n"                                                                       \
		"result 3 t4 from 2\n"                                                                       \
		"result 4 t4 from 2 -> compute absorb, compute adopt\n"                                      \
		"absorb done\n"                                                                              \
		"absorb done\n"                                                                              \
		"absorb done\n"

CASE(two_divide_the_chunks, behind(MANY), ALL_DIVIDED "adopt done -> persist commit t4 a1")
CASE(a_false_chunk_of_two, behind(MANY), ALL_DIVIDED "adopt failed -> request t0 0 to 2")

/* One becomes silent: the other is asked for what it does not bring, from its own end. */
#define ONE_SILENT                                                                                           \
	DIVIDED "due +1250\n"                                                                                \
		"deadline +1250 -> request t4 4 to 3\n"                                                      \
		"result 4 t4 from 3 -> compute absorb, request t4 3 to 3, request t4 2 to 3\n"               \
		"result 2 t4 from 2 -> compute absorb\n"                                                     \
		"result 3 t4 from 3 -> compute absorb, compute adopt\n"                                      \
		"result 2 t4 from 3 -> drop\n"                                                               \
		"absorb done\n"                                                                              \
		"absorb done\n"                                                                              \
		"absorb done\n"

CASE(one_of_two_becomes_silent, behind(MANY), ONE_SILENT "adopt done -> persist commit t4 a1")

/* One of two has sent a false chunk, or a false Round: one is asked alone, its own Round included. */
CASE(a_false_chunk_of_one_of_two, behind(MANY),
     ONE_SILENT "adopt failed -> request t0 1 to 3\n"
		"round t4 from 3\n"
		"digest t4 from 3\n"
		"digest of 2 t4 from 3 -> request t4 5 to 3, *\n"
		"result 0 t4 from 2 -> drop\n"
		"result 5 t4 from 3 -> compute absorb, request t4 1 to 3\n"
		"absorb failed -> REJECTED 3: a result that is not what its signers signed, DISCOVER, wipe, "
		"links 2 3, hello t1 ready to 2 3*")

/* That one may take stall_timeout longer than four times what the two have taken, however it sends the
 * chunks. */
CASE(one_that_is_asked_alone_is_slow, behind(MANY),
     ONE_SILENT "adopt failed -> request t0 1 to 3\n"
		"round t4 from 3\n"
		"digest t4 from 3\n"
		"digest of 2 t4 from 3 -> request t4 5 to 3, *\n"
		"deadline +9000 ->\n"
		"result 5 t4 from 3 -> compute absorb, *\n"
		"absorb done\n"
		"due +6000\n"
		"deadline +6000 -> WAITING 3, DISCOVER, *")

/* It is the one that has brought more, and not the one that brings the last chunk. */
CASE(the_one_that_has_brought_more, behind(MANY),
     DIVIDED "result 2 t4 from 2\n"
	     "result 3 t4 from 2\n"
	     "result 4 t4 from 3 -> compute absorb, compute adopt\n"
	     "absorb done\n"
	     "absorb done\n"
	     "absorb done\n"
	     "adopt failed -> request t0 0 to 2")

CASE(a_false_round_of_one_of_two, behind(4),
     "hello t5 ready from 3\n"
     "round t4 from 3\n"
     "digest t4 from 3\n"
     "digest of 2 t4 from 3\n"
     "result 0 t4 from 2 -> compute absorb, compute adopt\n"
     "absorb done\n"
     "adopt failed -> request t0 0 to 2")

/* One that has brought chunks is gone: what is false may be of either. */
CASE(a_false_chunk_of_one_that_is_gone, behind(MANY),
     "hello t5 ready from 3\n"
     "round t4 from 3\n"
     "digest t4 from 3\n"
     "digest of 2 t4 from 3 -> request t4 5 to 3, *\n"
     "result 0 t4 from 2 -> compute absorb, request t4 1 to 2, *\n"
     "absorb done\n"
     "link down 2\n"
     "result 5 t4 from 3 -> compute absorb, request t4 4 to 3, request t4 3 to 3, request t4 2 to 3, "
     "request t4 1 to 3\n"
     "result 4 t4 from 3\n"
     "result 3 t4 from 3\n"
     "result 2 t4 from 3\n"
     "result 1 t4 from 3 -> compute absorb, compute adopt\n"
     "absorb done\n"
     "absorb done\n"
     "absorb done\n"
     "absorb done\n"
     "absorb done\n"
     "adopt failed -> request t0 1 to 3")

/* One that is slower by far is not waited for, nor is one from which nothing has come. */
#define FIRST_THREE(part)                                                                                    \
	"digest t4 from 2\n"                                                                                 \
	"digest of 3 t4 from 2 -> request t4 5 to 3, *\n"                                                    \
	"result 0 t4 from 2 -> compute absorb, *request t4 4 to 2\n"                                         \
	"result 1 t4 from 2 -> compute absorb" part "absorb done\n"                                          \
	"absorb done\n"                                                                                      \
	"result 2 t4 from 2 -> compute absorb"

CASE(one_of_two_is_slow, behind(MANY),
     "hello t5 ready from 3\n"
     "round t4 from 2\n"
     "round t4 from 3\n" FIRST_THREE("\n") ", request t4 5 to 2\n"
					   "absorb done")

CASE(one_of_two_is_silent, behind(MANY),
     "hello t5 ready from 3\n"
     "round t4 from 2\n" FIRST_THREE(", request t4 5 to 2\n") "\n"
							      "absorb done")

/* A peer that has another round by now is asked for no chunk of this one. When the one that has shown it is
 * gone, the other is asked for the round that it has. */
CASE(one_of_two_has_a_later_round, behind(MANY),
     "hello t6 ready from 3 -> request t0 1 to 3\n"
     "round t4 from 2\n"
     "digest t4 from 2\n"
     "digest of 3 t4 from 2 -> link state of 1 a1 to 2 3\n"
     "result 0 t4 from 2 -> compute absorb, *request t4 4 to 2\n"
     "absorb done\n"
     "hello t6 ready from 2 -> request t0 1 to 3, request t0 0 to 2\n"
     "result 1 t4 from 2 -> drop\n"
     "round t5 from 2")

/* .. nor is its part left to it. */
CASE(the_first_of_two_has_a_later_round, behind(4),
     "hello t6 ready from 2 -> DISCOVER, *CATCHUP, request t0 0 to 2\n"
     "hello t5 ready from 3 -> request t0 1 to 3\n"
     "round t4 from 3\n"
     "round t5 from 2\n"
     "round t4 from 3\n"
     "digest t4 from 3\n"
     "digest of 2 t4 from 3 -> request t4 0 to 3, *")

/* A Round may name liars only: as many digests as it has participants are not enough then. */
TEST(needs_an_honest_signer)
{
	struct driver *p = driver_new(9, 4);
	struct sl_round_head round = {.count = 2 * 2};
	p->config.parameters.tolerance = 2;
	p->config.parameters.privacy_check = 1;
	play(p, "start");
	assert_int_equal(sl_certificate_need(p->core, &round), 3);
	p->core->config.parameters.privacy_check = 0; /* a view may be so small */
	assert_int_equal(sl_certificate_need(p->core, &round), 2);
	p->core->config.parameters.forgetful = 3;
	assert_int_equal(sl_certificate_need(p->core, &round), 4);
	round.count = 2 * 7;
	assert_int_equal(sl_certificate_need(p->core, &round), 4);
	round.forgetful = 3;
	assert_int_equal(sl_certificate_need(p->core, &round), 6);
	driver_free(p);
}
