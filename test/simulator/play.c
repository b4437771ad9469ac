#include "test/simulator/play.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/bytes.h"
#include "common/base/real.h"
#include "test/simulator/check.h"

#define FAULTS_MOST_US (UINT64_C(3600) * 1000 * 1000)
#define CALM_MOST_US (UINT64_C(1200) * 1000 * 1000) /* without a commit */
#define SLOW_MOST_US (UINT64_C(7200) * 1000 * 1000) /* .. beside a slow liar (ROUND.md §15.2 Known gaps) */
#define OPERATOR_US (UINT64_C(120) * 1000 * 1000)   /* .. until operators give up what never ends */
#define PLAYED_US (UINT64_C(20) * 1000 * 1000)	    /* .. until the next graph is played */
#define STEPS_MOST UINT64_C(4000000)		    /* a run that takes more fails */
#define SERVE_AGAIN_US (UINT64_C(60) * 1000 * 1000)

struct playing {
	struct sl_sim_faults faults; /* first: the context of the sim */
	jmp_buf end;
	struct sl_sim_outcome *outcome;
	uint64_t progress, committed; /* us of the last commit; commits of all */
	sl_round best, played_for;    /* the round whose graph was played last */
	uint64_t played_at;	      /* us */
	uint32_t graph;		      /* of the schedule */
};

void sl_sim_failed(struct sl_sim *sim, const char *text)
{
	struct playing *playing = sim->context;
	struct sl_sim_outcome *outcome = playing->outcome;
	outcome->failed = true;
	snprintf(outcome->why, sizeof outcome->why, "%s", text);
	longjmp(playing->end, 1);
}

/* --- the options of a seed --- */

