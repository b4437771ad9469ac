/* What is on the way between learners, what a choice does to a world, and the first world. */
#include "test/explorer/explore_parts.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE_MOST 512u
#define TICK_MS 100u /* deadlines that are closer together are heeded at once */

void sl_explore_world_fail(struct sl_explore *x, const char *why)
{
	if (x->broken[0] == '\0')
		snprintf(x->broken, sizeof x->broken, "%s", why);
}

/* --- links --- */

static bool is_self(const struct sl_explore *x, uint32_t actor)
{
	return actor == x->liar || actor == x->options.learners;
}

/* Return true if `peer` hears another self of the liar. Both selves hear all that is sent to the liar. */
static bool unheard(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t actor,
		    uint32_t peer)
{
	return w->split != 0 && is_self(x, actor) &&
	       sl_explore_in(w->split, peer) != (actor == x->options.learners);
}

/* Return true if a link between the learners is possible: always, or on the ring. */
bool sl_explore_world_near(const struct sl_explore *x, uint32_t a, uint32_t b)
{
	uint32_t n = x->options.learners, i = sl_explore_index(x, a), j = sl_explore_index(x, b);
	return !x->options.ring || (i + 1) % n == j || (j + 1) % n == i;
}

static bool linked(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t a, uint32_t b)
{
	bool apart = x->options.group ? sl_explore_in(w->cut, a) != sl_explore_in(w->cut, b)
				      : sl_explore_in(w->cut, a) || sl_explore_in(w->cut, b);
	return a != b && sl_explore_world_near(x, a, b) && sl_explore_alive(w, a) && sl_explore_alive(w, b) &&
	       !apart && !(is_self(x, a) && is_self(x, b));
}

const uint32_t *sl_explore_world_queue(const struct sl_explore *x, const struct sl_explore_world *w,
				       uint32_t to, uint32_t from, uint32_t *count)
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
	const uint32_t *q = sl_explore_world_queue(x, w, to, from, &count);
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
	const uint32_t *q = sl_explore_world_queue(x, w, to, from, &count);
	memcpy(room, q + n, (count - n) * sizeof *q);
	w->queue[to][from] = sl_explore_store_put(&x->learners.lists, room, (count - n) * sizeof *room);
}

/* Return the place of the end of the link in the queue, or UINT32_MAX. */
uint32_t sl_explore_world_end_of(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t to,
				 uint32_t from)
{
	uint32_t count;
	const uint32_t *q = sl_explore_world_queue(x, w, to, from, &count);
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
	const uint32_t *q = sl_explore_world_queue(x, w, actor, peer, &count);
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
	const struct sl_explore_look *look = sl_explore_world_look(x, w, actor);
	if (look->broken != NULL && sl_explore_index(x, actor) != x->liar)
		sl_explore_world_fail(x, look->broken);
	if ((look->down || look->stopped) && sl_explore_alive(w, actor))
		leave(x, w, actor, look->stopped);
	if (look->stopped && look->code != SL_OK && w->faults == 0)
		sl_explore_world_fail(x, "a learner ends with an error");
	return outcome.records;
}

/* --- choices --- */

/* Drop the messages on links of the learner that have ended. */
static void lose_messages(struct sl_explore *x, struct sl_explore_world *w, uint32_t actor)
{
	for (uint32_t j = 0; j < x->actors; j++)
		for (int side = 0; side < 2; side++) {
			uint32_t to = side == 0 ? actor : j, from = side == 0 ? j : actor,
				 end = sl_explore_world_end_of(x, w, to, from);
			if (end != UINT32_MAX && end > 0)
				drop_first(x, w, to, from, end);
		}
}

