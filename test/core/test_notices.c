/* What a learner says of others, once: that somebody was left behind, that somebody signed two things, and
 * that the difference of two sums tells of few (PROTOCOL.md §7 The round, §9 Abort, safety rule, reuse rule).
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"
#include "tools/sim/sim.h"

#define LIST(...) ((const sl_id[]){__VA_ARGS__, 0})

static struct sl_sim *build(uint64_t seed, uint32_t learners, const char *topology, uint64_t rounds)
{
	struct sl_sim_options o = {
		.seed = seed, .learners = learners, .topology = topology, .parameters.rounds = rounds};
	return sl_sim_new(&o);
}

static void restore_all(struct sl_sim *sim, uint32_t i)
{
	for (uint32_t j = 0; j < sim->n; j++)
		if (sl_sim_link(sim, i, j)->possible)
			sl_sim_restore(sim, i, j);
}

/* --- left behind --- */

/* The last one on a line or a ring is away for two rounds; when it is back, everybody hears where it stands,
 * and with what, though few of them have a link to it. */
static void left_behind(uint64_t seed, const char *topology)
{
	struct sl_sim *sim = build(seed, 6, topology, 7);
	sl_sim_start(sim);
	sl_sim_run_until_commit(sim, 5, 1);
	sl_sim_isolate(sim, 5);
	for (uint32_t i = 0; i < 5; i++)
		sl_sim_run_until_commit(sim, i, 3);
	restore_all(sim, 5);
	sl_sim_run_until_round(sim, 7);
	for (uint32_t i = 0; i < 5; i++) {
		const struct sl_sim_note *note = NULL;
		assert_int_equal(sl_sim_count(sim, i, SL_REPORT_STALE, SL_REASON_NONE, &note), 1);
		assert_int_equal(note->report.peer, 5);
		assert_int_equal(note->report.stale.t, 2);
		assert_memory_equal(note->report.stale.digest, sim->digests[1], SL_HASH_BYTES);
	}
	sl_sim_expect_none(sim, 5, SL_REPORT_STALE, SL_REASON_NONE);
	sl_sim_run_until_done(sim);
	sl_sim_free(sim);
}

TEST(test_stale)
{
	for (uint64_t seed = 0; seed < 10; seed++) {
		left_behind(1800 + seed, "line");
		left_behind(1820 + seed, "ring");
	}
}

TEST(test_nobody_is_stale)
{
	for (uint64_t seed = 0; seed < 5; seed++) {
		struct sl_sim *sim = build(1840 + seed, 6, "line", 4);
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		for (uint32_t i = 0; i < 6; i++)
			sl_sim_expect_none(sim, i, SL_REPORT_STALE, SL_REASON_NONE);
		sl_sim_free(sim);
	}
}

/* --- two signatures for one attempt --- */

static const struct sl_report *report_of(const struct driver *p, enum sl_report_kind kind)
{
	for (uint32_t i = 0; i < p->actions.count; i++)
		if (p->actions.items[i].kind == SL_ACTION_REPORT && p->actions.items[i].report.kind == kind)
			return &p->actions.items[i].report;
	return NULL;
}

/* What the driven core signs is marked with the number of candidates. */
static void expect_evidence(const struct driver *p, uint8_t first, uint8_t second)
{
	const struct sl_report *report = report_of(p, SL_REPORT_EVIDENCE);
	assert_non_null(report);
	assert_int_equal(report->peer, 1);
	for (int k = 0; k < 2; k++) {
		const struct sl_link_state *state = report->evidence[k];
		assert_int_equal(state->id, 2);
		assert_int_equal(state->count, k == 0 ? first : second);
		assert_int_equal(state->signature[0], k == 0 ? first : second);
		for (uint32_t c = 0; c < state->count; c++)
			assert_true(state->candidates[c] == (c == 0 ? 1 : 2 + c));
	}
}

static void expect_no_evidence(const struct driver *p)
{
	assert_null(report_of(p, SL_REPORT_EVIDENCE));
}

TEST(test_evidence_before_freezing)
{
	struct driver *p = driver_new(4, 4);
	for (sl_id id = 2; id <= 4; id++)
		tell_link(p, true, id);
	tell_link_state(p, 2, 2, 1, LIST(1));
	tell_link_state(p, 3, 2, 1, LIST(1)); /* the same */
	expect_no_evidence(p);
	tell_link_state(p, 3, 2, 1, LIST(1, 3));
	expect_evidence(p, 1, 2);
	assert_null(strstr(p->trace.text, "FAILED")); /* there is no attempt yet */
	tell_link_state(p, 3, 2, 1, LIST(1, 3));
	tell_link_state(p, 4, 2, 1, LIST(1, 3, 4));
	expect_no_evidence(p); /* said once */
	tell_link_state(p, 2, 2, 2, LIST(1));
	tell_link_state(p, 3, 2, 2, LIST(1, 3));
	expect_no_evidence(p); /* once a round is enough: a liar must not fill our disk */
	driver_free(p, 0);
}

