/* Every kernel of every instruction set that this machine has, against plain C: the same bits, and nothing
 * written or read beyond the vectors (the sanitizers see the reads).
 */
#include "common/base/bytes.h"
#include "test/field/kernel_sets.h"

#define ROWS 101u /* terms of a dot, neighbours */

/* --- randomness --- */

/* Against one call of libsodium. */
TEST_EACH_SET_AND_PLAIN(stream)
{
	static uint8_t want[64 * 71], got[64 * 71 + 8];
	uint8_t key[SL_KEY_BYTES], nonce[crypto_stream_chacha20_NONCEBYTES];
	uint64_t seed = 1;
	for (size_t i = 0; i < sizeof key; i++)
		key[i] = (uint8_t)any64(&seed);
	static const uint64_t nonces[] = {0, 1, UINT64_C(5) << 32, UINT64_MAX};
	static const uint64_t firsts[] = {
		0, 1, UINT32_MAX - 40, UINT32_MAX, UINT64_C(7) << 32, UINT64_MAX - 200};
	for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
		for (size_t blocks = 0; blocks <= 70; blocks++) {
			size_t skew = blocks % 8;
			memset(got, 0x33, sizeof got);
			sl_bytes_pack(nonce, &nonces[f % 4], 1, 64);
			memset(want, 0, sizeof want);
			crypto_stream_chacha20_xor_ic(want, want, 64 * blocks, nonce, firsts[f], key);
			tried->stream(key, nonces[f % 4], firsts[f], got + skew, blocks);
			if (memcmp(got + skew, want, 64 * blocks) != 0)
				fail_at("stream", 0, blocks);
			for (size_t b = skew + 64 * blocks; b < sizeof got; b++)
				assert_int_equal(got[b], 0x33);
		}
}

/* Chance, and candidates around p. */
static void any_candidates(uint8_t *packed, size_t count, const struct sl_field *field, uint64_t *seed)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t die = any64(seed) % 8, v = die < 3 ? field->p - 1 + die : any64(seed);
		for (uint32_t b = 0; b < field->draw_bytes; b++)
			packed[i * field->draw_bytes + b] = (uint8_t)(v >> (8 * b));
	}
}

/* What was drawn is stored, added or subtracted; nothing behind it changes. */
static void expect_drawn(const struct sl_field *field, const uint8_t *packed, size_t n, uint64_t *seed)
{
	uint64_t drawn[MOST], old[MOST + GUARD], got[MOST + GUARD];
	size_t kept = plain->sift(field, packed, n, drawn, SL_DRAW);
	for (size_t l = 0; l < n + GUARD; l++)
		old[l] = any64(seed) % field->p;
	for (int subtract = 0; subtract < 2; subtract++) {
		memcpy(got, old, sizeof got);
		size_t found = tried->sift(field, packed, n, got, subtract ? SL_DRAW_SUBTRACT : SL_DRAW_ADD);
		if (found != kept || memcmp(got + kept, old + kept, (n + GUARD - kept) * sizeof *got) != 0)
			fail_at("sift", field->p, n);
		for (size_t l = 0; l < kept; l++)
			if (got[l] != (subtract ? sl_field_sub : sl_field_add)(field, old[l], drawn[l]))
				fail_at("sift", field->p, n);
	}
}

TEST_EACH_SET_AND_PLAIN(sift)
{
	uint64_t want[MOST], got[MOST + GUARD], seed = 2;
	for (size_t i = 0; i < PRIMES; i++)
		for (EACH_LENGTH(n)) {
			struct sl_field field = field_of(primes[i]);
			uint8_t *packed = malloc(n * field.draw_bytes +
						 1); /* of that size, so that reading on is seen */
			any_candidates(packed + 1, n, &field, &seed);
			memset(got, 0x33, sizeof got);
			size_t kept = plain->sift(&field, packed + 1, n, want, SL_DRAW);
			if (tried->sift(&field, packed + 1, n, got, SL_DRAW) != kept ||
			    memcmp(got, want, kept * sizeof *got) != 0)
				fail_at("sift", primes[i], n);
			for (size_t l = n; l < n + GUARD; l++)
				assert_true(got[l] == UINT64_C(0x3333333333333333));
			expect_drawn(&field, packed + 1, n, &seed);
			free(packed);
		}
}

