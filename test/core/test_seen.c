/* The sums that a learner has seen, and what it does about views that tell too much beside them (GROUP.md
 * §12.7 Privacy over several sums). */
#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/core/seen.h"
#include "test/core/driver.h"
#include "test/core/verbs.h"
#include "test/lib/test.h"
#include "test/simulator/sim.h"

/* --- what is reported --- */

#define PEOPLE 8u

/* Put the learners of `set` in range of each other, and no others. */
static void gather(struct sl_sim *sim, uint64_t set)
{
	struct sl_edge edges[PEOPLE * PEOPLE];
	size_t count = 0;
	for (uint32_t i = 0; i < PEOPLE; i++)
		for (uint32_t j = i + 1; j < PEOPLE; j++)
			if (sl_bit(&set, i) && sl_bit(&set, j))
				edges[count++] = (struct sl_edge){i, j};
	sl_sim_playback_edges(sim, edges, count);
}

static const struct sl_sim_note *privacy_note(const struct sl_sim *sim, uint32_t i, sl_round t)
{
	const struct sl_sim_note *found = NULL;
	for (size_t k = 0; k < sim->note_count; k++)
		if (sim->notes[k].learner == i && sim->notes[k].report.kind == SL_REPORT_PRIVACY &&
		    sim->notes[k].report.t == t) {
			assert_null(found); /* once */
			found = &sim->notes[k];
		}
	return found;
}

/* What a learner must have seen: the sets of participants of its last sums, the latest last. */
struct history {
	uint64_t sums[64];
	uint32_t count;
	uint64_t told;
};

/* Return the learners that take part in exactly the same sums as learner `i`; none if it is in no sum. */
static uint64_t atom_of(const struct history *h, uint32_t i)
{
	uint64_t atom = 0, same = (1u << PEOPLE) - 1;
	uint32_t from = h->count > SL_SEEN_SUMS + 1 ? h->count - SL_SEEN_SUMS - 1 : 0;
	for (uint32_t k = from; k < h->count; k++) {
		bool in = sl_bit(&h->sums[k], i);
		same &= in ? h->sums[k] : ~h->sums[k];
		atom |= in;
	}
	return atom != 0 ? same : 0;
}

/* Each participant reports the learners of small atoms when these change. */
static void expect_privacy(struct sl_sim *sim, struct history *h, uint32_t i, sl_round t, uint64_t c)
{
	const struct sl_sim_note *note = privacy_note(sim, i, t);
	uint64_t small = 0, smallest = PEOPLE;
	for (uint32_t j = 0; j < PEOPLE; j++) {
		uint64_t atom = atom_of(h, j), size = (uint64_t)__builtin_popcountll(atom);
		if (size > 0 && size < smallest)
			smallest = size;
		if (size > 0 && size < c + 2)
			small |= atom;
	}
	if ((note != NULL) != (small != 0 && small != h->told))
		sl_sim_fail(sim, "learner %u, round %u: it should say %llx, after %llx", sim->ids[i], t,
			    (unsigned long long)small, (unsigned long long)h->told);
	h->told = small;
	if (note == NULL)
		return;
	assert_int_equal(note->set, small);
	assert_int_equal(note->report.privacy.atom, smallest);
}

/* A participant sees the sum of the round, and before, if it was not in the last one, that of the last one,
 * which it fetches. */
TEST(privacy)
{
	static const uint64_t sets[] = {0xff, 0xff, 0x7f, 0x7f, 0xff, 0x3f, 0xff, 0x1f, 0xff, 0xff, 0xff,
					0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					0xff, 0x7f, 0xff, 0x7f, 0xbf, 0xf5, 0xfa, 0xff, 0xf1, 0xf1, 0xf8};
	const uint32_t rounds = sizeof sets / sizeof *sets;
	for (uint64_t c = 1; c <= 2; c++) {
		struct sl_sim_options o = {.seed = 1870 + c, .learners = PEOPLE, .playback = true};
		struct history histories[PEOPLE] = {0};
		o.parameters.rounds = rounds;
		o.parameters.tolerance = c;
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_start(sim);
		for (sl_round t = 1; t <= rounds; t++) {
			gather(sim, sets[t - 1]);
			for (uint32_t i = 0; i < PEOPLE; i++)
				if (sl_bit(&sets[t - 1], i))
					sl_sim_run_until_commit(sim, i, t);
			for (uint32_t i = 0; i < PEOPLE; i++) {
				struct history *h = &histories[i];
				if (!sl_bit(&sets[t - 1], i))
					continue;
				if (t > 1 && !sl_bit(&sets[t - 2], i))
					h->sums[h->count++] = sets[t - 2];
				h->sums[h->count++] = sets[t - 1];
				expect_privacy(sim, h, i, t, c);
			}
		}
		sl_sim_free(sim);
	}
}

