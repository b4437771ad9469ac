/* Charts and the page around them. */
#include "test/lib/test.h"
#include "test/paper/written.h"

#include <math.h>

#include "tools/paper/page/chart.h"
#include "tools/paper/page/page.h"
#include "tools/paper/page/scale.h"
#include "tools/paper/page/thin.h"

/* ---- scales ---- */

static void ticks_are(bool log, double low, double high, const char *expected)
{
	const struct sl_scale scale = {log, low, high};
	double ticks[SL_TICKS_MOST];
	char text[512] = "", one[SL_TICK_BYTES];
	uint32_t count = sl_page_scale_ticks(&scale, ticks);
	for (uint32_t i = 0; i < count; i++) {
		sl_page_scale_tick_text(&scale, ticks[i], one);
		strcat(strcat(text, i > 0 ? " " : ""), one);
	}
	assert_string_equal(text, expected);
}

TEST(test_ticks)
{
	ticks_are(false, 0, 80, "0 20 40 60 80");
	ticks_are(false, -5.1, 5.1, "-4 -2 0 2 4");
	ticks_are(false, 0.07, 0.0725, "0.07 0.0705 0.071 0.0715 0.072 0.0725");
	ticks_are(false, 0, 65155, "0 10,000 20,000 30,000 40,000 50,000 60,000");
	ticks_are(false, -2000, 0, "-2,000 -1,500 -1,000 -500 0");
	ticks_are(true, 1, 65155, "1 10 100 1,000 10,000");
	ticks_are(true, 1e-9, 100, "10⁻⁹ 10⁻⁷ 10⁻⁵ 10⁻³ 10⁻¹ 10");
	ticks_are(true, 2e5, 1.2e7, "2×10⁵ 5×10⁵ 10⁶ 2×10⁶ 5×10⁶ 10⁷");
}

TEST(test_scale)
{
	struct sl_scale s = sl_page_scale_of(false, 0.3, 9.7, true);
	assert_true(s.low == 0 && s.high == 10 && sl_page_scale_place(&s, 2.5) == 0.25);
	s = sl_page_scale_of(true, 0.03, 30, true);
	assert_true(fabs(s.low - 0.02) < 1e-12 && fabs(s.high - 50) < 1e-9);
	assert_true(fabs(sl_page_scale_place(&s, 1) - 0.5) < 1e-12);
	s = sl_page_scale_of(true, 0.01, 100, true);
	assert_true(fabs(s.low - 0.01) < 1e-12 && fabs(s.high - 100) < 1e-9);
	s = sl_page_scale_of(false, 3, 3, false); /* one number */
	assert_true(s.low < 3 && s.high > 3);
	s = sl_page_scale_of(false, INFINITY, -INFINITY, true); /* none */
	assert_true(s.low < s.high);
	assert_false(sl_page_scale_takes(&(struct sl_scale){true, 1, 2}, 0));
	assert_false(sl_page_scale_takes(&(struct sl_scale){false, 1, 2}, NAN));
}

/* ---- thinning ---- */

static double distance_from(struct sl_point a, struct sl_point b, struct sl_point c)
{
	double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
	double along = fmin(1, fmax(0, (dx * (c.x - a.x) + dy * (c.y - a.y)) / length));
	return hypot(c.x - a.x - along * dx, c.y - a.y - along * dy);
}

/* Every point lies near a stretch of the thinned line. */
static void near_line(const struct sl_point *all, uint32_t count, const struct sl_point *kept,
		      uint32_t kept_count, double tolerance)
{
	for (uint32_t i = 0, s = 0; i < count; i++) {
		while (s + 2 < kept_count && kept[s + 1].x < all[i].x)
			s++;
		assert_true(distance_from(kept[s], kept[s + 1], all[i]) <= tolerance);
	}
}

