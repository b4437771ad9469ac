#include "common/core/view_build.h"

#include "common/core/attempt.h"
#include "common/core/compatible.h"
#include "common/core/emit.h"
#include "common/core/seen.h"
#include "common/core/train.h"
#include "common/mixing/spectrum.h"
#include "common/protocol/view_codec.h"

const struct sl_link_record *sl_view_link(const struct sl_core *core, uint32_t i, sl_attempt a)
{
	const struct sl_link_record *lr = &core->links[i];
	bool here = lr->record.present && lr->state.t == core->t && lr->state.a == a &&
		    lr->state.incarnation >= sl_core_incarnation(core, i);
	return here ? lr : NULL;
}

static const struct sl_link_record *link_of(const struct sl_core *core, uint32_t i)
{
	return sl_view_link(core, i, core->a);
}

static bool mutual(const struct sl_core *core, uint32_t i, uint32_t j)
{
	const struct sl_link_record *a = link_of(core, i), *b = link_of(core, j);
	return a != NULL && b != NULL && sl_bit(a->named, j) && sl_bit(b->named, i);
}

/* Return true if learner `i`, whose link state is here, may be in a view with this one. */
static bool may_take_part(const struct sl_core *core, uint32_t i)
{
	return i == core->config.self || sl_compatible_difference(core, link_of(core, i)) == SL_REASON_NONE;
}

static void visit(struct sl_core *core, uint32_t from, uint32_t to, uint32_t *queue, uint32_t *count,
		  uint32_t *position)
{
	if (position[to] != UINT32_MAX || sl_bit(core->excluded, to))
		return;
	if (link_of(core, to) == NULL) {
		if (!sl_compatible_differs(core, to))
			sl_bit_set(core->missing, to);
	} else if (mutual(core, from, to) && may_take_part(core, to)) {
		position[to] = 0;
		queue[(*count)++] = to;
	}
}

/* Search breadth first from this learner, over edges between learners that may be in one view. Return the
 * number of members in `queue`; core->missing gets their candidates whose link states are missing. */
static uint32_t component(struct sl_core *core, uint32_t *queue, uint32_t *position)
{
	uint32_t count = 0, R = core->config.roster_size;
	memset(core->missing, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < R; i++)
		position[i] = UINT32_MAX;
	queue[count++] = core->config.self;
	position[core->config.self] = 0;
	for (uint32_t next = 0; next < count; next++) {
		const uint64_t *named = link_of(core, queue[next])->named; /* those in the roster */
		for (size_t w = 0; w < sl_core_words(core); w++)
			for (uint64_t left = named[w]; left != 0; left &= left - 1)
				visit(core, queue[next], (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left),
				      queue, &count, position);
	}
	return count;
}

static void number_members(struct sl_core *core, struct sl_view *view)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (view->position[i] == UINT32_MAX)
			continue;
		view->members[n] = i;
		view->ids[n] = core->config.ids[i];
		view->incarnations[n] = link_of(core, i)->state.incarnation;
		view->position[i] = n++;
	}
	view->n = n;
	memcpy(view->previous, core->previous, sizeof view->previous);
	view->self = view->position[core->config.self];
}

static int build_graph(struct sl_core *core, struct sl_view *view)
{
	size_t count = 0;
	for (uint32_t i = 0; i < view->n; i++) {
		const struct sl_link_record *lr = link_of(core, view->members[i]);
		for (uint32_t c = 0; c < lr->state.count; c++) {
			uint32_t j = sl_core_index(core, lr->candidates[c]);
			if (j != UINT32_MAX && view->members[i] < j && view->position[j] != UINT32_MAX &&
			    mutual(core, view->members[i], j))
				core->edges[count++] = (struct sl_edge){i, view->position[j]};
		}
	}
	return sl_graph_init(&view->graph, view->n, core->edges, count, &core->arena);
}

