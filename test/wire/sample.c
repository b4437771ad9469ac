#include "test/wire/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/random.h"

static uint64_t stream;

void sample_seed(void)
{
	const char *text = getenv("SL_SEED");
	uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 1;
	printf("SL_SEED=%llu\n", (unsigned long long)seed);
	stream = seed;
}

uint64_t sample_random(void)
{
	return sl_random_next(&stream);
}

uint64_t sample_range(uint64_t least, uint64_t most)
{
	uint64_t span = most - least + 1;
	return span == 0 ? sample_random() : least + sample_random() % span;
}

/* Return one of the ends, or a number between them with any number of bits. */
static uint64_t edge(uint64_t least, uint64_t most)
{
	switch (sample_random() % 8) {
	case 0:
		return least;
	case 1:
		return most;
	default:
		return least + (sample_range(0, most - least) >> (sample_random() % 64));
	}
}

static uint32_t edge32(uint32_t least, uint32_t most)
{
	return (uint32_t)edge(least, most);
}

static void noise(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)sample_random();
}

/* --- random messages: each field within its own range, then the rules between fields --- */

static void ascend(uint32_t *items, uint32_t count, uint32_t step)
{
	for (uint32_t i = 0; i < count; i++)
		items[i] = (i == 0 ? 0 : items[i - 1]) +
			   (uint32_t)sample_range(1, sample_random() % 4 == 0 ? step : 3);
}

static void make_field(struct sample *sample, const struct sl_message_field *f, uint8_t *body)
{
	uint8_t *at = body + f->offset, *count = body + f->count_offset;
	switch (f->form) {
	case SL_FORM_U32:
		*(uint32_t *)at = (uint32_t)edge(f->least, f->most);
		break;
	case SL_FORM_U64:
		*(uint64_t *)at = edge(f->least, f->most);
		break;
	case SL_FORM_BYTES:
		noise(at, f->size);
		break;
	case SL_FORM_LIST:
		*(const uint32_t **)at = sample->candidates;
		*(uint32_t *)count = (uint32_t)sample_range(0, 20);
		ascend(sample->candidates, *(uint32_t *)count, 200000000);
		break;
	case SL_FORM_SPAN:
		*(const uint8_t **)at = sample->piece;
		*(size_t *)count = (size_t)edge(1, f->most < SAMPLE_PIECE_MAX ? f->most : SAMPLE_PIECE_MAX);
		noise(sample->piece, *(size_t *)count);
		break;
	}
}

static void make_request(struct sl_request *request)
{
	bool masked = sample_random() % 2 == 0;
	request->t = edge32(masked, SL_ROUND_LAST);
	request->a = masked ? edge32(1, SL_ATTEMPTS_MAX) : 0;
	request->origin = masked ? edge32(1, UINT32_MAX) : 0;
}

/* Take the first bytes of the sample's piece; a key share with its path. */
static void make_key_share(struct sample *sample, const uint8_t **bytes, size_t *size)
{
	*size = SL_KEY_SHARE_BYTES + SL_HASH_BYTES * (size_t)sample_range(0, SL_KEY_SHARE_PATH_MAX);
	noise(sample->piece, *size);
	*bytes = sample->piece;
}

static void make_members(struct sample *sample, struct sl_round_head *round)
{
	uint32_t learners = (uint32_t)sample_range(2, 10), id = 0;
	for (uint32_t i = 0; i < learners; i++) {
		id += (uint32_t)sample_range(1, 200000000);
		sample->candidates[2 * i] = id;
		sample->candidates[2 * i + 1] = edge32(0, UINT32_MAX);
	}
	round->count = 2 * learners;
	round->members = sample->candidates;
}

static void make_chunk(struct sample *sample, enum sl_message_kind kind, struct sl_chunk *chunk)
{
	chunk->iteration = kind == SL_MSG_STATE ? edge(1, SL_ITERATIONS_MAX - 1) : 0;
	chunk->origin = kind == SL_MSG_DEPOSIT ? edge32(1, UINT32_MAX) : 0;
	if (kind == SL_MSG_KEY_SHARE) {
		chunk->index = 0;
		make_key_share(sample, &chunk->bytes, &chunk->size);
	}
}

