#include "common/field/key_share.h"

#include <assert.h>
#include <endian.h>
#include <sodium.h>
#include <string.h>

#include "common/field/factor.h"

#define LIMB_BITS 52u
#define LIMB_MASK ((UINT64_C(1) << LIMB_BITS) - 1u)
#define LAST_BITS (8 * SL_KEY_BYTES - (SL_KEY_SHARE_LIMBS - 1) * LIMB_BITS)

static const struct sl_field key_field = {.p = SL_KEY_SHARE_P, .bits = 61, .draw_bytes = 8};

uint64_t sl_key_share_evaluate(const struct sl_field *field, const uint64_t *c, uint32_t theta, sl_id point)
{
	struct sl_factor factor = sl_factor_of(field, point % field->p);
	uint64_t sum = 0; /* Horner, lazily: below 3p < 2^63 throughout */
	for (uint32_t k = theta; k-- > 1;)
		sum = sl_factor_times_lazy(&factor, sum + c[k]);
	return sl_factor_reduce(sl_factor_reduce(sum + c[0], field->p), field->p);
}

/* weights[r] = prod over j != r of point_j / (point_j - point_r). */
void sl_key_share_weigh(const struct sl_field *field, const sl_id *points, uint32_t theta, uint64_t *weights)
{
	for (uint32_t r = 0; r < theta; r++) {
		uint64_t top = 1, bottom = 1, own = points[r] % field->p;
		for (uint32_t j = 0; j < theta; j++) {
			uint64_t point = points[j] % field->p;
			if (j == r)
				continue;
			top = sl_field_mul(field, top, point);
			bottom = sl_field_mul(field, bottom, sl_field_sub(field, point, own));
		}
		weights[r] = sl_field_mul(field, top, sl_field_inverse(field, bottom));
	}
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof word);
	return le64toh(word);
}

/* Return limb `i` of the key: bits 52 i .. 52 i + 51. */
static uint64_t limb_of(const uint8_t *key, uint32_t i)
{
	uint8_t padded[SL_KEY_BYTES + 8] = {0};
	memcpy(padded, key, SL_KEY_BYTES);
	uint32_t bit = i * LIMB_BITS; /* of a byte, 0 or 4 */
	uint64_t limb = word_at(padded + bit / 8) >> bit % 8 & LIMB_MASK;
	sodium_memzero(padded, sizeof padded);
	return limb;
}

void sl_key_share_split(const uint8_t key[static SL_KEY_BYTES], uint32_t theta, const sl_id *holders,
			uint32_t count, struct sl_prg *randomness, uint8_t (*shares)[SL_KEY_SHARE_BYTES])
{
	uint64_t c[SL_LEARNERS_MAX];
	assert(theta >= 1 && theta <= SL_LEARNERS_MAX);
	for (uint32_t i = 0; i < SL_KEY_SHARE_LIMBS; i++) {
		c[0] = limb_of(key, i);
		sl_prg_fill(randomness, &key_field, c + 1, theta - 1);
		for (uint32_t r = 0; r < count; r++) {
			uint64_t share = htole64(sl_key_share_evaluate(&key_field, c, theta, holders[r]));
			memcpy(shares[r] + 8 * (size_t)i, &share, sizeof share);
		}
	}
	sodium_memzero(c, theta * sizeof *c);
}

/* Put `limb` at its bits of the key, which are 0. */
static void put_limb(uint8_t *padded, uint32_t i, uint64_t limb)
{
	uint8_t *at = padded + (size_t)i * LIMB_BITS / 8;
	uint64_t word = htole64(word_at(at) | limb << i * LIMB_BITS % 8);
	memcpy(at, &word, sizeof word);
}

int sl_key_share_combine(const sl_id *holders, const uint8_t (*shares)[SL_KEY_SHARE_BYTES], uint32_t theta,
			 uint8_t key[static SL_KEY_BYTES])
{
	uint64_t weights[SL_LEARNERS_MAX], wrong = 0;
	uint8_t padded[SL_KEY_BYTES + 8] = {0};
	assert(theta >= 1 && theta <= SL_LEARNERS_MAX);
	sl_key_share_weigh(&key_field, holders, theta, weights);
	for (uint32_t i = 0; i < SL_KEY_SHARE_LIMBS; i++) {
		uint32_t bits = i + 1 < SL_KEY_SHARE_LIMBS ? LIMB_BITS : LAST_BITS;
		uint64_t limb = 0;
		for (uint32_t r = 0; r < theta; r++) {
			struct sl_factor weight = sl_factor_of(&key_field, weights[r]);
			uint64_t share = word_at(shares[r] + 8 * (size_t)i);
			wrong |= share >= SL_KEY_SHARE_P;
			limb = sl_field_add(&key_field, limb, sl_factor_times(&weight, share));
		}
		wrong |= limb >> bits;
		put_limb(padded, i, limb & ((UINT64_C(1) << bits) - 1));
	}
	memcpy(key, padded, SL_KEY_BYTES);
	sodium_memzero(padded, sizeof padded);
	return wrong == 0 ? SL_OK : SL_ERR_INVALID;
}
