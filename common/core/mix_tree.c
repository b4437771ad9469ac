/* The sum up the tree and Z down it (protocol 7, tree), chunk by chunk.
 *
 *    leaf     --own--> parent, keeper                                    waits for its parent
 *    others   --own--> keeper     the children's are here --up--> parent,    and waits for it
 *    root     --own--> keeper     the children's are here: Z --down--> children
 *             what came down --down--> children
 *
 * at.iteration says what of a chunk is waited for: UP, of the children; DOWN; then it is through (END). Who
 * begins the chunk after the sl_view_window that are on their way has had Z of the first of them, which
 * needed everybody's part of it: so nobody is further than that ahead of anybody, and no other credit is
 * needed. */
#include "common/core/state.h"

#define END (SL_TREE_DOWN + 1u)

static void add_role(const struct sl_core *core, uint64_t *set, uint8_t role)
{
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->view.roles[r] & role)
			sl_bit_set(set, sl_view_peer(&core->view, r));
}

void sl_mix_tree_enter(struct sl_core *core)
{
	uint64_t *sets[] = {core->tree_own, core->tree_up, core->tree_down};
	for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
		memset(sets[s], 0, sl_core_set_bytes(core));
	add_role(core, core->tree_own,
		 core->view.children == 0 ? SL_ROLE_BACKUP | SL_ROLE_PARENT : SL_ROLE_BACKUP);
	add_role(core, core->tree_up, SL_ROLE_PARENT);
	add_role(core, core->tree_down, SL_ROLE_CHILD);
}

static bool is_root(const struct sl_core *core)
{
	for (uint32_t r = 0; r < core->view.degree; r++)
		if (core->view.roles[r] & SL_ROLE_PARENT)
			return false;
	return true;
}

/* Whether it is neighbour r's to send that, now. */
static bool in_turn(const struct sl_core *core, uint32_t r, const struct sl_buffer *b)
{
	uint8_t role = core->view.roles[r];
	if (core->exchange[r].states_in[b->index] >> b->iteration & 1)
		return false;
	switch (b->iteration) {
	case SL_TREE_OWN:
		return (role & (SL_ROLE_BACKED_UP | SL_ROLE_LEAF)) != 0;
	case SL_TREE_UP:
		return (role & (SL_ROLE_CHILD | SL_ROLE_LEAF)) == SL_ROLE_CHILD;
	default:
		return (role & SL_ROLE_PARENT) != 0 && core->at.iteration[b->index] == SL_TREE_DOWN;
	}
}

const char *sl_mix_tree_take(struct sl_core *core, uint32_t r, struct sl_buffer *buffer)
{
	struct sl_exchange *exchange = &core->exchange[r];
	uint32_t m = buffer->index;
	if (buffer->iteration >= END)
		return "a state after the last iteration";
	if (!in_turn(core, r, buffer))
		return "a state out of turn";
	exchange->states_in[m] |= UINT64_C(1) << buffer->iteration;
	core->at.progress = core->now;
	buffer->next = NULL;
	if (buffer->iteration == SL_TREE_DOWN) {
		core->at.busy[m] = true;
		sl_emit_job(core, SL_JOB_MIX, m, buffer);
	} else if (buffer->iteration == SL_TREE_OWN && (core->view.roles[r] & SL_ROLE_LEAF) == 0) {
		buffer->next = core->at.given;
		core->at.given = buffer;
	} else {
		sl_mix_hold(core, exchange, buffer);
		core->at.have[m]++;
	}
	return NULL;
}

void sl_mix_tree_backup(struct sl_core *core)
{
	if (core->at.given != NULL)
		sl_emit_job(core, SL_JOB_BACKUP, 0, core->at.given);
	core->at.given = NULL;
}

static void start_chunks(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	for (; at->started < core->view.chunks && at->started < at->base + sl_view_window(&core->view);
	     at->started++) {
		sl_mix_send(core, core->tree_own, at->started, SL_TREE_OWN);
		at->iteration[at->started] = core->view.children == 0 ? SL_TREE_DOWN : SL_TREE_UP;
	}
}

/* All children's part of this chunk, for one MIX job. */
static void add_up(struct sl_core *core, uint32_t m)
{
	struct sl_buffer *list = NULL;
	for (uint32_t r = 0; r < core->view.degree; r++) {
		uint8_t role = core->view.roles[r];
		if ((role & SL_ROLE_CHILD) == 0)
			continue;
		struct sl_buffer *b =
			sl_mix_unhold(&core->exchange[r], m, role & SL_ROLE_LEAF ? SL_TREE_OWN : SL_TREE_UP);
		b->next = list;
		list = b;
	}
	core->at.busy[m] = true;
	sl_emit_job(core, SL_JOB_MIX, m, list);
}

void sl_mix_tree_advance(struct sl_core *core)
{
	struct sl_attempt_state *at = &core->at;
	start_chunks(core);
	for (uint32_t m = at->base; m < at->started; m++)
		if (!at->busy[m] && at->iteration[m] == SL_TREE_UP && at->have[m] == core->view.children)
			add_up(core, m);
}

void sl_mix_tree_result(struct sl_core *core, uint32_t m)
{
	struct sl_attempt_state *at = &core->at;
	if (at->iteration[m] == SL_TREE_UP && !is_root(core)) {
		sl_mix_send(core, core->tree_up, m, SL_TREE_UP);
		at->iteration[m] = SL_TREE_DOWN;
		return;
	}
	if (core->view.children > 0)
		sl_mix_send(core, core->tree_down, m, SL_TREE_DOWN);
	at->iteration[m] = END;
	at->finished++;
	while (at->base < core->view.chunks && at->iteration[at->base] == END)
		at->base++;
}

bool sl_mix_tree_awaits(const struct sl_core *core, uint32_t m, uint32_t r)
{
	uint8_t role = core->view.roles[r];
	uint64_t in = core->exchange[r].states_in[m];
	if (core->at.iteration[m] == SL_TREE_UP)
		return (role & SL_ROLE_CHILD) != 0 &&
		       (in >> (role & SL_ROLE_LEAF ? SL_TREE_OWN : SL_TREE_UP) & 1) == 0;
	return core->at.iteration[m] == SL_TREE_DOWN && (role & SL_ROLE_PARENT) != 0;
}
