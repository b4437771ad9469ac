#include "test/dp/exact.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/limits.h"

struct source {
	uint8_t key[SL_KEY_BYTES];
	uint64_t block;
	size_t next;
	uint64_t words[512];
};

static uint64_t any64(struct source *source)
{
	static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES] = {1};
	if (source->next == 512) {
		memset(source->words, 0, sizeof source->words);
		crypto_stream_chacha20_xor_ic((uint8_t *)source->words, (uint8_t *)source->words,
					      sizeof source->words, nonce, source->block, source->key);
		source->block += sizeof source->words / 64;
		source->next = 0;
	}
	return source->words[source->next++];
}

/* Return a uniform number below n. */
static uint64_t below(struct source *source, uint64_t n)
{
	uint64_t mask = 1, v;
	while (mask < n)
		mask <<= 1;
	do
		v = any64(source) & (mask - 1);
	while (v >= n);
	return v;
}

/* Algorithm 1: true with probability exp(-a/b). */
static bool bernoulli_exp(struct source *source, unsigned __int128 a, uint64_t b)
{
	uint64_t k = 1;
	for (; a > b; a -= b)
		if (!bernoulli_exp(source, 1, 1))
			return false;
	while (below(source, b * k) < a)
		k++;
	return k % 2 == 1;
}

/* Algorithm 2: P(y) ~ exp(-|y| / t). */
static int64_t laplace(struct source *source, uint64_t t)
{
	for (;;) {
		uint64_t u = below(source, t), v = 0;
		if (!bernoulli_exp(source, u, t))
			continue;
		while (bernoulli_exp(source, 1, 1))
			v++;
		bool minus = below(source, 2) == 1;
		int64_t y = (int64_t)(u + t * v);
		if (!minus || y != 0)
			return minus ? -y : y;
	}
}

/* Algorithm 3; its exponent (|y| - s/t)^2 / (2 s), s = sigma^2 = above / under. */
static int64_t gaussian(struct source *source, uint64_t above, uint64_t under)
{
	uint64_t t = 1;
	while (t * t * under <= above)
		t++;
	for (;;) {
		int64_t y = laplace(source, t);
		__int128 distance = (__int128)(y < 0 ? -y : y) * (int64_t)(t * under) - (int64_t)above;
		if (bernoulli_exp(source, (unsigned __int128)(distance * distance),
				  2 * above * under * t * t))
			return y;
	}
}

void exact_draw(uint64_t seed, uint64_t above, uint64_t under, int64_t *out, size_t n)
{
	struct source source = {.next = 512};
	memcpy(source.key, &seed, sizeof seed);
	for (size_t i = 0; i < n; i++)
		out[i] = gaussian(&source, above, under);
}
