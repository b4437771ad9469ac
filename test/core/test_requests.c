/* Catch-up, word by word: what a learner asks, and what it answers from what it has on its disk (PROTOCOL.md
 * §11 Catch-up).
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

#define EXPECT(text, trace) assert_string_equal(trace, text)
#define P_31 UINT64_C(2147483647)
#define CHUNKS (SL_WINDOW + 2u)
#define MANY (CHUNKS * SL_CHUNK_ELEMENTS - 1) /* n + 1 elements: the last chunk is full */

static struct sl_digest digest_of(sl_id signer, sl_round t)
{
	return (struct sl_digest){
		.id = signer, .t = t, .a = 1, .p = P_31, .learners = 3, .view = {9}, .digest = {7}};
}

static const char *tell_signed(struct driver *p, sl_id from, sl_id signer, sl_round t)
{
	return tell_message(p, from,
			    &(struct sl_message){.kind = SL_MSG_DIGEST, .digest = digest_of(signer, t)});
}

static const char *tell_result_of(struct driver *p, sl_id from, sl_round t, uint32_t index, size_t elements)
{
	struct sl_message m = {.kind = SL_MSG_RESULT, .chunk = {.t = t, .a = 1, .index = index, .view = {9}}};
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	m.chunk.size = buffer->size = elements * 4;
	buffer->bytes = calloc(1, buffer->size);
	return tell(p, (struct sl_event){
			       .kind = SL_EVENT_MESSAGE, .peer = from - 1, .message = &m, .buffer = buffer});
}

static const char *tell_result(struct driver *p, sl_id from, sl_round t, uint32_t index)
{
	return tell_result_of(p, from, t, index, SL_CHUNK_ELEMENTS);
}

static const char *tell_trained(struct driver *p)
{
	return tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
}

/* --- who is behind --- */

/* 2 has committed round 4; 3 is linked, and behind as well. */
static struct driver *behind(uint64_t n)
{
	struct driver *p = driver_build(3, n);
	p->config.parameters.rounds = 9;
	driver_start(p);
	tell_link(p, true, 2);
	tell_link(p, true, 3);
	tell_hello(p, 3, 1, SL_PEER_STATUS_TRAINING);
	EXPECT("hello t5 ready from 2 ->",
	       tell_hello(p, 2, 5, SL_PEER_STATUS_READY)); /* first it has to finish training */
	EXPECT("trained -> DISCOVER, links 2 3, hello t1 ready to 2 3, CATCHUP, request t0 0 to 2, link "
	       "state of "
	       "1 a1 to 2 3",
	       tell_trained(p));
	return p;
}

static const struct sl_report *report_of(const struct driver *p, enum sl_report_kind kind)
{
	for (uint32_t i = 0; i < p->actions.count; i++)
		if (p->actions.items[i].kind == SL_ACTION_REPORT && p->actions.items[i].report.kind == kind)
			return &p->actions.items[i].report;
	fail_msg("no %s in %s", sl_report_name(kind), p->trace.text);
	return NULL;
}

/* From the first chunk; then `signers`. */
static void take_all(struct driver *p, uint64_t signers)
{
	EXPECT("result 0 from 2 -> compute absorb, compute adopt", tell_result_of(p, 2, 4, 0, 5));
	EXPECT("absorb done ->", tell_done(p, SL_JOB_ABSORB, SL_OK));
	EXPECT("adopt done -> persist commit t4 a1", tell_done(p, SL_JOB_ADOPT, SL_OK));
	const struct sl_certificate *certificate = p->actions.items[0].persist.certificate;
	assert_int_equal(certificate->count, signers);
	assert_int_equal(certificate->learners, 3);
	EXPECT("durable -> CAUGHT UP 2, wipe, TRAIN, train t5 draw 1, hello t5 training to 2 3",
	       tell_durable(p, SL_PERSIST_COMMIT));
	const struct sl_report *report = report_of(p, SL_REPORT_CAUGHT_UP);
	assert_int_equal(report->caught_up.t, 4);
	assert_int_equal(report->caught_up.learners, 3);
	assert_int_equal(report->caught_up.signers, signers);
	assert_int_equal(report->caught_up.digest[0], 7);
}

TEST(test_signers)
{
	struct driver *p = behind(4);
	EXPECT("digest from 2 ->", tell_signed(p, 2, 2, 4));
	EXPECT("digest from 2 ->", tell_signed(p, 2, 3, 4)); /* whoever signed it */
	EXPECT("digest from 2 ->", tell_signed(p, 2, 2, 4)); /* twice is not two */
	take_all(p, 2);
	driver_free(p, 0);
	p = behind(4);
	tell_signed(p, 2, 2, 4);
	EXPECT("result 0 from 2 -> REJECTED 2: a result that too few have signed for: c+1 must, so that one "
	       "of them is honest, drop, "
	       "DISCOVER, wipe, links 2 3, hello t1 ready to 2 3",
	       tell_result_of(p, 2, 4, 0, 5));
	driver_free(p, 0);
}

