#include "tools/starling/question.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/suggest.h"
#include "tools/starling/csv.h"

const char *const sl_question_names[] = {[SL_QUESTION_MEAN] = "mean",
					 [SL_QUESTION_SUM] = "sum",
					 [SL_QUESTION_COUNT] = "count",
					 [SL_QUESTION_HISTOGRAM] = "histogram"};

/* ---- the cells ---- */

/* Append a cell "KIND:COLUMN" and `rest`. */
static int add_cell(struct sl_question *q, const char *label, const char *rest, struct sl_error *error)
{
	const char *column = q->options.column != NULL ? q->options.column : "";
	struct sl_question_cell *cell = &q->cells[q->count];
	int length = snprintf(cell->name, sizeof cell->name, "%s%s%s%s", sl_question_names[q->options.kind],
			      *column != '\0' || *rest != '\0' ? ":" : "", column, rest);
	if (length >= (int)sizeof cell->name)
		return sl_err_set(error, SL_ERR_RANGE, "%s:%s%s: a name has at most %u bytes: shorten it",
				  sl_question_names[q->options.kind], column, rest, SL_TENSOR_NAME_BYTES - 1);
	snprintf(cell->label, sizeof cell->label, "%s", label);
	q->count++;
	return SL_OK;
}

static int open_categories(struct sl_question *q, char *list, struct sl_error *error)
{
	char rest[SL_TENSOR_NAME_BYTES + 1];
	int rc = SL_OK;
	for (char *word; rc == SL_OK && (word = strsep(&list, ",")) != NULL;) {
		for (size_t i = 0; i < q->count; i++)
			if (strcmp(q->cells[i].label, word) == 0)
				return sl_err_set(error, SL_ERR_INVALID, "--categories: '%s' is there twice",
						  word);
		if (*word == '\0')
			return sl_err_set(error, SL_ERR_INVALID,
					  "--categories: an empty word; write yes,no,abstain");
		snprintf(rest, sizeof rest, "%s%s", q->options.column != NULL ? "=" : "", word);
		rc = add_cell(q, word, rest, error);
	}
	if (rc == SL_OK && q->count < 2)
		return sl_err_set(error, SL_ERR_INVALID, "--categories: at least two, such as yes,no");
	return rc;
}

/* Add the cell of a bin that is named as its edges tell. */
static int add_bin(struct sl_question *q, const char *from, const char *to, struct sl_error *error)
{
	char rest[2 * SL_DECIMAL_BYTES + 4];
	if (from == NULL)
		snprintf(rest, sizeof rest, "<%s", to);
	else if (to == NULL)
		snprintf(rest, sizeof rest, ">=%s", from);
	else
		snprintf(rest, sizeof rest, "[%s,%s)", from, to);
	return add_cell(q, from != NULL ? from : "", rest, error);
}

static int open_bins(struct sl_question *q, char *list, struct sl_error *error)
{
	char texts[2][SL_DECIMAL_BYTES];
	size_t edges = 0;
	int rc = SL_OK;
	for (char *word; rc == SL_OK && (word = strsep(&list, ",")) != NULL; edges++) {
		struct sl_decimal edge;
		if (sl_decimal_parse(word, &edge) != SL_DECIMAL_NUMBER)
			return sl_err_set(error, SL_ERR_INVALID,
					  "--bins: '%s' is not a number; write 0,10,20", word);
		q->edges[edges] = sl_decimal_trim(edge, 0);
		if (edges > 0 && sl_decimal_compare(&q->edges[edges - 1], &q->edges[edges]) >= 0)
			return sl_err_set(error, SL_ERR_INVALID, "--bins: %s does not follow %s: edges rise",
					  word, texts[(edges - 1) % 2]);
		sl_decimal_text(&q->edges[edges], texts[edges % 2]);
		rc = add_bin(q, edges > 0 ? texts[(edges - 1) % 2] : NULL, texts[edges % 2], error);
	}
	if (rc == SL_OK && edges < 2)
		return sl_err_set(error, SL_ERR_INVALID, "--bins: at least two edges, such as 0,10,20");
	return rc == SL_OK ? add_bin(q, texts[(edges - 1) % 2], NULL, error) : rc;
}

static size_t words_of(const char *list)
{
	size_t words = 1;
	for (; list != NULL && *list != '\0'; list++)
		words += *list == ',';
	return words;
}

static int open_cells(struct sl_question *q, struct sl_error *error)
{
	const char *list = q->options.kind == SL_QUESTION_COUNT	      ? q->options.categories
			   : q->options.kind == SL_QUESTION_HISTOGRAM ? q->options.bins
								      : NULL;
	size_t words = words_of(list);
	char *copy = strdup(list != NULL ? list : "");
	q->cells = calloc(words + 1, sizeof *q->cells);
	q->edges = calloc(words, sizeof *q->edges);
	int rc;
	if (copy == NULL || q->cells == NULL || q->edges == NULL) {
		rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	} else if (q->options.kind == SL_QUESTION_COUNT) {
		rc = open_categories(q, copy, error);
	} else if (q->options.kind == SL_QUESTION_HISTOGRAM) {
		rc = open_bins(q, copy, error);
	} else {
		rc = add_cell(q, "", "", error);
		strcpy(q->cells[q->count++].name, "rows");
	}
	free(copy);
	return rc;
}

