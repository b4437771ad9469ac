#include "tools/web/report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/config/level.h"
#include "common/membership/group.h"
#include "tools/web/page.h"
#include "tools/web/rows.h"

#define DOCUMENTS_BYTES (16u << 20)
#define LOG_RECORDS 60u /* of one learner */

/* Return the setting `rounds` of the first learner of the folder; 0: not known. */
static uint64_t rounds_of(const char *folder)
{
	static const char *const names[] = {"learner-01", "learner-001", "learner-0001"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[PATH_MAX];
		struct sl_settings settings;
		struct sl_group group = {.version = 0};
		struct sl_error error = {0};
		bool read = snprintf(path, sizeof path, "%s/%s/config.yaml", folder, names[i]) < PATH_MAX &&
			    sl_group_load_settings(path, NULL, 0, &settings, &group, &error) == SL_OK;
		sl_group_close(&group);
		if (read)
			return settings.rounds;
	}
	return 0;
}

void sl_web_report_name(struct sl_timeline *timeline, const char *folder)
{
	char *absolute = realpath(folder, NULL);
	const char *slash = absolute != NULL ? strrchr(absolute, '/') : NULL;
	sl_timeline_name(timeline, slash != NULL ? slash + 1 : folder, rounds_of(folder));
	free(absolute);
}

struct file {
	char path[PATH_MAX], temporary[PATH_MAX];
	FILE *out;
};

static int open_file(struct file *file, const char *folder, const char *name, struct sl_error *error)
{
	int n = snprintf(file->path, sizeof file->path, "%s/%s", folder, name);
	if (n < 0 || snprintf(file->temporary, sizeof file->temporary, "%s/%s.new", folder, name) >= PATH_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the path is too long", folder);
	file->out = fopen(file->temporary, "we");
	if (file->out == NULL)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", file->path, strerror(errno));
	return SL_OK;
}

/* Give the file its name if it is whole; `code` is what has happened before. */
static int close_file(struct file *file, int code, struct sl_error *error)
{
	if (file->out == NULL)
		return code;
	bool whole = !ferror(file->out);
	whole = fclose(file->out) == 0 && whole;
	if (code == SL_OK && whole && rename(file->temporary, file->path) == 0)
		return SL_OK;
	int reason = errno;
	unlink(file->temporary);
	return code != SL_OK ? code : sl_err_set(error, SL_ERR_IO, "%s: %s", file->path, strerror(reason));
}

/* Write JSON that may stand in a script element: "<" opens no tag. */
static size_t write_json(FILE *out, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY);
	size_t size = text != NULL ? strlen(text) : 0;
	for (size_t i = 0; i < size; i++)
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			fputc(text[i], out);
	free(text);
	return size;
}

static size_t bytes_of(const json_t *document)
{
	return json_dumpb(document, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(9));
}

/* Return the first round whose document is in the page. */
static uint64_t first_kept(struct sl_timeline *timeline, uint64_t first, uint64_t last)
{
	size_t bytes = 0;
	for (uint64_t t = last; t != 0; t = sl_timeline_round_before(timeline, t)) {
		json_t *document = sl_timeline_round_json(timeline, t);
		bytes += document != NULL ? bytes_of(document) : 0;
		json_decref(document);
		if (bytes > DOCUMENTS_BYTES)
			return t + 1;
	}
	return first;
}

static void write_log(FILE *out, const struct sl_web_source *source, const json_t *run)
{
	size_t i;
	const json_t *learner;
	json_array_foreach(json_object_get(run, "learners"), i, learner)
	{
		uint64_t id = (uint64_t)json_integer_value(json_object_get(learner, "id"));
		json_t *log = sl_web_source_log(source, id, 0, SL_INFO, LOG_RECORDS);
		fprintf(out, "%s\"%llu\":", i > 0 ? "," : "", (unsigned long long)id);
		write_json(out, log);
		json_decref(log);
	}
}

static void write_round(FILE *files[static 3], const json_t *document, bool kept, const char *comma)
{
	json_t *row = sl_web_rows_round(document);
	fprintf(files[0], "%s{\"row\":", comma);
	write_json(files[0], row);
	if (kept) {
		fputs(",\"document\":", files[0]);
		write_json(files[0], document);
	}
	fputs("}", files[0]);
	sl_web_rows_csv_round(files[1], row);
	sl_web_rows_csv_learners(files[2], document);
	json_decref(row);
}

static void write_all(FILE *files[static 3], struct sl_timeline *timeline, const struct sl_web_source *source,
		      const json_t *run)
{
	uint64_t first = (uint64_t)json_integer_value(json_object_get(run, "first"));
	uint64_t last = (uint64_t)json_integer_value(json_object_get(run, "last"));
	uint64_t kept = first_kept(timeline, first, last);
	const char *comma = "";
	fwrite(sl_web_page.before.bytes, 1, sl_web_page.before.size, files[0]);
	if (kept > first)
		fprintf(files[0], "{\"text\":\"report; rounds before %llu only in the charts\",\"rounds\":[",
			(unsigned long long)kept);
	else
		fputs("{\"text\":\"report\",\"rounds\":[", files[0]);
	sl_web_rows_csv_rounds_head(files[1]);
	sl_web_rows_csv_learners_head(files[2]);
	for (uint64_t t = 0; (t = sl_timeline_changed_since(timeline, 0, t)) != 0;) {
		json_t *document = sl_timeline_round_json(timeline, t);
		if (document == NULL)
			continue;
		write_round(files, document, t >= kept, comma);
		comma = ",";
		json_decref(document);
	}
	fputs("],\"log\":{", files[0]);
	write_log(files[0], source, run);
	fputs("}}", files[0]);
	fwrite(sl_web_page.after.bytes, 1, sl_web_page.after.size, files[0]);
}

int sl_web_report_write(struct sl_timeline *timeline, const struct sl_web_source *source, const char *folder,
			struct sl_error *error)
{
	static const char *const names[3] = {"report.html", "rounds.csv", "learners.csv"};
	struct file files[3] = {0};
	FILE *out[3] = {NULL};
	json_t *run = sl_timeline_run_json(timeline);
	int code = SL_OK;
	if (json_integer_value(json_object_get(run, "last")) == 0)
		code = sl_err_set(error, SL_ERR_NOTFOUND, "%s: its logs tell of no round", folder);
	for (size_t i = 0; i < 3 && code == SL_OK; i++) {
		code = open_file(&files[i], folder, names[i], error);
		out[i] = files[i].out;
	}
	if (code == SL_OK)
		write_all(out, timeline, source, run);
	for (size_t i = 0; i < 3; i++)
		code = close_file(&files[i], code, error);
	json_decref(run);
	return code;
}
