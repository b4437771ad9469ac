/* Who learns what, against a search by other means on all small graphs; and in words. */
#include "test/topology/schedules.h"

#include "test/graph/brute.h"
#include "test/lib/test.h"
#include "tools/topology/audit.h"
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

/* The part that has a majority, or nobody. */
static uint32_t majority_of(const struct brute *b)
{
	for (uint32_t v = 0; v < b->n; v++)
		if ((uint32_t)__builtin_popcount(brute_reach(b, v, 0)) > b->n / 2)
			return brute_reach(b, v, 0);
	return 0;
}

/* Whom the first of `set` reaches within `within`. */
static uint32_t part_of(const struct brute *b, uint32_t set, uint32_t within)
{
	return brute_reach(b, (uint32_t)__builtin_ctz(set), ~within);
}

/* The paper's Theorem: more than the mean iff the others, if two or more, do not hang together. */
static bool beyond(const struct brute *b, uint32_t present, uint32_t suspects)
{
	uint32_t others = present & ~suspects;
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
	assert_int_equal(sl_participants_open(&m, &schedule, sl_participants_majority(b->n)), SL_OK);
	assert_int_equal(sl_participants_at(&m, 0), SL_OK);
	assert_int_equal(m.present_count, __builtin_popcount(present));
	for (uint32_t suspects = 0; suspects < 1u << b->n; suspects++) {
		uint32_t member[5], count = 0;
		for (uint32_t v = 0; v < b->n; v++)
			if (suspects >> v & 1)
				member[count++] = v;
		sl_participants_without(&m, member, count);
		groups_are(&m, b, present & ~suspects);
		assert_int_equal(sl_participants_beyond(&m), beyond(b, present, suspects));
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
static bool least(const struct brute *b, uint32_t present, uint32_t suspects)
{
	if ((suspects & ~present) != 0 || !beyond(b, present, suspects))
		return false;
	for (uint32_t part = (suspects - 1) & suspects; part != 0; part = (part - 1) & suspects)
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
	assert_string_equal(error.text,
			    "too many coalitions of up to 4 learners: ask for fewer with --tolerance, or "
			    "name some with --suspects");
	assert_null(weak.point);
	sl_schedule_close(&schedule);
}

/* ---- reports ---- */

static char *report(const char *text, const char *suspects, bool unchanged, bool *beyond_mean)
{
	struct sl_schedule schedule = schedule_of(text);
	struct sl_error error = {0};
	uint32_t ids[8];
	char *got = NULL;
	size_t bytes = 0, count = 0;
	for (const char *at = suspects; *at != '\0'; at++)
		if (*at != ',')
			ids[count++] = (uint32_t)(*at - '1');
	struct sl_audit_request request = {.schedule = &schedule,
					   .quorum = sl_participants_majority(schedule.learners),
					   .suspects = ids,
					   .count = count,
					   .tolerance = 1,
					   .unchanged = unchanged};
	FILE *out = open_memstream(&got, &bytes);
	int rc = (count > 0 ? sl_audit_suspects : sl_audit_weak)(&request, out, beyond_mean, &error);
	if (rc != SL_OK)
		fail_msg("%s", error.text);
	fclose(out);
	sl_schedule_close(&schedule);
	for (char *line = strstr(got, "\n    "); line != NULL; line = strstr(got, "\n    ")) {
		*line = ' '; /* as if the terminal were wide */
		memmove(line + 1, line + 5, strlen(line + 5) + 1);
	}
	return got;
}

/* What stands below the heading. */
static void says(const char *text, const char *suspects, bool expected_beyond, const char *expected)
{
	bool beyond_mean;
	char *got = report(text, suspects, false, &beyond_mean);
	const char *body = strchr(got, '\n');
	assert_non_null(body);
	assert_string_equal(body + 1, expected);
	assert_int_equal(beyond_mean, expected_beyond);
	free(got);
}

#define FIX(c)                                                                                               \
	"The gate refuses such a round at tolerance " c "; starling topology repair --tolerance " c          \
	" adds the links that are missing.\n"

/* The hub sees every model; a spoke nothing. */
TEST(test_the_papers_star)
{
	says("learners 5\nstep 1-2 1-3 1-4 1-5\n", "1", true,
	     "step 1: learns the models of learners 2, 3, 4 and 5 (1 cuts them apart)\n"
	     "NOT PRIVATE: it learns more than the mean. " FIX("1"));
	says("learners 5\nstep 1-2 1-3 1-4 1-5\n", "2", false,
	     "step 1: only the sum of all the others\n"
	     "PRIVATE: it learns no more than the mean, which everybody gets.\n");
}

TEST(test_the_papers_line)
{
	says("learners 5\nstep 1-2 2-3 3-4 4-5\n", "3", true,
	     "step 1: learns x1+x2 and x4+x5 (3 cuts them apart)\n"
	     "NOT PRIVATE: it learns more than the mean. " FIX("1"));
	says("learners 5\nstep 1-2 2-3 3-4 4-5\n", "2", true,
	     "step 1: learns the model of learner 1, and x3+x4+x5 (2 cuts them apart)\n"
	     "NOT PRIVATE: it learns more than the mean. " FIX("1"));
	says("learners 5\nstep 1-2 2-3 3-4 4-5\n", "1,5", false,
	     "step 1: only the sum of all the others\n"
	     "PRIVATE: together they learn no more than the mean, which everybody gets.\n");
}

TEST(test_the_papers_complete_graph)
{
	says("learners 4\nstep 1-2 1-3 1-4 2-3 2-4 3-4\n", "2,3", false,
	     "step 1: only the sum of all the others\n"
	     "PRIVATE: together they learn no more than the mean, which everybody gets.\n");
	says("learners 4\nstep 1-2 1-3 1-4 2-3 2-4 3-4\n", "1,2,3", true,
	     "step 1: learn the model of learner 4: there is nobody else\n"
	     "NOT PRIVATE: together they learn more than the mean. The gate refuses such a round at "
	     "tolerance 3.\n");
}

/* The remark after the Theorem: with a benign neighbour each, no model is given away, but partial sums are.
 */
TEST(test_the_papers_remark)
{
	says("learners 6\nstep 1-2 2-3 3-4 4-5 5-6 1-6\n", "1,4", true,
	     "step 1: learn x2+x3 and x5+x6 (1 and 4 cut them apart)\n"
	     "NOT PRIVATE: together they learn more than the mean. " FIX("2"));
	says("learners 6\nstep 1-2 2-3 3-4 4-5 5-6 1-6\n", "1,3", true,
	     "step 1: learn the model of learner 2, and x4+x5+x6 (1 and 3 cut them apart)\n"
	     "NOT PRIVATE: together they learn more than the mean. " FIX("2"));
}

/* The Theorem over time: in every round, or not at all. */
TEST(test_one_round_is_enough)
{
	says("learners 4\nstep 1-2 2-3 3-4 1-4\nstep 1-2 2-3 3-4\nstep 1-2 2-3 3-4 1-4\n", "2", true,
	     "step 1: only the sum of all the others\n"
	     "step 2: learns the model of learner 1, and x3+x4 (2 cuts them apart)\n"
	     "step 3: only the sum of all the others\n"
	     "all steps: no more than that, even if no model changes from step to step\n"
	     "NOT PRIVATE: it learns more than the mean in 1 of 3 rounds. " FIX("1"));
	says("learners 4\nstep 1-2 2-3 3-4 1-4\nstep 1-3 2-3 2-4 1-4\n", "2", false,
	     "steps 1 to 2: only the sum of all the others\n"
	     "all steps: no more than that, even if no model changes from step to step\n"
	     "PRIVATE: it learns no more than the mean, which everybody gets.\n");
}

/* Pairings: each tells two sums, all three together every model. */
TEST(test_the_span_over_rounds)
{
	says("learners 5\nstep 1-2 3-4 1-5 2-5 3-5 4-5\nstep 1-3 2-4 1-5 2-5 3-5 4-5\nstep 1-4 2-3 1-5 2-5 "
	     "3-5 4-5\n",
	     "5", true,
	     "step 1: learns x1+x2 and x3+x4 (5 cuts them apart)\n"
	     "step 2: learns x1+x3 and x2+x4 (5 cuts them apart)\n"
	     "step 3: learns x1+x4 and x2+x3 (5 cuts them apart)\n"
	     "all steps: if no model changes from step to step, learns the models of learners 1, 2, 3 and 4\n"
	     "NOT PRIVATE: it learns more than the mean. " FIX("1"));
	says("learners 5\nstep 1-2 3-4 1-5 2-5 3-5 4-5\nstep 1-3 2-4 1-5 2-5 3-5 4-5\n", "5", true,
	     "step 1: learns x1+x2 and x3+x4 (5 cuts them apart)\n"
	     "step 2: learns x1+x3 and x2+x4 (5 cuts them apart)\n"
	     "all steps: if no model changes from step to step, learns x1-x4, x2+x4 and x3+x4\n"
	     "NOT PRIVATE: it learns more than the mean. " FIX("1"));
}

TEST(test_who_was_absent_stands_out)
{
	static const char text[] =
		"learners 5\nstep 1-2 2-3 3-4 4-5 1-5\nstep 1-2 2-3 1-3 3-4 1-4\nstep 2-3\n";
	bool beyond_mean;
	says(text, "1", false,
	     "step 1: only the sum of all the others\n"
	     "step 2: only the sum of all the others; learner 5 takes no part\n"
	     "step 3: no round: 2 of 5 learners hang together, and it takes 3\n"
	     "all steps: if no model changes from step to step, learns the model of learner 5, and x2+x3+x4\n"
	     "PRIVATE while models change: it learns no more than the mean in each round, but more from all "
	     "of "
	     "them if models do not change in between.\n");
	char *got = report(text, "1", true, &beyond_mean);
	assert_true(beyond_mean);
	assert_non_null(strstr(
		got, "\nNOT PRIVATE: it learns no more than the mean in each round, but more from all"));
	free(got);
}

TEST(test_no_round_at_all)
{
	says("learners 4\nstep 1-2 3-4\nstep 1-2\n", "1", false,
	     "steps 1 to 2: no round: 2 of 4 learners hang together, and it takes 3\n"
	     "PRIVATE: there is no round, and nothing to learn.\n");
	says("learners 4\nstep 1-2 3-4\nstep 1-2\n", "", false,
	     "PRIVATE: there is no round, and nothing to learn.\n");
}

TEST(test_nobody_is_named)
{
	says("learners 4\nstep 1-2 2-3 3-4\nstep 1-2 2-3 3-4 1-4\nstep 1-2 1-3 2-3 3-4\n", "", true,
	     "learner 2, step 1: learns the model of learner 1, and x3+x4\n"
	     "learner 3, step 1 (and 1 more): learns the model of learner 4, and x1+x2\n"
	     "NOT PRIVATE: 2 of 4 learners learn more than the mean. " FIX("1"));
}

TEST(test_nobody_is_weak)
{
	/* 6 holds those together who take no part */
	says("learners 7\nstep 1-2 2-3 3-4 1-4 5-6 6-7\n", "", false,
	     "PRIVATE: no learner learns more than the mean, which everybody gets.\n");
	says("learners 4\nstep 1-2 2-3 3-4 1-4\n", "", false,
	     "PRIVATE: no learner learns more than the mean, which everybody gets.\n");
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