int sl_question_open(struct sl_question *question, const struct sl_question_options *options,
		     struct sl_error *error)
{
	*question = (struct sl_question){.options = *options};
	int rc = open_cells(question, error);
	if (rc != SL_OK)
		sl_question_close(question);
	return rc;
}

void sl_question_close(struct sl_question *question)
{
	free(question->cells);
	free(question->edges);
	free(question->array.values);
	*question = (struct sl_question){0};
}

/* ---- rows ---- */

static int count_row(struct sl_question *q, const char *text, struct sl_error *error)
{
	const char *nearest = NULL;
	size_t distance = SIZE_MAX;
	for (size_t i = 0; i < q->count; i++) {
		if (strcmp(q->cells[i].label, text) == 0) {
			q->cells[i].value.digits++;
			return SL_OK;
		}
		sl_suggest(text, q->cells[i].label, &nearest, &distance);
	}
	return sl_err_set(error, SL_ERR_INVALID, "'%s' is none of the categories %s%s%s%s", text,
			  q->options.categories, nearest != NULL ? "; did you mean '" : "",
			  nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

/* Values outside the bins have cells of their own. */
static void bin_row(struct sl_question *q, const struct sl_decimal *value)
{
	size_t bin = 0;
	while (bin < q->count - 1 && sl_decimal_compare(value, &q->edges[bin]) >= 0)
		bin++;
	q->cells[bin].value.digits++;
}

/* Add a row. Files may have empty cells, which are counted. */
static int add_row(struct sl_question *q, const char *text, bool in_file, struct sl_error *error)
{
	struct sl_decimal value;
	bool words = q->options.kind == SL_QUESTION_COUNT;
	if (q->array.values != NULL)
		return sl_err_set(error, SL_ERR_INVALID,
				  "'%s' and --npy: a learner gives numbers or one array", text);
	enum sl_decimal_kind kind = sl_decimal_parse(text, &value);
	if (in_file && (words ? *text == '\0' : kind == SL_DECIMAL_MISSING)) {
		q->skipped++;
		return SL_OK;
	}
	if (words)
		return count_row(q, text, error);
	if (kind == SL_DECIMAL_TOO_LONG)
		return sl_err_set(error, SL_ERR_RANGE,
				  "'%s' has too many digits: at most %u decimals and 15 digits are exact",
				  text, SL_DECIMALS_MAX);
	if (kind != SL_DECIMAL_NUMBER)
		return sl_err_set(error, SL_ERR_INVALID, "'%s' is not a number", text);
	if (q->options.kind == SL_QUESTION_HISTOGRAM) {
		bin_row(q, &value);
		return SL_OK;
	}
	q->decimals = value.decimals > q->decimals ? value.decimals : q->decimals;
	q->cells[1].value.digits++;
	if (sl_decimal_add(&q->cells[0].value, &value))
		return SL_OK;
	return sl_err_set(error, SL_ERR_RANGE, "the sum has more than 15 digits: use a larger unit");
}

static int add_csv(struct sl_question *q, const char *path, struct sl_error *error)
{
	struct sl_csv csv;
	const char *text;
	if (q->options.column == NULL)
		return sl_err_set(error, SL_ERR_INVALID, "--csv %s: name the column with --column NAME",
				  path);
	int rc = sl_csv_open(&csv, path, q->options.column, error);
	if (rc != SL_OK)
		return rc;
	*error = (struct sl_error){0};
	while (rc == SL_OK && (text = sl_csv_next(&csv, error)) != NULL)
		if ((rc = add_row(q, text, true, error)) != SL_OK)
			rc = sl_err_wrap(error, "%s:%u: column %s", path, csv.line, q->options.column);
	sl_csv_close(&csv);
	return error->code;
}

static int add_npy(struct sl_question *q, const char *path, struct sl_error *error)
{
	if (q->options.kind != SL_QUESTION_MEAN && q->options.kind != SL_QUESTION_SUM)
		return sl_err_set(error, SL_ERR_INVALID, "--npy is for mean and sum");
	if (q->array.values != NULL || q->cells[1].value.digits > 0)
		return sl_err_set(error, SL_ERR_INVALID, "--npy %s: a learner gives numbers or one array",
				  path);
	return sl_npy_read(path, &q->array, error);
}

int sl_question_add(struct sl_question *question, const struct sl_question_input *input,
		    struct sl_error *error)
{
	switch (input->kind) {
	case SL_QUESTION_CSV:
		return add_csv(question, input->text, error);
	case SL_QUESTION_NPY:
		return add_npy(question, input->text, error);
	case SL_QUESTION_VALUE:
		break;
	}
	return add_row(question, input->text, false, error);
}

double sl_question_largest(const struct sl_question *question)
{
	double largest = 0;
	if (question->array.values != NULL)
		for (size_t i = 0; i < question->array.elements; i++)
			largest = fmax(largest, fabs(question->array.values[i]));
	else
		for (size_t i = 0; i < question->count; i++)
			largest = fmax(largest, fabs(sl_decimal_double(&question->cells[i].value)));
	return largest;
}
