#include "test/simulator/fault.h"

#include "common/base/bytes.h"
#include "test/simulator/check.h"
#include "test/simulator/forget.h"

#define LINK_DEAD_MS 6000u /* silence after which a link counts as lost */

enum sl_sim_fault_call { CALL_WANT, CALL_FIRE, CALL_RARE, CALL_HEAL, CALL_DEAD, CALL_SETTINGS, CALL_TAKE };

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

static uint64_t below(struct sl_sim_faults *f, uint64_t bound)
{
	return sl_sim_random(&f->random) % bound;
}

/* Return a duration, mostly short: uniform on a logarithmic scale. */
static uint64_t span_us(struct sl_sim_faults *f, uint64_t least_ms, uint64_t most_ms)
{
	uint64_t span = least_ms;
	while (span < most_ms && below(f, 4) != 0)
		span *= 2;
	span += below(f, span + 1);
	return (span < most_ms ? span : most_ms) * 1000;
}

/* Post an event for `what` of a fault of `kind`, `us` from now on. */
static void call(struct sl_sim_faults *f, uint64_t us, enum sl_sim_fault_call what, uint32_t learner,
		 uint32_t kind, uint32_t peer)
{
	sl_sim_post(f->sim, f->sim->now + us,
		    (struct sl_sim_event){.kind = SL_SIM_CALL,
					  .learner = learner,
					  .peer = peer,
					  .generation = what | kind << 8});
}

/* --- kinds of faults: how each begins and ends --- */

static uint32_t other(struct sl_sim_faults *f, uint32_t i)
{
	return (i + 1 + (uint32_t)below(f, f->sim->n - 1)) % f->sim->n;
}

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
	call(f, span_us(f, 200, 120000), CALL_HEAL, i, SL_SIM_FAULT_PARTITION, slot);
}

/* All messages to and from i take so long. */
static void lag(struct sl_sim *sim, uint32_t i, uint32_t ms)
{
	for (uint32_t j = 0; j < sim->n; j++)
		sl_sim_link(sim, i, j)->lag_ms = sl_sim_link(sim, j, i)->lag_ms = ms;
}

static void slow_down(struct sl_sim_faults *f, uint32_t i, uint32_t j)
{
	uint32_t ms = (uint32_t)(span_us(f, 50, 4000) / 1000);
	sl_sim_link(f->sim, i, j)->slow_ms = sl_sim_link(f->sim, j, i)->slow_ms = ms;
	if (ms % 2 == 0)
		lag(f->sim, i, 3 * ms);
	call(f, span_us(f, 500, 60000), CALL_HEAL, i, SL_SIM_FAULT_SLOW_LINK, j);
}

/* Messages of one direction are delayed; a long silence ends the link. */
static void deafen(struct sl_sim_faults *f, uint32_t i, uint32_t j)
{
	uint64_t us = span_us(f, 200, 30000);
	sl_sim_hold(f->sim, i, j);
	if (us > LINK_DEAD_MS * 1000)
		call(f, LINK_DEAD_MS * 1000, CALL_DEAD, i, SL_SIM_FAULT_ONE_WAY, j);
	call(f, us, CALL_HEAL, i, SL_SIM_FAULT_ONE_WAY, j);
}

/* Hold messages of some links of i back, each for a time of its own: messages of different peers change their
 * order. */
static void hold_some(struct sl_sim_faults *f, uint32_t i)
{
	for (uint32_t j = 0; j < f->sim->n; j++) {
		if (j == i || below(f, 2) == 0)
			continue;
		bool out = below(f, 2) == 0;
		sl_sim_hold(f->sim, out ? i : j, out ? j : i);
		call(f, span_us(f, 20, LINK_DEAD_MS - 1000), CALL_HEAL, out ? i : j, SL_SIM_FAULT_HELD,
		     out ? j : i);
	}
}

static void come_back_after(struct sl_sim_faults *f, uint32_t i, enum sl_sim_fault kind)
{
	call(f, span_us(f, 50, kind == SL_SIM_FAULT_AWAY ? 600000 : 120000), CALL_HEAL, i, kind, i);
}

