#include "tools/sim/explore_world.h"

#include <stdlib.h>
#include <string.h>

#define LINK_ENDS 0u /* in a queue; a message is its number + 2 */
#define LINK_BEGINS 1u
#define QUEUE_MOST 512u
#define TICK_MS 100u /* deadlines that are closer together are heeded at once */

static bool in(uint32_t set, uint32_t actor)
{
	return set >> actor & 1;
}

static const struct sl_explore_look *look_of(const struct sl_explore *x, const struct sl_explore_world *w,
					     uint32_t actor)
{
	return sl_explore_learners_look(&x->learners, w->learner[actor]);
}

static void fail(struct sl_explore *x, const char *why)
{
	if (x->broken[0] == '\0')
		snprintf(x->broken, sizeof x->broken, "%s", why);
}

/* --- links --- */

static bool alive(const struct sl_explore_world *w, uint32_t actor)
{
	return !in(w->down | w->gone, actor);
}

static bool is_self(const struct sl_explore *x, uint32_t actor)
{
	return actor == x->liar || actor == x->options.learners;
}

/* Return true if `peer` hears another self of the liar. Both selves hear all that is sent to the liar. */
static bool unheard(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t actor,
		    uint32_t peer)
{
	return w->split != 0 && is_self(x, actor) && in(w->split, peer) != (actor == x->options.learners);
}

static uint32_t index_of(const struct sl_explore *x, uint32_t actor)
{
	return actor == x->options.learners ? x->liar : actor;
}

/* Return true if a link between the learners is possible: always, or on the ring. */
static bool near(const struct sl_explore *x, uint32_t a, uint32_t b)
{
	uint32_t n = x->options.learners, i = index_of(x, a), j = index_of(x, b);
	return !x->options.ring || (i + 1) % n == j || (j + 1) % n == i;
}

static bool linked(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t a, uint32_t b)
{
	bool apart = x->options.group ? in(w->cut, a) != in(w->cut, b) : in(w->cut, a) || in(w->cut, b);
	return a != b && near(x, a, b) && alive(w, a) && alive(w, b) && !apart &&
	       !(is_self(x, a) && is_self(x, b));
}

static const uint32_t *queue(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t to,
			     uint32_t from, uint32_t *count)
{
	size_t bytes;
	const uint32_t *q = sl_explore_store_get(&x->learners.lists, w->queue[to][from], &bytes);
	*count = (uint32_t)(bytes / sizeof *q);
	return q;
}

static void append(struct sl_explore *x, struct sl_explore_world *w, uint32_t to, uint32_t from,
		   uint32_t what)
{
	uint32_t count, room[QUEUE_MOST];
	if (unheard(x, w, from, to))
		return;
	const uint32_t *q = queue(x, w, to, from, &count);
	if (count + 1 >= QUEUE_MOST)
		abort();
	if (count > 0)
		memcpy(room, q, count * sizeof *q);
	room[count] = what;
	w->queue[to][from] = sl_explore_store_put(&x->learners.lists, room, (count + 1) * sizeof *room);
}

static void drop_first(struct sl_explore *x, struct sl_explore_world *w, uint32_t to, uint32_t from,
		       uint32_t n)
{
	uint32_t count, room[QUEUE_MOST];
	const uint32_t *q = queue(x, w, to, from, &count);
	memcpy(room, q + n, (count - n) * sizeof *q);
	w->queue[to][from] = sl_explore_store_put(&x->learners.lists, room, (count - n) * sizeof *room);
}

/* Return the place of the end of the link in the queue, or UINT32_MAX. */
static uint32_t end_of(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t to,
		       uint32_t from)
{
	uint32_t count;
	const uint32_t *q = queue(x, w, to, from, &count);
	for (uint32_t k = 0; k < count; k++)
		if (q[k] == LINK_ENDS)
			return k;
	return UINT32_MAX;
}

/* Return true if the learner knows the present link to `peer`. */
static bool knows_link(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t actor,
		       uint32_t peer)
{
	uint32_t count;
	const uint32_t *q = queue(x, w, actor, peer, &count);
	for (uint32_t k = 0; k < count; k++)
		if (q[k] <= LINK_BEGINS)
			return false;
	return true;
}

