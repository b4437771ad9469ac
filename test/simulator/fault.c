#include "test/simulator/fault.h"

#include "test/simulator/check.h"
#include "test/simulator/forget.h"

/* --- settings that change --- */

/* The learners take the next roster one by one. */
static void sign_settings(struct sl_sim_faults *f)
{
	f->roster++;
	for (uint32_t i = 0; i < f->sim->n; i++)
		sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 20, 60000), CALL_TAKE, i, 1, f->roster);
}

/* An admin signs the next roster, with another quorum, and another f if that leaves a quorum. */
static void change_settings(struct sl_sim_faults *f)
{
	const struct sl_parameters *first = &f->sim->options.parameters;
	struct sl_parameters *p = &f->settings;
	p->forgetful = sl_sim_fault_draw(f, 2) == 0 ? first->forgetful : first->tolerance;
	if (sl_view_quorum_least(f->sim->n, (uint32_t)p->forgetful) > first->quorum)
		p->forgetful = first->forgetful;
	uint64_t least = sl_view_quorum_least(f->sim->n, (uint32_t)p->forgetful);
	p->quorum = least + sl_sim_fault_draw(f, first->quorum - least + 1);
	if (f->roster == 0 || p->quorum < f->lowest.quorum)
		f->lowest = *p;
	sign_settings(f);
	sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 1000, 120000), CALL_SETTINGS, 0, 0, 0);
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
	if (up && (l->host.disk.open.a == 0 || (first && sl_sim_fault_draw(f, 4) == 0))) {
		sl_sim_crash(f->sim, i);
		if (config->open == NULL) {
			config->scope.roster[0] = f->roster;
			config->parameters.quorum = f->settings.quorum;
			config->parameters.forgetful = f->settings.forgetful;
		}
		sl_sim_restart(f->sim, i);
	}
	sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 50, 2000), CALL_TAKE, i, 0, roster);
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
		kind = (enum sl_sim_fault)sl_sim_fault_draw(f, SL_SIM_FAULT_COUNT);
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
				       .phase = (enum sl_phase)sl_sim_fault_draw(f, SL_PHASE_COUNT)};
	sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 1000, 16000), CALL_FIRE,
			  (uint32_t)sl_sim_fault_draw(f, f->sim->n), f->want.kind, serial);
}

static void want_rare(struct sl_sim_faults *f)
{
	static const enum sl_phase rare[] = {SL_PHASE_READY,   SL_PHASE_READY,	SL_PHASE_RELEASE,
					     SL_PHASE_CONFIRM, SL_PHASE_COMMIT, SL_PHASE_RECOVER,
					     SL_PHASE_CATCHUP};
	f->rare_want = (struct sl_sim_want){.armed = true,
					    .kind = draw_kind(f),
					    .phase = rare[sl_sim_fault_draw(f, sizeof rare / sizeof *rare)]};
	if (f->mix.to_the_end && sl_sim_fault_draw(f, 2) == 0)
		f->rare_want.phase = SL_PHASE_DONE;
	if (f->rare_want.phase == SL_PHASE_READY && (f->mix.kinds >> SL_SIM_FAULT_CLOCK & 1) != 0 &&
	    sl_sim_fault_draw(f, 2) == 0)
		f->rare_want.kind =
			SL_SIM_FAULT_CLOCK; /* its wait for learners that may have released times out */
}

static void want_next(struct sl_sim_faults *f)
{
	sl_sim_fault_post(f, 1 + sl_sim_fault_draw(f, f->mix.gap_ms * UINT64_C(1000)), CALL_WANT, 0, 0, 0);
}

static void cause(struct sl_sim_faults *f, enum sl_sim_fault kind, uint32_t i)
{
	const struct sl_sim_learner *l = &f->sim->learners[i];
	if (l->host.stopped || l->host.core == NULL || (kills(kind) && down(f->sim) >= f->mix.down_most))
		return;
	f->count++;
	f->tally.hit[kind][l->host.phase]++;
	sl_sim_fault_apply(f, kind, i);
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
		uint64_t us = sl_sim_fault_draw(f, 2) == 0
				      ? 0
				      : sl_sim_fault_draw(f, sim->options.delay_ms * UINT64_C(1000) + 1);
		sl_sim_fault_post(f, us, CALL_FIRE, i, f->want.kind, 0);
	}
	if (met(&f->rare_want, &sim->learners[i]))
		sl_sim_fault_post(f, 0, CALL_RARE, i, f->rare_want.kind, 0);
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
		sl_sim_fault_heal(f, kind, event->learner, event->peer);
		break;
	case CALL_DEAD:
		sl_sim_fault_dead(f, kind, event->learner, event->peer);
		break;
	case CALL_SETTINGS:
		change_settings(f);
		break;
	case CALL_TAKE:
		take_settings(f, event->learner, (uint8_t)event->peer, kind != 0);
		break;
	}
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
	f->lies.liar = (uint32_t)sl_sim_fault_draw(f, sim->n);
	f->lies.rarity = 1 + (uint32_t)sl_sim_fault_draw(f, 3);
	f->lies.differ = sl_sim_fault_draw(f, 2) == 0;
	f->lies.lies = draw_lies(f);
	sim->learners[f->lies.liar].liar = true;
	if (!f->mix.two_liars)
		return;
	f->lies.second = sl_sim_fault_other(f, f->lies.liar);
	f->lies.second_lies = draw_lies(f);
	sim->learners[f->lies.second].liar = true;
}

/* Choose a learner that is set up otherwise than the others. */
static void begin_odd(struct sl_sim_faults *f)
{
	uint32_t i = (uint32_t)sl_sim_fault_draw(f, f->sim->n);
	struct sl_core_config *config = &f->sim->learners[i].host.config;
	f->sim->learners[i].odd = true;
	f->sim->rosters = sl_sim_fault_draw(f, 2) == 0;
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
	sim->failpoint = sl_sim_fault_at_point;
	want_next(f);
	if (repeats(f))
		want_rare(f);
	f->forgetful = (uint32_t)sl_sim_fault_draw(f, sim->n);
	begin_lies(f);
	if ((mix->kinds >> SL_SIM_FAULT_ROLLBACK & 1) != 0 || (mix->kinds >> SL_SIM_FAULT_WIPED & 1) != 0)
		sl_sim_forget_begin(sim);
	if ((mix->kinds >> SL_SIM_FAULT_ROSTER & 1) != 0)
		begin_odd(f);
	if (mix->settings)
		sl_sim_fault_post(f, sl_sim_fault_draw_us(f, 1000, 30000), CALL_SETTINGS, 0, 0, 0);
}

void sl_sim_faults_operator(struct sl_sim_faults *f)
{
	bool undecided[SL_LEARNERS_MAX] = {false};
	for (uint32_t i = 0; i < f->sim->n; i++)
		undecided[i] = sl_sim_check_undecided(f->sim, i);
	for (uint32_t i = 0; i < f->sim->n; i++)
		if (f->lost > 0 || undecided[i])
			sl_sim_fault_operator_aborts(f, i, true);
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
	for (uint32_t i = 0; i < sim->n; i++)
		sl_sim_fault_end(sim, i);
}