static void fall_asleep(struct sl_sim_faults *f, uint32_t i)
{
	uint64_t us = span_us(f, 50, 30000);
	sl_sim_pause(f->sim, i, f->sim->now + us);
	if (us > LINK_DEAD_MS * 1000)
		call(f, LINK_DEAD_MS * 1000, CALL_DEAD, i, SL_SIM_FAULT_PAUSE, i);
	call(f, us, CALL_HEAL, i, SL_SIM_FAULT_PAUSE, i);
}

static void slow_work(struct sl_sim_faults *f, uint32_t i)
{
	f->sim->learners[i].slow_ms = (uint32_t)(span_us(f, 100, 15000) / 1000);
	call(f, span_us(f, 500, 30000), CALL_HEAL, i, SL_SIM_FAULT_SLOW_WORK, i);
}

static void leave(struct sl_sim_faults *f, uint32_t i)
{
	sl_sim_isolate(f->sim, i);
	come_back_after(f, i, SL_SIM_FAULT_AWAY);
}

/* Half of the crashes come at once, half at a random point; see at_failpoint. */
static void crash(struct sl_sim_faults *f, uint32_t i, enum sl_sim_fault kind)
{
	if (kind == SL_SIM_FAULT_CRASH && f->pointed == SL_NOBODY && below(f, 2) == 0) {
		f->pointed = i;
		f->point = (uint32_t)below(f, sl_sim_point_count);
		call(f, span_us(f, 500, 20000), CALL_DEAD, i, SL_SIM_FAULT_CRASH, i);
		return;
	}
	if (kind == SL_SIM_FAULT_POWER)
		sl_sim_lose_power(f->sim, i, LINK_DEAD_MS);
	else
		sl_sim_crash(f->sim, i);
	come_back_after(f, i, kind);
}

/* Its operator gives an attempt up: one that is not released, or that waits for a learner that is lost. */
static void operator_aborts(struct sl_sim_faults *f, uint32_t i, bool released)
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
	if (below(f, 3) != 0) {
		f->lies.flips = i;
		return;
	}
	sl_sim_crash(f->sim, i);
	size_t bytes = l->slots * l->host.workspace.state_file.slot_bytes;
	if (l->host.workspace.state_file.base != NULL && bytes > 0)
		l->host.workspace.state_file.base[below(f, bytes)] ^= (uint8_t)(1u << below(f, 8));
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

