/* One core, step by step: what each cause leads to. */
#include <stdlib.h>

#include "common/core/execute.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

/* --- a round --- */

CASE(a_round, driver_new(3, 4),
     "start -> links 2 3, train t1 draw 0\n"
     "link up 2 -> hello t1 training to 2\n"
     "hello t1 ready from 2 ->\n"
     "link down 3 ->\n" /* a peer that does not answer is not waited for */
     "trained -> DISCOVER, links 2 3, hello t1 ready to 2, AGREE, link state of 1 a1 to 2\n"
     "link state a1 names 1 from 2 -> compute analysis\n"
     /* with two learners each can compute the model of the other; this privacy check only warns */
     "analysis done -> EXPOSED, VIEW, SHARE, compute encode, compute secrets\n"
     "encode done -> ENCODED, compute share\n"
     "secrets done -> key share to 2\n"
     "share done -> share 0 to 2\n"
     "key share from 2 -> drop\n"
     "share 0 from 2 -> compute gather, compute deposit\n"
     "gather done ->\n"
     "deposit 0 of 2 from 2 -> compute fetch\n"
     "deposit done -> deposit of 1 0 to 2, READY, compute commitment\n"
     "fetch done ->\n"
     "commitment done -> persist prepared t1 a1\n"
     "durable prepared -> ready of 1 a1 to 2\n"
     "ready of 2 a1 from 2 -> compute check\n"
     "check done -> persist released t1 a1, RELEASE\n"
     "durable released -> key of 1 to 2, MIX\n"
     "key from 2 -> compute mix\n"
     "mix done -> state 0 k1 to 2\n"
     "state 0 k1 from 2 -> compute mix\n"
     "mix done -> state 0 k2 to 2\n"
     "state 0 k2 from 2 -> compute mix\n"
     "mix done -> compute close, CHECK\n"
     "close done -> challenge of 1 to 2\n"
     "challenge from 2 -> compute checksum\n"
     "checksum done -> checksum of 1 to 2\n"
     "checksum from 2 -> CONFIRM, persist signs t1 a1\n"
     "durable signs -> digest to 2\n"
     "digest from 2 -> COMMIT, compute accept, persist commit t1 a1\n"
     "accept done ->\n"
     "durable commit -> COMMITTED, wipe, DONE, hello t2 done to 2\n"
     "hello t2 done from 2 ->\n" /* 3 was left out, and may come */
     "due +30000\n"
     "deadline +30000 -> stop 0\n"
     "deadline +1 -> invalid\n"
     "state 0 k1 from 2 -> invalid")

/* c others may be wrong that the run goes on. */
CASE(the_end_is_too_early, driver_commit(driver_new(3, 4)),
     "hello t2 training from 2 ->\n"
     "hello t2 training from 3 -> *train t2*")

/* A commit needs q equal digests (ROUND.md §7.14 Confirm), the own one among them. */
CASE(digest_missing, driver_confirm(driver_new(3, 4)),
     "deadline +10000 -> WAITING 2 3\n"
     "deadline +10000 -> WAITING 2 3\n"
     "digest from 3 -> COMMIT, compute accept, persist commit t1 a1, digest to 2\n"
     "digest d8 from 2 -> REJECTED 2: has signed another result of this view, digest to 3")

CASE(digest_differs, driver_confirm(driver_new(3, 4)),
     "digest d8 from 2 -> REJECTED 2: has signed another result of this view, digest to 3\n"
     "digest d8 of 2 from 3 ->\n" /* it counts once */
     "hello t2 ready from 2 ->\n"
     "digest d8 from 3 -> REJECTED 3: has signed another result of this view, RECOVERING committed*CATCHUP*")
CASE(digest_differs_after_the_commit, driver_commit(driver_new(3, 4)),
     "digest d8 from 3 -> REJECTED 3: has signed another result of this view\n"
     "digest d8 from 3 ->\n"
     "digest d8 from 2 -> REJECTED 2: has signed another result of this view, DIVERGED 2, stop -7")

CASE(digest_of_another_view, driver_confirm(driver_new(3, 4)),
     "digest a2 v238 d8 from 2 ->\n"
     "digest from 2 -> COMMIT, compute accept, persist commit t1 a1, digest to 3\n"
     "digest a2 v238 d8 from 2 ->")

