/* From the shares to the end of an attempt: what is durable first, when a prepared attempt is aborted, and
 * how a released one is finished without mixing (ROUND.md §7.11 Ready, §7.12 Release, §10 Recovery). */
#include "common/core/held.h"
#include "common/core/penalty.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

/* --- what is durable first --- */

TEST(ready_is_durable)
{
	struct driver *p = driver_share(driver_new(3, 4));
	play(p, "key share from 2 3\n"
		"share 0 from 2 3\n"
		"gather done\n"
		"gather done\n"
		"deposit done -> deposit of 1 0 to 2 3\n"
		"deposit 0 of 2 from 2 -> compute fetch\n"
		"deposit 0 of 3 from 3 -> compute fetch, READY, compute commitment\n"
		"fetch done\n"
		"fetch done\n"
		"commitment done -> persist prepared t1 a1");
	const struct sl_persist *persist = &p->actions.items[0].persist;
	assert_int_equal(persist->ready_count, 1);
	assert_int_equal(persist->readys[0].id, 1);
	assert_int_equal(persist->readys[0].deposit[0], 7);
	assert_int_equal(persist->secrets->count, 2); /* the key shares of both neighbours */
	assert_true(persist->secrets->shares[0].size > 0 && persist->secrets->shares[1].size > 0);
	play(p, "ready of 2 a1 from 2 -> ready of 2 a1 to 3\n"
		"ready of 3 a1 from 3 -> ready of 3 a1 to 2\n"
		"deadline +60000 ->\n" /* the time of READY has not begun */
		"durable prepared -> compute check, ready of 1 a1 to 2 3");
	driver_free(p);
}