static void apply(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i)
{
	uint32_t j = other(f, i);
	sl_sim_tell(f->sim, i, "FAULT %s", sl_sim_fault_name(kind));
	switch (kind) {
	case SL_SIM_FAULT_LOSS:
		sl_sim_cut(f->sim, i, j);
		call(f, span_us(f, 20, 30000), CALL_HEAL, i, kind, j);
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
		sl_sim_clock_jump(f->sim, i, span_us(f, 8000, 600000));
		break;
	case SL_SIM_FAULT_SLOW_WORK:
		slow_work(f, i);
		break;
	case SL_SIM_FAULT_TRAINER:
		f->sim->learners[i].training_ms = (uint32_t)(span_us(f, 2000, 200000) / 1000);
		break;
	case SL_SIM_FAULT_AWAY:
		leave(f, i);
		break;
	case SL_SIM_FAULT_REPLAY:
		for (int k = 0; k < 8; k++)
			sl_sim_lies_replay(f->sim);
		break;
	case SL_SIM_FAULT_ABORT:
		operator_aborts(f, i, false);
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

/* --- settings that change --- */

/* The learners take the next roster one by one. */
static void sign_settings(struct sl_sim_faults *f)
{
	f->roster++;
	for (uint32_t i = 0; i < f->sim->n; i++)
		call(f, span_us(f, 20, 60000), CALL_TAKE, i, 1, f->roster);
}

/* An admin signs the next roster, with another quorum, and another f if that leaves a quorum. */
static void change_settings(struct sl_sim_faults *f)
{
	const struct sl_parameters *first = &f->sim->options.parameters;
	struct sl_parameters *p = &f->settings;
	p->forgetful = below(f, 2) == 0 ? first->forgetful : first->tolerance;
	if (sl_view_quorum_least(f->sim->n, (uint32_t)p->forgetful) > first->quorum)
		p->forgetful = first->forgetful;
	uint64_t least = sl_view_quorum_least(f->sim->n, (uint32_t)p->forgetful);
	p->quorum = least + below(f, first->quorum - least + 1);
	if (f->roster == 0 || p->quorum < f->lowest.quorum)
		f->lowest = *p;
	sign_settings(f);
	call(f, span_us(f, 1000, 120000), CALL_SETTINGS, 0, 0, 0);
}

/* Where too few learners may take part for a quorum that was raised, the admin lowers it again (GROUP.md
 * §12.7 Privacy over several sums). */
static void lower_quorum(struct sl_sim_faults *f)
{
	bool leaves_out = f->sim->learners[0].host.config.membership_change != SL_MEMBERSHIP_WARN;
	if (!leaves_out || f->settings.quorum == f->lowest.quorum)
		return;
	f->settings = f->lowest;
	sign_settings(f);
}

/* Let learner i start with the newest roster when it has no open attempt, which it ends under the one before
 * (GROUP.md §12.1 Roster changes). Sometimes it starts again before that. */
static void take_settings(struct sl_sim_faults *f, uint32_t i, uint8_t roster, bool first)
{
	struct sl_sim_learner *l = &f->sim->learners[i];
	struct sl_core_config *config = &l->host.config;
	bool up = !l->down && !l->host.stopped;
	if (config->scope.roster[0] == f->roster || roster != f->roster || l->lost)
		return;
	if (up && (l->host.disk.open.a == 0 || (first && below(f, 4) == 0))) {
		sl_sim_crash(f->sim, i);
		if (config->open == NULL) {
			config->scope.roster[0] = f->roster;
			config->parameters.quorum = f->settings.quorum;
			config->parameters.forgetful = f->settings.forgetful;
		}
		sl_sim_restart(f->sim, i);
	}
	call(f, span_us(f, 50, 2000), CALL_TAKE, i, 0, roster);
}

/* End a fault of learner i, with learner or slot j. */
static void heal(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i, uint32_t j)
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

/* --- when --- */

static bool kills(enum sl_sim_fault kind)
{
	return kind == SL_SIM_FAULT_CRASH || kind == SL_SIM_FAULT_POWER || kind == SL_SIM_FAULT_DISK ||
	       kind == SL_SIM_FAULT_ROLLBACK || kind == SL_SIM_FAULT_WIPED || kind == SL_SIM_FAULT_LOST ||
	       kind == SL_SIM_FAULT_CORRUPT;
}

static uint32_t down(const struct sl_sim *sim)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		count += sim->learners[i].down || sim->learners[i].disk_fails;
	return count;
}

static enum sl_sim_fault draw_kind(struct sl_sim_faults *f)
{
	enum sl_sim_fault kind;
	do
		kind = (enum sl_sim_fault)below(f, SL_SIM_FAULT_COUNT);
	while ((f->mix.kinds >> kind & 1) == 0 || !sl_sim_fault_repeats(kind));
	return kind;
}

/* Return true if a fault can be drawn during the run. */
static bool repeats(const struct sl_sim_faults *f)
{
	return (f->mix.kinds & ~(1u << SL_SIM_FAULT_LIAR | 1u << SL_SIM_FAULT_ROSTER)) != 0;
}

static void want(struct sl_sim_faults *f)
{
	if (f->count >= f->mix.most || !repeats(f))
		return;
	uint32_t serial = f->want.serial + 1;
	f->want = (struct sl_sim_want){.armed = true,
				       .serial = serial,
				       .kind = draw_kind(f),
				       .phase = (enum sl_phase)below(f, SL_PHASE_COUNT)};
	call(f, span_us(f, 1000, 16000), CALL_FIRE, (uint32_t)below(f, f->sim->n), f->want.kind, serial);
}

static void want_rare(struct sl_sim_faults *f)
{
	static const enum sl_phase rare[] = {SL_PHASE_READY,   SL_PHASE_READY,	SL_PHASE_RELEASE,
					     SL_PHASE_CONFIRM, SL_PHASE_COMMIT, SL_PHASE_RECOVER,
					     SL_PHASE_CATCHUP};
	f->rare_want = (struct sl_sim_want){
		.armed = true, .kind = draw_kind(f), .phase = rare[below(f, sizeof rare / sizeof *rare)]};
	if (f->mix.to_the_end && below(f, 2) == 0)
		f->rare_want.phase = SL_PHASE_DONE;
	if (f->rare_want.phase == SL_PHASE_READY && (f->mix.kinds >> SL_SIM_FAULT_CLOCK & 1) != 0 &&
	    below(f, 2) == 0)
		f->rare_want.kind =
			SL_SIM_FAULT_CLOCK; /* its wait for learners that may have released times out */
}

static void want_next(struct sl_sim_faults *f)
{
	call(f, 1 + below(f, f->mix.gap_ms * UINT64_C(1000)), CALL_WANT, 0, 0, 0);
}

static void cause(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i)
{
	const struct sl_sim_learner *l = &f->sim->learners[i];
	if (l->host.stopped || l->host.core == NULL || (kills(kind) && down(f->sim) >= f->mix.down_most))
		return;
	f->count++;
	f->tally.hit[kind][l->host.phase]++;
	apply(f, kind, i);
}

static bool met(struct sl_sim_want *want, const struct sl_sim_learner *l)
{
	if (!want->armed || l->host.phase != want->phase)
		return false;
	want->armed = false;
	return true;
}

static void after_step(struct sl_sim *sim, uint32_t i)
{
	struct sl_sim_faults *f = sim->context;
	if (sim->learners[i].host.stopped)
		return;
	if (met(&f->want, &sim->learners[i])) {
		uint64_t us = below(f, 2) == 0 ? 0 : below(f, sim->options.delay_ms * UINT64_C(1000) + 1);
		call(f, us, CALL_FIRE, i, f->want.kind, 0);
	}
	if (met(&f->rare_want, &sim->learners[i]))
		call(f, 0, CALL_RARE, i, f->rare_want.kind, 0);
}

/* Cause the wanted fault. With a serial it is the timeout: no learner has entered the wanted phase. */
static void fire(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i, uint32_t serial)
{
	if (serial != 0 && (serial != f->want.serial || !f->want.armed))
		return;
	f->want.armed = false;
	cause(f, kind, i);
	want_next(f);
}

static void fire_rare(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i)
{
	cause(f, kind, i);
	want_rare(f);
}

static void dead(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i, uint32_t j)
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

static void called(struct sl_sim *sim, const struct sl_sim_event *event)
{
	struct sl_sim_faults *f = sim->context;
	enum sl_sim_fault kind = (enum sl_sim_fault)(event->generation >> 8);
	enum sl_sim_fault_call what = (enum sl_sim_fault_call)(event->generation & 255);
	if (f->calm && what != CALL_TAKE)
		return;
	switch (what) {
	case CALL_WANT:
		want(f);
		break;
	case CALL_FIRE:
		fire(f, kind, event->learner, event->peer);
		break;
	case CALL_RARE:
		fire_rare(f, kind, event->learner);
		break;
	case CALL_HEAL:
		heal(f, kind, event->learner, event->peer);
		break;
	case CALL_DEAD:
		dead(f, kind, event->learner, event->peer);
		break;
	case CALL_SETTINGS:
		change_settings(f);
		break;
	case CALL_TAKE:
		take_settings(f, event->learner, (uint8_t)event->peer, kind != 0);
		break;
	}
}

static bool at_failpoint(struct sl_sim *sim, uint32_t i, const struct sl_action *action,
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

static uint32_t draw_lies(struct sl_sim_faults *f)
{
	uint32_t lies;
	do
		lies = (uint32_t)sl_sim_random(&f->random) & (uint32_t)sl_sim_random(&f->random) &
		       (uint32_t)sl_sim_random(&f->random) & f->mix.lies;
	while (lies == 0);
	return lies | (f->mix.lies & 1u << SL_SIM_LIE_DOUBLE);
}

/* Choose the liars, each of which lies in its way for the whole run. */
static void begin_lies(struct sl_sim_faults *f)
{
	struct sl_sim *sim = f->sim;
	f->lies = (struct sl_sim_lies){.random = ~f->random,
				       .liar = SL_NOBODY,
				       .flips = SL_NOBODY,
				       .recording = (f->mix.kinds >> SL_SIM_FAULT_REPLAY & 1) != 0};
	const uint32_t kinds =
		1u << SL_SIM_FAULT_LIAR | 1u << SL_SIM_FAULT_CORRUPT | 1u << SL_SIM_FAULT_REPLAY;
	if ((f->mix.kinds & kinds) != 0)
		sim->lies = &f->lies;
	if ((f->mix.kinds & ~(1u << SL_SIM_FAULT_REPLAY) & kinds) != 0)
		sim->liars = true;
	if ((f->mix.kinds >> SL_SIM_FAULT_LIAR & 1) == 0)
		return;
	f->lies.liar = (uint32_t)below(f, sim->n);
	f->lies.rarity = 1 + (uint32_t)below(f, 3);
	f->lies.differ = below(f, 2) == 0;
	f->lies.lies = draw_lies(f);
	sim->learners[f->lies.liar].liar = true;
	if (!f->mix.two_liars)
		return;
	f->lies.second = other(f, f->lies.liar);
	f->lies.second_lies = draw_lies(f);
	sim->learners[f->lies.second].liar = true;
}

/* Choose a learner that is set up otherwise than the others. */
static void begin_odd(struct sl_sim_faults *f)
{
	uint32_t i = (uint32_t)below(f, f->sim->n);
	struct sl_core_config *config = &f->sim->learners[i].host.config;
	f->sim->learners[i].odd = true;
	f->sim->rosters = below(f, 2) == 0;
	if (f->sim->rosters)
		config->scope.roster[0] ^= 1;
	else
		config->parameters.model ^= 1;
	sl_sim_tell(f->sim, i, "FAULT has another roster, or another model");
}

void sl_sim_faults_begin(struct sl_sim_faults *f, struct sl_sim *sim, const struct sl_sim_mix *mix)
{
	*f = (struct sl_sim_faults){.sim = sim,
				    .mix = *mix,
				    .random = ~sim->options.seed * UINT64_C(0x9e3779b97f4a7c15),
				    .pointed = SL_NOBODY};
	sim->context = f;
	sim->call = called;
	sim->after_step = after_step;
	sim->failpoint = at_failpoint;
	want_next(f);
	if (repeats(f))
		want_rare(f);
	f->forgetful = (uint32_t)below(f, sim->n);
	begin_lies(f);
	if ((mix->kinds >> SL_SIM_FAULT_ROLLBACK & 1) != 0 || (mix->kinds >> SL_SIM_FAULT_WIPED & 1) != 0)
		sl_sim_forget_begin(sim);
	if ((mix->kinds >> SL_SIM_FAULT_ROSTER & 1) != 0)
		begin_odd(f);
	if (mix->settings)
		call(f, span_us(f, 1000, 30000), CALL_SETTINGS, 0, 0, 0);
}

void sl_sim_faults_operator(struct sl_sim_faults *f)
{
	bool undecided[SL_LEARNERS_MAX] = {false};
	for (uint32_t i = 0; i < f->sim->n; i++)
		undecided[i] = sl_sim_check_undecided(f->sim, i);
	for (uint32_t i = 0; i < f->sim->n; i++)
		if (f->lost > 0 || undecided[i])
			operator_aborts(f, i, true);
	lower_quorum(f);
}

/* Choose the lost learners among those that are down: only learners whose masked states no other learner
 * needs. */
static void lose_some(struct sl_sim_faults *f)
{
	uint32_t lost = 0;
	for (uint32_t i = 0; i < f->sim->n && f->lost + lost < f->mix.lost_most; i++)
		if (f->sim->learners[i].down && !f->sim->learners[i].lost &&
		    !sl_sim_check_needed(f->sim, i)) {
			f->sim->learners[i].lost = true;
			lost++;
		}
}

void sl_sim_calm(struct sl_sim_faults *f)
{
	struct sl_sim *sim = f->sim;
	lose_some(f);
	f->calm = true;
	f->want.armed = f->rare_want.armed = false;
	f->lies.flips = SL_NOBODY;
	sl_sim_tell(sim, 0, "no faults from now on");
	for (uint32_t i = 0; i < sim->n; i++) {
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
}