static bool hash_view(struct sl_core *core, struct sl_view *view)
{
	core->at.view_size = sl_view_bytes(view->n, view->graph.edges);
	core->at.view_bytes = sl_arena_take(&core->arena, 1, core->at.view_size);
	if (core->at.view_bytes == NULL)
		return false;
	sl_view_write(view, core->at.view_bytes);
	if (sl_view_round(&core->config.scope, core->at.view_bytes, core->at.view_size,
			  core->config.roster_size, core->making.members, &core->making.head) != SL_OK)
		return false;
	sl_canonical_round(&core->config.scope, &core->making.head, view->h);
	return true;
}

/* Return the number that the participant at `position` states, `offset` bytes into its link state. */
static uint64_t value_of(const struct sl_core *core, const struct sl_view *view, uint32_t position,
			 size_t offset)
{
	const struct sl_link_record *link = link_of(core, view->members[position]);
	return *(const uint64_t *)((const uint8_t *)&link->state + offset);
}

/* Return the largest value that is stated at `offset` and below `limit`, and add to `count` the participants
 * that have it. */
static uint64_t largest_below(const struct sl_core *core, const struct sl_view *view, size_t offset,
			      unsigned __int128 limit, uint64_t *count)
{
	uint64_t largest = 0;
	uint32_t have = 0;
	for (uint32_t i = 0; i < view->n; i++) {
		uint64_t value = value_of(core, view, i, offset);
		if (value >= limit || value < largest)
			continue;
		have = value > largest ? 1 : have + 1;
		largest = value;
	}
	*count += have;
	return largest;
}

/* Return the largest value at `offset` that c+1 participants reach, or all of them, if they are fewer. */
static uint64_t backed(const struct sl_core *core, const struct sl_view *view, size_t offset)
{
	uint64_t value = 0, count = 0, enough = core->parameters.tolerance + 1;
	unsigned __int128 limit = (unsigned __int128)UINT64_MAX + 1;
	for (; count < enough && count < view->n; limit = value)
		value = largest_below(core, view, offset, limit, &count);
	return value;
}

/* Return the hash of the initial model that all participants have, or 0. */
static uint64_t equal_initial(const struct sl_core *core, const struct sl_view *view)
{
	for (uint32_t i = 0; i < view->n; i++)
		if (link_of(core, view->members[i])->state.initial != core->parameters.initial)
			return 0;
	return core->parameters.initial;
}

/* What the roster settles is equal, and so are n, model and values: else they were not compatible. */
static void agree_on_parameters(struct sl_core *core, struct sl_view *view)
{
	view->agreed = core->parameters;
	view->agreed.failed = backed(core, view, offsetof(struct sl_link_state, failed));
	view->agreed.hop_bytes = backed(core, view, offsetof(struct sl_link_state, hop_bytes));
	view->agreed.initial = equal_initial(core, view);
}

/* Return the first learner from `from` on that a participant names and that may not be in the view, and why;
 * or SL_NOBODY. */
static uint32_t left_out(const struct sl_core *core, const struct sl_view *view, uint32_t from,
			 enum sl_reason *why)
{
	for (uint32_t i = from; i < core->config.roster_size; i++) {
		bool named = false, known = link_of(core, i) != NULL || sl_compatible_differs(core, i);
		*why = sl_compatible_difference(core, &core->links[i]);
		if (!known || *why == SL_REASON_NONE || view->position[i] != UINT32_MAX)
			continue;
		for (uint32_t m = 0; !named && m < view->n; m++)
			named = sl_bit(link_of(core, view->members[m])->named, i);
		if (named)
			return i;
	}
	return SL_NOBODY;
}

static void report_left_out(struct sl_core *core, const struct sl_view *view)
{
	enum sl_reason why;
	uint32_t i = left_out(core, view, 0, &why);
	for (; i != SL_NOBODY; i = left_out(core, view, i + 1, &why))
		sl_compatible_report(core, i, why);
}