TEST(test_thin)
{
	struct sl_point straight[50], walk[500], kept[500];
	for (int32_t i = 0; i < 50; i++)
		straight[i] = (struct sl_point){10 * i, 20 * i};
	assert_int_equal(sl_page_thin(straight, 50, 3), 2);
	assert_int_equal(straight[1].x, 490);
	assert_int_equal(sl_page_thin(straight, 1, 3), 1);
	assert_int_equal(sl_page_thin(straight, 0, 3), 0);
	for (int32_t i = 0; i < 500; i++)
		kept[i] = walk[i] = (struct sl_point){7 * i, (i * i * 37 + i * 11) % 23 + (i / 100) * 300};
	uint32_t count = sl_page_thin(kept, 500, 15);
	assert_true(count > 10 && count < 250);
	assert_int_equal(kept[count - 1].x, walk[499].x);
	near_line(walk, 500, kept, count, 15);
}

/* ---- charts ---- */

static char *text_of(const struct sl_chart *chart)
{
	struct written w;
	write_open(&w);
	sl_page_chart_write(chart, w.out);
	return write_close(&w);
}

static const double ramp[] = {0, 5, 10};

/* The first "M x y" of the pen's path, and the sum of what follows: its two ends. */
static void ends_of(const char *text, int *x1, int *y1, int *x2, int *y2)
{
	int dx, dy, used;
	const char *path = strstr(text, "class=\"pen");
	assert_non_null(path);
	path = strstr(path, "d=\"M");
	assert_int_equal(sscanf(path, "d=\"M%d %d%n", x1, y1, &used), 2);
	*x2 = *x1;
	*y2 = *y1;
	for (path += used; sscanf(path, "%*[l ]%d %d%n", &dx, &dy, &used) == 2 ||
			   sscanf(path, "%d %d%n", &dx, &dy, &used) == 2;
	     path += used) {
		*x2 += dx;
		*y2 += dy;
	}
}

TEST(test_places)
{
	int x1, y1, x2, y2;
	const struct sl_series series = {.x = ramp, .y = ramp, .count = 3, .pen = SL_PEN_1};
	struct sl_chart chart = {.title = "a < b",
				 .x = {.label = "x & y", .low = 0, .high = 20},
				 .y = {.label = "y", .low = 0, .high = 10},
				 .series = &series,
				 .series_count = 1};
	char *text = text_of(&chart);
	ends_of(text, &x1, &y1, &x2, &y2);
	assert_int_equal(y1, 10 * (240 - 36)); /* at the bottom */
	assert_int_equal(y2, 10 * 38);	       /* at the top */
	has(text, "a &lt; b");
	has(text, "x &amp; y");
	double left = x1 / 10.0, right = left + 2 * (x2 - x1) / 10.0; /* it ends in the middle */
	assert_true(left > 12 && left < 40 && right > 320 && right <= 360);
	free(text);
}

TEST(test_interrupted)
{
	const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 10, 0, 10, 100};
	const struct sl_series series = {.x = x, .y = y, .count = 5, .pen = SL_PEN_2};
	struct sl_chart chart = {.title = "",
				 .x = {.label = ""},
				 .y = {.label = "", .log = true},
				 .series = &series,
				 .series_count = 1};
	char *text = text_of(&chart), *path = strstr(text, "class=\"pen pen1\" d=\"");
	assert_non_null(path);
	*strstr(path, "/>") = '\0';
	assert_int_equal(count_of(path, "M"), 2);
	free(text);
}

static double height_of(const char *text, const char *label)
{
	char end[64];
	double y;
	snprintf(end, sizeof end, "\">%s</text>", label);
	const char *at = strstr(text, end);
	assert_non_null(at);
	while (strncmp(at, "y=\"", 3) != 0)
		at--;
	assert_int_equal(sscanf(at, "y=\"%lf", &y), 1);
	return y;
}

