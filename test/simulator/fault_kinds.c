#include "test/simulator/fault_kinds.h"

#include <string.h>

#include "test/simulator/forget.h"

#define LINK_DEAD_MS 6000u /* silence after which a link counts as lost */

static const struct {
	const char *text, *word;
} names[SL_SIM_FAULT_COUNT] = {
#define X(name, ...) [SL_SIM_FAULT_##name] = {__VA_ARGS__},
	SL_SIM_FAULTS(X)
#undef X
};

const char *sl_sim_fault_name(enum sl_sim_fault kind)
{
	return names[kind].text;
}

/* Return the set that the first `length` bytes of `word` name; 0: none. */
static uint32_t parse_word(const char *word, size_t length, bool lies)
{
	uint32_t count = lies ? SL_SIM_LIE_COUNT : SL_SIM_FAULT_COUNT;
	if (length == 3 && strncmp(word, "all", 3) == 0)
		return (1u << count) - 1;
	for (uint32_t k = 0; k < count; k++) {
		const char *name = lies ? sl_sim_lie_name((enum sl_sim_lie)k) : names[k].word;
		if (strlen(name) == length && strncmp(word, name, length) == 0)
			return 1u << k;
	}
	return 0;
}

uint32_t sl_sim_fault_parse(const char *list, bool lies, const char **wrong)
{
	uint32_t set = 0;
	for (const char *word = list;; word++) {
		size_t length = strcspn(word, ",");
		uint32_t named = parse_word(word, length, lies);
		*wrong = word;
		if (named == 0)
			return 0;
		set |= named;
		word += length;
		if (*word == '\0')
			return set;
	}
}

/* --- random numbers --- */

uint64_t sl_sim_fault_draw(struct sl_sim_faults *f, uint64_t bound)
{
	return sl_sim_random(&f->random) % bound;
}

uint64_t sl_sim_fault_draw_us(struct sl_sim_faults *f, uint64_t least_ms, uint64_t most_ms)
{
	uint64_t span = least_ms;
	while (span < most_ms && sl_sim_fault_draw(f, 4) != 0)
		span *= 2;
	span += sl_sim_fault_draw(f, span + 1);
	return (span < most_ms ? span : most_ms) * 1000;
}

uint32_t sl_sim_fault_other(struct sl_sim_faults *f, uint32_t i)
{
	return (i + 1 + (uint32_t)sl_sim_fault_draw(f, f->sim->n - 1)) % f->sim->n;
}

void sl_sim_fault_post(struct sl_sim_faults *f, uint64_t us, enum sl_sim_fault_call what, uint32_t learner,
		       uint32_t kind, uint32_t peer)
{
	sl_sim_post(f->sim, f->sim->now + us,
		    (struct sl_sim_event){.kind = SL_SIM_CALL,
					  .learner = learner,
					  .peer = peer,
					  .generation = what | kind << 8});
}

/* --- kinds of faults: how each begins and ends --- */

static void cut_from(struct sl_sim *sim, uint64_t side, bool cut)
{
	for (uint32_t i = 0; i < sim->n; i++)
		for (uint32_t j = i + 1; j < sim->n; j++)
			if ((side >> i & 1) != (side >> j & 1))
				(cut ? sl_sim_cut : sl_sim_restore)(sim, i, j);
}

static void part(struct sl_sim_faults *f, uint32_t i)
{
	uint32_t slot = f->count % SL_SIM_FAULT_SLOTS;
	f->undo[slot] = (UINT64_C(1) << i) | (sl_sim_random(&f->random) & sl_sim_random(&f->random));
	cut_from(f->sim, f->undo[slot], true);
	sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 200, 120000), CALL_HEAL, i, SL_SIM_FAULT_PARTITION,
			  slot);
}

/* All messages to and from i take so long. */
static void lag(struct sl_sim *sim, uint32_t i, uint32_t ms)
{
	for (uint32_t j = 0; j < sim->n; j++)
		sl_sim_link(sim, i, j)->lag_ms = sl_sim_link(sim, j, i)->lag_ms = ms;
}

