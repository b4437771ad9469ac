/* Every field of every signed or hashed record counts: any flipped bit changes the hash. */
#include <stdio.h>
#include <string.h>

#include "common/protocol/canonical.h"
#include "common/protocol/view_codec.h"
#include "test/lib/test.h"
#include "test/wire/literal.h"
#include "test/wire/sample.h"

/* All that a hash may depend on, so that a field is an address in here. */
static struct sl_scope scope;
static struct sl_message message;
static sl_id items[3];	 /* of a list outside the message */
static uint8_t span[64]; /* likewise */
static struct sl_view view;
static sl_id ids[2];
static uint32_t incarnations[2], start[3], adjacent[2];
static uint64_t vector[5];
static uint8_t h[SL_HASH_BYTES], key[SL_KEY_BYTES], share[SL_KEY_SHARE_BYTES], nodes[2][SL_HASH_BYTES],
	challenges[3][SL_KEY_BYTES];
static struct {
	sl_round t;
	sl_attempt a;
	sl_id owner, holder;
} given;

static int set_up(void **state)
{
	(void)state;
	scope = (struct sl_scope){.run = {1}, .roster = {2}};
	start[1] = 1;
	start[2] = 2;
	adjacent[0] = 1;
	ids[0] = 7;
	ids[1] = 9;
	view = (struct sl_view){.n = 2, .ids = ids, .incarnations = incarnations};
	view.graph = (struct sl_graph){.n = 2, .edges = 1, .start = start, .adjacent = adjacent};
	return 0;
}

static void hash_message(uint8_t *out)
{
	assert_true(sl_canonical_message(&scope, &message, out));
}

static void hash_view(uint8_t *out)
{
	uint8_t bytes[sizeof(struct sl_parameters) + 200];
	size_t size = sl_view_bytes(view.n, view.graph.edges);
	assert_true(size <= sizeof bytes);
	sl_view_write(&view, bytes);
	struct sl_round_head round;
	uint32_t members[4];
	assert_int_equal(sl_view_round(&scope, bytes, size, 2, members, &round), SL_OK);
	sl_canonical_round(&scope, &round, out);
}

static void hash_deposit(uint8_t *out)
{
	sl_canonical_deposit(&scope, (const uint8_t *)vector, sizeof vector, NULL, out);
}

static void hash_key(uint8_t *out)
{
	sl_canonical_key(&scope, given.owner, key, out);
}

static void hash_challenge(uint8_t *out)
{
	sl_canonical_challenge(&scope, given.owner, key, out);
}

static void hash_leaf(uint8_t *out)
{
	sl_canonical_share_leaf(&scope, given.t, given.a, given.owner, given.holder, share, out);
}

static void hash_node(uint8_t *out)
{
	sl_canonical_share_node(&scope, nodes[0], nodes[1], out);
}

static void hash_points(uint8_t *out)
{
	sl_canonical_points(&scope, h, (const uint8_t(*)[SL_KEY_BYTES])challenges, 3, out);
}

static void hash_edges(uint8_t *out)
{
	sl_canonical_edges(&scope, key, sizeof key, out);
}

static uint64_t total = 5;
static uint8_t strands[SL_STRANDS_BYTES];

static void hash_result(uint8_t *out)
{
	sl_canonical_result(&scope, h, total, strands, vector, sizeof vector, out);
}

static uint64_t long_vector[2500]; /* hashed in several parts */

static void hash_long_result(uint8_t *out)
{
	uint8_t packed[2500 * sizeof(uint32_t)];
	sl_bytes_pack(packed, long_vector, 2500, 32);
	sl_canonical_strands(packed, sizeof packed, strands);
	sl_canonical_result(&scope, h, total, strands, vector, 20, out);
}

typedef void (*hasher)(uint8_t *out);

/* Flip each bit of `field` in turn. */
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
/* A change of the first byte changes nothing. */
static void unchanged(hasher hash, uint8_t *byte)
{
	uint8_t before[SL_HASH_BYTES], after[SL_HASH_BYTES];
	hash(before);
	++*byte;
	hash(after);
	--*byte;
	assert_memory_equal(before, after, sizeof before);
}
#define COUNTS(hash, field) counts(hash, &(field), sizeof(field))

