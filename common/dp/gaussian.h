/* gaussian.h - integers with the discrete Gaussian distribution N_Z(0, sigma^2), which has
 * P(y) = exp(-y^2 / (2 sigma^2)) / sum over x of exp(-x^2 / (2 sigma^2)).
 *
 * An element is y = sum over i < terms of c_i y_i, where the y_i are independent with N_Z(0, s^2), c_0 = 1
 * and sigma^2 = s^2 (c_0^2 + c_1^2 + ..). |y_i| is looked up in a table that is scanned whole, and has a
 * random sign, so that 0 counts once. No branch and no index depends on the key or on an element.
 *
 * A plan computes the table of its s in integers of 256 bits, when it is made. Tables in the source would be
 * for a few s only, and reach only some sigma.
 *
 * Distance. The total variation between an element and N_Z(0, sigma^2) is below 2^SL_GAUSSIAN_LOG2_DISTANCE
 * if the key stream is uniform, for each plan, as the sum of:
 *  - Convolution: let x have N_Z(0, r^2), t^2 = r^2 + c^2 s^2. Completing the square gives
 *    P(x + c y_i = z) ~ exp(-z^2 / (2 t^2)) sum over j of exp(-(j - z c s^2 / t^2)^2 / (2 v^2)), v = r s / t.
 *    By Poisson's formula the sum over j is between 1 - e and 1 + e times v sqrt(2 pi),
 *    e <= 2.01 exp(-2 pi^2 v^2): x + c y_i is within e (1 + 2 e) of N_Z(0, t^2). This is theorem 3.1 of
 *    Peikert (2010, eprint 2010/088) for integers, as Poppelmann, Ducas and Guneysu (2014, eprint 2014/254)
 *    and Micciancio and Walter (2017, eprint 2017/259) use it, in total variation. Coefficients are as large
 *    as v >= SL_GAUSSIAN_SMOOTHING allows: e < 2^-112 for each but the first term.
 *  - Table: cumulative probabilities have 63 bits. A second table of 63 bits has the part of each probability
 *    that these leave out; all parts are w <= 128 / 2^63. It is read by a draw above all thresholds of the
 *    first. What both leave out is below 256 * 128 / 2^127 = 2^-112 for each term.
 *  - The terms of an element share the draw from the second table: two of them need it with a probability
 *    below terms^2 w^2 / 2 <= 2^-106.
 * A sum of `terms` <= 12 such bounds stays below 2^-104.
 *
 * If a mechanism with the exact distribution is (epsilon, delta)-private, the one with n elements of this
 * sampler is (epsilon, delta + (1 + e^epsilon) n 2^-104)-private; n counts the elements of all rounds and
 * learners. 10^8 elements in 1,000 rounds: less than 10^-20.
 *
 *     stream of 32 elements: 4 (terms + 1) blocks of ChaCha20
 *     | term 0: 32 words of 8 bytes | term 1 | .. | shared: 32 words |      bit 0: sign; bits 1 .. 63: draw
 *
 * A plan holds no secret and may be used by several threads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/limits.h"

#define SL_GAUSSIAN_SIGMA_LEAST 0.5
#define SL_GAUSSIAN_SIGMA_MOST 0x1p22
#define SL_GAUSSIAN_LOG2_DISTANCE (-104)
#define SL_GAUSSIAN_SMOOTHING 2.0 /* the least v */
#define SL_GAUSSIAN_TERMS 12u
#define SL_GAUSSIAN_TABLE 128u /* thresholds */
#define SL_GAUSSIAN_GROUP 32u  /* elements that are drawn at a time */

struct sl_gaussian {
	double sigma; /* achieved: not below what was asked for, and at most 2^-20 above */
	uint32_t terms, commons, rares;
	uint64_t coefficient[SL_GAUSSIAN_TERMS];
	uint64_t common[SL_GAUSSIAN_TABLE]; /* |y_i| is the number of thresholds below the draw; */
	uint64_t rare[SL_GAUSSIAN_TABLE];   /* if that is all, the number of these below the shared draw */
};

/* Plan elements with the least multiple of 2^-20 that is at least `sigma`. Takes less than a millisecond.
 * Return SL_ERR_RANGE if sigma is not within SL_GAUSSIAN_SIGMA_LEAST .. SL_GAUSSIAN_SIGMA_MOST. */
int sl_gaussian_plan(double sigma, struct sl_gaussian *plan);
/* Write the elements first .. first + n - 1 of the stream of `key`, first + n <= 2^57. A key is for one
 * stream of one plan: 32 bytes of the operating system's generator that have no other use. */
void sl_gaussian_draw(const struct sl_gaussian *plan, const uint8_t key[static SL_KEY_BYTES], uint64_t first,
		      int64_t *out, size_t n);