/* --- what is done --- */

static struct sl_sim *begin(uint64_t seed, enum sl_membership_change change, uint64_t away)
{
	struct sl_sim_options o = {.seed = seed, .learners = PEOPLE};
	o.parameters.rounds = 40;
	o.parameters.tolerance = 1;
	o.parameters.quorum = 3;
	struct sl_sim *sim = sl_sim_new(&o);
	for (uint32_t i = 0; i < PEOPLE; i++) {
		sim->learners[i].host.config.membership_change = change;
		if (sl_bit(&away, i))
			sl_sim_isolate(sim, i);
	}
	sl_sim_start(sim);
	return sim;
}

/* Learner i can reach the others again, but for those of `away`. */
static void come_back(struct sl_sim *sim, uint32_t i, uint64_t away)
{
	for (uint32_t j = 0; j < PEOPLE; j++)
		if (j != i && !sl_bit(&away, j))
			sl_sim_restore(sim, i, j);
}

/* Return the last round that learner `i` has committed. */
static sl_round committed(const struct sl_sim *sim, uint32_t i)
{
	return sim->learners[i].host.disk.certificate.t;
}

/* Return its participants. */
static uint64_t participants(const struct sl_sim *sim, uint32_t i)
{
	uint64_t set = 0;
	for (uint32_t j = 0; committed(sim, i) > 0 && j < PEOPLE; j++)
		if (sl_round_member(sim->learners[i].host.disk.certificate.round, sim->ids[j]))
			sl_bit_set(&set, j);
	return set;
}

static void isolate_all(struct sl_sim *sim, uint64_t set)
{
	for (uint32_t i = 0; i < PEOPLE; i++)
		if (sl_bit(&set, i))
			sl_sim_isolate(sim, i);
}

/* A learner is lost: no round is committed, and all say whom they wait for. When it is back, they go on. */
TEST(wait_for_one_that_is_lost)
{
	struct sl_sim *sim = begin(1, SL_MEMBERSHIP_WAIT, 0);
	sl_sim_run_until_round(sim, 2);
	sl_sim_isolate(sim, 7);
	sl_sim_elapse(sim, 600 * 1000);
	for (uint32_t i = 0; i < 7; i++) {
		const struct sl_sim_note *note =
			sl_sim_expect(sim, i, SL_REPORT_FAILED, SL_REASON_MEMBERSHIP);
		assert_int_equal(note->set, 1u << 7);
	}
	for (uint32_t i = 0; i < 7; i++)
		assert_true(committed(sim, i) <= 3); /* 3: it had begun before the loss */
	come_back(sim, 7, 0);
	sl_sim_run_until_round(sim, 6);
	sl_sim_free(sim);
}

/* A newcomer waits, and the others go on; with c+1 more it enters. */
TEST(newcomers_wait_for_each_other)
{
	for (uint32_t change = SL_MEMBERSHIP_WAIT; change <= SL_MEMBERSHIP_COHORT; change++) {
		struct sl_sim *sim = begin(2 + change, change, 0xe0);
		for (uint32_t i = 0; i < 5; i++)
			sl_sim_run_until_commit(sim, i, 2);
		come_back(sim, 7, 0x60);
		for (uint32_t i = 0; i < 5; i++)
			sl_sim_run_until_commit(sim, i, 5);
		sl_sim_expect(sim, 7, SL_REPORT_FAILED, SL_REASON_MEMBERSHIP);
		assert_int_equal(participants(sim, 0), 0x1f);
		come_back(sim, 5, 0);
		come_back(sim, 6, 0);
		while (participants(sim, 0) != 0xff)
			assert_true(sl_sim_step(sim));
		assert_true(committed(sim, 0) < 20);
		sl_sim_free(sim);
	}
}

/* As many leave together as hide each other: the others go on. They come back together, or wait. */
TEST(enough_leave_together)
{
	struct sl_sim *sim = begin(9, SL_MEMBERSHIP_WAIT, 0);
	sl_sim_run_until_round(sim, 2);
	isolate_all(sim, 0xe0);
	for (uint32_t i = 0; i < 5; i++)
		sl_sim_run_until_commit(sim, i, 5);
	come_back(sim, 5, 0x80);
	come_back(sim, 6, 0x80);
	for (uint32_t i = 0; i < 5; i++)
		sl_sim_run_until_commit(sim, i, 8);
	assert_int_equal(participants(sim, 0), 0x1f);
	come_back(sim, 7, 0);
	while (participants(sim, 0) != 0xff)
		assert_true(sl_sim_step(sim));
	assert_true(committed(sim, 0) < 16);
	sl_sim_free(sim);
}