/* --- rejected messages --- */

CASE(hello_of_another_id, driver_new(3, 4),
     "link up 2\n"
     "hello of 3 t1 ready from 2 -> REJECTED 2: a hello in another learner's name\n"
     "trained -> DISCOVER, links 2 3, hello t1 ready to 2")

CASE(records_of_outsiders, driver_new(3, 4),
     "link up 2\n"
     "link state of 9 names 1 from 2 -> REJECTED 2: a link state of a learner outside the roster\n"
     "link state names 1 9 from 2 -> REJECTED 2: a link state naming a learner outside the roster\n"
     "digest of 3 from 2 ->")

CASE(shares_out_of_order, driver_share(driver_new(3, 3 * SL_CHUNK_ELEMENTS)),
     "share 1 from 2 -> REJECTED 2: a share out of order, drop\n"
     "share 0 from 2 -> compute gather\n"
     "share 0 from 2 -> REJECTED 2: a share out of order, drop\n"
     "share 7 from 2 -> REJECTED 2: a share out of order, drop\n"
     "state 0 k1 from 2 -> drop")

TEST(credit_of_shares)
{
	struct driver *p = driver_agree(driver_new(2, 20 * SL_CHUNK_ELEMENTS));
	play(p, "analysis done\n"
		"encode done");
	for (uint32_t m = 0; m < 2 * SL_WINDOW; m++)
		play(p, "share %u from 2 -> *compute gather*", m);
	play(p, "share %u from 2 -> *a share beyond its credit*", 2 * SL_WINDOW);
	driver_free(p);
}

/* Chunk m is sent when chunk m - SL_WINDOW of every neighbour is here. */
CASE(window_of_shares, driver_share(driver_new(2, 20 * SL_CHUNK_ELEMENTS)),
     "share done\n"
     "share done\n"
     "share done -> share 3 to 2\n"
     "share 0 from 2 -> compute gather, compute deposit, compute share")

CASE(share_of_another_view, driver_share(driver_new(3, 4)),
     "share 0 v238 from 2 -> drop\n"
     "share 0 a2 v238 from 2 -> drop")

CASE(state_and_ready_of_another_view, driver_ready(driver_new(3, 4)),
     "state 0 v238 from 2 -> drop\n"
     "state 0 a0 v238 from 2 -> drop\n"
     "ready of 2 v238 from 2 -> ready of 2 a1 to 3\n"
     "ready of 3 a1 from 3 -> compute check, ready of 3 a1 to 2")

/* A job reads as many elements as the view has. */
CASE(wrong_size_of_a_share, driver_share(driver_new(3, 4)),
     "share 0 size -1 from 2 -> REJECTED 2: a share of the wrong size, drop\n"
     "share 0 size +1 from 2 -> REJECTED 2: a share of the wrong size, drop\n"
     "share 0 from 2 -> compute gather")

static struct driver *with_engine(enum sl_engine engine)
{
	struct driver *p = driver_new(3, 4);
	p->config.parameters.mixing = engine;
	p->analysis.trees = 1;
	return p;
}

TEST(wrong_size_of_a_state)
{
	for (enum sl_engine engine = SL_ENGINE_EXACT; engine <= SL_ENGINE_METROPOLIS; engine++) {
		struct driver *p = driver_release(with_engine(engine));
		play(p, "state 0 k1 size -1 from 2 -> REJECTED 2: a state of the wrong size, drop\n"
			"state 0 k1 size +1 from 2 -> REJECTED 2: a state of the wrong size, drop\n"
			"state 0 k1 from 2 ->\n"
			"holds 1");
		driver_free(p);
	}
}

CASE(early_share, driver_agree(driver_new(3, 4)),
     "share 0 v238 from 2 ->\n" /* of another view */
     "share 0 from 3 ->\n"
     "analysis done -> VIEW, SHARE, compute encode, compute secrets, compute gather, drop\n"
     "share 0 from 2 -> compute gather")