/* --- operations --- */

static void end_links(struct sl_explore *x, struct sl_explore_world *w, uint32_t actor)
{
	for (uint32_t j = 0; j < x->actors; j++)
		if (linked(x, w, actor, j))
			append(x, w, j, actor, LINK_ENDS);
}

static void begin_links(struct sl_explore *x, struct sl_explore_world *w, uint32_t actor)
{
	for (uint32_t j = 0; j < x->actors; j++) {
		if (!linked(x, w, actor, j))
			continue;
		append(x, w, j, actor, LINK_BEGINS);
		append(x, w, actor, j, LINK_BEGINS);
	}
}

static void leave(struct sl_explore *x, struct sl_explore_world *w, uint32_t actor, bool for_good)
{
	end_links(x, w, actor);
	memset(w->queue[actor], 0, sizeof w->queue[actor]);
	if (for_good)
		w->gone |= (uint8_t)(1u << actor);
	else
		w->down |= (uint8_t)(1u << actor);
}

static void send_all(struct sl_explore *x, struct sl_explore_world *w, uint32_t actor, uint32_t list)
{
	size_t bytes;
	const uint32_t *sent = sl_explore_store_get(&x->learners.lists, list, &bytes);
	for (size_t k = 0; k + 1 < bytes / sizeof *sent; k += 2) {
		uint32_t to = sent[k], what = sent[k + 1] + 2;
		if (!linked(x, w, actor, to) || !knows_link(x, w, actor, to))
			continue;
		append(x, w, to, actor, what);
		if (to == x->liar && w->split != 0)
			append(x, w, x->options.learners, actor, what);
		sent = sl_explore_store_get(&x->learners.lists, list, &bytes); /* it may have moved */
	}
}

/* Let an operation happen to one learner; return the number of records. */
static uint32_t operate(struct sl_explore *x, struct sl_explore_world *w, uint32_t actor,
			struct sl_explore_step step)
{
	step.learner = w->learner[actor];
	struct sl_explore_outcome outcome = sl_explore_learners_step(&x->learners, &step);
	w->learner[actor] = outcome.learner;
	send_all(x, w, actor, outcome.sent);
	const struct sl_explore_look *look = look_of(x, w, actor);
	if (look->broken != NULL && index_of(x, actor) != x->liar)
		fail(x, look->broken);
	if ((look->down || look->stopped) && alive(w, actor))
		leave(x, w, actor, look->stopped);
	if (look->stopped && look->code != SL_OK && w->faults == 0)
		fail(x, "a learner ends with an error");
	return outcome.records;
}

/* --- rules --- */

static bool honest(const struct sl_explore *x, uint32_t actor)
{
	return index_of(x, actor) != x->liar;
}

static bool has(const struct sl_explore_look *look, uint32_t kind, uint64_t view)
{
	for (uint32_t k = 0; k < look->past_count; k++)
		if (look->past[k].kind == kind && look->past[k].view == view)
			return true;
	return false;
}

/* Return true if the masked state of `i` in the view may be known, also to c learners that use the key shares
 * they hold: it sent its key, or enough of its holders may open it. */
static bool may_be_known(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t i,
			 uint32_t members, uint64_t view)
{
	uint32_t c = x->options.tolerance, degree = 0, openers = c;
	for (uint32_t j = 0; j < x->options.learners; j++)
		degree += j != i && in(members, j) && near(x, i, j);
	uint32_t threshold = c + 1 > degree / 2 + 1 ? c + 1 : degree / 2 + 1;
	for (uint32_t j = 0; j < x->options.learners; j++)
		openers += j != i && in(members, j) && near(x, i, j) &&
			   has(look_of(x, w, j), SL_PERSIST_RELEASED, view);
	return has(look_of(x, w, i), SL_PERSIST_RELEASED, view) || (openers > c && openers >= threshold);
}

