/* Vectors to integers that noise is added to (ROUND.md §4.9 Noise): rounded with dither, or scaled down to a
 * norm. */
#include <float.h>
#include <math.h>
#include <sodium.h>

#include "common/field/encoding.h"
#include "common/field/encoding_scale.h"

#define BLOCK 256u     /* elements whose dither is on the stack */
#define BLOCK_WORDS 8u /* 64-bit words in a block of ChaCha20 */
#define UNIFORM_BITS 53

typedef unsigned __int128 wide;

/* Elements of a contribution, in steps. */
struct reader {
	const struct sl_encoding *encoding;
	const void *model, *base;
	double scale; /* factor / step */
};

static double value_of(const struct sl_tensor_run *run, const void *vector, size_t l)
{
	const void *from = sl_encoding_from(vector, run->offset);
	return vector == NULL		  ? 0
	       : run->dtype == SL_FLOAT32 ? (double)((const float *)from)[l]
					  : ((const double *)from)[l];
}

/* Return element `l` of a run in steps; of finite numbers, a finite one. */
static double steps_of(const struct reader *reader, const struct sl_tensor_run *run, size_t l)
{
	double a = value_of(run, reader->model, l), b = value_of(run, reader->base, l), u = a - b;
	double steps = isfinite(u) ? u * reader->scale : a * reader->scale - b * reader->scale;
	return isfinite(a) && !isfinite(steps) ? copysign(DBL_MAX, steps) : steps;
}

/* Fill `words` with the uniform words of the elements `first` .. of a key. */
static void uniform(const uint8_t *key, size_t first, size_t count,
		    uint64_t words[static BLOCK + BLOCK_WORDS])
{
	static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
	size_t skip = first % BLOCK_WORDS, bytes = (skip + count) * sizeof *words;
	sodium_memzero(words, bytes);
	crypto_stream_chacha20_xor_ic((uint8_t *)words, (uint8_t *)words, bytes, nonce, first / BLOCK_WORDS,
				      key);
	for (size_t i = 0; i < count; i++)
		words[i] = words[i + skip];
}

/* Return floor(steps), or 1 more with the probability of the fraction: what floor(steps + u) is. */
static double dithered(double steps, uint64_t word)
{
	double whole = floor(steps);
	return whole + (ldexp((double)(word >> (64 - UNIFORM_BITS)), -UNIFORM_BITS) < steps - whole);
}

/* Encode a part of a run of at most BLOCK elements. */
static int encode_block(const struct sl_field *field, const struct reader *reader,
			const struct sl_tensor_run *run, size_t at, size_t count, uint64_t *x,
			struct sl_encode_note *note)
{
	const struct sl_noisy *noisy = &reader->encoding->noisy;
	uint64_t words[BLOCK + BLOCK_WORDS];
	int err = SL_OK;
	if (noisy->dither != NULL)
		uniform(noisy->dither, run->first + at, count, words);
	for (size_t l = 0; l < count; l++) {
		double steps = steps_of(reader, run, at + l), most = (double)noisy->most;
		if (!isfinite(steps)) {
			note->index = run->first + at + l;
			note->value = value_of(run, reader->model, at + l);
			err = SL_ERR_INVALID;
			break;
		}
		double whole = noisy->dither != NULL ? dithered(steps, words[l]) : rint(steps);
		note->clamped += fabs(whole) > most;
		whole = fmin(fmax(whole, -most), most);
		x[l] = reader->encoding->weight == 0 ? 0 : sl_field_lift(field, (uint64_t)(int64_t)whole);
	}
	sodium_memzero(words, sizeof words);
	return err;
}

int sl_encoding_noisy_part(const struct sl_field *field, const struct sl_encoding *encoding,
			   const struct sl_tensors *tensors, const void *model, const void *base, size_t n,
			   size_t first, size_t count, uint64_t *x, struct sl_encode_note *note)
{
	const struct reader reader = {encoding, model, base,
				      ldexp(encoding->noisy.factor, -encoding->noisy.step)};
	int err = SL_OK;
	*note = (struct sl_encode_note){0};
	struct sl_tensor_run run = {.apart = true};
	for (sl_tensors_seek(tensors, first, &run);
	     err == SL_OK && run.first + run.count < first + count && sl_tensors_next(tensors, n, &run);) {
		struct sl_tensor_run some = sl_tensors_part(&run, first, count);
		for (size_t at = 0, block; err == SL_OK && at < some.count; at += block) {
			block = some.count - at < BLOCK ? some.count - at : BLOCK;
			err = encode_block(field, &reader, &some, at, block, x + (some.first - first) + at,
					   note);
		}
	}
	if (err == SL_OK && first + count == n + 1)
		x[n - first] = encoding->weight;
	return err;
}

/* ---- the norm ---- */

/* Return the square of the norm of the vector in steps: exactly, rounded to integers, in *whole; and before.
 */
static double squares(const struct reader *reader, const struct sl_tensors *tensors, size_t n, wide *whole)
{
	double sum = 0;
	struct sl_tensor_run run = {.apart = true};
	for (*whole = 0; sl_tensors_next(tensors, n, &run);)
		for (size_t l = 0; l < run.count; l++) {
			double steps = steps_of(reader, &run, l), rounded = rint(fabs(steps));
			sum += steps * steps;
			wide up = rounded < 0x1p60 ? (wide)rounded : (wide)1 << 60;
			*whole += up * up;
		}
	return sum;
}

#define TRIES 4
#define VAST 0x1p-600 /* what vectors are scaled by whose squares are beyond doubles */

double sl_encoding_factor(const struct sl_encoding *encoding, const struct sl_tensors *tensors,
			  const void *model, const void *base, size_t n, double norm)
{
	struct reader reader = {encoding, model, base, ldexp(1, -encoding->noisy.step)};
	double limit = norm * norm, unit = reader.scale, scaled = 1;
	if (fma(norm, norm, -limit) < 0) /* it was rounded up */
		limit = nextafter(limit, 0);
	wide whole, most = (wide)limit;
	double length = sqrt(squares(&reader, tensors, n, &whole));
	if (!isfinite(length)) {
		scaled = VAST;
		reader.scale = unit * scaled;
		length = sqrt(squares(&reader, tensors, n, &whole));
	}
	if (!isfinite(length)) /* beyond what doubles hold: as zeros */
		return 0;
	double factor = fmin(1, norm / length * scaled);
	for (int i = 0; i < TRIES; i++) {
		reader.scale = unit * factor;
		squares(&reader, tensors, n, &whole);
		if (whole <= most)
			return factor;
		factor *= norm / sqrt((double)whole) * (1 - 0x1p-40);
	}
	/* rounding adds at most sqrt(n) / 2 to the norm */
	return fmax(0, (norm - sqrt((double)n) / 2) / length * scaled * (1 - 0x1p-20));
}