/* Signed by two of three: enough for c = 1. */
static void tell_signed_by_two(struct driver *p)
{
	tell_signed(p, 2, 2, 4);
	tell_signed(p, 2, 3, 4);
}

/* An earlier life that left no record was in a view, whose Readys come when the round's result is on its way
 * to the disk: that takes no word about a round that is over. */
TEST(test_a_ready_behind_the_result)
{
	struct driver *p = behind(4);
	tell_signed_by_two(p);
	tell_result_of(p, 2, 4, 0, 5);
	EXPECT("ready of 3 a1 from 3 -> ready of 3 a1 to 2", tell_ready(p, 3, 3, 1));
	tell_done(p, SL_JOB_ABSORB, SL_OK);
	EXPECT("adopt done -> persist commit t4 a1", tell_done(p, SL_JOB_ADOPT, SL_OK));
	EXPECT("ready of 2 a1 from 2 -> ready of 2 a1 to 3", tell_ready(p, 2, 2, 1));
	EXPECT("durable -> CAUGHT UP 2, wipe, TRAIN, train t5 draw 1, hello t5 training to 2 3",
	       tell_durable(p, SL_PERSIST_COMMIT));
	driver_free(p, 0);
}

/* Where nothing comes of the result, it is still said. */
TEST(test_a_ready_before_a_false_result)
{
	struct driver *p = behind(4);
	tell_signed_by_two(p);
	tell_result_of(p, 2, 4, 0, 5);
	tell_ready(p, 3, 3, 1);
	tell_done(p, SL_JOB_ABSORB, SL_OK);
	assert_non_null(strstr(tell_done(p, SL_JOB_ADOPT, SL_ERR_INVALID), "persist aborted t1 a1"));
	driver_free(p, 0);
}

/* SL_WINDOW chunks ahead, each when one has come. */
TEST(test_window)
{
	struct driver *p = behind(MANY);
	tell_signed_by_two(p);
	EXPECT("result 0 from 2 -> compute absorb, request t4 1 to 2, request t4 2 to 2, request t4 3 to 2, "
	       "request t4 4 to "
	       "2",
	       tell_result(p, 2, 4, 0));
	EXPECT("result 1 from 2 -> compute absorb, request t4 5 to 2", tell_result(p, 2, 4, 1));
	EXPECT("result 1 from 2 -> drop", tell_result(p, 2, 4, 1)); /* again */
	EXPECT("result 2 from 2 -> compute absorb", tell_result(p, 2, 4, 2));
	EXPECT("result 3 from 3 -> drop", tell_result(p, 3, 4, 3)); /* was not asked */
	tell_result(p, 2, 4, 3);
	tell_result(p, 2, 4, 4);
	EXPECT("result 5 from 2 -> compute absorb, compute adopt", tell_result(p, 2, 4, 5));
	EXPECT("link down 2 ->", tell_link(p, false, 2)); /* is not needed any more */
	for (uint32_t m = 0; m < CHUNKS; m++)
		tell_done(p, SL_JOB_ABSORB, SL_OK);
	EXPECT("adopt done -> persist commit t4 a1", tell_done(p, SL_JOB_ADOPT, SL_OK));
	driver_free(p, 0);
}

/* An ask that was given up is answered all the same, maybe with the round that its peer has committed
 * meanwhile: what comes when all is here is not looked at, and the commit that is on its way to the disk
 * counts. */
TEST(test_two_answers)
{
	struct driver *p = behind(4);
	tell_signed_by_two(p);
	EXPECT("result 0 from 2 -> compute absorb, compute adopt", tell_result_of(p, 2, 4, 0, 5));
	EXPECT("hello t6 training from 2 ->", tell_hello(p, 2, 6, SL_PEER_STATUS_TRAINING));
	EXPECT("digest from 2 ->", tell_signed(p, 2, 2, 5));
	EXPECT("result 0 from 2 -> drop", tell_result_of(p, 2, 5, 0, 5));
	tell_done(p, SL_JOB_ABSORB, SL_OK);
	EXPECT("adopt done -> persist commit t4 a1", tell_done(p, SL_JOB_ADOPT, SL_OK));
	EXPECT("result 0 from 2 -> drop", tell_result_of(p, 2, 5, 0, 5));
	assert_non_null(strstr(tell_durable(p, SL_PERSIST_COMMIT), "CAUGHT UP"));
	driver_free(p, 0);
}