static bool quorate(struct sl_core *core, const struct sl_view *view)
{
	if (view->n >= 2 && view->n >= view->agreed.quorum)
		return true;
	enum sl_reason why;
	uint32_t other = left_out(core, view, 0, &why);
	if (other != SL_NOBODY) {
		sl_compatible_told(core, other, why);
		sl_compatible_describe(core, other, why, sl_attempt_fail(core, why, true));
		return false;
	}
	enum sl_reason reason = view->n < 2 ? SL_REASON_ALONE : SL_REASON_QUORUM;
	core->full_graph = true; /* in an overlay, others may be in range that this part has not chosen */
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (view->position[i] == UINT32_MAX)
			sl_bit_set(core->missing, i);
	struct sl_report *report = sl_attempt_fail(core, reason, true);
	report->set = core->failed;
	report->why.quorum.learners = core->view.n;
	report->why.quorum.quorum = core->view.agreed.quorum;
	return false;
}

/* More bits than the setting in fresh rounds, .. */
#define FRESH_BITS 18u
/* .. and while ranges are known roughly. */
#define EARLY_ROUNDS 4u
#define EARLY_BITS 6u

/* Set the bits of the first limb of the round: of a ranged one, those of the setting, and more in the first
 * rounds; of an exact one, those of a limb (ROUND.md §4.8 Precision). */
static void set_bits(struct sl_view *view)
{
	struct sl_parameters *agreed = &view->agreed;
	uint64_t bits = SL_EXACT_BITS;
	if (!sl_values_have_limbs(agreed->values))
		return;
	if (sl_view_ranged(view)) {
		uint32_t more = view->t <= SL_VIEW_FRESH_ROUNDS ? FRESH_BITS
				: view->t <= EARLY_ROUNDS	? EARLY_BITS
								: 0;
		bits = agreed->update_bits + (agreed->p == 0 ? more : 0);
	}
	agreed->update_bits = bits < SL_UPDATE_BITS_MAX ? bits : SL_UPDATE_BITS_MAX;
}

static void describe_bound(const struct sl_view *view, uint64_t p, uint64_t least, int digits_most,
			   struct sl_report *report)
{
	report->why.p_bound.p = p;
	report->why.p_bound.least = least;
	report->why.p_bound.values = view->encoding.values;
	report->why.p_bound.digits = sl_encoding_digits(&view->encoding);
	report->why.p_bound.digits_most = digits_most;
	report->why.p_bound.learners = view->n;
	report->why.p_bound.bits_most = sl_engine_p_bits((enum sl_engine)view->agreed.mixing);
}

/* Resolve p: as configured, or the one that `auto` chooses for this view (ROUND.md §4.5 Bounds on the
 * modulus). Limbs get fewer bits if it takes that (§4.8 Precision). Return false if no p meets the bound. */
static bool resolve_p(struct sl_core *core, struct sl_view *view)
{
	struct sl_parameters *agreed = &view->agreed;
	const struct sl_addends addends = {.learners = view->n,
					   .max_weight = agreed->max_weight,
					   .n = agreed->n,
					   .largest_id = view->ids[view->n - 1]};
	uint64_t least = 0, p = agreed->p;
	uint32_t bits_most = sl_engine_p_bits((enum sl_engine)agreed->mixing);
	int digits_most = -1;
	sl_view_set_encoding(view, &core->config.layout);
	if (sl_encoding_has_limbs(&view->encoding)) {
		agreed->update_bits = sl_encoding_lower(p, &view->encoding, &addends, bits_most);
		sl_view_set_encoding(view, &core->config.layout);
	}
	p = p == 0 ? sl_encoding_modulus(&view->encoding, &addends, bits_most) : p;
	bool bound = sl_encoding_bound(p, &view->encoding, &addends, &least, &digits_most);
	if (p != 0 && bound && sl_field_init(&view->field, p) == SL_OK && view->field.bits <= bits_most)
		return true;
	describe_bound(view, p, least, digits_most, sl_attempt_fail(core, SL_REASON_P_BOUND, true));
	return false;
}