/* A model that was in an attempt may enter another one only if the masked states of at least c+1 participants
 * of the first are never known (PROTOCOL.md §9.4 Rule B). `released` is the record of any participant. */
static void check_reuse(struct sl_explore *x, const struct sl_explore_world *w,
			const struct sl_explore_record *released)
{
	uint32_t known = 0;
	for (uint32_t i = 0; i < x->options.learners; i++)
		known += in(released->members, i) && may_be_known(x, w, i, released->members, released->view);
	if ((uint32_t)__builtin_popcount(released->members) >= known + x->options.tolerance + 1)
		return;
	for (uint32_t i = 0; i < x->options.learners; i++) {
		const struct sl_explore_look *look = look_of(x, w, i);
		const struct sl_explore_record *first = NULL;
		for (const struct sl_explore_record *r = look->past; r < look->past + look->past_count; r++) {
			if (r->kind != SL_PERSIST_PREPARED)
				continue;
			if (first != NULL && r->model == first->model)
				fail(x, "a model is used again although too many masked states of its "
					"attempt may be known");
			if (r->view == released->view)
				first = r;
		}
	}
}

static void check_releases(struct sl_explore *x, const struct sl_explore_world *w,
			   const struct sl_explore_look *look)
{
	for (uint32_t k = 0; k < look->past_count; k++) {
		const struct sl_explore_record *r = &look->past[k];
		if (r->kind != SL_PERSIST_RELEASED)
			continue;
		for (uint32_t i = 0; i < x->options.learners; i++)
			if (in(r->members, i) && honest(x, i) &&
			    !has(look_of(x, w, i), SL_PERSIST_PREPARED, r->view))
				fail(x, "a learner releases before a participant is ready");
		check_reuse(x, w, r);
	}
}

static void check(struct sl_explore *x, const struct sl_explore_world *w)
{
	uint64_t digest = 0;
	for (uint32_t i = 0; i < x->options.learners; i++) {
		const struct sl_explore_look *look = look_of(x, w, i);
		if (!honest(x, i))
			continue;
		if (look->digest != 0 && digest != 0 && look->digest != digest)
			fail(x, "two learners have committed different results of one round");
		if (look->digest != 0)
			digest = look->digest;
		if (look->past_count > 0 && w->faults == 0)
			check_releases(x, w, look);
	}
}

void sl_explore_world_last(struct sl_explore *x, const struct sl_explore_world *w)
{
	uint32_t lost = (uint32_t)__builtin_popcount(w->gone | w->cut);
	if (w->faults != 0 || lost > x->options.bears)
		return;
	for (uint32_t i = 0; i < x->options.learners; i++)
		if (alive(w, i) && !in(w->cut, i) && look_of(x, w, i)->committed == 0) {
			fail(x, "no progress: all is quiet, and a learner has not committed");
			return;
		}
}

/* --- choices --- */

/* Drop the messages on links of the learner that have ended. */
static void lose_messages(struct sl_explore *x, struct sl_explore_world *w, uint32_t actor)
{
	for (uint32_t j = 0; j < x->actors; j++)
		for (int side = 0; side < 2; side++) {
			uint32_t to = side == 0 ? actor : j, from = side == 0 ? j : actor,
				 end = end_of(x, w, to, from);
			if (end != UINT32_MAX && end > 0)
				drop_first(x, w, to, from, end);
		}
}

/* End the links between a set of learners and all others; without `group` it is a set of one. */
static void cut_off(struct sl_explore *x, struct sl_explore_world *w, uint32_t set, bool lossy)
{
	for (uint32_t i = 0; i < x->actors; i++)
		for (uint32_t j = 0; in(set, i) && j < x->actors; j++)
			if (!in(set, j) && linked(x, w, i, j)) {
				append(x, w, j, i, LINK_ENDS);
				append(x, w, i, j, LINK_ENDS);
			}
	w->cut |= (uint8_t)set;
	for (uint32_t i = 0; lossy && i < x->actors; i++)
		if (in(set, i))
			lose_messages(x, w, i);
}

