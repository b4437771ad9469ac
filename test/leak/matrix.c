#include "test/leak/matrix.h"

struct matrix matrix_of(const struct sl_field *field, size_t columns)
{
	return (struct matrix){.field = *field, .columns = columns};
}

void matrix_free(struct matrix *matrix)
{
	free(matrix->cells);
	matrix->cells = NULL;
	matrix->rows = matrix->room = 0;
}

uint64_t *matrix_add(struct matrix *matrix)
{
	size_t bytes = matrix->columns * sizeof *matrix->cells;
	if (matrix->rows == matrix->room) {
		matrix->room = matrix->room == 0 ? 16 : 2 * matrix->room;
		matrix->cells = realloc(matrix->cells, matrix->room * bytes);
		assert_non_null(matrix->cells);
	}
	return memset(matrix_row(matrix, matrix->rows++), 0, bytes);
}

static size_t leading(const struct matrix *matrix, size_t row)
{
	const uint64_t *cells = matrix_row(matrix, row);
	size_t column = 0;
	while (column < matrix->columns && cells[column] == 0)
		column++;
	return column;
}

static void exchange(struct matrix *matrix, size_t a, size_t b)
{
	uint64_t *x = matrix_row(matrix, a), *y = matrix_row(matrix, b);
	for (size_t c = 0; a != b && c < matrix->columns; c++) {
		uint64_t cell = x[c];
		x[c] = y[c];
		y[c] = cell;
	}
}

/* target -= factor * source, from `column` on: both are zero before it. */
static void subtract(const struct sl_field *field, uint64_t *target, const uint64_t *source, uint64_t factor,
		     size_t column, size_t columns)
{
	for (size_t c = column; c < columns; c++)
		if (source[c] != 0)
			target[c] = sl_field_sub(field, target[c], sl_field_mul(field, factor, source[c]));
}

/* Make `column` zero except for a 1 in row `pivot`. Return false if it is zero from `pivot` on. */
static bool clear_column(struct matrix *matrix, size_t pivot, size_t column)
{
	const struct sl_field *field = &matrix->field;
	size_t found = pivot, columns = matrix->columns;
	while (found < matrix->rows && matrix_row(matrix, found)[column] == 0)
		found++;
	if (found == matrix->rows)
		return false;
	exchange(matrix, pivot, found);
	uint64_t *row = matrix_row(matrix, pivot), inverse = sl_field_inverse(field, row[column]);
	for (size_t c = column; c < columns; c++)
		row[c] = sl_field_mul(field, row[c], inverse);
	for (size_t r = 0; r < matrix->rows; r++)
		if (r != pivot && matrix_row(matrix, r)[column] != 0)
			subtract(field, matrix_row(matrix, r), row, matrix_row(matrix, r)[column], column,
				 columns);
	return true;
}

void matrix_reduce(struct matrix *matrix)
{
	size_t pivot = 0;
	for (size_t column = 0; column < matrix->columns && pivot < matrix->rows; column++)
		pivot += clear_column(matrix, pivot, column);
	matrix->rows = pivot;
}

struct matrix matrix_beyond(const struct matrix *matrix, size_t hidden)
{
	struct matrix beyond = matrix_of(&matrix->field, matrix->columns - hidden);
	for (size_t r = 0; r < matrix->rows; r++)
		if (leading(matrix, r) >= hidden)
			memcpy(matrix_add(&beyond), matrix_row(matrix, r) + hidden,
			       beyond.columns * sizeof *beyond.cells);
	return beyond;
}

bool matrix_equal(const struct matrix *a, const struct matrix *b)
{
	return a->columns == b->columns && a->rows == b->rows &&
	       (a->rows == 0 || memcmp(a->cells, b->cells, a->rows * a->columns * sizeof *a->cells) == 0);
}

bool matrix_spans(const struct matrix *matrix, const uint64_t *row)
{
	struct matrix both = matrix_of(&matrix->field, matrix->columns);
	for (size_t r = 0; r < matrix->rows; r++)
		memcpy(matrix_add(&both), matrix_row(matrix, r), matrix->columns * sizeof *row);
	memcpy(matrix_add(&both), row, matrix->columns * sizeof *row);
	matrix_reduce(&both);
	bool spans = both.rows == matrix->rows;
	matrix_free(&both);
	return spans;
}

void matrix_kernel(const struct matrix *matrix, uint64_t *seed, uint64_t *vector)
{
	const struct sl_field *field = &matrix->field;
	for (size_t c = 0; c < matrix->columns; c++)
		vector[c] = any64(seed) % field->p;
	for (size_t r = matrix->rows; r-- > 0;) { /* its pivot is in no other row */
		size_t pivot = leading(matrix, r);
		uint64_t sum = 0;
		for (size_t c = pivot + 1; c < matrix->columns; c++)
			sum = sl_field_add(field, sum,
					   sl_field_mul(field, matrix_row(matrix, r)[c], vector[c]));
		vector[pivot] = sl_field_sub(field, 0, sum);
	}
}