static void scope_counts(hasher hash)
{
	COUNTS(hash, scope.run);
	COUNTS(hash, scope.roster);
}

/* The number of items of a list, and every bit of every item. */
static void list_counts(const struct sl_message_field *f)
{
	uint8_t *body = sl_message_body(&message), before[SL_HASH_BYTES], after[SL_HASH_BYTES];
	uint32_t *count = (uint32_t *)(body + f->count_offset);
	assert_int_equal(*count, 3);
	memcpy(items, *(void **)(body + f->offset), sizeof items);
	*(void **)(body + f->offset) = items;
	counts(hash_message, items, *count * sizeof(uint32_t));
	hash_message(before);
	--*count;
	hash_message(after);
	++*count;
	assert_memory_not_equal(before, after, sizeof before);
}

/* The size of a span, and every bit of it. */
static void span_counts(const struct sl_message_field *f)
{
	uint8_t *body = sl_message_body(&message), before[SL_HASH_BYTES], after[SL_HASH_BYTES];
	size_t *size = (size_t *)(body + f->count_offset);
	assert_true(*size <= sizeof span);
	memcpy(span, *(void **)(body + f->offset), *size);
	*(void **)(body + f->offset) = span;
	counts(hash_message, span, *size);
	hash_message(before);
	--*size;
	hash_message(after);
	++*size;
	assert_memory_not_equal(before, after, sizeof before);
}

static void field_counts(const struct sl_message_field *f)
{
	uint8_t *at = sl_message_body(&message) + f->offset, before[SL_HASH_BYTES], after[SL_HASH_BYTES];
	if (f->form == SL_FORM_LIST) {
		list_counts(f);
	} else if (f->form == SL_FORM_SPAN) {
		span_counts(f);
	} else if (f->role != SL_ROLE_SIGNATURE) {
		counts(hash_message, at, f->size);
	} else { /* it does not cover itself */
		hash_message(before);
		at[0] ^= 1;
		hash_message(after);
		assert_memory_equal(before, after, sizeof before);
	}
}

/* Every field of every signed message; never the roster of the verifier, which may be a later one. */
TEST_WITH(test_messages, set_up, NULL)
{
	for (size_t i = 0; i < literals_count; i++) {
		message = literals[i].message;
		const struct sl_message_type *type = sl_message_type(message.kind);
		for (uint32_t j = 0; j < type->count && literals[i].hash != NULL; j++)
			field_counts(&type->fields[j]);
		if (literals[i].hash != NULL)
			COUNTS(hash_message, scope.run);
		if (literals[i].hash != NULL)
			unchanged(hash_message, scope.roster);
	}
}

/* A kind is signed exactly if its messages have a place for a signature. */
TEST_WITH(test_signed_kinds, set_up, NULL)
{
	uint8_t hash[SL_HASH_BYTES];
	for (size_t i = 0; i < literals_count; i++) {
		message = literals[i].message;
		assert_int_equal(sl_canonical_message(&scope, &message, hash), literals[i].hash != NULL);
		assert_int_equal(sl_message_role(&message, SL_ROLE_SIGNATURE) != NULL,
				 literals[i].hash != NULL);
	}
	message.kind = (enum sl_message_kind)SL_MESSAGE_KINDS;
	assert_false(sl_canonical_message(&scope, &message, hash));
}