static void slow_down(struct sl_sim_faults *f, uint32_t i, uint32_t j)
{
	uint32_t ms = (uint32_t)(sl_sim_fault_draw_us(f, 50, 4000) / 1000);
	sl_sim_link(f->sim, i, j)->slow_ms = sl_sim_link(f->sim, j, i)->slow_ms = ms;
	if (ms % 2 == 0)
		lag(f->sim, i, 3 * ms);
	sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 500, 60000), CALL_HEAL, i, SL_SIM_FAULT_SLOW_LINK, j);
}

/* Messages of one direction are delayed; a long silence ends the link. */
static void deafen(struct sl_sim_faults *f, uint32_t i, uint32_t j)
{
	uint64_t us = sl_sim_fault_draw_us(f, 200, 30000);
	sl_sim_hold(f->sim, i, j);
	if (us > LINK_DEAD_MS * 1000)
		sl_sim_fault_post(f, LINK_DEAD_MS * 1000, CALL_DEAD, i, SL_SIM_FAULT_ONE_WAY, j);
	sl_sim_fault_post(f, us, CALL_HEAL, i, SL_SIM_FAULT_ONE_WAY, j);
}

/* Hold messages of some links of i back, each for a time of its own: messages of different peers change their
 * order. */
static void hold_some(struct sl_sim_faults *f, uint32_t i)
{
	for (uint32_t j = 0; j < f->sim->n; j++) {
		if (j == i || sl_sim_fault_draw(f, 2) == 0)
			continue;
		bool out = sl_sim_fault_draw(f, 2) == 0;
		sl_sim_hold(f->sim, out ? i : j, out ? j : i);
		sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 20, LINK_DEAD_MS - 1000), CALL_HEAL, out ? i : j,
				  SL_SIM_FAULT_HELD, out ? j : i);
	}
}

static void come_back_after(struct sl_sim_faults *f, uint32_t i, enum sl_sim_fault kind)
{
	sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 50, kind == SL_SIM_FAULT_AWAY ? 600000 : 120000),
			  CALL_HEAL, i, kind, i);
}

static void fall_asleep(struct sl_sim_faults *f, uint32_t i)
{
	uint64_t us = sl_sim_fault_draw_us(f, 50, 30000);
	sl_sim_pause(f->sim, i, f->sim->now + us);
	if (us > LINK_DEAD_MS * 1000)
		sl_sim_fault_post(f, LINK_DEAD_MS * 1000, CALL_DEAD, i, SL_SIM_FAULT_PAUSE, i);
	sl_sim_fault_post(f, us, CALL_HEAL, i, SL_SIM_FAULT_PAUSE, i);
}

static void slow_work(struct sl_sim_faults *f, uint32_t i)
{
	f->sim->learners[i].slow_ms = (uint32_t)(sl_sim_fault_draw_us(f, 100, 15000) / 1000);
	sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 500, 30000), CALL_HEAL, i, SL_SIM_FAULT_SLOW_WORK, i);
}

static void leave(struct sl_sim_faults *f, uint32_t i)
{
	sl_sim_isolate(f->sim, i);
	come_back_after(f, i, SL_SIM_FAULT_AWAY);
}

/* Half of the crashes come at once, half at a random point; see sl_sim_fault_at_point. */
static void crash(struct sl_sim_faults *f, uint32_t i, enum sl_sim_fault kind)
{
	if (kind == SL_SIM_FAULT_CRASH && f->pointed == SL_NOBODY && sl_sim_fault_draw(f, 2) == 0) {
		f->pointed = i;
		f->point = (uint32_t)sl_sim_fault_draw(f, sl_sim_point_count);
		sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 500, 20000), CALL_DEAD, i, SL_SIM_FAULT_CRASH,
				  i);
		return;
	}
	if (kind == SL_SIM_FAULT_POWER)
		sl_sim_lose_power(f->sim, i, LINK_DEAD_MS);
	else
		sl_sim_crash(f->sim, i);
	come_back_after(f, i, kind);
}