CASE(early_shares_of_two_attempts, driver_agree(driver_new(3, 4)),
     "share 0 v238 from 2 ->\n"
     "share 1 v238 from 2 ->\n"
     "share 0 from 2 -> drop\n" /* 2 has begun another attempt */
     "share 0 from 3 ->\n"
     "analysis done -> VIEW, SHARE, compute encode, compute secrets, compute gather")

/* A step has room for SL_ACTIONS_MAX actions. */
static void many_early_chunks(uint64_t n, bool right)
{
	struct driver *p = driver_agree(driver_new(100, n));
	for (uint32_t m = 0; m <= 2 * SL_WINDOW; m++) /* one more: the key share */
		play(p, "share %u from all ->", right ? m : 0);
	play(p, "share 0 from 2 -> *too many shares before the view is complete*\n"
		"analysis done");
	assert_true(p->actions.count < SL_ACTIONS_MAX);
	driver_free(p);
}

TEST(early_chunks_are_one_step)
{
	many_early_chunks(8 * SL_CHUNK_ELEMENTS, true);
	many_early_chunks(4, false);
}

/* --- engines --- */

CASE(states_out_of_turn, driver_release(driver_new(3, 4)),
     "state 0 k0 from 2 -> REJECTED 2: a state out of turn, drop\n" /* that is the deposit */
     "state 0 k2 from 2 -> REJECTED 2: a state out of turn, drop\n"
     "state 0 k1 from 2 ->\n" /* one ahead */
     "state 0 k1 from 2 -> REJECTED 2: a state out of turn, drop\n"
     "state 0 k2 from 2 -> REJECTED 2: a state out of turn, drop\n"
     "state 3 k1 from 2 -> REJECTED 2: a state of a chunk that is not due, drop\n"
     "key from 3 ->\n"
     "key from 2 -> compute mix\n"
     "holds 1")

/* The largest K of all Readys counts, not the own one. */
TEST(largest_k)
{
	struct driver *p = driver_ready(with_engine(SL_ENGINE_METROPOLIS));
	play(p, "ready k5 from 2\n"
		"ready from 3\n"
		"check done\n"
		"check done -> *RELEASE*");
	assert_int_equal(driver_status(p).steps, 5);
	driver_free(p);
}

/* A Ready that says that metropolis is impossible (SL_ITERATIONS_NONE) counts only if another engine is
 * allowed. */
TEST(no_k)
{
	for (enum sl_engine wanted = SL_ENGINE_METROPOLIS; wanted <= SL_ENGINE_AUTO; wanted++) {
		struct driver *p = with_engine(wanted);
		p->analysis.depth = 1;
		driver_ready(p);
		play(p,
		     "ready k%u from 2\n"
		     "ready k3 from 3\n"
		     "check done",
		     (uint32_t)SL_ITERATIONS_NONE);
		if (wanted != SL_ENGINE_METROPOLIS)
			play(p, "check done");
		assert_int_equal(driver_says(p, "RELEASE"), wanted != SL_ENGINE_METROPOLIS);
		driver_free(p);
	}
}

/* With `mixing: auto`, K has no part: it is not known when deposits are sent. */
TEST(auto_without_metropolis)
{
	struct driver *p = with_engine(SL_ENGINE_AUTO);
	p->analysis.mu = 0.1;
	p->analysis.degree = 0;
	p->analysis.depth = 1000000;
	assert_int_equal(driver_status(driver_share(p)).engine, SL_ENGINE_FOREST);
	driver_free(p);
}

static struct driver *forest(uint32_t learners, uint64_t n)
{
	struct driver *p = driver_new(learners, n);
	p->config.parameters.mixing = SL_ENGINE_FOREST;
	p->analysis.depth = 2;
	for (uint32_t i = 0; i < learners; i++) /* this learner keeps the deposit of the last one */
		p->analysis.keeper[i] = (i + 1) % learners;
	return p;
}

/* Add a tree. `parent`: by position, which is one less than the id; that of the root is itself. */
static struct driver *with_tree(struct driver *p, uint32_t learners, const uint32_t *parent)
{
	uint16_t *tree = p->analysis.parent + (size_t)p->analysis.trees++ * learners;
	for (uint32_t i = 0; i < learners; i++)
		tree[i] = (uint16_t)parent[i];
	return p;
}

