/* From link states to a view: the component of mutual edges that contains this learner (protocol 5, FREEZE). */
#include "common/core/state.h"

#include "common/math/spectrum.h"

static const struct sl_link_record *link_of(const struct sl_core *core, uint32_t i)
{
	const struct sl_link_record *lr = &core->links[i];
	return lr->record.present && lr->state.t == core->t && lr->state.a == core->a ? lr : NULL;
}

static bool mutual(const struct sl_core *core, uint32_t i, uint32_t j)
{
	const struct sl_link_record *a = link_of(core, i), *b = link_of(core, j);
	return a != NULL && b != NULL && sl_bit(a->named, j) && sl_bit(b->named, i);
}

/* Breadth first from this learner. Returns how many members; queue holds them; awaited names the ids whose link state
 * would have to be known to be sure. */
static uint32_t component(struct sl_core *core, uint32_t *queue, uint32_t *position)
{
	uint32_t count = 0, R = core->config.roster_size;
	memset(core->awaited, 0, sl_set_bytes(core));
	for (uint32_t i = 0; i < R; i++)
		position[i] = UINT32_MAX;
	queue[count++] = core->config.self;
	position[core->config.self] = 0;
	for (uint32_t next = 0; next < count; next++) {
		const struct sl_link_record *lr = link_of(core, queue[next]);
		for (uint32_t c = 0; c < lr->state.count; c++) {
			uint32_t j = sl_index(core, lr->candidates[c]);
			if (j == UINT32_MAX)
				continue; /* in its signer's roster only */
			if (link_of(core, j) == NULL) {
				sl_bit_set(core->awaited, j);
			} else if (position[j] == UINT32_MAX && mutual(core, queue[next], j)) {
				position[j] = 0;
				queue[count++] = j;
			}
		}
	}
	return count;
}

static bool any(const struct sl_core *core, const uint64_t *set)
{
	uint64_t all = 0;
	for (size_t w = 0; w < sl_words(core); w++)
		all |= set[w];
	return all != 0;
}

static void number_members(struct sl_core *core, struct sl_view *view)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (view->position[i] == UINT32_MAX)
			continue;
		view->members[n] = i;
		view->ids[n] = core->config.ids[i];
		view->position[i] = n++;
	}
	view->n = n;
	view->self = view->position[core->config.self];
}

static int build_graph(struct sl_core *core, struct sl_view *view)
{
	size_t count = 0;
	for (uint32_t i = 0; i < view->n; i++) {
		const struct sl_link_record *lr = link_of(core, view->members[i]);
		for (uint32_t c = 0; c < lr->state.count; c++) {
			uint32_t j = sl_index(core, lr->candidates[c]);
			if (view->members[i] < j && mutual(core, view->members[i], j))
				core->edges[count++] = (struct sl_edge){i, view->position[j]};
		}
	}
	return sl_graph_init(&view->graph, view->n, core->edges, count, &core->arena);
}

static void hash_view(struct sl_core *core, struct sl_view *view)
{
	struct sl_canon_view v;
	sl_canon_view_open(&v, &core->config.scope, view->t, view->a, view->field.p, &view->agreed,
			   core->previous, view->n);
	for (uint32_t i = 0; i < view->n; i++)
		sl_canon_view_member(&v, view->ids[i], link_of(core, view->members[i])->state.incarnation);
	for (uint32_t i = 0; i < view->n; i++)
		for (uint32_t e = view->graph.start[i]; e < view->graph.start[i + 1]; e++)
			if (i < view->graph.adjacent[e])
				sl_canon_view_edge(&v, view->ids[i], view->ids[view->graph.adjacent[e]]);
	sl_canon_view_close(&v, view->h);
}

enum rule { SAME, MOST };
static const struct {
	const char *name;
	enum rule rule;
} parameters[SL_PARAMETER_COUNT] = {
#define X(name, rule) {#name, rule},
	SL_PARAMETERS(X)
#undef X
};

