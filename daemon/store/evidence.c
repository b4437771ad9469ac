#include "daemon/store/evidence.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/config/settings.h"

#define FORMAT "starling evidence 1"
#define FILE_BYTES_MAX                                                                                       \
	(4 * SL_CONTROL_BYTES_MAX + 4096) /* two payloads as hexadecimal digits, and the rest */

/* ---- the kinds ---- */

/* Return true if no honest learner signs both: they speak of the same attempt of one start, and differ. */
static bool contradict_link_states(const struct sl_message *a, const struct sl_message *b,
				   const struct sl_scope *scope)
{
	(void)scope;
	const struct sl_link_state *x = &a->link_state, *y = &b->link_state;
	return x->t == y->t && x->a == y->a && x->incarnation == y->incarnation;
}

static bool contradict_readys(const struct sl_message *a, const struct sl_message *b,
			      const struct sl_scope *scope)
{
	(void)scope;
	return a->ready.t == b->ready.t && a->ready.a == b->ready.a;
}

static bool contradict_ready_and_abort(const struct sl_message *a, const struct sl_message *b,
				       const struct sl_scope *scope)
{
	uint8_t hash[SL_HASH_BYTES];
	sl_canonical_message(scope, a, hash);
	return a->ready.t == b->abort.t && a->ready.a == b->abort.a &&
	       memcmp(hash, b->abort.ready, sizeof hash) != 0;
}

static const struct {
	const char *name, *conflict;
	enum sl_message_kind messages[2];
	/* Of two records of one signer that differ. */
	bool (*contradict)(const struct sl_message *a, const struct sl_message *b,
			   const struct sl_scope *scope);
} kinds[SL_EVIDENCE_KINDS] = {
	[SL_EVIDENCE_TWO_LINK_STATES] = {"two link states",
					 "signed two different link states",
					 {SL_MSG_LINK_STATE, SL_MSG_LINK_STATE},
					 contradict_link_states},
	[SL_EVIDENCE_TWO_READYS] = {"two Readys",
				    "signed two different Readys",
				    {SL_MSG_READY, SL_MSG_READY},
				    contradict_readys},
	[SL_EVIDENCE_READY_AND_ABORT] = {"a Ready and an Abort",
					 "signed a Ready, and an Abort that denies it,",
					 {SL_MSG_READY, SL_MSG_ABORT},
					 contradict_ready_and_abort},
};

enum sl_evidence_kind sl_evidence_kind(const struct sl_message records[static 2])
{
	return records[0].kind == SL_MSG_LINK_STATE ? SL_EVIDENCE_TWO_LINK_STATES
	       : records[1].kind == SL_MSG_READY    ? SL_EVIDENCE_TWO_READYS
						    : SL_EVIDENCE_READY_AND_ABORT;
}

const char *sl_evidence_name(enum sl_evidence_kind kind)
{
	return kinds[kind].name;
}

const char *sl_evidence_conflict(enum sl_evidence_kind kind)
{
	return kinds[kind].conflict;
}

sl_id sl_evidence_signer(const struct sl_evidence *evidence)
{
	return *(const sl_id *)sl_message_role(&evidence->records[0], SL_ROLE_SIGNER);
}

sl_round sl_evidence_round(const struct sl_evidence *evidence)
{
	const struct sl_message *first = &evidence->records[0];
	return first->kind == SL_MSG_READY ? first->ready.t : first->link_state.t;
}

sl_attempt sl_evidence_attempt(const struct sl_evidence *evidence)
{
	const struct sl_message *first = &evidence->records[0];
	return first->kind == SL_MSG_READY ? first->ready.a : first->link_state.a;
}

/* ---- check ---- */

static int check_record(const struct sl_evidence *evidence, const struct sl_message *record,
			struct sl_error *error)
{
	uint8_t hash[SL_HASH_BYTES];
	const uint8_t *signature = sl_message_role(record, SL_ROLE_SIGNATURE),
		      *key = sl_message_role(record, SL_ROLE_KEY);
	if (*(const sl_id *)sl_message_role(record, SL_ROLE_SIGNER) != sl_evidence_signer(evidence))
		return sl_err_set(error, SL_ERR_REFUSED, "the records have different signers");
	if (key != NULL && memcmp(key, evidence->key, SL_KEY_BYTES) != 0)
		return sl_err_set(error, SL_ERR_REFUSED, "a record shows another key than the file");
	sl_canonical_message(&evidence->scope, record, hash);
	if (crypto_sign_verify_detached(signature, hash, sizeof hash, evidence->key) != 0)
		return sl_err_set(error, SL_ERR_CRYPTO, "a signature is wrong");
	return SL_OK;
}