static struct driver *by_forest(uint32_t learners, const uint32_t *parent)
{
	return driver_ready(with_tree(forest(learners, 4), learners, parent));
}

/* 2 is the parent; 3 is a child with the child 4, of which this learner keeps the deposit. */
CASE(tree_turns, by_forest(4, (const uint32_t[]){1, 1, 0, 2}),
     "ready from all -> compute check, *\n"
     "check done\n"
     "durable released -> key of 1 to 2 3 4, MIX\n"
     "state 0 k0 from 2 -> REJECTED 2: a state out of turn, drop\n"
     "state 0 k1 from 2 -> REJECTED 2: a state out of turn, drop\n"
     "state 0 k2 from 2 -> REJECTED 2: a state out of turn, drop\n" /* not before the own part has gone up */
     "state 0 k3 from 2 -> REJECTED 2: a state after the last exchange, drop\n"
     "state 0 k1 from 4 -> REJECTED 4: a state out of turn, drop\n"
     "state 0 k2 from 3 -> REJECTED 3: a state out of turn, drop\n"
     "state 0 k1 from 3 -> compute mix\n" /* the keys of its child and of 4 are not needed */
     "mix done -> state 0 k1 to 2\n"
     "state 0 k2 from 2 -> compute mix\n"
     "state 0 k2 from 2 -> REJECTED 2: a state out of turn, drop\n"
     "mix done -> state 0 k2 to 3, compute close, CHECK\n"
     "key from 2 3\n"
     "close done ->\n" /* 4 may hold other Readys, and its deposit is kept here */
     "challenge from 2 -> challenge of 2 to 3\n"
     "challenge from 3\n"
     "challenge of 4 from 3 -> challenge of 4 to 2\n"
     "key k9 from 4 -> REJECTED 4: a deposit key that its owner did not sign for, challenge of 1 to 2 3\n"
     "key of 4 from 2 -> compute checksum")

/* A leaf. It keeps the deposit of 3. */
CASE(tree_leaf, by_forest(3, (const uint32_t[]){1, 1, 1}),
     "ready from all -> compute check, *\n"
     "check done\n"
     "durable released -> key of 1 to 2 3, MIX, state 0 k1 to 2\n"
     "state 0 k1 from 3 -> REJECTED 3: a state out of turn, drop\n"
     "state 0 k2 from 2 -> compute mix\n"
     "mix done -> compute close, CHECK\n"
     "key from 2 3\n"
     "close done -> challenge of 1 to 2\n"
     "challenge of 3 from 2 ->")

/* The root; its child 2 is a leaf, and 3 has the child 4. */
CASE(tree_root, by_forest(4, (const uint32_t[]){0, 0, 0, 2}),
     "ready from all\n"
     "check done\n"
     "durable released -> key of 1 to 2 3 4, MIX\n"
     "state 0 k1 from 2 ->\n"
     "key from 2 ->\n"
     "state 0 k1 from 3 -> compute mix\n"
     "mix done -> state 0 k2 to 2 3, compute close, CHECK\n"
     "key from 3 4\n"
     "close done -> challenge of 1 to 2 3\n" /* 4 gets it from 3 */
     "challenge from 2 -> challenge of 2 to 3\n"
     "challenge of 4 from 3 -> challenge of 4 to 2\n"
     "link down 4 ->\n"
     "link down 3 -> RECOVERING link 3, RECOVER, *")

/* Chunk 0 goes along one tree, chunk 1 along another one, of which this learner is the root. Challenges go
 * along the first one. */
