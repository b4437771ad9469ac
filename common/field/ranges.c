#include "common/field/ranges.h"

#include <math.h>

#define SMALL_PART 64u	  /* the small tensors have a part of the model of at most 1 / 64, .. */
#define SMALL_LEAST 1024u /* .. or so many elements */
#define ROOM 1		  /* bits above what the learners have */
#define GROWTH_ALWAYS 2	  /* bits, that c+1 learners need no committed change for */
#define LIMBS_ROOM 30	  /* .. and more with several limbs, which keep as many bits below */
#define ZEROS_ROOM 12	  /* .. and more of zeros with several limbs */
#define FIRST_ROOM 8	  /* .. above the values of a model, whose updates are not known yet */

/* The largest g of a magnitude, of updates up to 2^g times the range: fine where ranges usually are. */
static const int8_t edges[SL_MAGNITUDES] = {0, -24, -20, -16, -13, -10, -8, -6, -5, -4, -3, -2, -1, 0, 2, 5};

/* ---- the layout ---- */

static uint64_t elements_of(const struct sl_tensors *tensors, size_t n, uint32_t k)
{
	return tensors == NULL || tensors->count == 0 ? n : sl_tensor_elements(&tensors->items[k]);
}

/* Return the sum of the elements of all tensors that have at most `most`, and in *next the least of those
 * that have more; 0: none. */
static uint64_t sum_up_to(const struct sl_tensors *tensors, size_t n, uint64_t most, uint64_t *next)
{
	uint64_t sum = 0;
	*next = 0;
	for (uint32_t k = 0; k < sl_ranges_count(tensors); k++) {
		uint64_t elements = elements_of(tensors, n, k);
		if (elements <= most)
			sum += elements;
		else if (*next == 0 || elements < *next)
			*next = elements;
	}
	return sum;
}

/* Return the most elements of a small tensor. */
static uint64_t small_most(const struct sl_tensors *tensors, size_t n)
{
	uint64_t room = n / SMALL_PART > SMALL_LEAST ? n / SMALL_PART : SMALL_LEAST;
	uint64_t most = 0, next, after;
	sum_up_to(tensors, n, most, &next);
	while (next != 0 && sum_up_to(tensors, n, next, &after) <= room) {
		most = next;
		next = after;
	}
	return most;
}

size_t sl_ranges_memory(const struct sl_tensors *tensors)
{
	return sl_ranges_count(tensors) * (sizeof(uint64_t) + sizeof(int16_t) + 2 * sizeof(uint8_t));
}

void sl_ranges_set(struct sl_ranges *ranges, const struct sl_tensors *tensors, size_t n, void *memory)
{
	uint64_t most = small_most(tensors, n);
	uint32_t count = sl_ranges_count(tensors);
	*ranges = (struct sl_ranges){.count = count, .most = memory};
	ranges->next = (int16_t *)(void *)(ranges->most + count);
	ranges->limbs = (uint8_t *)(ranges->next + count);
	ranges->own = ranges->limbs + count;
	for (uint32_t k = 0; k < count; k++) {
		bool whole = tensors != NULL && tensors->count > 0 && tensors->items[k].dtype == SL_INT64;
		bool variance = tensors != NULL && tensors->count > 0 && tensors->items[k].nonnegative;
		uint64_t elements = elements_of(tensors, n, k);
		ranges->limbs[k] = whole			  ? SL_LIMBS_INTEGER
				   : variance || elements <= most ? SL_LIMBS_FINE
								  : 1;
		ranges->lower += elements * (ranges->limbs[k] - 1u);
	}
}

/* ---- limbs ---- */

struct sl_limbs sl_ranges_limbs(uint32_t count, uint32_t bits)
{
	uint32_t lower = count > 1 ? (SL_LIMBS_BITS - bits) / (count - 1) : 0;
	return (struct sl_limbs){count, bits, lower < bits ? lower : bits};
}

int64_t sl_ranges_limb(const struct sl_limbs *limbs, int64_t whole, uint32_t limb)
{
	int64_t taken = whole;
	for (uint32_t j = 0; j <= limb; j++) {
		uint32_t below = sl_limbs_below(limbs, j);
		int64_t half = below > 0 ? INT64_C(1) << (below - 1) : 0;
		taken = (whole + half) >> below; /* rounded down, also below 0 */
		whole -= (int64_t)((uint64_t)taken << below);
	}
	return taken;
}

