/* question.h - what `starling mean`, `sum`, `count` and `histogram` ask, and the answer of one learner.
 *
 * A question is a list of cells, each a number that is added up over all learners:
 *
 *      mean, sum    the sum of the rows; the number of rows
 *      count        the rows of each category
 *      histogram    the rows below the first edge, in each bin, and from the last edge on
 *
 * or, for mean and sum, an array. The names of the cells carry the whole question, since the learners compare
 * the names of their tensors before they share anything. */
#pragma once

#include "tools/starling/decimal.h"
#include "tools/starling/npy.h"

enum sl_question_kind { SL_QUESTION_MEAN, SL_QUESTION_SUM, SL_QUESTION_COUNT, SL_QUESTION_HISTOGRAM };
enum sl_question_input_kind { SL_QUESTION_VALUE, SL_QUESTION_CSV, SL_QUESTION_NPY };

struct sl_question_input {
	enum sl_question_input_kind kind;
	const char *text; /* a value as typed, or the path of a file */
};

/* The question as the options say; NULL: not given. */
struct sl_question_options {
	enum sl_question_kind kind;
	const char *column, *categories, *bins;
};

struct sl_question_cell {
	char name[SL_TENSOR_NAME_BYTES];
	char label[SL_TENSOR_NAME_BYTES]; /* a category; the lower edge of a bin, "" for the first one */
	struct sl_decimal value;
};

struct sl_question {
	struct sl_question_options options;
	size_t count;
	struct sl_question_cell *cells;
	struct sl_decimal *edges; /* of a histogram; count - 1 */
	uint32_t decimals;	  /* the most of a value that was typed */
	uint64_t skipped;	  /* empty cells of files */
	struct sl_npy array;	  /* with values: the answer is an array, and there are no cells */
};

extern const char *const sl_question_names[]; /* by kind */

/* Make the cells, all 0. SL_ERR_INVALID: categories or bins that cannot be used. */
int sl_question_open(struct sl_question *question, const struct sl_question_options *options,
		     struct sl_error *error);
void sl_question_close(struct sl_question *question);
/* Add the rows of an input. Errors name the value, and the file and line it is in. */
int sl_question_add(struct sl_question *question, const struct sl_question_input *input,
		    struct sl_error *error);
/* Return the largest absolute value of a cell or an element. */
double sl_question_largest(const struct sl_question *question);
