#include "common/core/seen.h"

#include <assert.h>
#include <sodium.h>

#include "common/core/emit.h"

#define OF_VIEW (1u << SL_SEEN_SUMS) /* the learner takes part in the view */

/* Return the most learners that are remembered: those on disk, of the roster, and of each sum. */
static uint32_t room_of(const struct sl_core_config *config)
{
	return (config->seen != NULL ? config->seen->count : 0) + config->roster_size +
	       SL_SEEN_SUMS * sl_core_candidates_max(config->roster_size);
}

size_t sl_seen_bytes(const struct sl_core_config *config)
{
	return sizeof(struct sl_seen) +
	       room_of(config) * (sizeof(struct sl_seen_member) + sizeof(struct sl_seen_atom)) + 128;
}

/* Forget the learners that are neither in the roster nor in a sum. */
static void drop_strangers(struct sl_core *core)
{
	struct sl_seen *seen = core->sums;
	uint32_t kept = core->config.roster_size;
	for (uint32_t k = kept; k < seen->count; k++)
		if (seen->members[k].in != 0)
			seen->members[kept++] = seen->members[k];
	seen->count = kept;
}

/* Return the entry of learner `id`. */
static struct sl_seen_member *member_of(struct sl_core *core, sl_id id)
{
	struct sl_seen *seen = core->sums;
	uint32_t index = sl_core_index(core, id), k = core->config.roster_size;
	if (index != UINT32_MAX)
		return &seen->members[index];
	while (k < seen->count && seen->members[k].id != id)
		k++;
	if (k == seen->count) {
		assert(k < core->sums_room);
		seen->members[seen->count++] = (struct sl_seen_member){.id = id};
	}
	return &seen->members[k];
}

static void forget(struct sl_seen *seen, uint32_t sum)
{
	for (uint32_t k = 0; k < seen->count; k++)
		seen->members[k].in &= ~(1u << sum);
	seen->t[sum] = 0;
}

/* Note the sum of attempt `view` of round `t`, unless it is here, or was: after a start, the last committed
 * round may be older than all that are remembered. ids: one of each `stride` numbers. */
static void add(struct sl_core *core, sl_round t, const uint8_t *view, const uint32_t *ids, uint32_t count,
		uint32_t stride)
{
	struct sl_seen *seen = core->sums;
	for (uint32_t s = 0; s < SL_SEEN_SUMS; s++)
		if (seen->t[s] > t || (seen->t[s] == t && memcmp(seen->view[s], view, SL_HASH_BYTES) == 0))
			return;
	uint32_t sum = seen->next;
	seen->next = (sum + 1) % SL_SEEN_SUMS;
	forget(seen, sum);
	drop_strangers(core);
	seen->t[sum] = t;
	memcpy(seen->view[sum], view, SL_HASH_BYTES);
	for (uint32_t i = 0; i < count; i++)
		member_of(core, ids[i * stride])->in |= 1u << sum;
}

/* Take what the disk remembers: its learners are those of an earlier roster. */
static void restore(struct sl_core *core, const struct sl_seen *from)
{
	struct sl_seen *seen = core->sums;
	seen->next = from->next % SL_SEEN_SUMS;
	memcpy(seen->t, from->t, sizeof seen->t);
	memcpy(seen->view, from->view, sizeof seen->view);
	for (uint32_t k = 0; k < from->count; k++)
		if (from->members[k].in != 0)
			member_of(core, from->members[k].id)->in = from->members[k].in & (OF_VIEW - 1);
}

bool sl_seen_open(struct sl_core *core, struct sl_arena *arena)
{
	const struct sl_seen *from = core->config.seen;
	core->sums_room = room_of(&core->config);
	core->sums =
		sl_arena_take(arena, 1, sizeof *core->sums + core->sums_room * sizeof *core->sums->members);
	core->atoms = SL_ARENA_TAKE(arena, core->sums_room, struct sl_seen_atom);
	if (arena->full)
		return false;
	core->sums->count = core->config.roster_size;
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		core->sums->members[i].id = core->config.ids[i];
	if (from != NULL)
		restore(core, from);
	core->config.seen = NULL; /* copied */
	return true;
}

void sl_seen_over(struct sl_core *core)
{
	add(core, core->view.t, core->view.h, core->view.ids, core->view.n, 1);
}

void sl_seen_commit(struct sl_core *core, const struct sl_certificate *certificate)
{
	if (certificate->t > 0)
		add(core, certificate->t, certificate->view, certificate->round->members,
		    sl_round_learners(certificate->round), 2);
}

/* --- atoms --- */

static bool in_view(const struct sl_core *core, uint32_t k)
{
	return k < core->config.roster_size && core->view.position[k] != UINT32_MAX;
}

/* Return the sums that learner `k` is in, and `view` if it is in the view. */
static uint32_t sums_of(const struct sl_core *core, uint32_t k, uint32_t view)
{
	return core->sums->members[k].in | (in_view(core, k) ? view : 0);
}

/* Find the atoms of the sums; view: OF_VIEW, with the view, or 0. Return their number. */
static uint32_t find_atoms(struct sl_core *core, uint32_t view)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < core->sums->count; k++) {
		uint32_t in = sums_of(core, k, view), a = 0;
		while (a < count && core->atoms[a].in != in)
			a++;
		if (a == count)
			core->atoms[count++] = (struct sl_seen_atom){.in = in};
		core->atoms[a].size++;
		core->atoms[a].gone += k >= core->config.roster_size;
		core->atoms[a].missing += k < core->config.roster_size && !in_view(core, k);
	}
	return count;
}

