/* What a learner signs again when it starts again in an open attempt (ROUND.md §14.3 Restart). */
#include "common/core/state.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

/* Learner 1 of `p` starts again, with what is on its disk. */
static struct driver *start_again(struct driver *p, enum sl_open_state state, enum sl_vote vote)
{
	const struct sl_attempt_state *at = &p->core->at;
	struct sl_open open = {.state = state,
			       .vote = vote,
			       .a = 1,
			       .view = at->view_bytes,
			       .view_bytes = at->view_size,
			       .readys = at->readys,
			       .ready_count = state == SL_OPEN_RELEASED ? p->core->view.n : 1,
			       .secrets = at->secrets};
	struct driver *q = driver_new(p->config.roster_size, p->config.parameters.n);
	q->config.parameters = p->config.parameters;
	q->config.open = &open;
	q->config.incarnation = 2;
	play(q, "start");
	q->view = &q->core->view;
	memcpy(q->h, q->view->h, sizeof q->h);
	driver_free(p);
	return q;
}

TEST(the_same_ready)
{
	struct driver *p = driver_ready(driver_new(3, 4));
	struct sl_ready before = p->core->at.readys[0];
	p = start_again(p, SL_OPEN_PREPARED, SL_VOTE_NONE);
	play(p, "link up 2 -> *ready of 1 a1 to 2*");
	assert_memory_equal(&driver_sent(p, SL_MSG_READY)->ready, &before, sizeof before);
	driver_free(p);
}

TEST(an_abort_of_the_same_ready)
{
	struct driver *p = driver_ready(driver_new(3, 4));
	play(p, "operator abort -> persist aborted*\n"
		"durable aborted -> abort of 1 a1 to 2 3");
	struct sl_abort before = driver_sent(p, SL_MSG_ABORT)->abort;
	p = start_again(p, SL_OPEN_ABORTED, SL_VOTE_NONE);
	play(p, "link up 2 -> *abort of 1 a1 to 2*");
	assert_memory_equal(driver_sent(p, SL_MSG_ABORT)->abort.ready, before.ready, sizeof before.ready);
	driver_free(p);
}

/* In RECOVER, with all masked states. */
static struct driver *released(enum sl_vote vote)
{
	struct driver *p = start_again(driver_confirm(driver_new(3, 4)), SL_OPEN_RELEASED, vote);
	play(p, "check done\ncheck done\ncheck done");
	return p;
}

TEST(a_digest_of_the_same_result)
{
	struct driver *p = released(SL_VOTE_DIGEST);
	play(p, "link up 2 3\n"
		"key from 2 3 -> *compute sum*\n"
		"sum done -> RECOVERED, CONFIRM, digest to 2 3");
	assert_int_equal(driver_sent(p, SL_MSG_DIGEST)->digest.digest[0], 7);
	driver_free(p);
}

/* Beside a give-up, who may have signed a Digest signs it again; another waits. */
TEST(a_digest_beside_a_give_up)
{
	for (uint32_t signed_one = 0; signed_one <= 1; signed_one++) {
		struct driver *p = released(signed_one ? SL_VOTE_DIGEST : SL_VOTE_NONE);
		play(p, "link up 3\n"
			"abort of 3 g2 a1 from 3\n"
			"key of 2 from 3\n"
			"key from 3");
		assert_int_equal(driver_says(p, "compute sum"), signed_one);
		driver_free(p);
	}
}

/* An attempt with a model of other tensors is not taken up again. */
TEST(another_model)
{
	for (uint32_t other = 0; other <= 1; other++) {
		struct driver *p = driver_ready(driver_new(3, 4));
		p->config.parameters.model += other;
		p = start_again(p, SL_OPEN_PREPARED, SL_VOTE_NONE);
		assert_int_equal(driver_says(p, "RESUMED"), !other);
		driver_free(p);
	}
}
