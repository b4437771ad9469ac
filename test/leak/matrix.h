/* matrix.h - rows over Z_p, and what they span.
 *
 * Owns its cells. A matrix is filled row by row and then reduced; a reduced one holds the only reduced
 * echelon basis of its span, so that two spans are equal iff their cells are.
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

/* A new row of zeros, valid until the next one. */
uint64_t *matrix_add(struct matrix *matrix);
static inline uint64_t *matrix_row(const struct matrix *matrix, size_t row)
{
	return matrix->cells + row * matrix->columns;
}

/* Gauss and Jordan; rows of zeros go. */
void matrix_reduce(struct matrix *matrix);

/* Of a reduced one, the rows that are zero in the first `hidden` columns, without these: all that the rows
 * say of the other columns when the first ones are uniform and unknown. Reduced. */
struct matrix matrix_beyond(const struct matrix *matrix, size_t hidden);

/* Both reduced. */
bool matrix_equal(const struct matrix *a, const struct matrix *b);
/* Of a reduced one. */
bool matrix_spans(const struct matrix *matrix, const uint64_t *row);
/* Of a reduced one: a random vector that every row maps to 0. */
void matrix_kernel(const struct matrix *matrix, uint64_t *seed, uint64_t *vector);
