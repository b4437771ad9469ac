#include "daemon/learner/evidence.h"

#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>

static json_t *hex(const uint8_t *bytes, size_t size)
{
	char text[2 * SL_SIG_BYTES + 1];
	sodium_bin2hex(text, sizeof text, bytes, size);
	return json_string(text);
}

static json_t *parameters(const struct sl_parameters *p)
{
	json_t *all = json_object();
#define X(name, key, ...) json_object_set_new(all, #key, json_integer((json_int_t)p->name));
	SL_PARAMETERS(X)
#undef X
	return all;
}

static json_t *list(const uint32_t *items, uint32_t count)
{
	json_t *all = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(all, json_integer(items[i]));
	return all;
}

/* The JSON of a field of link state `ls`, by its type (common/protocol/fields.h). */
#define FIELD_U32(name, ...) json_integer(ls->name)
#define FIELD_ID FIELD_U32
#define FIELD_ROUND FIELD_U32
#define FIELD_ATTEMPT FIELD_U32
#define FIELD_HASH(name, ...) hex(ls->name, sizeof ls->name)
#define FIELD_KEY FIELD_HASH
#define FIELD_ROSTER FIELD_HASH
#define FIELD_SIGNATURE FIELD_HASH
#define FIELD_LIST(name, count, ...) list(ls->name, ls->count)
#define FIELD_PARAMETERS(name, ...) parameters(&ls->name)

/* Return the signed link state as JSON, with the hash that its signature covers. */
static json_t *statement(const struct sl_scope *scope, const struct sl_link_state *ls)
{
	uint8_t hash[SL_HASH_BYTES];
	json_t *all = json_object();
#define X(S, type, number, name, ...) json_object_set_new(all, #name, FIELD_##type(name, __VA_ARGS__));
	SL_LINK_STATE_FIELDS(X, S)
#undef X
	sl_canonical_message(scope, &(struct sl_message){SL_MSG_LINK_STATE, {.link_state = *ls}}, hash);
	json_object_set_new(all, "signed", hex(hash, sizeof hash));
	return all;
}

int sl_evidence_write(const struct sl_settings *settings, const struct sl_scope *scope,
		      const struct sl_report *report, char *name, size_t name_bytes, struct sl_error *error)
{
	const struct sl_link_state *first = report->evidence[0], *second = report->evidence[1];
	char path[SL_PATH_BYTES + 64];
	json_t *file = json_pack(
		"{s:s, s:s, s:[o,o]}", "what", "two link states of one attempt, signed by one learner", "run",
		settings->run, "link_states", statement(scope, first), statement(scope, second));
	snprintf(name, name_bytes, "evidence-%" PRIu32 "-round-%06" PRIu32 "-attempt-%" PRIu32 ".json",
		 first->id, first->t, first->a);
	snprintf(path, sizeof path, "%s/%s", settings->state, name);
	int rc = json_dump_file(file, path, JSON_INDENT(1));
	json_decref(file);
	return rc == 0 ? SL_OK : sl_err_set(error, SL_ERR_IO, "%s: cannot be written", path);
}
