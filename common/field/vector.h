/* vector.h - arithmetic on vectors for the engine exact (ROUND.md §8.3 exact), and vectors packed as on
 * the wire.
 *
 * Vectors are elements of Z_p for any p of field.h; packed ones take field->bits bits per element (bytes.h),
 * at any alignment.
 */
#pragma once

#include "common/field/field.h"

/* Do one exchange x <- W x over Z_p and add its part of Z: x <- weights[degree] x + sum_r weights[r] x_r mod
 * p, then sum <- sum + c x mod p, over `count` elements, in place. states[r]: the old x of neighbour r as
 * received, packed, with every element known to be < p. weights: degree + 1 elements, the learner's own last.
 * degree <= SL_LEARNERS_MAX. */
void sl_vector_update(const struct sl_field *field, uint64_t *x, uint64_t *sum, uint64_t c, size_t count,
		      const uint8_t *const *states, const uint64_t *weights, uint32_t degree);

/* Set v <- c v mod p over `count` elements. */
void sl_vector_scale(const struct sl_field *field, uint64_t *v, size_t count, uint64_t c);

/* Set s <- s + v mod p over `count` elements. */
void sl_vector_add(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count);

/* Return the largest |centred(z_l)|, 0 of none. */
uint64_t sl_vector_magnitude(const struct sl_field *field, const uint64_t *z, size_t count);

/* Write the elements of the vector `packed`, each known to be < p, to `out`. */
void sl_vector_unpack(const struct sl_field *field, const uint8_t *packed, size_t count, uint64_t *out);

/* Add the vector `packed` to s, or store it there if `add` is false. Return SL_ERR_INVALID if an element is
 * not below p, or the last byte is not filled with zero bits; s is then undefined. */
int sl_vector_take(const struct sl_field *field, uint64_t *s, const uint8_t *packed, size_t count, bool add);

/* Return true if every packed element is below p, and the last byte is filled with zero bits. */
bool sl_vector_valid(const struct sl_field *field, const uint8_t *packed, size_t count);
