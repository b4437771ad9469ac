#include "common/wire/check.h"

#include <string.h>

static const char *range_flaw(const struct sl_message_field *f, uint64_t value)
{
	return value < f->least || value > f->most ? f->flaw : NULL;
}

static const char *parameters_flaw(const struct sl_parameters *q)
{
	const char *flaw = NULL;
	for (uint32_t i = 0; i < SL_PARAMETER_COUNT && flaw == NULL; i++)
		flaw = range_flaw(&sl_message_parameter_fields[i], ((const uint64_t *)q)[i]);
	if (flaw == NULL && (q->p == 1 || q->p == 2))
		flaw = "modulus out of range";
	if (flaw == NULL && q->k < q->iterations_rule)
		flaw = "k out of range";
	return flaw;
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
	case SL_FORM_ARRAY:
		return range_flaw(f, *(const uint32_t *)count);
	case SL_FORM_SPAN:
		return range_flaw(f, *(const size_t *)count);
	case SL_FORM_PARAMETERS:
		return parameters_flaw((const struct sl_parameters *)at);
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
	     masked = request->t != 0 && request->a != 0 && request->origin != 0;
	return result || masked ? NULL : "neither for a result nor for a masked state";
}

static const char *abort_flaw(const struct sl_abort *abort_record)
{
	if (!ascending(abort_record->released, abort_record->count, abort_record->a))
		return "released attempts not strictly ascending from 1 to a";
	return abort_record->closed > abort_record->a ? "closed attempt above a" : NULL;
}

static const char *chunk_flaw(enum sl_message_kind kind, const struct sl_chunk *chunk)
{
	static const uint8_t none[SL_NONCE_BYTES];
	if (chunk->iteration != 0 && kind != SL_MSG_STATE)
		return "iteration out of range";
	if ((chunk->origin != 0) != (kind == SL_MSG_MASKED))
		return "origin of what has none, or none";
	if ((memcmp(chunk->nonce, none, sizeof none) != 0) != sl_message_nonce_due(kind, chunk))
		return "nonce missing, or where none belongs";
	return NULL;
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
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
		return chunk_flaw(m->kind, &m->chunk);
	default:
		return NULL;
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
