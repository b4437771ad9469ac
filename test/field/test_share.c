/* Shamir and additive sharing have one distribution: shown by trying all
 * random numbers there are, for small fields.
 */
#include "test/graph/unit.h"
#include "test/lib/test.h"

#include "common/field/share.h"

#define DEGREE_MOST 3

static void constant(void *context, uint8_t *bytes, size_t n)
{
	memset(bytes, (int)*(const uint32_t *)context, n); /* a small field's candidates are bytes */
}

static uint64_t power(uint64_t base, uint32_t exponent)
{
	return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

/* Share x with the random numbers c. Return the tuple of the neighbours' shares as a number in base p, the
 * sum checked.
 */
static uint64_t shares_with(const struct sl_sharing *sharing, enum sl_sharing_kind kind, uint64_t x,
			    uint32_t *c)
{
	struct sl_prg randomness[DEGREE_MOST];
	uint64_t share[DEGREE_MOST + 1], *shares[DEGREE_MOST + 1], scratch[2048], tuple = 0, sum = 0;
	assert_true(sl_share_scratch(sharing->degree) <= 2048);
	for (uint32_t r = 0; r <= sharing->degree; r++)
		shares[r] = &share[r];
	for (uint32_t r = 0; r < sharing->degree; r++)
		sl_prg_open_source(&randomness[r], constant, &c[r]);
	sl_share(sharing, kind, randomness, &x, 1, shares, scratch);
	for (uint32_t r = 0; r <= sharing->degree; r++)
		sum = sl_field_add(&sharing->field, sum, share[r]);
	assert_int_equal(sum, x);
	for (uint32_t r = 0; r < sharing->degree; r++)
		tuple = tuple * sharing->field.p + share[r];
	return tuple;
}

/* Set histogram[tuple] over all c_1..c_tau in [least_last for c_tau, p). */
static void enumerate(const struct sl_sharing *sharing, enum sl_sharing_kind kind, uint64_t x,
		      uint32_t least_last, uint32_t *histogram)
{
	uint64_t p = sharing->field.p, tuples = power(p, sharing->degree);
	memset(histogram, 0, tuples * sizeof *histogram);
	for (uint64_t choice = 0; choice < tuples; choice++) {
		uint32_t c[DEGREE_MOST];
		uint64_t rest = choice;
		for (uint32_t k = 0; k < sharing->degree; k++, rest /= p)
			c[k] = (uint32_t)(rest % p);
		if (c[sharing->degree - 1] >= least_last)
			histogram[shares_with(sharing, kind, x, c)]++;
	}
}

static bool uniform(const uint32_t *histogram, uint64_t tuples)
{
	for (uint64_t t = 0; t < tuples; t++)
		if (histogram[t] != 1)
			return false;
	return true;
}

/* For every secret: each tuple of tau shares arises from exactly one choice of c, with either generator.
 */
static void exhaustive(uint64_t p, uint32_t degree, const sl_id *ids)
{
	static uint32_t shamir[512], additive[512];
	uint8_t memory[1024];
	struct sl_arena arena;
	struct sl_sharing sharing;
	struct sl_field field = field_of(p);
	sl_arena_init(&arena, memory, sizeof memory);
	assert_int_equal(sl_share_init(&sharing, &field, ids[degree], ids, degree, &arena), SL_OK);
	for (uint64_t x = 0; x < p; x++) {
		enumerate(&sharing, SL_SHARING_SHAMIR, x, 0, shamir);
		enumerate(&sharing, SL_SHARING_OS, x, 0, additive);
		assert_true(uniform(shamir, power(p, degree)));
		assert_memory_equal(shamir, additive, power(p, degree) * sizeof *shamir);
		/* The paper's c_tau != 0: some tuples cannot arise, and so exclude this secret. */
		enumerate(&sharing, SL_SHARING_SHAMIR, x, 1, shamir);
		assert_false(uniform(shamir, power(p, degree)));
	}
}

TEST(same_distribution)
{
	static const sl_id ids[][4] = {{1, 2, 3, 4}, {4, 2, 1, 3}, {3, 1, 4, 2}};
	for (size_t i = 0; i < 3; i++) {
		for (uint32_t degree = 1; degree <= 3; degree++)
			exhaustive(5, degree, ids[i]);
		exhaustive(7, 1, ids[i]);
		exhaustive(7, 2, ids[i]);
	}
	exhaustive(7, 2, (const sl_id[]){6, 5, 1});
}

/* Compare sl_share, which works in blocks, with the polynomial times the weight, element by element. */
static void compare_with_polynomial(uint64_t p, uint32_t degree, size_t count)
{
	struct sl_arena arena = arena_of((size_t)16 << 20);
	struct sl_field field = field_of(p);
	struct sl_sharing sharing;
	uint64_t seed = p + degree;
	sl_id *ids = SL_ARENA_TAKE(&arena, degree + 1, sl_id);
	for (uint32_t r = 0; r <= degree; r++) /* distinct, some large */
		ids[r] = (sl_id)(p > UINT32_MAX ? UINT32_MAX - 3 * r : p - 1 - 2 * r);
	assert_int_equal(sl_share_init(&sharing, &field, ids[degree], ids, degree, &arena), SL_OK);
	uint64_t *x = SL_ARENA_TAKE(&arena, count, uint64_t),
		 *c = SL_ARENA_TAKE(&arena, count * degree, uint64_t);
	uint64_t **shares = SL_ARENA_TAKE(&arena, degree + 1, uint64_t *);
	uint64_t *scratch = SL_ARENA_TAKE(&arena, sl_share_scratch(degree), uint64_t);
	struct sl_prg *randomness = SL_ARENA_TAKE(&arena, degree, struct sl_prg);
	for (size_t l = 0; l < count; l++)
		x[l] = l % 3 == 0 ? p - 1 : any64(&seed) % p;
	for (uint32_t k = 0; k < degree; k++) {
		uint8_t key[SL_KEY_BYTES] = {(uint8_t)k, 1};
		sl_prg_open(&randomness[k], key);
		sl_prg_fill(&randomness[k], &field, c + k * count, count);
		sl_prg_open(&randomness[k], key);
	}
	for (uint32_t r = 0; r <= degree; r++)
		shares[r] = SL_ARENA_TAKE(&arena, count, uint64_t);
	sl_share(&sharing, SL_SHARING_SHAMIR, randomness, x, count, shares, scratch);
	for (uint32_t r = 0; r <= degree; r++) {
		for (size_t l = 0; l < count; l++) {
			uint64_t want = x[l], point = 1;
			for (uint32_t k = 0; k < degree; k++) {
				point = sl_field_mul(&field, point, sharing.points[r]);
				want = sl_field_add(&field, want,
						    sl_field_mul(&field, point, c[k * count + l]));
			}
			assert_int_equal(shares[r][l], sl_field_mul(&field, sharing.delta[r], want));
		}
	}
	for (size_t i = 0; i < sl_share_scratch(degree); i++)
		assert_int_equal(scratch[i] != 0 && i < degree * 100u, 0); /* coefficients are wiped */
	arena_free(&arena);
}

TEST(blocks_agree)
{
	static const uint64_t primes[] = {101, 1020431, SL_P_MERSENNE31, (UINT64_C(1) << 44) - 17,
					  (UINT64_C(1) << 61) - 1};
	for (size_t i = 0; i < 5; i++)
		for (uint32_t degree = 1; degree <= 31; degree += degree < 9 ? 1 : 11)
			compare_with_polynomial(primes[i], degree, degree == 4 ? 1000 : 37);
}

/* A sharing of five neighbours, and streams that a key begins anew. */
struct five {
	struct sl_arena arena;
	struct sl_sharing sharing;
	struct sl_prg randomness[5];
	uint64_t x[1500];
};

static void five_open(struct five *f, uint64_t p)
{
	const sl_id ids[] = {9, 2, 7, 4, 5};
	struct sl_field field = field_of(p);
	uint64_t seed = 7;
	f->arena = arena_of(4096);
	assert_int_equal(sl_share_init(&f->sharing, &field, 1, ids, 5, &f->arena), SL_OK);
	for (size_t l = 0; l < 1500; l++)
		f->x[l] = l % 4 == 0 ? p - 1 : any64(&seed) % p;
}

static void five_rewind(struct five *f)
{
	for (uint8_t k = 0; k < 5; k++) {
		uint8_t key[SL_KEY_BYTES] = {k, 2};
		sl_prg_open(&f->randomness[k], key);
	}
}

/* Shares of all coordinates, at most `step` at a time; seeded rows are filled as the neighbours would. */
static void five_share(struct five *f, enum sl_sharing_kind kind, size_t step, uint64_t shares[6][1500])
{
	static uint64_t scratch[2048];
	uint64_t *out[6] = {NULL};
	five_rewind(f);
	for (size_t at = 0; at < 1500; at += step) {
		for (size_t r = kind == SL_SHARING_SEEDED ? 5 : 0; r <= 5; r++)
			out[r] = shares[r] + at;
		sl_share(&f->sharing, kind, f->randomness, f->x + at, step < 1500 - at ? step : 1500 - at,
			 out, scratch);
	}
	if (kind != SL_SHARING_SEEDED)
		return;
	five_rewind(f);
	for (size_t r = 0; r < 5; r++) {
		memset(shares[r], 0, sizeof shares[r]);
		sl_prg_add(&f->randomness[r], &f->sharing.field, shares[r], 1500);
	}
}

/* Chunk by chunk equals all at once; the shares sum to the secret; seeded shares are the additive ones. */
TEST(chunks_continue)
{
	static const uint64_t primes[] = {1020431, SL_P_MERSENNE31, (UINT64_C(1) << 36) - 5,
					  (UINT64_C(1) << 61) - 1};
	static uint64_t whole[6][1500], parts[6][1500], additive[6][1500];
	static struct five f;
	for (size_t i = 0; i < 4; i++) {
		five_open(&f, primes[i]);
		for (enum sl_sharing_kind kind = SL_SHARING_SHAMIR; kind <= SL_SHARING_SEEDED; kind++) {
			five_share(&f, kind, 1500, whole);
			five_share(&f, kind, 311, parts);
			assert_memory_equal(whole, parts, sizeof whole);
			for (size_t l = 0; l < 1500; l++) {
				uint64_t sum = 0;
				for (size_t r = 0; r <= 5; r++)
					sum = sl_field_add(&f.sharing.field, sum, whole[r][l]);
				assert_int_equal(sum, f.x[l]);
			}
			if (kind == SL_SHARING_OS)
				memcpy(additive, whole, sizeof whole);
		}
		assert_memory_equal(additive, whole, sizeof whole); /* the last kind is seeded */
		arena_free(&f.arena);
	}
}

TEST(bad_points)
{
	struct sl_arena arena = arena_of(4096), tiny = {.base = arena.base, .size = 16};
	struct sl_field field = field_of(101);
	struct sl_sharing s;
	assert_int_equal(sl_share_init(&s, &field, 1, (const sl_id[]){2, 2}, 2, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_share_init(&s, &field, 2, (const sl_id[]){2}, 1, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_share_init(&s, &field, 0, (const sl_id[]){2}, 1, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_share_init(&s, &field, 1, (const sl_id[]){101}, 1, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_share_init(&s, &field, 1, NULL, 0, &arena), SL_ERR_INVALID);
	assert_int_equal(sl_share_init(&s, &field, 1, (const sl_id[]){100}, 1, &tiny), SL_ERR_NOMEM);
	assert_int_equal(arena.used, 0);
	arena_free(&arena);
}