/* Return true if a vector is within the limit: an exact round has several limbs for each value. */
static bool fits(struct sl_core *core, const struct sl_view *view)
{
	if (view->elements <= SL_ELEMENTS_MAX)
		return true;
	sl_attempt_fail(core, SL_REASON_ELEMENTS, true)->why.elements.count = view->elements;
	return false;
}

static bool above_ids(struct sl_core *core, const struct sl_view *view)
{
	uint64_t p = view->field.p;
	sl_id largest = view->ids[view->n - 1];
	if (p > view->n && p > largest)
		return true;
	struct sl_report *report = sl_attempt_fail(core, SL_REASON_P_IDS, true);
	report->why.p_ids.p = p;
	report->why.p_ids.largest = largest > view->n ? largest : view->n;
	return false;
}

static void take_recovery(struct sl_core *core, const struct sl_view *view)
{
	struct sl_arena *arena = &core->arena;
	size_t held = sl_core_held_bytes(view);
	core->at.readys = SL_ARENA_TAKE(arena, view->n, struct sl_ready);
	core->at.ready_here = SL_ARENA_TAKE(arena, view->n, bool);
	core->at.split_from = SL_NOBODY;
	core->at.said_readys = sl_arena_take(arena, view->n, sizeof *core->at.said_readys);
	core->at.holders = SL_ARENA_TAKE(arena, view->n, struct sl_holder);
	core->at.slots = SL_ARENA_TAKE(arena, view->n, enum sl_slot);
	core->at.held = SL_ARENA_TAKE(arena, held, uint8_t);
	uint8_t *sets = SL_ARENA_TAKE(arena, 3 * held * view->n, uint8_t);
	for (uint32_t i = 0; !arena->full && i < view->n; i++, sets += 3 * held) {
		struct sl_holder *holder = &core->at.holders[i];
		holder->held = sets;
		holder->keys = sets + held;
		holder->keys_sent = holder->keys + held;
	}
}

/* Keys and key shares: those received, and openings. */
static void take_keys(struct sl_core *core, const struct sl_view *view)
{
	struct sl_arena *arena = &core->arena;
	struct sl_attempt_state *at = &core->at;
	sl_arena_reset(&core->secrets, 0);
	at->secrets = SL_ARENA_TAKE(&core->secrets, 1, struct sl_secrets);
	at->keys = sl_arena_take(&core->secrets, view->n, SL_KEY_BYTES);
	struct sl_held_share *shares = SL_ARENA_TAKE(&core->secrets, view->degree, struct sl_held_share);
	if (core->secrets.full)
		return;
	at->secrets->count = view->degree;
	at->secrets->shares = shares;
	at->claimed = SL_ARENA_TAKE(arena, view->n, bool);
	at->known = SL_ARENA_TAKE(arena, sl_core_held_bytes(view), uint8_t);
	at->combine_ids = SL_ARENA_TAKE(arena, view->n, sl_id);
	at->combine = sl_arena_take(arena, view->n, SL_KEY_SHARE_BYTES);
}

static void take_check(struct sl_core *core, const struct sl_view *view)
{
	struct sl_arena *arena = &core->arena;
	struct sl_attempt_state *at = &core->at;
	at->points = sl_view_points(view);
	at->challenges = sl_arena_take(arena, view->n, SL_KEY_BYTES);
	at->challenge_here = SL_ARENA_TAKE(arena, view->n, bool);
	at->phi = SL_ARENA_TAKE(arena, 2 * (size_t)view->n * at->points, uint64_t);
	at->signers = sl_arena_take(arena, view->n, sizeof *at->signers);
	at->own_values = SL_ARENA_TAKE(arena, (size_t)(view->degree + 2) * at->points, uint64_t);
	at->said = SL_ARENA_TAKE(arena, at->points, uint64_t);
	at->checksum_here = SL_ARENA_TAKE(arena, view->n, bool);
	for (uint32_t i = 0; !arena->full && i < view->n; i++)
		at->signers[i][0] = at->signers[i][1] = SL_NOBODY;
	memset(core->disputed, 0, sl_core_set_bytes(core));
}

