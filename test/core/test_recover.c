/* From the own Ready to the end of an attempt, when not all goes well: what the disk has to know first, how a
 * released attempt is finished without mixing, and when it is given up (PROTOCOL.md §9 Abort, safety rule,
 * reuse rule). */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/protocol/view_codec.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

#define LIST(...) ((const sl_id[]){__VA_ARGS__, 0})
#define RELEASED(...) ((const sl_attempt[]){__VA_ARGS__, 0})
#define NOTHING ((const sl_attempt[]){0})
#define EXPECT(text, trace) assert_string_equal(trace, text)
#define CHUNKS (SL_WINDOW + 2u)
#define MANY (CHUNKS * SL_CHUNK_ELEMENTS - 1) /* n + 1 elements: the last chunk is full */

static bool says(const struct driver *p, const char *text)
{
	return strstr(p->trace.text, text) != NULL;
}

static const char *tell_checked(struct driver *p, bool good)
{
	return tell_done(p, SL_JOB_CHECK, good ? SL_OK : SL_ERR_NOTFOUND);
}

static const char *tell_request(struct driver *p, sl_id from, sl_attempt a, sl_id origin, uint32_t index)
{
	return tell_message(
		p, from,
		&(struct sl_message){.kind = SL_MSG_REQUEST,
				     .request = {.t = 1, .a = a, .origin = origin, .index = index}});
}

static const char *tell_operator_abort(struct driver *p)
{
	return tell(p, (struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT, .round = 1});
}

/* --- what has to be durable first --- */

TEST(test_ready_is_durable)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	tell_payload(p, 2, SL_MSG_SHARE, 0, 0);
	tell_payload(p, 3, SL_MSG_SHARE, 0, 0);
	tell_done(p, SL_JOB_GATHER, SL_OK);
	tell_done(p, SL_JOB_GATHER, SL_OK);
	EXPECT("commitment done -> persist prepared t1 a1", tell_done(p, SL_JOB_COMMITMENT, SL_OK));
	const struct sl_persist *persist = &p->actions.items[0].persist;
	assert_int_equal(persist->ready_count, 1);
	assert_int_equal(persist->readys[0].id, 1);
	assert_int_equal(persist->readys[0].commitment[0], 7);
	assert_int_equal(persist->view_bytes, sl_view_bytes(3, 3));
	EXPECT("ready of 2 a1 from 2 -> ready of 2 a1 to 3", tell_ready(p, 2, 2, 1));
	EXPECT("ready of 3 a1 from 3 -> ready of 3 a1 to 2",
	       tell_ready(p, 3, 3, 1));		    /* everybody but the own disk */
	EXPECT("deadline ->", tell_time(p, 60000)); /* the others' time has not begun */
	EXPECT("durable -> persist released t1 a1, RELEASE, ready of 1 a1 to 2 3",
	       tell_durable(p, SL_PERSIST_PREPARED));
	driver_free(p, 0);
}

