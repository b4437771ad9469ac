/* The audit agrees with an independent search on all small graphs. audit.sh tests the reports. */
#include "test/topology/schedules.h"

#include "test/graph/brute.h"
#include "test/lib/test.h"
#include "tools/topology/leakage_text.h"
#include "tools/topology/weak.h"

/* ---- all graphs of a size; bit v of a set is vertex v ---- */

static struct sl_schedule played(const struct brute *b, uint32_t steps)
{
	struct sl_edge edges[10];
	struct sl_schedule schedule;
	size_t count = brute_edges(b, edges);
	sl_schedule_init(&schedule, b->n);
	while (schedule.steps < steps)
		assert_int_equal(sl_schedule_add(&schedule, edges, count), SL_OK);
	return schedule;
}

/* Return the component that has a majority, or the empty set. */
static uint32_t majority_of(const struct brute *b)
{
	for (uint32_t v = 0; v < b->n; v++)
		if ((uint32_t)__builtin_popcount(brute_reach(b, v, 0)) > b->n / 2)
			return brute_reach(b, v, 0);
	return 0;
}

/* Return the vertices that the first vertex of `set` reaches within `within`. */
static uint32_t part_of(const struct brute *b, uint32_t set, uint32_t within)
{
	return brute_reach(b, (uint32_t)__builtin_ctz(set), ~within);
}

/* The paper's Theorem: more than the mean iff the others, if two or more, do not hang together. */
static bool beyond(const struct brute *b, uint32_t present, uint32_t coalition)
{
	uint32_t others = present & ~coalition;
	if (others == 0)
		return false;
	return __builtin_popcount(others) == 1 || part_of(b, others, others) != others;
}

static void groups_are(const struct sl_participants *m, const struct brute *b, uint32_t others)
{
	uint32_t g = 0;
	for (uint32_t left = others; left != 0; g++) {
		uint32_t group = 0, expected = part_of(b, left, others);
		assert_true(g < m->groups);
		for (uint32_t i = m->start[g]; i < m->start[g + 1]; i++) {
			assert_true(i == m->start[g] || m->member[i - 1] < m->member[i]);
			group |= 1u << m->member[i];
		}
		assert_int_equal(group, expected);
		left &= ~expected;
	}
	assert_int_equal(g, m->groups);
}

static void check_graph(const struct brute *b)
{
	struct sl_schedule schedule = played(b, 1);
	struct sl_participants m;
	uint32_t present = majority_of(b);
	sl_participants_open(&m, &schedule, sl_participants_majority(b->n));
	sl_participants_at(&m, 0);
	assert_int_equal(m.present_count, __builtin_popcount(present));
	for (uint32_t coalition = 0; coalition < 1u << b->n; coalition++) {
		uint32_t member[5], count = 0;
		for (uint32_t v = 0; v < b->n; v++)
			if (coalition >> v & 1)
				member[count++] = v;
		sl_participants_without(&m, member, count);
		groups_are(&m, b, present & ~coalition);
		assert_int_equal(sl_participants_beyond(&m), beyond(b, present, coalition));
	}
	sl_participants_close(&m);
	sl_schedule_close(&schedule);
}

TEST(test_the_theorem_on_all_small_graphs)
{
	for (uint32_t n = 2; n <= 5; n++)
		for (uint64_t number = 0; number < graphs_on(n); number++) {
			struct brute b = brute_numbered(n, number);
			check_graph(&b);
		}
}

/* Coalitions within the present part; that contain no smaller weak one. */
static bool least(const struct brute *b, uint32_t present, uint32_t coalition)
{
	if ((coalition & ~present) != 0 || !beyond(b, present, coalition))
		return false;
	for (uint32_t part = (coalition - 1) & coalition; part != 0; part = (part - 1) & coalition)
		if (beyond(b, present, part))
			return false;
	return true;
}

static void check_weak(const struct brute *b, uint32_t c)
{
	struct sl_schedule schedule = played(b, 3);
	struct sl_weak weak;
	struct sl_error error = {0};
	uint32_t present = majority_of(b);
	bool found[32] = {false};
	assert_int_equal(sl_weak_find(&weak, &schedule, sl_participants_majority(b->n), c, &error), SL_OK);
	assert_int_equal(weak.rounds, present != 0 ? 3 : 0);
	for (size_t at = 0; at < weak.count; at = sl_weak_next(&weak, at)) {
		uint32_t set = 0;
		for (uint32_t i = 0; i < weak.point[at].size; i++)
			set |= 1u << weak.point[at].member[i];
		assert_int_equal(sl_weak_next(&weak, at) - at, 3); /* in every step */
		assert_false(found[set]);
		found[set] = true;
	}
	for (uint32_t set = 1; set < 1u << b->n; set++)
		assert_int_equal(found[set],
				 (uint32_t)__builtin_popcount(set) <= c && least(b, present, set));
	sl_weak_close(&weak);
	sl_schedule_close(&schedule);
}

TEST(test_weak_points_of_all_small_graphs)
{
	for (uint32_t c = 1; c <= 3; c++)
		for (uint32_t n = 2; n <= 5; n++)
			for (uint64_t number = 0; number < graphs_on(n); number++) {
				struct brute b = brute_numbered(n, number);
				check_weak(&b, c);
			}
}

TEST(test_too_many_coalitions)
{
	struct sl_schedule schedule = draw_schedule("line", 300, 1);
	struct sl_weak weak;
	struct sl_error error = {0};
	assert_int_equal(sl_weak_find(&weak, &schedule, 151, 4, &error), SL_ERR_RANGE);
	assert_string_equal(error.text, "too many coalitions of up to 4 learners: lower --tolerance, or "
					"name one with --coalition");
	assert_null(weak.point);
	sl_schedule_close(&schedule);
}

/* ---- words ---- */

static void combination_is(const int32_t *coefficients, uint32_t n, const char *expected)
{
	char text[128] = "";
	FILE *out = fmemopen(text, sizeof text, "w");
	sl_leakage_text_combination(out, coefficients, n);
	fclose(out);
	assert_string_equal(text, expected);
}

TEST(test_combinations)
{
	combination_is((const int32_t[]){0, 1, 0, 1}, 4, "x2+x4");
	combination_is((const int32_t[]){2, 0, -1, -3}, 4, "2x1-x3-3x4");
	combination_is((const int32_t[]){-1, 0, 0, 0}, 4, "-x1");
	combination_is((const int32_t[]){1, 1, 1, 1, 1, 1, 1, 1}, 8, "x1+x2+x3+x4+x5+x6+x7+x8");
	combination_is((const int32_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, 9, "x1+x2+x3+... (9 models)");
}
