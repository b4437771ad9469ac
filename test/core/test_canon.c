/* Every field of every signed or hashed record counts: flip any one, and the hash is another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/core/canon.h"

/* Everything that a hash may depend on, so that a field is an address in here. */
static struct sl_scope scope;
static struct sl_link_state link_state;
static sl_id candidates[3];
static struct sl_ready ready;
static struct sl_digest digest;
static struct {
	sl_round t;
	sl_attempt a;
	uint64_t p;
	struct sl_parameters parameters;
	uint8_t previous[SL_HASH_BYTES];
	uint32_t n;
	sl_id ids[2], ends[2];
	uint32_t incarnations[2];
} view;
static uint64_t vector[5];
static uint8_t nonce[SL_NONCE_BYTES], h[SL_HASH_BYTES];

static int set_up(void **state)
{
	(void)state;
	scope = (struct sl_scope){.run = {1}, .roster = {2}};
	for (uint32_t i = 0; i < 3; i++)
		candidates[i] = 5 + i;
	link_state = (struct sl_link_state){.id = 3, .incarnation = 1, .t = 2, .a = 1, .count = 3, .candidates = candidates};
	ready = (struct sl_ready){.id = 3, .t = 2, .a = 1, .k = 9};
	digest = (struct sl_digest){.id = 3, .t = 2, .a = 1, .key = {4}, .p = 1020431, .learners = 6};
	view.n = 2;
	return 0;
}

static void hash_link_state(uint8_t *out)
{
	sl_canon_link_state(&scope, &link_state, out);
}

static void hash_ready(uint8_t *out)
{
	sl_canon_ready(&scope, &ready, out);
}

static void hash_digest(uint8_t *out)
{
	sl_canon_digest(&scope, &digest, out);
}

static void hash_view(uint8_t *out)
{
	struct sl_canon_view v;
	sl_canon_view_open(&v, &scope, view.t, view.a, view.p, &view.parameters, view.previous, view.n);
	for (int i = 0; i < 2; i++)
		sl_canon_view_member(&v, view.ids[i], view.incarnations[i]);
	sl_canon_view_edge(&v, view.ends[0], view.ends[1]);
	sl_canon_view_close(&v, out);
}

static void hash_commitment(uint8_t *out)
{
	sl_canon_commitment(&scope, vector, 5, nonce, out);
}

static void hash_result(uint8_t *out)
{
	sl_canon_result(&scope, h, vector, 5, out);
}

typedef void (*hasher)(uint8_t *out);