/* The own parameters, raised to the largest where that is the rule. False where it is not, and they differ. */
static bool agree_on_parameters(struct sl_core *core, struct sl_view *view, uint32_t member)
{
	const uint64_t *theirs = (const uint64_t *)&link_of(core, member)->state.parameters;
	uint64_t *agreed = (uint64_t *)&view->agreed;
	for (uint32_t k = 0; k < SL_PARAMETER_COUNT; k++) {
		if (parameters[k].rule == MOST) {
			agreed[k] = theirs[k] > agreed[k] ? theirs[k] : agreed[k];
		} else if (agreed[k] != theirs[k]) {
			struct sl_report *report = sl_fail_attempt(core, SL_REASON_PARAMETER, true);
			report->peer = member;
			report->word = parameters[k].name;
			report->n[0] = agreed[k];
			report->n[1] = theirs[k];
			return false;
		}
	}
	return true;
}

static bool agree_on_roster(struct sl_core *core, uint32_t member)
{
	const struct sl_link_state *state = &link_of(core, member)->state;
	if (memcmp(state->roster, core->config.scope.roster, SL_HASH_BYTES) == 0)
		return true;
	struct sl_report *report = sl_fail_attempt(core, SL_REASON_ROSTER, true);
	report->peer = member;
	report->n[0] = core->config.roster_size;
	report->n[1] = state->roster_size;
	report->hash = core->config.scope.roster;
	report->hash2 = state->roster;
	return false;
}

static bool agree_on_history(struct sl_core *core, uint32_t member)
{
	const struct sl_link_state *state = &link_of(core, member)->state;
	if (memcmp(state->previous, core->previous, SL_HASH_BYTES) == 0)
		return true;
	struct sl_report *report = sl_fail_attempt(core, SL_REASON_HISTORY, true);
	report->peer = member;
	report->hash = core->previous;
	report->hash2 = state->previous;
	return false;
}

/* Everybody in the view must run the same round from the same model. */
static bool agree(struct sl_core *core, struct sl_view *view)
{
	view->agreed = core->config.parameters;
	for (uint32_t i = 0; i < view->n; i++) {
		uint32_t member = view->members[i];
		if (link_of(core, member)->twice) {
			sl_fail_attempt(core, SL_REASON_EQUIVOCATION, true)->peer = member;
			return false;
		}
		if (!agree_on_roster(core, member) || !agree_on_parameters(core, view, member) ||
		    !agree_on_history(core, member))
			return false;
	}
	return true;
}

static bool quorate(struct sl_core *core, const struct sl_view *view)
{
	if (view->n >= 2 && view->n >= view->agreed.quorum)
		return true;
	enum sl_reason reason = view->n < 2 ? SL_REASON_ALONE : SL_REASON_QUORUM;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (view->position[i] == UINT32_MAX)
			sl_bit_set(core->awaited, i);
	struct sl_report *report = sl_fail_attempt(core, reason, true);
	report->set = core->blamed;
	report->n[0] = core->view.n;
	report->n[1] = core->view.agreed.quorum;
	return false;
}

void sl_view_set_encoding(struct sl_view *view)
{
	const struct sl_parameters *p = &view->agreed;
	view->encoding = (struct sl_encoding){.kind = (enum sl_encoding_kind)p->encoding,
					      .sigma = (uint32_t)p->sigma,
					      .weight_total = view->n};
	memcpy(&view->encoding.clip, &p->clip, sizeof p->clip);
	view->sharing = (enum sl_sharing_kind)p->sharing;
	view->max_weight = p->max_weight;
	view->elements = p->n + 1;
	view->chunks = (uint32_t)((view->elements + SL_CHUNK_ELEMENTS - 1) / SL_CHUNK_ELEMENTS);
}

