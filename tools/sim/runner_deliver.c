/* Delivery of messages, and links, which are up while one end wants them. */
#include <string.h>

#include "common/base/bytes.h"
#include "tools/sim/runner_internal.h"

void swarm_post(struct swarm *swarm, uint32_t i, struct swarm_mail mail)
{
	struct swarm_learner *l = &swarm->learners[i];
	if (!l->stopped)
		SWARM_PUSH(l->inbox, mail);
	else if (mail.piece != NULL)
		swarm_unread(mail.piece, 1);
}

static void set_link(struct swarm *swarm, uint32_t i, uint32_t j, bool up)
{
	uint32_t ends[2] = {i, j};
	for (int e = 0; e < 2; e++) {
		uint32_t at = ends[e], peer = ends[1 - e];
		swarm_post(swarm, at, (struct swarm_mail){.kind = up ? SWARM_LINK_UP : SWARM_LINK_DOWN, .peer = peer});
		if (up)
			sl_bit_set(swarm->learners[at].up, peer);
		else
			sl_bit_clear(swarm->learners[at].up, peer);
	}
}

static void want_one(struct swarm *swarm, uint32_t i, uint32_t j, bool was, bool is)
{
	const struct swarm_learner *l = &swarm->learners[i], *peer = &swarm->learners[j];
	bool up = sl_bit(l->up, j);
	if (is && !up && !peer->stopped)
		set_link(swarm, i, j, true);
	else if (is && !was && !up) /* it does not answer; once is enough to say so */
		swarm_post(swarm, i, (struct swarm_mail){.kind = SWARM_LINK_DOWN, .peer = j});
	else if (!is && up && !sl_bit(peer->wanted, i))
		set_link(swarm, i, j, false);
}

static void want(struct swarm *swarm, uint32_t i, const uint64_t *set)
{
	struct swarm_learner *l = &swarm->learners[i];
	for (uint32_t j = 0; j < swarm->n; j++) {
		bool was = sl_bit(l->wanted, j), is = sl_bit(set, j);
		if (is)
			sl_bit_set(l->wanted, j);
		else
			sl_bit_clear(l->wanted, j);
		want_one(swarm, i, j, was, is);
	}
}

static void hand_out(struct swarm *swarm, uint32_t i, uint32_t j, struct swarm_piece *piece)
{
	atomic_fetch_add_explicit(&piece->readers, 1, memory_order_relaxed);
	swarm->learners[i].bytes += piece->frame_bytes;
	swarm_post(swarm, j, (struct swarm_mail){.kind = SWARM_PIECE, .peer = i, .piece = piece});
}

/* Hand a message to its receivers; without a link it is lost. */
static void spread(struct swarm *swarm, uint32_t i, const struct swarm_said *said)
{
	const struct swarm_learner *l = &swarm->learners[i];
	const uint64_t *to = l->sets.items + said->set;
	atomic_init(&said->piece->readers, 1); /* this one, until all have it */
	if (said->peer != SL_NOBODY && sl_bit(l->up, said->peer))
		hand_out(swarm, i, said->peer, said->piece);
	for (size_t w = 0; said->peer == SL_NOBODY && w < swarm->words; w++)
		for (uint64_t left = to[w] & l->up[w]; left != 0; left &= left - 1)
			hand_out(swarm, i, (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left), said->piece);
	swarm_unread(said->piece, 1);
}

/* A learner that has ended: after what it said, its links fall. */
static void leave(struct swarm *swarm, uint32_t i)
{
	const struct swarm_learner *l = &swarm->learners[i];
	for (uint32_t j = 0; j < swarm->n; j++)
		if (sl_bit(l->up, j))
			set_link(swarm, i, j, false);
}

void swarm_deliver(struct swarm *swarm)
{
	for (uint32_t i = 0; i < swarm->n; i++) {
		struct swarm_learner *l = &swarm->learners[i];
		for (size_t k = 0; k < l->said.count; k++)
			if (l->said.items[k].piece == NULL)
				want(swarm, i, l->sets.items + l->said.items[k].set);
			else
				spread(swarm, i, &l->said.items[k]);
		l->said.count = l->sets.count = 0;
		if (l->stopped)
			leave(swarm, i);
	}
}