/* Return true if both records say the same, whatever their signatures are. */
static bool are_equal(const struct sl_evidence *evidence)
{
	uint8_t hashes[2][SL_HASH_BYTES];
	for (int k = 0; k < 2; k++)
		sl_canonical_message(&evidence->scope, &evidence->records[k], hashes[k]);
	return memcmp(hashes[0], hashes[1], SL_HASH_BYTES) == 0;
}

int sl_evidence_check(const struct sl_evidence *evidence, struct sl_error *error)
{
	for (int k = 0; k < 2; k++) {
		int rc = check_record(evidence, &evidence->records[k], error);
		if (rc != SL_OK)
			return rc;
	}
	if (are_equal(evidence))
		return sl_err_set(error, SL_ERR_REFUSED, "it proves nothing: both records say the same");
	if (!kinds[evidence->kind].contradict(&evidence->records[0], &evidence->records[1], &evidence->scope))
		return sl_err_set(error, SL_ERR_REFUSED,
				  "it proves nothing: an honest learner may sign both records");
	return SL_OK;
}

static bool differs(const struct sl_message_field *field, const uint8_t *a, const uint8_t *b)
{
	bool outside = field->form == SL_FORM_LIST || field->form == SL_FORM_SPAN;
	if (!outside)
		return memcmp(a + field->offset, b + field->offset, field->size) != 0;
	if (field->form == SL_FORM_SPAN)
		return true; /* a span is never signed: such a record is no evidence */
	uint32_t count = *(const uint32_t *)(a + field->count_offset);
	return count != *(const uint32_t *)(b + field->count_offset) ||
	       (count > 0 &&
		memcmp(*(const uint32_t *const *)(a + field->offset),
		       *(const uint32_t *const *)(b + field->offset), count * sizeof(uint32_t)) != 0);
}

void sl_evidence_differences(const struct sl_evidence *evidence, char *text, size_t size)
{
	const struct sl_message *a = &evidence->records[0], *b = &evidence->records[1];
	const struct sl_message_type *type = sl_message_type(a->kind);
	const uint8_t *x = sl_message_body(a), *y = sl_message_body(b);
	size_t used = 0;
	*text = '\0';
	for (uint32_t f = 0; a->kind == b->kind && f < type->count && used < size; f++) {
		const struct sl_message_field *field = &type->fields[f];
		if (field->role != SL_ROLE_SIGNATURE && differs(field, x, y))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
						 field->name);
	}
}

/* ---- write ---- */

static json_t *hex(const uint8_t *bytes, size_t size)
{
	char *text = malloc(2 * size + 1);
	if (text == NULL)
		return NULL;
	sodium_bin2hex(text, 2 * size + 1, bytes, size);
	json_t *value = json_string(text);
	free(text);
	return value;
}

static json_t *pack_record(const struct sl_message *record)
{
	size_t size = sl_codec_bytes(record);
	uint8_t *frame = malloc(size);
	if (frame == NULL)
		return NULL;
	sl_codec_encode(record, frame, size, NULL);
	json_t *payload = hex(frame + SL_FRAME_HEADER_BYTES, size - SL_FRAME_HEADER_BYTES);
	free(frame);
	return json_pack("{s:s, s:o}", "message", sl_message_type(record->kind)->name, "payload", payload);
}

/* Return true if the folder has as many files of one signer as are kept. */
static bool is_proved(const char *folder, sl_id signer)
{
	char begin[24];
	uint32_t found = 0;
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	snprintf(begin, sizeof begin, "evidence-%" PRIu32 "-", signer);
	while (entries != NULL && (entry = readdir(entries)) != NULL)
		found += strncmp(entry->d_name, begin, strlen(begin)) == 0;
	if (entries != NULL)
		closedir(entries);
	return found >= SL_EVIDENCE_FILES;
}

int sl_evidence_write(const char *folder, const struct sl_evidence *evidence,
		      char name[static SL_EVIDENCE_FILE_BYTES], struct sl_error *error)
{
	char path[SL_PATH_BYTES + SL_EVIDENCE_FILE_BYTES];
	snprintf(name, SL_EVIDENCE_FILE_BYTES,
		 "evidence-%" PRIu32 "-round-%06" PRIu32 "-attempt-%" PRIu32 ".json",
		 sl_evidence_signer(evidence), sl_evidence_round(evidence), sl_evidence_attempt(evidence));
	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (is_proved(folder, sl_evidence_signer(evidence)))
		return sl_err_set(error, SL_ERR_REFUSED, "%s: %u files of its evidence are there", folder,
				  SL_EVIDENCE_FILES);
	json_t *file =
		json_pack("{s:s, s:s, s:s, s:o, s:o, s:[o,o]}", "format", FORMAT, "kind",
			  kinds[evidence->kind].name, "run", evidence->run, "roster",
			  hex(evidence->scope.roster, SL_HASH_BYTES), "key", hex(evidence->key, SL_KEY_BYTES),
			  "records", pack_record(&evidence->records[0]), pack_record(&evidence->records[1]));
	int rc = file == NULL ? -1 : json_dump_file(file, path, JSON_INDENT(1));
	json_decref(file);
	return rc == 0 ? SL_OK : sl_err_set(error, SL_ERR_IO, "%s: cannot be written", path);
}