/* p: configured, or the smallest that meets the bound for this N (protocol 2). */
static bool resolve_p(struct sl_core *core, struct sl_view *view)
{
	const struct sl_parameters *agreed = &view->agreed;
	uint64_t least = 0, p = agreed->p;
	int sigma_most = -1;
	if (p == 0)
		p = sl_p_auto(&view->encoding, view->n, agreed->max_weight, SL_MIXING_P_BITS_MAX);
	bool bound = sl_p_bound(p, &view->encoding, view->n, agreed->max_weight, &least, &sigma_most);
	if (p == 0 || !bound || sl_field_init(&view->field, p) != SL_OK || view->field.bits > SL_MIXING_P_BITS_MAX) {
		struct sl_report *report = sl_fail_attempt(core, SL_REASON_P_BOUND, true);
		report->n[0] = p;
		report->n[1] = least;
		report->n[2] = agreed->sigma;
		report->n[3] = view->n;
		report->real = sigma_most;
		return false;
	}
	sl_id largest = view->ids[view->n - 1];
	if (p <= view->n || p <= largest) {
		struct sl_report *report = sl_fail_attempt(core, SL_REASON_P_IDS, true);
		report->n[0] = p;
		report->n[1] = largest > view->n ? largest : view->n;
		return false;
	}
	view->fraction = sl_fraction_bits(view->field.bits);
	return true;
}

static bool room_for_attempt(struct sl_core *core, struct sl_view *view)
{
	struct sl_arena *arena = &core->arena;
	core->at = (struct sl_attempt_state){.progress = core->now};
	core->at.iteration = SL_TAKE(arena, view->chunks, uint64_t);
	core->at.have = SL_TAKE(arena, view->chunks, uint32_t);
	core->at.busy = SL_TAKE(arena, view->chunks, bool);
	core->exchange = SL_TAKE(arena, view->degree, struct sl_exchange);
	bool room = core->at.iteration != NULL && core->at.have != NULL && core->at.busy != NULL && core->exchange != NULL;
	for (uint32_t r = 0; room && r < view->degree; r++) {
		core->exchange[r].states_in = SL_TAKE(arena, view->chunks, uint64_t);
		room = core->exchange[r].states_in != NULL;
	}
	return room;
}

static void find_neighbours(struct sl_core *core, struct sl_view *view)
{
	view->degree = sl_degree(&view->graph, view->self);
	view->neighbours = sl_neighbours(&view->graph, view->self);
	memset(core->fellows, 0, sl_set_bytes(core));
	for (uint32_t r = 0; r < view->degree; r++)
		sl_bit_set(core->fellows, sl_view_peer(view, r));
}

int sl_view_neighbour(const struct sl_view *view, uint32_t roster_index)
{
	uint32_t position = view->position[roster_index];
	for (uint32_t r = 0; position != UINT32_MAX && r < view->degree; r++)
		if (view->neighbours[r] == position)
			return (int)r;
	return -1;
}

int sl_view_build(struct sl_core *core)
{
	struct sl_view *view = &core->view;
	sl_arena_reset(&core->arena, 0);
	view->t = core->t;
	view->a = core->a;
	view->n = component(core, view->members, view->position);
	if (any(core, core->awaited))
		return SL_PENDING;
	number_members(core, view);
	if (!agree(core, view) || !quorate(core, view))
		return SL_ERR_REFUSED;
	sl_view_set_encoding(view);
	if (!resolve_p(core, view))
		return SL_ERR_REFUSED;
	if (build_graph(core, view) != SL_OK) {
		sl_fail_attempt(core, SL_REASON_MEMORY, true);
		return SL_ERR_REFUSED;
	}
	find_neighbours(core, view);
	if (!room_for_attempt(core, view)) {
		sl_fail_attempt(core, SL_REASON_MEMORY, true);
		return SL_ERR_REFUSED;
	}
	hash_view(core, view);
	core->view_built = true;
	return SL_OK;
}
