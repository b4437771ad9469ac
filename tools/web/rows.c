#include "tools/web/rows.h"

#include <string.h>
#include <strings.h>

#include "common/protocol/phase.h"

static const char *const round_fields[] = {
	"round",  "start",     "seconds",   "attempts",	     "participants", "edges",
	"mixing", "exchanges", "tolerance", "cut_vertices",  "bytes_sent",   "loss",
	"mse",	  "same",      "slowest",   "slowest_phase", "slowest_s"};
#define ROUND_FIELDS (sizeof round_fields / sizeof round_fields[0])

/* ---- a round ---- */

/* Return the size of an array, or NULL: there is none. */
static json_t *size_of(const json_t *object, const char *name)
{
	const json_t *array = json_object_get(object, name);
	return array != NULL ? json_integer((json_int_t)json_array_size(array)) : NULL;
}

/* The last attempt that has a view: others have no graph. */
static const json_t *last_view(const json_t *attempts)
{
	for (size_t i = json_array_size(attempts); i-- > 0;) {
		const json_t *attempt = json_array_get(attempts, i);
		if (json_is_array(json_object_get(attempt, "edges")))
			return attempt;
	}
	return NULL;
}

static json_t *name_of(const json_t *document, json_int_t id)
{
	size_t i;
	const json_t *learner;
	json_array_foreach(json_object_get(document, "learners"), i,
			   learner) if (json_integer_value(json_object_get(learner, "id")) ==
					id) return json_object_get(learner, "name");
	return NULL;
}

/* Return the sum of a field over the learners, or its mean; NULL if no learner has it. */
static json_t *over_learners(const json_t *document, const char *field, bool mean)
{
	size_t i, count = 0;
	double sum = 0;
	const json_t *learner;
	json_array_foreach(json_object_get(document, "learners_of_round"), i, learner)
	{
		const json_t *value = json_object_get(learner, field);
		if (json_is_number(value)) {
			sum += json_number_value(value);
			count++;
		}
	}
	if (count == 0)
		return NULL;
	return mean ? json_real(sum / (double)count) : json_integer((json_int_t)sum);
}

json_t *sl_web_rows_round(const json_t *document)
{
	const json_t *view = last_view(json_object_get(document, "attempts")),
		     *slowest = json_object_get(document, "slowest"),
		     *end = json_object_get(document, "end_s");
	double start_s = json_number_value(json_object_get(document, "start_s"));
	return json_pack(
		"{s:O?, s:O?, s:o?, s:o?, s:o?, s:o?, s:O?, s:O?, s:O?, s:o?, s:o?, s:O?, s:o?, s:O?, s:O?, "
		"s:O?, s:O?}",
		"round", json_object_get(document, "round"), "start", json_object_get(document, "start"),
		"seconds", json_is_number(end) ? json_real(json_number_value(end) - start_s) : NULL,
		"attempts", size_of(document, "attempts"), "participants", size_of(view, "participants"),
		"edges", size_of(view, "edges"), "mixing", json_object_get(view, "mixing"), "exchanges",
		json_object_get(view, "steps"), "tolerance", json_object_get(view, "tolerance"),
		"cut_vertices", size_of(view, "cut_vertices"), "bytes_sent",
		over_learners(document, "bytes_sent", false), "loss", json_object_get(document, "loss"),
		"mse", over_learners(document, "mse", true), "same", json_object_get(document, "same"),
		"slowest", name_of(document, json_integer_value(json_object_get(slowest, "learner"))),
		"slowest_phase", json_object_get(slowest, "phase"), "slowest_s",
		json_object_get(slowest, "s"));
}

/* ---- CSV ---- */

/* Write a text in quotes. A spreadsheet takes a text that begins with one of =+-@ for a formula: it gets an
 * apostrophe. */
static void csv_text(FILE *out, const char *text)
{
	fputc('"', out);
	if (*text != '\0' && strchr("=+-@\t\r", *text) != NULL)
		fputc('\'', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void csv_value(FILE *out, const json_t *value)
{
	if (json_is_string(value))
		csv_text(out, json_string_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "true" : "false", out);
	else if (json_is_integer(value))
		fprintf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		fprintf(out, "%.9g", json_real_value(value));
}

void sl_web_rows_csv_rounds_head(FILE *out)
{
	for (size_t i = 0; i < ROUND_FIELDS; i++)
		fprintf(out, "%s%s", i > 0 ? "," : "", round_fields[i]);
	fputs("\n", out);
}

void sl_web_rows_csv_round(FILE *out, const json_t *row)
{
	for (size_t i = 0; i < ROUND_FIELDS; i++) {
		if (i > 0)
			fputc(',', out);
		csv_value(out, json_object_get(row, round_fields[i]));
	}
	fputs("\n", out);
}

static const char *const learner_fields[] = {"train_s", "bytes_sent", "bytes_received",
					     "loss",	"mse",	      "digest"};
#define LEARNER_FIELDS (sizeof learner_fields / sizeof learner_fields[0])

void sl_web_rows_csv_learners_head(FILE *out)
{
	fputs("round,learner,name,committed_s,waited_s", out);
	for (size_t i = 0; i < LEARNER_FIELDS; i++)
		fprintf(out, ",%s", learner_fields[i]);
	for (int p = 0; p < SL_PHASE_COUNT; p++) {
		fputs(",in_", out);
		for (const char *c = sl_phase_name((enum sl_phase)p); *c != '\0'; c++)
			fputc(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c, out);
		fputs("_s", out);
	}
	fputs("\n", out);
}

/* Return the seconds of all intervals that have an end; of one phase, unless `phase` is NULL. */
static double seconds_of(const json_t *intervals, const char *phase)
{
	size_t i;
	const json_t *interval;
	double sum = 0;
	json_array_foreach(intervals, i, interval)
	{
		const char *of = json_string_value(json_object_get(interval, "phase"));
		const json_t *to = json_object_get(interval, "to_s");
		if (json_is_number(to) && (phase == NULL || (of != NULL && strcasecmp(of, phase) == 0)))
			sum += json_number_value(to) - json_number_value(json_object_get(interval, "from_s"));
	}
	return sum;
}

static void csv_learner(FILE *out, const json_t *document, const json_t *learner)
{
	const json_t *id = json_object_get(learner, "learner"),
		     *committed = json_object_get(learner, "committed_s");
	csv_value(out, json_object_get(document, "round"));
	fputc(',', out);
	csv_value(out, id);
	fputc(',', out);
	csv_value(out, name_of(document, json_integer_value(id)));
	fputc(',', out);
	if (json_is_number(committed))
		fprintf(out, "%.6f",
			json_number_value(committed) -
				json_number_value(json_object_get(document, "start_s")));
	fprintf(out, ",%.6f", seconds_of(json_object_get(learner, "waits"), NULL));
	for (size_t i = 0; i < LEARNER_FIELDS; i++) {
		fputc(',', out);
		csv_value(out, json_object_get(learner, learner_fields[i]));
	}
	for (int p = 0; p < SL_PHASE_COUNT; p++)
		fprintf(out, ",%.6f",
			seconds_of(json_object_get(learner, "spans"), sl_phase_name((enum sl_phase)p)));
	fputs("\n", out);
}

void sl_web_rows_csv_learners(FILE *out, const json_t *document)
{
	size_t i;
	const json_t *learner;
	json_array_foreach(json_object_get(document, "learners_of_round"), i, learner)
		csv_learner(out, document, learner);
}
