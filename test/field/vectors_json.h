/* vectors_json.h - reading vectors.json: every number is a decimal string, some wider than 64 bits.
 *
 * A file that does not have the promised shape ends the program with status 2 and the place.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __int128 wide;

/* The member `name`, or the element `i`; never NULL. */
json_t *vector_member(json_t *object, const char *name);
json_t *vector_at(json_t *array, size_t i);

/* A decimal integer, as a string or a JSON integer. */
wide vector_integer(json_t *value);
/* "num/den" or "num". */
void vector_ratio(json_t *value, wide *num, wide *den);
/* A decimal or C99 hex fraction. */
double vector_real(json_t *value);

/* v in decimal, in one of a few buffers that take turns. */
const char *wide_text(wide v);