/* Lines that end together have labels one below the other, in the picture. */
TEST(test_labels)
{
	const double low[] = {0, 0, 0};
	const struct sl_series series[] = {
		{.label = "one", .x = ramp, .y = low, .count = 3, .pen = SL_PEN_1},
		{.label = "two", .x = ramp, .y = low, .count = 3, .pen = SL_PEN_2},
		{.label = "far", .x = ramp, .y = ramp, .count = 3, .pen = SL_PEN_3}};
	struct sl_chart chart = {
		.title = "", .x = {.label = ""}, .y = {.label = ""}, .series = series, .series_count = 3};
	char *text = text_of(&chart);
	double one = height_of(text, "one"), two = height_of(text, "two"), far = height_of(text, "far");
	assert_true(fabs(one - two) >= 12 && one <= 240 - 30 && two <= 240 - 30 && far < 60);
	free(text);
}

TEST(test_marks)
{
	const struct sl_series series = {.x = ramp, .y = ramp, .count = 3, .pen = SL_PEN_1};
	const struct sl_mark marks[] = {{false, 5, "here"}, {true, 7, "so high"}, {false, 99, "outside"}};
	struct sl_chart chart = {.title = "",
				 .x = {.label = "", .low = 0, .high = 10},
				 .y = {.label = ""},
				 .series = &series,
				 .series_count = 1,
				 .marks = marks,
				 .mark_count = 3};
	char *text = text_of(&chart);
	assert_int_equal(count_of(text, "class=\"mark\""), 2);
	has(text, ">here<");
	assert_null(strstr(text, "outside"));
	free(text);
}

/* ---- the page ---- */

#define DEPTH_MOST 32

/* Every element is closed where it has to be. */
static void nested(const char *text)
{
	static const char *const bare[] = {"!DOCTYPE", "meta", "tr", NULL};
	char stack[DEPTH_MOST][16];
	int depth = 0;
	for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at + 1, '<')) {
		char name[16] = "";
		const char *end = strchr(at, '>');
		assert_non_null(end);
		sscanf(at + 1 + (at[1] == '/'), "%15[a-zA-Z0-9!]", name);
		bool skip = end[-1] == '/';
		for (int b = 0; bare[b] != NULL; b++)
			skip = skip || strcmp(name, bare[b]) == 0;
		if (skip)
			continue;
		if (at[1] != '/') {
			assert_true(depth < DEPTH_MOST);
			strcpy(stack[depth++], name);
			continue;
		}
		assert_true(depth > 0);
		assert_string_equal(stack[--depth], name);
	}
	assert_int_equal(depth, 0);
}

static void write_page(FILE *out)
{
	static const char *const heads[] = {"a", "b"};
	const struct sl_series series = {
		.label = "l", .x = ramp, .y = ramp, .count = 3, .pen = SL_PEN_1, .dots = true};
	struct sl_chart chart = {
		.title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .series = &series, .series_count = 1};
	sl_page_open(out, "Title & more");
	sl_page_heading(out, "one", "1 < 2");
	sl_page_text(out, "%d %s", 7, "<script>");
	sl_page_figure_open(out);
	sl_page_chart_write(&chart, out);
	sl_page_figure_close(out, "x.csv", "caption");
	sl_page_table_open(out, heads, 2);
	sl_page_row(out);
	sl_page_cell(out, SL_CELL_TEXT, "x");
	sl_page_cell(out, SL_CELL_BAD, "%d", 9);
	sl_page_table_close(out, NULL);
	sl_page_close(out);
}

TEST(test_page)
{
	static const char *const foreign[] = {"http", "<script", "src=", "url(", "@import", "<link", NULL};
	struct written w;
	write_open(&w);
	write_page(w.out);
	char *text = write_close(&w);
	nested(text);
	has(text, "<title>Title &amp; more</title>");
	has(text, "7 &lt;script&gt;");
	has(text, "<td class=\"bad\">9</td>");
	has(text, "prefers-color-scheme:dark");
	has(text, "@media print");
	has(text, "href=\"x.csv\"");
	for (int i = 0; foreign[i] != NULL; i++)
		assert_null(strstr(text, foreign[i]));
	free(text);
}