/* The key leaves after the record, and that is made after all checks. */
TEST(release_is_durable)
{
	struct driver *p = driver_ready(driver_new(3, 4));
	play(p, "ready from 2\n"
		"ready of 3 a1 from 3 -> ready of 3 a1 to 2\n"
		"check done -> compute check\n"
		"check done -> persist released t1 a1, RELEASE");
	const struct sl_persist *persist = &p->actions.items[0].persist;
	assert_int_equal(persist->ready_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(persist->readys[i].id, i + 1);
	play(p, "key from 2 3 ->\n" /* their disks were faster */
		"deadline +60000 ->\n"
		"durable released -> key of 1 to 2 3, MIX, compute mix\n"
		"mix done -> state 0 k1 to 2 3");
	driver_free(p);
}

/* --- a prepared attempt is aborted --- */

CASE(a_wrong_deposit, driver_ready(driver_new(3, 4)),
     "ready from 2 3\n"
     "check done\n"
     "check failed -> persist aborted t1 a1, RECOVERING bad deposit 3, PENALTY 3, RECOVER, *")

CASE(a_ready_is_missing, driver_ready(driver_new(3, 4)),
     "ready from 2 -> compute check, ready of 2 a1 to 3\n"
     "check done\n"
     "deadline +59999 -> WAITING 3\n"
     "deadline +1 -> persist aborted t1 a1, RECOVERING stalled 3, PENALTY 3, RECOVER, hello t1 open to 2 3, "
     "have 0 1 "
     "keys to 2 3\n"
     "durable aborted -> abort of 1 a1 to 2 3")

/* An Abort that names no Ready proves that the attempt is over, until the Ready comes. */
CASE(a_proof_is_taken_away, driver_ready(driver_new(3, 4)),
     "abort of 3 a1 from 3 -> persist aborted t1 a1, RECOVERING aborted 3, RECOVER, *\n"
     "durable aborted\n"
     "due +2000\n"
     "ready of 3 a1 from 3 -> EVIDENCE 3*\n"
     "due +10000")

/* .. and who signed both is left out. */
TEST(a_proof_is_a_penalty)
{
	struct driver *p = driver_ready(driver_new(3, 4));
	play(p, "abort of 3 a1 from 3\n"
		"ready of 3 a1 from 3 -> EVIDENCE 3*");
	assert_in_range(p->core->peers[2].penalty.until, 4, 64);
	driver_free(p);
}

/* Only if its Ready is missing; it may have come by another way. */
CASE(a_link_is_lost, driver_ready(driver_new(3, 4)),
     "link down 3 ->\n"
     "deadline +1999 ->\n"
     "deadline +1 -> persist aborted t1 a1, RECOVERING link 3, RECOVER, hello t1 open to 2, *")

CASE(a_link_comes_back, driver_ready(driver_new(3, 4)),
     "link down 3 ->\n"
     "deadline +1000 ->\n"
     "link up 3 -> *ready of 1 a1 to 3*\n"
     "deadline +1000 ->\n"
     "ready from 2 3\n"
     "check done\n"
     "check done -> persist released t1 a1, RELEASE")

/* With another disk: it has forgotten the attempt, and no Ready of it will come. */
CASE(a_link_comes_back_and_abstains, driver_ready(driver_new(3, 4)),
     "link down 3 ->\n"
     "deadline +1000 ->\n"
     "link up 3 -> *ready of 1 a1 to 3*\n"
     "hello t1 abstains from 3 ->\n"
     "deadline +999 ->\n"
     "deadline +1 -> persist aborted t1 a1, RECOVERING link 3, RECOVER, *")

CASE(a_peer_that_abstains_is_not_needed, driver_ready(driver_new(3, 4)),
     "hello t1 abstains from 3 ->\n"
     "deadline +1000 ->\n"
     "ready from 2\n"
     "ready of 3 a1 from 2\n"
     "check done\n"
     "check done -> persist released t1 a1, RELEASE")

CASE(a_link_is_not_needed, driver_ready(driver_new(3, 4)),
     "link down 3\n"
     "ready of 3 a1 from 2\n"
     "ready from 2\n"
     "check done\n"
     "check done -> persist released t1 a1, RELEASE")

/* The attempt is over by one Abort without a Ready; the own one may save the models. */
CASE(another_aborts, driver_ready(driver_new(4, 4)),
     "ready from 2 3\n"
     "abort of 4 a1 from 2 -> persist aborted t1 a1, RECOVERING aborted 4, RECOVER, hello t1 open to 2 3 4, "
     "denial of 4 a1 to 3 4\n"
     "durable aborted -> abort of 1 a1 to 2 3 4\n"
     "deadline +2000 -> OVER, persist over t1 a1, wipe, INVALIDATED, TRAIN, *")

/* An Abort that names a Ready is not replaced by one that names none. */
TEST(a_second_abort_denies_the_ready)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	play(p, "ready from 2 3\n"
		"abort of 4 r1 a1 from 2 -> persist aborted t1 a1, *\n"
		"durable aborted\n"
		"abort of 4 a1 from 2\n"
		"deadline +2000");
	assert_false(driver_says(p, "OVER"));
	driver_free(p);
}

CASE(all_abort, driver_ready(driver_new(5, 4)),
     "ready from 2 3 4\n"
     "abort of 5 a1 from 2 -> persist aborted t1 a1, *\n"
     "abort of 2 r1 a1 from 2\n"
     "abort of 3 r1 a1 from 3\n"
     "abort of 4 r1 a1 from 4 -> *OVER, persist over t1 a1, wipe, DISCOVER*") /* with the same model */

/* --- mixing ends --- */

CASE(a_link_is_lost_in_mix, driver_release(driver_new(3, 4)),
     "key from 3\n"
     "link down 3 -> RECOVERING link 3, RECOVER, hello t1 open to 2, have 0 1 2 keys "
     "0 2 to 2\n"
     "key of 2 from 2 -> have 0 1 2 keys 0 1 2 to 2, compute sum\n"
     "sum done -> RECOVERED, CONFIRM, persist signs t1 a1\n"
     "durable signs -> digest to 2\n"
     "digest from 2 -> COMMIT, compute accept, persist commit t1 a1")

/* With 2 gone and the give-up of 3, the Digest of 1 might be one too few for ever; 1 gives up with them. */
CASE(beside_a_give_up, driver_release(driver_new(3, 4)),
     "key from 2\n"
     "link down 2 -> RECOVERING link 2, RECOVER, *\n"
     "abort of 3 g2 a1 from 3\n"
     "key of 3 from 3 -> have 0 1 2 keys 0 1 2 to 3\n"
     "abort of 2 g4 a1 from 3\n"
     "deadline +10000\n"
     "deadline +10000 -> persist given up t1 a1, *")
