/* matrix.h - rows over Z_p, and their span.
 *
 * Owns its cells. A matrix is filled row by row and then reduced to the reduced echelon form, which is
 * unique: two spans are equal if and only if their cells are.
 */
#pragma once

#include "test/graph/unit.h"

struct matrix {
	struct sl_field field;
	size_t columns, rows, room;
	uint64_t *cells;
};

struct matrix matrix_of(const struct sl_field *field, size_t columns);
void matrix_free(struct matrix *matrix);

/* Return a new row of zeros, valid until the next one is added. */
uint64_t *matrix_add(struct matrix *matrix);
static inline uint64_t *matrix_row(const struct matrix *matrix, size_t row)
{
	return matrix->cells + row * matrix->columns;
}

/* Reduce by Gauss-Jordan elimination; drop rows of zeros. */
void matrix_reduce(struct matrix *matrix);

/* Return the rows of a reduced matrix that are zero in the first `hidden` columns, without these columns: all
 * that is known of the others if the first are uniform and unknown. Reduced. */
struct matrix matrix_beyond(const struct matrix *matrix, size_t hidden);

/* Compare two reduced matrices. */
bool matrix_equal(const struct matrix *a, const struct matrix *b);
/* Return true if the span of a reduced matrix contains `row`. */
bool matrix_spans(const struct matrix *matrix, const uint64_t *row);
/* Write a random vector that every row of a reduced matrix maps to 0. */
void matrix_kernel(const struct matrix *matrix, uint64_t *seed, uint64_t *vector);