void sl_sim_fault_operator_aborts(struct sl_sim_faults *f, uint32_t i, bool released)
{
	struct sl_sim_learner *l = &f->sim->learners[i];
	enum sl_phase phase = l->host.phase;
	if (l->host.stopped ||
	    !(released ? phase == SL_PHASE_RECOVER || phase == SL_PHASE_CONFIRM : phase == SL_PHASE_READY))
		return;
	sl_sim_tell(f->sim, i, "FAULT its operator aborts");
	l->aborted_by_operator |= released;
	sl_sim_deliver(f->sim, i,
		       &(struct sl_event){.kind = SL_EVENT_OPERATOR_ABORT, .round = l->host.committed + 1});
}

/* Lose i for good, if it can be spared. */
static void lose(struct sl_sim_faults *f, uint32_t i)
{
	if (f->lost >= f->mix.lost_most)
		return;
	f->lost++;
	f->sim->learners[i].lost = true;
	sl_sim_crash(f->sim, i);
}

/* Flip a bit of the next vector that i sends, or of a state in its file when it has crashed. */
static void corrupt(struct sl_sim_faults *f, uint32_t i)
{
	struct sl_sim_learner *l = &f->sim->learners[i];
	if (sl_sim_fault_draw(f, 3) != 0) {
		f->lies.flips = i;
		return;
	}
	sl_sim_crash(f->sim, i);
	size_t bytes = l->slots * l->host.workspace.state_file.slot_bytes;
	if (l->host.workspace.state_file.base != NULL && bytes > 0)
		l->host.workspace.state_file.base[sl_sim_fault_draw(f, bytes)] ^=
			(uint8_t)(1u << sl_sim_fault_draw(f, 8));
	come_back_after(f, i, SL_SIM_FAULT_CRASH);
}

/* The disk of the learner that may forget is set back or emptied. */
static void forget(struct sl_sim_faults *f, enum sl_sim_fault kind)
{
	uint32_t i = f->forgetful; /* as many as the parameter allows */
	if (f->sim->learners[i].down || f->sim->learners[i].host.stopped)
		return;
	sl_sim_crash(f->sim, i);
	sl_sim_forget_now(f->sim, i, kind == SL_SIM_FAULT_WIPED, sl_sim_random(&f->random));
	come_back_after(f, i, SL_SIM_FAULT_CRASH);
}

void sl_sim_fault_apply(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i)
{
	uint32_t j = sl_sim_fault_other(f, i);
	sl_sim_tell(f->sim, i, "FAULT %s", sl_sim_fault_name(kind));
	switch (kind) {
	case SL_SIM_FAULT_LOSS:
		sl_sim_cut(f->sim, i, j);
		sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 20, 30000), CALL_HEAL, i, kind, j);
		break;
	case SL_SIM_FAULT_SLOW_LINK:
		slow_down(f, i, j);
		break;
	case SL_SIM_FAULT_HELD:
		hold_some(f, i);
		break;
	case SL_SIM_FAULT_ONE_WAY:
		deafen(f, i, j);
		break;
	case SL_SIM_FAULT_PARTITION:
		part(f, i);
		break;
	case SL_SIM_FAULT_CRASH:
	case SL_SIM_FAULT_POWER:
		crash(f, i, kind);
		break;
	case SL_SIM_FAULT_DISK:
		f->sim->learners[i].disk_fails = true;
		come_back_after(f, i, kind);
		break;
	case SL_SIM_FAULT_PAUSE:
		fall_asleep(f, i);
		break;
	case SL_SIM_FAULT_CLOCK:
		sl_sim_clock_jump(f->sim, i, sl_sim_fault_draw_us(f, 8000, 600000));
		break;
	case SL_SIM_FAULT_SLOW_WORK:
		slow_work(f, i);
		break;
	case SL_SIM_FAULT_TRAINER:
		f->sim->learners[i].training_ms = (uint32_t)(sl_sim_fault_draw_us(f, 2000, 200000) / 1000);
		break;
	case SL_SIM_FAULT_AWAY:
		leave(f, i);
		break;
	case SL_SIM_FAULT_REPLAY:
		for (int k = 0; k < 8; k++)
			sl_sim_lies_replay(f->sim);
		break;
	case SL_SIM_FAULT_ABORT:
		sl_sim_fault_operator_aborts(f, i, false);
		break;
	case SL_SIM_FAULT_LOST:
		lose(f, i);
		break;
	case SL_SIM_FAULT_ROLLBACK:
	case SL_SIM_FAULT_WIPED:
		forget(f, kind);
		break;
	case SL_SIM_FAULT_CORRUPT:
		corrupt(f, i);
		break;
	case SL_SIM_FAULT_LIAR:
	case SL_SIM_FAULT_ROSTER:
	case SL_SIM_FAULT_COUNT:
		break; /* from the start on */
	}
}

