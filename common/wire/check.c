#include "common/wire/check.h"

#include <string.h>

static const char *range_flaw(const struct sl_message_field *f, uint64_t value)
{
	return value < f->least || value > f->most ? f->flaw : NULL;
}

static const char *field_flaw(const struct sl_message_field *f, const uint8_t *body)
{
	const uint8_t *at = body + f->offset, *count = body + f->count_offset;
	switch (f->form) {
	case SL_FORM_U32:
		return range_flaw(f, *(const uint32_t *)at);
	case SL_FORM_U64:
		return range_flaw(f, *(const uint64_t *)at);
	case SL_FORM_LIST:
		return range_flaw(f, *(const uint32_t *)count);
	case SL_FORM_SPAN:
		return range_flaw(f, *(const size_t *)count);
	case SL_FORM_BYTES:
		break;
	}
	return NULL;
}

/* Return true if the `count` items are strictly ascending from 1 on and at most `most`. */
static bool ascending(const uint32_t *items, uint32_t count, uint32_t most)
{
	uint32_t last = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (items[i] <= last || items[i] > most)
			return false;
		last = items[i];
	}
	return true;
}

static const char *request_flaw(const struct sl_request *request)
{
	bool result = request->a == 0 && request->origin == 0,
	     deposit = request->t != 0 && request->a != 0 && request->origin != 0;
	return result || deposit ? NULL : "neither for a result nor for a deposit";
}

/* Return true if `size` is that of a key share with its path. */
static bool key_share_size(size_t size)
{
	return size >= SL_KEY_SHARE_BYTES && size <= SL_KEY_SHARE_BYTES_MAX &&
	       (size - SL_KEY_SHARE_BYTES) % SL_HASH_BYTES == 0;
}

static const char *abort_flaw(const struct sl_abort *abort_record)
{
	static const uint8_t none[SL_HASH_BYTES];
	bool names = memcmp(abort_record->ready, none, sizeof none) != 0;
	return abort_record->says != SL_ABORT_PROMISES && !names ? "an Abort that lacks its Ready" : NULL;
}

static const char *round_flaw(const struct sl_round_head *round)
{
	uint32_t last = 0;
	if (round->count % 2 != 0 || sl_round_learners(round) < 2)
		return "number of members out of range";
	for (uint32_t i = 0; i < round->count; i += 2) {
		if (round->members[i] <= last)
			return "members not strictly ascending from 1";
		last = round->members[i];
	}
	return NULL;
}

static const char *chunk_flaw(enum sl_message_kind kind, const struct sl_chunk *chunk)
{
	if ((chunk->iteration != 0) != (kind == SL_MSG_STATE))
		return "iteration out of range";
	if ((chunk->origin != 0) != (kind == SL_MSG_DEPOSIT))
		return "origin of what has none, or none";
	if (kind == SL_MSG_KEY_SHARE && chunk->index != 0)
		return "chunk index out of range";
	return kind == SL_MSG_KEY_SHARE && !key_share_size(chunk->size) ? "key share of a wrong size" : NULL;
}

/* Return NULL or the rule between fields that `m` breaks. */
static const char *rule_flaw(const struct sl_message *m)
{
	switch (m->kind) {
	case SL_MSG_LINK_STATE:
		return ascending(m->link_state.candidates, m->link_state.count, UINT32_MAX)
			       ? NULL
			       : "candidates not strictly ascending from 1";
	case SL_MSG_REQUEST:
		return request_flaw(&m->request);
	case SL_MSG_ABORT:
		return abort_flaw(&m->abort);
	case SL_MSG_HAVE:
		return m->have.size == m->have.keys_size ? NULL : "sets of members of different sizes";
	case SL_MSG_OPENING:
		return key_share_size(m->opening.size) ? NULL : "key share of a wrong size";
	case SL_MSG_ROUND:
		return round_flaw(&m->round_head);
	default:
		return m->kind >= SL_MSG_SHARE ? chunk_flaw(m->kind, &m->chunk) : NULL;
	}
}

const char *sl_check_message(const struct sl_message *m)
{
	const struct sl_message_type *type = sl_message_type(m->kind);
	const char *flaw = type == NULL ? "unknown kind" : NULL;
	for (uint32_t i = 0; flaw == NULL && i < type->count; i++)
		flaw = field_flaw(&type->fields[i], sl_message_body(m));
	return flaw == NULL ? rule_flaw(m) : flaw;
}
