#include "common/field/ranges.h"

#include <math.h>
#include <string.h>

#define SMALL_PART 192u	  /* the small tensors have a part of the model of at most 1 / 192, .. */
#define SMALL_LEAST 1024u /* .. or so many elements */
#define ROOM 1		  /* bits above what the learners have */
#define GROWTH_ALWAYS 2	  /* bits, that c+1 learners need no committed change for */
#define LIMBS_ROOM 30	  /* .. and more with several limbs, which keep as many bits below, .. */
#define LIMBS_MOST 38	  /* .. up to this exponent: values above have grown already */
#define ZEROS_ROOM 12	  /* .. and more of zeros with several limbs */

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
	return sl_ranges_count(tensors) * ((1 + SL_CLASS_COUNT) * sizeof(uint64_t) + sizeof(double) +
					   sizeof(int16_t) + 2 * sizeof(uint8_t));
}

/* Return the class of tensor `k`; small tensors have at most `most` elements. */
static enum sl_tensor_class class_of(const struct sl_tensors *tensors, size_t n, uint32_t k, uint64_t most)
{
	if (elements_of(tensors, n, k) <= most && (tensors == NULL || tensors->count == 0))
		return SL_CLASS_SMALL;
	if (tensors == NULL || tensors->count == 0)
		return SL_CLASS_PLAIN;
	const struct sl_tensor *tensor = &tensors->items[k];
	if (tensor->dtype == SL_INT64)
		return SL_CLASS_INTEGER;
	if (sl_tensor_is_metric(tensor))
		return SL_CLASS_METRIC;
	if (elements_of(tensors, n, k) <= most)
		return SL_CLASS_SMALL;
	return tensor->nonnegative ? SL_CLASS_NONNEGATIVE : SL_CLASS_PLAIN;
}

void sl_ranges_set(struct sl_ranges *ranges, const struct sl_tensors *tensors, size_t n, void *memory)
{
	uint64_t most = small_most(tensors, n);
	uint32_t count = sl_ranges_count(tensors);
	*ranges = (struct sl_ranges){.layout = {.n = n, .tensors = count}, .count = count, .before = memory};
	ranges->most = (uint64_t *)(void *)(ranges->before + count);
	ranges->value = (double *)(void *)(ranges->most + count);
	ranges->next = (int16_t *)(void *)(ranges->value + count);
	ranges->class = (uint8_t *)(ranges->next + count);
	ranges->own = ranges->class + count;
	for (uint32_t k = 0; k < count; k++) {
		memcpy(ranges->before[k], ranges->layout.elements, sizeof ranges->before[k]);
		ranges->class[k] = (uint8_t)class_of(tensors, n, k, most);
		ranges->layout.elements[ranges->class[k]] += elements_of(tensors, n, k);
	}
}

/* Bits of exact values: the more values a model has, the fewer a tensor that is not small gets. */
#define SMALL_MODEL (UINT64_C(1) << 16)
#define LARGE_MODEL (UINT64_C(1) << 24)

struct sl_exact sl_ranges_exact(enum sl_tensor_class class, uint64_t n, uint32_t limb_bits)
{
	bool deep = class != SL_CLASS_PLAIN || n <= SMALL_MODEL;
	struct sl_exact exact = {.bits = 256, .bottom = -128, .limb_bits = limb_bits};
	if (class == SL_CLASS_INTEGER)
		exact = (struct sl_exact){.bits = 64, .limb_bits = limb_bits};
	else if (!deep && n <= LARGE_MODEL)
		exact = (struct sl_exact){.bits = 128, .bottom = -64, .limb_bits = limb_bits};
	else if (!deep)
		exact = (struct sl_exact){.bits = 64, .bottom = -40, .limb_bits = limb_bits};
	exact.count = sl_exact_count(exact.bits, limb_bits);
	return exact;
}

