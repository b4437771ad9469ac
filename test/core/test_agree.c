/* AGREE (ROUND.md §7.8 Agree on the view): the learners that have another model, other values, another
 * history or roster are left out and named, on every topology, and the others go on if they are a quorum. */
#include <string.h>

#include "test/lib/test.h"
#include "test/core/verbs.h"

#define P_31 UINT64_C(2147483647)
#define P_44 ((UINT64_C(1) << 44) - 17)

static const char *const topologies[] = {"complete", "ring", "line"};
#define TOPOLOGIES 3u

static struct sl_sim *build(uint32_t learners, const char *topology)
{
	struct sl_sim_options o = {.seed = 31, .learners = learners, .topology = topology};
	return sl_sim_new(&o);
}

static struct sl_sim *build_metropolis(const char *topology, uint64_t k, bool fixed)
{
	struct sl_sim_options o = {.seed = 35, .learners = 5, .topology = topology};
	o.parameters =
		(struct sl_parameters){.mixing = SL_ENGINE_METROPOLIS, .k = k, .iterations_rule = fixed};
	return sl_sim_new(&o);
}

static const struct sl_report *said(struct sl_sim *sim, uint32_t i, enum sl_report_kind kind)
{
	return &sl_sim_expect(sim, i, kind, SL_REASON_NONE)->report;
}

/* --- digits (ROUND.md §4.8 Precision) --- */

/* An exact round takes limbs of 32 bits, and fewer for weights with which no modulus holds so many. */
TEST(bits_of_exact_rounds)
{
	static const struct {
		uint64_t max_weight, p, bits;
	} cases[] = {{1, 0, 32}, {1000, 0, 32}, {UINT64_C(1) << 40, 0, 17}, {1, P_31, 27}, {2, P_31, 26}};
	for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
		struct sl_sim_options o = {.seed = 36, .learners = 4};
		o.parameters.n = 100;
		o.parameters.values = SL_VALUES_EXACT;
		o.parameters.max_weight = cases[k].max_weight;
		o.parameters.p = cases[k].p;
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		for (uint32_t i = 0; i < 4; i++) {
			const struct sl_report *report = said(sim, i, SL_REPORT_COMMITTED);
			assert_int_equal(report->committed.values, SL_VALUES_EXACT);
			assert_int_equal(report->committed.update_bits, cases[k].bits);
		}
		sl_sim_free(sim);
	}
}

/* The first round is exact, and the ranges of the second are those of its model: it keeps 18 bits more, if
 * the modulus is chosen for them, and two more rounds 6. */
TEST(bits_of_the_first_updates)
{
	static const uint64_t moduli[] = {0, (UINT64_C(1) << 36) - 5};
	static const uint32_t bits[][5] = {{32, 30, 18, 18, 12}, {32, 12, 12, 12, 12}};
	for (size_t k = 0; k < 2; k++) {
		struct sl_sim_options o = {.seed = 41, .learners = 3, .parameters.rounds = 5};
		o.parameters.n = 100;
		o.parameters.p = moduli[k];
		o.parameters.values = SL_VALUES_UPDATE;
		struct sl_sim *sim = sl_sim_new(&o);
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		uint32_t rounds = 0;
		for (size_t i = 0; i < sim->note_count; i++) {
			const struct sl_report *report = &sim->notes[i].report;
			if (sim->notes[i].learner != 0 || report->kind != SL_REPORT_COMMITTED)
				continue;
			assert_int_equal(report->committed.update_bits, bits[k][rounds]);
			assert_int_equal(report->committed.values,
					 rounds == 0 ? SL_VALUES_EXACT : SL_VALUES_UPDATE);
			assert_int_equal(report->t, ++rounds);
		}
		assert_int_equal(rounds, 5);
		sl_sim_free(sim);
	}
}

static uint32_t link_states;

