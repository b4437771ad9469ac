/* `starling evidence`: say what evidence files prove. */
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "common/membership/group.h"
#include "daemon/net/identity.h"
#include "daemon/store/evidence.h"
#include "tools/lib/option.h"
#include "tools/lib/help_texts.h"

#define KEY_DIGITS 12u /* of a key, for people */

struct options {
	const char *roster;
	bool json;
	const char **files;
	size_t count, room;
};

static const struct sl_option rows[] = {
	{"roster", 0, "FILE", "check that this roster pins the key, and name the learner",
	 SL_SETS(struct options, roster)},
	{"json", 0, NULL, "print JSON, one object a line", SL_SETS(struct options, json)},
	{0}};

static void take_file(struct argp_state *state, const char *path, void *options)
{
	struct options *o = options;
	(void)state;
	o->files = sl_command_grow(o->files, o->count, &o->room, sizeof *o->files);
	o->files[o->count++] = path;
}

static const struct sl_usage usage = {.options = rows,
				      .arguments = "FILE...",
				      .missing = "name an evidence file: evidence-*.json of a state folder",
				      .take = take_file,
				      .doc = SL_HELP_EVIDENCE};

/* The result of verifying a file. */
struct finding {
	const char *path;
	struct sl_evidence evidence;
	const char *name; /* of the signer, by the roster; NULL: none was given */
	struct sl_error error;
};

/* Look the signer up in the roster; it must pin the key of the file. */
static int check_pin(struct finding *f, const struct sl_roster *roster)
{
	uint8_t pin[SL_HASH_BYTES];
	sl_id id = sl_evidence_signer(&f->evidence);
	int at = sl_roster_find(roster, id);
	if (at < 0)
		return sl_err_set(&f->error, SL_ERR_REFUSED, "the roster has no learner with id %u", id);
	f->name = roster->members[at].name;
	sl_identity_pin(f->evidence.key, pin);
	if (memcmp(pin, roster->members[at].pin, sizeof pin) != 0)
		return sl_err_set(&f->error, SL_ERR_REFUSED, "the roster pins another key for %s (id %u)",
				  f->name, id);
	return SL_OK;
}

static int look(struct finding *f, const struct sl_roster *roster)
{
	int rc = sl_evidence_read(f->path, &f->evidence, &f->error);
	if (rc != SL_OK)
		return rc;
	rc = sl_evidence_check(&f->evidence, &f->error);
	if (rc == SL_OK && roster->size > 0)
		rc = check_pin(f, roster);
	return rc == SL_OK ? SL_OK : sl_err_wrap(&f->error, "%s", f->path);
}

static void print_sentence(const struct finding *f, const char *key, const char *fields)
{
	const struct sl_evidence *e = &f->evidence;
	printf("%s: %s (id %u, key %.*s) %s for round %u, attempt %u of run %s%s%s\n", f->path,
	       f->name != NULL ? f->name : "the owner of a key", sl_evidence_signer(e), (int)KEY_DIGITS, key,
	       sl_evidence_conflict(e->kind), sl_evidence_round(e), sl_evidence_attempt(e), e->run,
	       *fields != '\0' ? "; they differ in: " : "", fields);
}

static json_t *json_of(const struct finding *f, const char *key, const char *fields)
{
	const struct sl_evidence *e = &f->evidence;
	return json_pack("{s:s, s:b, s:s, s:s, s:I, s:s?, s:s, s:I, s:I, s:s}", "file", f->path, "valid", 1,
			 "kind", sl_evidence_name(e->kind), "run", e->run, "id",
			 (json_int_t)sl_evidence_signer(e), "name", f->name, "key", key, "round",
			 (json_int_t)sl_evidence_round(e), "attempt", (json_int_t)sl_evidence_attempt(e),
			 "differ", fields);
}

/* Say what a file proves. */
static void show(const struct finding *f, bool json)
{
	char key[2 * SL_KEY_BYTES + 1], fields[SL_ERROR_BYTES];
	sodium_bin2hex(key, sizeof key, f->evidence.key, SL_KEY_BYTES);
	sl_evidence_differences(&f->evidence, fields, sizeof fields);
	if (json)
		sl_command_print_json(json_of(f, key, fields), 0);
	else
		print_sentence(f, key, fields);
}

static int tell(const char *path, const struct sl_roster *roster, bool json)
{
	struct finding f = {.path = path};
	int rc = look(&f, roster);
	if (rc == SL_OK)
		show(&f, json);
	else if (json)
		sl_command_print_json(
			json_pack("{s:s, s:b, s:s}", "file", path, "valid", 0, "error", f.error.text), 0);
	else
		fprintf(stderr, "starling evidence: %s\n", f.error.text);
	sl_evidence_close(&f.evidence);
	return rc == SL_OK ? 0 : rc == SL_ERR_IO ? SL_EXIT_USAGE : SL_EXIT_FAILED;
}

int sl_cmd_evidence(int argc, char **argv)
{
	struct options o = {0};
	struct sl_group group = {.version = 0};
	struct sl_error error;
	int status = 0;
	sl_option_parse(&usage, argc, argv, &o);
	if (o.roster != NULL && sl_group_load(o.roster, &group, &error) != SL_OK) {
		fprintf(stderr, "starling evidence: %s\n", error.text);
		return SL_EXIT_USAGE;
	}
	for (size_t i = 0; i < o.count; i++) {
		int one = tell(o.files[i], &group.roster, o.json);
		status = one > status ? one : status;
	}
	if (group.roster.size > 0)
		sl_group_close(&group);
	else if (status == 0 && !o.json)
		fputs("Not checked whose key that is: give --roster FILE.\n", stderr);
	free(o.files);
	return status;
}
