/* The choices that a world leaves open, and each as a line. */
#include "test/explorer/explore_parts.h"

#include <string.h>

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
	bool cut = sl_explore_in(x->options.cut_who, c.actor),
	     fault = sl_explore_in(x->options.fault_who, c.actor);
	if (!sl_explore_honest(x, c.actor))
		return;
	uint32_t records = 0;
	if (c.act == SL_EXPLORE_ACT_DELIVER || c.act == SL_EXPLORE_ACT_SKIP) {
		sl_explore_world_choose(x, &next, &c);
		records = sl_explore_world_look(x, &next, c.actor)->past_count -
			  sl_explore_world_look(x, w, c.actor)->past_count;
	}
	if (!sl_explore_alive(&next, c.actor))
		return;
	const struct sl_explore_look *look = sl_explore_world_look(x, &next, c.actor);
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
	if (left->cuts > 0 && cut && !sl_explore_in(w->cut, c.actor)) {
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
				for (uint32_t j = 0; sl_explore_in(set, i) && j < x->actors; j++) {
					uint32_t waiting;
					sl_explore_world_queue(x, w, i, j, &waiting);
					if (waiting > 0 && sl_explore_world_end_of(x, w, i, j) != UINT32_MAX)
						count++;
					count += waiting > 0;
					if (waiting == 0 && sl_explore_alive(w, j) && j != i &&
					    !sl_explore_in(set, j)) {
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
		if (sl_explore_alive(w, i) && sl_explore_honest(x, i) &&
		    sl_explore_world_look(x, w, i)->committed == 0)
			return false;
	return true;
}

/* Nothing is on the way: learners come back, cuts heal, or time goes by. */
static void quiet(struct sl_explore *x, const struct sl_explore_world *w)
{
	bool timed = false;
	for (uint32_t i = 0; i < x->actors; i++) {
		struct sl_explore_choice c = {.act = SL_EXPLORE_ACT_RETURN, .actor = (uint8_t)i};
		if (sl_explore_in(w->down, i)) {
			offer(x, c);
			if (w->left.forgets > 0 && sl_explore_in(x->options.fault_who, i))
				offer_forgetting(x, sl_explore_world_look(x, w, i), c);
		}
		c.act = SL_EXPLORE_ACT_HEAL;
		bool first = !x->options.group || (w->cut & ((1u << i) - 1)) == 0;
		if (x->options.heals && sl_explore_in(w->cut, i) && sl_explore_alive(w, i) && first)
			offer(x, c);
		timed |= sl_explore_alive(w, i) && sl_explore_world_look(x, w, i)->wait != SL_NEVER;
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
		if (sl_explore_alive(w, i))
			offer_all(
				x, w,
				(struct sl_explore_choice){.act = SL_EXPLORE_ACT_NONE, .actor = (uint8_t)i});
	for (uint32_t i = 0; i < x->actors; i++)
		for (uint32_t j = 0; j < x->actors; j++) {
			const uint32_t *q = sl_explore_world_queue(x, w, i, j, &count);
			if (count == 0 || !sl_explore_in(set, i) || !sl_explore_alive(w, i))
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
			if (message && w->left.lies > 0 && !sl_explore_honest(x, j)) {
				c.corrupt = 1;
				offer(x, c);
				c.corrupt = 0;
			}
			uint32_t end = sl_explore_world_end_of(x, w, i, j);
			c.act = SL_EXPLORE_ACT_SKIP;
			if (end != UINT32_MAX && end > 0 && w->left.delays == SL_EXPLORE_ANY)
				offer_all(x, w, c);
		}
	if (w->left.splits > 0 && x->liar != UINT32_MAX)
		for (uint32_t peers = 1; peers + 1 < 1u << x->options.learners; peers++)
			if (!sl_explore_in(peers, x->liar))
				offer(x, (struct sl_explore_choice){.act = SL_EXPLORE_ACT_SPLIT,
								    .actor = (uint8_t)x->liar,
								    .record = (uint8_t)peers});
	if (first == UINT32_MAX)
		quiet(x, w);
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
	uint32_t id = x->learners.ids[sl_explore_index(x, c->actor)],
		 peer = x->learners.ids[sl_explore_index(x, c->peer)];
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
			if (sl_explore_in(c->record, j))
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
