/* digits.h - the data set that needs no file: handwriting-like digits drawn from strokes.
 *
 * 10,000 images of 28 x 28, ten classes in random order, the last 1,000 held out. Image i depends on i alone,
 * so that all learners have the same pool and each draws only its slice. Each digit is a few lines and arcs
 * on a unit square, with its own slant, proportions, thickness, bend and shift.
 */
#pragma once

#include "common/model/images.h"

#define SL_DIGITS 10000u

/* Return the class of image `index`; draw it. */
uint8_t sl_digits_label(uint32_t index);
void sl_digits_draw(uint32_t index, uint8_t pixels[static SL_PIXELS]);

/* Draw the slice of `deal` and the held-out images. SL_ERR_RANGE: more learners than images; SL_ERR_NOMEM. */
int sl_digits_load(const struct sl_deal *deal, struct sl_dataset *set, struct sl_error *error);