static void heal(struct sl_explore *x, struct sl_explore_world *w, uint32_t set)
{
	struct sl_explore_world before = *w;
	w->cut &= (uint8_t)~set;
	w->waits = 0;
	for (uint32_t i = 0; i < x->actors; i++)
		for (uint32_t j = 0; j < i; j++)
			if (linked(x, w, i, j) && !linked(x, &before, i, j)) {
				append(x, w, j, i, LINK_BEGINS);
				append(x, w, i, j, LINK_BEGINS);
			}
}

static void follow(struct sl_explore *x, struct sl_explore_world *w, const struct sl_explore_choice *c)
{
	uint32_t i = c->actor;
	switch ((enum sl_explore_after)c->after) {
	case SL_EXPLORE_NOTHING:
		return;
	case SL_EXPLORE_DOWN:
	case SL_EXPLORE_UP_AGAIN:
	case SL_EXPLORE_FORGETS:
	case SL_EXPLORE_EMPTIED:
	case SL_EXPLORE_LOST:
		if (alive(w, i))
			operate(x, w, i, (struct sl_explore_step){.operation = SL_EXPLORE_CRASH});
		if (c->after == SL_EXPLORE_DOWN)
			w->left.crashes--;
		if (c->after == SL_EXPLORE_LOST) {
			w->left.losses--;
			w->down &= (uint8_t) ~(1u << i);
			w->gone |= (uint8_t)(1u << i);
		}
		break;
	case SL_EXPLORE_CUT:
		w->left.cuts--;
		cut_off(x, w, x->options.group ? x->options.cut_who : 1u << i, c->lossy);
		return;
	case SL_EXPLORE_TIMES_OUT:
		w->left.timeouts--;
		operate(x, w, i, (struct sl_explore_step){.operation = SL_EXPLORE_TIMEOUT});
		break;
	}
	if (c->lossy)
		lose_messages(x, w, i);
}

/* Restart a learner that is down: from its disk, from that before a record, or from an empty one. */
static void come_back(struct sl_explore *x, struct sl_explore_world *w, const struct sl_explore_choice *c)
{
	uint32_t i = c->actor;
	struct sl_explore_step step = {.operation = SL_EXPLORE_RESTART};
	if (c->after == SL_EXPLORE_FORGETS)
		step = (struct sl_explore_step){.operation = SL_EXPLORE_FORGET, .what = c->record};
	if (c->after == SL_EXPLORE_EMPTIED)
		step = (struct sl_explore_step){.operation = SL_EXPLORE_EMPTY};
	if (step.operation != SL_EXPLORE_RESTART) {
		w->left.forgets--;
		w->faults = 1;
	} else if (c->after == SL_EXPLORE_UP_AGAIN) {
		w->left.crashes--;
	}
	w->down &= (uint8_t) ~(1u << i);
	w->waits = 0;
	for (uint32_t j = 0; j < x->options.learners; j++)
		if (i != j && !linked(x, w, i, j)) /* dialled in vain */
			append(x, w, i, j, LINK_ENDS);
	operate(x, w, i, step);
	begin_links(x, w, i);
}

static void wait_all(struct sl_explore *x, struct sl_explore_world *w)
{
	sl_ms least = SL_NEVER;
	for (uint32_t i = 0; i < x->actors; i++)
		if (alive(w, i) && look_of(x, w, i)->wait < least)
			least = look_of(x, w, i)->wait;
	least = least < TICK_MS ? TICK_MS : least;
	for (uint32_t i = 0; i < x->actors; i++)
		if (alive(w, i))
			operate(x, w, i,
				(struct sl_explore_step){.operation = SL_EXPLORE_WAIT,
							 .what = (uint32_t)least});
	w->waits++;
}