/* Return the elements of the lower limbs of so many `elements` by class. */
static uint64_t lower_of(const uint64_t elements[static SL_CLASS_COUNT], uint64_t n, bool ranged,
			 uint32_t bits)
{
	uint64_t lower = 0;
	for (enum sl_tensor_class class = 0; class < SL_CLASS_COUNT; class ++) {
		bool exact = !ranged || sl_ranges_always_exact(class);
		uint32_t limbs = exact ? sl_ranges_exact(class, n, bits).count : sl_ranges_limb_count(class);
		lower += elements[class] * (limbs - 1);
	}
	return lower;
}

uint64_t sl_ranges_lower(const struct sl_layout *layout, bool ranged, uint32_t bits)
{
	return lower_of(layout->elements, layout->n, ranged, bits);
}

uint64_t sl_ranges_lower_before(const struct sl_ranges *ranges, bool ranged, uint32_t bits, uint32_t k)
{
	return lower_of(ranges->before[k], ranges->layout.n, ranged, bits);
}

uint32_t sl_ranges_lower_tensor(const struct sl_ranges *ranges, bool ranged, uint32_t bits, size_t at)
{
	uint32_t low = 0, high = ranges->count; /* the answer is in low .. high - 1 */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (sl_ranges_lower_before(ranges, ranged, bits, middle) <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
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

struct sl_grid sl_ranges_grid(uint32_t limbs, int exponent, uint32_t bits)
{
	struct sl_grid g = {.limbs = sl_ranges_limbs(limbs, bits)};
	uint32_t all = bits + sl_limbs_below(&g.limbs, 0);
	g.step = exponent - (int)all;
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
	/* The range grows up to 4 N times the committed change; a little if updates of c + 1 cancel, too. */
	uint64_t change = sums->most > sums->weight ? sums->most : sums->weight;
	int justified = range - (int)bits + log2_above(change, sums->weight) +
			log2_above(4 * (uint64_t)sums->learners, 1);
	int most = sums->counts[0] + sums->backed <= sums->learners ? range + GROWTH_ALWAYS : range;
	most = justified > most ? justified : most;
	return within(wanted < most ? wanted : most);
}

/* Return the largest exponent of the values up to `most` of all tensors but the exact ones; 0 of zeros. */
static int largest_exponent(const struct sl_ranges *ranges, const double *most)
{
	double largest = 0;
	for (uint32_t k = 0; k < ranges->count; k++)
		if (!sl_ranges_always_exact(ranges->class[k]) && most[k] > largest)
			largest = most[k];
	return largest > 0 ? sl_ranges_above(largest) + SL_RANGE_FIRST_ROOM : 0;
}

/* The second moments of an optimizer begin with zeros and stay small, and updates are divided by them. */
static bool is_nonnegative(const struct sl_tensors *tensors, uint32_t k)
{
	return tensors != NULL && k < tensors->count && tensors->items[k].nonnegative;
}

/* Return `exponent` with room for values that grow, such as a variance that begins with 1. */
static int with_limbs_room(int exponent)
{
	int most = exponent > LIMBS_MOST ? exponent : LIMBS_MOST;
	return exponent + LIMBS_ROOM < most ? exponent + LIMBS_ROOM : most;
}

void sl_ranges_first(const struct sl_ranges *ranges, const struct sl_tensors *tensors, const double *most,
		     int16_t *exponents)
{
	int largest = largest_exponent(ranges, most);
	for (uint32_t k = 0; k < ranges->count; k++) {
		bool zeros = !(most[k] > 0);
		int exponent = zeros ? largest : sl_ranges_above(most[k]) + SL_RANGE_FIRST_ROOM;
		if (sl_ranges_limb_count(ranges->class[k]) > 1 && !zeros)
			exponent = with_limbs_room(exponent);
		else if (sl_ranges_limb_count(ranges->class[k]) > 1)
			exponent += is_nonnegative(tensors, k) ? 0 : ZEROS_ROOM;
		exponents[k] = sl_ranges_always_exact(ranges->class[k]) ? 0 : within(exponent);
	}
}
