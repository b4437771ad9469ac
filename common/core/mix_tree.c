/* tree (PROTOCOL.md §8.4 tree): sums go up, Z goes down, chunk by chunk.
 *
 *    leaf     its deposit is at its parent, which adds it when it knows the key; waits for Z
 *    inner    adds the masked states of its leaves and the sums of its other children; sends the
 *             sum to its parent; waits for Z
 *    root     adds the same: that is Z
 *    all      send Z to their children
 *
 * at->iteration is what the chunk waits for: SL_TREE_UP, from the children; SL_TREE_DOWN, from the parent;
 * END, nothing. A learner with children begins a chunk only when it has Z of the chunk sl_view_window before
 * it, which needed the sum of every such learner. So none is further ahead of another than that, and sums
 * need no other credit. Z is added to nothing and never held: it needs none. */
#include "common/core/emit.h"
#include "common/core/mix_engine.h"

#define END (SL_TREE_DOWN + 1u)

static void add_role(const struct sl_core *core, uint64_t *set, uint8_t role)
{
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->view.roles[r] & role)
			sl_bit_set(set, sl_view_peer(&core->view, r));
}

static void begin(struct sl_core *core)
{
	memset(core->tree_up, 0, sl_core_set_bytes(core));
	memset(core->tree_down, 0, sl_core_set_bytes(core));
	add_role(core, core->tree_up, SL_ROLE_PARENT);
	add_role(core, core->tree_down, SL_ROLE_CHILD);
}

static void key(struct sl_core *core, uint32_t r)
{
	if ((core->view.roles[r] & SL_ROLE_LEAF) == 0)
		return;
	for (uint32_t m = 0; m < core->view.chunks; m++)
		core->at.have[m]++;
}

static bool is_root(const struct sl_core *core)
{
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->view.roles[r] & SL_ROLE_PARENT)
			return false;
	return true;
}

/* Return true if neighbour `r` may send this state now. */
static bool in_turn(const struct sl_core *core, uint32_t r, const struct sl_buffer *b)
{
	uint8_t role = core->view.roles[r];
	if (core->exchange[r].states_in[b->index] >> b->iteration & 1)
		return false;
	switch (b->iteration) {
	case SL_TREE_UP:
		return (role & (SL_ROLE_CHILD | SL_ROLE_LEAF)) == SL_ROLE_CHILD;
	case SL_TREE_DOWN:
		return (role & SL_ROLE_PARENT) != 0 && core->at.iteration[b->index] == SL_TREE_DOWN;
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
	if (buffer->iteration == SL_TREE_DOWN) {
		sl_mix_job(core, m, SL_TREE_DOWN, buffer);
	} else {
		sl_mix_hold(core, exchange, buffer);
		core->at.have[m]++;
	}
	return NULL;
}

static void start_chunks(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	bool leaf = core->view.children == 0;
	uint32_t end = leaf ? core->view.chunks : at->base + sl_view_window(&core->view);
	for (; at->started < core->view.chunks && at->started < end; at->started++)
		at->iteration[at->started] = leaf ? SL_TREE_DOWN : SL_TREE_UP;
}

/* Start the MIX job that adds the children's parts of chunk `m`. */
static void add_up(struct sl_core *core, uint32_t m)
{
	struct sl_buffer *list = NULL;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		uint8_t role = core->view.roles[r];
		if ((role & (SL_ROLE_CHILD | SL_ROLE_LEAF)) != SL_ROLE_CHILD)
			continue;
		struct sl_buffer *b = sl_mix_unhold(&core->exchange[r], m, SL_TREE_UP);
		b->next = list;
		list = b;
	}
	sl_mix_job(core, m, SL_TREE_UP, list);
}

static void step(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	start_chunks(core);
	for (uint32_t m = at->base; m < at->started; m++)
		if (!at->busy[m] && at->iteration[m] == SL_TREE_UP && at->have[m] == core->view.children)
			add_up(core, m);
}

static void result(struct sl_core *core, uint32_t m)
{
	struct sl_attempt_state *at = &core->at;
	if (at->iteration[m] == SL_TREE_UP && !is_root(core)) {
		sl_mix_send(core, core->tree_up, m, SL_TREE_UP);
		at->iteration[m] = SL_TREE_DOWN;
		return;
	}
	if (core->view.children > 0)
		sl_mix_send(core, core->tree_down, m, SL_TREE_DOWN);
	at->mixed += core->view.steps;
	sl_mix_finish(core, m, END);
}

static bool awaits(const struct sl_core *core, uint32_t m, uint32_t r)
{
	uint8_t role = core->view.roles[r];
	uint64_t in = core->exchange[r].states_in[m];
	if (core->at.iteration[m] == SL_TREE_UP)
		return (role & SL_ROLE_CHILD) != 0 &&
		       (role & SL_ROLE_LEAF ? !sl_core_has(core->at.known, core->view.neighbours[r])
					    : (in >> SL_TREE_UP & 1) == 0);
	return core->at.iteration[m] == SL_TREE_DOWN && (role & SL_ROLE_PARENT) != 0;
}

const struct sl_mix_row sl_mix_tree = {
	.begin = begin,
	.key = key,
	.take = take,
	.step = step,
	.result = result,
	.awaits = awaits,
	.free_iteration = SL_TREE_DOWN,
};