/* One is lost: c+2 others sit out with it, until the sums with all of them are old. Of the sums that are
 * remembered, no atom is small. Beside those before the loss, the sums then tell of the one that is lost. */
TEST(a_cohort_sits_out)
{
	struct sl_sim *sim = begin(20, SL_MEMBERSHIP_COHORT, 0);
	uint64_t few = 0;
	sl_sim_run_until_round(sim, 2);
	sl_sim_isolate(sim, 7);
	while (committed(sim, 0) < 2 || (participants(sim, 0) & 0x80) != 0)
		assert_true(sl_sim_step(sim));
	few = participants(sim, 0);
	assert_int_equal(__builtin_popcountll(few), PEOPLE - 1 - 3);
	while (participants(sim, 0) == few)
		assert_true(sl_sim_step(sim));
	assert_int_equal(participants(sim, 0), 0x7f);
	assert_true(committed(sim, 0) >= 2 + SL_SEEN_SUMS);
	for (uint32_t i = 0; i < PEOPLE; i++)
		sl_sim_expect_none(sim, i, SL_REPORT_PRIVACY, SL_REASON_NONE);
	sl_sim_free(sim);
}

/* Those that do not sit out have to be a quorum: four of eight are none, five of nine are one. */
TEST(a_cohort_leaves_a_quorum)
{
	for (uint32_t n = 8; n <= 9; n++) {
		struct sl_sim_options o = {.seed = 20, .learners = n};
		o.parameters.rounds = 12;
		o.parameters.tolerance = 1;
		o.parameters.quorum = 5; /* a majority */
		struct sl_sim *sim = sl_sim_new(&o);
		for (uint32_t i = 0; i < n; i++)
			sim->learners[i].host.config.membership_change = SL_MEMBERSHIP_COHORT;
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 2);
		sl_sim_isolate(sim, n - 1);
		sl_sim_elapse(sim, 600 * 1000);
		assert_true(n == 8 ? committed(sim, 0) <= 3 : committed(sim, 0) == 12);
		for (uint32_t i = 0; n == 8 && i < 7; i++)
			sl_sim_restore(sim, 7, i);
		if (n == 8)
			sl_sim_run_until_round(sim, 12);
		sl_sim_free(sim);
	}
}

/* --- attempts that do not commit --- */

/* The sum of an attempt that all have given up may be known. A round that then commits without one learner
 * tells that learner's model. The others say so before, also one that has started again. */
TEST(a_sum_that_was_given_up_counts)
{
	struct sl_sim_options o = {.seed = 3, .learners = 6};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->tap_result = sl_sim_refuse_sums;
	sl_sim_start(sim);
	sl_sim_run_until_all_say(sim, SL_REPORT_OVER, SL_REASON_NONE);
	sl_sim_crash(sim, 1);
	sl_sim_elapse(sim, 1000);
	sl_sim_restart(sim, 1);
	sl_sim_isolate(sim, 5);
	for (uint32_t i = 0; i < 5; i++)
		sl_sim_run_until_commit(sim, i, 1);
	for (uint32_t i = 0; i < 5; i++) {
		const struct sl_sim_note *last = NULL;
		assert_true(sl_sim_count(sim, i, SL_REPORT_PRIVACY, SL_REASON_NONE, &last) > 0);
		assert_true(sl_bit(&last->set, 5));
		assert_int_equal(last->report.privacy.atom, 1);
	}
	sl_sim_free(sim);
}

/* --- what is remembered --- */

#define OTHERS (2 * 4 + 64) /* learners of a round that the core takes, of a roster of four */

/* Sums of rounds of an earlier roster, each of other learners: all of the last ones are remembered. */
TEST(learners_of_earlier_rosters)
{
	static const sl_id ids[] = {1, 2, 3, 4};
	struct sl_core core = {.config = {.roster_size = 4, .ids = ids}};
	struct sl_arena arena;
	size_t bytes = sl_seen_bytes(&core.config);
	void *memory = malloc(bytes);
	uint32_t members[2 * OTHERS] = {0};
	struct sl_round_head round = {.members = members, .count = 2 * OTHERS};
	sl_arena_init(&arena, memory, bytes);
	assert_true(sl_seen_open(&core, &arena));
	for (sl_round t = 1; t <= 40; t++) {
		struct sl_certificate certificate = {.t = t, .round = &round};
		uint32_t sums = t < SL_SEEN_SUMS ? t : SL_SEEN_SUMS, found = 0;
		memcpy(certificate.view, &t, sizeof t);
		for (uint32_t k = 0; k < OTHERS; k++)
			members[2 * k] = 100 * t + k;
		sl_seen_commit(&core, &certificate);
		for (uint32_t k = 0; k < core.sums->count; k++)
			found += core.sums->members[k].in != 0;
		assert_int_equal(found, sums * OTHERS);
	}
	uint32_t next = core.sums->next; /* at a start, the last commit may be older than all of them */
	sl_seen_commit(&core, &(struct sl_certificate){.t = 20, .view = {20}, .round = &round});
	assert_int_equal(core.sums->next, next);
	free(memory);
}