static void rejects(const char *why, sl_round t, uint32_t index, size_t elements, bool signed_for)
{
	char expected[256];
	struct driver *p = behind(MANY);
	snprintf(expected, sizeof expected,
		 "result %u from 2 -> REJECTED 2: %s, drop, DISCOVER, wipe, links 2 3, hello t1 ready to 2 3",
		 index, why);
	if (signed_for)
		tell_signed_by_two(p);
	EXPECT(expected, tell_result_of(p, 2, t, index, elements));
	EXPECT("deadline -> BEHIND 2, WAITING 2 3", tell_time(p, 10000)); /* not asked again */
	EXPECT("hello t5 done from 2 ->", tell_hello(p, 2, 5, SL_PEER_STATUS_DONE));
	EXPECT("hello t6 training from 2 -> CATCHUP, request t0 0 to 2, link state of 1 a2 to 2 3",
	       tell_hello(p, 2, 6, SL_PEER_STATUS_TRAINING)); /* before it is further, */
	driver_free(p, 0);
}

TEST(test_rejected_chunks)
{
	rejects("a result that nobody has signed for", 4, 0, SL_CHUNK_ELEMENTS, false);
	rejects("a result that nobody has signed for", 5, 0, SL_CHUNK_ELEMENTS, true);
	rejects("a chunk of a result out of order", 4, 1, SL_CHUNK_ELEMENTS, true);
	rejects("a chunk of a result out of order", 4, CHUNKS, SL_CHUNK_ELEMENTS, true);
	rejects("a chunk of a result of the wrong size", 4, 0, SL_CHUNK_ELEMENTS - 1, true);
	rejects("a chunk of a result of the wrong size", 4, 0, SL_CHUNK_ELEMENTS + 1, true);
}

TEST(test_linked_anew)
{
	struct driver *p = behind(4);
	tell_time(p, 10000);
	tell_link(p, false, 2);
	tell_link(p, true, 2);
	EXPECT("hello t5 ready from 2 -> CATCHUP, request t0 0 to 2, link state of 1 a2 to 2 3",
	       tell_hello(p, 2, 5, SL_PEER_STATUS_READY)); /* or linked anew */
	driver_free(p, 0);
}

TEST(test_rejected_results)
{
	for (int wrong = 0; wrong < 2; wrong++) {
		struct driver *p = behind(4);
		tell_signed_by_two(p);
		tell_result_of(p, 2, 4, 0, 5);
		if (wrong == 1)
			tell_done(p, SL_JOB_ABSORB, SL_OK);
		const char *told = tell_done(p, wrong == 0 ? SL_JOB_ABSORB : SL_JOB_ADOPT, SL_ERR_INVALID);
		assert_non_null(strstr(
			told, "REJECTED 2: a result that is not what its signers signed, DISCOVER, wipe"));
		assert_null(strstr(told, "persist"));
		if (wrong == 0) /* of the attempt given up: late, and of no use */
			EXPECT("adopt done ->", tell_done(p, SL_JOB_ADOPT, SL_OK));
		driver_free(p, 0);
	}
}

/* Its hello comes before the digests of a later round; without one, they are no better than its word. */
TEST(test_a_later_round)
{
	struct driver *p = behind(MANY);
	tell_signed_by_two(p);
	tell_result(p, 2, 4, 0);
	tell_done(p, SL_JOB_ABSORB, SL_OK);
	EXPECT("digest from 2 -> REJECTED 2: digests of a later round than it stands in, DISCOVER, wipe, "
	       "links 2 3, hello t1 ready to 2 3",
	       tell_signed(p, 2, 2, 5));
	EXPECT("hello t6 ready from 2 -> CATCHUP, request t0 0 to 2, link state of 1 a2 to 2 3",
	       tell_hello(p, 2, 6, SL_PEER_STATUS_READY));
	tell_signed(p, 2, 2, 5);
	tell_signed(p, 2, 3, 5);
	EXPECT("result 0 from 2 -> compute absorb, request t5 1 to 2, request t5 2 to 2, request t5 3 to 2, "
	       "request t5 4 to "
	       "2",
	       tell_result(p, 2, 5, 0)); /* what the earlier round was signed for does not count */
	driver_free(p, 0);
}