/* --- vectors --- */

typedef void (*pairwise)(const struct sl_field *field, uint64_t *s, const uint64_t *v, size_t count);

static void compare_pairwise(const char *name, pairwise want_of, pairwise got_of)
{
	uint64_t want[MOST + GUARD], got[MOST + GUARD], v[MOST], seed = 3;
	for (size_t i = 0; i < PRIMES; i++)
		for (EACH_LENGTH(n)) {
			struct sl_field field = field_of(primes[i]);
			any_elements(want, MOST + GUARD, primes[i], &seed);
			any_elements(v, MOST, primes[i], &seed);
			memcpy(got, want, sizeof got);
			want_of(&field, want + 1, v + MOST - n, n);
			got_of(&field, got + 1, v + MOST - n, n);
			if (memcmp(got, want, sizeof got) != 0)
				fail_at(name, primes[i], n);
		}
}

TEST_EACH_SET(add_and_subtract)
{
	compare_pairwise("add", plain->add, tried->add);
	compare_pairwise("subtract", plain->subtract, tried->subtract);
}

/* Sums that are not reduced, up to the greatest. */
static void any_sums(uint64_t *v, size_t count, const struct sl_field *field, uint64_t *seed)
{
	uint64_t most = sl_kernels_rows_lazy(field) * (field->p - 1);
	for (size_t l = 0; l < count; l++)
		v[l] = any64(seed) % 3 == 0 ? most : any64(seed) % most;
}

TEST_EACH_SET(multiply)
{
	uint64_t want[MOST + GUARD], got[MOST + GUARD], v[MOST], w, seed = 4;
	for (size_t i = 0; i < PRIMES; i++)
		for (EACH_LENGTH(n))
			for (int add = 0; add < 2; add++) {
				struct sl_field field = field_of(primes[i]);
				any_elements(want, MOST + GUARD, primes[i], &seed);
				any_elements(&w, 1, primes[i], &seed);
				any_sums(v, MOST, &field, &seed);
				memcpy(got, want, sizeof got);
				plain->multiply(&field, want + 1, v, n, w, add);
				tried->multiply(&field, got + 1, v, n, w, add);
				if (memcmp(got, want, sizeof got) != 0)
					fail_at("multiply", primes[i], n);
			}
}

TEST_EACH_SET(multiply_in_place)
{
	uint64_t want[MOST], got[MOST], seed = 5;
	for (size_t i = 0; i < PRIMES; i++) {
		struct sl_field field = field_of(primes[i]);
		any_elements(got, MOST, primes[i], &seed);
		plain->multiply(&field, want, got, MOST, primes[i] / 2, false);
		tried->multiply(&field, got, got, MOST, primes[i] / 2, false);
		assert_memory_equal(got, want, sizeof got);
	}
}

/* --- sums of products --- */

struct products {
	struct sl_field field;
	uint64_t *first, *rows, *weights, *prepared, *got[SL_DOT_POINTS];
	size_t stride;
	uint32_t terms;
};

static struct products products_of(uint64_t p, uint32_t terms, size_t stride, uint64_t *seed)
{
	struct products d = {.field = field_of(p), .stride = stride, .terms = terms};
	d.first = malloc(stride * sizeof *d.first);
	d.rows = malloc(terms * stride * sizeof *d.rows);
	d.weights = malloc(SL_DOT_POINTS * terms * sizeof *d.weights);
	d.prepared = malloc(SL_DOT_POINTS * SL_DOT_WORDS * terms * sizeof *d.prepared);
	for (uint32_t r = 0; r < SL_DOT_POINTS; r++)
		d.got[r] = calloc(stride, sizeof *d.got[r]);
	any_elements(d.first, stride, p, seed);
	any_elements(d.rows, terms * stride, p, seed);
	any_elements(d.weights, SL_DOT_POINTS * terms, p, seed);
	return d;
}

static void products_free(struct products *d)
{
	for (uint32_t r = 0; r < SL_DOT_POINTS; r++)
		free(d->got[r]);
	free(d->first);
	free(d->rows);
	free(d->weights);
	free(d->prepared);
}