/* End the links between a set of learners and all others; without `group` it is a set of one. */
static void cut_off(struct sl_explore *x, struct sl_explore_world *w, uint32_t set, bool lossy)
{
	for (uint32_t i = 0; i < x->actors; i++)
		for (uint32_t j = 0; sl_explore_in(set, i) && j < x->actors; j++)
			if (!sl_explore_in(set, j) && linked(x, w, i, j)) {
				append(x, w, j, i, LINK_ENDS);
				append(x, w, i, j, LINK_ENDS);
			}
	w->cut |= (uint8_t)set;
	for (uint32_t i = 0; lossy && i < x->actors; i++)
		if (sl_explore_in(set, i))
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
		if (sl_explore_alive(w, i))
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
		if (sl_explore_alive(w, i) && sl_explore_world_look(x, w, i)->wait < least)
			least = sl_explore_world_look(x, w, i)->wait;
	least = least < TICK_MS ? TICK_MS : least;
	for (uint32_t i = 0; i < x->actors; i++)
		if (sl_explore_alive(w, i))
			operate(x, w, i,
				(struct sl_explore_step){.operation = SL_EXPLORE_WAIT,
							 .what = (uint32_t)least});
	w->waits++;
}

static void deliver(struct sl_explore *x, struct sl_explore_world *w, const struct sl_explore_choice *c)
{
	uint32_t count, skipped = c->act == SL_EXPLORE_ACT_SKIP
					  ? sl_explore_world_end_of(x, w, c->actor, c->peer)
					  : 0;
	uint32_t what = sl_explore_world_queue(x, w, c->actor, c->peer, &count)[skipped];
	drop_first(x, w, c->actor, c->peer, skipped + 1);
	struct sl_explore_step step = {.operation = what == LINK_ENDS	  ? SL_EXPLORE_LINK_DOWN
						    : what == LINK_BEGINS ? SL_EXPLORE_LINK_UP
									  : SL_EXPLORE_MESSAGE,
				       .peer = sl_explore_index(x, c->peer),
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
		if (!sl_explore_in(peers, j))
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
	sl_explore_rules_check(x, w);
}

/* --- the first world --- */

static void begin_learners(struct sl_explore *x)
{
	const struct sl_explore_options *o = &x->options;
	bool decimals = o->values == SL_VALUES_MODEL;
	double clipping_range = decimals ? 16 : 1;
	struct sl_core_config config = {.incarnation = 1,
					.straggler_timeout_ms = 3000,
					.relay_ms = 500,
					.stall_timeout_ms = 2000,
					.serve_after_end_ms = 86400000};
	config.parameters = (struct sl_parameters){.n = 1,
						   .rounds = 1,
						   .quorum = o->quorum,
						   .tolerance = o->tolerance,
						   .forgetful = o->forgetful,
						   .privacy_check = 1,
						   .decimals = decimals ? 4 : 0,
						   .values = o->values,
						   .update_bits = o->values == SL_VALUES_UPDATE ? 12 : 0,
						   .max_weight = 1,
						   .mixing = o->mixing,
						   .max_degree = 16};
	memcpy(&config.parameters.clipping_range, &clipping_range, sizeof clipping_range);
	if (sl_values_are_noisy(o->values)) { /* a step is 1 */
		double clip = 4, noise = 1.5;
		memcpy(&config.parameters.dp_clip, &clip, sizeof clip);
		memcpy(&config.parameters.dp_noise, &noise, sizeof noise);
	}
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
		w->learner[i] = sl_explore_learners_first(&x->learners, sl_explore_index(x, i));
	if (o->budget.splits > 0)
		w->gone = (uint8_t)(1u << o->learners);
	for (uint32_t i = 0; i < o->learners; i++) {
		if (sl_explore_in(o->late, i)) {
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
				       sl_explore_in(o->late, j) || !sl_explore_world_near(x, i, j)
					       ? LINK_ENDS
					       : LINK_BEGINS);
	}
	for (bool more = true; more;) {
		more = false;
		for (uint32_t i = 0; i < o->learners; i++)
			for (uint32_t j = 0; j < o->learners; j++) {
				uint32_t count;
				sl_explore_world_queue(x, w, i, j, &count);
				if (count == 0 || sl_explore_world_look(x, w, i)->phase >= o->from)
					continue;
				deliver(x, w,
					&(struct sl_explore_choice){.act = SL_EXPLORE_ACT_DELIVER,
								    .actor = (uint8_t)i,
								    .peer = (uint8_t)j});
				more = true;
			}
	}
}
