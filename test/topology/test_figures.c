/* What a step bears and costs, against what is known of small graphs and of the paper's. */
#include "test/lib/test.h"
#include "test/topology/schedules.h"

#include "tools/topology/ids.h"

#define PAPER_P 1020431
#define FLOATS 99 /* 100 elements, of 3 bytes at the paper's p */

struct world {
	struct sl_schedule schedule;
	struct sl_figures figures;
	struct sl_step_figures f; /* of the last step asked for */
};

static void ask(struct world *w, uint64_t p, bool exact)
{
	const struct sl_figures_request request = {.p = p, .floats = FLOATS, .exact = exact};
	assert_int_equal(sl_figures_open(&w->figures, &w->schedule, &request), SL_OK);
	assert_int_equal(sl_figures_step(&w->figures, 0, &w->f), SL_OK);
}

static void draw(struct world *w, const char *family, uint32_t n)
{
	w->schedule = draw_schedule(family, n, 1);
	ask(w, PAPER_P, true);
}

static void write(struct world *w, const char *text)
{
	w->schedule = schedule_of(text);
	ask(w, PAPER_P, true);
}

static void close_world(struct world *w)
{
	sl_figures_close(&w->figures);
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

TEST(test_star)
{
	struct world w;
	draw(&w, "star", 10);
	assert_int_equal(w.f.learners, 10);
	assert_int_equal(w.f.edges, 9);
	assert_int_equal(w.f.degree_min, 1);
	assert_int_equal(w.f.degree_max, 9);
	assert_true(w.f.degree_mean == 1.8 && w.f.parts == 1 && w.f.largest == 10);
	assert_true(w.f.mu > 0.89 && w.f.mu < 0.91);
	assert_int_equal(w.f.kappa, 1);
	ids_are(w.f.cut, w.f.cut_count, "1");
	ids_are(w.f.articulation, w.f.articulation_count, "1");
	assert_int_equal(w.f.exact, 2); /* protocol 7 */
	assert_int_equal(w.f.tree, 2);
	assert_int_equal(sl_figures_privacy_check(&w.f, 0), SL_PRIVACY_OPEN);
	assert_int_equal(sl_figures_privacy_check(&w.f, 1), SL_PRIVACY_CUT);
	close_world(&w);
}

TEST(test_line)
{
	struct world w;
	draw(&w, "line", 5);
	assert_int_equal(w.f.kappa, 1);
	ids_are(w.f.articulation, w.f.articulation_count, "2, 3 and 4");
	assert_int_equal(w.f.exact, 4);
	assert_int_equal(w.f.tree, 4);
	close_world(&w);
}

TEST(test_ring)
{
	struct world w;
	draw(&w, "ring", 6);
	assert_int_equal(w.f.kappa, 2);
	assert_int_equal(w.f.cut_count, 2);
	assert_int_equal(w.f.articulation_count, 0);
	assert_int_equal(w.f.tree, 6);
	assert_int_equal(sl_figures_privacy_check(&w.f, 1), SL_PRIVACY_OPEN);
	assert_int_equal(sl_figures_privacy_check(&w.f, 2), SL_PRIVACY_CUT);
	close_world(&w);
}

TEST(test_complete)
{
	struct world w;
	draw(&w, "complete", 5);
	assert_int_equal(w.f.kappa, 4);
	assert_int_equal(w.f.cut_count, 0);
	assert_int_equal(w.f.k, 1);
	assert_int_equal(w.f.exact, 1);
	assert_int_equal(w.f.tree, 2);
	assert_int_equal(sl_figures_privacy_check(&w.f, 3), SL_PRIVACY_OPEN); /* N - 2 may collude */
	assert_int_equal(sl_figures_privacy_check(&w.f, 4), SL_PRIVACY_FEW);
	assert_int_equal(sl_figures_privacy_check(&w.f, UINT32_MAX), SL_PRIVACY_FEW);
	close_world(&w);
}

TEST(test_parts)
{
	struct world w;
	write(&w, "learners 6\nstep 1-2 2-3 4-5\n");
	assert_int_equal(w.f.parts, 3);
	assert_int_equal(w.f.largest, 3);
	assert_int_equal(w.f.kappa, 0);
	assert_int_equal(w.f.cut_count, 0);
	ids_are(w.f.articulation, w.f.articulation_count, "2");
	assert_true(w.f.mu == 1 && w.f.k == UINT64_MAX && w.f.bytes_mean == 0 && w.f.bytes_most == 0);
	assert_true(w.f.exact == SL_FIGURE_NONE && w.f.tree == SL_FIGURE_NONE);
	assert_int_equal(sl_figures_privacy_check(&w.f, 0), SL_PRIVACY_PARTS);
	close_world(&w);
}

TEST(test_each_step_has_its_own)
{
	struct world w;
	write(&w, "learners 4\nstep 1-2 1-3 1-4\nstep 1-2 2-3 3-4 1-4\nstep\nstep 1-2 1-3 1-4 2-3 2-4 3-4\n");
	static const uint32_t kappa[] = {1, 2, 0, 3}, articulation[] = {1, 0, 0, 0};
	for (uint32_t s = 0; s < 4; s++) {
		assert_int_equal(sl_figures_step(&w.figures, s, &w.f), SL_OK);
		assert_int_equal(w.f.kappa, kappa[s]);
		assert_int_equal(w.f.articulation_count, articulation[s]);
	}
	close_world(&w);
}

/* A share of 3 bytes and K states of 8 to every neighbour, for each of n + 1 elements. */
TEST(test_bytes)
{
	struct world w;
	draw(&w, "star", 100);
	assert_int_equal(w.f.k, 2133);
	double edge = 100 * (3 + 8 * 2133.0);
	assert_true(w.f.bytes_most == 99 * edge);
	assert_true(w.f.bytes_mean == 1.98 * edge);
	w.figures.request.seeded = true;
	assert_int_equal(sl_figures_step(&w.figures, 0, &w.f), SL_OK);
	assert_true(w.f.bytes_most == 99 * (32 + 100 * 8 * 2133.0));
	close_world(&w);
}

TEST(test_the_exact_engine_may_be_skipped)
{
	struct world w;
	draw(&w, "star", 10);
	sl_figures_close(&w.figures);
	ask(&w, PAPER_P, false);
	assert_true(w.f.exact == SL_FIGURE_NONE && w.f.tree == 2 && w.f.k < UINT64_MAX);
	close_world(&w);
}

/* Where p leaves metropolis no room, and where p is too small for the exact engine. */
TEST(test_the_field)
{
	struct world w;
	draw(&w, "line", 400);
	assert_true(w.f.p_bits > 20 && w.f.p_bits < 31);
	sl_figures_close(&w.figures);
	ask(&w, 397, true);
	assert_true(w.f.exact == SL_FIGURE_NONE);
	close_world(&w);
}

static void expect_k(const char *text, uint64_t k, uint32_t exact)
{
	struct world w;
	draw(&w, text, 100);
	assert_int_equal(w.f.k, k);
	assert_int_equal(w.f.exact, exact);
	close_world(&w);
}

TEST(test_the_papers_graphs)
{
	expect_k("neighbours:20", 215, 6);
	expect_k("neighbours:40", 80, 3);
	expect_k("star", 2133, 2);
	expect_k("line", 65155, 99);
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
