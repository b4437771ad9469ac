/* key_share.h - Shamir shares of a deposit key (ROUND.md §5.7 Key shares).
 *
 * A key of 32 bytes is cut into SL_KEY_SHARE_LIMBS limbs of 52, 52, 52, 52 and 48 bits, little-endian. Each
 * limb is the value at 0 of a random polynomial of degree theta - 1 over F_q, q = 2^61 - 1; the share of a
 * holder is the values of the five polynomials at its id, as little-endian words of 8 bytes. Any theta shares
 * give the key, and fewer are uniformly random. Keys and shares are secret: no branch and no address depends
 * on them; ids and theta are public.
 */
#pragma once

#include "common/field/prg.h"

#define SL_KEY_SHARE_P ((UINT64_C(1) << 61) - 1u)
#define SL_KEY_SHARE_LIMBS 5u
static_assert(SL_KEY_SHARE_BYTES == 8 * SL_KEY_SHARE_LIMBS, "a share has a word for each limb");

/* Write to shares[r] the share of holders[r], r < count, of `key` with the threshold 1 <= theta <=
 * SL_LEARNERS_MAX. holders: distinct, not 0. The coefficients come from `randomness`. */
void sl_key_share_split(const uint8_t key[static SL_KEY_BYTES], uint32_t theta, const sl_id *holders,
			uint32_t count, struct sl_prg *randomness, uint8_t (*shares)[SL_KEY_SHARE_BYTES]);

/* Write to `key` the key whose shares at the `theta` distinct ids `holders` are `shares`. Return
 * SL_ERR_INVALID if they are no shares of one key; wrong shares may also give a wrong key. */
int sl_key_share_combine(const sl_id *holders, const uint8_t (*shares)[SL_KEY_SHARE_BYTES], uint32_t theta,
			 uint8_t key[static SL_KEY_BYTES]);

/* The same for one element of any field: the value at `point` of the polynomial with the coefficients
 * c[0..theta-1]; the weights with which the values at `points` give the value at 0. */
uint64_t sl_key_share_evaluate(const struct sl_field *field, const uint64_t *c, uint32_t theta, sl_id point);
void sl_key_share_weigh(const struct sl_field *field, const sl_id *points, uint32_t theta, uint64_t *weights);
