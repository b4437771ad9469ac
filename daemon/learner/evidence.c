/* Two signed records that contradict each other, kept as a file that anybody with the roster can check. */
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>

#include "daemon/learner/evidence.h"

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

/* What was signed, and what the signature covers of it (canonical.h). */
static json_t *statement(const struct sl_scope *scope, const struct sl_link_state *ls)
{
	uint8_t hash[SL_HASH_BYTES];
	json_t *candidates = json_array();
	for (uint32_t i = 0; i < ls->count; i++)
		json_array_append_new(candidates, json_integer(ls->candidates[i]));
	sl_canonical_message(scope, &(struct sl_message){SL_MSG_LINK_STATE, {.link_state = *ls}}, hash);
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "id",
			 (json_int_t)ls->id, "incarnation", (json_int_t)ls->incarnation, "round",
			 (json_int_t)ls->t, "attempt", (json_int_t)ls->a, "key", hex(ls->key, sizeof ls->key),
			 "roster", hex(ls->roster, sizeof ls->roster), "roster_size",
			 (json_int_t)ls->roster_size, "parameters", parameters(&ls->parameters), "previous",
			 hex(ls->previous, sizeof ls->previous), "candidates", candidates, "signed",
			 hex(hash, sizeof hash), "signature", hex(ls->signature, sizeof ls->signature));
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