TEST_WITH(test_view, set_up, NULL)
{
	scope_counts(hash_view);
	COUNTS(hash_view, view.t);
	COUNTS(hash_view, view.a);
	COUNTS(hash_view, view.field.p);
#define X(name) COUNTS(hash_view, view.agreed.name);
	SL_VIEW_NUMBERS(X)
#undef X
	unchanged(hash_view, (uint8_t *)&view.agreed.quorum); /* it stands in the roster */
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

/* h of a Round, as another implementation computes it. */
TEST_WITH(test_round, set_up, NULL)
{
	char text[2 * SL_HASH_BYTES + 1] = "";
	uint8_t hash[SL_HASH_BYTES];
	sl_canonical_round(&literal_scope, &literal_of(SL_MSG_ROUND)->message.round_head, hash);
	for (size_t i = 0; i < sizeof hash; i++)
		snprintf(text + 2 * i, 3, "%02x", hash[i]);
	assert_string_equal(text, "147d2255f6eb4843ad5f213ec16a247c107bd9bdd1a3a810eae786e754d915e0");
}

/* A view that is written and read back is the same. */
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
	view.agreed.n = 5;
	view.agreed.hop_bytes = 6;
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
	uint32_t members[4];
	struct sl_round_head round;
	assert_int_equal(sl_view_round(&scope, bytes, size, 2, members, &round), SL_OK);
	assert_true(round.t == 3 && round.a == 4 && round.p == 1020431 && sl_round_learners(&round) == 2);
	assert_true(members[0] == 7 && members[2] == 9 && members[3] == 6);
	assert_true(round.n == 5 && round.hop_bytes == 6);
	assert_memory_equal(round.roster, scope.roster, sizeof round.roster);
	assert_int_equal(sl_view_round(&scope, bytes, size, 1, members, &round), SL_ERR_FORMAT);
	for (size_t cut = 1; cut < size; cut++)
		if (cut % SL_VIEW_EDGE_BYTES != 0)
			assert_int_equal(sl_view_read_head(bytes, size - cut, &back, &p, &edges),
					 SL_ERR_FORMAT);
}

TEST_WITH(test_vectors, set_up, NULL)
{
	scope_counts(hash_deposit);
	COUNTS(hash_deposit, vector);
	COUNTS(hash_result, scope.run); /* not the roster, which h contains */
	unchanged(hash_result, scope.roster);
	COUNTS(hash_result, h);
	COUNTS(hash_result, vector); /* the model */
	COUNTS(hash_result, total);
	COUNTS(hash_result, strands);
	for (size_t l = 0; l < 2500; l += 833)
		counts(hash_long_result, &long_vector[l], 4);
	counts(hash_long_result, &long_vector[2499], 4);
}

static void expect_hash(hasher hash, const char *known)
{
	char text[2 * SL_HASH_BYTES + 1] = "";
	uint8_t bytes[SL_HASH_BYTES];
	hash(bytes);
	for (size_t i = 0; i < sizeof bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	assert_string_equal(text, known);
}

/* Hashes of vectors, as hashlib.blake2b in Python computes them. */
TEST_WITH(test_known_vectors, set_up, NULL)
{
	for (size_t l = 0; l < 5; l++)
		vector[l] = 7 * l;
	expect_hash(hash_deposit, "cfeee74760a1d87b03ab402fbc2dfae8d50d3474226affa565c265068476f1a0");
	for (size_t l = 0; l < 2500; l++)
		long_vector[l] = 7 * l;
	expect_hash(hash_long_result, "70b186f6c144d1dec2904e39188c4d9a4c6c02773cfa610cf3b2ac2e9c86caad");
	memset(vector, 0, sizeof vector);
	memset(long_vector, 0, sizeof long_vector);
}

TEST_WITH(test_keys_and_shares, set_up, NULL)
{
	static const hasher all[] = {hash_key, hash_challenge, hash_leaf, hash_node, hash_points, hash_edges};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		scope_counts(all[i]);
	COUNTS(hash_key, given.owner);
	COUNTS(hash_key, key);
	COUNTS(hash_challenge, given.owner);
	COUNTS(hash_challenge, key);
	COUNTS(hash_leaf, given);
	COUNTS(hash_leaf, share);
	COUNTS(hash_node, nodes);
	COUNTS(hash_points, h);
	COUNTS(hash_points, challenges);
	COUNTS(hash_edges, key);
}

/* Records of different kinds have different hashes, whatever they hold: here, zeros. */
TEST_WITH(test_domains, set_up, NULL)
{
	static const hasher others[] = {hash_view, hash_deposit, hash_result, hash_key,	 hash_challenge,
					hash_leaf, hash_node,	 hash_points, hash_edges};
	uint8_t hashes[9 + SL_MESSAGE_KINDS][SL_HASH_BYTES];
	size_t n = 9;
	for (size_t i = 0; i < n; i++)
		others[i](hashes[i]);
	SAMPLE_EACH_KIND(kind)
	{
		message = (struct sl_message){.kind = kind};
		n += sl_canonical_message(&scope, &message, hashes[n]);
	}
	assert_true(n > 9);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			assert_memory_not_equal(hashes[i], hashes[j], SL_HASH_BYTES);
}