/* .. and signs if 2 is in reach, or comes back. */
CASE(in_reach_beside_a_give_up, driver_release(driver_new(3, 4)),
     "key from 2\n"
     "link down 2 -> RECOVERING link 2, RECOVER, *\n"
     "abort of 3 g2 a1 from 3\n"
     "key of 3 from 3 -> have 0 1 2 keys 0 1 2 to 3\n"
     "link up 2 -> *compute sum*")
/* A give-up may come while the sum is computed. */
CASE(a_give_up_during_the_sum, driver_release(driver_new(3, 4)),
     "key from 2\n"
     "link down 2 -> RECOVERING link 2, RECOVER, *\n"
     "key of 3 from 3 -> have 0 1 2 keys 0 1 2 to 3, compute sum\n"
     "abort of 3 g2 a1 from 3\n"
     "sum done -> RECOVERED")

/* A participant that recovers may lie: this one goes on while anything comes. */
CASE(another_recovers, driver_release(driver_new(3, 4)),
     "have 0 1 from 2 ->\n"
     "have 0 1 2 from 2 ->\n"
     "deadline +1999 ->\n"
     "key from 3 ->\n"
     "deadline +1999 ->\n"
     "deadline +1 -> RECOVERING joined 2, RECOVER, hello t1 open to 2 3, key of 3 to "
     "2, have 0 1 2 keys 0 2 to 2 3")

/* Of two one is honest, and mixes no more. */
CASE(more_than_c_recover, driver_release(driver_new(3, 4)),
     "have 0 1 from 2 ->\n"
     "have 0 2 from 3 -> RECOVERING joined 2, RECOVER, hello t1 open to 2 3, have 0 "
     "1 2 keys 0 to 2 3")

/* The others were about to recover for the same silence. */
CASE(another_recovers_late, driver_release(driver_new(3, 4)),
     "key from 3\n"
     "deadline +5000 ->\n"
     "have 0 1 from 3 ->\n"
     "deadline +1999 ->\n"
     "deadline +1 -> RECOVERING stalled 2, *")

CASE(stall_in_mix, driver_release(driver_new(3, 4)),
     "key from 3\n"
     "deadline +9999 ->\n"
     "deadline +1 -> RECOVERING stalled 2, RECOVER, hello t1 open to 2 3, *")

CASE(a_link_is_lost_in_check, driver_mix(driver_new(3, 4)),
     "close done -> challenge of 1 to 2 3\n"
     "link down 3 -> RECOVERING link 3, RECOVER, hello t1 open to 2, have 0 1 2 keys "
     "0 1 2 to 2, compute sum")

/* Rounding came near to another sum: the deposits decide. */
TEST(a_narrow_margin)
{
	struct driver *p = driver_mix(driver_new(3, 4));
	struct sl_job_result close = {.kind = SL_JOB_CLOSE, .epoch = p->epoch, .total = 3, .real = 0.375};
	const char *then = driver_step(p, (struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &close});
	assert_non_null(strstr(then, "RECOVERING margin, RECOVER, "));
	driver_free(p);
}

/* Without any weight there is no mean. */
TEST(no_weight)
{
	for (uint64_t total = 0; total <= 1; total++) {
		struct driver *p = driver_new(3, 4);
		p->config.parameters.max_weight = 2;
		driver_mix(p);
		struct sl_job_result close = {.kind = SL_JOB_CLOSE, .epoch = p->epoch, .total = total};
		const char *then =
			driver_step(p, (struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &close});
		assert_int_equal(strstr(then, "RECOVERING weightless") != NULL, total == 0);
		driver_free(p);
	}
}

/* --- keys --- */