/* Take the memory of an attempt. Return false if there is too little. */
static bool take_attempt(struct sl_core *core, struct sl_view *view)
{
	struct sl_arena *arena = &core->arena;
	core->at =
		(struct sl_attempt_state){.progress = core->now, .joined = SL_NOBODY, .over_since = SL_NEVER};
	uint32_t chunks = sl_view_state_chunks_most(view->elements);
	core->at.iteration = SL_ARENA_TAKE(arena, chunks, uint64_t);
	core->at.have = SL_ARENA_TAKE(arena, chunks, uint32_t);
	core->at.busy = SL_ARENA_TAKE(arena, chunks, bool);
	core->exchange = SL_ARENA_TAKE(arena, view->degree, struct sl_exchange);
	view->up = SL_ARENA_TAKE(arena, view->degree, uint64_t);
	view->down = SL_ARENA_TAKE(arena, view->degree, uint64_t);
	view->keeper = SL_ARENA_TAKE(arena, view->n, uint32_t);
	for (uint32_t r = 0; !arena->full && r < view->degree; r++)
		core->exchange[r].states_in = SL_ARENA_TAKE(arena, chunks, uint64_t);
	take_keys(core, view);
	take_check(core, view);
	take_recovery(core, view);
	return !arena->full && !core->secrets.full;
}

static void find_neighbours(struct sl_core *core, struct sl_view *view)
{
	view->degree = sl_graph_degree(&view->graph, view->self);
	view->neighbours = sl_graph_neighbours(&view->graph, view->self);
	memset(core->view_neighbours, 0, sl_core_set_bytes(core));
	for (uint32_t r = 0; r < view->degree; r++)
		sl_bit_set(core->view_neighbours, sl_view_peer(view, r));
}

/* Fill what follows from members, graph, field and agreed parameters. */
static bool finish_view(struct sl_core *core, struct sl_view *view)
{
	view->fraction = sl_spectrum_fraction_bits(view->field.bits);
	view->mu = 0;
	view->costs = (struct sl_engine_costs){0};
	view->state_elements = SL_CHUNK_ELEMENTS;
	view->state_chunks = view->chunks;
	view->engine = (enum sl_engine)view->agreed.mixing;
	view->steps = 0; /* until the graph is analysed; a view from disk is not */
	find_neighbours(core, view);
	return take_attempt(core, view) && hash_view(core, view);
}

/* Find the participants and what they agree on, without core->excluded. */
static int find_participants(struct sl_core *core, struct sl_view *view)
{
	view->n = component(core, view->members, view->position);
	if (sl_bit_count(core->missing, sl_core_words(core)) > 0)
		return SL_PENDING;
	number_members(core, view);
	agree_on_parameters(core, view);
	if (!quorate(core, view))
		return SL_ERR_REFUSED;
	if (core->parameters.initial != view->agreed.initial) {
		sl_train_without_initial(core);
		sl_attempt_fail(core, SL_REASON_INITIAL, true);
		return SL_ERR_REFUSED;
	}
	set_bits(view);
	return SL_OK;
}

static int find_view(struct sl_core *core, struct sl_view *view)
{
	int rc = find_participants(core, view);
	if (rc != SL_OK)
		return rc;
	return resolve_p(core, view) && above_ids(core, view) && fits(core, view) ? SL_OK : SL_ERR_REFUSED;
}

static int build(struct sl_core *core)
{
	struct sl_view *view = &core->view;
	sl_arena_reset(&core->arena, 0);
	view->t = core->t;
	view->a = core->a;
	int rc = find_view(core, view);
	if (rc != SL_OK)
		return rc;
	report_left_out(core, view);
	if (build_graph(core, view) != SL_OK || !finish_view(core, view)) {
		sl_attempt_fail(core, SL_REASON_MEMORY, true);
		return SL_ERR_REFUSED;
	}
	core->view_built = true;
	return SL_OK;
}

