/* Bytes and limits of a step. topology.sh has the other figures, for graphs of the paper and small ones. */
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

static void draw(struct world *w, const char *family, uint32_t n)
{
	w->schedule = draw_schedule(family, n, 1);
	ask(w, PAPER_P, SL_ENGINE_SET_ALL);
}

static void close_world(struct world *w)
{
	sl_figures_close(&w->f);
	sl_schedule_close(&w->schedule);
}

static void ids_are(const uint32_t *vertices, uint32_t count, const char *expected)
{
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof text, "w");
	sl_ids_write(out, vertices, count);
	fclose(out);
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

/* By the default engine, exact: a share and deg r = 2 states, of 20 bits each, for each of n + 1 elements, to
 * every neighbour. */
TEST(test_bytes)
{
	struct world w;
	draw(&w, "star", 100);
	assert_int_equal(w.f.engine, SL_ENGINE_EXACT);
	double edge = 250 * (1 + 2.0);
	assert_true(w.f.bytes_most == 99 * edge);
	assert_true(w.f.bytes_mean == 1.98 * edge);
	w.f.request.seeded = true;
	assert_int_equal(sl_figures_step(&w.f, 0), SL_OK);
	assert_true(w.f.bytes_most == 99 * (32 + 250 * 2.0));
	close_world(&w);
}

/* Where p is too small for exact, the default engine falls back on metropolis, with states of 8 bytes. */
TEST(test_bytes_of_the_fallback)
{
	struct world w = {.schedule = draw_schedule("star", 100, 1)};
	ask(&w, 97, SL_ENGINE_SET_ALL);
	assert_int_equal(w.f.engine, SL_ENGINE_METROPOLIS);
	assert_true(w.f.bytes_most == 99 * (88 + 88 + 100 * 8 * ((double)w.f.k - 1)));
	close_world(&w);
}

/* Where p leaves metropolis no room, and where p is too small for the exact engine. */
TEST(test_the_field)
{
	struct world w;
	draw(&w, "line", 400);
	assert_true(w.f.p_bits > 20 && w.f.p_bits < 31);
	sl_figures_close(&w.f);
	ask(&w, 397, SL_ENGINE_SET_ALL);
	assert_int_equal(w.f.analysis.degree, 0);
	close_world(&w);
}

TEST(test_ids_in_a_sentence)
{
	uint32_t vertices[20];
	for (uint32_t i = 0; i < 20; i++)
		vertices[i] = i + 2;
	ids_are(vertices, 1, "3");
	ids_are(vertices, 2, "3 and 4");
	ids_are(vertices, 3, "3, 4 and 5");
	ids_are(vertices, 8, "3, 4, 5, 6, 7, 8, 9 and 10");
	ids_are(vertices, 9, "3, 4, 5, 6, 7, 8, 9, 10, ... and 1 more");
	ids_are(vertices, 20, "3, 4, 5, 6, 7, 8, 9, 10, ... and 12 more");
}