static void come_back(struct sl_sim *sim, uint32_t i)
{
	sim->learners[i].disk_fails = false;
	if (sim->learners[i].down && !sim->learners[i].lost)
		sl_sim_restart(sim, i);
}

void sl_sim_fault_heal(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i, uint32_t j)
{
	switch (kind) {
	case SL_SIM_FAULT_ONE_WAY:
		sl_sim_release(f->sim, i, j);
		sl_sim_restore(f->sim, i, j);
		break;
	case SL_SIM_FAULT_LOSS:
		sl_sim_restore(f->sim, i, j);
		break;
	case SL_SIM_FAULT_SLOW_LINK:
		sl_sim_link(f->sim, i, j)->slow_ms = sl_sim_link(f->sim, j, i)->slow_ms = 0;
		lag(f->sim, i, 0);
		break;
	case SL_SIM_FAULT_HELD:
		sl_sim_release(f->sim, i, j);
		break;
	case SL_SIM_FAULT_PARTITION:
		cut_from(f->sim, f->undo[j], false);
		break;
	case SL_SIM_FAULT_CRASH:
	case SL_SIM_FAULT_POWER:
	case SL_SIM_FAULT_DISK:
		sl_sim_tell(f->sim, i, "is started again");
		come_back(f->sim, i);
		break;
	case SL_SIM_FAULT_SLOW_WORK:
		f->sim->learners[i].slow_ms = 0;
		break;
	case SL_SIM_FAULT_PAUSE:
	case SL_SIM_FAULT_AWAY:
		sl_sim_rejoin(f->sim, i);
		break;
	default:
		break;
	}
}

void sl_sim_fault_dead(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i, uint32_t j)
{
	struct sl_sim *sim = f->sim;
	if (kind == SL_SIM_FAULT_ONE_WAY && sl_sim_link(sim, i, j)->held)
		sl_sim_cut(sim, i, j);
	else if (kind == SL_SIM_FAULT_PAUSE && sim->learners[i].paused_until > sim->now)
		sl_sim_isolate(sim, i);
	else if (kind == SL_SIM_FAULT_CRASH && f->pointed == i && !sim->learners[i].host.stopped) {
		sl_sim_crash(sim, i); /* the point was never met */
		come_back_after(f, i, kind);
	}
	if (kind == SL_SIM_FAULT_CRASH && f->pointed == i)
		f->pointed = SL_NOBODY;
}

bool sl_sim_fault_at_point(struct sl_sim *sim, uint32_t i, const struct sl_action *action,
			   const struct sl_work *work)
{
	struct sl_sim_faults *f = sim->context;
	if (f->pointed != i || f->calm || !sl_sim_point_met(f->point, action, work))
		return false;
	f->tally.point[f->point]++;
	f->pointed = SL_NOBODY;
	come_back_after(f, i, SL_SIM_FAULT_CRASH);
	return true;
}

void sl_sim_fault_end(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_learner *l = &sim->learners[i];
	l->slow_ms = l->training_ms = 0;
	lag(sim, i, 0);
	for (uint32_t j = 0; j < sim->n; j++) {
		sl_sim_link(sim, i, j)->slow_ms = 0;
		sl_sim_release(sim, i, j);
		if (i < j)
			sl_sim_restore(sim, i, j);
	}
	come_back(sim, i);
}