/* 4 is lost, and nobody has its key: theta is 2 of 3. */
CASE(openings, driver_release(driver_new(4, 4)),
     "key from 2 3\n"
     "link down 4 -> RECOVERING link 4, RECOVER, hello t1 open to 2 3, have 0 1 2 3 "
     "keys 0 1 2 to 2 3\n"
     "have 0 1 2 3 keys 0 1 2 from 2 ->\n"
     "deadline +9999 ->\n"
     "deadline +1 -> opening of 4 by 1 to 2, WAITING 4\n"
     "opening of 4 x1 by 3 from 3 -> REJECTED 3: an opening that its owner did not sign for\n"
     "opening of 4 by 1 from 2 ->\n" /* the own one */
     "opening of 4 by 3 from 3 -> key of 4 to 2, have 0 1 2 3 keys 0 1 2 3 to 2 3, compute sum")

/* The shares are those that 4 signed for, and give another key than the one that it signed for: it has lied.
 */
TEST(false_key_shares)
{
	struct driver *p = driver_release(driver_new(4, 4));
	p->core->at.readys[3].key_hash[0] ^= 1;
	play(p,
	     "key from 2 3\n"
	     "link down 4 -> RECOVERING link 4, *\n"
	     "have 0 1 2 3 keys 0 1 2 from 2\n"
	     "deadline +10000 -> opening of 4 by 1 to 2, *\n"
	     "opening of 4 by 3 from 3 -> REJECTED 4: key shares that do not give the deposit key it signed "
	     "for*");
	assert_true(sl_penalty_out(p->core, 3));
	driver_free(p);
}

/* After an Abort of its owner a key is opened at once. */
CASE(opened_after_an_abort, driver_release(driver_new(4, 4)),
     "link down 4\n"
     "abort of 4 r1 a1 from 2 -> abort of 4 a1 to 3\n"
     "opening of 4 by 3 from 2 -> have 0 1 2 3 keys 0 3 to 2 3\n"
     "key of 3 from 2\n"
     "key of 2 from 2 -> *compute sum")

/* In MIX each key is from its owner. */
#define UNASKED "REJECTED 2: shows the key or key share of another without a request\n"
CASE(keys_of_others_in_mix, driver_release(driver_new(3, 4)),
     "key of 3 from 2 -> " UNASKED "opening of 3 by 2 from 2 -> " UNASKED
     "opening of 3 by 1 from 2 -> " UNASKED "key from 2 ->\n"
     "key from 3 -> compute mix")

/* A bound learner opens nothing, and its key stays here. */
TEST(bound_learners_open_nothing)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	play(p, "ready from 2 3 4\n"
		"check failed -> *persist aborted t1 a1, RECOVERING bad deposit 2, *\n"
		"durable aborted\n"
		"key from 2\n"
		"have 0 keys from 3 -> key of 2 to 3\n"
		"abort of 4 r1 a1 from 3");
	for (int time = 0; time < 4; time++) {
		assert_false(driver_says(p, "opening") || driver_says(p, "key of 1"));
		play(p, "deadline +10000");
	}
	driver_free(p);
}

/* Others may have the openings of its key from it alone. */
CASE(a_bound_learner_passes_on_its_openings, driver_ready(driver_new(4, 4)),
     "ready from 2 3 4\n"
     "check failed -> *persist aborted t1 a1, RECOVERING bad deposit 2, *\n"
     "durable aborted\n"
     "opening of 1 by 2 from 2 ->\n"
     "opening of 1 by 4 from 2 -> have 0 keys 0 to 2 3 4\n"
     "have 0 keys from 3 -> opening of 1 by 2 to 3, opening of 1 by 4 to 3")

/* A key that cannot be checked is ignored, and it is sent over a link only once: its Ready goes first. */
TEST(a_key_follows_its_ready)
{
	struct driver *p = driver_ready(driver_new(4, 4));
	play(p, "ready from 2 3 4\n"
		"check failed -> *RECOVER*\n"
		"durable aborted\n"
		"key from 2");
	sl_held_set(p->core, SL_MSG_READY, 1, 2, false); /* the flood leaves it to 2 for half a second */
	play(p, "have 0 keys from 3 -> ready of 2 a1 to 3, key of 2 to 3");
	driver_free(p);
}

