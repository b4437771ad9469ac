/* One core, step by step: what each cause leads to, literally. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/bytes.h"
#include "test/core/puppet.h"

#define LIST(...) ((const sl_id[]){__VA_ARGS__, 0})
#define EXPECT(text, trace) assert_string_equal(trace, text)

static void test_a_round(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	EXPECT("start -> links 2 3, train t1 draw 0", p->trace.text);
	EXPECT("link up 2 -> hello t1 training to 2", tell_link(p, true, 2));
	EXPECT("hello t1 ready from 2 ->", tell_hello(p, 2, 1, SL_STANDING_READY));
	EXPECT("link down 3 ->", tell_link(p, false, 3)); /* does not answer: is not waited for */
	EXPECT("trained -> DISCOVER, links 2 3, hello t1 ready to 2, FREEZE, link state of 1 a1 to 2",
	       tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED}));
	EXPECT("link state of 2 a1 from 2 -> compute survey", tell_link_state(p, 2, 2, 1, LIST(1)));
	/* two learners: the mean tells each the model of the other; this gate only warns */
	EXPECT("survey done -> EXPOSED, VIEW, SHARE, compute encode", tell_done(p, SL_JOB_SURVEY, SL_OK));
	EXPECT("encode done -> compute share", tell_done(p, SL_JOB_ENCODE, SL_OK));
	EXPECT("share done -> share 0 to 2", tell_done(p, SL_JOB_SHARE, SL_OK));
	EXPECT("share 0 from 2 -> compute gather, READY, compute seal", tell_piece(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("gather done ->", tell_done(p, SL_JOB_GATHER, SL_OK));
	EXPECT("seal done -> ready of 1 a1 to 2", tell_done(p, SL_JOB_SEAL, SL_OK));
	EXPECT("ready of 2 a1 from 2 -> RELEASE, MIX, state 0 k0 to 2", tell_ready(p, 2, 2, 1));
	for (uint32_t k = 0; k < 2; k++) {
		tell_piece(p, 2, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	EXPECT("state 0 k2 from 2 -> compute mix", tell_piece(p, 2, SL_MSG_STATE, 0, 2));
	EXPECT("mix done -> compute close, SETTLE", tell_done(p, SL_JOB_MIX, SL_OK));
	EXPECT("close done -> digest to 2", tell_done(p, SL_JOB_CLOSE, SL_OK));
	EXPECT("digest from 2 -> COMMIT, compute decode, persist t1", tell_digest(p, 2, 7));
	EXPECT("decode done ->", tell_done(p, SL_JOB_DECODE, SL_OK));
	EXPECT("durable -> COMMITTED, wipe, DONE, hello t2 done to 2", tell(p, (struct sl_event){.kind = SL_EVENT_DURABLE}));
	EXPECT("hello t2 done from 2 ->", tell_hello(p, 2, 2, SL_STANDING_DONE)); /* 3 was left out, and may come */
	EXPECT("deadline -> stop 0", tell_time(p, 30000));
	EXPECT("deadline ->", tell_time(p, 1));
	assert_int_equal(p->code, SL_ERR_INVALID); /* nothing after a stop */
	puppet_free(p, 0);
}

/* To the digest of the last of two neighbours. */
static struct puppet *settling(void)
{
	struct puppet *p = puppet_new(3, 4);
	puppet_ready(p);
	tell_ready(p, 2, 2, 1);
	EXPECT("ready of 3 a1 from 3 -> ready of 3 a1 to 2, RELEASE, MIX, state 0 k0 to 2 3", tell_ready(p, 3, 3, 1));
	for (uint32_t k = 0; k < 3; k++) {
		tell_piece(p, 2, SL_MSG_STATE, 0, k);
		tell_piece(p, 3, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	EXPECT("close done -> digest to 2 3", tell_done(p, SL_JOB_CLOSE, SL_OK));
	return p;
}

static void test_digest_missing(void **state)
{
	(void)state;
	struct puppet *p = settling();
	EXPECT("digest from 2 ->", tell_digest(p, 2, 7));
	assert_int_equal(sl_core_deadline(p->core), p->now + 10000);
	EXPECT("deadline -> WAITING 3, COMMIT, compute decode, persist t1", tell_time(p, 10000));
	EXPECT("digest from 3 -> DIVERGED 3, stop -7", tell_digest(p, 3, 8)); /* then or later */
	puppet_free(p, 0);
}

static void test_digest_differs(void **state)
{
	(void)state;
	struct puppet *p = settling();
	EXPECT("digest from 2 -> DIVERGED 2, stop -7", tell_digest(p, 2, 8));
	puppet_free(p, 0);
	p = settling();
	tell_digest(p, 2, 7);
	tell_digest(p, 3, 7);
	tell_done(p, SL_JOB_DECODE, SL_OK);
	tell(p, (struct sl_event){.kind = SL_EVENT_DURABLE});
	EXPECT("digest from 3 -> DIVERGED 3, stop -7", tell_digest(p, 3, 8));
	puppet_free(p, 0);
}

static void test_linger(void **state)
{
	(void)state;
	struct puppet *p = settling();
	tell_digest(p, 2, 7);
	tell_digest(p, 3, 7);
	tell_done(p, SL_JOB_DECODE, SL_OK);
	tell(p, (struct sl_event){.kind = SL_EVENT_DURABLE});
	EXPECT("hello t2 done from 2 ->", tell_hello(p, 2, 2, SL_STANDING_DONE));
	assert_int_equal(sl_core_deadline(p->core), p->now + 30000);
	EXPECT("deadline -> stop 0", tell_time(p, 30000));
	puppet_free(p, 0);
}

/* --- refused messages --- */

static void test_hello_in_anothers_name(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	tell_link(p, true, 2);
	struct sl_message m = {.kind = SL_MSG_HELLO, .hello = {.id = 3, .t = 1, .a = 1, .standing = SL_STANDING_READY}};
	EXPECT("hello t1 ready from 2 -> REJECTED 2: a hello in another learner's name", tell_message(p, 2, &m));
	EXPECT("trained -> DISCOVER, links 2 3, hello t1 ready to 2", tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED}));
	puppet_free(p, 0);
}

static void test_records_of_outsiders(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	tell_link(p, true, 2);
	EXPECT("link state of 9 a1 from 2 -> REJECTED 2: a link state of somebody outside the roster",
	       tell_link_state(p, 2, 9, 1, LIST(1)));
	EXPECT("link state of 2 a1 from 2 -> REJECTED 2: a link state naming somebody outside the roster",
	       tell_link_state(p, 2, 2, 1, LIST(1, 9)));
	EXPECT("digest from 2 -> REJECTED 2: a digest signed by somebody else",
	       tell_message(p, 2, &(struct sl_message){.kind = SL_MSG_DIGEST, .digest = {.id = 3, .t = 1, .a = 1}}));
	puppet_free(p, 0);
}

static void test_shares_out_of_order(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 3 * SL_CHUNK_ELEMENTS);
	puppet_share(p);
	EXPECT("share 1 from 2 -> REJECTED 2: a share out of order, drop", tell_piece(p, 2, SL_MSG_SHARE, 1, 0));
	EXPECT("share 0 from 2 -> compute gather", tell_piece(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("share 0 from 2 -> REJECTED 2: a share out of order, drop", tell_piece(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("share 7 from 2 -> REJECTED 2: a share out of order, drop", tell_piece(p, 2, SL_MSG_SHARE, 7, 0));
	EXPECT("state 0 k0 from 2 -> drop", tell_piece(p, 2, SL_MSG_STATE, 0, 0)); /* before anybody can be ready */
	puppet_free(p, 0);
}

static void test_credit_of_shares(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(2, 20 * SL_CHUNK_ELEMENTS);
	puppet_freeze(p);
	tell_done(p, SL_JOB_SURVEY, SL_OK);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	for (uint32_t m = 0; m < 2 * SL_LANES; m++)
		assert_non_null(strstr(tell_piece(p, 2, SL_MSG_SHARE, m, 0), "compute gather"));
	assert_non_null(strstr(tell_piece(p, 2, SL_MSG_SHARE, 2 * SL_LANES, 0), "a share beyond its credit"));
	puppet_free(p, 0);
}

/* Chunk m goes out when chunk m - SL_LANES of every neighbour has come in. */
static void test_lanes_of_shares(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(2, 20 * SL_CHUNK_ELEMENTS);
	puppet_share(p);
	for (uint32_t m = 1; m < SL_LANES; m++)
		tell_done(p, SL_JOB_SHARE, SL_OK);
	assert_null(strstr(p->trace.text, "compute share"));
	EXPECT("share 0 from 2 -> compute gather, compute share", tell_piece(p, 2, SL_MSG_SHARE, 0, 0));
	puppet_free(p, 0);
}

static const char *tell_of_another_view(struct puppet *p, enum sl_message_kind kind, sl_attempt a)
{
	struct sl_message m = {.kind = kind, .chunk = {.t = 1, .a = a, .view = {0xee}}};
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	buffer->size = 8;
	buffer->bytes = calloc(1, 8);
	return tell(p, (struct sl_event){.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &m, .buffer = buffer});
}

static void test_another_view(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	puppet_share(p);
	EXPECT("share 0 from 2 -> drop", tell_of_another_view(p, SL_MSG_SHARE, 1));
	EXPECT("share 0 from 2 -> drop", tell_of_another_view(p, SL_MSG_SHARE, 2));
	puppet_free(p, 0);
	p = puppet_new(3, 4);
	puppet_ready(p);
	EXPECT("state 0 k0 from 2 -> drop", tell_of_another_view(p, SL_MSG_STATE, 1));
	EXPECT("state 0 k0 from 2 -> drop", tell_of_another_view(p, SL_MSG_STATE, 0));
	struct sl_message m = {.kind = SL_MSG_READY, .ready = {.id = 2, .t = 1, .a = 1, .k = 3, .view = {0xee}}};
	tell_message(p, 2, &m);
	assert_null(strstr(tell_ready(p, 3, 3, 1), "RELEASE")); /* 2 was ready for something else */
	puppet_free(p, 0);
}

/* A neighbour that closed its view first may be early; one that closed another view is only wrong. */
static void test_early_share(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	puppet_freeze(p);
	EXPECT("share 0 from 2 ->", tell_of_another_view(p, SL_MSG_SHARE, 1));
	EXPECT("share 0 from 3 ->", tell_piece(p, 3, SL_MSG_SHARE, 0, 0));
	EXPECT("survey done -> VIEW, SHARE, compute encode, compute gather, drop", tell_done(p, SL_JOB_SURVEY, SL_OK));
	EXPECT("share 0 from 2 -> compute gather", tell_piece(p, 2, SL_MSG_SHARE, 0, 0));
	puppet_free(p, 0);
}

/* The largest K announced counts, not the own. */
static void test_largest_k(void **state)
{
	(void)state;
	struct sl_core_status status;
	struct puppet *p = puppet_new(3, 4);
	puppet_ready(p);
	struct sl_message m = {.kind = SL_MSG_READY, .ready = {.id = 2, .t = 1, .a = 1, .k = 5}};
	memcpy(m.ready.view, p->view->h, SL_HASH_BYTES);
	tell_message(p, 2, &m);
	assert_non_null(strstr(tell_ready(p, 3, 3, 1), "RELEASE"));
	sl_core_status(p->core, &status);
	assert_int_equal(status.k, 5);
	puppet_free(p, 0);
}

static void test_states_out_of_turn(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	puppet_ready(p);
	EXPECT("state 0 k1 from 2 -> REJECTED 2: a state out of turn, drop", tell_piece(p, 2, SL_MSG_STATE, 0, 1));
	EXPECT("state 0 k0 from 2 ->", tell_piece(p, 2, SL_MSG_STATE, 0, 0)); /* 2 has released before us */
	EXPECT("state 0 k0 from 2 -> REJECTED 2: a state out of turn, drop", tell_piece(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k1 from 2 ->", tell_piece(p, 2, SL_MSG_STATE, 0, 1)); /* one ahead */
	EXPECT("state 0 k2 from 2 -> REJECTED 2: a state out of turn, drop", tell_piece(p, 2, SL_MSG_STATE, 0, 2));
	EXPECT("state 3 k0 from 2 -> REJECTED 2: a state of a chunk that is not due, drop",
	       tell_piece(p, 2, SL_MSG_STATE, 3, 0));
	EXPECT("link down 3 -> FAILED link 3, drop, wipe, DISCOVER, links 2 3, hello t1 ready to 2, FREEZE, "
	       "link state of 1 a2 to 2",
	       tell_link(p, false, 3));
	puppet_free(p, 0);
}

static void test_a_higher_attempt(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	puppet_share(p);
	EXPECT("link state of 2 a4 from 2 -> FAILED superseded 2, wipe, DISCOVER, links 2 3, hello t1 ready to 2 3, FREEZE, "
	       "link state of 1 a4 to 2 3, link state of 2 a4 to 3",
	       tell_link_state(p, 2, 2, 4, LIST(1, 3)));
	EXPECT("share 0 from 2 -> drop", tell_of_another_view(p, SL_MSG_SHARE, 1)); /* of an attempt that ended */
	puppet_free(p, 0);
}

static void test_equivocation(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	puppet_share(p);
	assert_non_null(strstr(tell_link_state(p, 3, 2, 1, LIST(1)), "FAILED equivocation 2"));
	puppet_free(p, 0);
	p = puppet_new(3, 4); /* heard in TRAIN already */
	tell_link(p, true, 2);
	tell_link(p, true, 3);
	tell_link_state(p, 2, 2, 1, LIST(1));
	tell_link_state(p, 3, 2, 1, LIST(1, 3));
	tell_hello(p, 2, 1, SL_STANDING_READY);
	tell_hello(p, 3, 1, SL_STANDING_READY);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	assert_non_null(strstr(tell_link_state(p, 3, 3, 1, LIST(1, 2)), "FAILED equivocation 2"));
	puppet_free(p, 0);
}

static void test_flood_stalls(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	for (sl_id id = 2; id <= 3; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_STANDING_READY);
	}
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	tell_link_state(p, 2, 2, 1, LIST(1, 3));
	EXPECT("deadline -> FAILED flood 3, wipe, DISCOVER, links 2 3, hello t1 ready to 2 3", tell_time(p, 10000));
	assert_true(sl_core_deadline(p->core) <= p->now + 1000); /* a pause, then attempt 2 */
	EXPECT("deadline -> FREEZE, link state of 1 a2 to 2 3", tell_time(p, 1000));
	puppet_free(p, 0);
}

/* What it was told over its last link may never have arrived. */
static void test_a_new_link_knows_nothing(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(4, 4);
	for (sl_id id = 2; id <= 4; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_STANDING_READY);
	}
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	EXPECT("link state of 2 a1 from 2 -> link state of 2 a1 to 3 4", tell_link_state(p, 2, 2, 1, LIST(1, 3, 4)));
	EXPECT("link state of 2 a1 from 3 ->", tell_link_state(p, 3, 2, 1, LIST(1, 3, 4)));
	EXPECT("link down 4 -> FAILED link 4, wipe, DISCOVER, links 2 3 4, hello t1 ready to 2 3, FREEZE, link state of 1 a2 to 2 3",
	       tell_link(p, false, 4));
	EXPECT("link up 4 -> hello t1 ready to 4, link state of 1 a2 to 4, link state of 2 a1 to 4", tell_link(p, true, 4));
	puppet_free(p, 0);
}

/* What waits for the view comes back when the attempt ends; and a flood of it does not overflow a step. */
static void test_many_early_chunks(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(100, 8 * SL_CHUNK_ELEMENTS);
	puppet_freeze(p);
	for (sl_id id = 2; id <= 100; id++)
		for (uint32_t m = 0; m < 2 * SL_LANES; m++)
			tell_piece(p, id, SL_MSG_SHARE, m, 0);
	assert_non_null(strstr(tell_piece(p, 2, SL_MSG_SHARE, 0, 0), "too many shares before the view is closed"));
	tell_done(p, SL_JOB_SURVEY, SL_OK);
	assert_true(p->actions.count < SL_ACTIONS_MAX);
	puppet_free(p, 0);
}

static void test_many_wrong_early_chunks(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(100, 4);
	puppet_freeze(p);
	for (sl_id id = 2; id <= 100; id++)
		for (uint32_t m = 0; m < 2 * SL_LANES; m++)
			tell_piece(p, id, SL_MSG_SHARE, 0, 0); /* the same one again and again */
	tell_done(p, SL_JOB_SURVEY, SL_OK);
	assert_true(p->actions.count < SL_ACTIONS_MAX);
	puppet_free(p, 0);
}

/* --- events that their kind does not allow --- */

static void test_events_out_of_place(void **state)
{
	(void)state;
	struct puppet *p = puppet_new(3, 4);
	const struct sl_event bad[] = {
		{.kind = SL_EVENT_START},
		{.kind = SL_EVENT_LINK_UP, .peer = 0},
		{.kind = SL_EVENT_LINK_UP, .peer = 3},
		{.kind = SL_EVENT_COMPUTED, .result = &(struct sl_job_result){.kind = SL_JOB_SEAL}},
		{.kind = SL_EVENT_DURABLE},
		{.kind = SL_EVENT_RANGE, .range = (const uint64_t[]){6}},
		{.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &(struct sl_message){.kind = SL_MSG_SHARE}},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tell(p, bad[i]);
		assert_int_equal(p->code, SL_ERR_INVALID);
		assert_int_equal(p->actions.count, 0);
	}
	puppet_free(p, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_round),		     cmocka_unit_test(test_digest_missing),
		cmocka_unit_test(test_digest_differs),	     cmocka_unit_test(test_linger),
		cmocka_unit_test(test_hello_in_anothers_name), cmocka_unit_test(test_records_of_outsiders),
		cmocka_unit_test(test_shares_out_of_order),  cmocka_unit_test(test_credit_of_shares),
		cmocka_unit_test(test_lanes_of_shares),	     cmocka_unit_test(test_another_view),
		cmocka_unit_test(test_early_share),	     cmocka_unit_test(test_largest_k),
		cmocka_unit_test(test_states_out_of_turn),   cmocka_unit_test(test_a_higher_attempt),
		cmocka_unit_test(test_equivocation),	     cmocka_unit_test(test_flood_stalls),
		cmocka_unit_test(test_a_new_link_knows_nothing),
		cmocka_unit_test(test_many_early_chunks),    cmocka_unit_test(test_many_wrong_early_chunks),
		cmocka_unit_test(test_events_out_of_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