struct sl_grid sl_ranges_grid(uint32_t limbs, int exponent, uint32_t bits, enum sl_dtype dtype)
{
	struct sl_grid g = {.limbs = sl_ranges_limbs(limbs, bits)};
	uint32_t all = bits + sl_limbs_below(&g.limbs, 0);
	g.step = exponent - (int)all;
	g.step = dtype == SL_INT64 && g.step < 0 ? 0 : g.step;
	g.edge = INT64_C(1) << all;
	return g;
}

/* ---- exponents ---- */

int sl_ranges_above(double value)
{
	int exponent;
	double part = frexp(value, &exponent); /* value = part 2^exponent, 1/2 <= part < 1 */
	return exponent - (part == 0.5);
}

uint32_t sl_ranges_magnitude(double most, int range)
{
	if (!(most > 0))
		return 0;
	if (!isfinite(most))
		return SL_MAGNITUDES - 1;
	int above = sl_ranges_above(most) - range;
	uint32_t magnitude = 1;
	while (magnitude < SL_MAGNITUDES - 1 && above > edges[magnitude])
		magnitude++;
	return magnitude;
}

/* Return the least g with a <= b 2^g, of numbers that are not 0. */
static int log2_above(uint64_t a, uint64_t b)
{
	unsigned __int128 wide = b;
	int g = 0;
	for (; wide < a; g++)
		wide <<= 1;
	for (wide = a; g <= 0 && wide << 1 <= b; g--)
		wide <<= 1;
	return g;
}

static int16_t within(int exponent)
{
	return (int16_t)(exponent < SL_RANGE_LEAST  ? SL_RANGE_LEAST
			 : exponent > SL_RANGE_MOST ? SL_RANGE_MOST
						    : exponent);
}

/* Return the largest magnitude that `backed` learners reach, or all that have an update at all; 0: none has.
 */
static uint32_t reached(const struct sl_range_sums *sums)
{
	uint64_t count = 0;
	uint32_t last = 0;
	for (uint32_t b = SL_MAGNITUDES - 1; b > 0 && count < sums->backed; b--) {
		count += sums->counts[b];
		last = sums->counts[b] > 0 ? b : last;
	}
	return last;
}

int16_t sl_ranges_next(const struct sl_range_sums *sums, int range, uint32_t bits)
{
	uint32_t magnitude = reached(sums);
	if (magnitude == 0)
		return within(range);
	int wanted = range + edges[magnitude] + ROOM;
	/* The range grows up to 4 N times the committed change; a little also where updates cancel. */
	uint64_t change = sums->most > sums->weight ? sums->most : sums->weight;
	int justified = range - (int)bits + log2_above(change, sums->weight) +
			log2_above(4 * (uint64_t)sums->learners, 1);
	int most = justified > range + GROWTH_ALWAYS ? justified : range + GROWTH_ALWAYS;
	return within(wanted < most ? wanted : most);
}

int16_t sl_ranges_first(const struct sl_range_sums *sums, int step)
{
	return sums->most == 0 ? SL_RANGE_NONE
			       : within(step + log2_above(sums->most, sums->weight) + FIRST_ROOM);
}

int16_t sl_ranges_of_values(double most)
{
	return most > 0 && isfinite(most) ? within(sl_ranges_above(most) + FIRST_ROOM) : SL_RANGE_NONE;
}

static int largest_of(const int16_t *exponents, uint32_t count)
{
	int largest = SL_RANGE_NONE;
	for (uint32_t k = 0; k < count; k++)
		if (exponents[k] != SL_RANGE_NONE && (largest == SL_RANGE_NONE || exponents[k] > largest))
			largest = exponents[k];
	return largest == SL_RANGE_NONE ? 0 : largest;
}

void sl_ranges_complete(const struct sl_ranges *ranges, int16_t *exponents)
{
	int largest = largest_of(exponents, ranges->count);
	for (uint32_t k = 0; k < ranges->count; k++) {
		bool zeros = exponents[k] == SL_RANGE_NONE, limbs = ranges->limbs[k] > 1;
		int room = !limbs ? 0 : zeros ? ZEROS_ROOM : LIMBS_ROOM;
		exponents[k] = within((zeros ? largest : exponents[k]) + room);
	}
}