/* Every LinkState tells the same, whatever its sender has trained. */
static bool expect_no_digits(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_message *m)
{
	const struct sl_link_state *state = &m->link_state;
	const struct sl_parameters *own = &sim->learners[i].host.config.parameters;
	(void)j;
	if (m->kind != SL_MSG_LINK_STATE)
		return true;
	sim->options.clipping_range = state->t % 2 == 0 ? 1e-6 : 1e6; /* of what is trained next */
	link_states++;
	assert_true(state->n == own->n && state->model == own->model && state->values == own->values);
	assert_true(state->initial == (state->t == 1 ? own->initial : 0));
	return true;
}

/* No LinkState depends on what was trained (ROUND.md §4.8 Precision). */
TEST(magnitudes_are_not_told)
{
	for (enum sl_values values = SL_VALUES_UPDATE; values <= SL_VALUES_EXACT; values++) {
		struct sl_sim_options o = {.seed = 43, .learners = 3, .parameters.rounds = 4};
		o.parameters.values = values;
		struct sl_sim *sim = sl_sim_new(&o);
		sim->tap = expect_no_digits;
		link_states = 0;
		sl_sim_start(sim);
		sl_sim_run_until_done(sim);
		assert_true(link_states >= 12);
		sl_sim_free(sim);
	}
}

/* --- what must be equal --- */

/* Return true if the learners but `odd` are still connected: they are a quorum of the six. */
static bool go_on(uint32_t odd, const char *topology)
{
	return strcmp(topology, "line") != 0 || odd == 0 || odd == 5;
}

/* Run six of which one is odd, and then an hour in which nothing changes. The others commit without it, if
 * they are a quorum; the odd one waits. Its neighbours and itself say once why, and the attempt numbers do
 * not climb.
 */
static void expect_odd(struct sl_sim *sim, uint32_t odd, const char *topology, enum sl_reason reason)
{
	bool others = go_on(odd, topology);
	sl_sim_start(sim);
	for (uint32_t i = 0; i < 6; i++)
		if (i != odd && others)
			sl_sim_run_until_commit(sim, i, 1);
	sl_sim_elapse(sim, 3600000);
	for (uint32_t i = 0; i < 6; i++) {
		struct sl_core_status status;
		const struct sl_sim_note *note = NULL;
		uint32_t failed = sl_sim_count(sim, i, SL_REPORT_FAILED, reason, &note);
		uint32_t said = sl_sim_count(sim, i, SL_REPORT_LEFT_OUT, reason, &note);
		assert_int_equal(sl_sim_count(sim, i, SL_REPORT_COMMITTED, SL_REASON_NONE, &note),
				 others && i != odd);
		if (i == odd || sl_sim_link(sim, i, odd)->possible)
			assert_in_range(failed + said, 1, i == odd ? 6 : 2);
		assert_true(failed <= 1 && (said <= 1 || i == odd));
		sl_core_status(sim->learners[i].host.core, &status);
		assert_in_range(status.a, 1, 7); /* each request for a result uses one */
	}
}

static const struct sl_report *difference(struct sl_sim *sim, uint32_t i, enum sl_reason reason)
{
	const struct sl_sim_note *note = sl_sim_find(sim, i, SL_REPORT_FAILED, reason);
	note = note != NULL ? note : sl_sim_find(sim, i, SL_REPORT_LEFT_OUT, reason);
	return note != NULL ? &note->report : NULL;
}

static void differs_at(uint32_t odd, const char *topology, const struct sl_parameters *theirs)
{
	struct sl_sim *sim = build(6, topology);
	struct sl_parameters own = sim->learners[odd].host.config.parameters;
	sim->learners[odd].host.config.parameters.n = theirs->n;
	sim->learners[odd].host.config.parameters.model = theirs->model;
	sim->learners[odd].host.config.parameters.values = theirs->values;
	expect_odd(sim, odd, topology, SL_REASON_OTHER_MODEL);
	for (uint32_t i = 0; i < 6; i++) {
		const struct sl_report *report = difference(sim, i, SL_REASON_OTHER_MODEL);
		if (report == NULL)
			continue;
		assert_true((report->peer == odd) == (i != odd));
		assert_true(report->why.other.model == (theirs->values == own.values));
		assert_int_equal(report->why.other.own_n, i == odd ? theirs->n : own.n);
		assert_int_equal(report->why.other.their_n, i == odd ? own.n : theirs->n);
		assert_int_equal(report->why.other.own_values, i == odd ? theirs->values : own.values);
		assert_int_equal(report->why.other.their_values, i == odd ? own.values : theirs->values);
	}
	sl_sim_free(sim);
}