/* ---- read ---- */

static bool take_bytes(const json_t *file, const char *name, uint8_t *bytes, size_t size)
{
	const char *text = json_string_value(json_object_get(file, name));
	size_t found = 0;
	return text != NULL && strlen(text) == 2 * size &&
	       sodium_hex2bin(bytes, size, text, 2 * size, NULL, &found, NULL) == 0 && found == size;
}

/* Read record `k`; return the reason why it is none, or NULL. */
static const char *take_record(const json_t *file, struct sl_evidence *evidence, size_t k)
{
	const json_t *record = json_array_get(json_object_get(file, "records"), k);
	const char *message = json_string_value(json_object_get(record, "message")),
		   *payload = json_string_value(json_object_get(record, "payload")), *why = "too long";
	enum sl_message_kind kind = kinds[evidence->kind].messages[k];
	if (message == NULL || payload == NULL || strcmp(message, sl_message_type(kind)->name) != 0)
		return "a record of another message than its kind wants";
	size_t size = strlen(payload) / 2;
	evidence->payloads[k] = malloc(size + 1);
	if (evidence->payloads[k] == NULL || size > SL_CONTROL_BYTES_MAX ||
	    !take_bytes(record, "payload", evidence->payloads[k], size))
		return "a payload that is not hexadecimal";
	if (sl_codec_decode(kind, evidence->payloads[k], size, &evidence->decoded[k], &why) != SL_OK)
		return why;
	evidence->records[k] = evidence->decoded[k].message;
	return NULL;
}

static const char *take_all(const json_t *file, struct sl_evidence *evidence)
{
	const char *format = json_string_value(json_object_get(file, "format")),
		   *kind = json_string_value(json_object_get(file, "kind")),
		   *run = json_string_value(json_object_get(file, "run"));
	if (format == NULL || strcmp(format, FORMAT) != 0)
		return "its \"format\" is not \"" FORMAT "\"";
	for (evidence->kind = 0; evidence->kind < SL_EVIDENCE_KINDS; evidence->kind++)
		if (kind != NULL && strcmp(kind, kinds[evidence->kind].name) == 0)
			break;
	if (evidence->kind == SL_EVIDENCE_KINDS)
		return "its \"kind\" is not known to this version";
	if (run == NULL || strlen(run) >= sizeof evidence->run)
		return "it names no run";
	snprintf(evidence->run, sizeof evidence->run, "%s", run);
	sl_canonical_run(run, evidence->scope.run);
	if (!take_bytes(file, "roster", evidence->scope.roster, SL_HASH_BYTES) ||
	    !take_bytes(file, "key", evidence->key, SL_KEY_BYTES))
		return "it has no \"roster\" or no \"key\" of 64 hexadecimal digits";
	const char *why = take_record(file, evidence, 0);
	return why != NULL ? why : take_record(file, evidence, 1);
}

/* Return the file as JSON. */
static json_t *load(const char *path, struct sl_error *error)
{
	json_error_t where;
	struct stat st;
	bool refused = stat(path, &st) != 0 || access(path, R_OK) != 0;
	if (refused || S_ISDIR(st.st_mode))
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(refused ? errno : EISDIR)), NULL;
	json_t *file =
		st.st_size > FILE_BYTES_MAX ? NULL : json_load_file(path, JSON_REJECT_DUPLICATES, &where);
	if (st.st_size > FILE_BYTES_MAX)
		sl_err_set(error, SL_ERR_FORMAT, "%s: not an evidence file: it is larger than %d bytes", path,
			   FILE_BYTES_MAX);
	else if (file == NULL)
		sl_err_set(error, SL_ERR_FORMAT, "%s: not an evidence file: line %d: %s", path, where.line,
			   where.text);
	return file;
}

int sl_evidence_read(const char *path, struct sl_evidence *evidence, struct sl_error *error)
{
	*evidence = (struct sl_evidence){0};
	json_t *file = load(path, error);
	if (file == NULL)
		return error->code;
	const char *why = take_all(file, evidence);
	json_decref(file);
	return why == NULL ? SL_OK
			   : sl_err_set(error, SL_ERR_FORMAT, "%s: not an evidence file: %s", path, why);
}

void sl_evidence_close(struct sl_evidence *evidence)
{
	for (int k = 0; k < 2; k++) {
		sl_codec_close(&evidence->decoded[k]);
		free(evidence->payloads[k]);
		evidence->payloads[k] = NULL;
	}
}