static void deliver(struct sl_explore *x, struct sl_explore_world *w, const struct sl_explore_choice *c)
{
	uint32_t count, skipped = c->act == SL_EXPLORE_ACT_SKIP ? end_of(x, w, c->actor, c->peer) : 0;
	uint32_t what = queue(x, w, c->actor, c->peer, &count)[skipped];
	drop_first(x, w, c->actor, c->peer, skipped + 1);
	struct sl_explore_step step = {.operation = what == LINK_ENDS	  ? SL_EXPLORE_LINK_DOWN
						    : what == LINK_BEGINS ? SL_EXPLORE_LINK_UP
									  : SL_EXPLORE_MESSAGE,
				       .peer = index_of(x, c->peer),
				       .what = what > LINK_BEGINS ? what - 2 : 0,
				       .crash = c->crash,
				       .corrupt = c->corrupt};
	if (c->corrupt) {
		w->left.lies--;
		w->faults = 1;
	}
	operate(x, w, c->actor, step);
}

/* The liar becomes two: `record` is the set of peers of the second self. Their links and all that is on them
 * are its from now on. */
static void split(struct sl_explore *x, struct sl_explore_world *w, uint8_t peers)
{
	uint32_t second = x->options.learners;
	w->learner[second] = w->learner[x->liar];
	for (uint32_t j = 0; j < x->options.learners; j++) {
		w->queue[second][j] = w->queue[x->liar][j];
		if (!in(peers, j))
			continue;
		w->queue[j][second] = w->queue[j][x->liar];
		w->queue[j][x->liar] = 0;
	}
	w->split = peers;
	w->gone &= (uint8_t) ~(1u << second);
	w->left.splits--;
	w->faults = 1;
	operate(x, w, second, (struct sl_explore_step){.operation = SL_EXPLORE_TWIN});
}

void sl_explore_world_choose(struct sl_explore *x, struct sl_explore_world *w,
			     const struct sl_explore_choice *c)
{
	x->broken[0] = '\0';
	w->root = 0;
	if (w->left.delays != SL_EXPLORE_ANY)
		w->left.delays = (uint8_t)(w->left.delays - c->delay);
	switch ((enum sl_explore_act)c->act) {
	case SL_EXPLORE_ACT_NONE:
		break;
	case SL_EXPLORE_ACT_DELIVER:
	case SL_EXPLORE_ACT_SKIP:
		deliver(x, w, c);
		break;
	case SL_EXPLORE_ACT_RETURN:
		come_back(x, w, c);
		break;
	case SL_EXPLORE_ACT_HEAL:
		heal(x, w, x->options.group ? w->cut : 1u << c->actor);
		break;
	case SL_EXPLORE_ACT_WAIT:
		wait_all(x, w);
		break;
	case SL_EXPLORE_ACT_SPLIT:
		split(x, w, c->record);
		break;
	}
	if (c->act != SL_EXPLORE_ACT_RETURN) {
		follow(x, w, c);
		if (c->after == SL_EXPLORE_UP_AGAIN || c->after == SL_EXPLORE_FORGETS ||
		    c->after == SL_EXPLORE_EMPTIED)
			come_back(x, w, c);
	}
	check(x, w);
}

static void offer(struct sl_explore *x, struct sl_explore_choice choice)
{
	if (x->choice_count < SL_EXPLORE_CHOICES)
		x->choices[x->choice_count++] = choice;
}

/* Offer a choice that ends links. In a bounded exploration, either all messages on them arrive or none; else
 * each receiver decides (ACT_SKIP). */
static void offer_end(struct sl_explore *x, struct sl_explore_choice choice)
{
	offer(x, choice);
	choice.lossy = 1;
	if (x->options.budget.delays != SL_EXPLORE_ANY && choice.act != SL_EXPLORE_ACT_RETURN)
		offer(x, choice);
}

/* Offer a restart from each earlier disk. */
static void offer_forgetting(struct sl_explore *x, const struct sl_explore_look *look,
			     struct sl_explore_choice c)
{
	for (uint32_t k = 0; k < look->past_count; k++)
		if (look->past[k].kind != SL_EXPLORE_FORGOTTEN &&
		    (k == 0 || look->past[k].before != look->past[k - 1].before)) {
			c.after = SL_EXPLORE_FORGETS;
			c.record = (uint8_t)k;
			offer_end(x, c);
		}
	c.after = SL_EXPLORE_EMPTIED;
	c.record = 0;
	offer_end(x, c);
}

