#include "tools/sim/fault.h"

#include "common/base/bytes.h"
#include "tools/sim/check.h"
#include "tools/sim/fault_kinds.h"
#include "tools/sim/forget.h"

static const char *const names[SL_SIM_FAULT_COUNT] = {
#define X(name, text, word) [SL_SIM_FAULT_##name] = text,
	SL_SIM_FAULTS(X)
#undef X
};
static const char *const words[SL_SIM_FAULT_COUNT] = {
#define X(name, text, word) [SL_SIM_FAULT_##name] = word,
	SL_SIM_FAULTS(X)
#undef X
};

const char *sl_sim_fault_name(enum sl_sim_fault kind)
{
	return names[kind];
}

/* Return the set that the first `length` bytes of `word` name; 0: none. */
static uint32_t parse_word(const char *word, size_t length, bool lies)
{
	uint32_t count = lies ? SL_SIM_LIE_COUNT : SL_SIM_FAULT_COUNT;
	if (length == 3 && strncmp(word, "all", 3) == 0)
		return (1u << count) - 1;
	for (uint32_t k = 0; k < count; k++) {
		const char *name = lies ? sl_sim_lie_name((enum sl_sim_lie)k) : words[k];
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
		kind = (enum sl_sim_fault)sl_sim_fault_below(f, SL_SIM_FAULT_COUNT);
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
				       .phase = (enum sl_phase)sl_sim_fault_below(f, SL_PHASE_COUNT)};
	sl_sim_fault_call(f, sl_sim_fault_span_us(f, 1000, 16000), CALL_FIRE,
			  (uint32_t)sl_sim_fault_below(f, f->sim->n), f->want.kind, serial);
}

static void want_rare(struct sl_sim_faults *f)
{
	static const enum sl_phase rare[] = {SL_PHASE_READY,   SL_PHASE_READY,	SL_PHASE_RELEASE,
					     SL_PHASE_CONFIRM, SL_PHASE_COMMIT, SL_PHASE_RECOVER,
					     SL_PHASE_CATCHUP};
	f->rare_want = (struct sl_sim_want){.armed = true,
					    .kind = draw_kind(f),
					    .phase = rare[sl_sim_fault_below(f, sizeof rare / sizeof *rare)]};
	if (f->mix.to_the_end && sl_sim_fault_below(f, 2) == 0)
		f->rare_want.phase = SL_PHASE_DONE;
	if (f->rare_want.phase == SL_PHASE_READY && (f->mix.kinds >> SL_SIM_FAULT_CLOCK & 1) != 0 &&
	    sl_sim_fault_below(f, 2) == 0)
		f->rare_want.kind =
			SL_SIM_FAULT_CLOCK; /* its wait for learners that may have released times out */
}

static void want_next(struct sl_sim_faults *f)
{
	sl_sim_fault_call(f, 1 + sl_sim_fault_below(f, f->mix.gap_ms * UINT64_C(1000)), CALL_WANT, 0, 0, 0);
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
		uint64_t us = sl_sim_fault_below(f, 2) == 0
				      ? 0
				      : sl_sim_fault_below(f, sim->options.delay_ms * UINT64_C(1000) + 1);
		sl_sim_fault_call(f, us, CALL_FIRE, i, f->want.kind, 0);
	}
	if (met(&f->rare_want, &sim->learners[i]))
		sl_sim_fault_call(f, 0, CALL_RARE, i, f->rare_want.kind, 0);
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
		sl_sim_fault_come_back_after(f, i, kind);
	}
	if (kind == SL_SIM_FAULT_CRASH && f->pointed == i)
		f->pointed = NO_LEARNER;
}

static void called(struct sl_sim *sim, const struct sl_sim_event *event)
{
	struct sl_sim_faults *f = sim->context;
	enum sl_sim_fault kind = (enum sl_sim_fault)(event->generation >> 8);
	if (f->calm)
		return;
	switch ((enum sl_sim_fault_call)(event->generation & 255)) {
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
		dead(f, kind, event->learner, event->peer);
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
	f->pointed = NO_LEARNER;
	sl_sim_fault_come_back_after(f, i, SL_SIM_FAULT_CRASH);
	return true;
}

/* Choose the liar, which lies in its way for the whole run. */
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
	f->lies.liar = (uint32_t)sl_sim_fault_below(f, sim->n);
	f->lies.rarity = 1 + (uint32_t)sl_sim_fault_below(f, 3);
	f->lies.differ = sl_sim_fault_below(f, 2) == 0;
	do
		f->lies.lies = (uint32_t)sl_sim_random(&f->random) & (uint32_t)sl_sim_random(&f->random) &
			       (uint32_t)sl_sim_random(&f->random) & f->mix.lies;
	while (f->lies.lies == 0);
	f->lies.lies |= f->mix.lies & 1u << SL_SIM_LIE_DOUBLE;
	sim->learners[f->lies.liar].liar = true;
}

/* Choose a learner that is set up otherwise than the others. */
static void begin_odd(struct sl_sim_faults *f)
{
	uint32_t i = (uint32_t)sl_sim_fault_below(f, f->sim->n);
	struct sl_core_config *config = &f->sim->learners[i].host.config;
	f->sim->learners[i].odd = true;
	switch (sl_sim_fault_below(f, 5)) {
	case 0:
		config->scope.roster[0] ^= 1;
		f->sim->rosters = true;
		break;
	case 1:
		config->parameters.tolerance++;
		break;
	case 2:
		config->parameters.quorum = SL_LEARNERS_MAX;
		break;
	case 3:
		config->parameters.p = UINT64_C(1) << 60;
		break;
	case 4:
		config->parameters.sharing = (config->parameters.sharing + 1) % (SL_SHARING_SEEDED + 1);
		break;
	}
	sl_sim_tell(f->sim, i, "FAULT has another roster, or other parameters");
}

void sl_sim_faults_begin(struct sl_sim_faults *f, struct sl_sim *sim, const struct sl_sim_mix *mix)
{
	*f = (struct sl_sim_faults){.sim = sim,
				    .mix = *mix,
				    .random = ~sim->options.seed * UINT64_C(0x9e3779b97f4a7c15),
				    .pointed = NO_LEARNER};
	sim->context = f;
	sim->call = called;
	sim->after_step = after_step;
	sim->failpoint = at_failpoint;
	want_next(f);
	if (repeats(f))
		want_rare(f);
	f->forgetful = (uint32_t)sl_sim_fault_below(f, sim->n);
	begin_lies(f);
	if ((mix->kinds >> SL_SIM_FAULT_ROLLBACK & 1) != 0 || (mix->kinds >> SL_SIM_FAULT_WIPED & 1) != 0)
		sl_sim_forget_begin(sim);
	if ((mix->kinds >> SL_SIM_FAULT_ROSTER & 1) != 0)
		begin_odd(f);
}

bool sl_sim_faults_operator(struct sl_sim_faults *f)
{
	bool any = false;
	for (uint32_t i = 0; f->lost > 0 && i < f->sim->n; i++)
		any |= sl_sim_fault_operator(f, i, true);
	return any;
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
		for (uint32_t j = 0; j < sim->n; j++) {
			sl_sim_link(sim, i, j)->slow_ms = 0;
			sl_sim_release(sim, i, j);
			if (i < j)
				sl_sim_restore(sim, i, j);
		}
		sl_sim_fault_come_back(sim, i);
	}
}
