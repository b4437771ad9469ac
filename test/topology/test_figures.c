/* The privacy of a step. topology.sh has the other figures, for graphs of the paper and small ones. */
#include "test/lib/test.h"
#include "test/topology/schedules.h"

#include "tools/topology/figures.h"
#include "tools/topology/ids.h"

#define PAPER_P 1020431
#define FLOATS 99 /* 100 elements, of 3 bytes at the paper's p */

struct world {
	struct sl_schedule schedule;
	struct sl_figures f; /* of the last step asked for */
};

static void ask(struct world *w, uint64_t p, uint32_t engines)
{
	const struct sl_figures_request request = {.analysis = {.tolerance = 1,
								.kappa_most = SL_LEARNERS_MAX,
								.missing = true,
								.engines = engines},
						   .p = p,
						   .floats = FLOATS};
	assert_int_equal(sl_figures_open(&w->f, &w->schedule, &request), SL_OK);
	assert_int_equal(sl_figures_step(&w->f, 0), SL_OK);
}

static void close_world(struct world *w)
{
	sl_figures_close(&w->f);
	sl_schedule_close(&w->schedule);
}

static void ids_are(const uint32_t *vertices, uint32_t count, const char *expected)
{
	char text[256] = "";
	sl_ids_text(vertices, count, text, sizeof text);
	assert_string_equal(text, expected);
}

TEST(test_each_step_has_its_own)
{
	struct world w;
	w.schedule = schedule_of(
		"learners 4\nstep 1-2 1-3 1-4\nstep 1-2 2-3 3-4 1-4\nstep\nstep 1-2 1-3 1-4 2-3 2-4 3-4\n");
	ask(&w, PAPER_P, SL_ENGINE_SET_ALL);
	static const uint32_t kappa[] = {1, 2, 0, 3}, articulation[] = {1, 0, 0, 0};
	for (uint32_t s = 0; s < 4; s++) {
		assert_int_equal(sl_figures_step(&w.f, s), SL_OK);
		assert_int_equal(w.f.analysis.kappa, kappa[s]);
		assert_int_equal(w.f.analysis.kappa <= 1 ? w.f.analysis.cut_count : 0, articulation[s]);
	}
	close_world(&w);
}

TEST(test_p_too_small_for_exact)
{
	struct world w = {.schedule = draw_schedule("line", 400, 1)};
	ask(&w, 397, SL_ENGINE_SET_ALL);
	assert_int_equal(w.f.analysis.degree, 0);
	close_world(&w);
}

TEST(test_ids_in_a_sentence)
{
	uint32_t vertices[20];
	for (uint32_t i = 0; i < 20; i++)
		vertices[i] = i + 2;
	ids_are(vertices, 1, "learner 3");
	ids_are(vertices, 2, "learners 3 and 4");
	ids_are(vertices, 3, "learners 3, 4 and 5");
	ids_are(vertices, 8, "learners 3, 4, 5, 6, 7, 8, 9 and 10");
	ids_are(vertices, 9, "learners 3, 4, 5, 6, 7, 8, 9, 10, ... and 1 more");
	ids_are(vertices, 20, "learners 3, 4, 5, 6, 7, 8, 9, 10, ... and 12 more");
}