/* Flips each bit of the field in turn. */
static void counts(hasher hash, void *field, size_t bytes)
{
	uint8_t before[SL_HASH_BYTES], after[SL_HASH_BYTES], *at = field;
	hash(before);
	for (size_t bit = 0; bit < 8 * bytes; bit++) {
		at[bit / 8] ^= (uint8_t)(1u << bit % 8);
		hash(after);
		at[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_memory_not_equal(before, after, sizeof before);
	}
	hash(after);
	assert_memory_equal(before, after, sizeof before);
}
#define COUNTS(hash, field) counts(hash, &(field), sizeof(field))

static void scope_counts(hasher hash)
{
	COUNTS(hash, scope.run);
	if (hash == hash_link_state)
		COUNTS(hash, link_state.roster); /* its signer's */
	else
		COUNTS(hash, scope.roster);
}

static void test_link_state(void **state)
{
	(void)state;
	scope_counts(hash_link_state);
	COUNTS(hash_link_state, link_state.id);
	COUNTS(hash_link_state, link_state.incarnation);
	COUNTS(hash_link_state, link_state.t);
	COUNTS(hash_link_state, link_state.a);
	COUNTS(hash_link_state, link_state.key);
	COUNTS(hash_link_state, link_state.roster_size);
	COUNTS(hash_link_state, link_state.parameters);
	COUNTS(hash_link_state, link_state.previous);
	COUNTS(hash_link_state, candidates);
	uint8_t three[SL_HASH_BYTES], two[SL_HASH_BYTES];
	hash_link_state(three);
	link_state.count = 2;
	hash_link_state(two);
	assert_memory_not_equal(three, two, sizeof two);
	link_state.signature[0] ^= 1; /* is not covered by itself */
	hash_link_state(three);
	assert_memory_equal(three, two, sizeof two);
}

static void test_ready(void **state)
{
	(void)state;
	scope_counts(hash_ready);
	COUNTS(hash_ready, ready.id);
	COUNTS(hash_ready, ready.t);
	COUNTS(hash_ready, ready.a);
	COUNTS(hash_ready, ready.view);
	COUNTS(hash_ready, ready.k);
	COUNTS(hash_ready, ready.commitment);
}

static void test_digest(void **state)
{
	(void)state;
	scope_counts(hash_digest);
	COUNTS(hash_digest, digest.id);
	COUNTS(hash_digest, digest.t);
	COUNTS(hash_digest, digest.a);
	COUNTS(hash_digest, digest.key);
	COUNTS(hash_digest, digest.p);
	COUNTS(hash_digest, digest.learners);
	COUNTS(hash_digest, digest.view);
	COUNTS(hash_digest, digest.digest);
}

static void test_view(void **state)
{
	(void)state;
	scope_counts(hash_view);
	COUNTS(hash_view, view.t);
	COUNTS(hash_view, view.a);
	COUNTS(hash_view, view.p);
	COUNTS(hash_view, view.parameters);
	COUNTS(hash_view, view.previous);
	COUNTS(hash_view, view.n);
	COUNTS(hash_view, view.ids);
	COUNTS(hash_view, view.incarnations);
	COUNTS(hash_view, view.ends);
}

static void test_vectors(void **state)
{
	(void)state;
	scope_counts(hash_commitment);
	COUNTS(hash_commitment, vector);
	COUNTS(hash_commitment, nonce);
	scope_counts(hash_result);
	COUNTS(hash_result, h);
	COUNTS(hash_result, vector);
}

/* Records of different kinds never hash alike, whatever they hold. */
static void test_domains(void **state)
{
	(void)state;
	static const hasher all[] = {hash_link_state, hash_ready, hash_digest, hash_view, hash_commitment, hash_result};
	uint8_t hashes[6][SL_HASH_BYTES];
	for (size_t i = 0; i < 6; i++) {
		all[i](hashes[i]);
		for (size_t j = 0; j < i; j++)
			assert_memory_not_equal(hashes[i], hashes[j], SL_HASH_BYTES);
	}
	memcpy(ready.commitment, h, sizeof h); /* a Digest and a Ready of the same bytes */
	hash_ready(hashes[0]);
	hash_digest(hashes[1]);
	assert_memory_not_equal(hashes[0], hashes[1], SL_HASH_BYTES);
}

/* One layout written out by hand: what another implementation has to do. */
static void test_literal_digest(void **state)
{
	(void)state;
	static const uint8_t expected[SL_HASH_BYTES] = {
		0xc3, 0x26, 0x1a, 0x2b, 0x31, 0x35, 0xbe, 0x86, 0x7b, 0xb9, 0x98, 0x1b,
		0xf6, 0x10, 0x3c, 0x47, 0xcf, 0x8c, 0x9f, 0x25, 0x00, 0xb2, 0x7a, 0xc1,
		0xe3, 0x33, 0x89, 0x2a, 0xbc, 0x5c, 0xce, 0x77,
	};
	uint8_t hash[SL_HASH_BYTES];
	hash_digest(hash);
	assert_memory_equal(hash, expected, sizeof hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_link_state, set_up), cmocka_unit_test_setup(test_ready, set_up),
		cmocka_unit_test_setup(test_digest, set_up),	 cmocka_unit_test_setup(test_view, set_up),
		cmocka_unit_test_setup(test_vectors, set_up),	 cmocka_unit_test_setup(test_domains, set_up),
		cmocka_unit_test_setup(test_literal_digest, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
