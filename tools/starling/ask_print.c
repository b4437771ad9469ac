/* The answer as text: numbers with the decimals that were typed, or JSON. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "tools/starling/ask.h"

#define MEAN_DECIMALS 2u /* of a mean, beyond those that were typed */

static int64_t rows_of(const struct sl_question *q, const struct sl_ask_answer *answer)
{
	int64_t rows = 0;
	bool one = q->options.kind == SL_QUESTION_MEAN || q->options.kind == SL_QUESTION_SUM;
	for (size_t i = one ? 1 : 0; i < q->count; i++)
		rows += sl_decimal_trim(answer->totals[i], 0).digits;
	return rows;
}

/* A string of JSON, or null. */
static void put_string(FILE *out, const char *text)
{
	json_t *string = text != NULL ? json_string(text) : json_null();
	json_dumpf(string, out, JSON_ENCODE_ANY);
	json_decref(string);
}

static void put_count(const struct sl_ask_answer *answer, size_t i, FILE *out)
{
	fprintf(out, "%" PRId64, sl_decimal_trim(answer->totals[i], 0).digits);
}

/* ---- a sum and a mean ---- */

static int print_number(const struct sl_ask_options *o, const struct sl_question *q,
			const struct sl_ask_answer *answer, FILE *out, struct sl_error *error)
{
	char sum_text[SL_DECIMAL_BYTES], mean_text[SL_DECIMAL_BYTES] = "null";
	struct sl_decimal sum = sl_decimal_trim(answer->totals[0], q->decimals);
	int64_t rows = rows_of(q, answer);
	bool mean = q->options.kind == SL_QUESTION_MEAN;
	sl_decimal_text(&sum, sum_text);
	if (mean && rows == 0)
		return sl_err_set(error, SL_ERR_NOTFOUND, "no learner has a row: there is no mean");
	if (mean) {
		struct sl_decimal value = sl_decimal_divide(&sum, rows, sum.decimals + MEAN_DECIMALS);
		sl_decimal_text(&value, mean_text);
	}
	if (o->json && mean)
		fprintf(out, "\"mean\": %s, ", mean_text);
	if (o->json)
		fprintf(out, "\"sum\": %s, ", sum_text);
	else
		fprintf(out, "%s\n", mean ? mean_text : sum_text);
	return SL_OK;
}

/* ---- counts ---- */

static void print_categories(const struct sl_question *q, const struct sl_ask_answer *answer, FILE *out)
{
	size_t width = 0;
	for (size_t i = 0; i < q->count; i++)
		width = strlen(q->cells[i].label) > width ? strlen(q->cells[i].label) : width;
	for (size_t i = 0; i < q->count; i++) {
		fprintf(out, "%-*s ", (int)width, q->cells[i].label);
		put_count(answer, i, out);
		fputc('\n', out);
	}
}

/* Print "[0, 10) 3" for each bin, "< 0" and ">= 30" for the values outside. */
static void print_bins(const struct sl_question *q, const struct sl_ask_answer *answer, FILE *out)
{
	char range[3 * SL_TENSOR_NAME_BYTES];
	for (size_t i = 0; i < q->count; i++) {
		const char *from = q->cells[i].label, *to = i + 1 < q->count ? q->cells[i + 1].label : NULL;
		if (i == 0)
			snprintf(range, sizeof range, "< %s", to);
		else if (to == NULL)
			snprintf(range, sizeof range, ">= %s", from);
		else
			snprintf(range, sizeof range, "[%s, %s)", from, to);
		fprintf(out, "%-16s ", range);
		put_count(answer, i, out);
		fputc('\n', out);
	}
}

static void json_categories(const struct sl_question *q, const struct sl_ask_answer *answer, FILE *out)
{
	fputs("\"counts\": {", out);
	for (size_t i = 0; i < q->count; i++) {
		fputs(i > 0 ? ", " : "", out);
		put_string(out, q->cells[i].label);
		fputs(": ", out);
		put_count(answer, i, out);
	}
	fputs("}, ", out);
}

static void json_bins(const struct sl_question *q, const struct sl_ask_answer *answer, FILE *out)
{
	fputs("\"bins\": [", out);
	for (size_t i = 0; i < q->count; i++) {
		fprintf(out, "%s{\"from\": %s, \"to\": %s, \"count\": ", i > 0 ? ", " : "",
			i > 0 ? q->cells[i].label : "null",
			i + 1 < q->count ? q->cells[i + 1].label : "null");
		put_count(answer, i, out);
		fputc('}', out);
	}
	fputs("], ", out);
}

/* ---- arrays ---- */

static int print_array(const struct sl_ask_options *o, const struct sl_question *q,
		       const struct sl_ask_answer *answer, FILE *out, struct sl_error *error)
{
	struct sl_npy array = q->array;
	array.values = answer->array;
	if (o->output != NULL && sl_npy_write(o->output, &array) < 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", o->output, strerror(errno));
	if (o->json)
		fprintf(out, "\"elements\": %zu, ", array.elements);
	else if (o->output == NULL)
		for (size_t i = 0; i < array.elements; i++)
			fprintf(out, "%.15g\n", array.values[i]);
	return SL_OK;
}

int sl_ask_print(const struct sl_ask_options *options, const struct sl_question *question,
		 const struct sl_ask_answer *answer, FILE *out, FILE *notes, struct sl_error *error)
{
	bool array = question->array.values != NULL;
	enum sl_question_kind kind = question->options.kind;
	int rc = SL_OK;
	if (options->json) {
		fprintf(out, "{\"question\": \"%s\", \"column\": ", sl_question_names[kind]);
		put_string(out, question->options.column);
		fputs(", ", out);
	}
	if (array)
		rc = print_array(options, question, answer, out, error);
	else if (kind == SL_QUESTION_COUNT)
		(options->json ? json_categories : print_categories)(question, answer, out);
	else if (kind == SL_QUESTION_HISTOGRAM)
		(options->json ? json_bins : print_bins)(question, answer, out);
	else
		rc = print_number(options, question, answer, out, error);
	if (rc != SL_OK)
		return rc;
	if (options->json && !array)
		fprintf(out, "\"rows\": %" PRId64 ", ", rows_of(question, answer));
	if (options->json)
		fprintf(out, "\"learners\": %u, \"round\": %u}\n", answer->learners, answer->round);
	else if (array)
		fprintf(notes, "%u learners\n", answer->learners);
	else
		fprintf(notes, "%u learners, %" PRId64 " row%s\n", answer->learners,
			rows_of(question, answer), rows_of(question, answer) == 1 ? "" : "s");
	return SL_OK;
}