/* --- one view beside one sum --- */

/* Learner 1 of PEOPLE has seen the sum of the learners of `sum`, and looks at a view of those of `view`. */
static struct driver *beside(uint64_t sum, uint64_t view)
{
	struct driver *p = driver_new(PEOPLE, 4);
	uint32_t members[2 * PEOPLE], count = 0;
	play(p, "start");
	p->core->out = &p->actions;
	struct sl_view *v = &p->core->view;
	v->n = 0;
	v->agreed.tolerance = 1;
	for (uint32_t i = 0; i < PEOPLE; i++) {
		v->position[i] = sl_bit(&view, i) ? v->n++ : UINT32_MAX;
		members[count] = i + 1;
		count += sl_bit(&sum, i) ? 2 : 0;
	}
	sl_seen_commit(p->core,
		       &(struct sl_certificate){
			       .t = 1, .round = &(struct sl_round_head){.members = members, .count = count}});
	return p;
}

static uint64_t left_out(enum sl_membership_change change, uint64_t sum, uint64_t view)
{
	struct driver *p = beside(sum, view);
	p->core->config.membership_change = change;
	sl_seen_leave_out(p->core);
	uint64_t set = p->core->excluded[0];
	driver_free(p);
	return set;
}

/* With c = 1, three hide each other. */
TEST(who_is_left_out)
{
	assert_int_equal(left_out(SL_MEMBERSHIP_WAIT, 0xff, 0xff), 0);
	assert_int_equal(left_out(SL_MEMBERSHIP_WAIT, 0xff, 0x7f), 0x7f);
	assert_int_equal(left_out(SL_MEMBERSHIP_WAIT, 0xff, 0x3f), 0x3f);
	assert_int_equal(left_out(SL_MEMBERSHIP_WAIT, 0xff, 0x1f), 0);
	assert_int_equal(left_out(SL_MEMBERSHIP_WAIT, 0x1f, 0x7f), 0x60);
	assert_int_equal(left_out(SL_MEMBERSHIP_WAIT, 0x1f, 0xff), 0);
	assert_int_equal(sl_bit_count(&(uint64_t){left_out(SL_MEMBERSHIP_COHORT, 0xff, 0x7f)}, 1), 3);
	assert_int_equal(sl_bit_count(&(uint64_t){left_out(SL_MEMBERSHIP_COHORT, 0xff, 0x3f)}, 1), 3);
	assert_int_equal(left_out(SL_MEMBERSHIP_COHORT, 0x3f, 0x1f), 0x1f);
}

/* The atoms are those of the sums with that of the view. */
TEST(what_a_view_tells)
{
	static const uint64_t atoms[][3] = {
		{0xff, 0xff, 8}, {0xff, 0x7f, 1}, {0xff, 0x1f, 3}, {0x1f, 0x7f, 2}};
	for (uint32_t k = 0; k < sizeof atoms / sizeof *atoms; k++) {
		struct driver *p = beside(atoms[k][0], atoms[k][1]);
		assert_int_equal(sl_seen_tells(p->core), atoms[k][2] < 3);
		assert_int_equal(p->core->atom, atoms[k][2]);
		driver_free(p);
	}
}

/* The sum of an attempt that was released counts when it is over, and after a start. */
TEST(an_attempt_that_is_over)
{
	struct driver *p = driver_release_without_4(), *q = driver_new(4, 4);
	play(p, "link down 3\n"
		"abort of 2 r1 a1 from 2\n"
		"abort of 3 r1 a1 from 2\n"
		"deadline +2000 -> OVER, *");
	assert_int_equal(p->core->sums->t[0], 1);
	q->config.seen = p->core->sums;
	play(q, "start");
	assert_int_equal(q->core->sums->next, 1);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(q->core->sums->members[i].in, i < 3);
	driver_free(p);
	driver_free(q);
}