CASE(two_trees,
     driver_ready(with_tree(with_tree(forest(4, 5000), 4, (const uint32_t[]){1, 1, 0, 2}), 4,
			    (const uint32_t[]){0, 0, 0, 0})),
     "ready from all -> compute check, *\n"
     "check done\n"
     "durable released -> key of 1 to 2 3 4, MIX\n"
     "state 0 k1 from 4 -> REJECTED 4: a state out of turn, drop\n"
     "state 1 k1 from 4 ->\n"
     "state 0 k1 from 2 -> REJECTED 2: a state out of turn, drop\n"
     "state 1 k1 from 2 ->\n"
     "state 1 k2 from 2 -> REJECTED 2: a state out of turn, drop\n"
     "state 1 k1 from 3 -> compute mix\n"
     "mix done -> state 1 k2 to 2 3 4\n" /* before chunk 0 */
     "state 2 k1 from 3 -> REJECTED 3: a state of a chunk that is not due, drop\n"
     "state 0 k1 from 3 -> compute mix\n"
     "mix done -> state 0 k1 to 2\n"
     "state 0 k2 from 2 -> compute mix\n"
     "mix done -> state 0 k2 to 3, compute close, CHECK\n"
     "key from 2 3 4\n"
     "close done -> challenge of 1 to 2 3\n"
     "link down 4 ->\n"
     "link down 3 -> RECOVERING link 3, RECOVER, *")

/* States that arrive before the own release are held, and checked when the engine is known. */
CASE(early_states, driver_ready(driver_new(3, 4)),
     "state 0 k1 from 2 2 ->\n"
     "state 3 k1 from 2 ->\n"
     "state 0 k1 from 3 ->\n"
     "ready from 2 3\n"
     "key from 2 3 ->\n" /* they released first */
     "check done\n"
     "check done\n"
     "durable released -> key of 1 to 2 3, MIX, REJECTED 2: a state of a chunk that is not due, drop, "
     "compute mix\n"
     "mix done -> state 0 k1 to 2 3, compute mix")

CASE(too_many_early_states, driver_ready(driver_new(3, 4)),
     "state 0 k1 from 2 2 2 2 2 2 2 2 ->\n"
     "state 0 k1 from 2 -> REJECTED 2: too many states at once, drop\n"
     "holds 8")

/* --- the end of an attempt --- */

/* An Abort without a Ready ends the attempt for those that do not hold the Ready; the model is trained again,
 * unless c+1 learners have signed so. */
CASE(aborted_while_ready, driver_ready(driver_new(3, 4)),
     "state 0 k1 from 2 ->\n"
     "abort of 3 a1 from 2 -> persist aborted t1 a1, RECOVERING aborted 3, drop, RECOVER, hello t1 open to 2 "
     "3, "
     "denial of 3 a1 to 3\n" /* it waits for more */
     "abort of 2 a1 from 2 -> OVER, persist over t1 a1, wipe, DISCOVER, links 2 3, "
     "hello t1 ready to 2 3, AGREE, denial of 2 a1 to 3, link state of 1 a2 to 2 3")

CASE(invalidated_while_ready, driver_ready(driver_new(3, 4)),
     "abort of 3 a1 from 2\n"
     "due +2000\n"
     "deadline +2000 -> OVER, persist over t1 a1, wipe, INVALIDATED, TRAIN, train t1 draw 1, *")

/* A link that falls is not waited for: whoever has not sent its Ready does not come. */
CASE(bound_by_the_own_ready, driver_ready(driver_new(3, 4)),
     "ready from 2\n"
     "check done\n"
     "link down 3 ->\n"
     "due +2000\n"
     "deadline +2000 -> persist aborted t1 a1, RECOVERING link 3, RECOVER, hello t1 open to 2, *\n"
     "durable aborted -> abort of 1 a1 to 2\n"
     "abort of 2 r1 from 2 ->\n"
     "deadline +2000 -> OVER, persist over t1 a1, wipe, INVALIDATED, TRAIN, *")

CASE(a_higher_attempt, driver_share(driver_new(3, 4)),
     "link state a4 from 2 -> FAILED superseded 2, persist aborted t1 a1, wipe, DISCOVER, links 2 3, "
     "hello t1 ready to 2 3, AGREE, link state of 1 a4 to 2 3, link state of 2 a4 to 3\n"
     "share 0 a1 from 2 -> drop\n"
     "durable aborted -> denial of 1 a1 to 2 3")

/* Learner 2 started again after it had entered the attempt. */
CASE(started_again, driver_share(driver_new(3, 4)),
     "link state of 2 i2 from 3 -> FAILED aborted 2, persist aborted t1 a1, wipe, DISCOVER, links 2 3, "
     "hello t1 ready to 2 3, AGREE, link state of 1 a2 to 2 3, link state of 2 a1 to 2")

