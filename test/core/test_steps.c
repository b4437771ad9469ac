/* One core, step by step: what each cause leads to, literally. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

#define LIST(...) ((const sl_id[]){__VA_ARGS__, 0})
#define LIST_OF_NONE ((const sl_attempt[]){0})
#define EXPECT(text, trace) assert_string_equal(trace, text)

TEST(test_a_round)
{
	struct driver *p = driver_new(3, 4);
	EXPECT("start -> links 2 3, train t1 draw 0", p->trace.text);
	EXPECT("link up 2 -> hello t1 training to 2", tell_link(p, true, 2));
	EXPECT("hello t1 ready from 2 ->", tell_hello(p, 2, 1, SL_PEER_STATUS_READY));
	EXPECT("link down 3 ->", tell_link(p, false, 3)); /* does not answer: is not waited for */
	EXPECT("trained -> DISCOVER, links 2 3, hello t1 ready to 2, AGREE, link state of 1 a1 to 2",
	       tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED}));
	EXPECT("link state of 2 a1 from 2 -> compute analysis", tell_link_state(p, 2, 2, 1, LIST(1)));
	/* two learners: the mean tells each the model of the other; this privacy check only warns */
	EXPECT("analysis done -> EXPOSED, VIEW, SHARE, compute encode", tell_done(p, SL_JOB_ANALYSE, SL_OK));
	EXPECT("encode done -> compute share", tell_done(p, SL_JOB_ENCODE, SL_OK));
	EXPECT("share done -> share 0 to 2", tell_done(p, SL_JOB_SHARE, SL_OK));
	EXPECT("share 0 from 2 -> compute gather, READY, compute commitment",
	       tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("gather done ->", tell_done(p, SL_JOB_GATHER, SL_OK));
	EXPECT("commitment done -> persist prepared t1 a1", tell_done(p, SL_JOB_COMMITMENT, SL_OK));
	EXPECT("durable -> ready of 1 a1 to 2", tell_durable(p, SL_PERSIST_PREPARED));
	EXPECT("ready of 2 a1 from 2 -> persist released t1 a1, RELEASE", tell_ready(p, 2, 2, 1));
	EXPECT("durable -> MIX, state 0 k0 to 2", tell_durable(p, SL_PERSIST_RELEASED));
	for (uint32_t k = 0; k < 2; k++) {
		tell_payload(p, 2, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	EXPECT("state 0 k2 from 2 -> compute mix", tell_payload(p, 2, SL_MSG_STATE, 0, 2));
	EXPECT("mix done -> compute close, CONFIRM", tell_done(p, SL_JOB_MIX, SL_OK));
	EXPECT("close done -> digest to 2", tell_done(p, SL_JOB_CLOSE, SL_OK));
	EXPECT("digest from 2 -> COMMIT, compute decode, persist commit t1 a1", tell_digest(p, 2, 7));
	EXPECT("decode done ->", tell_done(p, SL_JOB_DECODE, SL_OK));
	EXPECT("durable -> COMMITTED, wipe, DONE, hello t2 done to 2", tell_durable(p, SL_PERSIST_COMMIT));
	EXPECT("hello t2 done from 2 ->",
	       tell_hello(p, 2, 2, SL_PEER_STATUS_DONE)); /* 3 was left out, and may come */
	EXPECT("deadline -> stop 0", tell_time(p, 30000));
	EXPECT("deadline ->", tell_time(p, 1));
	assert_int_equal(p->code, SL_ERR_INVALID); /* nothing after a stop */
	driver_free(p, 0);
}

/* To the digest of the last of two neighbours. */
static struct driver *settling(void)
{
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	tell_ready(p, 2, 2, 1);
	EXPECT("ready of 3 a1 from 3 -> persist released t1 a1, RELEASE, ready of 3 a1 to 2",
	       tell_ready(p, 3, 3, 1));
	EXPECT("durable -> MIX, state 0 k0 to 2 3", tell_durable(p, SL_PERSIST_RELEASED));
	for (uint32_t k = 0; k < 3; k++) {
		tell_payload(p, 2, SL_MSG_STATE, 0, k);
		tell_payload(p, 3, SL_MSG_STATE, 0, k);
		tell_done(p, SL_JOB_MIX, SL_OK);
	}
	EXPECT("close done -> digest to 2 3", tell_done(p, SL_JOB_CLOSE, SL_OK));
	return p;
}

TEST(test_digest_missing)
{
	struct driver *p = settling();
	EXPECT("digest from 2 ->", tell_digest(p, 2, 7));
	assert_int_equal(sl_core_deadline(p->core), p->now + 10000);
	EXPECT("deadline -> WAITING 3, COMMIT, compute decode, persist commit t1 a1", tell_time(p, 10000));
	EXPECT("digest from 3 -> DIVERGED 3, stop -7", tell_digest(p, 3, 8)); /* then or later */
	driver_free(p, 0);
}

TEST(test_digest_differs)
{
	struct driver *p = settling();
	EXPECT("digest from 2 -> DIVERGED 2, stop -7", tell_digest(p, 2, 8));
	driver_free(p, 0);
	p = settling();
	tell_digest(p, 2, 7);
	tell_digest(p, 3, 7);
	tell_done(p, SL_JOB_DECODE, SL_OK);
	tell_durable(p, SL_PERSIST_COMMIT);
	EXPECT("digest from 3 -> DIVERGED 3, stop -7", tell_digest(p, 3, 8));
	driver_free(p, 0);
}

/* What hashes another view is bound to differ: it says nothing of this one. */
TEST(test_digest_of_another_view)
{
	struct driver *p = settling();
	struct sl_message m = {.kind = SL_MSG_DIGEST,
			       .digest = {.id = 2, .t = 1, .a = 2, .view = {0xee}, .digest = {8}}};
	EXPECT("digest from 2 ->", tell_message(p, 2, &m));
	tell_digest(p, 2, 7);
	EXPECT("digest from 3 -> COMMIT, compute decode, persist commit t1 a1", tell_digest(p, 3, 7));
	EXPECT("digest from 2 ->", tell_message(p, 2, &m));
	driver_free(p, 0);
}

TEST(test_serve_after_end)
{
	struct driver *p = settling();
	tell_digest(p, 2, 7);
	tell_digest(p, 3, 7);
	tell_done(p, SL_JOB_DECODE, SL_OK);
	tell_durable(p, SL_PERSIST_COMMIT);
	EXPECT("hello t2 done from 2 ->", tell_hello(p, 2, 2, SL_PEER_STATUS_DONE));
	assert_int_equal(sl_core_deadline(p->core), p->now + 30000);
	EXPECT("deadline -> stop 0", tell_time(p, 30000));
	driver_free(p, 0);
}

/* --- refused messages --- */

TEST(test_hello_in_anothers_name)
{
	struct driver *p = driver_new(3, 4);
	tell_link(p, true, 2);
	struct sl_message m = {.kind = SL_MSG_HELLO,
			       .hello = {.id = 3, .t = 1, .a = 1, .status = SL_PEER_STATUS_READY}};
	EXPECT("hello t1 ready from 2 -> REJECTED 2: a hello in another learner's name",
	       tell_message(p, 2, &m));
	EXPECT("trained -> DISCOVER, links 2 3, hello t1 ready to 2",
	       tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED}));
	driver_free(p, 0);
}