/* Return true if the view makes this atom: of newcomers, or of a part of what was one. */
static bool is_made(const struct sl_core *core, const struct sl_seen_atom *atom)
{
	uint32_t sums = atom->in & ~OF_VIEW, before = 0;
	for (uint32_t k = 0; k < core->sums->count; k++)
		before += core->sums->members[k].in == sums;
	return sums == 0 || before > atom->size;
}

static void report(struct sl_core *core, uint32_t gone)
{
	const struct sl_seen *seen = core->sums;
	bool same = memcmp(core->changed, core->changed_told, sl_core_set_bytes(core)) == 0;
	if (same && gone == core->gone_told)
		return;
	memcpy(core->changed_told, core->changed, sl_core_set_bytes(core));
	core->gone_told = gone;
	bool any = sl_bit_count(core->changed, sl_core_words(core)) > 0;
	if (!any && gone == 0)
		return; /* there are none any more */
	struct sl_report *report = sl_emit_report(core, SL_REPORT_PRIVACY);
	report->set = any ? core->changed : NULL;
	report->privacy.atom = core->atom;
	report->privacy.gone = gone;
	report->privacy.tolerance = core->view.agreed.tolerance;
	report->privacy.since = core->t;
	for (uint32_t s = 0; s < SL_SEEN_SUMS; s++)
		if (seen->t[s] != 0 && seen->t[s] < report->privacy.since)
			report->privacy.since = seen->t[s];
}

bool sl_seen_tells(struct sl_core *core)
{
	uint32_t count = find_atoms(core, OF_VIEW), gone = 0;
	bool tells = false;
	core->atom = UINT32_MAX;
	memset(core->changed, 0, sl_core_set_bytes(core));
	for (uint32_t a = 0; a < count; a++) {
		const struct sl_seen_atom *atom = &core->atoms[a];
		if (atom->in == 0)
			continue;
		core->atom = atom->size < core->atom ? atom->size : core->atom;
		bool whole = (atom->in & OF_VIEW) != 0 && atom->size == core->view.n; /* §7.9 */
		if (atom->size >= core->view.agreed.tolerance + 2 || whole)
			continue;
		gone += atom->gone;
		tells |= atom->gone < atom->size && is_made(core, atom);
		for (uint32_t i = 0; i < core->config.roster_size; i++)
			if (sums_of(core, i, OF_VIEW) == atom->in)
				sl_bit_set(core->changed, i);
	}
	report(core, gone);
	return tells;
}

/* --- who is left out --- */

/* Return what decides who of an atom is left out: the same at all participants. */
static uint64_t lot(const struct sl_core *core, uint32_t index)
{
	uint8_t what[SL_HASH_BYTES + sizeof(sl_id)], hash[16];
	uint64_t lot;
	memcpy(what, core->previous, SL_HASH_BYTES);
	memcpy(what + SL_HASH_BYTES, &core->config.ids[index], sizeof(sl_id));
	crypto_generichash(hash, sizeof hash, what, sizeof what, NULL, 0);
	memcpy(&lot, hash, sizeof lot);
	return lot;
}

/* Return true if learner `i` of the atom would take part. */
static bool takes_part(const struct sl_core *core, const struct sl_seen_atom *atom, uint32_t i)
{
	return core->sums->members[i].in == atom->in && in_view(core, i) && !sl_bit(core->excluded, i);
}

static void leave_all_out(struct sl_core *core, const struct sl_seen_atom *atom)
{
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (takes_part(core, atom, i))
			sl_bit_set(core->excluded, i);
}

/* Leave `count` members of the atom out: those with the smallest lots. */
static void leave_some_out(struct sl_core *core, const struct sl_seen_atom *atom, uint32_t count)
{
	for (; count > 0; count--) {
		uint32_t chosen = SL_NOBODY;
		uint64_t least = UINT64_MAX;
		for (uint32_t i = 0; i < core->config.roster_size; i++) {
			if (!takes_part(core, atom, i) || (chosen != SL_NOBODY && lot(core, i) >= least))
				continue;
			chosen = i;
			least = lot(core, i);
		}
		sl_bit_set(core->excluded, chosen);
	}
}

void sl_seen_leave_out(struct sl_core *core)
{
	uint32_t count = find_atoms(core, 0), least = (uint32_t)core->config.parameters.tolerance + 2;
	bool cohort = core->config.membership_change == SL_MEMBERSHIP_COHORT, any = false;
	for (uint32_t s = 0; s < SL_SEEN_SUMS; s++)
		any |= core->sums->t[s] != 0;
	for (uint32_t a = 0; any && a < count; a++) {
		const struct sl_seen_atom *atom = &core->atoms[a];
		uint32_t here = atom->size - atom->missing - atom->gone;
		bool newcomers = atom->in == 0,
		     split = !newcomers && atom->missing > 0 && (atom->missing < least || here < least);
		if (cohort && split && here >= 2 * least)
			leave_some_out(core, atom, least);
		else if (split || (newcomers && here < least))
			leave_all_out(core, atom);
	}
	memset(core->changed, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++)
		if (core->sums->members[i].in == core->sums->members[core->config.self].in &&
		    (core->sums->members[i].in == 0) == in_view(core, i))
			sl_bit_set(core->changed, i);
}
