/* Every field of every signed or hashed record counts: flip any one, and the hash is another. */
#include <stdio.h>
#include <string.h>

#include "common/protocol/canonical.h"
#include "common/protocol/view_codec.h"
#include "test/lib/test.h"

/* Everything that a hash may depend on, so that a field is an address in here. */
static struct sl_scope scope;
static struct sl_link_state link_state;
static sl_id candidates[3];
static struct sl_ready ready;
static struct sl_digest digest;
static struct sl_view view;
static sl_id ids[2];
static uint32_t incarnations[2], start[3], adjacent[2];
static struct sl_abort abort_record;
static uint64_t vector[5];
static uint8_t nonce[SL_NONCE_BYTES], h[SL_HASH_BYTES];

static int set_up(void **state)
{
	(void)state;
	scope = (struct sl_scope){.run = {1}, .roster = {2}};
	for (uint32_t i = 0; i < 3; i++)
		candidates[i] = 5 + i;
	link_state = (struct sl_link_state){
		.id = 3, .incarnation = 1, .t = 2, .a = 1, .count = 3, .candidates = candidates};
	ready = (struct sl_ready){.id = 3, .t = 2, .a = 1, .k = 9};
	digest = (struct sl_digest){.id = 3, .t = 2, .a = 1, .key = {4}, .p = 1020431, .learners = 6};
	start[1] = 1;
	start[2] = 2;
	adjacent[0] = 1;
	ids[0] = 7;
	ids[1] = 9;
	view = (struct sl_view){.n = 2, .ids = ids, .incarnations = incarnations};
	view.graph = (struct sl_graph){.n = 2, .edges = 1, .start = start, .adjacent = adjacent};
	abort_record =
		(struct sl_abort){.id = 3, .incarnation = 1, .t = 2, .a = 9, .count = 2, .released = {4, 5}};
	return 0;
}

static void hash_link_state(uint8_t *out)
{
	sl_canonical_link_state(&scope, &link_state, out);
}

static void hash_ready(uint8_t *out)
{
	sl_canonical_ready(&scope, &ready, out);
}

static void hash_digest(uint8_t *out)
{
	sl_canonical_digest(&scope, &digest, out);
}

static void hash_view(uint8_t *out)
{
	uint8_t bytes[sizeof(struct sl_parameters) + 200];
	size_t size = sl_view_bytes(view.n, view.graph.edges);
	assert_true(size <= sizeof bytes);
	sl_view_write(&view, bytes);
	sl_canonical_view(&scope, bytes, size, out);
}

static void hash_abort(uint8_t *out)
{
	sl_canonical_abort(&scope, &abort_record, out);
}

static void hash_commitment(uint8_t *out)
{
	sl_canonical_commitment(&scope, (const uint8_t *)vector, sizeof vector, nonce, out);
}

static void hash_result(uint8_t *out)
{
	sl_canonical_result(&scope, h, vector, 5, 8, out);
}

static uint64_t long_vector[2500]; /* hashed in several parts */

