/* Tables for programs, fits, values in templates, and files that appear all at once. */
#include "test/lib/test.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/lib/fit.h"
#include "tools/paper/csv.h"
#include "tools/paper/folder.h"
#include "tools/paper/values.h"

struct written {
	FILE *out;
	char *text;
	size_t bytes;
};

static void write_open(struct written *w)
{
	w->out = open_memstream(&w->text, &w->bytes);
	assert_non_null(w->out);
}

/* Compare all that was written. */
static void written_is(struct written *w, const char *expected)
{
	assert_int_equal(fclose(w->out), 0);
	assert_string_equal(w->text, expected);
	free(w->text);
}

TEST(test_csv)
{
	struct written w;
	write_open(&w);
	sl_csv_print(w.out, "a,b,c\n%s,%s,%u\n", "plain", "with \"quotes\", and commas", 7u);
	sl_csv_print(w.out, "%g,%g,%g,%" PRIu64 "\n", 0.1, (double)NAN, 1.0 / 3, UINT64_MAX);
	written_is(&w, "a,b,c\r\nplain,\"with \"\"quotes\"\", and commas\",7\r\n"
		       "0.1,,0.3333333333333333,18446744073709551615\r\n");
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

TEST(test_values)
{
	static struct sl_paper r = {.options.parts = 2};
	struct written w;
	sl_paper_value(&r, "list", "'%s'", "one");
	sl_paper_value(&r, "list", "%d", 2);
	sl_paper_value(&r, "li", "other");
	write_open(&w);
	sl_values_write(&r, "before\n%a\nof a: @li@\n%b\n\n[@list@] and @li@\n@li@ ends\n%c\nof c\n", w.out);
	written_is(&w, "before\n\n['one', 2] and other\nother ends\n");
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
	FILE *out = sl_paper_folder_file(folder, "a.csv");
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

/* A file that cannot be written completely does not get its name. */
TEST(test_full_disk)
{
	struct place p;
	struct sl_paper_folder folder;
	struct sl_error error = {0};
	char part[160];
	make_place(&p);
	write_report(&folder, &p, "x");
	snprintf(part, sizeof part, "%s/.a.csv.part", p.report);
	assert_int_equal(symlink("/dev/full", part), 0);
	assert_int_equal(sl_paper_folder_commit(&folder, &error), SL_ERR_IO);
	assert_non_null(strstr(error.text, "a.csv: No space left on device"));
	assert_false(is_there(&p, "a.csv"));
	sl_paper_folder_drop(&folder);
	remove_place(&p);
}

TEST(test_no_folder)
{
	struct sl_paper_folder folder;
	struct sl_error error = {0};
	assert_int_equal(sl_paper_folder_open(&folder, "/dev/null/report", &error), SL_ERR_IO);
	assert_non_null(strstr(error.text, "/dev/null/report"));
	assert_int_equal(sl_paper_folder_open(&folder, "/dev/null", &error),
			 SL_ERR_IO); /* it exists; no folder, though */
	sl_paper_folder_drop(&folder);
}