/* Whoever makes a learner ask for nothing is asked after ever longer pauses. */
TEST(test_fruitless)
{
	struct driver *p = behind(4);
	tell_time(p, 10000); /* nothing came */
	assert_non_null(strstr(tell_hello(p, 2, 6, SL_PEER_STATUS_READY), "CATCHUP"));
	tell_time(p, 10000);
	assert_null(strstr(tell_hello(p, 2, 7, SL_PEER_STATUS_READY), "CATCHUP"));
	assert_null(strstr(tell_time(p, 9999), "CATCHUP"));
	assert_non_null(strstr(tell_time(p, 1), "CATCHUP"));
	tell_time(p, 10000);
	tell_hello(p, 2, 8, SL_PEER_STATUS_READY);
	assert_null(strstr(tell_time(p, 19999), "CATCHUP"));
	assert_non_null(strstr(tell_time(p, 1), "CATCHUP"));
	driver_free(p, 0);
}

/* Somebody else has it too. */
TEST(test_another_server)
{
	struct driver *p = behind(4);
	tell_hello(p, 3, 5, SL_PEER_STATUS_READY);
	EXPECT("deadline ->", tell_time(p, 9999));
	EXPECT("deadline -> WAITING 2, DISCOVER, wipe, links 2 3, hello t1 ready to 2 3, CATCHUP, request t0 "
	       "0 "
	       "to 3, "
	       "link state of 1 a2 to 2 3",
	       tell_time(p, 1));
	EXPECT("link down 3 -> DISCOVER, wipe, links 2 3, hello t1 ready to 2", tell_link(p, false, 3));
	driver_free(p, 0);
}

/* --- who has it --- */

static const char *tell_request(struct driver *p, sl_id from, sl_round t, uint32_t index)
{
	return tell_message(
		p, from, &(struct sl_message){.kind = SL_MSG_REQUEST, .request = {.t = t, .index = index}});
}

/* Fresh from a restart, after round 4. */
static struct driver *ahead(const struct sl_certificate *certificate)
{
	struct driver *p = driver_build(3, MANY);
	p->config.parameters.rounds = 9;
	p->config.committed = 4;
	p->config.certificate = certificate;
	driver_start(p);
	tell_link(p, true, 2);
	return p;
}

TEST(test_answers)
{
	struct sl_certificate certificate = {
		.t = 4, .a = 1, .view = {9}, .digest = {7}, .p = P_31, .learners = 3, .count = 2};
	certificate.digests[0] = digest_of(1, 4);
	certificate.digests[1] = digest_of(3, 4);
	struct driver *p = ahead(&certificate);
	memset(&certificate, 0, sizeof certificate); /* it is the core's now */
	EXPECT("request t0 0 from 2 -> digest to 2, digest to 2, result 0 to 2", tell_request(p, 2, 0, 0));
	assert_true(p->actions.items[0].send.own);
	assert_false(p->actions.items[1].send.own); /* signed by 3 */
	assert_int_equal(p->actions.items[1].send.message.digest.id, 3);
	assert_int_equal(p->actions.items[2].send.message.chunk.size, SL_CHUNK_ELEMENTS * 4);
	EXPECT("request t4 5 from 2 -> result 5 to 2", tell_request(p, 2, 4, CHUNKS - 1));
	EXPECT("request t4 6 from 2 ->", tell_request(p, 2, 4, CHUNKS)); /* there is none */
	EXPECT("request t4 4294967295 from 2 ->", tell_request(p, 2, 4, UINT32_MAX));
	EXPECT("request t3 2 from 2 -> digest to 2, digest to 2, result 0 to 2",
	       tell_request(p, 2, 3, 2)); /* from the beginning */
	driver_free(p, 0);
}

TEST(test_nothing_to_show)
{
	struct driver *p = ahead(NULL); /* its proof is lost */
	EXPECT("request t0 0 from 2 ->", tell_request(p, 2, 0, 0));
	driver_free(p, 0);
	p = driver_new(3, 4);
	tell_link(p, true, 2);
	EXPECT("request t0 0 from 2 ->", tell_request(p, 2, 0, 0));
	driver_free(p, 0);
}

/* Between the digest and the disk it has neither the old result nor the new one. */
TEST(test_not_before_it_is_durable)
{
	struct driver *p = driver_new(2, 4);
	driver_release(p);
	for (uint32_t k = 0; k < 3; k++) {
		tell_payload(p, 2, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	EXPECT("close done -> digest to 2", tell_done(p, SL_JOB_CLOSE, SL_OK));
	EXPECT("request t0 0 from 2 ->", tell_request(p, 2, 0, 0));
	tell_digest(p, 2, 7);
	tell_done(p, SL_JOB_DECODE, SL_OK);
	EXPECT("request t0 0 from 2 ->", tell_request(p, 2, 0, 0));
	tell_durable(p, SL_PERSIST_COMMIT);
	EXPECT("request t0 0 from 2 -> digest to 2, digest to 2, result 0 to 2", tell_request(p, 2, 0, 0));
	driver_free(p, 0);
}