static void hash_long_result(uint8_t *out)
{
	sl_canonical_result(&scope, h, long_vector, 2500, 4, out);
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

TEST_WITH(test_link_state, set_up, NULL)
{
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

TEST_WITH(test_ready, set_up, NULL)
{
	scope_counts(hash_ready);
	COUNTS(hash_ready, ready.id);
	COUNTS(hash_ready, ready.t);
	COUNTS(hash_ready, ready.a);
	COUNTS(hash_ready, ready.view);
	COUNTS(hash_ready, ready.k);
	COUNTS(hash_ready, ready.commitment);
}

TEST_WITH(test_digest, set_up, NULL)
{
	scope_counts(hash_digest);
	COUNTS(hash_digest, digest.id);
	COUNTS(hash_digest, digest.t);
	COUNTS(hash_digest, digest.a);
	COUNTS(hash_digest, digest.key);
	COUNTS(hash_digest, digest.p);
	COUNTS(hash_digest, digest.learners);
	COUNTS(hash_digest, digest.view);
	COUNTS(hash_digest, digest.digest);
	COUNTS(hash_digest, digest.decimals);
	COUNTS(hash_digest, digest.encoding);
	COUNTS(hash_digest, digest.clipping_range);
}

TEST_WITH(test_view, set_up, NULL)
{
	scope_counts(hash_view);
	COUNTS(hash_view, view.t);
	COUNTS(hash_view, view.a);
	COUNTS(hash_view, view.field.p);
	COUNTS(hash_view, view.agreed);
	COUNTS(hash_view, view.previous);
	COUNTS(hash_view, ids);
	COUNTS(hash_view, incarnations);
	uint8_t with[SL_HASH_BYTES], without[SL_HASH_BYTES];
	hash_view(with);
	view.graph.edges = 0;
	start[1] = start[2] = 0;
	hash_view(without);
	assert_memory_not_equal(with, without, sizeof with);
}

TEST_WITH(test_abort, set_up, NULL)
{
	scope_counts(hash_abort);
	COUNTS(hash_abort, abort_record.id);
	COUNTS(hash_abort, abort_record.incarnation);
	COUNTS(hash_abort, abort_record.t);
	COUNTS(hash_abort, abort_record.a);
	COUNTS(hash_abort, abort_record.key);
	COUNTS(hash_abort, abort_record.closed);
	counts(hash_abort, abort_record.released, 2 * sizeof *abort_record.released);
	uint8_t two[SL_HASH_BYTES], one[SL_HASH_BYTES];
	hash_abort(two);
	abort_record.count = 1;
	hash_abort(one);
	assert_memory_not_equal(two, one, sizeof two);
}

/* What is read is what was written. */
TEST_WITH(test_view_bytes, set_up, NULL)
{
	uint8_t bytes[1024];
	struct sl_view back = {0};
	uint64_t p;
	size_t edges;
	sl_id a, b;
	uint32_t incarnation;
	incarnations[1] = 6;
	view.t = 3;
	view.a = 4;
	view.field.p = 1020431;
	view.agreed.quorum = 5;
	view.previous[3] = 8;
	size_t size = sl_view_bytes(view.n, view.graph.edges);
	sl_view_write(&view, bytes);
	assert_int_equal(sl_view_read_head(bytes, size, &back, &p, &edges), SL_OK);
	assert_true(back.t == 3 && back.a == 4 && p == 1020431 && back.n == 2 && edges == 1);
	assert_memory_equal(&back.agreed, &view.agreed, sizeof view.agreed);
	assert_memory_equal(back.previous, view.previous, sizeof view.previous);
	sl_view_read_member(bytes, 1, &a, &incarnation);
	assert_true(a == 9 && incarnation == 6);
	sl_view_read_edge(bytes, 2, 0, &a, &b);
	assert_true(a == 7 && b == 9);
	for (size_t cut = 1; cut < size; cut++)
		if (cut % SL_VIEW_EDGE_BYTES != 0)
			assert_int_equal(sl_view_read_head(bytes, size - cut, &back, &p, &edges),
					 SL_ERR_FORMAT);
}

TEST_WITH(test_vectors, set_up, NULL)
{
	scope_counts(hash_commitment);
	COUNTS(hash_commitment, vector);
	COUNTS(hash_commitment, nonce);
	scope_counts(hash_result);
	COUNTS(hash_result, h);
	COUNTS(hash_result, vector);
	for (size_t l = 0; l < 2500; l += 833)
		counts(hash_long_result, &long_vector[l], 4);
	counts(hash_long_result, &long_vector[2499], 4);
}

/* Records of different kinds never hash alike, whatever they hold. */
TEST_WITH(test_domains, set_up, NULL)
{
	static const hasher all[] = {hash_link_state, hash_ready,  hash_digest, hash_view,
				     hash_commitment, hash_result, hash_abort};
	uint8_t hashes[7][SL_HASH_BYTES];
	for (size_t i = 0; i < 7; i++) {
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
TEST_WITH(test_literal_digest, set_up, NULL)
{
	static const uint8_t expected[SL_HASH_BYTES] = {
		0x76, 0xfa, 0xc4, 0x9e, 0x57, 0xf9, 0x51, 0x7f, 0x2c, 0xd1, 0xe5,
		0x52, 0x43, 0xb1, 0x79, 0xea, 0x7a, 0xa1, 0xaa, 0x48, 0xf8, 0xe2,
		0xac, 0x19, 0x25, 0x81, 0x54, 0xe7, 0xdf, 0x5e, 0x42, 0x90,
	};
	uint8_t hash[SL_HASH_BYTES];
	hash_digest(hash);
	assert_memory_equal(hash, expected, sizeof hash);
}