/* Offer a choice, and the faults of its learner that may follow. A crash, a cut or a timeout has the same
 * effect later, as long as nothing else happens to the learner. */
static void offer_all(struct sl_explore *x, const struct sl_explore_world *w, struct sl_explore_choice c)
{
	struct sl_explore_world next = *w;
	const struct sl_explore_budget *left = &w->left;
	if (c.act != SL_EXPLORE_ACT_NONE)
		offer(x, c);
	bool cut = in(x->options.cut_who, c.actor), fault = in(x->options.fault_who, c.actor);
	if (!honest(x, c.actor))
		return;
	uint32_t records = 0;
	if (c.act == SL_EXPLORE_ACT_DELIVER || c.act == SL_EXPLORE_ACT_SKIP) {
		sl_explore_world_choose(x, &next, &c);
		records = look_of(x, &next, c.actor)->past_count - look_of(x, w, c.actor)->past_count;
	}
	if (!alive(&next, c.actor))
		return;
	const struct sl_explore_look *look = look_of(x, &next, c.actor);
	for (uint8_t crash = 0; crash <= records; crash++) {
		c.crash = crash;
		if (left->crashes > 0 && fault) {
			c.after = SL_EXPLORE_DOWN;
			offer_end(x, c);
			c.after = SL_EXPLORE_UP_AGAIN;
			offer_end(x, c);
		}
		if (left->losses > 0 && fault) {
			c.after = SL_EXPLORE_LOST;
			offer_end(x, c);
		}
		if (left->forgets > 0 && fault)
			offer_forgetting(x, look, c);
	}
	c.crash = 0;
	c.record = 0;
	if (left->cuts > 0 && cut && !in(w->cut, c.actor)) {
		c.after = SL_EXPLORE_CUT;
		offer_end(x, c);
	}
	if (left->timeouts > 0 && look->wait != SL_NEVER) {
		c.after = SL_EXPLORE_TIMES_OUT;
		offer(x, c);
	}
}

/* Return the learners whose deliveries suffice: nothing that the others do, before one of these deliveries is
 * made, enables another event of theirs. A learner with an empty queue needs the queue's sender. */
static uint32_t sufficient(const struct sl_explore *x, const struct sl_explore_world *w)
{
	uint32_t all = (1u << x->actors) - 1, best = all, best_count = UINT32_MAX;
	const struct sl_explore_budget *left = &w->left;
	if (!x->options.reduce || left->delays != SL_EXPLORE_ANY ||
	    left->crashes + left->losses + left->cuts + left->splits > 0)
		return all;
	for (uint32_t start = 0; start < x->actors; start++) {
		uint32_t set = 1u << start, count = 0;
		for (bool grown = true; grown;) {
			grown = false;
			count = 0;
			for (uint32_t i = 0; i < x->actors; i++)
				for (uint32_t j = 0; in(set, i) && j < x->actors; j++) {
					uint32_t waiting;
					queue(x, w, i, j, &waiting);
					if (waiting > 0 && end_of(x, w, i, j) != UINT32_MAX)
						count++;
					count += waiting > 0;
					if (waiting == 0 && alive(w, j) && j != i && !in(set, j)) {
						set |= 1u << j;
						grown = true;
					}
				}
		}
		if (count > 0 && count < best_count) {
			best = set;
			best_count = count;
		}
	}
	return best;
}

static bool all_committed(const struct sl_explore *x, const struct sl_explore_world *w)
{
	for (uint32_t i = 0; i < x->options.learners; i++)
		if (alive(w, i) && honest(x, i) && look_of(x, w, i)->committed == 0)
			return false;
	return true;
}