/* Learner 4 had another model before it started again: learner 1 has agreed on a view without it, and the
 * others on one with it. */
CASE(started_again_and_compatible, driver_new(4, 4),
     "link up 2 3\n"
     "hello t1 ready from 2 3\n"
     "link state of 4 m5 names 2 from 2\n"
     "trained\n"
     "link state from 2\n"
     "link state from 3 -> LEFT OUT *compute analysis, link state of 3 a1 to 2\n"
     "analysis done\n"
     "link state of 4 i2 names 3 from 2 -> FAILED aborted 4, *DISCOVER*")

/* The link state of a former start does not count once the learner has said Hello in its present one. */
CASE(a_former_start, driver_new(3, 4),
     "link up 2 3\n"
     "link state of 3 from 2\n"
     "hello t1 ready from 2\n"
     "hello i2 t1 ready from 3\n"
     "trained\n"
     "link state from 2 -> link state of 2 a1 to 3\n"
     "link state i2 from 3 -> compute analysis, link state of 3 a1 to 2\n"
     "analysis done -> *VIEW*")
CASE(a_former_start_is_missing, driver_new(3, 4),
     "link up 2 3\n"
     "link state of 3 from 2\n"
     "hello t1 ready from 2\n"
     "hello i2 t1 ready from 3\n"
     "trained\n"
     "link state from 2\n"
     "deadline +10000 -> FAILED flood 3, *DISCOVER, *")

CASE(equivocation, driver_share(driver_new(3, 4)),
     "link state of 2 names 1 from 3 -> *FAILED equivocation 2*")

/* No edge is offered to the learner, and the others go on without it. */
CASE(equivocation_while_training, driver_new(3, 4),
     "link up 2 3\n"
     "link state names 1 from 2\n"
     "link state of 2 from 3 -> EVIDENCE 2\n"
     "hello t1 ready from 2 3\n"
     "trained\n"
     "link state from 3 -> LEFT OUT equivocation 2, compute analysis, link state of 3 a1 to 2\n"
     "analysis done -> *VIEW*")

CASE(equivocation_while_agreeing, driver_new(4, 4),
     "link up 2 3 4\n"
     "hello t1 ready from 2 3 4\n"
     "trained\n"
     "link state from 2 3\n"
     "link state of 2 names 1 from 3 -> EVIDENCE 2\n"
     "link state from 4 -> LEFT OUT equivocation 2, compute analysis, link state of 4 a1 to 2 3")

TEST(flood_stalls)
{
	struct driver *p = driver_new(3, 4);
	play(p, "link up 2 3\n"
		"hello t1 ready from 2 3\n"
		"trained\n"
		"link state from 2\n"
		"deadline +70000 -> FAILED flood 3, PENALTY 3, wipe, DISCOVER, links 2 3, hello t1 ready to "
		"2 3");
	assert_true(sl_core_deadline(p->core) <= p->now + 1000); /* a pause, then attempt 2 */
	play(p, "deadline +1000 -> AGREE, link state of 1 a2 to 2 3");
	driver_free(p);
}

/* Records that were sent over the last link may never have arrived. */
CASE(a_new_link_has_no_record, driver_new(4, 4),
     "link up 2 3 4\n"
     "hello t1 ready from 2 3 4\n"
     "trained\n"
     "link state of 2 a1 from 2 -> link state of 2 a1 to 3 4\n"
     "link state of 2 a1 from 3 ->\n"
     "link down 4 -> FAILED link 4, wipe, DISCOVER, links 2 3 4, hello t1 ready to 2 3, AGREE, link state "
     "of 1 a2 to 2 3\n"
     "link up 4 -> hello t1 ready to 4, link state of 1 a2 to 4, link state of 2 a1 to 4")

/* --- events that their kind does not allow --- */