TEST(test_state_is_durable)
{
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	tell_ready(p, 2, 2, 1);
	EXPECT("ready of 3 a1 from 3 -> persist released t1 a1, RELEASE, ready of 3 a1 to 2",
	       tell_ready(p, 3, 3, 1));
	const struct sl_persist *persist = &p->actions.items[0].persist;
	assert_int_equal(persist->ready_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(persist->readys[i].id, i + 1);
	EXPECT("state 0 k0 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 0, 0)); /* its disk was faster */
	EXPECT("state 0 k0 from 3 ->", tell_payload(p, 3, SL_MSG_STATE, 0, 0));
	EXPECT("deadline ->", tell_time(p, 60000));
	EXPECT("durable -> MIX, state 0 k0 to 2 3, compute mix", tell_durable(p, SL_PERSIST_RELEASED));
	tell_done(p, SL_JOB_MIX, SL_OK);
	driver_free(p, 0);
}

TEST(test_link_lost_in_ready)
{
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	EXPECT("link down 3 ->", tell_link(p, false, 3));
	EXPECT("link up 3 -> hello t1 ready to 3, link state of 1 a1 to 3, ready of 1 a1 to 3, link state of "
	       "2 a1 to 3, "
	       "link state of 3 a1 to 3",
	       tell_link(p, true, 3));
	tell_ready(p, 2, 2, 1);
	tell_ready(p, 3, 3, 1);
	EXPECT("durable -> MIX, state 0 k0 to 2 3", tell_durable(p, SL_PERSIST_RELEASED));
	driver_free(p, 0);
}

/* Its neighbour may be waiting for a state that never left. */
TEST(test_link_lost_in_release)
{
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	tell_ready(p, 2, 2, 1);
	tell_ready(p, 3, 3, 1);
	EXPECT("link down 3 ->", tell_link(p, false, 3));
	EXPECT("durable -> MIX, RECOVERING link 3, RECOVER, hello t1 open to 2, compute check, have to 2",
	       tell_durable(p, SL_PERSIST_RELEASED));
	driver_free(p, 0);
}

/* --- finishing without mixing --- */

/* 3 is lost while mixing; its masked state had come. */
static struct driver *recovering(void)
{
	struct driver *p = driver_new(3, 4);
	driver_release(p);
	tell_payload(p, 3, SL_MSG_STATE, 0, 0);
	EXPECT("link down 3 -> RECOVERING link 3, compute keep, RECOVER, hello t1 open to 2, compute check, "
	       "have to 2",
	       tell_link(p, false, 3));
	EXPECT("keep done ->", tell_done(p, SL_JOB_BACKUP, SL_OK));
	return p;
}

TEST(test_recovery)
{
	struct sl_core_status status;
	struct driver *p = recovering();
	EXPECT("check done -> compute check, have 0 to 2", tell_checked(p, true)); /* the own */
	EXPECT("check done -> compute check", tell_checked(p, false));		   /* 2's has not come */
	EXPECT("check done -> have 0 2 to 2", tell_checked(p, true));		   /* 3's is whole */
	sl_core_status(p->core, &status);
	assert_int_equal(status.permille, 666);
	EXPECT("have 1 from 2 -> request t1 0 of 2 to 2", tell_have(p, 2, 2));
	EXPECT("masked of 2 0 from 2 -> compute fetch, compute check", tell_masked(p, 2, 2, 0));
	EXPECT("fetch done ->", tell_done(p, SL_JOB_FETCH, SL_OK));
	EXPECT("check done -> compute sum, have 0 1 2 to 2", tell_checked(p, true));
	EXPECT("sum done -> RECOVERED, CONFIRM, digest to 2 3", tell_done(p, SL_JOB_SUM, SL_OK));
	EXPECT("request t1 0 of 3 from 2 -> masked of 3 0 to 2",
	       tell_request(p, 2, 1, 3, 0)); /* whoever still needs it */
	EXPECT("digest from 2 -> COMMIT, compute decode, persist commit t1 a1", tell_digest(p, 2, 7));
	EXPECT("request t1 0 of 1 from 2 -> masked of 1 0 to 2", tell_request(p, 2, 1, 1, 0));
	EXPECT("decode done ->", tell_done(p, SL_JOB_DECODE, SL_OK));
	EXPECT("durable -> COMMITTED, wipe, DONE, hello t2 done to 2", tell_durable(p, SL_PERSIST_COMMIT));
	driver_free(p, 0);
}

/* What MIX was doing when the link fell comes back late, and does not count. */
TEST(test_late_mix)
{
	struct driver *p = driver_new(3, 4);
	driver_release(p);
	tell_payload(p, 2, SL_MSG_STATE, 0, 0);
	EXPECT("state 0 k0 from 3 -> compute mix", tell_payload(p, 3, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k1 from 3 ->", tell_payload(p, 3, SL_MSG_STATE, 0, 1));
	uint32_t epoch = p->epoch;
	EXPECT("link down 3 -> RECOVERING link 3, drop, RECOVER, hello t1 open to 2, compute check, have to "
	       "2",
	       tell_link(p, false, 3)); /* of k = 1 there is nothing to keep */
	p->epoch = epoch;
	EXPECT("mix done ->", tell_done(p, SL_JOB_MIX, SL_OK));
	EXPECT("state 0 k1 from 2 -> drop", tell_payload(p, 2, SL_MSG_STATE, 0, 1));
	driver_free(p, 0);
}

TEST(test_another_recovers)
{
	struct driver *p = driver_new(3, 4);
	driver_release(p);
	EXPECT("have 0 1 from 2 -> RECOVERING joined 2, RECOVER, hello t1 open to 2 3, compute check, have "
	       "to 2 3",
	       tell_have(p, 2, 3));
	EXPECT("have 0 from 3 ->", tell_have(p, 3, 1));
	tell_checked(p, true);
	EXPECT("check done -> compute check, request t1 0 of 2 to 2", tell_checked(p, false));
	driver_free(p, 0);
}

/* Nothing comes any more, and everybody is linked. */
TEST(test_stall_in_mix)
{
	struct driver *p = driver_new(3, 4);
	driver_release(p);
	tell_payload(p, 2, SL_MSG_STATE, 0, 0);
	EXPECT("deadline ->", tell_time(p, 9999));
	EXPECT("deadline -> RECOVERING stalled 3, compute keep, RECOVER, hello t1 open to 2 3, compute "
	       "check, have to 2 3",
	       tell_time(p, 1));
	driver_free(p, 0);
}

/* Not of the field; and a sum whose rounding cannot be trusted. */
TEST(test_what_mixing_cannot_use)
{
	struct driver *p = driver_new(3, 4);
	driver_release(p);
	tell_payload(p, 2, SL_MSG_STATE, 0, 0);
	tell_payload(p, 3, SL_MSG_STATE, 0, 0);
	tell_done(p, SL_JOB_MIX, SL_ERR_INVALID);
	assert_true(says(p, "mix done -> RECOVERING bad state 2, RECOVER, hello t1 open to 2 3"));
	driver_free(p, 0);
	p = driver_new(3, 4);
	driver_release(p);
	for (uint32_t k = 0; k < 3; k++) {
		tell_payload(p, 2, SL_MSG_STATE, 0, k);
		tell_payload(p, 3, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	struct sl_job_result rough = {
		.kind = SL_JOB_CLOSE, .epoch = p->epoch, .hash = {7}, .total = 3, .real = 0.375};
	EXPECT("close done -> RECOVERING margin, RECOVER, hello t1 open to 2 3, compute check, have to 2 3",
	       tell(p, (struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &rough}));
	driver_free(p, 0);
}

/* --- whom to ask, and for what --- */

/* Of four: 4 is lost, and only the own masked state is here. */
static struct driver *alone_with_its_own(uint64_t n)
{
	struct driver *p = driver_new(4, n);
	driver_release(p);
	tell_link(p, false, 4);
	EXPECT("check done -> compute check, have 0 to 2 3", tell_checked(p, true));
	for (uint32_t i = 1; i < 4; i++)
		tell_checked(p, false);
	EXPECT("check done ->", p->trace.text);
	return p;
}

/* One after the other of each, another one of each. */
TEST(test_two_holders)
{
	struct driver *p = alone_with_its_own(4);
	EXPECT("have 1 2 3 from 2 -> request t1 0 of 2 to 2", tell_have(p, 2, 14));
	EXPECT("have 1 2 3 from 3 -> request t1 0 of 3 to 3", tell_have(p, 3, 14));
	EXPECT("masked of 3 0 from 3 -> compute fetch, compute check, request t1 0 of 4 to 3",
	       tell_masked(p, 3, 3, 0));
	tell_done(p, SL_JOB_FETCH, SL_OK);
	EXPECT("check done -> have 0 2 to 2 3", tell_checked(p, true));
	EXPECT("masked of 2 0 from 2 -> compute fetch, compute check", tell_masked(p, 2, 2, 0));
	driver_free(p, 0);
}

TEST(test_a_wrong_masked_state)
{
	struct driver *p = alone_with_its_own(4);
	EXPECT("have 3 from 2 -> request t1 0 of 4 to 2", tell_have(p, 2, 8));
	EXPECT("have 3 from 3 ->", tell_have(p, 3, 8)); /* it is on its way */
	tell_masked(p, 2, 4, 0);
	tell_done(p, SL_JOB_FETCH, SL_OK);
	EXPECT("check done -> request t1 0 of 4 to 3", tell_checked(p, false)); /* not of 2 again */
	tell_masked(p, 3, 4, 0);
	tell_done(p, SL_JOB_FETCH, SL_OK);
	EXPECT("check done -> have 0 3 to 2 3", tell_checked(p, true));
	driver_free(p, 0);
}

TEST(test_nothing_comes)
{
	struct driver *p = alone_with_its_own(4);
	EXPECT("have 3 from 2 -> request t1 0 of 4 to 2", tell_have(p, 2, 8));
	tell_have(p, 3, 8);
	assert_int_equal(sl_core_deadline(p->core), p->now + 10000);
	EXPECT("deadline ->", tell_time(p, 9999));
	assert_non_null(strstr(tell_time(p, 1), "request t1 0 of 4 to 3"));
	EXPECT("masked of 4 0 from 2 -> drop", tell_masked(p, 2, 4, 0)); /* too late */
	EXPECT("link down 3 -> compute check", tell_link(p, false, 3));
	EXPECT("check done ->", tell_checked(p, false));
	driver_free(p, 0);
}

/* What has come of it so far may be all of it, if another one brought the rest: it is looked at again. */
TEST(test_a_holder_is_lost)
{
	struct driver *p = alone_with_its_own(4);
	tell_have(p, 2, 8);
	tell_have(p, 3, 8);
	EXPECT("link down 2 -> compute check", tell_link(p, false, 2));
	EXPECT("check done -> request t1 0 of 4 to 3", tell_checked(p, false));
	assert_non_null(strstr(tell_link(p, true, 2),
			       "link up 2 -> hello t1 open to 2, have 0 to 2, ")); /* all anew */
	driver_free(p, 0);
}

/* SL_WINDOW chunks ahead. */
TEST(test_window)
{
	struct driver *p = alone_with_its_own(MANY);
	EXPECT("have 1 from 2 -> request t1 0 of 2 to 2, request t1 1 of 2 to 2, request t1 2 of 2 to 2, "
	       "request t1 3 of 2 "
	       "to 2",
	       tell_have(p, 2, 2));
	EXPECT("masked of 2 0 from 2 -> compute fetch, request t1 4 of 2 to 2", tell_masked(p, 2, 2, 0));
	EXPECT("masked of 2 1 from 2 -> compute fetch, request t1 5 of 2 to 2", tell_masked(p, 2, 2, 1));
	for (uint32_t m = 2; m < CHUNKS - 1; m++)
		EXPECT(" -> compute fetch", strstr(tell_masked(p, 2, 2, m), " ->"));
	EXPECT("masked of 2 5 from 2 -> compute fetch, compute check", tell_masked(p, 2, 2, CHUNKS - 1));
	driver_free(p, 0);
}

TEST(test_rejected_chunks)
{
	struct driver *p = alone_with_its_own(MANY);
	EXPECT("masked of 2 0 from 2 -> drop", tell_masked(p, 2, 2, 0)); /* not asked for */
	tell_have(p, 2, 2);
	EXPECT("masked of 3 0 from 2 -> drop", tell_masked(p, 2, 3, 0)); /* nor this */
	EXPECT("masked of 2 0 from 3 -> drop", tell_masked(p, 3, 2, 0)); /* nor of it */
	EXPECT("masked of 2 1 from 2 -> REJECTED 2: a masked state out of order, drop",
	       tell_masked(p, 2, 2, 1));
	EXPECT("masked of 2 0 from 2 -> drop", tell_masked(p, 2, 2, 0)); /* before it offers it anew */
	assert_non_null(strstr(tell_have(p, 2, 2), "request t1 0 of 2 to 2"));
	driver_free(p, 0);
}

TEST(test_size_of_a_chunk)
{
	for (int more = -1; more <= 1; more += 2) {
		struct driver *p = alone_with_its_own(4);
		tell_have(p, 2, 2);
		struct sl_message m = {.kind = SL_MSG_MASKED, .chunk = {.t = 1, .a = 1, .origin = 2}};
		struct sl_buffer *buffer = calloc(1, sizeof *buffer);
		memcpy(m.chunk.view, p->view->h, SL_HASH_BYTES);
		buffer->size = (size_t)((int)(5 * p->view->field.bytes) + more);
		buffer->bytes = calloc(1, buffer->size);
		EXPECT("masked of 2 0 from 2 -> REJECTED 2: a masked state of the wrong size, drop",
		       tell(p,
			    (struct sl_event){
				    .kind = SL_EVENT_MESSAGE, .peer = 1, .message = &m, .buffer = buffer}));
		driver_free(p, 0);
	}
}

/* Whose masked states nobody in reach has is said again and again. */
TEST(test_who_is_missing)
{
	struct driver *p = alone_with_its_own(4);
	tell_have(p, 2, 2);
	tell_have(p, 3, 4);
	EXPECT("deadline ->", tell_time(p, 9999));
	tell_masked(p, 2, 2, 0);
	tell_masked(p, 3, 3, 0);
	assert_non_null(strstr(tell_time(p, 1), "WAITING 4"));
	assert_false(says(p, "WAITING 4,") || says(p, "WAITING 2") || says(p, "WAITING 3"));
	driver_free(p, 0);
}

/* --- who is answered --- */

/* Of four, 4 was not ready and is not in the view. */
static struct driver *without_4(void)
{
	struct driver *p = driver_new(4, 4);
	for (sl_id id = 2; id <= 3; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_PEER_STATUS_READY);
	}
	tell_link(p, false, 4);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	tell_link_state(p, 2, 2, 1, LIST(1, 3));
	tell_link_state(p, 3, 3, 1, LIST(1, 2));
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	tell_done(p, SL_JOB_SHARE, SL_OK);
	tell_link(p, true, 4);
	for (sl_id id = 2; id <= 3; id++) {
		tell_payload(p, id, SL_MSG_SHARE, 0, 0);
		tell_done(p, SL_JOB_GATHER, SL_OK);
	}
	tell_done(p, SL_JOB_COMMITMENT, SL_OK);
	tell_durable(p, SL_PERSIST_PREPARED);
	return p;
}

TEST(test_who_is_answered)
{
	struct driver *p = without_4();
	EXPECT("request t1 0 of 1 from 2 ->", tell_request(p, 2, 1, 1, 0)); /* before the barrier, nobody */
	tell_ready(p, 2, 2, 1);
	tell_ready(p, 3, 3, 1);
	EXPECT("request t1 0 of 1 from 2 ->", tell_request(p, 2, 1, 1, 0)); /* nor before it is durable */
	tell_durable(p, SL_PERSIST_RELEASED);
	EXPECT("have 0 from 4 -> REJECTED 4: says that it holds masked states of a view that it is not in",
	       tell_have(p, 4, 1));
	EXPECT("link down 3 -> RECOVERING link 3, RECOVER, hello t1 open to 2 4, compute check, have to 2",
	       tell_link(p, false, 3));
	EXPECT("request t1 0 of 1 from 2 ->", tell_request(p, 2, 1, 1, 0)); /* not checked yet */
	EXPECT("check done -> compute check, have 0 to 2", tell_checked(p, true));
	EXPECT("request t1 0 of 1 from 2 -> masked of 1 0 to 2", tell_request(p, 2, 1, 1, 0));
	assert_true(p->actions.items[0].send.own);
	assert_int_equal(p->actions.items[0].send.message.chunk.size, 5 * p->view->field.bytes);
	EXPECT("request t1 0 of 1 from 4 ->", tell_request(p, 4, 1, 1, 0)); /* of members for members */
	EXPECT("request t1 0 of 2 from 2 ->", tell_request(p, 2, 1, 2, 0)); /* not held */
	EXPECT("request t1 0 of 4 from 2 ->", tell_request(p, 2, 1, 4, 0)); /* there is none */
	EXPECT("request t1 0 of 9 from 2 ->", tell_request(p, 2, 1, 9, 0));
	EXPECT("request t1 1 of 1 from 2 ->", tell_request(p, 2, 1, 1, 1));
	EXPECT("request t1 0 of 1 from 2 ->", tell_request(p, 2, 2, 1, 0)); /* another attempt */
	EXPECT("request t2 0 of 1 from 2 ->",
	       tell_message(p, 2,
			    &(struct sl_message){.kind = SL_MSG_REQUEST,
						 .request = {.t = 2, .a = 1, .origin = 1}}));
	driver_free(p, 0);
}

TEST(test_haves_that_do_not_count)
{
	struct driver *p = driver_new(3, 4);
	const uint8_t held[2] = {7, 0};
	driver_release(p);
	struct sl_message m = {.kind = SL_MSG_HAVE,
			       .have = {.t = 1, .a = 1, .view = {0xee}, .size = 1, .held = held}};
	EXPECT("have 0 1 2 from 2 ->", tell_message(p, 2, &m)); /* another view */
	memcpy(m.have.view, p->view->h, SL_HASH_BYTES);
	m.have.t = 2;
	EXPECT("have 0 1 2 from 2 ->", tell_message(p, 2, &m)); /* another round */
	m.have.t = 1;
	m.have.size = 2;
	EXPECT("have 0 1 2 from 2 -> REJECTED 2: says that it holds masked states of a view that it is not "
	       "in",
	       tell_message(p, 2, &m));
	driver_free(p, 0);
}

/* --- Aborts --- */

TEST(test_abort_in_ready)
{
	struct driver *p = without_4();
	EXPECT("abort of 4 a1 from 4 -> abort of 4 a1 to 2 3",
	       tell_abort(p, 4, 4, 1, NOTHING)); /* is not in it */
	EXPECT("abort of 3 a1 from 3 -> abort of 3 a1 to 2 4",
	       tell_abort(p, 3, 3, 1, RELEASED(1))); /* says that it did release */
	EXPECT("abort of 2 a1 from 3 -> FAILED aborted 2, persist aborted t1 a1, wipe, DISCOVER, links 2 3 "
	       "4, "
	       "hello t1 ready to 2 3 4, "
	       "abort of 2 a1 to 2 4",
	       tell_abort(p, 3, 2, 1, NOTHING));
	EXPECT("durable -> abort of 1 a1 to 2 3 4", tell_durable(p, SL_PERSIST_ABORTED));
	assert_int_equal(p->actions.items[0].send.message.abort.count, 0);
	driver_free(p, 0);
}

/* Of another round; and in this learner's name, from before a crash or a liar's. */
TEST(test_aborts_that_do_not_count)
{
	struct driver *p = driver_new(3, 4);
	driver_agree(p);
	struct sl_message m = {.kind = SL_MSG_ABORT, .abort = {.id = 2, .incarnation = 1, .t = 2, .a = 5}};
	EXPECT("abort of 2 a5 from 2 -> abort of 2 a5 to 3", tell_message(p, 2, &m)); /* it will matter */
	m.abort.t = 0;
	m.abort.id = 3;
	EXPECT("abort of 3 a5 from 2 ->", tell_message(p, 2, &m));
	EXPECT("abort of 1 a5 from 2 ->", tell_abort(p, 2, 1, 5, NOTHING));
	EXPECT("abort of 9 a5 from 2 ->", tell_abort(p, 2, 9, 5, NOTHING));
	EXPECT("analysis done -> VIEW, SHARE, compute encode", tell_done(p, SL_JOB_ANALYSE, SL_OK));
	driver_free(p, 0);
}

TEST(test_waiting_in_vain)
{
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	tell_ready(p, 2, 2, 1);
	EXPECT("deadline -> WAITING 3", tell_time(p, 10000));
	EXPECT("deadline -> WAITING 3", tell_time(p, 49999));
	EXPECT("deadline -> FAILED stalled 3, persist aborted t1 a1, wipe, DISCOVER, links 2 3, hello t1 "
	       "ready to 2 3, AGREE, "
	       "link state of 1 a2 to 2 3",
	       tell_time(p, 1));
	EXPECT("durable -> abort of 1 a1 to 2 3", tell_durable(p, SL_PERSIST_ABORTED));
	EXPECT("ready of 3 a1 from 3 -> ready of 3 a1 to 2", tell_ready(p, 3, 3, 1)); /* too late */
	driver_free(p, 0);
}

/* c + 1 who never released: one of them is honest, and the model was not shown. */
TEST(test_given_up)
{
	struct driver *p = recovering();
	while (!says(p, "have 0 2 to 2"))
		tell_checked(p, p->chunk[SL_JOB_CHECK] != 1);
	EXPECT("abort of 2 a1 from 2 ->",
	       tell_abort(p, 2, 2, 1, NOTHING)); /* it is dead; others have a moment to say so */
	assert_int_equal(sl_core_deadline(p->core), p->now + 2000);
	EXPECT("abort of 3 a1 from 2 -> CLOSED, persist closed t1 a1, persist aborted t1 a1, wipe, DISCOVER, "
	       "links 2 3, hello t1 ready to 2, AGREE, "
	       "link state of 1 a2 to 2",
	       tell_abort(p, 2, 3, 1, NOTHING));
	assert_int_equal(p->actions.items[0].report.peer, 1);
	EXPECT("durable ->", tell_durable(p, SL_PERSIST_CLOSED));
	EXPECT("request t1 0 of 1 from 2 ->", tell_request(p, 2, 1, 1, 0)); /* it is over */
	driver_free(p, 0);
}

TEST(test_model_invalidated)
{
	struct driver *p = recovering();
	while (!says(p, "have 0 2 to 2"))
		tell_checked(p, p->chunk[SL_JOB_CHECK] != 1);
	EXPECT("abort of 2 a1 from 2 ->", tell_abort(p, 2, 2, 1, RELEASED(1))); /* no proof of anything */
	EXPECT("deadline ->", tell_time(p, 5000));
	EXPECT("abort of 2 a2 from 2 ->", tell_abort(p, 2, 2, 2, RELEASED(2)));
	EXPECT("abort of 2 a3 from 2 ->",
	       tell_abort(p, 2, 2, 3, RELEASED(2))); /* again: two words of one are not two */
	EXPECT("deadline ->", tell_time(p, 1999));
	EXPECT("deadline -> CLOSED, persist closed t1 a1, persist aborted t1 a1, wipe, INVALIDATED, TRAIN, "
	       "train "
	       "t1 draw 1, hello t1 training to 2",
	       tell_time(p, 1));
	driver_free(p, 0);
}

static const struct sl_abort *abort_out(const struct driver *p)
{
	for (uint32_t i = 0; i < p->actions.count; i++) {
		const struct sl_action *a = &p->actions.items[i];
		if (a->kind == SL_ACTION_SEND && a->send.message.kind == SL_MSG_ABORT && a->send.own)
			return &a->send.message.abort;
	}
	fail_msg("no abort in %s", p->trace.text);
	return NULL;
}

/* What it says of later attempts does not deny the one that it released. */
TEST(test_released_is_listed)
{
	struct driver *p = recovering();
	tell_abort(p, 2, 2, 1, NOTHING);
	tell_abort(p, 2, 3, 1, NOTHING);
	assert_true(says(p, "AGREE, link state of 1 a2 to 2"));
	tell_checked(p, true); /* late */
	tell_link_state(p, 2, 2, 2, LIST(1));
	assert_true(says(p, "compute analysis"));
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	EXPECT("link down 2 -> FAILED link 2, persist aborted t1 a2, wipe, DISCOVER, links 2 3",
	       tell_link(p, false, 2));
	EXPECT("durable ->", tell_durable(p, SL_PERSIST_ABORTED));
	assert_non_null(strstr(tell_link(p, true, 2), "abort of 1 a2 to 2"));
	const struct sl_abort *abort_record = abort_out(p);
	assert_int_equal(abort_record->count, 1);
	assert_int_equal(abort_record->released[0], 1);
	driver_free(p, 0);
}

/* A participant that released it will not finish it: who has not released may stop too, who has waits for
 * all. */
static const char *tell_closed(struct driver *p, sl_id from, sl_id id, sl_attempt a)
{
	struct sl_message m = {.kind = SL_MSG_ABORT,
			       .abort = {.id = id,
					 .incarnation = 1,
					 .t = 1,
					 .a = a,
					 .count = 1,
					 .released = {a},
					 .closed = a}};
	return tell_message(p, from, &m);
}

TEST(test_closed_elsewhere)
{
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	assert_true(strstr(tell_closed(p, 2, 2, 1), "FAILED aborted 2, persist aborted t1 a1") != NULL);
	driver_free(p, 0);
	p = recovering();
	tell_closed(p, 2, 2, 1);
	tell_time(p, 5000);
	assert_null(strstr(p->trace.text, "CLOSED")); /* 3 may still finish it */
	tell_closed(p, 2, 3, 1);
	assert_non_null(strstr(tell_time(p, 2000), "CLOSED")); /* now nobody does, if this one does not */
	driver_free(p, 0);
}

/* What this learner gave up as an operator told it to, it tells the others: released, and dead. */
TEST(test_operator_aborted_is_told)
{
	struct driver *p = recovering();
	tell_operator_abort(p);
	const char *told = tell_durable(p, SL_PERSIST_ABORTED);
	assert_non_null(strstr(told, "abort of 1 a1"));
	const struct sl_abort *abort_record = abort_out(p);
	assert_true(abort_record->count == 1 && abort_record->released[0] == 1 && abort_record->closed == 1);
	driver_free(p, 0);
}

TEST(test_operator_abort)
{
	struct driver *p = recovering();
	while (!says(p, "have 0 2 to 2"))
		tell_checked(p, p->chunk[SL_JOB_CHECK] != 1);
	tell_abort(p, 2, 2, 1, NOTHING); /* the others' moment is not waited for */
	EXPECT("operator abort -> CLOSED, persist closed t1 a1, persist aborted t1 a1, wipe, INVALIDATED, "
	       "TRAIN, train t1 "
	       "draw 1, hello t1 training to 2",
	       tell_operator_abort(p));
	const struct sl_report *report = &p->actions.items[0].report;
	assert_int_equal(report->kind, SL_REPORT_CLOSED);
	assert_int_equal(report->peer, SL_NOBODY);
	tell_operator_abort(p);
	assert_int_equal(p->code, SL_ERR_INVALID); /* once */
	driver_free(p, 0);
}

/* --- restarts --- */

/* What the disk of one life keeps for the next. */
struct kept {
	uint8_t view[1024];
	struct sl_ready readys[3];
	struct sl_open open;
};

static void keep(struct kept *kept, const struct driver *p)
{
	const struct sl_persist *persist = &p->actions.items[0].persist;
	assert_int_equal(p->actions.items[0].kind, SL_ACTION_PERSIST);
	kept->open.released = persist->what.kind == SL_PERSIST_RELEASED;
	if (!kept->open.released) {
		memcpy(kept->view, persist->view, persist->view_bytes);
		kept->open.view_bytes = persist->view_bytes;
	}
	memcpy(kept->readys, persist->readys, persist->ready_count * sizeof *kept->readys);
	kept->open.ready_count = persist->ready_count;
	kept->open.view = kept->view;
	kept->open.readys = kept->readys;
}

/* The first life, to the SEAL or further to the last Ready. */
static void live_once(struct kept *kept, bool released)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	for (sl_id id = 2; id <= 3; id++) {
		tell_payload(p, id, SL_MSG_SHARE, 0, 0);
		tell_done(p, SL_JOB_GATHER, SL_OK);
	}
	tell_done(p, SL_JOB_COMMITMENT, SL_OK);
	keep(kept, p);
	tell_durable(p, SL_PERSIST_PREPARED);
	tell_ready(p, 2, 2, 1);
	tell_ready(p, 3, 3, 1);
	if (released)
		keep(kept, p);
	driver_free(p, 0);
}

static struct driver *live_again(struct kept *kept)
{
	struct driver *p = driver_build(3, 4);
	p->config.incarnation = 2;
	kept->open.a = 1;
	p->config.open = &kept->open;
	if (kept->open.released) {
		p->config.released_count = 1;
		p->config.released[0] = 1;
	}
	driver_start(p);
	return p;
}

static const char *tell_ready_again(struct driver *p, const struct kept *kept, sl_id from)
{
	struct sl_message m = {.kind = SL_MSG_READY, .ready = kept->readys[0]};
	m.ready.id = from;
	return tell_message(p, from, &m);
}

TEST(test_restart_prepared)
{
	struct kept kept;
	live_once(&kept, false);
	struct driver *p = live_again(&kept);
	EXPECT("start -> links 2 3, RESUMED, READY", p->trace.text);
	EXPECT("link up 2 -> hello t1 ready to 2, ready of 1 a1 to 2", tell_link(p, true, 2));
	assert_memory_equal(&p->actions.items[1].send.message.ready, &kept.readys[0],
			    sizeof kept.readys[0]); /* the same words */
	tell_link(p, true, 3);
	tell_ready_again(p, &kept, 2);
	EXPECT("ready of 3 a1 from 3 -> persist released t1 a1, RELEASE, ready of 3 a1 to 2",
	       tell_ready_again(p, &kept, 3));
	EXPECT("durable -> RECOVERING restarted, RECOVER, hello t1 open to 2 3, compute check, have to 2 3",
	       tell_durable(p, SL_PERSIST_RELEASED)); /* there is nothing to mix with: the shares are gone */
	EXPECT("check done -> compute check, have 0 to 2 3", tell_checked(p, true));
	driver_free(p, 0);
}

TEST(test_restart_prepared_and_aborted)
{
	struct kept kept;
	live_once(&kept, false);
	struct driver *p = live_again(&kept);
	tell_link(p, true, 2);
	EXPECT("abort of 3 a1 from 2 -> FAILED aborted 3, persist aborted t1 a1, wipe, TRAIN, train t1 draw "
	       "0, "
	       "hello t1 training to 2",
	       tell_abort(p, 2, 3, 1, NOTHING));
	EXPECT("durable -> abort of 1 a1 to 2", tell_durable(p, SL_PERSIST_ABORTED));
	assert_int_equal(abort_out(p)->incarnation, 2);
	driver_free(p, 0);
}

TEST(test_restart_released)
{
	struct kept kept;
	live_once(&kept, true);
	struct driver *p = live_again(&kept);
	EXPECT("start -> links 2 3, RESUMED, RECOVER, compute check", p->trace.text);
	EXPECT("link up 2 -> hello t1 open to 2, have to 2, ready of 1 a1 to 2, ready of 2 a1 to 2, ready of "
	       "3 a1 to 2",
	       tell_link(p, true, 2));
	assert_int_equal(p->actions.items[2].send.message.ready.id, 1);
	EXPECT("check done -> compute check, have 0 to 2",
	       tell_checked(p, true)); /* the own, from the state file */
	EXPECT("check done -> compute check, have 0 1 to 2", tell_checked(p, true));
	EXPECT("check done ->", tell_checked(p, false));
	EXPECT("have 0 1 2 from 2 -> request t1 0 of 3 to 2", tell_have(p, 2, 7));
	EXPECT("masked of 3 0 from 2 -> compute fetch, compute check", tell_masked(p, 2, 3, 0));
	tell_done(p, SL_JOB_FETCH, SL_OK);
	EXPECT("check done -> compute sum, have 0 1 2 to 2", tell_checked(p, true));
	EXPECT("sum done -> RECOVERED, CONFIRM, digest to 2 3", tell_done(p, SL_JOB_SUM, SL_OK));
	driver_free(p, 0);
}

/* There is no model to invalidate. */
TEST(test_restart_released_and_closed)
{
	struct kept kept;
	live_once(&kept, true);
	struct driver *p = live_again(&kept);
	tell_link(p, true, 2);
	EXPECT("abort of 3 a1 from 2 -> CLOSED, persist closed t1 a1, persist aborted t1 a1, wipe, TRAIN, "
	       "train t1 draw 0, hello t1 training to 2",
	       tell_abort(p, 2, 3, 1, NOTHING));
	driver_free(p, 0);
}

/* It may have committed while this learner was down. */
TEST(test_restart_and_too_late)
{
	struct kept kept;
	live_once(&kept, true);
	struct driver *p = live_again(&kept);
	tell_link(p, true, 2);
	EXPECT("hello t2 done from 2 ->", tell_hello(p, 2, 2, SL_PEER_STATUS_DONE));
	EXPECT("check done -> CATCHUP, request t0 0 to 2", tell_checked(p, true));
	driver_free(p, 0);
}

TEST(test_restart_with_a_damaged_view)
{
	struct kept kept;
	live_once(&kept, false);
	kept.view[SL_VIEW_HEAD_BYTES] ^= 2; /* another member */
	struct driver *p = live_again(&kept);
	EXPECT("start -> links 2 3, persist aborted t1 a1, train t1 draw 0",
	       p->trace.text); /* it is in no attempt that it cannot finish */
	driver_free(p, 0);
}

/* What was promised is said again, and no number is used twice. */
TEST(test_restart_with_promises)
{
	struct driver *p = driver_build(2, 4);
	p->config.aborted = 5;
	p->config.released_count = 2;
	p->config.released[0] = 2;
	p->config.released[1] = 4;
	driver_start(p);
	EXPECT("start -> links 2, train t1 draw 0", p->trace.text);
	EXPECT("link up 2 -> hello t1 training to 2, abort of 1 a5 to 2", tell_link(p, true, 2));
	assert_int_equal(abort_out(p)->count, 2);
	assert_int_equal(abort_out(p)->released[0], 2);
	assert_int_equal(abort_out(p)->released[1], 4);
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	assert_true(says(p, "AGREE, link state of 1 a6 to 2"));
	driver_free(p, 0);
	p = driver_build(2, 4); /* released beyond what was aborted */
	p->config.aborted = 1;
	p->config.released_count = 1;
	p->config.released[0] = 4;
	driver_start(p);
	tell_link(p, true, 2);
	assert_int_equal(abort_out(p)->a, 1);
	assert_int_equal(abort_out(p)->count, 0);
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	assert_true(says(p, "AGREE, link state of 1 a5 to 2"));
	driver_free(p, 0);
}

static const char *tell_unknown_ready(struct driver *p, sl_id id, sl_round t, sl_attempt a)
{
	return tell_message(p, 2,
			    &(struct sl_message){.kind = SL_MSG_READY,
						 .ready = {.id = id, .t = t, .a = a, .view = {9}, .k = 3}});
}

/* Others count on the learner as it was before a crash that left no record: it had not sent its Ready. */
TEST(test_abort_pending)
{
	struct driver *p = driver_new(3, 4);
	tell_link(p, true, 2);
	EXPECT("ready of 3 a2 from 2 -> persist aborted t1 a2", tell_unknown_ready(p, 3, 1, 2));
	EXPECT("durable -> abort of 1 a2 to 2", tell_durable(p, SL_PERSIST_ABORTED));
	assert_int_equal(abort_out(p)->count, 0);
	EXPECT("ready of 2 a1 from 2 ->", tell_unknown_ready(p, 2, 1, 1)); /* that says it all */
	EXPECT("ready of 2 a2 from 2 ->", tell_unknown_ready(p, 2, 1, 2));
	EXPECT("ready of 1 a1 from 2 ->", tell_unknown_ready(p, 1, 1, 1)); /* what is signed is signed */
	EXPECT("ready of 2 a1 from 2 ->",
	       tell_unknown_ready(p, 2, 2, 1)); /* another round is another matter */
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	tell_link(p, false, 3);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	assert_true(says(p, "AGREE, link state of 1 a3 to 2"));
	tell_link_state(p, 2, 2, 3, LIST(1));
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	tell_link_state(p, 2, 2, 4, LIST(1));
	assert_true(says(p, "FAILED superseded 2, persist aborted t1 a3"));
	tell_durable(p, SL_PERSIST_ABORTED);
	assert_int_equal(abort_out(p)->count, 0);
	driver_free(p, 0);
}

/* In an attempt of its own, it owes it all the same: as soon as it is out of it. */
TEST(test_abort_pending_of_the_busy)
{
	struct sl_core_status status;
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	EXPECT("ready of 2 a3 from 2 -> ready of 2 a3 to 3",
	       tell_unknown_ready(p, 2, 1, 3)); /* its own Ready stands */
	tell_abort(p, 2, 2, 1, NOTHING);
	assert_true(says(p, "FAILED aborted 2, persist aborted t1 a1, wipe, DISCOVER"));
	assert_true(says(p, "persist aborted t1 a3"));
	sl_core_status(p->core, &status);
	assert_int_equal(status.a, 4);
	driver_free(p, 0);
}

/* Not in a round that this life has seen from its beginning. */
TEST(test_nothing_owed)
{
	struct driver *p = driver_build(2, 4);
	p->config.parameters.rounds = 2;
	driver_start(p);
	driver_release(p);
	for (uint32_t k = 0; k < 3; k++) {
		tell_payload(p, 2, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	tell_done(p, SL_JOB_CLOSE, SL_OK);
	tell_digest(p, 2, 7);
	tell_done(p, SL_JOB_DECODE, SL_OK);
	assert_non_null(strstr(tell_durable(p, SL_PERSIST_COMMIT), "train t2"));
	EXPECT("ready of 2 a3 from 2 ->", tell_unknown_ready(p, 2, 2, 3));
	driver_free(p, 0);
}

/* The disk takes no word about a round behind its commit. */
TEST(test_nothing_owed_behind_a_commit)
{
	struct driver *p = driver_new(2, 4);
	tell_link_state(p, 2, 2, 2, LIST(1)); /* its first attempt was with the others */
	driver_agree(p);
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	tell_done(p, SL_JOB_SHARE, SL_OK);
	tell_payload(p, 2, SL_MSG_SHARE, 0, 0);
	tell_done(p, SL_JOB_GATHER, SL_OK);
	tell_done(p, SL_JOB_COMMITMENT, SL_OK);
	tell_durable(p, SL_PERSIST_PREPARED);
	tell_ready(p, 2, 2, 2);
	tell_durable(p, SL_PERSIST_RELEASED);
	for (uint32_t k = 0; k < 3; k++) {
		tell_payload(p, 2, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	tell_done(p, SL_JOB_CLOSE, SL_OK);
	EXPECT("digest from 2 -> COMMIT, compute decode, persist commit t1 a2", tell_digest(p, 2, 7));
	EXPECT("ready of 1 a1 from 2 ->", tell_unknown_ready(p, 1, 1, 1));
	driver_free(p, 0);
}

/* The own Ready comes back to one who knows nothing of it: the record was lost, and it must not deny what it
 * may have shown. */
TEST(test_own_ready_comes_back)
{
	struct driver *p = driver_new(3, 4);
	tell_link(p, true, 2);
	EXPECT("ready of 1 a2 from 2 -> persist aborted t1 a2",
	       tell_unknown_ready(p, 1, 1, 2)); /* all up to it, but not it */
	EXPECT("ready of 3 a2 from 2 ->", tell_unknown_ready(p, 3, 1, 2));
	EXPECT("ready of 3 a3 from 2 -> persist aborted t1 a3", tell_unknown_ready(p, 3, 1, 3));
	EXPECT("durable -> abort of 1 a3 to 2", tell_durable(p, SL_PERSIST_ABORTED));
	assert_int_equal(abort_out(p)->count, 1);
	assert_int_equal(abort_out(p)->released[0], 2);
	driver_free(p, 0);
}