static void differs(uint64_t n, uint64_t model, uint64_t values)
{
	const struct sl_parameters theirs = {.n = n, .model = model, .values = values};
	for (uint32_t t = 0; t < TOPOLOGIES; t++)
		for (uint32_t odd = 0; odd < 6; odd += odd == 0 ? 2 : 3)
			differs_at(odd, topologies[t], &theirs);
}

/* The model of a peer changes with a start only: it is reported once, not in each round. */
TEST(odd_in_many_rounds)
{
	const struct sl_sim_note *note;
	struct sl_sim_options o = {.seed = 31, .learners = 6, .parameters = {.rounds = 5}};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->learners[2].host.config.parameters.model = 5;
	sl_sim_start(sim);
	sl_sim_run_until_commit(sim, 0, 4);
	assert_int_equal(sl_sim_count(sim, 0, SL_REPORT_LEFT_OUT, SL_REASON_OTHER_MODEL, &note), 1);
	sl_sim_free(sim);
}

/* A learner that differs costs the others nothing once they know it: none uses up an attempt number because
 * it has trained before the others, and none gives another one a penalty for that. */
TEST(odd_for_long)
{
	struct sl_sim_options o = {
		.seed = 36, .learners = 5, .topology = "complete", .parameters.rounds = 20};
	struct sl_sim *sim = sl_sim_new(&o);
	sim->learners[3].host.config.parameters.values = SL_VALUES_EXACT;
	sl_sim_start(sim);
	for (uint32_t i = 0; i < 5; i++)
		sl_sim_run_until_commit(sim, i == 3 ? 0 : i, 20);
	for (size_t k = 0; k < sim->note_count; k++) {
		const struct sl_sim_note *note = &sim->notes[k];
		if (note->learner == 3)
			continue;
		assert_true(note->report.kind != SL_REPORT_PENALTY);
		assert_true(note->report.kind != SL_REPORT_FAILED || note->report.t == 1);
		if (note->report.kind == SL_REPORT_COMMITTED)
			assert_int_equal(note->report.committed.learners, 4);
	}
	sl_sim_free(sim);
}

TEST(other_models)
{
	differs(7, 0, SL_VALUES_MODEL);
	differs(8, 7, SL_VALUES_MODEL);
	differs(8, 0, SL_VALUES_EXACT);
}

static void expect_hashes(struct sl_sim *sim, enum sl_reason reason,
			  const uint8_t *(*hash)(const struct sl_core_config *))
{
	for (uint32_t i = 0; i < sim->n; i++) {
		const struct sl_report *report = difference(sim, i, reason);
		if (report == NULL)
			continue;
		bool roster = reason == SL_REASON_ROSTER;
		const uint8_t *own = roster ? report->why.roster.own : report->why.history.own;
		const uint8_t *theirs = roster ? report->why.roster.theirs : report->why.history.theirs;
		assert_memory_equal(own, hash(&sim->learners[i].host.config), SL_HASH_BYTES);
		assert_memory_equal(theirs, hash(&sim->learners[report->peer].host.config), SL_HASH_BYTES);
	}
}

static const uint8_t *previous_of(const struct sl_core_config *config)
{
	return config->previous;
}

static const uint8_t *roster_of(const struct sl_core_config *config)
{
	return config->scope.roster;
}

TEST(history)
{
	for (uint32_t t = 0; t < TOPOLOGIES; t++) {
		struct sl_sim *sim = build(6, topologies[t]);
		sim->learners[5].host.config.previous[31] = 1;
		expect_odd(sim, 5, topologies[t], SL_REASON_HISTORY);
		expect_hashes(sim, SL_REASON_HISTORY, previous_of);
		sl_sim_free(sim);
	}
}

/* --- rosters --- */