/* Exclude the learners whose part in the sum would tell too much of few. */
static int leave_out_atoms(struct sl_core *core)
{
	component(core, core->view.members, core->view.position);
	bool whole = sl_bit_count(core->missing, sl_core_words(core)) == 0;
	if (whole)
		sl_seen_leave_out(core);
	if (!sl_bit(core->excluded, core->config.self))
		return whole ? SL_OK : SL_PENDING;
	sl_attempt_fail(core, SL_REASON_MEMBERSHIP, true)->set = core->changed;
	return SL_ERR_REFUSED;
}

int sl_view_build(struct sl_core *core)
{
	memset(core->excluded, 0, sl_core_set_bytes(core));
	if (core->config.membership_change != SL_MEMBERSHIP_WARN) {
		int rc = leave_out_atoms(core);
		if (rc != SL_OK)
			return rc;
	}
	return build(core);
}

int sl_view_prune(struct sl_core *core, const uint64_t *kept)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		uint32_t position = core->view.position[i];
		if (position == UINT32_MAX || !sl_bit(kept, position))
			sl_bit_set(core->excluded, i);
	}
	core->view_built = false;
	return build(core);
}

bool sl_view_lacks(const struct sl_core *core, uint32_t i)
{
	bool named = false;
	if (link_of(core, i) == NULL || sl_bit(core->excluded, i) || !may_take_part(core, i))
		return false;
	for (uint32_t m = 0; m < core->view.n; m++)
		named |= mutual(core, core->view.members[m], i);
	return named && core->view.position[i] == UINT32_MAX;
}

/* --- from disk --- */

static bool read_members(struct sl_core *core, struct sl_view *view, const uint8_t *bytes)
{
	sl_id last = 0;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		view->position[i] = UINT32_MAX;
	for (uint32_t i = 0; i < view->n; i++) {
		sl_view_read_member(bytes, i, &view->ids[i], &view->incarnations[i]);
		view->members[i] = sl_core_index(core, view->ids[i]);
		if (view->ids[i] <= last || view->members[i] == UINT32_MAX)
			return false;
		last = view->ids[i];
		view->position[view->members[i]] = i;
	}
	view->self = view->position[core->config.self];
	return view->self != UINT32_MAX;
}

static bool read_edges(struct sl_core *core, struct sl_view *view, const uint8_t *bytes, size_t count)
{
	if (count > (size_t)core->config.roster_size * core->config.roster_size / 2)
		return false;
	for (size_t e = 0; e < count; e++) {
		sl_id a, b;
		sl_view_read_edge(bytes, view->n, e, &a, &b);
		uint32_t i = sl_core_index(core, a), j = sl_core_index(core, b);
		if (i == UINT32_MAX || j == UINT32_MAX || view->position[i] == UINT32_MAX ||
		    view->position[j] == UINT32_MAX)
			return false;
		core->edges[e] = (struct sl_edge){view->position[i], view->position[j]};
	}
	return sl_graph_init(&view->graph, view->n, core->edges, count, &core->arena) == SL_OK;
}

bool sl_view_restore(struct sl_core *core, const uint8_t *bytes, size_t size)
{
	struct sl_view *view = &core->view;
	uint64_t p = 0;
	size_t edges = 0;
	sl_arena_reset(&core->arena, 0);
	view->agreed = core->config.parameters;
	if (sl_view_read_head(bytes, size, view, &p, &edges) != SL_OK || view->n > core->config.roster_size)
		return false;
	sl_view_set_encoding(view, &core->config.layout);
	bool whole = view->agreed.n == core->config.parameters.n &&
		     view->agreed.model == core->config.parameters.model &&
		     sl_field_init(&view->field, p) == SL_OK &&
		     memcmp(view->previous, core->previous, SL_HASH_BYTES) == 0 &&
		     read_members(core, view, bytes) && read_edges(core, view, bytes, edges) &&
		     finish_view(core, view);
	core->view_built = core->view_checked = whole && memcmp(bytes, core->at.view_bytes, size) == 0;
	return core->view_built;
}