static void run_dot(const struct sl_kernels *kernels, struct products *d, uint32_t points, size_t n,
		    uint64_t *const *out)
{
	struct sl_dot dot = {&d->field, points, d->terms, d->prepared, d->first, d->rows, d->stride, n};
	for (uint32_t r = 0; r < points; r++)
		kernels->prepare(&d->field, d->weights + r * d->terms, d->terms,
				 d->prepared + r * SL_DOT_WORDS * d->terms);
	kernels->dot(&dot, out);
}

/* Product by product, each reduced by a division. */
static uint64_t dot_at(const struct products *d, uint32_t r, size_t l)
{
	const uint64_t *w = d->weights + r * d->terms;
	unsigned __int128 p = d->field.p, sum = (unsigned __int128)w[0] * d->first[l] % p;
	for (size_t k = 1; k < d->terms; k++)
		sum += (unsigned __int128)w[k] * d->rows[(k - 1) * d->stride + l] % p;
	return (uint64_t)(sum % p);
}

static void compare_dot(struct products *d, uint32_t points, size_t n)
{
	for (uint32_t r = 0; r < SL_DOT_POINTS; r++)
		memset(d->got[r], 0, d->stride * sizeof *d->got[r]);
	run_dot(tried, d, points, n, d->got);
	for (uint32_t r = 0; r < points; r++) {
		for (size_t l = 0; l < n; l++)
			if (d->got[r][l] != dot_at(d, r, l))
				fail_at("dot", d->field.p, n);
		for (size_t l = n; l < d->stride; l++)
			assert_int_equal(d->got[r][l], 0);
	}
}

TEST_EACH_SET_AND_PLAIN(dot)
{
	uint64_t seed = 6;
	for (size_t i = 0; i < PRIMES; i++) {
		for (uint32_t terms = 2; terms <= ROWS; terms++) {
			struct products d = products_of(primes[i], terms, SHORT + 5, &seed);
			compare_dot(&d, 1 + terms % SL_DOT_POINTS, any64(&seed) % (SHORT + 1));
			products_free(&d);
		}
		struct products d = products_of(primes[i], 12, MOST + 8, &seed);
		for (EACH_LENGTH(n))
			compare_dot(&d, 1 + (uint32_t)n % SL_DOT_POINTS, n);
		products_free(&d);
	}
}

/* As many of the greatest products as there can be. */
TEST_EACH_SET_AND_PLAIN(dot_of_the_greatest)
{
	uint64_t seed = 7;
	for (size_t i = 0; i < PRIMES; i++) {
		struct products d = products_of(primes[i], SL_LEARNERS_MAX, 9, &seed);
		for (size_t l = 0; l < 9; l++)
			d.first[l] = primes[i] - 1;
		for (size_t l = 0; l < 9 * SL_LEARNERS_MAX; l++)
			d.rows[l] = primes[i] - 1;
		for (size_t k = 0; k < SL_LEARNERS_MAX; k++)
			d.weights[k] = primes[i] - 1;
		compare_dot(&d, SL_DOT_POINTS, 9);
		products_free(&d);
	}
}

