/* printed.h - what part g tries: formulas as the paper prints them, and its real numbers. */
#pragma once

#include "tools/paper/reproduce.h"
#include "tools/paper/spectrum.h"

/* How much two shares of a polynomial of degree 2 over Z_7 tell of its secret: the largest total variation
 * distance, with the highest coefficient from 0..6 or from 1..6. */
int sl_printed_share_distance(bool zero_allowed, double *distance);

/* How many of N x 16 random states in [0, p) round to their sum after k iterations in float64, of the rule as
 * meant or as printed. */
uint32_t sl_printed_update_right(const struct sl_graph *g, bool printed, uint64_t p, uint64_t k);

/* Mixing in float64 as the paper does, in fixed point and in the field as this code does, for growing p. */
int sl_reals_printed(struct sl_paper *r, struct sl_error *error);