/* --- deposits --- */

/* By forest this learner keeps the deposit of 4 only. 4 is lost. */
static struct driver *by_forest(uint64_t n)
{
	struct driver *p = driver_new(4, n);
	p->config.parameters.mixing = SL_ENGINE_FOREST;
	p->analysis.depth = 1;
	p->analysis.trees = 1;
	for (uint32_t i = 0; i < 4; i++)
		p->analysis.parent[i] = 1;
	memcpy(p->analysis.keeper, (const uint32_t[]){1, 2, 1, 0}, 4 * sizeof(uint32_t));
	driver_release(p);
	play(p, "link down 4 -> RECOVERING link 4, RECOVER, hello t1 open to 2 3, "
		"have 0 3 keys 0 to 2 3");
	return p;
}

/* Both holders are asked, each for another one; a wrong deposit is not requested there again. */
TEST(two_holders)
{
	struct driver *p = by_forest(4);
	play(p, "have 0 1 2 keys 0 1 2 3 from 2 -> request t1 0 of 2 to 2\n"
		"have 1 2 keys 0 from 3 -> request t1 0 of 3 to 3\n"
		"key of 2 from 2 -> key of 2 to 3, have 0 3 keys 0 1 to 2 3\n"
		"key of 3 from 2 -> key of 3 to 3, have 0 3 keys 0 1 2 to 2 3\n"
		"key of 4 from 2 -> key of 4 to 3, have 0 3 keys 0 1 2 3 to 2 3\n"
		"deposit 0 of 2 from 2 -> compute fetch, compute check\n"
		"fetch done\n"
		"check failed ->\n"
		"deposit 0 of 3 from 3 -> compute fetch, compute check, request t1 0 of 2 to 3\n"
		"fetch done\n"
		"check done -> have 0 2 3 keys 0 1 2 3 to 2 3\n"
		"deposit 0 of 2 from 3 -> compute fetch, compute check\n"
		"fetch done\n"
		"check done -> have 0 1 2 3 keys 0 1 2 3 to 2 3, compute sum\n"
		"sum done -> RECOVERED, CONFIRM, persist signs t1 a1\n"
		"durable signs -> digest to 2 3\n"
		"request 0 of 3 a1 from 2 -> deposit of 3 0 to 2"); /* 2 may still need it */
	driver_free(p);
}

/* A chunk of another deposit, or of none that was asked for, is not taken. */
CASE(a_deposit_of_another_owner, by_forest(4),
     "have 1 2 from 2 -> request t1 0 of 2 to 2\n"
     "deposit 0 of 3 from 2 -> drop\n"
     "deposit 0 of 2 from 2 -> compute fetch, compute check, request t1 0 of 3 to 2")

/* Sets of another size than the view's. */
TEST(a_have_of_another_size)
{
	static const uint8_t all[2] = {0xff, 0xff};
	struct driver *p = by_forest(4);
	struct sl_message have = {
		.kind = SL_MSG_HAVE,
		.have = {.t = 1, .a = 1, .held = all, .size = 2, .keys = all, .keys_size = 2}};
	memcpy(have.have.view, p->view->h, SL_HASH_BYTES);
	const char *said =
		driver_step(p, (struct sl_event){.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &have});
	assert_non_null(strstr(said, "REJECTED 2: says that it holds deposits"));
	driver_free(p);
}

/* What a peer had may be lost when its link comes up again: it says so anew. */
TEST(a_have_ends_with_its_link)
{
	struct driver *p = by_forest(4);
	play(p, "have 1 from 2 3\n"
		"link down 3\n"
		"link up 3\n"
		"link down 2 -> compute check\n"
		"check failed");
	assert_false(driver_says(p, "request"));
	driver_free(p);
}

CASE(no_answer, by_forest(4),
     "have 1 from 2 -> request t1 0 of 2 to 2\n"
     "have 1 from 3 ->\n"
     "deadline +9999 ->\n"
     "deadline +1 -> request t1 0 of 2 to 3, *\n"
     "deposit 0 of 2 from 2 -> drop") /* too late */