TEST(test_evidence_after_freezing)
{
	struct driver *p = driver_new(3, 4);
	driver_share(p);
	tell_link_state(p, 3, 2, 1, LIST(1));
	expect_evidence(p, 2, 1);
	assert_non_null(strstr(p->trace.text, "FAILED equivocation 2"));
	tell_link_state(p, 3, 2, 1, LIST(1));
	expect_no_evidence(p);
	driver_free(p, 0);
}

/* To 1 it names one candidate fewer than to the others. */
static bool equivocate(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	if (m->kind == SL_MSG_LINK_STATE && i == 0 && j == 1 && m->link_state.a == 1 &&
	    m->link_state.id == sim->ids[0]) {
		m->link_state.count--;
		sl_sim_sign(sim, m);
	}
	return true;
}

TEST(test_evidence_in_a_crowd)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct sl_sim *sim = build(1850 + seed, 4, "complete", 1);
		uint32_t seen = 0;
		sim->tap = equivocate;
		sim->liars = true;
		sl_sim_start(sim);
		sl_sim_run_until_round(sim, 1);
		for (uint32_t i = 1; i < 4; i++) {
			const struct sl_sim_note *note = NULL;
			uint32_t count = sl_sim_count(sim, i, SL_REPORT_EVIDENCE, SL_REASON_NONE, &note);
			assert_true(count <= 1);
			seen += count;
			if (count == 0)
				continue;
			assert_int_equal(note->report.peer, 0);
			assert_int_equal(note->evidence[0].id, sim->ids[0]);
			assert_int_equal(note->evidence[0].count + note->evidence[1].count, 3 + 2);
			assert_memory_not_equal(note->evidence[0].signature, note->evidence[1].signature,
						SL_SIG_BYTES);
		}
		assert_true(seen > 0);
		sl_sim_free(sim);
	}
}

/* --- sums that tell of few --- */

#define PEOPLE 8u

/* All of a set are in range of one another, and of nobody else. */
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

/* By all who were in both rounds; the others do not know who was in the last one. */
static void expect_privacy(struct sl_sim *sim, sl_round t, uint64_t then, uint64_t now, uint64_t c)
{
	uint64_t changed = then ^ now;
	bool few = changed != 0 && (uint64_t)__builtin_popcountll(changed) < c + 2;
	for (uint32_t i = 0; i < PEOPLE; i++) {
		const struct sl_sim_note *note = privacy_note(sim, i, t);
		if ((note != NULL) != (few && sl_bit(&then, i) && sl_bit(&now, i)))
			sl_sim_fail(sim, "learner %u, round %u, %llx to %llx: it should say %s", sim->ids[i],
				    t, (unsigned long long)then, (unsigned long long)now,
				    note == NULL ? "so" : "nothing");
		if (note == NULL)
			continue;
		assert_int_equal(note->set, changed);
		assert_int_equal(note->report.privacy.came, __builtin_popcountll(now & ~then));
		assert_int_equal(note->report.privacy.left, __builtin_popcountll(then & ~now));
	}
}

TEST(test_privacy)
{
	static const uint64_t sets[] = {0xff, 0xff, 0x7f, 0x7f, 0xff, 0x3f, 0xff, 0x1f, 0xff,
					0x7f, 0xbf, 0xf5, 0xfa, 0xff, 0xf1, 0xf1, 0xf8};
	const uint32_t rounds = sizeof sets / sizeof *sets;
	for (uint64_t c = 1; c <= 2; c++) {
		struct sl_sim_options o = {.seed = 1870 + c, .learners = PEOPLE, .playback = true};
		o.parameters.rounds = rounds;
		o.parameters.tolerance = c;
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_start(sim);
		for (sl_round t = 1; t <= rounds; t++) {
			gather(sim, sets[t - 1]);
			for (uint32_t i = 0; i < PEOPLE; i++)
				if (sl_bit(&sets[t - 1], i))
					sl_sim_run_until_commit(sim, i, t);
			if (t > 1)
				expect_privacy(sim, t, sets[t - 2], sets[t - 1], c);
		}
		sl_sim_free(sim);
	}
}
