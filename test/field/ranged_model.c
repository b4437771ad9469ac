#include "test/field/ranged_model.h"

#include <math.h>
#include <string.h>

#include "common/base/bytes.h"
#include "test/lib/test.h"

static const struct sl_tensor list[COUNT] = {
	{.name = "d", .dtype = SL_FLOAT64, .dimensions = 1, .shape = {7}},
	{.name = "i", .dtype = SL_INT64, .dimensions = 1, .shape = {5}},
	{.name = "none", .dtype = SL_INT64, .dimensions = 1, .shape = {0}},
	{.name = "metric:loss", .dtype = SL_FLOAT64},
	{.name = "large", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {LARGE}},
	{.name = "tiny", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {LARGE}},
	{.name = "moments", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {MOMENTS}, .nonnegative = true},
	{.name = "v", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {4}, .nonnegative = true}};
struct sl_tensor_begin begins[COUNT];
struct sl_tensors mixed = {.items = list, .count = COUNT};
static const size_t begin[COUNT + 1] = {0, 7, 12, 12, F, F + LARGE, F + 2 * LARGE, N - 4, N};
const int limbs_of[COUNT] = {5, 6, 6, 22, 1, 1, 3, 5};

struct sl_field field;
struct sl_ranges ranges;
static uint64_t memory[100];
int16_t exponents[COUNT] = {-40, 0, 0, 0, 40, -40, 6, -1};
struct model theta, base;
uint64_t x[ALL];

struct sl_encoding ranged(uint64_t weight)
{
	assert_int_equal(sl_field_init(&field, (UINT64_C(1) << 44) - 17), SL_OK);
	assert_true(sl_ranges_memory(&mixed) <= sizeof memory);
	sl_ranges_set(&ranges, &mixed, N, memory);
	sl_tensors_begin(&mixed, begins);
	assert_int_equal(sl_layout_extra(&ranges.layout, true, BITS), EXTRA);
	for (uint32_t k = 0; k < COUNT; k++)
		ranges.own[k] = (uint8_t)(2 * k + 1);
	return (struct sl_encoding){.kind = SL_ENCODING_WEIGHTED,
				    .values = SL_VALUES_UPDATE,
				    .update_bits = BITS,
				    .clipping_range = 1, /* of no importance */
				    .weight = weight,
				    .ranges = &ranges,
				    .exponents = exponents};
}

uint32_t tensor_of(size_t l)
{
	uint32_t k = 0;
	while (begin[k + 1] <= l)
		k++;
	return k;
}

bool is_exact(uint32_t k)
{
	return k == I || k == NONE || k == METRIC;
}

long double value_of(const struct model *model, size_t l)
{
	return l < 7	 ? (long double)model->d[l]
	       : l < 12	 ? (long double)model->i[l - 7]
	       : l == 12 ? (long double)model->m
			 : (long double)model->f[l - F];
}

long double update_of(const struct model *model, size_t l)
{
	long double update = value_of(model, l) - value_of(&base, l);
	volatile double rounded = (double)update;
	return is_exact(tensor_of(l)) ? update : (long double)rounded;
}

int step_of(uint32_t k)
{
	return exponents[k] - BITS * limbs_of[k];
}

wide steps_of(long double u, uint32_t k)
{
	long double steps = nearbyintl(ldexpl(u, -step_of(k))), edge = ldexpl(1, BITS * limbs_of[k]);
	return (wide)(steps > edge ? edge : steps < -edge ? -edge : steps);
}

/* Return a * 2^bits rounded to the nearest integer of that, halves up. */
static wide rounded_down(wide a, int bits)
{
	wide unit = (wide)1 << bits, twice = 2 * a + unit, quotient = twice / (2 * unit);
	return quotient - (quotient * 2 * unit > twice);
}