/* SHARE took no time. Another one has the deposit, too. */
#define ONE_CHUNK                                                                                            \
	"deadline +9900 ->\n"                                                                                \
	"deposit 0 of 2 from 2 -> compute fetch, request t1 4 of 2 to 2\n"                                   \
	"fetch done\n"

CASE(a_slow_holder, by_forest((SL_WINDOW + 2) * SL_CHUNK_ELEMENTS - 1),
     "have 1 from 2\n"
     "have 1 from 3\n" ONE_CHUNK "deadline +99 ->\n"
     "deadline +1 -> request t1 0 of 2 to 3, *")

CASE(the_only_holder, by_forest((SL_WINDOW + 2) * SL_CHUNK_ELEMENTS - 1),
     "have 1 from 2\n" ONE_CHUNK "deadline +9900 -> opening*")

/* A slot that is partly fetched is checked again: another holder may have brought the rest. */
CASE(a_holder_is_lost, by_forest(4),
     "have 1 from 2 3\n"
     "link down 2 -> compute check\n"
     "check failed -> request t1 0 of 2 to 3")

CASE(chunks_out_of_order, by_forest(4),
     "have 1 from 2 -> request t1 0 of 2 to 2\n"
     "deposit 1 of 2 from 2 -> REJECTED 2: a deposit out of order, drop\n"
     "deposit 0 of 2 from 2 -> drop\n"
     "have 1 from 2 -> request t1 0 of 2 to 2\n"
     "deposit 0 size -1 of 2 from 2 -> REJECTED 2: a deposit of the wrong size, drop")

/* A holder that brings false deposits again and again, slowly, does not keep the attempt open for ever. */
TEST(false_deposits_without_end)
{
	struct driver *p = by_forest(4);
	bool stuck = false;
	for (uint32_t k = 0; k < 20 && !stuck; k++) {
		play(p, "have 1 from 3 -> request t1 0 of 2 to 3\n"
			"deadline +9000");
		stuck = driver_says(p, "stuck of 1");
		play(p, "deposit 0 of 2 from 3 -> compute fetch, compute check\n"
			"fetch done\n"
			"check failed");
	}
	assert_true(stuck);
	driver_free(p);
}

/* SL_WINDOW chunks are requested ahead. */
CASE(window, by_forest((SL_WINDOW + 2) * SL_CHUNK_ELEMENTS - 1),
     "have 1 from 2 -> request t1 0 of 2 to 2, request t1 1 of 2 to 2, request t1 2 of 2 to 2, request t1 3 "
     "of 2 to 2\n"
     "deposit 0 of 2 from 2 -> compute fetch, request t1 4 of 2 to 2\n"
     "deposit 1 of 2 from 2 -> compute fetch, request t1 5 of 2 to 2\n"
     "deposit 2 of 2 from 2 -> compute fetch\n"
     "deposit 3 of 2 from 2 -> compute fetch\n"
     "deposit 4 of 2 from 2 -> compute fetch\n"
     "deposit 5 of 2 from 2 -> compute fetch, compute check")

CASE(requests, driver_release(driver_new(4, 4)),
     "link down 4\n"
     "request 0 of 4 a1 from 2 -> deposit of 4 0 to 2\n"
     "request 1 of 4 a1 from 2 ->\n"
     "request 0 of 9 a1 from 2 ->\n"
     "request 0 of 4 a2 from 2 ->")

CASE(only_what_was_verified, by_forest(4),
     "have 1 from 2 -> request t1 0 of 2 to 2\n"
     "request 0 of 2 a1 from 3 ->\n"
     "deposit 0 of 2 from 2\n"
     "fetch done\n"
     "request 0 of 2 a1 from 3 ->\n"
     "check done\n"
     "request 0 of 2 a1 from 3 -> deposit of 2 0 to 3")

/* 4 is in the roster, and not in the view. */
CASE(only_to_participants, driver_release_without_4(),
     "link down 3 -> *RECOVER*\n"
     "request 0 of 1 a1 from 2 -> deposit of 1 0 to 2\n"
     "request 0 of 1 a1 from 4 ->")
