/* From the own Ready to the end of an attempt: what is durable first, how a released attempt is finished
 * without mixing, and when it is aborted (PROTOCOL.md §9 Abort, safety rule, reuse rule, §10 Recovery). */
#include "common/protocol/view_codec.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

#define CHUNKS (SL_WINDOW + 2u)
#define MANY (CHUNKS * SL_CHUNK_ELEMENTS - 1) /* n + 1 elements: the last chunk is full */

/* --- what is durable first --- */

TEST(ready_is_durable)
{
	struct driver *p = driver_share(driver_new(3, 4));
	play(p, "share 0 from 2 3\n"
		"gather done\n"
		"gather done\n"
		"commitment done -> persist prepared t1 a1");
	const struct sl_persist *persist = &p->actions.items[0].persist;
	assert_int_equal(persist->ready_count, 1);
	assert_int_equal(persist->readys[0].id, 1);
	assert_int_equal(persist->readys[0].commitment[0], 7);
	assert_int_equal(persist->view_bytes, sl_view_bytes(3, 3));
	play(p, "ready of 2 a1 from 2 -> ready of 2 a1 to 3\n"
		"ready of 3 a1 from 3 -> ready of 3 a1 to 2\n"
		"deadline +60000 ->\n" /* prepare_timeout has not begun */
		"durable prepared -> persist released t1 a1, RELEASE, ready of 1 a1 to 2 3");
	driver_free(p);
}