/* Nothing is on the way: learners come back, cuts heal, or time goes by. */
static void quiet(struct sl_explore *x, const struct sl_explore_world *w)
{
	bool timed = false;
	for (uint32_t i = 0; i < x->actors; i++) {
		struct sl_explore_choice c = {.act = SL_EXPLORE_ACT_RETURN, .actor = (uint8_t)i};
		if (in(w->down, i)) {
			offer(x, c);
			if (w->left.forgets > 0 && in(x->options.fault_who, i))
				offer_forgetting(x, look_of(x, w, i), c);
		}
		c.act = SL_EXPLORE_ACT_HEAL;
		bool first = !x->options.group || (w->cut & ((1u << i) - 1)) == 0;
		if (x->options.heals && in(w->cut, i) && alive(w, i) && first)
			offer(x, c);
		timed |= alive(w, i) && look_of(x, w, i)->wait != SL_NEVER;
	}
	bool absent = w->down != 0 || (x->options.heals && w->cut != 0);
	if (timed && !all_committed(x, w) && w->waits < (absent ? x->options.absence : x->options.waits))
		offer(x, (struct sl_explore_choice){.act = SL_EXPLORE_ACT_WAIT});
}

void sl_explore_world_choices(struct sl_explore *x, const struct sl_explore_world *w)
{
	uint32_t set = sufficient(x, w), first = UINT32_MAX, count;
	x->choice_count = 0;
	for (uint32_t i = 0; w->root && i < x->actors; i++)
		if (alive(w, i))
			offer_all(
				x, w,
				(struct sl_explore_choice){.act = SL_EXPLORE_ACT_NONE, .actor = (uint8_t)i});
	for (uint32_t i = 0; i < x->actors; i++)
		for (uint32_t j = 0; j < x->actors; j++) {
			const uint32_t *q = queue(x, w, i, j, &count);
			if (count == 0 || !in(set, i) || !alive(w, i))
				continue;
			struct sl_explore_choice c = {.act = SL_EXPLORE_ACT_DELIVER,
						      .actor = (uint8_t)i,
						      .peer = (uint8_t)j,
						      .delay = first != UINT32_MAX};
			bool message = q[0] > LINK_BEGINS;
			first = i;
			if (c.delay > w->left.delays)
				continue;
			offer_all(x, w, c);
			if (message && w->left.lies > 0 && !honest(x, j)) {
				c.corrupt = 1;
				offer(x, c);
				c.corrupt = 0;
			}
			uint32_t end = end_of(x, w, i, j);
			c.act = SL_EXPLORE_ACT_SKIP;
			if (end != UINT32_MAX && end > 0 && w->left.delays == SL_EXPLORE_ANY)
				offer_all(x, w, c);
		}
	if (w->left.splits > 0 && x->liar != UINT32_MAX)
		for (uint32_t peers = 1; peers + 1 < 1u << x->options.learners; peers++)
			if (!in(peers, x->liar))
				offer(x, (struct sl_explore_choice){.act = SL_EXPLORE_ACT_SPLIT,
								    .actor = (uint8_t)x->liar,
								    .record = (uint8_t)peers});
	if (first == UINT32_MAX)
		quiet(x, w);
}

/* --- the first world --- */

static void begin_learners(struct sl_explore *x)
{
	const struct sl_explore_options *o = &x->options;
	double clipping_range = 16;
	struct sl_core_config config = {.incarnation = 1,
					.privacy_check_warns = false,
					.straggler_timeout_ms = 3000,
					.hello_timeout_ms = 1000,
					.agreement_timeout_ms = 2000,
					.relay_ms = 500,
					.prepare_timeout_ms = 4000,
					.stall_timeout_ms = 2000,
					.serve_after_end_ms = 86400000};
	config.parameters = (struct sl_parameters){.n = 1,
						   .rounds = 1,
						   .quorum = o->quorum,
						   .tolerance = o->tolerance,
						   .forgetful = o->forgetful,
						   .decimals = 4,
						   .max_weight = 1,
						   .mixing = o->mixing,
						   .max_degree = 16};
	memcpy(&config.parameters.clipping_range, &clipping_range, sizeof clipping_range);
	sl_explore_learners_open(&x->learners, &config, o->learners);
	x->learners.remember = o->budget.forgets > 0;
	x->learners.lies = o->budget.lies + o->budget.splits > 0;
}