/* Against products one by one, also of the greatest elements. */
static void compare_inner(const struct sl_kernels *kernels, uint64_t p, size_t n, bool most, uint64_t *seed)
{
	struct sl_field field = field_of(p);
	uint64_t *a = malloc((n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b), want = 0;
	any_elements(a, n, p, seed);
	any_elements(b, n, p, seed);
	for (size_t l = 0; l < n; l++) {
		if (most)
			a[l] = b[l] = p - 1;
		want = sl_field_add(&field, want, sl_field_mul(&field, a[l], b[l]));
	}
	if (kernels->inner(&field, a, b, n) != want)
		fail_at("inner", p, n);
	free(a);
	free(b);
}

TEST_EACH_SET(inner)
{
	uint64_t seed = 14;
	for (size_t i = 0; i < PRIMES; i++)
		for (size_t n = 0; n <= SL_KERNEL_BLOCK;
		     n = n < SHORT || n == SL_KERNEL_BLOCK ? n + 1 : SL_KERNEL_BLOCK) {
			bool most = n % 2 == 1 || n == SL_KERNEL_BLOCK;
			compare_inner(plain, primes[i], n, most, &seed);
			compare_inner(tried, primes[i], n, most, &seed);
		}
}

/* --- packed vectors --- */

/* Rows of packed elements, each in memory of its own size and at an odd address. */
struct rows {
	uint8_t *memory[ROWS];
	const uint8_t *row[ROWS];
};

static void rows_open(struct rows *rows, const struct sl_field *field, uint32_t count, size_t n,
		      uint64_t *seed)
{
	uint64_t v[MOST];
	for (uint32_t r = 0; r < count; r++) {
		rows->memory[r] = malloc(sl_packed_bytes(n, field->bits) + 1);
		rows->row[r] = rows->memory[r] + 1;
		any_elements(v, n, field->p, seed);
		sl_bytes_pack(rows->memory[r] + 1, v, n, field->bits);
	}
}

static void rows_close(struct rows *rows, uint32_t count)
{
	for (uint32_t r = 0; r < count; r++)
		free(rows->memory[r]);
}

TEST_EACH_SET(gather)
{
	uint64_t want[MOST], got[MOST + GUARD], seed = 8;
	struct rows rows;
	for (size_t i = 0; i < PRIMES; i++)
		for (size_t n = 0; n <= 200; n = next_length(n)) {
			struct sl_field field = field_of(primes[i]);
			uint32_t most =
				sl_kernels_rows_lazy(&field) < ROWS ? sl_kernels_rows_lazy(&field) : ROWS;
			uint32_t count = 1 + (uint32_t)(any64(&seed) % most);
			size_t at = n / 3 / 8 * 8;
			rows_open(&rows, &field, count, n, &seed);
			memset(got, 0x33, sizeof got);
			plain->gather(&field, want, rows.row, count, at, n - at);
			tried->gather(&field, got, rows.row, count, at, n - at);
			if (memcmp(got, want, (n - at) * sizeof *got) != 0)
				fail_at("gather", primes[i], n);
			for (size_t l = n - at; l < n - at + GUARD; l++)
				assert_true(got[l] == UINT64_C(0x3333333333333333));
			rows_close(&rows, count);
		}
}

/* With elements and without, one that is too large included; ones fill the last byte. */
TEST_EACH_SET(take_and_greatest)
{
	uint64_t want[MOST + GUARD], got[MOST + GUARD], v[MOST], seed = 9;
	for (size_t i = 0; i < PRIMES; i++)
		for (EACH_LENGTH(n)) {
			struct sl_field field = field_of(primes[i]);
			uint8_t *packed = malloc(sl_packed_bytes(n, field.bits) + 1);
			bool add = any64(&seed) % 2, wrong = n > 0 && any64(&seed) % 4 == 0;
			any_elements(want, MOST + GUARD, primes[i], &seed);
			any_elements(v, n, primes[i], &seed);
			if (wrong)
				v[any64(&seed) % n] = UINT64_MAX >> (64 - field.bits);
			sl_bytes_pack(packed + 1, v, n, field.bits);
			packed[sl_packed_bytes(n, field.bits)] |= /* the bits that fill the last byte */
				(uint8_t)(n * field.bits % 8 == 0 ? 0 : 0xff << n * field.bits % 8);
			memcpy(got, want, sizeof got);
			uint64_t most = plain->greatest(&field, packed + 1, n);
			assert_true(tried->greatest(&field, packed + 1, n) == most);
			assert_true(plain->take(&field, want + 1, packed + 1, n, add) == most);
			assert_true(tried->take(&field, got + 1, packed + 1, n, add) == most);
			if (!wrong && memcmp(got, want, sizeof got) != 0)
				fail_at("take", primes[i], n);
			assert_memory_equal(got + 1 + n, want + 1 + n, (MOST + GUARD - 1 - n) * sizeof *got);
			free(packed);
		}
}

/* --- mixing --- */

/* States up to the greatest; or multiples of a divisor apart, where a wrong quotient shows. */
static int64_t any_state(uint32_t d, uint64_t *seed)
{
	int64_t most = (INT64_C(1) << 62) - 1;
	switch (any64(seed) % 6) {
	case 0:
		return 0;
	case 1:
		return most;
	case 2:
		return most / d * d;
	case 3:
		return (int64_t)(any64(seed) % 4096) * d;
	case 4:
		return (int64_t)(any64(seed) >> (2 + any64(seed) % 60)) / d * d;
	}
	return (int64_t)(any64(seed) >> 2);
}

static void compare_mix(uint32_t degree, size_t n, uint32_t divisor_most, uint64_t *seed)
{
	int64_t want[MOST + GUARD], got[MOST + GUARD];
	uint8_t *memory[ROWS];
	const uint8_t *states[ROWS];
	struct sl_divisor divisors[ROWS];
	uint32_t d[3];
	for (size_t i = 0; i < 3; i++)
		d[i] = 2 + (uint32_t)(any64(seed) % (divisor_most - 1));
	for (size_t l = 0; l < MOST + GUARD; l++)
		want[l] = any_state(d[0], seed);
	memcpy(got, want, sizeof got);
	for (uint32_t r = 0; r < degree; r++) {
		uint32_t mine = d[any64(seed) % 3];
		memory[r] = malloc(8 * n + 1);
		states[r] = memory[r] + 1;
		sl_metropolis_divisor_init(&divisors[r], mine);
		for (size_t l = 0; l < n; l++) {
			int64_t x = any64(seed) % 2 ? any_state(mine, seed) : want[l] / mine * mine;
			memcpy(memory[r] + 1 + 8 * l, &x, sizeof x);
		}
	}
	plain->mix(want, n, states, divisors, degree);
	tried->mix(got, n, states, divisors, degree);
	if (memcmp(got, want, sizeof got) != 0)
		fail_at("mix", d[0], n);
	for (uint32_t r = 0; r < degree; r++)
		free(memory[r]);
}

TEST_EACH_SET(mix)
{
	uint64_t seed = 10;
	static const uint32_t most[] = {5, 101, 1023, 2000, (1u << 20) - 1};
	for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
		for (uint32_t degree = 1; degree <= 100; degree++)
			compare_mix(degree, any64(&seed) % SHORT, most[i], &seed);
		for (EACH_LENGTH(n))
			compare_mix(1 + (uint32_t)(any64(&seed) % 9), n, most[i], &seed);
	}
}