TEST(state_is_durable)
{
	struct driver *p = driver_ready(driver_new(3, 4));
	play(p, "ready from 2\n"
		"ready of 3 a1 from 3 -> persist released t1 a1, RELEASE, ready of 3 a1 to 2");
	const struct sl_persist *persist = &p->actions.items[0].persist;
	assert_int_equal(persist->ready_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(persist->readys[i].id, i + 1);
	play(p, "state 0 k0 from 2 3 ->\n" /* their disks were faster */
		"deadline +60000 ->\n"
		"durable released -> MIX, state 0 k0 to 2 3, compute mix\n"
		"mix done");
	driver_free(p);
}

CASE(link_lost_in_ready, driver_ready(driver_new(3, 4)),
     "link down 3 ->\n"
     "link up 3 -> hello t1 ready to 3, link state of 1 a1 to 3, ready of 1 a1 to 3, link state of 2 a1 to "
     "3, link state of 3 a1 to 3\n"
     "ready from 2 3\n"
     "durable released -> MIX, state 0 k0 to 2 3")

/* The neighbour may wait for a state that never left. */
CASE(link_lost_in_release, driver_ready(driver_new(3, 4)),
     "ready from 2 3\n"
     "link down 3 ->\n"
     "durable released -> MIX, RECOVERING link 3, RECOVER, hello t1 open to 2, compute check, have to 2")

/* --- finishing without mixing --- */

/* 3 is lost while mixing; its masked state is here. */
static struct driver *recovering(void)
{
	struct driver *p = driver_release(driver_new(3, 4));
	play(p, "state 0 k0 from 3\n"
		"link down 3 -> RECOVERING link 3, compute keep, RECOVER, hello t1 open to 2, compute check, "
		"have to 2\n"
		"keep done ->");
	return p;
}

/* The own masked state and that of 3 are verified. */
static struct driver *verified(void)
{
	struct driver *p = recovering();
	play(p, "check done -> compute check, have 0 to 2\n"
		"check failed -> compute check\n"
		"check done -> have 0 2 to 2");
	return p;
}

TEST(recovery)
{
	struct driver *p = verified();
	assert_int_equal(driver_status(p).permille, 666);
	play(p, "have 1 from 2 -> request t1 0 of 2 to 2\n"
		"masked of 2 0 from 2 -> compute fetch, compute check\n"
		"fetch done ->\n"
		"check done -> compute sum, have 0 1 2 to 2\n"
		"sum done -> RECOVERED, CONFIRM, digest to 2 3\n"
		"request 0 of 3 a1 from 2 -> masked of 3 0 to 2\n" /* 2 may still need it */
		"digest from 2 -> COMMIT, compute decode, persist commit t1 a1\n"
		"request 0 of 1 a1 from 2 -> masked of 1 0 to 2\n"
		"decode done ->\n"
		"durable commit -> COMMITTED, wipe, DONE, hello t2 done to 2");
	driver_free(p);
}

/* Results of MIX jobs that were out when the link fell are late. */
CASE(late_mix, driver_release(driver_new(3, 4)),
     "state 0 k0 from 2\n"
     "state 0 k0 from 3 -> compute mix\n"
     "state 0 k1 from 3 ->\n"
     "link down 3 -> RECOVERING link 3, drop, RECOVER, hello t1 open to 2, compute check, have to 2\n"
     "late mix done ->\n"
     "state 0 k1 from 2 -> drop")

CASE(another_recovers, driver_release(driver_new(3, 4)),
     "have 0 1 from 2 -> RECOVERING joined 2, RECOVER, hello t1 open to 2 3, compute check, have to 2 3\n"
     "have 0 from 3 ->\n"
     "check done\n"
     "check failed -> compute check, request t1 0 of 2 to 2")

CASE(stall_in_mix, driver_release(driver_new(3, 4)),
     "state 0 k0 from 2\n"
     "deadline +9999 ->\n"
     "deadline +1 -> RECOVERING stalled 3, compute keep, RECOVER, hello t1 open to 2 3, compute check, "
     "have to 2 3")

CASE(state_outside_the_field, driver_release(driver_new(3, 4)),
     "state 0 k0 from 2 3\n"
     "mix failed -> RECOVERING bad state 2, RECOVER, hello t1 open to 2 3, *")

TEST(rounding_margin)
{
	struct driver *p = driver_release(driver_new(3, 4));
	for (uint32_t k = 0; k < 3; k++)
		play(p,
		     "state 0 k%u from 2 3\n"
		     "mix done",
		     k);
	struct sl_job_result rough = {
		.kind = SL_JOB_CLOSE, .epoch = p->epoch, .hash = {7}, .total = 3, .real = 0.375};
	assert_string_equal(driver_step(p, (struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &rough}),
			    "close done -> RECOVERING margin, RECOVER, hello t1 open to 2 3, compute check, "
			    "have to 2 3");
	assert_true(driver_report(p, SL_REPORT_RECOVERING)->why.margin.distance == 0.375);
	driver_free(p);
}

/* --- requests --- */

/* Of four: 4 is lost, and only the own masked state is here. */
static struct driver *with_own_state(uint64_t n)
{
	struct driver *p = driver_release(driver_new(4, n));
	play(p, "link down 4\n"
		"check done -> compute check, have 0 to 2 3\n"
		"check failed\n"
		"check failed\n"
		"check failed ->");
	return p;
}

/* One masked state at a time is requested from each. */
CASE(two_holders, with_own_state(4),
     "have 1 2 3 from 2 -> request t1 0 of 2 to 2\n"
     "have 1 2 3 from 3 -> request t1 0 of 3 to 3\n"
     "masked of 3 0 from 3 -> compute fetch, compute check, request t1 0 of 4 to 3\n"
     "fetch done\n"
     "check done -> have 0 2 to 2 3\n"
     "masked of 2 0 from 2 -> compute fetch, compute check")

CASE(a_wrong_masked_state, with_own_state(4),
     "have 3 from 2 -> request t1 0 of 4 to 2\n"
     "have 3 from 3 ->\n" /* it is requested already */
     "masked of 4 0 from 2\n"
     "fetch done\n"
     "check failed -> request t1 0 of 4 to 3\n" /* not from 2 again */
     "masked of 4 0 from 3\n"
     "fetch done\n"
     "check done -> have 0 3 to 2 3")

CASE(no_answer, with_own_state(4),
     "have 3 from 2 -> request t1 0 of 4 to 2\n"
     "have 3 from 3\n"
     "due +10000\n"
     "deadline +9999 ->\n"
     "deadline +1 -> *request t1 0 of 4 to 3*\n"
     "masked of 4 0 from 2 -> drop\n" /* too late */
     "link down 3 -> compute check\n"
     "check failed ->")

/* A slot that is partly fetched is checked again: another holder may have brought the rest. */
CASE(a_holder_is_lost, with_own_state(4),
     "have 3 from 2 3\n"
     "link down 2 -> compute check\n"
     "check failed -> request t1 0 of 4 to 3\n"
     "link up 2 -> hello t1 open to 2, have 0 to 2, *")

/* SL_WINDOW chunks are requested ahead. */
CASE(window, with_own_state(MANY),
     "have 1 from 2 -> request t1 0 of 2 to 2, request t1 1 of 2 to 2, request t1 2 of 2 to 2, request t1 3 "
     "of 2 to 2\n"
     "masked of 2 0 from 2 -> compute fetch, request t1 4 of 2 to 2\n"
     "masked of 2 1 from 2 -> compute fetch, request t1 5 of 2 to 2\n"
     "masked of 2 2 from 2 -> compute fetch\n"
     "masked of 2 3 from 2 -> compute fetch\n"
     "masked of 2 4 from 2 -> compute fetch\n"
     "masked of 2 5 from 2 -> compute fetch, compute check")

CASE(rejected_chunks, with_own_state(MANY),
     "masked of 2 0 from 2 -> drop\n" /* not requested */
     "have 1 from 2\n"
     "masked of 3 0 from 2 -> drop\n"
     "masked of 2 0 from 3 -> drop\n"
     "masked of 2 1 from 2 -> REJECTED 2: a masked state out of order, drop\n"
     "masked of 2 0 from 2 -> drop\n" /* not before 2 sends Have again */
     "have 1 from 2 -> request t1 0 of 2 to 2, *")

CASE(size_of_a_chunk, with_own_state(4),
     "have 1 from 2\n"
     "masked of 2 0 size -1 from 2 -> REJECTED 2: a masked state of the wrong size, drop\n"
     "have 1 from 2\n"
     "masked of 2 0 size +1 from 2 -> REJECTED 2: a masked state of the wrong size, drop")

/* Only the owners of masked states that no linked participant has are reported as missing. */
CASE(missing_owners, with_own_state(4),
     "have 1 from 2\n"
     "have 2 from 3\n"
     "deadline +9999 ->\n"
     "masked of 2 0 from 2\n"
     "masked of 3 0 from 3\n"
     "deadline +1 -> WAITING 4")

/* --- answers --- */

TEST(answers)
{
	struct driver *p = driver_ready_without_4();
	play(p, "request 0 of 1 a1 from 2 ->\n"
		"ready from 2 3\n"
		"request 0 of 1 a1 from 2 ->\n" /* not before the release is durable */
		"durable released\n"
		"have 0 from 4 -> REJECTED 4: says that it holds masked states of a view that it is not in\n"
		"link down 3 -> RECOVERING link 3, RECOVER, hello t1 open to 2 4, compute check, have to 2\n"
		"request 0 of 1 a1 from 2 ->\n" /* not verified yet */
		"check done -> compute check, have 0 to 2\n"
		"request 0 of 1 a1 from 2 -> masked of 1 0 to 2");
	assert_int_equal(driver_sent(p, SL_MSG_MASKED)->chunk.size, 5 * p->view->field.bytes);
	play(p, "request 0 of 1 a1 from 4 ->\n"	   /* 4 is no participant */
		"request 0 of 2 a1 from 2 ->\n"	   /* not held */
		"request 0 of 4 a1 from 2 ->\n"	   /* there is none */
		"request 0 of 9 a1 from 2 ->\n"	   /* not in the roster */
		"request 1 of 1 a1 from 2 ->\n"	   /* there is one chunk */
		"request 0 of 1 a2 from 2 ->\n"	   /* another attempt */
		"request t2 0 of 1 a1 from 2 ->"); /* another round */
	driver_free(p);
}

CASE(haves_that_do_not_count, driver_release(driver_new(3, 4)),
     "have 0 1 2 v238 from 2 ->\n"
     "have 0 1 2 t2 from 2 ->\n"
     "have 0 1 2 size +1 from 2 -> REJECTED 2: says that it holds masked states of a view that it is not in")

/* --- Aborts --- */

TEST(abort_in_ready)
{
	struct driver *p = driver_ready_without_4();
	play(p, "abort of 4 a1 from 4 -> abort of 4 a1 to 2 3\n"	    /* no participant */
		"abort of 3 a1 released 1 from 3 -> abort of 3 a1 to 2 4\n" /* it did release */
		"abort of 2 a1 from 3 -> FAILED aborted 2, persist aborted t1 a1, wipe, DISCOVER, links 2 3 "
		"4, hello t1 ready to 2 3 4, abort of 2 a1 to 2 4\n"
		"durable aborted -> abort of 1 a1 to 2 3 4");
	assert_int_equal(driver_sent(p, SL_MSG_ABORT)->abort.count, 0);
	driver_free(p);
}

CASE(aborts_that_do_not_count, driver_agree(driver_new(3, 4)),
     "abort of 2 t2 a5 from 2 -> abort of 2 a5 to 3\n" /* of a later round */
     "abort of 3 t0 a5 from 2 ->\n"
     "abort of 1 a5 from 2 ->\n" /* in this learner's name */
     "abort of 9 a5 from 2 ->\n"
     "analysis done -> VIEW, SHARE, compute encode")

CASE(prepare_timeout, driver_ready(driver_new(3, 4)),
     "ready from 2\n"
     "deadline +10000 -> WAITING 3\n"
     "deadline +49999 -> WAITING 3\n"
     "deadline +1 -> FAILED stalled 3, persist aborted t1 a1, SUSPECT 3, wipe, DISCOVER, links 2 3, hello t1 "
     "ready to "
     "2 3, AGREE, link state of 1 a2 to 2 3\n"
     "durable aborted -> abort of 1 a1 to 2 3\n"
     "ready of 3 a1 from 3 -> ready of 3 a1 to 2") /* too late */

/* With c + 1 participants that never released, one of them is honest: the model was not shown. */
TEST(closed_and_reused)
{
	struct driver *p = verified();
	play(p,
	     "abort of 2 a1 from 2 ->\n" /* the others have a moment to abort, too */
	     "due +2000\n"
	     "abort of 3 a1 from 2 -> CLOSED, persist closed t1 a1, persist aborted t1 a1, wipe, DISCOVER, "
	     "links 2 3, hello t1 ready to 2, AGREE, link state of 1 a2 to 2");
	assert_int_equal(driver_report(p, SL_REPORT_CLOSED)->peer, 1);
	play(p, "durable closed ->\n"
		"request 0 of 1 a1 from 2 ->");
	driver_free(p);
}

CASE(model_invalidated, verified(),
     "abort of 2 a1 released 1 from 2 ->\n" /* proves nothing */
     "deadline +5000 ->\n"
     "abort of 2 a2 released 2 from 2 ->\n"
     "abort of 2 a3 released 2 from 2 ->\n" /* two Aborts of one signer count once */
     "deadline +1999 ->\n"
     "deadline +1 -> CLOSED, persist closed t1 a1, persist aborted t1 a1, wipe, INVALIDATED, TRAIN, train t1 "
     "draw 1, hello t1 training to 2")

/* An Abort of a later attempt does not deny the earlier release. */
TEST(released_is_listed)
{
	struct driver *p = recovering();
	play(p, "abort of 2 a1 from 2\n"
		"abort of 3 a1 from 2 -> *AGREE, link state of 1 a2 to 2*\n"
		"late check done\n"
		"link state a2 names 1 from 2 -> *compute analysis*\n"
		"analysis done\n"
		"link down 2 -> FAILED link 2, persist aborted t1 a2, wipe, DISCOVER, links 2 3\n"
		"durable aborted ->\n"
		"link up 2 -> *abort of 1 a2 to 2*");
	const struct sl_abort *sent = &driver_sent(p, SL_MSG_ABORT)->abort;
	assert_int_equal(sent->count, 1);
	assert_int_equal(sent->released[0], 1);
	driver_free(p);
}

CASE(closed_elsewhere_in_ready, driver_ready(driver_new(3, 4)),
     "abort a1 released 1 closed 1 from 2 -> FAILED aborted 2, persist aborted t1 a1, *")

/* A released attempt is over when all other participants have closed it. */
CASE(closed_elsewhere, recovering(),
     "abort a1 released 1 closed 1 from 2\n"
     "deadline +5000 ->\n"
     "abort of 3 a1 released 1 closed 1 from 2\n"
     "deadline +2000 -> CLOSED, *")

TEST(operator_abort)
{
	struct driver *p = verified();
	play(p, "abort a1 from 2\n" /* without the wait for other Aborts: */
		"operator abort -> CLOSED, persist closed t1 a1, persist aborted t1 a1, wipe, INVALIDATED, "
		"TRAIN, train t1 draw 1, hello t1 training to 2");
	assert_int_equal(driver_report(p, SL_REPORT_CLOSED)->peer, SL_NOBODY);
	play(p, "operator abort -> invalid\n"
		"durable aborted -> *abort of 1 a1 to 2*");
	const struct sl_abort *sent = &driver_sent(p, SL_MSG_ABORT)->abort;
	assert_true(sent->count == 1 && sent->released[0] == 1 && sent->closed == 1);
	driver_free(p);
}

/* --- restarts --- */

/* What the disk keeps of the first incarnation. */
static struct {
	uint8_t view[1024];
	struct sl_ready readys[3];
	struct sl_open open;
} kept;

static void keep(const struct driver *p)
{
	const struct sl_persist *persist = &p->actions.items[0].persist;
	assert_int_equal(p->actions.items[0].kind, SL_ACTION_PERSIST);
	if (persist->what.kind == SL_PERSIST_PREPARED) {
		memcpy(kept.view, persist->view, persist->view_bytes);
		kept.open.view_bytes = persist->view_bytes;
	}
	memcpy(kept.readys, persist->readys, persist->ready_count * sizeof *kept.readys);
	kept.open.released = persist->what.kind == SL_PERSIST_RELEASED;
	kept.open.a = 1;
	kept.open.view = kept.view;
	kept.open.readys = kept.readys;
	kept.open.ready_count = persist->ready_count;
}

/* Play one incarnation until PREPARED or RELEASED is recorded; return the next one. */
static struct driver *restarted(bool released)
{
	struct driver *p = driver_share(driver_new(3, 4)), *next = driver_new(3, 4);
	play(p, "share 0 from 2 3\n"
		"gather done\n"
		"gather done\n"
		"commitment done");
	keep(p);
	play(p, "durable prepared\n"
		"ready from 2 3");
	if (released)
		keep(p);
	next->config.incarnation = 2;
	next->config.open = &kept.open;
	next->config.released_count = released;
	next->config.released[0] = 1;
	memcpy(next->h, p->h, SL_HASH_BYTES);
	driver_free(p);
	return next;
}

TEST(restart_prepared)
{
	struct driver *p = restarted(false);
	play(p, "start -> links 2 3, RESUMED, READY\n"
		"link up 2 -> hello t1 ready to 2, ready of 1 a1 to 2");
	assert_memory_equal(&driver_sent(p, SL_MSG_READY)->ready, &kept.readys[0], sizeof kept.readys[0]);
	play(p, "link up 3\n"
		"ready from 2\n"
		"ready of 3 a1 from 3 -> persist released t1 a1, RELEASE, ready of 3 a1 to 2\n"
		/* the shares are gone: it cannot mix */
		"durable released -> RECOVERING restarted, RECOVER, hello t1 open to 2 3, compute check, "
		"have to "
		"2 3\n"
		"check done -> compute check, have 0 to 2 3");
	driver_free(p);
}

TEST(restart_prepared_and_aborted)
{
	struct driver *p = restarted(false);
	play(p, "link up 2\n"
		"abort of 3 a1 from 2 -> FAILED aborted 3, persist aborted t1 a1, wipe, TRAIN, train t1 draw "
		"0, hello t1 training to 2\n"
		"durable aborted -> abort of 1 a1 to 2");
	assert_int_equal(driver_sent(p, SL_MSG_ABORT)->abort.incarnation, 2);
	assert_int_equal(driver_status(p).released, 0);
	driver_free(p);
}

CASE(restart_released, restarted(true),
     "start -> links 2 3, RESUMED, RECOVER, compute check\n"
     "link up 2 -> hello t1 open to 2, have to 2, ready of 1 a1 to 2, ready of 2 a1 to 2, ready of 3 a1 to "
     "2\n"
     "check done -> compute check, have 0 to 2\n" /* from the state file */
     "check done -> compute check, have 0 1 to 2\n"
     "check failed ->\n"
     "have 0 1 2 from 2 -> request t1 0 of 3 to 2\n"
     "masked of 3 0 from 2 -> compute fetch, compute check\n"
     "fetch done\n"
     "check done -> compute sum, have 0 1 2 to 2\n"
     "sum done -> RECOVERED, CONFIRM, digest to 2 3")

/* There is no model to invalidate. */
TEST(restart_released_and_closed)
{
	struct driver *p = restarted(true);
	play(p, "link up 2\n"
		"abort of 3 a1 from 2 -> CLOSED, persist closed t1 a1, persist aborted t1 a1, wipe, TRAIN, "
		"train t1 "
		"draw 0, hello t1 training to 2");
	assert_int_equal(driver_status(p).released, 1); /* the lost model may not come back */
	driver_free(p);
}

CASE(restart_after_the_others_committed, restarted(true),
     "link up 2\n"
     "hello t2 done from 2 ->\n"
     "check done -> CATCHUP, request t0 0 to 2")

TEST(restart_with_a_damaged_view)
{
	struct driver *p = restarted(false);
	kept.view[SL_VIEW_HEAD_BYTES] ^= 2; /* another member */
	play(p, "start -> links 2 3, persist aborted t1 a1, train t1 draw 0");
	driver_free(p);
}

/* Aborts on record are sent again, and no attempt number is used twice. */
TEST(restart_with_aborts)
{
	struct driver *p = driver_new(2, 4);
	p->config.aborted = 5;
	p->config.released_count = 2;
	p->config.released[0] = 2;
	p->config.released[1] = 4;
	play(p, "start -> links 2, train t1 draw 0\n"
		"link up 2 -> hello t1 training to 2, abort of 1 a5 to 2");
	const struct sl_abort *sent = &driver_sent(p, SL_MSG_ABORT)->abort;
	assert_true(sent->count == 2 && sent->released[0] == 2 && sent->released[1] == 4);
	play(p, "hello t1 ready from 2\n"
		"trained -> *AGREE, link state of 1 a6 to 2*");
	driver_free(p);
	p = driver_new(2, 4); /* released beyond what was aborted */
	p->config.aborted = 1;
	p->config.released_count = 1;
	p->config.released[0] = 4;
	play(p, "link up 2 -> *abort of 1 a1 to 2");
	assert_int_equal(driver_sent(p, SL_MSG_ABORT)->abort.count, 0);
	play(p, "hello t1 ready from 2\n"
		"trained -> *AGREE, link state of 1 a5 to 2*");
	driver_free(p);
}

/* --- pending aborts --- */

/* Other learners count on an earlier incarnation that left no record: it had not sent its Ready. */
TEST(abort_pending)
{
	struct driver *p = driver_new(3, 4);
	play(p, "link up 2\n"
		"ready of 3 a2 from 2 -> persist aborted t1 a2\n"
		"durable aborted -> abort of 1 a2 to 2");
	assert_int_equal(driver_sent(p, SL_MSG_ABORT)->abort.count, 0);
	play(p, "ready of 2 a1 from 2 ->\n" /* aborted already */
		"ready of 2 a2 from 2 ->\n"
		"ready of 1 a1 from 2 ->\n"
		"ready of 2 t2 a1 from 2 ->\n" /* of another round */
		"hello t1 ready from 2\n"
		"link down 3\n"
		"trained -> *AGREE, link state of 1 a3 to 2*\n"
		"link state a3 names 1 from 2\n"
		"analysis done\n"
		"link state a4 names 1 from 2 -> *FAILED superseded 2, persist aborted t1 a3*\n"
		"durable aborted -> abort of 1 a3 to 2*");
	assert_int_equal(driver_sent(p, SL_MSG_ABORT)->abort.count, 0);
	driver_free(p);
}

/* In READY the own Ready stands; the abort is recorded when that attempt has ended. */
TEST(abort_pending_in_ready)
{
	struct driver *p = driver_ready(driver_new(3, 4));
	play(p, "ready of 2 a3 v9 from 2 -> ready of 2 a3 to 3\n"
		"abort a1 from 2 -> FAILED aborted 2, persist aborted t1 a1, wipe, DISCOVER, *persist "
		"aborted t1 a3*");
	assert_int_equal(driver_status(p).a, 4);
	driver_free(p);
}

/* No abort is pending in a round that this incarnation has seen from its beginning. */
TEST(no_abort_pending)
{
	struct driver *p = driver_new(2, 4);
	p->config.parameters.rounds = 2;
	driver_commit(p);
	play(p, "ready of 2 t2 a3 v9 from 2 ->");
	driver_free(p);
}

/* The store takes no Abort of a round that is committed. */
CASE(no_abort_after_the_commit, driver_new(2, 4),
     "link state a2 from 2\n" /* its first attempt was with others */
     "link up 2\n"
     "hello t1 ready from 2\n"
     "trained\n"
     "analysis done\n"
     "encode done\n"
     "share done\n"
     "share 0 from 2\n"
     "gather done\n"
     "commitment done\n"
     "durable prepared\n"
     "ready from 2\n"
     "durable released\n"
     "state 0 k0 from 2\n"
     "mix done\n"
     "state 0 k1 from 2\n"
     "mix done\n"
     "state 0 k2 from 2\n"
     "mix done\n"
     "close done\n"
     "digest a1 from 2 -> COMMIT, compute decode, persist commit t1 a2\n"
     "ready of 1 a1 v9 from 2 ->")

/* The own Ready comes back, but is not on record: the record was lost, and the attempt counts as released. */
TEST(own_ready_comes_back)
{
	struct driver *p = driver_new(3, 4);
	play(p, "link up 2\n"
		"ready of 1 a2 from 2 -> persist aborted t1 a2\n"
		"ready of 3 a2 from 2 ->\n"
		"ready of 3 a3 from 2 -> persist aborted t1 a3\n"
		"durable aborted -> abort of 1 a3 to 2");
	const struct sl_abort *sent = &driver_sent(p, SL_MSG_ABORT)->abort;
	assert_int_equal(sent->count, 1);
	assert_int_equal(sent->released[0], 2);
	driver_free(p);
}
