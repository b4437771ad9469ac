/* Tables for programs and for people, fits, and files that appear all at once. */
#include "test/lib/test.h"
#include "test/paper/written.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/lib/csv.h"
#include "tools/lib/fit.h"
#include "tools/paper/folder.h"
#include "tools/paper/grid.h"

TEST(test_csv)
{
	struct written w;
	struct sl_csv csv;
	write_open(&w);
	sl_csv_open(&csv, w.out, "a,b,c");
	sl_csv_text(&csv, "plain");
	sl_csv_text(&csv, "with \"quotes\", and commas");
	sl_csv_whole(&csv, -7);
	sl_csv_end(&csv);
	sl_csv_real(&csv, 0.1);
	sl_csv_real(&csv, (double)NAN);
	sl_csv_real(&csv, 1.0 / 3);
	sl_csv_end(&csv);
	char *text = write_close(&w);
	assert_string_equal(
		text, "a,b,c\r\nplain,\"with \"\"quotes\"\", and commas\",-7\r\n0.1,,0.3333333333333333\r\n");
	free(text);
}

TEST(test_fit)
{
	const double x[] = {1, 2, 4, 8}, y[] = {5, 7, 11, 19}, power[] = {3, 12, 48, 192};
	struct sl_line line = sl_fit_line(x, y, 4);
	assert_true(fabs(line.slope - 2) < 1e-12 && fabs(line.intercept - 3) < 1e-12);
	assert_true(fabs(sl_fit_exponent(x, power, 4) - 2) < 1e-12);
	assert_true(sl_fit_off(x, y, 4) < 1e-12);
	assert_true(isnan(sl_fit_line(x, y, 2).slope) && isnan(sl_fit_exponent(x, y, 2)) &&
		    isnan(sl_fit_off(x, y, 2)));
	assert_true(sl_fit_off(x, power, 4) >
		    1); /* a parabola is no line: at its foot it is off by more than its height */
}

TEST(test_grid)
{
	static const uint32_t shares[] = {1, 1, 0}, least[] = {0, 0, 4};
	const char *const cells[] = {"words that go on", "λ₂ λ₂ λ₂", "end"};
	struct written w;
	struct sl_grid grid;
	write_open(&w);
	sl_paper_grid_open(&grid, w.out, 3, shares, least, 24); /* 8, 8 and 4, with two gaps of 2 */
	sl_paper_grid_row(&grid, cells);
	sl_paper_grid_rule(&grid);
	const char *const long_word[] = {"", "antidisestablished", "x"};
	sl_paper_grid_row(&grid, long_word);
	char *text = write_close(&w);
	assert_string_equal(text, "words     λ₂ λ₂ λ₂  end\n"
				  "that go\n"
				  "on\n"
				  "------------------------\n"
				  "          antidise  x\n"
				  "          stablish\n"
				  "          ed\n");
	free(text);
}

/* ---- files ---- */

struct place {
	char folder[64], report[96];
};

static void make_place(struct place *p)
{
	strcpy(p->folder, "/tmp/report-XXXXXX");
	assert_non_null(mkdtemp(p->folder));
	snprintf(p->report, sizeof p->report, "%s/report", p->folder);
}

static bool is_there(const struct place *p, const char *name)
{
	char path[160];
	snprintf(path, sizeof path, "%s/%s", p->report, name);
	return access(path, F_OK) == 0;
}

static void remove_place(const struct place *p)
{
	char path[160];
	snprintf(path, sizeof path, "%s/a.csv", p->report);
	unlink(path);
	rmdir(p->report);
	assert_int_equal(rmdir(p->folder), 0); /* nothing else was left */
}

static void write_report(struct sl_paper_folder *folder, const struct place *p, const char *text)
{
	struct sl_error error = {0};
	assert_int_equal(sl_paper_folder_open(folder, p->report, &error), SL_OK);
	FILE *out = sl_paper_folder_file(folder, "a.csv", &error);
	assert_non_null(out);
	fputs(text, out);
}

static void content_is(const struct place *p, const char *expected)
{
	char path[160], text[64] = "";
	snprintf(path, sizeof path, "%s/a.csv", p->report);
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	assert_non_null(fgets(text, sizeof text, in));
	fclose(in);
	assert_string_equal(text, expected);
}

TEST(test_folder)
{
	struct place p;
	struct sl_paper_folder folder;
	struct sl_error error = {0};
	make_place(&p);
	write_report(&folder, &p, "never");
	sl_paper_folder_drop(&folder); /* and its folder goes */
	assert_int_equal(access(p.report, F_OK), -1);
	write_report(&folder, &p, "first");
	assert_false(is_there(&p, "a.csv"));
	assert_int_equal(sl_paper_folder_commit(&folder, &error), SL_OK);
	content_is(&p, "first");
	write_report(&folder, &p, "second");
	content_is(&p, "first");
	sl_paper_folder_drop(&folder);
	content_is(&p, "first");
	assert_false(is_there(&p, ".a.csv.part"));
	remove_place(&p);
}

/* What cannot be written whole has no name. */
TEST(test_full_disk)
{
	struct place p;
	struct sl_paper_folder folder;
	struct sl_error error = {0};
	make_place(&p);
	write_report(&folder, &p, "x");
	fclose(folder.files[0].out);
	folder.files[0].out = fopen("/dev/full", "w");
	assert_non_null(folder.files[0].out);
	fputs("more than there is room for", folder.files[0].out);
	assert_int_equal(sl_paper_folder_commit(&folder, &error), SL_ERR_IO);
	has(error.text, "a.csv: No space left on device");
	assert_false(is_there(&p, "a.csv"));
	sl_paper_folder_drop(&folder);
	remove_place(&p);
}

TEST(test_no_folder)
{
	struct sl_paper_folder folder;
	struct sl_error error = {0};
	assert_int_equal(sl_paper_folder_open(&folder, "/dev/null/report", &error), SL_ERR_IO);
	has(error.text, "/dev/null/report");
	assert_int_equal(sl_paper_folder_open(&folder, "/dev/null", &error),
			 SL_ERR_IO); /* it exists; no folder, though */
	sl_paper_folder_drop(&folder);
}