/* Every divisor, around its multiples, at both ends. */
TEST_EACH_SET(mix_divisors)
{
	enum { STATES = 24 };
	for (uint32_t d = 2; d <= 2100; d++) {
		struct sl_divisor divisor;
		int64_t top = (INT64_C(1) << 62) - 1, x[STATES], want[STATES] = {0}, got[STATES] = {0};
		int64_t around[] = {0,
				    d,
				    top / d * d,
				    top - top % d - d,
				    (INT64_C(1) << 31) / d * d,
				    (INT64_C(1) << 52) / d * d};
		sl_metropolis_divisor_init(&divisor, d);
		for (size_t l = 0; l < STATES; l++) {
			int64_t y = around[l / 4] + (int64_t)(l % 4) - 1; /* one below to two above */
			x[l] = y < 0 ? 0 : y > top ? top : y;
		}
		const uint8_t *up = (const uint8_t *)x, *zero = (const uint8_t[8 * STATES]){0};
		plain->mix(want, STATES, &up, &divisor, 1);
		tried->mix(got, STATES, &up, &divisor, 1);
		assert_memory_equal(got, want, sizeof got);
		int64_t down[STATES];
		memcpy(want, x, sizeof x);
		memcpy(down, x, sizeof x);
		plain->mix(want, STATES, &zero, &divisor, 1);
		tried->mix(down, STATES, &zero, &divisor, 1);
		assert_memory_equal(down, want, sizeof down);
	}
}

/* --- choosing --- */

TEST(choosing)
{
	assert_int_equal(sl_kernels_choose("avx1024"), SL_ERR_NOTFOUND);
	assert_int_equal(sl_kernels_choose(""), SL_ERR_NOTFOUND);
	assert_int_equal(sl_kernels_choose("portable"), SL_OK);
	assert_string_equal(sl_kernels()->name, "portable");
	assert_true(sl_kernels() == &sl_kernels_portable);
	assert_int_equal(sl_kernels_choose(NULL), SL_OK);
	const char *best = sl_kernels()->name;
	assert_int_equal(sl_kernels_choose(best), SL_OK);
	assert_string_equal(sl_kernels()->name, best);
}