TEST(events_out_of_place)
{
	struct driver *p = driver_new(3, 4);
	const struct sl_event bad[] = {
		{.kind = SL_EVENT_LINK_UP, .peer = 0},
		{.kind = SL_EVENT_COMPUTED, .result = &(struct sl_job_result){.kind = SL_JOB_COMMITMENT}},
		{.kind = SL_EVENT_RANGE, .range = (const uint64_t[]){6}},
		{.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &(struct sl_message){.kind = SL_MSG_SHARE}},
	};
	play(p, "start -> links 2 3, *\n"
		"start -> invalid\n"
		"link up 4 -> invalid");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		driver_step(p, bad[i]);
		assert_int_equal(p->code, SL_ERR_INVALID);
		assert_int_equal(p->actions.count, 0);
	}
	driver_free(p);
}

/* Records that the core did not ask for, or of an attempt that is over. */
CASE(unexpected_records, driver_share(driver_new(3, 4)),
     "durable prepared t1 a1 ->\n"
     "durable released t1 a1 ->\n"
     "durable over t1 a1 ->\n"
     "durable commit t1 a1 ->\n"
     "durable aborted t2 a1 ->\n"
     "durable aborted t0 a1 ->")

/* An attempt is not left while its record is on the way to the disk. */
CASE(prepared_slowly, driver_share(driver_new(2, 4)),
     "key share from 2\n"
     "share 0 from 2\n"
     "gather done\n"
     "deposit done\n"
     "deposit 0 of 2 from 2\n"
     "fetch done\n"
     "commitment done -> persist prepared t1 a1\n"
     "due never\n" /* it waits for its own disk */
     "abort of 2 a1 from 2 ->\n"
     "durable prepared -> persist aborted t1 a1, RECOVERING aborted 2, RECOVER, hello t1 open to 2, "
     "ready of 1 a1 to 2\n"
     "deadline +2000 -> OVER, persist over t1 a1, wipe, INVALIDATED, TRAIN, *")

TEST(operator_abort_out_of_place)
{
	struct driver *p = driver_new(2, 4);
	play(p, "operator abort -> invalid");
	driver_ready(p);
	play(p, "operator abort t2 -> invalid\n"
		"operator abort -> persist aborted t1 a1, RECOVERING operator abort*, RECOVER, hello t1 open "
		"to 2, *\n"
		"operator abort -> OVER, persist over t1 a1, wipe, INVALIDATED, TRAIN, *");
	driver_free(p);
}

/* --- secrets --- */

/* Before the release, the own deposit key and challenge stand in the memory for secrets, and nowhere else. */
TEST(keys_stand_in_the_memory_for_secrets)
{
	struct driver *p = driver_new(4, 4);
	size_t bytes = sl_core_secret_bytes(&p->config);
	uint8_t *secrets = malloc(bytes);
	memset(p->secrets.key, 0x5a, SL_KEY_BYTES);
	memset(p->secrets.challenge, 0xa5, SL_KEY_BYTES);
	p->config.secrets = secrets;
	driver_ready(p);
	assert_non_null(memmem(secrets, bytes, p->secrets.key, SL_KEY_BYTES));
	assert_non_null(memmem(secrets, bytes, p->secrets.challenge, SL_KEY_BYTES));
	assert_null(memmem(p->arena, sl_core_bytes(&p->config), p->secrets.key, SL_KEY_BYTES));
	assert_null(memmem(p->arena, sl_core_bytes(&p->config), p->secrets.challenge, SL_KEY_BYTES));
	driver_free(p);
	free(secrets);
}

/* --- the shell --- */

struct shell {
	uint32_t asked, done;
};

static bool alive_once(void *shell, const struct sl_action *action)
{
	(void)action;
	return ((struct shell *)shell)->asked++ == 0;
}

static void count_done(void *shell, const struct sl_action *action)
{
	(void)action;
	((struct shell *)shell)->done++;
}

/* What a step asks for ends where the shell fails. */
TEST(a_shell_that_fails)
{
	static const struct sl_duties duties = {.of = {[SL_ACTION_WIPE] = count_done}, .alive = alive_once};
	static struct sl_actions actions = {.count = 3};
	struct shell shell = {0};
	for (uint32_t k = 0; k < actions.count; k++)
		actions.items[k].kind = SL_ACTION_WIPE;
	sl_core_execute(&actions, &duties, &shell);
	assert_int_equal(shell.asked, 2);
	assert_int_equal(shell.done, 1);
}
