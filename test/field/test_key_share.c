/* Shares of a deposit key: theta of them give the key, fewer say nothing (ROUND.md §5.7 Key shares). Over
 * small fields every polynomial is tried. */
#include "test/field/elements.h"
#include "test/lib/test.h"

#include <sodium.h>

#include "common/field/key_share.h"

#define HOLDERS 4u /* of the small fields */

/* Set c to the next polynomial. Return false after the last. */
static bool next_polynomial(uint64_t *c, uint32_t theta, uint64_t p)
{
	for (uint32_t k = 0; k < theta; k++) {
		if (++c[k] < p)
			return true;
		c[k] = 0;
	}
	return false;
}

/* Write the members of `set` to `points`; return their number. */
static uint32_t points_of(uint32_t set, sl_id *points)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < HOLDERS; i++)
		if (set >> i & 1)
			points[count++] = i + 1;
	return count;
}

/* Expect that the shares of `points` give the secret of every polynomial. */
static void expect_opened(const struct sl_field *field, uint32_t theta, const sl_id *points)
{
	uint64_t c[HOLDERS] = {0}, weights[HOLDERS];
	sl_key_share_weigh(field, points, theta, weights);
	do {
		uint64_t secret = 0;
		for (uint32_t r = 0; r < theta; r++) {
			uint64_t share = sl_key_share_evaluate(field, c, theta, points[r]);
			secret = sl_field_add(field, secret, sl_field_mul(field, weights[r], share));
		}
		assert_int_equal(secret, c[0]);
	} while (next_polynomial(c, theta, field->p));
}

/* Expect that theta - 1 shares take every value once for each secret. */
static void expect_uniform(const struct sl_field *field, uint32_t theta, const sl_id *points)
{
	static uint32_t seen[7 * 7 * 7 * 7];
	uint64_t c[HOLDERS] = {0};
	memset(seen, 0, sizeof seen);
	do {
		uint64_t place = c[0];
		for (uint32_t r = 0; r + 1 < theta; r++)
			place = place * field->p + sl_key_share_evaluate(field, c, theta, points[r]);
		assert_int_equal(seen[place]++, 0);
	} while (next_polynomial(c, theta, field->p));
}

TEST(every_polynomial)
{
	for (uint64_t p = 5; p <= 7; p += 2)
		for (uint32_t set = 1; set < 1u << HOLDERS; set++) {
			struct sl_field field = field_of(p);
			sl_id points[HOLDERS];
			uint32_t count = points_of(set, points);
			expect_opened(&field, count, points);
			if (count < HOLDERS)
				expect_uniform(&field, count + 1, points);
		}
}

#define MOST 40u

struct shared {
	uint8_t key[SL_KEY_BYTES];
	sl_id holders[MOST];
	uint8_t shares[MOST][SL_KEY_SHARE_BYTES];
};

static void split(struct shared *s, uint32_t theta, uint32_t count, uint8_t fill, uint64_t *seed)
{
	struct sl_prg randomness;
	uint8_t key[SL_KEY_BYTES];
	for (size_t b = 0; b < SL_KEY_BYTES; b++) {
		key[b] = (uint8_t)any64(seed);
		s->key[b] = fill == 1 ? (uint8_t)any64(seed) : fill;
	}
	for (uint32_t r = 0; r < count; r++)
		s->holders[r] = 1 + (uint32_t)(any64(seed) % 50) + 100000000 * r;
	sl_prg_open(&randomness, key);
	sl_key_share_split(s->key, theta, s->holders, count, &randomness, s->shares);
}

/* Put `theta` of them in front, at random. */
static void shuffle(struct shared *s, uint32_t theta, uint32_t count, uint64_t *seed)
{
	for (uint32_t r = 0; r < theta; r++) {
		uint32_t other = r + (uint32_t)(any64(seed) % (count - r));
		struct shared copy = *s;
		s->holders[r] = copy.holders[other];
		s->holders[other] = copy.holders[r];
		memcpy(s->shares[r], copy.shares[other], SL_KEY_SHARE_BYTES);
		memcpy(s->shares[other], copy.shares[r], SL_KEY_SHARE_BYTES);
	}
}

TEST(any_theta_of_them)
{
	static const uint8_t fills[] = {0, 1, 0xff};
	uint64_t seed = 1;
	for (uint32_t count = 1; count <= MOST; count += 1 + count / 4)
		for (uint32_t theta = 1; theta <= count; theta++) {
			struct shared s;
			uint8_t key[SL_KEY_BYTES];
			split(&s, theta, count, fills[theta % 3], &seed);
			shuffle(&s, theta, count, &seed);
			assert_int_equal(sl_key_share_combine(s.holders, s.shares, theta, key), SL_OK);
			assert_memory_equal(key, s.key, sizeof key);
			if (theta == 1)
				continue;
			sl_key_share_combine(s.holders, s.shares, theta - 1, key);
			assert_memory_not_equal(key, s.key, sizeof key);
			s.shares[theta / 2][8 * (theta % SL_KEY_SHARE_LIMBS)] ^= 1;
			sl_key_share_combine(s.holders, s.shares, theta, key);
			assert_memory_not_equal(key, s.key, sizeof key);
		}
}

/* Words that no sharing gives: an element of q or more, or limbs of more than 52 bits. */
TEST(words_outside)
{
	struct shared s;
	uint8_t key[SL_KEY_BYTES];
	uint64_t seed = 2, q = SL_KEY_SHARE_P, wide = UINT64_C(1) << 52;
	for (uint32_t i = 0; i < SL_KEY_SHARE_LIMBS; i++) {
		const uint64_t words[] = {q, UINT64_MAX, wide, i == 4 ? UINT64_C(1) << 48 : wide};
		for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
			split(&s, 1, 1, 1, &seed);
			assert_int_equal(sl_key_share_combine(s.holders, s.shares, 1, key), SL_OK);
			memcpy(s.shares[0] + 8 * (size_t)i, &words[w], sizeof *words);
			assert_int_equal(sl_key_share_combine(s.holders, s.shares, 1, key), SL_ERR_INVALID);
		}
	}
}

/* The layout on the wire: with theta = 1 a share is the key itself, cut into limbs. */
TEST(limbs)
{
	struct shared s;
	uint64_t seed = 3, word;
	split(&s, 1, 1, 1, &seed);
	for (uint32_t bit = 0; bit < 8 * SL_KEY_BYTES; bit++) {
		memcpy(&word, s.shares[0] + (size_t)(bit / 52) * 8, sizeof word);
		assert_int_equal(word >> bit % 52 & 1, s.key[bit / 8] >> bit % 8 & 1);
	}
}