/* Make the fields keep the rules between them (check.h). */
static void make_rules(struct sample *sample, struct sl_message *m)
{
	switch (m->kind) {
	case SL_MSG_REQUEST:
		make_request(&m->request);
		break;
	case SL_MSG_ABORT:
		if (m->abort.says != SL_ABORT_PROMISES)
			m->abort.ready[0] |= 1;
		break;
	case SL_MSG_HAVE:
		m->have.keys_size = m->have.size;
		noise(sample->piece, m->have.size);
		break;
	case SL_MSG_OPENING:
		make_key_share(sample, &m->opening.share, &m->opening.size);
		break;
	case SL_MSG_CHECKSUM:
		m->checksums.size = (size_t)sample_range(1, SAMPLE_PIECE_MAX);
		noise(sample->piece, m->checksums.size);
		break;
	case SL_MSG_ROUND:
		make_members(sample, &m->round_head);
		break;
	default:
		if (m->kind >= SL_MSG_SHARE)
			make_chunk(sample, m->kind, &m->chunk);
	}
}

void sample_make(struct sample *sample, enum sl_message_kind kind)
{
	const struct sl_message_type *type = sl_message_type(kind);
	struct sl_message *m = &sample->message;
	*m = (struct sl_message){.kind = kind};
	for (uint32_t i = 0; i < type->count; i++)
		make_field(sample, &type->fields[i], sl_message_body(m));
	make_rules(sample, m);
}

/* --- ranges, without those of message.h --- */

const struct sample_bound sample_bounds[] = {
	{SL_MSG_HELLO, "status", 1, 6, "unknown peer status"},
	{SL_MSG_LINK_STATE, "roster_size", 1, 2000, "roster_size out of range"},
	{SL_MSG_LINK_STATE, "candidates", 0, 2000, "too many candidates"},
	{SL_MSG_ROUND, "forgetful", 0, 2000, "forgetful out of range"},
	{SL_MSG_ROUND, "update_bits", 0, 48, "update_bits out of range"},
	{SL_MSG_READY, "k", 0, 1000001, "K out of range"},
	{SL_MSG_REQUEST, "t", 0, 1000001, "round out of range"},
	{SL_MSG_REQUEST, "a", 0, 16777216, "attempt out of range"},
	{SL_MSG_ABORT, "says", 1, 7, "an Abort that says nothing known"},
	{SL_MSG_HAVE, "held", 1, 250, "set of members out of range"},
	{SL_MSG_HAVE, "keys", 1, 250, "set of members out of range"},
	{SL_MSG_MODEL, "count", 1, 1073741824, "number of tensors out of range"},
	{SL_MSG_MODEL, "tensors", 1, 61440, "list of tensors out of range"},
	{SL_MSG_OPENING, "holder", 1, UINT32_MAX, "holder is 0"},
	{SL_MSG_OPENING, "share", 40, 392, "key share of a wrong size"},
	{SL_MSG_OPENING, "origin", 1, UINT32_MAX, "origin is 0"},
	{SL_MSG_KEY, "origin", 1, UINT32_MAX, "origin is 0"},
	{SL_MSG_CHALLENGE, "origin", 1, UINT32_MAX, "origin is 0"},
	{SL_MSG_CHECKSUM, "values", 1, 61440, "checksums out of range"},
	{SL_MSG_ROUND, "p", 3, UINT64_C(2305843009213693951), "modulus out of range"},
	{SL_MSG_ROUND, "members", 0, 4000, "too many members"},
	{SL_MSG_STATE, "iteration", 1, 999999, "iteration out of range"},
	{SL_MSG_KEY_SHARE, "index", 0, 0, "chunk index out of range"},
	{SL_MSG_KEY_SHARE, "bytes", 40, 392, "key share of a wrong size"},
	{SAMPLE_ANY, "n", 1, 1073741824, "n out of range"},
	{SAMPLE_ANY, "failed", 0, 1, "failed is neither 0 nor 1"},
	{SAMPLE_ANY, "hop_bytes", 0, UINT64_C(1) << 32, "hop_bytes out of range"},
	{SAMPLE_ANY, "values", 0, 4, "unknown values"},
	{SAMPLE_ANY, "iteration", 0, 0, "iteration out of range"},
	{SAMPLE_ANY, "id", 1, UINT32_MAX, "id is 0"},
	{SAMPLE_ANY, "t", 1, 1000001, "round out of range"},
	{SAMPLE_ANY, "a", 1, 16777216, "attempt out of range"},
	{SAMPLE_ANY, "index", 0, 262143, "chunk index out of range"},
	{SAMPLE_ANY, "bytes", 1, 262144, "chunk size out of range"},
};
const size_t sample_bounds_count = sizeof sample_bounds / sizeof *sample_bounds;

const struct sample_bound *sample_bound_of(uint32_t kind, const char *name)
{
	for (size_t i = 0; i < sample_bounds_count; i++) {
		const struct sample_bound *row = &sample_bounds[i];
		if ((row->kind == kind || row->kind == SAMPLE_ANY) && strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}