void sl_explore_world_first(struct sl_explore *x, struct sl_explore_world *w)
{
	const struct sl_explore_options *o = &x->options;
	bool liar = o->budget.splits + o->budget.lies > 0;
	x->liar = liar ? o->learners - 1 : UINT32_MAX;
	x->actors = o->learners + (o->budget.splits > 0);
	begin_learners(x);
	*w = (struct sl_explore_world){.left = o->budget, .down = o->late, .root = 1};
	sl_explore_store_put(&x->learners.lists, "", 0); /* an empty queue is list 0 */
	for (uint32_t i = 0; i < x->actors; i++)
		w->learner[i] = sl_explore_learners_first(&x->learners, index_of(x, i));
	if (o->budget.splits > 0)
		w->gone = (uint8_t)(1u << o->learners);
	for (uint32_t i = 0; i < o->learners; i++) {
		if (in(o->late, i)) {
			w->learner[i] = sl_explore_learners_step(
						&x->learners,
						&(struct sl_explore_step){.learner = w->learner[i],
									  .operation = SL_EXPLORE_CRASH})
						.learner;
			continue;
		}
		for (uint32_t j = 0; j < o->learners; j++)
			if (i != j)
				append(x, w, i, j,
				       in(o->late, j) || !near(x, i, j) ? LINK_ENDS : LINK_BEGINS);
	}
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < o->learners; i++)
			for (uint32_t j = 0; j < o->learners; j++) {
				uint32_t count;
				queue(x, w, i, j, &count);
				if (count == 0 || look_of(x, w, i)->phase >= o->from)
					continue;
				deliver(x, w,
					&(struct sl_explore_choice){.act = SL_EXPLORE_ACT_DELIVER,
								    .actor = (uint8_t)i,
								    .peer = (uint8_t)j});
				more = true;
			}
	}
}

/* --- words --- */

void sl_explore_world_tell(const struct sl_explore *x, const struct sl_explore_choice *c, FILE *out)
{
	static const char *const after[] = {"",
					    "crashes",
					    "crashes and restarts",
					    "crashes and restarts from its disk before a record",
					    "crashes and restarts from an empty disk",
					    "is lost for good",
					    "is cut off",
					    "times out"};
	uint32_t id = x->learners.ids[index_of(x, c->actor)], peer = x->learners.ids[index_of(x, c->peer)];
	switch ((enum sl_explore_act)c->act) {
	case SL_EXPLORE_ACT_NONE:
		break;
	case SL_EXPLORE_ACT_DELIVER:
		fprintf(out, "%u <- %u%s%s\n", id, peer,
			c->actor == x->options.learners ? " (second self)" : "",
			c->corrupt ? ", changed" : "");
		break;
	case SL_EXPLORE_ACT_SKIP:
		fprintf(out, "the link of %u to %u ends; messages on it are lost\n", id, peer);
		break;
	case SL_EXPLORE_ACT_RETURN:
		fprintf(out, "%u starts again%s\n", id,
			c->after == SL_EXPLORE_FORGETS	 ? " from its disk before a record"
			: c->after == SL_EXPLORE_EMPTIED ? " from an empty disk"
							 : "");
		return;
	case SL_EXPLORE_ACT_HEAL:
		fprintf(out, "%u is linked again\n", id);
		break;
	case SL_EXPLORE_ACT_WAIT:
		fputs("all is quiet, time goes by\n", out);
		break;
	case SL_EXPLORE_ACT_SPLIT:
		fprintf(out, "liar %u becomes two; peers of the second:", id);
		for (uint32_t j = 0; j < x->options.learners; j++)
			if (in(c->record, j))
				fprintf(out, " %u", x->learners.ids[j]);
		fputc('\n', out);
		break;
	}
	if (c->after != SL_EXPLORE_NOTHING) {
		fprintf(out, "%u %s", id, after[c->after]);
		if (c->after == SL_EXPLORE_FORGETS)
			fprintf(out, " (%u of its past)", c->record + 1u);
		fprintf(out, "%s%s\n", c->crash > 0 ? ", as soon as its record is durable" : "",
			c->lossy ? "; messages on its links are lost" : "");
	}
}