TEST(test_records_of_outsiders)
{
	struct driver *p = driver_new(3, 4);
	tell_link(p, true, 2);
	EXPECT("link state of 9 a1 from 2 -> REJECTED 2: a link state of a learner outside the roster",
	       tell_link_state(p, 2, 9, 1, LIST(1)));
	EXPECT("link state of 2 a1 from 2 -> REJECTED 2: a link state naming a learner outside the roster",
	       tell_link_state(p, 2, 2, 1, LIST(1, 9)));
	EXPECT("digest from 2 -> REJECTED 2: a digest signed by another learner",
	       tell_message(
		       p, 2,
		       &(struct sl_message){.kind = SL_MSG_DIGEST, .digest = {.id = 3, .t = 1, .a = 1}}));
	driver_free(p, 0);
}

TEST(test_shares_out_of_order)
{
	struct driver *p = driver_new(3, 3 * SL_CHUNK_ELEMENTS);
	driver_share(p);
	EXPECT("share 1 from 2 -> REJECTED 2: a share out of order, drop",
	       tell_payload(p, 2, SL_MSG_SHARE, 1, 0));
	EXPECT("share 0 from 2 -> compute gather", tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("share 0 from 2 -> REJECTED 2: a share out of order, drop",
	       tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	EXPECT("share 7 from 2 -> REJECTED 2: a share out of order, drop",
	       tell_payload(p, 2, SL_MSG_SHARE, 7, 0));
	EXPECT("state 0 k0 from 2 -> drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 0)); /* before anybody can be ready */
	driver_free(p, 0);
}

TEST(test_credit_of_shares)
{
	struct driver *p = driver_new(2, 20 * SL_CHUNK_ELEMENTS);
	driver_agree(p);
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	for (uint32_t m = 0; m < 2 * SL_WINDOW; m++)
		assert_non_null(strstr(tell_payload(p, 2, SL_MSG_SHARE, m, 0), "compute gather"));
	assert_non_null(
		strstr(tell_payload(p, 2, SL_MSG_SHARE, 2 * SL_WINDOW, 0), "a share beyond its credit"));
	driver_free(p, 0);
}

/* Chunk m goes out when chunk m - SL_WINDOW of every neighbour has come in. */
TEST(test_window_of_shares)
{
	struct driver *p = driver_new(2, 20 * SL_CHUNK_ELEMENTS);
	driver_share(p);
	for (uint32_t m = 1; m < SL_WINDOW; m++)
		tell_done(p, SL_JOB_SHARE, SL_OK);
	assert_null(strstr(p->trace.text, "compute share"));
	EXPECT("share 0 from 2 -> compute gather, compute share", tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	driver_free(p, 0);
}

static const char *tell_of_another_view(struct driver *p, enum sl_message_kind kind, sl_attempt a)
{
	struct sl_message m = {.kind = kind, .chunk = {.t = 1, .a = a, .view = {0xee}}};
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	buffer->size = 8;
	buffer->bytes = calloc(1, 8);
	return tell(p,
		    (struct sl_event){.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &m, .buffer = buffer});
}

TEST(test_another_view)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	EXPECT("share 0 from 2 -> drop", tell_of_another_view(p, SL_MSG_SHARE, 1));
	EXPECT("share 0 from 2 -> drop", tell_of_another_view(p, SL_MSG_SHARE, 2));
	driver_free(p, 0);
	p = driver_new(3, 4);
	driver_ready(p);
	EXPECT("state 0 k0 from 2 -> drop", tell_of_another_view(p, SL_MSG_STATE, 1));
	EXPECT("state 0 k0 from 2 -> drop", tell_of_another_view(p, SL_MSG_STATE, 0));
	struct sl_message m = {.kind = SL_MSG_READY,
			       .ready = {.id = 2, .t = 1, .a = 1, .k = 3, .view = {0xee}}};
	tell_message(p, 2, &m);
	assert_null(strstr(tell_ready(p, 3, 3, 1), "RELEASE")); /* 2 was ready for something else */
	driver_free(p, 0);
}

static const char *tell_of_size(struct driver *p, enum sl_message_kind kind, size_t size)
{
	struct sl_message m = {.kind = kind, .chunk = {.t = 1, .a = 1}};
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	memcpy(m.chunk.view, p->view->h, SL_HASH_BYTES);
	buffer->size = size;
	buffer->bytes = calloc(1, size);
	return tell(p,
		    (struct sl_event){.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &m, .buffer = buffer});
}

/* A job reads as many elements as the view has. */
TEST(test_wrong_sizes)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	size_t share = 5 * p->view->field.bytes;
	EXPECT("share 0 from 2 -> REJECTED 2: a share of the wrong size, drop",
	       tell_of_size(p, SL_MSG_SHARE, share - 1));
	EXPECT("share 0 from 2 -> REJECTED 2: a share of the wrong size, drop",
	       tell_of_size(p, SL_MSG_SHARE, share + 1));
	EXPECT("share 0 from 2 -> compute gather", tell_of_size(p, SL_MSG_SHARE, share));
	tell_done(p, SL_JOB_GATHER, SL_OK);
	driver_free(p, 0);
	for (enum sl_engine engine = SL_ENGINE_EXACT; engine <= SL_ENGINE_METROPOLIS; engine++) {
		size_t whole = 5 * (engine == SL_ENGINE_METROPOLIS ? SL_STATE_BYTES : 4);
		p = driver_build(3, 4);
		p->config.parameters.mixing = engine;
		driver_start(p);
		driver_release(p);
		EXPECT("state 0 k0 from 2 -> REJECTED 2: a state of the wrong size, drop",
		       tell_of_size(p, SL_MSG_STATE, whole - 4));
		EXPECT("state 0 k0 from 2 -> REJECTED 2: a state of the wrong size, drop",
		       tell_of_size(p, SL_MSG_STATE, whole + 4));
		EXPECT("state 0 k0 from 2 ->", tell_of_size(p, SL_MSG_STATE, whole));
		driver_free(p, 1);
	}
}

/* A neighbour that closed its view first may be early; one that closed another view is only wrong. */
TEST(test_early_share)
{
	struct driver *p = driver_new(3, 4);
	driver_agree(p);
	EXPECT("share 0 from 2 ->", tell_of_another_view(p, SL_MSG_SHARE, 1));
	EXPECT("share 0 from 3 ->", tell_payload(p, 3, SL_MSG_SHARE, 0, 0));
	EXPECT("analysis done -> VIEW, SHARE, compute encode, compute gather, drop",
	       tell_done(p, SL_JOB_ANALYSE, SL_OK));
	EXPECT("share 0 from 2 -> compute gather", tell_payload(p, 2, SL_MSG_SHARE, 0, 0));
	driver_free(p, 0);
}

/* The largest K announced counts, not the own. */
TEST(test_largest_k)
{
	struct sl_core_status status;
	struct driver *p = driver_build(3, 4);
	p->config.parameters.mixing = SL_ENGINE_METROPOLIS;
	driver_start(p);
	driver_ready(p);
	struct sl_message m = {.kind = SL_MSG_READY, .ready = {.id = 2, .t = 1, .a = 1, .k = 5}};
	memcpy(m.ready.view, p->view->h, SL_HASH_BYTES);
	tell_message(p, 2, &m);
	assert_non_null(strstr(tell_ready(p, 3, 3, 1), "RELEASE"));
	sl_core_status(p->core, &status);
	assert_int_equal(status.steps, 5);
	driver_free(p, 0);
}

TEST(test_states_out_of_turn)
{
	struct driver *p = driver_new(3, 4);
	driver_release(p);
	EXPECT("state 0 k1 from 2 -> REJECTED 2: a state out of turn, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 1));
	EXPECT("state 0 k0 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k0 from 2 -> REJECTED 2: a state out of turn, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k1 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 0, 1)); /* one ahead */
	EXPECT("state 0 k2 from 2 -> REJECTED 2: a state out of turn, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 2));
	EXPECT("state 3 k0 from 2 -> REJECTED 2: a state of a chunk that is not due, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 3, 0));
	driver_free(p, 2);
}

/* Metropolis is just possible for one learner, and not for another: where there is another way that is taken.
 */
TEST(test_no_k)
{
	for (enum sl_engine wanted = SL_ENGINE_METROPOLIS; wanted <= SL_ENGINE_AUTO; wanted++) {
		struct driver *p = driver_build(3, 4);
		p->config.parameters.mixing = wanted;
		p->analysis.depth = 1;
		driver_start(p);
		driver_ready(p);
		struct sl_message m = {.kind = SL_MSG_READY,
				       .ready = {.id = 2, .t = 1, .a = 1, .k = SL_ITERATIONS_NONE}};
		memcpy(m.ready.view, p->view->h, SL_HASH_BYTES);
		tell_message(p, 2, &m);
		bool released = strstr(tell_ready(p, 3, 3, 1), "RELEASE") != NULL;
		assert_int_equal(released, wanted != SL_ENGINE_METROPOLIS);
		driver_free(p, 0);
	}
}

static enum sl_engine auto_with(uint64_t p_of_field, double mu, uint64_t fixed)
{
	struct sl_core_status status;
	struct driver *p = driver_build(3, 4);
	p->config.parameters.mixing = SL_ENGINE_AUTO;
	p->config.parameters.p = p_of_field;
	p->config.parameters.iterations_rule = fixed;
	p->analysis.mu = mu;
	p->analysis.degree = 0;
	p->analysis.depth = 1000000;
	driver_start(p);
	driver_share(p);
	sl_core_status(p->core, &status);
	driver_free(p, 0);
	return status.engine;
}

/* A fixed K that is too small, or a field too wide for the states, is an error where nothing else is wished
 * for; else metropolis is no way. */
TEST(test_no_metropolis)
{
	uint64_t wide = (UINT64_C(1) << 44) - 17;
	assert_int_equal(auto_with(0, 0.9999, 0), SL_ENGINE_METROPOLIS);
	assert_int_equal(auto_with(0, 0.9999, 1), SL_ENGINE_TREE);
	assert_int_equal(auto_with(0, 1 - 1e-7, 0), SL_ENGINE_TREE);
	assert_int_equal(auto_with(wide, 0.99, 0), SL_ENGINE_METROPOLIS);
	assert_int_equal(auto_with(wide, 0.9999, 0), SL_ENGINE_TREE);
}

/* parent: by position, which is one less than the id; the root's own is itself. */
static struct driver *by_tree(uint32_t learners, const uint32_t *parent)
{
	struct driver *p = driver_build(learners, 4);
	p->config.parameters.mixing = SL_ENGINE_TREE;
	p->analysis.depth = 2;
	memcpy(p->analysis.parent, parent, learners * sizeof *parent);
	driver_start(p);
	driver_ready(p);
	for (sl_id id = 2; id <= learners; id++)
		tell_ready(p, id, id, 1);
	return p;
}

/* 2 is the parent, 3 a child with a child of its own, 4; who is kept by this learner. */
TEST(test_tree_turns)
{
	struct driver *p = by_tree(4, (const uint32_t[]){1, 1, 0, 2});
	EXPECT("durable -> MIX, state 0 k0 to 3", tell_durable(p, SL_PERSIST_RELEASED));
	EXPECT("state 0 k0 from 2 -> REJECTED 2: a state out of turn, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k1 from 2 -> REJECTED 2: a state out of turn, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 1));
	EXPECT("state 0 k2 from 2 -> REJECTED 2: a state out of turn, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 2)); /* yet */
	EXPECT("state 0 k3 from 2 -> REJECTED 2: a state after the last iteration, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 3));
	EXPECT("state 0 k0 from 4 -> compute keep", tell_payload(p, 4, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k0 from 4 -> REJECTED 4: a state out of turn, drop",
	       tell_payload(p, 4, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k0 from 3 -> REJECTED 3: a state out of turn, drop",
	       tell_payload(p, 3, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k2 from 3 -> REJECTED 3: a state out of turn, drop",
	       tell_payload(p, 3, SL_MSG_STATE, 0, 2));
	EXPECT("state 0 k1 from 3 -> compute mix", tell_payload(p, 3, SL_MSG_STATE, 0, 1));
	EXPECT("mix done -> state 0 k1 to 2", tell_done(p, SL_JOB_MIX, SL_OK));
	EXPECT("state 0 k2 from 2 -> compute mix", tell_payload(p, 2, SL_MSG_STATE, 0, 2));
	EXPECT("state 0 k2 from 2 -> REJECTED 2: a state out of turn, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 2));
	EXPECT("mix done -> state 0 k2 to 3, compute close, CONFIRM", tell_done(p, SL_JOB_MIX, SL_OK));
	driver_free(p, 0);
}

/* A leaf: its masked state is the sum. 3 gives and is nothing else. */
TEST(test_tree_leaf)
{
	struct driver *p = by_tree(3, (const uint32_t[]){1, 1, 1});
	EXPECT("state 0 k0 from 3 ->", tell_payload(p, 3, SL_MSG_STATE, 0, 0)); /* released first: held */
	EXPECT("durable -> MIX, compute keep, state 0 k0 to 2 3", tell_durable(p, SL_PERSIST_RELEASED));
	EXPECT("state 0 k1 from 3 -> REJECTED 3: a state out of turn, drop",
	       tell_payload(p, 3, SL_MSG_STATE, 0, 1));
	EXPECT("state 0 k2 from 2 -> compute mix", tell_payload(p, 2, SL_MSG_STATE, 0, 2));
	EXPECT("mix done -> compute close, CONFIRM", tell_done(p, SL_JOB_MIX, SL_OK));
	driver_free(p, 0);
}

/* The root, of whom one child is a leaf. */
TEST(test_tree_root)
{
	struct driver *p = by_tree(4, (const uint32_t[]){0, 0, 0, 2});
	EXPECT("durable -> MIX, state 0 k0 to 2", tell_durable(p, SL_PERSIST_RELEASED));
	EXPECT("state 0 k1 from 2 -> REJECTED 2: a state out of turn, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 1));
	EXPECT("state 0 k0 from 3 -> REJECTED 3: a state out of turn, drop",
	       tell_payload(p, 3, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k0 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k1 from 3 -> compute mix", tell_payload(p, 3, SL_MSG_STATE, 0, 1));
	EXPECT("mix done -> state 0 k2 to 2 3, compute close, CONFIRM", tell_done(p, SL_JOB_MIX, SL_OK));
	driver_free(p, 0);
}

/* Who releases first may show its state before this learner releases: it is held, and looked at when the
 * engine is known. */
TEST(test_early_states)
{
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	EXPECT("state 0 k0 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k0 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("state 3 k0 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 3, 0));
	EXPECT("state 0 k0 from 3 ->", tell_payload(p, 3, SL_MSG_STATE, 0, 0));
	tell_ready(p, 2, 2, 1);
	tell_ready(p, 3, 3, 1);
	EXPECT("durable -> MIX, REJECTED 2: a state of a chunk that is not due, drop, state 0 k0 to 2 3, "
	       "compute mix",
	       tell_durable(p, SL_PERSIST_RELEASED));
	driver_free(p, 0);
	p = driver_new(3, 4);
	driver_ready(p);
	for (uint32_t k = 0; k < 2 * SL_WINDOW; k++)
		EXPECT("state 0 k0 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("state 0 k0 from 2 -> REJECTED 2: too many states at once, drop",
	       tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	driver_free(p, 2 * SL_WINDOW);
}

TEST(test_aborted_while_ready)
{
	struct driver *p = driver_new(3, 4);
	driver_ready(p);
	EXPECT("state 0 k0 from 2 ->", tell_payload(p, 2, SL_MSG_STATE, 0, 0));
	EXPECT("link down 3 ->", tell_link(p, false, 3)); /* waiting for Readys, it does not matter */
	EXPECT("abort of 3 a1 from 2 -> FAILED aborted 3, persist aborted t1 a1, drop, wipe, DISCOVER, links "
	       "2 "
	       "3, hello t1 ready to 2, "
	       "AGREE, link state of 1 a2 to 2",
	       tell_abort(p, 2, 3, 1, LIST_OF_NONE));
	driver_free(p, 0);
}

TEST(test_a_higher_attempt)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	EXPECT("link state of 2 a4 from 2 -> FAILED superseded 2, persist aborted t1 a1, wipe, DISCOVER, "
	       "links 2 3, hello t1 ready to 2 3, "
	       "AGREE, link state of 1 a4 to 2 3, link state of 2 a4 to 3",
	       tell_link_state(p, 2, 2, 4, LIST(1, 3)));
	EXPECT("share 0 from 2 -> drop",
	       tell_of_another_view(p, SL_MSG_SHARE, 1)); /* of an attempt that ended */
	EXPECT("durable -> abort of 1 a1 to 2 3", tell_durable(p, SL_PERSIST_ABORTED));
	driver_free(p, 0);
}

/* Learner 2 had said that it is in and started again: what the others agree on with it is not this view. */
TEST(test_started_again)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	struct sl_message m = link_state_of(p, 2, 1, LIST(1, 3));
	m.link_state.incarnation = 2;
	EXPECT("link state of 2 a1 from 3 -> FAILED aborted 2, persist aborted t1 a1, wipe, DISCOVER, links "
	       "2 "
	       "3, hello t1 ready to 2 3, "
	       "AGREE, link state of 1 a2 to 2 3, link state of 2 a1 to 2",
	       tell_message(p, 3, &m));
	driver_free(p, 0);
}

TEST(test_equivocation)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	assert_non_null(strstr(tell_link_state(p, 3, 2, 1, LIST(1)), "FAILED equivocation 2"));
	driver_free(p, 0);
	p = driver_new(3, 4); /* heard in TRAIN already */
	tell_link(p, true, 2);
	tell_link(p, true, 3);
	tell_link_state(p, 2, 2, 1, LIST(1));
	tell_link_state(p, 3, 2, 1, LIST(1, 3));
	tell_hello(p, 2, 1, SL_PEER_STATUS_READY);
	tell_hello(p, 3, 1, SL_PEER_STATUS_READY);
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	assert_non_null(strstr(tell_link_state(p, 3, 3, 1, LIST(1, 2)), "FAILED equivocation 2"));
	driver_free(p, 0);
}

TEST(test_flood_stalls)
{
	struct driver *p = driver_new(3, 4);
	for (sl_id id = 2; id <= 3; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_PEER_STATUS_READY);
	}
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	tell_link_state(p, 2, 2, 1, LIST(1, 3));
	EXPECT("deadline -> FAILED flood 3, wipe, DISCOVER, links 2 3, hello t1 ready to 2 3",
	       tell_time(p, 10000));
	assert_true(sl_core_deadline(p->core) <= p->now + 1000); /* a pause, then attempt 2 */
	EXPECT("deadline -> AGREE, link state of 1 a2 to 2 3", tell_time(p, 1000));
	driver_free(p, 0);
}

/* What it was told over its last link may never have arrived. */
TEST(test_a_new_link_knows_nothing)
{
	struct driver *p = driver_new(4, 4);
	for (sl_id id = 2; id <= 4; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_PEER_STATUS_READY);
	}
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	EXPECT("link state of 2 a1 from 2 -> link state of 2 a1 to 3 4",
	       tell_link_state(p, 2, 2, 1, LIST(1, 3, 4)));
	EXPECT("link state of 2 a1 from 3 ->", tell_link_state(p, 3, 2, 1, LIST(1, 3, 4)));
	EXPECT("link down 4 -> FAILED link 4, wipe, DISCOVER, links 2 3 4, hello t1 ready to 2 3, AGREE, "
	       "link state of 1 a2 to 2 3",
	       tell_link(p, false, 4));
	EXPECT("link up 4 -> hello t1 ready to 4, link state of 1 a2 to 4, link state of 2 a1 to 4",
	       tell_link(p, true, 4));
	driver_free(p, 0);
}

/* What waits for the view comes back when the attempt ends; and a flood of it does not overflow a step. */
TEST(test_many_early_chunks)
{
	struct driver *p = driver_new(100, 8 * SL_CHUNK_ELEMENTS);
	driver_agree(p);
	for (sl_id id = 2; id <= 100; id++)
		for (uint32_t m = 0; m < 2 * SL_WINDOW; m++)
			tell_payload(p, id, SL_MSG_SHARE, m, 0);
	assert_non_null(
		strstr(tell_payload(p, 2, SL_MSG_SHARE, 0, 0), "too many shares before the view is closed"));
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	assert_true(p->actions.count < SL_ACTIONS_MAX);
	driver_free(p, 0);
}

TEST(test_many_wrong_early_chunks)
{
	struct driver *p = driver_new(100, 4);
	driver_agree(p);
	for (sl_id id = 2; id <= 100; id++)
		for (uint32_t m = 0; m < 2 * SL_WINDOW; m++)
			tell_payload(p, id, SL_MSG_SHARE, 0, 0); /* the same one again and again */
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	assert_true(p->actions.count < SL_ACTIONS_MAX);
	driver_free(p, 0);
}

/* --- events that their kind does not allow --- */

TEST(test_events_out_of_place)
{
	struct driver *p = driver_new(3, 4);
	const struct sl_event bad[] = {
		{.kind = SL_EVENT_START},
		{.kind = SL_EVENT_LINK_UP, .peer = 0},
		{.kind = SL_EVENT_LINK_UP, .peer = 3},
		{.kind = SL_EVENT_COMPUTED, .result = &(struct sl_job_result){.kind = SL_JOB_COMMITMENT}},
		{.kind = SL_EVENT_RANGE, .range = (const uint64_t[]){6}},
		{.kind = SL_EVENT_MESSAGE, .peer = 1, .message = &(struct sl_message){.kind = SL_MSG_SHARE}},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tell(p, bad[i]);
		assert_int_equal(p->code, SL_ERR_INVALID);
		assert_int_equal(p->actions.count, 0);
	}
	driver_free(p, 0);
}

/* What a disk says, late or of nothing that was asked of it. */
TEST(test_nobody_asked)
{
	static const struct sl_durable said[] = {
		{0, 1, 1},
		{SL_PERSIST_PREPARED, 1, 1},
		{SL_PERSIST_RELEASED, 1, 1},
		{SL_PERSIST_CLOSED, 1, 1},
		{SL_PERSIST_COMMIT, 1, 1},
		{SL_PERSIST_ABORTED, 2, 1},
		{SL_PERSIST_ABORTED, 0, 1},
	};
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		EXPECT("durable ->",
		       tell(p, (struct sl_event){.kind = SL_EVENT_DURABLE, .durable = said[i]}));
	driver_free(p, 0);
}

/* Of an attempt that was given up while the disk was busy with it: the own Ready stays here, even when the
 * next attempt has come as far. */
TEST(test_prepared_too_late)
{
	struct driver *p = driver_new(2, 4);
	driver_share(p);
	tell_payload(p, 2, SL_MSG_SHARE, 0, 0);
	tell_done(p, SL_JOB_GATHER, SL_OK);
	EXPECT("commitment done -> persist prepared t1 a1", tell_done(p, SL_JOB_COMMITMENT, SL_OK));
	assert_int_equal(sl_core_deadline(p->core), SL_NEVER); /* it is the own disk that is awaited */
	assert_non_null(strstr(tell_abort(p, 2, 2, 1, LIST_OF_NONE),
			       "FAILED aborted 2, persist aborted t1 a1, wipe, DISCOVER"));
	struct sl_durable late = p->asked[SL_PERSIST_PREPARED];
	EXPECT("durable ->", tell_durable(p, SL_PERSIST_PREPARED));
	tell_link_state(p, 2, 2, 2, LIST(1));
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	tell_done(p, SL_JOB_SHARE, SL_OK);
	tell_payload(p, 2, SL_MSG_SHARE, 0, 0);
	EXPECT("durable ->", tell(p, (struct sl_event){.kind = SL_EVENT_DURABLE, .durable = late}));
	tell_done(p, SL_JOB_GATHER, SL_OK);
	EXPECT("commitment done -> persist prepared t1 a2", tell_done(p, SL_JOB_COMMITMENT, SL_OK));
	EXPECT("durable -> ready of 1 a2 to 2", tell_durable(p, SL_PERSIST_PREPARED));
	driver_free(p, 0);
}

TEST(test_operator_abort_out_of_place)
{
	struct driver *p = driver_new(2, 4);
	const struct sl_event operator_abort = {.kind = SL_EVENT_OPERATOR_ABORT, .round = 1},
			      other = {.kind = SL_EVENT_OPERATOR_ABORT, .round = 2};
	tell(p, operator_abort); /* in TRAIN there is nothing to give up */
	assert_int_equal(p->code, SL_ERR_INVALID);
	driver_share(p);
	tell(p, operator_abort);
	assert_int_equal(p->code, SL_ERR_INVALID);
	tell_payload(p, 2, SL_MSG_SHARE, 0, 0);
	tell_done(p, SL_JOB_GATHER, SL_OK);
	tell_done(p, SL_JOB_COMMITMENT, SL_OK);
	tell(p, operator_abort); /* READY, and not prepared */
	assert_int_equal(p->code, SL_ERR_INVALID);
	tell_durable(p, SL_PERSIST_PREPARED);
	tell(p, other);
	assert_int_equal(p->code, SL_ERR_INVALID);
	EXPECT("operator abort -> FAILED operator abort, persist aborted t1 a1, wipe, DISCOVER, links 2, "
	       "hello t1 ready "
	       "to 2, AGREE, "
	       "link state of 1 a2 to 2",
	       tell(p, operator_abort));
	driver_free(p, 0);
}