static uint64_t pick(uint64_t *random, const uint64_t *of, size_t count)
{
	return of[sl_sim_random(random) % count];
}
#define PICK(random, ...)                                                                                    \
	pick(random, (const uint64_t[]){__VA_ARGS__},                                                        \
	     sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Topologies that pass the privacy check when all learners are there. */
static const char *draw_topology(uint64_t *random, uint32_t learners)
{
	uint64_t which = sl_sim_random(random) % 16;
	return which < 11 || learners < 6 ? "complete" : which < 15 ? "regular:4" : "ring";
}

static struct sl_sim_options draw_options(const struct sl_sim_play *play, uint64_t *random)
{
	struct sl_sim_options o = {.seed = play->seed, .learners = play->learners};
	struct sl_parameters *p = &o.parameters;
	o.signatures = play->seed % 256 == 63; /* ten times the work of a tag */
	o.topology = draw_topology(random, play->learners);
	o.delay_ms = (uint32_t)PICK(random, 1, 5, 20, 20, 100);
	p->n = 1 + sl_sim_random(random) % (2 * SL_CHUNK_ELEMENTS); /* one to three chunks */
	p->rounds = play->rounds;
	p->p = PICK(random, 0, 0, UINT64_C(1020431), UINT64_C(2147483647), (UINT64_C(1) << 36) - 5,
		    (UINT64_C(1) << 44) - 17);
	p->decimals = p->p == UINT64_C(1020431) ? 2 : 4;
	p->sharing = PICK(random, SL_SHARING_SHAMIR, SL_SHARING_OS, SL_SHARING_SEEDED);
	p->mixing = play->seed / 3 % 4; /* not drawn, so that the other options of a seed do not change */
	p->encoding = sl_sim_random(random) % 4 ? SL_ENCODING_WEIGHTED : SL_ENCODING_PAPER;
	if (p->encoding == SL_ENCODING_WEIGHTED)
		p->values = play->seed / 12 % 2 != 0   ? SL_VALUES_UPDATE
			    : play->seed / 12 % 4 == 2 ? SL_VALUES_EXACT
						       : SL_VALUES_MODEL;
	o.initial = play->seed / 24 % 3 == 0   ? SL_SIM_ZEROS
		    : play->seed / 24 % 3 == 1 ? SL_SIM_COMMON
					       : SL_SIM_DIFFERENT;
	p->quorum = play->learners / 2 + 1 + PICK(random, 0, 0, 0, 1);
	if (p->quorum > play->learners)
		p->quorum = play->learners;
	return o;
}

#define FORGET (1u << SL_SIM_FAULT_ROLLBACK | 1u << SL_SIM_FAULT_WIPED)
#define ALONE (1u << SL_SIM_FAULT_LIAR | 1u << SL_SIM_FAULT_ROSTER)

#define DOUBLE (1u << SL_SIM_LIE_DOUBLE)
#define FORGETFUL_LEAST 5u /* members of a view that can do without one of them where `forgetful` is 1 */

uint32_t sl_sim_play_kinds(uint32_t learners)
{
	uint32_t kinds = SL_SIM_FAULTS_ALL;
	if (learners < 4) /* the others must pass the privacy check */
		kinds &= ~(uint32_t)ALONE;
	return learners > FORGETFUL_LEAST ? kinds : kinds & ~(uint32_t)FORGET;
}

uint32_t sl_sim_play_lies(uint32_t learners)
{
	uint32_t lies = (1u << SL_SIM_LIE_COUNT) - 1;
	return learners > FORGETFUL_LEAST ? lies : lies & ~DOUBLE;
}

/* Return true if `forgetful` has to be 1: a disk may forget, or a learner says two things. */
static bool takes_back(const struct sl_sim_mix *mix)
{
	return (mix->kinds & FORGET) != 0 ||
	       ((mix->kinds >> SL_SIM_FAULT_LIAR & 1) != 0 && (mix->lies >> SL_SIM_LIE_DOUBLE & 1) != 0);
}

/* Draw chunks, weights, tolerance, playback and large moduli, from numbers of their own: the other options of
 * a seed do not depend on them. */
static void draw_sizes(struct sl_sim_options *o, const struct sl_sim_mix *mix)
{
	uint64_t random = o->seed * UINT64_C(0xd1342543de82ef95) + 1;
	struct sl_parameters *p = &o->parameters;
	if (sl_sim_random(&random) % 8 == 0)
		p->n = 1 + sl_sim_random(&random) % (5 * SL_CHUNK_ELEMENTS - 1);
	if (p->values !=
	    SL_VALUES_MODEL) /* limbs: as many chunks as without them, or a slow liar takes hours */
		p->n = 1 + p->n % (p->mixing == SL_ENGINE_METROPOLIS ? 4 : SL_CHUNK_ELEMENTS);
	if (sl_sim_random(&random) % 8 == 0 && p->mixing != SL_ENGINE_METROPOLIS)
		p->p = (UINT64_C(1) << 61) - 1;
	if (sl_sim_random(&random) % 4 == 0 && p->encoding == SL_ENCODING_WEIGHTED &&
	    (p->p == 0 || p->p > UINT64_C(1) << 35))
		p->max_weight = PICK(&random, 2, 10, 100);
	if ((mix->kinds & ALONE) != 0) /* the others suffice, whatever one learner does */
		o->topology = "complete";
	o->playback = sl_sim_random(&random) % 8 == 0;
	if (sl_sim_random(&random) % 4 == 0 && strcmp(o->topology, "complete") == 0 && o->learners >= 6)
		p->tolerance = PICK(&random, 2, 3);
	bool more = sl_sim_random(&random) % 8 == 0 && o->learners > FORGETFUL_LEAST && !takes_back(mix) &&
		    (mix->kinds & ALONE) == 0;
	if (more) { /* than forget */
		p->forgetful = PICK(&random, 2, 3);
		p->quorum = (o->learners + p->forgetful + 2) / 2;
	}
	if (sl_sim_random(&random) % 8 == 0)
		p->max_degree = SL_DEGREE_LEAST + 2 * (sl_sim_random(&random) % 2);
	if (takes_back(mix)) {
		uint64_t least = (o->learners + 3) / 2;
		least = least > FORGETFUL_LEAST ? least : FORGETFUL_LEAST;
		o->topology =
			"complete"; /* the others pass the privacy check without the one that abstains */
		p->forgetful = 1;
		p->quorum = p->quorum > least ? p->quorum : least;
	}
	uint64_t most = (o->learners + p->tolerance + 2) / 2; /* a quorum with f = c */
	if (mix->settings && p->quorum < most && most < o->learners)
		p->quorum = most;
	if ((mix->kinds & (ALONE | FORGET)) != 0 && p->quorum == o->learners)
		p->quorum--; /* the others suffice */
	/* with tolerance 3 and privacy_check: warn, a view of four needs the Digest of the liar, too */
	if ((mix->kinds & (1u << SL_SIM_FAULT_LIAR)) != 0 && p->tolerance > 2)
		p->tolerance = 2;
}

/* Kinds of which a run has one, and half of the runs none: what the checker asks is less where a learner
 * lies or a sum is wrong. */
static uint32_t draw_rare(uint64_t seed, uint32_t kinds)
{
	static const uint32_t rare[] = {1u << SL_SIM_FAULT_LIAR, 1u << SL_SIM_FAULT_CORRUPT,
					1u << SL_SIM_FAULT_ROSTER, FORGET};
	uint64_t random = seed * UINT64_C(0xa0761d6478bd642f), which = sl_sim_random(&random) % 8;
	uint32_t set = which < 4 ? rare[which] : 0;
	if ((kinds & set) == 0)
		kinds |= set;
	return kinds & ~((ALONE | FORGET | 1u << SL_SIM_FAULT_CORRUPT) & ~set);
}

static struct sl_sim_mix draw_mix(const struct sl_sim_play *play, uint64_t *random)
{
	struct sl_sim_mix mix = {.gap_ms = (uint32_t)PICK(random, 300, 1000, 3000, 10000), .most = 60};
	uint32_t possible = play->faults != 0 ? play->faults : SL_SIM_FAULTS_ALL;
	while (mix.kinds == 0)
		mix.kinds = (uint32_t)(sl_sim_random(random) % (1u << SL_SIM_FAULT_COUNT)) & possible;
	if (possible == SL_SIM_FAULTS_ALL)
		mix.kinds = draw_rare(play->seed, mix.kinds);
	mix.settings = play->faults == 0 && play->seed * UINT64_C(0xd6e8feb86659fd93) >> 61 == 0 &&
		       (mix.kinds & (FORGET | 1u << SL_SIM_FAULT_ROSTER)) == 0;
	mix.lies = play->lies != 0 ? play->lies : SL_SIM_LIES_USUAL;
	if (play->lies == 0 && play->seed % 4 == 0)
		mix.lies |= DOUBLE;
	mix.lies &= sl_sim_play_lies(play->learners);
	mix.kinds &= sl_sim_play_kinds(play->learners);
	if (mix.lies == 0)
		mix.kinds &= ~(1u << SL_SIM_FAULT_LIAR);
	mix.to_the_end = play->rounds < 3 || sl_sim_random(random) % 5 < 2;
	mix.down_most = (uint32_t)PICK(random, 1, play->learners / 2, play->learners / 2, play->learners);
	return mix;
}

/* Return what learners do about sums that tell too much. Only `warn` does without a learner that is lost. */
static enum sl_membership_change draw_change(const struct sl_sim_play *play, const struct sl_sim_mix *mix)
{
	uint64_t random = play->seed * UINT64_C(0x8cb92ba72f3d8dd7);
	bool all = (mix->kinds & (ALONE | FORGET | 1u << SL_SIM_FAULT_LOST)) == 0;
	return all ? (enum sl_membership_change)PICK(&random, SL_MEMBERSHIP_WARN, SL_MEMBERSHIP_WAIT,
						     SL_MEMBERSHIP_COHORT)
		   : SL_MEMBERSHIP_WARN;
}

/* --- noise --- */

#define NOISE UINT64_C(0x587f71748af7cde1) /* none of the kept seeds has noise (test_kept.c) */

static bool draws_noise(uint64_t seed, uint64_t *random)
{
	*random = seed * NOISE;
	return sl_sim_random(random) % 8 == 0;
}

bool sl_sim_play_noise(uint64_t seed)
{
	uint64_t random;
	return draws_noise(seed, &random);
}

/* Let an eighth of the seeds have noise; after all else of the options is drawn, and from numbers of their
 * own. */
static void draw_noise(struct sl_sim_options *o)
{
	uint64_t random;
	struct sl_parameters *p = &o->parameters;
	if (!draws_noise(o->seed, &random))
		return;
	bool update = sl_sim_random(&random) % 2 == 0;
	p->values = update ? SL_VALUES_NOISY_UPDATE : SL_VALUES_NOISY;
	o->initial = update ? SL_SIM_COMMON : SL_SIM_ZEROS;
	p->encoding = SL_ENCODING_WEIGHTED;
	p->max_weight = 1;
	p->p = p->p > UINT64_C(1) << 40 ? p->p : 0;
	p->dp_unit = PICK(&random, SL_DP_RECORD, SL_DP_LEARNER);
	double clip = 0.1 * (double)PICK(&random, 7, 200, 9999), range = 0.5 * (double)PICK(&random, 0, 1, 7);
	p->dp_clip = sl_real_bits(clip);
	p->dp_noise = sl_real_bits(0.1 * (double)PICK(&random, 3, 20, 110));
	p->dp_range = sl_real_bits(range * clip);
}

static struct sl_sim *build(const struct sl_sim_play *play, const struct sl_sim_mix *mix, uint64_t *random)
{
	struct sl_sim_options o = draw_options(play, random);
	draw_sizes(&o, mix);
	draw_noise(&o);
	struct sl_sim *sim = sl_sim_new(&o);
	bool warn = sl_sim_random(random) % 4 == 0, skewed = sl_sim_random(random) % 2 == 0;
	sim->lines = play->lines;
	sim->check_evidence = true;
	for (uint32_t i = 0; i < sim->n; i++) {
		sim->learners[i].host.config.parameters.privacy_check = !warn;
		sim->learners[i].host.config.membership_change = draw_change(play, mix);
		sim->learners[i].ahead = skewed ? sl_sim_random(random) % (UINT64_C(1) << 50) : 0;
	}
	return sim;
}

/* Return true if two learners lie, in half of the seeds where the others are enough, and the protocol
 * withstands two: each deposit has several keepers (ROUND.md §16.4 Why no participant can change the sum). */
static bool draw_two_liars(const struct sl_sim *sim, const struct sl_sim_mix *mix)
{
	const struct sl_parameters *p = &sim->options.parameters;
	uint64_t random = sim->options.seed * UINT64_C(0x94d049bb133111eb);
	bool keepers = p->mixing == SL_ENGINE_EXACT || p->mixing == SL_ENGINE_METROPOLIS;
	return (mix->kinds >> SL_SIM_FAULT_LIAR & 1) != 0 && p->tolerance >= 2 && keepers &&
	       !takes_back(mix) && sim->n >= p->quorum + 2 && sim->n >= p->tolerance + 4 &&
	       sl_sim_random(&random) % 2 == 0;
}

/* Return how many learners may be lost: the others are a quorum and pass the privacy check. */
static uint32_t spare(const struct sl_sim *sim, const struct sl_sim_mix *mix)
{
	const uint32_t kinds = mix->kinds;
	const struct sl_parameters *p = &sim->options.parameters;
	uint64_t least = p->quorum > p->tolerance + 2 ? p->quorum : p->tolerance + 2;
	least += mix->two_liars;
	least += (kinds >> SL_SIM_FAULT_LIAR & 1) + (kinds >> SL_SIM_FAULT_ROSTER & 1);
	least += (kinds & FORGET) != 0; /* it abstains */
	return sim->n > least ? sim->n - (uint32_t)least : 0;
}

/* --- counts --- */

static uint32_t count(const struct sl_sim *sim, enum sl_report_kind kind)
{
	uint32_t count = 0;
	for (size_t k = 0; k < sim->note_count; k++)
		count += sim->notes[k].report.kind == kind;
	return count;
}

static void sum_up(struct playing *p, struct sl_sim *sim)
{
	struct sl_sim_outcome *outcome = p->outcome;
	outcome->steps = sim->steps;
	outcome->virtual_ms = sim->now / 1000;
	outcome->digest = sim->digest;
	outcome->faults = p->faults.count;
	outcome->tally = p->faults.tally;
	memcpy(outcome->told, p->faults.lies.told, sizeof outcome->told);
	outcome->commits = count(sim, SL_REPORT_COMMITTED);
	outcome->caught_up = count(sim, SL_REPORT_CAUGHT_UP);
	outcome->model_invalidated = count(sim, SL_REPORT_MODEL_INVALIDATED);
	outcome->recovered = count(sim, SL_REPORT_RECOVERED);
	for (uint32_t i = 0; i < sim->n; i++)
		outcome->restarts += sim->learners[i].life;
}

/* --- the run --- */

/* Return true if learner i is in an open attempt that needs the Digest of a liar: two lie, and some disks may
 * forget (ROUND.md §10.4 How recovery ends). */
static bool needs_a_liar(const struct sl_sim *sim, uint32_t i)
{
	const struct sl_hosted *host = &sim->learners[i].host;
	uint32_t honest = 0;
	if (host->stopped || host->view == NULL || host->phase < SL_PHASE_READY)
		return false;
	for (uint32_t k = 0; k < host->view->n; k++)
		honest += !sim->learners[host->view->members[k]].liar;
	const struct sl_parameters *agreed = &host->view->agreed;
	return honest < sl_view_digests(host->view->n, agreed->tolerance, agreed->forgetful);
}

/* Return true if the liar has told a lie that may stop the others, or learners that have seen different sums
 * may refuse each other's views (GROUP.md §12.7 Privacy over several sums). */
static bool may_be_stuck(const struct playing *p)
{
	const struct sl_sim *sim = p->faults.sim;
	uint32_t told = 0;
	for (uint32_t i = 0; i < sim->n; i++)
		if (!sl_sim_check_alike(sim, 0, i) || needs_a_liar(sim, i))
			return true;
	for (uint32_t k = 0; k < SL_SIM_LIE_COUNT; k++)
		told |= p->faults.lies.told[k] > 0 ? 1u << k : 0;
	return (told & ~(uint32_t)SL_SIM_LIES_USUAL) != 0;
}

/* End a run that is stopped for such a cause. */
static void end_if_stuck(struct playing *p)
{
	if (!may_be_stuck(p))
		return;
	p->outcome->stuck = true;
	longjmp(p->end, 1);
}

/* Return true if a learner still has to commit the last round. */
static bool unfinished(struct playing *p, struct sl_sim *sim)
{
	uint64_t committed = 0;
	bool all = true;
	for (uint32_t i = 0; i < sim->n; i++) {
		const struct sl_sim_learner *l = &sim->learners[i];
		committed += l->host.committed;
		p->best = l->host.committed > p->best ? l->host.committed : p->best;
		if (l->liar || l->odd)
			continue; /* nothing is asked of it */
		all &= l->host.stopped && l->down == l->lost;
		if (l->host.stopped && !l->down && l->code != SL_OK)
			sl_sim_fail(sim, "learner %u ends with %d", sim->ids[i], l->code);
	}
	if (sim->steps > STEPS_MOST)
		end_if_stuck(p);
	if (sim->steps > STEPS_MOST)
		sl_sim_fail(sim, "no end after %llu steps", (unsigned long long)sim->steps);
	if (committed != p->committed)
		p->progress = sim->now;
	p->committed = committed;
	return !all;
}

/* Play the next graph of the schedule when a round is committed, or none is for a while. */
static void play_schedule(struct playing *p, struct sl_sim *sim)
{
	if (!sim->options.playback || (p->best == p->played_for && sim->now < p->played_at + PLAYED_US))
		return;
	p->played_for = p->best;
	p->played_at = sim->now;
	sl_sim_playback(sim, sim->options.topology, ++p->graph);
}

/* A late learner finds no peer when all others have finished and stopped serving: restart them. */
static void serve_again(struct playing *p, struct sl_sim *sim)
{
	for (uint32_t i = 0; i < sim->n; i++)
		if (sim->learners[i].host.stopped && !sim->learners[i].lost) {
			sl_sim_crash(sim, i);
			sl_sim_restart(sim, i);
		}
	p->played_at = 0; /* they have to be told their neighbours */
	play_schedule(p, sim);
}

static void complain(struct sl_sim *sim, struct playing *p)
{
	end_if_stuck(p);
	for (uint32_t i = 0; i < sim->n; i++) {
		const struct sl_sim_learner *l = &sim->learners[i];
		if (!l->host.stopped && !l->liar && !l->odd)
			sl_sim_fail(sim, "no fault for %llu s, but learner %u stays in %s of round %u",
				    (unsigned long long)((sim->now - p->progress) / 1000000), sim->ids[i],
				    sl_phase_name(l->host.phase), l->host.committed + 1);
	}
}

static void under_faults(struct playing *p, struct sl_sim *sim, sl_round until)
{
	while (unfinished(p, sim) && p->best < until && sim->now < FAULTS_MOST_US && sl_sim_step(sim))
		play_schedule(p, sim);
}

static void in_calm(struct playing *p, struct sl_sim *sim)
{
	uint64_t served = sim->now, helped = sim->now;
	uint64_t most = p->faults.lies.told[SL_SIM_LIE_SLOW] > 0 ? SLOW_MOST_US : CALM_MOST_US;
	p->progress = sim->now;
	while (unfinished(p, sim)) {
		if (sim->now > p->progress + OPERATOR_US && sim->now > helped + OPERATOR_US) {
			sl_sim_faults_operator(&p->faults);
			helped = sim->now;
		}
		if (sim->now > p->progress + most)
			complain(sim, p);
		if (sim->now > p->progress + SERVE_AGAIN_US && sim->now > served + SERVE_AGAIN_US) {
			serve_again(p, sim);
			served = sim->now;
		}
		if (!sl_sim_step(sim)) {
			if (served == sim->now)
				complain(sim, p);
			serve_again(p, sim);
			served = sim->now;
		}
		play_schedule(p, sim);
	}
	for (uint32_t i = 0; i < sim->n; i++)
		if (!sim->learners[i].lost && !sim->learners[i].liar && !sim->learners[i].odd &&
		    sim->learners[i].host.committed != sim->options.parameters.rounds)
			sl_sim_fail(sim, "learner %u ends in round %u", sim->ids[i],
				    sim->learners[i].host.committed);
}

static void play_on(struct playing *p, struct sl_sim *sim, sl_round until)
{
	if (setjmp(p->end) != 0)
		return; /* the rest of this world cannot be freed */
	sl_sim_start(sim);
	under_faults(p, sim, until);
	sl_sim_calm(&p->faults);
	in_calm(p, sim);
}

static double processor_time(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sl_sim_play(const struct sl_sim_play *play, struct sl_sim_outcome *outcome)
{
	double since = processor_time();
	uint64_t random = play->seed ^ UINT64_C(0x5eed);
	struct playing p = {.outcome = outcome};
	*outcome = (struct sl_sim_outcome){.seed = play->seed};
	struct sl_sim_mix mix = draw_mix(play, &random);
	struct sl_sim *sim = build(play, &mix, &random);
	mix.two_liars = draw_two_liars(sim, &mix);
	if (strcmp(sim->options.topology, "complete") == 0 && draw_change(play, &mix) == SL_MEMBERSHIP_WARN &&
	    (sl_sim_random(&random) % 3 == 0 || (mix.kinds >> SL_SIM_FAULT_LOST & 1) != 0))
		mix.lost_most = spare(sim, &mix);
	sl_round until = mix.to_the_end ? play->rounds + 1
					: 2 + (sl_round)(sl_sim_random(&random) % (play->rounds - 2));
	sl_sim_faults_begin(&p.faults, sim, &mix);
	play_on(&p, sim, until);
	sum_up(&p, sim);
	if (!outcome->failed)
		sl_sim_free(sim);
	outcome->seconds = processor_time() - since;
}