TEST(roster)
{
	for (uint32_t t = 0; t < TOPOLOGIES; t++) {
		struct sl_sim *sim = build(6, topologies[t]);
		sim->learners[0].host.config.scope.roster[7] = 1; /* an address in it is another one, say */
		expect_odd(sim, 0, topologies[t], SL_REASON_ROSTER);
		expect_hashes(sim, SL_REASON_ROSTER, roster_of);
		sl_sim_free(sim);
	}
}

/* Learners 0 .. few-1 on a line; the roster of learner 0 names `more` others, with links to it alone.
 * Learners 0 and 1 notice it. */
static void larger_roster(uint32_t few, uint32_t more)
{
	struct sl_edge edges[64];
	uint32_t count = 0;
	for (uint32_t i = 0; i + 1 < few; i++)
		edges[count++] = (struct sl_edge){i, i + 1};
	for (uint32_t i = few; i < few + more; i++)
		edges[count++] = (struct sl_edge){0, i};
	struct sl_sim_options o = {.seed = 34, .learners = few + more, .edges = edges, .edge_count = count};
	struct sl_sim *sim = sl_sim_new(&o);
	for (uint32_t i = 0; i < few + more; i++) {
		bool larger = i == 0 || i >= few;
		sim->learners[i].host.config.roster_size = larger ? few + more : few;
		sim->learners[i].host.config.scope.roster[7] = larger;
		sim->learners[i].host.config.parameters.quorum = larger ? (few + more) / 2 + 1 : few;
	}
	sim->options.parameters.quorum = (few + more) / 2 + 1;
	sl_sim_start(sim);
	sl_sim_elapse(sim, 60000);
	const struct sl_report *of_0 = difference(sim, 1, SL_REASON_ROSTER),
			       *of_1 = difference(sim, 0, SL_REASON_ROSTER);
	assert_non_null(of_0);
	assert_non_null(of_1);
	assert_int_equal(of_0->peer, 0);
	assert_int_equal(of_0->why.roster.own_size, few);
	assert_int_equal(of_0->why.roster.their_size, few + more);
	assert_int_equal(of_1->peer, 1);
	assert_int_equal(of_1->why.roster.their_size, few);
	expect_hashes(sim, SL_REASON_ROSTER, roster_of);
	sl_sim_free(sim);
}

TEST(a_larger_roster)
{
	larger_roster(5, 1);
	larger_roster(4, 4);
	larger_roster(3, 8); /* its link state names more than there are here */
}

/* --- K, when it is fixed --- */

static struct sl_sim *with_fixed_k(const char *topology, uint64_t k)
{
	struct sl_sim *sim = build_metropolis(topology, k, true);
	sl_sim_start(sim);
	return sim;
}

static uint64_t need_of(const char *topology)
{
	struct sl_sim *sim = build_metropolis(topology, 0, false);
	sl_sim_start(sim);
	sl_sim_run_until_done(sim);
	uint64_t need = said(sim, 0, SL_REPORT_COMMITTED)->committed.exchanges;
	sl_sim_free(sim);
	return need;
}

TEST(fixed_k)
{
	for (uint32_t t = 0; t < TOPOLOGIES; t++) {
		uint64_t need = need_of(topologies[t]);
		struct sl_sim *sim = with_fixed_k(topologies[t], need - 1);
		sl_sim_run_until_all_say(sim, SL_REPORT_FAILED, SL_REASON_ITERATIONS_RULE);
		for (uint32_t i = 0; i < 5; i++) {
			const struct sl_report *report =
				&sl_sim_expect(sim, i, SL_REPORT_FAILED, SL_REASON_ITERATIONS_RULE)->report;
			assert_int_equal(report->why.iterations.limit, need - 1);
			assert_int_equal(report->why.iterations.need, need);
			assert_int_equal(sim->learners[i].host.committed, 0);
		}
		sl_sim_free(sim);
		for (uint64_t k = need; k <= need + 100; k += 100) {
			sim = with_fixed_k(topologies[t], k);
			sl_sim_run_until_done(sim);
			for (uint32_t i = 0; i < 5; i++)
				assert_int_equal(said(sim, i, SL_REPORT_COMMITTED)->committed.exchanges, k);
			sl_sim_free(sim);
		}
	}
}
