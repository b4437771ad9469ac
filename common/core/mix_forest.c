/* forest (ROUND.md §8.4 forest): in the tree of each chunk sums go up and Z goes down.
 *
 *    all but the root    add the sums of their children in the tree to the own masked state; send the result
 *                        to their parent; wait for Z
 *    root                adds the same: that is Z
 *    all                 send Z to their children
 *
 * at->iteration is what the chunk waits for: SL_FOREST_UP, from the children; SL_FOREST_DOWN, from the
 * parent; END, nothing. A learner begins a chunk only when it has Z of the chunk sl_view_window before it,
 * which needed the sum of every learner. So none is further ahead of another than that, and sums need no
 * other credit. Z is added to nothing and never held: it needs none. */
#include "common/core/emit.h"
#include "common/core/mix_engine.h"

#define END (SL_FOREST_DOWN + 1u)

static bool is_parent(const struct sl_core *core, uint32_t r, uint32_t m)
{
	return (core->view.up[r] & sl_view_tree(&core->view, m)) != 0;
}

static bool is_child(const struct sl_core *core, uint32_t r, uint32_t m)
{
	return (core->view.down[r] & sl_view_tree(&core->view, m)) != 0;
}

static void begin(struct sl_core *core)
{
	const struct sl_view *view = &core->view;
	memset(core->check_near, 0, sl_core_set_bytes(core));
	for (uint32_t t = 0; t < view->costs.trees; t++) {
		struct sl_tree_place *place = &core->trees[t];
		place->parent = SL_NOBODY;
		place->children = 0;
		memset(place->to, 0, sl_core_set_bytes(core));
		for (uint32_t r = 0; r < view->degree; r++) {
			uint32_t peer = sl_view_peer(view, r);
			if (is_parent(core, r, t))
				place->parent = peer;
			if (is_child(core, r, t)) {
				sl_bit_set(place->to, peer);
				place->children++;
			}
			if (t == 0 && (is_parent(core, r, t) || is_child(core, r, t)))
				sl_bit_set(core->check_near, peer);
		}
	}
}

static void key(struct sl_core *core, uint32_t r)
{
	(void)core; /* the masked states of others come within their sums */
	(void)r;
}

static const struct sl_tree_place *place_of(const struct sl_core *core, uint32_t m)
{
	return &core->trees[m % core->view.costs.trees];
}

/* Return true if neighbour `r` may send this state now. */
static bool in_turn(const struct sl_core *core, uint32_t r, const struct sl_buffer *b)
{
	if (core->exchange[r].states_in[b->index] >> b->iteration & 1)
		return false;
	switch (b->iteration) {
	case SL_FOREST_UP:
		return is_child(core, r, b->index);
	case SL_FOREST_DOWN:
		return is_parent(core, r, b->index) && core->at.iteration[b->index] == SL_FOREST_DOWN;
	default:
		return false;
	}
}

static const char *take(struct sl_core *core, uint32_t r, struct sl_buffer *buffer)
{
	struct sl_exchange *exchange = &core->exchange[r];
	uint32_t m = buffer->index;
	if (buffer->iteration >= END)
		return "a state after the last exchange";
	if (!in_turn(core, r, buffer))
		return "a state out of turn";
	exchange->states_in[m] |= UINT64_C(1) << buffer->iteration;
	core->at.progress = core->now;
	buffer->next = NULL;
	if (buffer->iteration == SL_FOREST_DOWN) {
		sl_mix_job(core, m, SL_FOREST_DOWN, buffer);
	} else {
		sl_mix_hold(core, exchange, buffer);
		core->at.have[m]++;
	}
	return NULL;
}

/* Start the MIX job that adds the children's sums of chunk `m`. */
static void add_up(struct sl_core *core, uint32_t m)
{
	struct sl_buffer *list = NULL;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		if (!is_child(core, r, m))
			continue;
		struct sl_buffer *b = sl_mix_unhold(&core->exchange[r], m, SL_FOREST_UP);
		b->next = list;
		list = b;
	}
	sl_mix_job(core, m, SL_FOREST_UP, list);
}

static void send_up(struct sl_core *core, uint32_t m)
{
	sl_mix_send(core, sl_emit_only(core, place_of(core, m)->parent), m, SL_FOREST_UP);
	core->at.iteration[m] = SL_FOREST_DOWN;
}

static void step(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	uint32_t end = at->base + sl_view_window(&core->view);
	for (; at->started < core->view.state_chunks && at->started < end; at->started++)
		at->iteration[at->started] = SL_FOREST_UP;
	for (uint32_t m = at->base; m < at->started; m++) {
		uint32_t children = place_of(core, m)->children;
		if (at->busy[m] || at->iteration[m] != SL_FOREST_UP || at->have[m] != children)
			continue;
		if (children > 0)
			add_up(core, m);
		else
			send_up(core, m);
	}
}

static void result(struct sl_core *core, uint32_t m)
{
	struct sl_attempt_state *at = &core->at;
	const struct sl_tree_place *place = place_of(core, m);
	if (at->iteration[m] == SL_FOREST_UP && place->parent != SL_NOBODY) {
		send_up(core, m);
		return;
	}
	if (place->children > 0)
		sl_mix_send(core, place->to, m, SL_FOREST_DOWN);
	at->mixed += core->view.steps;
	sl_mix_finish(core, m, END);
}

static bool awaits(const struct sl_core *core, uint32_t m, uint32_t r)
{
	if (core->at.iteration[m] == SL_FOREST_UP)
		return is_child(core, r, m) && (core->exchange[r].states_in[m] >> SL_FOREST_UP & 1) == 0;
	return core->at.iteration[m] == SL_FOREST_DOWN && is_parent(core, r, m);
}

const struct sl_mix_row sl_mix_forest = {
	.begin = begin,
	.key = key,
	.take = take,
	.step = step,
	.result = result,
	.awaits = awaits,
	.free_iteration = SL_FOREST_DOWN,
};
