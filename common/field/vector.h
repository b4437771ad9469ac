/* vector.h - the exact engine's arithmetic on vectors (protocol 7, `exact`), and vectors packed as on the
 * wire.
 *
 * Owns nothing. Vectors are elements of Z_p for any p of field.h; packed ones take field->bytes an element,
 * little-endian, at any alignment.
 */
#pragma once

#include "common/field/field.h"

/* One iteration x <- W x over Z_p, and its part of Z: x <- weights[degree] x + sum_r weights[r] x_r mod p,
 * then sum <- sum + c x mod p, over `count` elements, in place. states[r]: the neighbours' old x as they came
 * off the wire, packed, every element known to be < p. weights: degree + 1 elements, the learner's own last.
 * degree <= SL_LEARNERS_MAX. */
void sl_vector_update(const struct sl_field *field, uint64_t *x, uint64_t *sum, uint64_t c, size_t count,
		      const uint8_t *const *states, const uint64_t *weights, uint32_t degree);

/* v <- c v mod p, over `count` elements. */
void sl_vector_scale(const struct sl_field *field, uint64_t *v, size_t count, uint64_t c);

/* Adds a packed vector to s (add), or stores it there. SL_ERR_INVALID: it has an element that is not of the
 * field; s is then undefined. */
int sl_vector_take(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count, bool add);

/* Whether every packed element is of the field. */
bool sl_vector_valid(const struct sl_field *field, const uint8_t *packed, size_t count);