/* Return the limb that element `at` of a vector is, of element *l of the model. */
static int limb_of(size_t at, size_t *l)
{
	*l = at;
	if (at < N)
		return 0;
	at -= N;
	for (uint32_t k = 0; k < COUNT; k++)
		for (int limb = 1; limb < limbs_of[k]; limb++) {
			size_t size = begin[k + 1] - begin[k];
			*l = begin[k] + at;
			if (at < size)
				return limb;
			at -= size;
		}
	return -1;
}

/* Return limb `limb` of the exact value of an element: the bits of its magnitude from BITS * limbs below. */
static int64_t exact_limb(size_t l, int limb)
{
	uint32_t k = tensor_of(l);
	long double value = value_of(&theta, l);
	int below = BITS * (limbs_of[k] - 1 - limb) - (k == METRIC ? 128 : 0);
	int64_t digit = (int64_t)fmodl(floorl(ldexpl(fabsl(value), -below)), 1 << BITS);
	return value < 0 ? -digit : digit;
}

int64_t expected(size_t at)
{
	size_t l;
	int limb = limb_of(at, &l);
	if (at >= ALL - 1 - 16 * COUNT) {
		size_t count = at - (ALL - 1 - 16 * COUNT);
		return at == ALL - 1 || count % 16 == ranges.own[count / 16];
	}
	uint32_t k = tensor_of(l);
	if (is_exact(k))
		return exact_limb(l, limb);
	wide rest = steps_of(update_of(&theta, l), k), digit = 0;
	for (int j = 0; j <= limb; j++) {
		int below = BITS * (limbs_of[k] - 1 - j);
		digit = below == 0 ? rest : rounded_down(rest, below);
		rest -= digit * ((wide)1 << below);
	}
	return (int64_t)digit;
}

void draw(uint64_t *seed)
{
	for (size_t l = 0; l < N; l++) {
		uint32_t k = tensor_of(l);
		long double part = (long double)(int64_t)any64(seed) * 0x1p-63L;
		double u = (double)ldexpl(part, exponents[k] - (int)(any64(seed) % 16));
		if (k == D)
			theta.d[l] = base.d[l] + u;
		else if (k == I)
			theta.i[l - 7] = (int64_t)any64(seed) >> any64(seed) % 63;
		else if (k == METRIC)
			theta.m = (double)ldexpl(part, (int)(any64(seed) % 190) - 62);
		else
			theta.f[l - F] = base.f[l - F] + (float)(0.99 * u);
	}
}

void draw_base(uint64_t *seed)
{
	memset(&base, 0, sizeof base);
	draw(seed);
	base = theta;
	for (size_t l = 0; l < MOMENTS; l++)
		base.f[V - MOMENTS + l] = fabsf(base.f[V - MOMENTS + l]);
	for (size_t l = 0; l < 4; l++)
		base.f[V + l] = 0.25f;
}

void encode(const struct sl_encoding *e, struct sl_encode_note *note)
{
	assert_int_equal(sl_encoding_elements(e, N), ALL);
	assert_int_equal(sl_encoding_encode(&field, e, &mixed, &theta, &base, N, x, note), SL_OK);
}

void decode(const struct sl_encoding *e, const uint64_t *z, struct model *mean)
{
	static uint8_t packed[ALL * 8 + 8];
	static struct model part;
	static const size_t sizes[] = {N, 7};
	sl_bytes_pack(packed, z, ALL, field.bits);
	for (size_t s = 0; s < 2; s++) {
		mixed.begins = s == 1 ? begins : NULL;
		memset(mean, 0xff, sizeof *mean);
		for (size_t at = 0; at < N; at += sizes[s]) {
			size_t count = N - at < sizes[s] ? N - at : sizes[s];
			size_t from = sl_tensors_offset(&mixed, N, at),
			       to = sl_tensors_offset(&mixed, N, at + count);
			assert_int_equal(sl_encoding_decode_part(&field, e, &mixed, z + at, packed,
								 z[ALL - 1], &base, N, at, count, &part),
					 SL_OK);
			memcpy((uint8_t *)mean + from, &part, to - from);
		}
	}
}
