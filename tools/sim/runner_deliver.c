/* Delivery of messages, and links, which are up while one end wants them. */
#include <string.h>

#include "common/base/bytes.h"
#include "tools/sim/runner_internal.h"

void sl_runner_post(struct sl_runner *runner, uint32_t i, struct sl_runner_mail mail)
{
	struct sl_runner_learner *l = &runner->learners[i];
	if (!l->stopped)
		SL_RUNNER_PUSH(l->inbox, mail);
	else if (mail.piece != NULL)
		sl_runner_unread(mail.piece, 1);
}

static void set_link(struct sl_runner *runner, uint32_t i, uint32_t j, bool up)
{
	uint32_t ends[2] = {i, j};
	for (int e = 0; e < 2; e++) {
		uint32_t at = ends[e], peer = ends[1 - e];
		sl_runner_post(runner, at,
			       (struct sl_runner_mail){.kind = up ? SL_RUNNER_LINK_UP : SL_RUNNER_LINK_DOWN,
						       .peer = peer});
		if (up)
			sl_bit_set(runner->learners[at].up, peer);
		else
			sl_bit_clear(runner->learners[at].up, peer);
	}
}

static void want_one(struct sl_runner *runner, uint32_t i, uint32_t j, bool was, bool is)
{
	const struct sl_runner_learner *l = &runner->learners[i], *peer = &runner->learners[j];
	bool up = sl_bit(l->up, j);
	if (is && !up && !peer->stopped)
		set_link(runner, i, j, true);
	else if (is && !was && !up) /* it does not answer; once is enough to say so */
		sl_runner_post(runner, i, (struct sl_runner_mail){.kind = SL_RUNNER_LINK_DOWN, .peer = j});
	else if (!is && up && !sl_bit(peer->wanted, i))
		set_link(runner, i, j, false);
}

static void want(struct sl_runner *runner, uint32_t i, const uint64_t *set)
{
	struct sl_runner_learner *l = &runner->learners[i];
	for (uint32_t j = 0; j < runner->n; j++) {
		bool was = sl_bit(l->wanted, j), is = sl_bit(set, j);
		if (is)
			sl_bit_set(l->wanted, j);
		else
			sl_bit_clear(l->wanted, j);
		want_one(runner, i, j, was, is);
	}
}

static void hand_out(struct sl_runner *runner, uint32_t i, uint32_t j, struct sl_runner_payload *piece)
{
	atomic_fetch_add_explicit(&piece->readers, 1, memory_order_relaxed);
	runner->learners[i].bytes += piece->frame_bytes;
	sl_runner_post(runner, j,
		       (struct sl_runner_mail){.kind = SL_RUNNER_PAYLOAD, .peer = i, .piece = piece});
}

/* Hand a message to its receivers; without a link it is lost. */
static void spread(struct sl_runner *runner, uint32_t i, const struct sl_runner_said *said)
{
	const struct sl_runner_learner *l = &runner->learners[i];
	const uint64_t *to = l->sets.items + said->set;
	atomic_init(&said->piece->readers, 1); /* this one, until all have it */
	if (said->peer != SL_NOBODY && sl_bit(l->up, said->peer))
		hand_out(runner, i, said->peer, said->piece);
	for (size_t w = 0; said->peer == SL_NOBODY && w < runner->words; w++)
		for (uint64_t left = to[w] & l->up[w]; left != 0; left &= left - 1)
			hand_out(runner, i, (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left),
				 said->piece);
	sl_runner_unread(said->piece, 1);
}

/* A learner that has ended: after what it said, its links fall. */
static void leave(struct sl_runner *runner, uint32_t i)
{
	const struct sl_runner_learner *l = &runner->learners[i];
	for (uint32_t j = 0; j < runner->n; j++)
		if (sl_bit(l->up, j))
			set_link(runner, i, j, false);
}

void sl_runner_deliver(struct sl_runner *runner)
{
	for (uint32_t i = 0; i < runner->n; i++) {
		struct sl_runner_learner *l = &runner->learners[i];
		for (size_t k = 0; k < l->said.count; k++)
			if (l->said.items[k].piece == NULL)
				want(runner, i, l->sets.items + l->said.items[k].set);
			else
				spread(runner, i, &l->said.items[k]);
		l->said.count = l->sets.count = 0;
		if (l->stopped)
			leave(runner, i);
	}
}
