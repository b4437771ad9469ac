#include "common/membership/invitation_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/number.h"
#include "common/membership/private_file.h"
#include "common/membership/waiting.h"
#include "common/config/yaml.h"

#define NAME_BYTES (sizeof "invitations/" + 2 * SL_INVITATION_ID_BYTES)
#define PIN_DIGITS (2 * SL_HASH_BYTES)
#define KEPT_S 86400u /* after it has expired, so that a learner that comes late is told so */
#define WAITS 'w'     /* before a key */
#define ADMITTED 'a'
#define ENTRY_BYTES (1 + PIN_DIGITS + 1)
#define TEXT_BYTES (512 + SL_INVITATION_USES_MAX * ENTRY_BYTES)

static void file_name(const uint8_t id[static SL_INVITATION_ID_BYTES], char name[static NAME_BYTES])
{
	char digits[2 * SL_INVITATION_ID_BYTES + 1];
	sodium_bin2hex(digits, sizeof digits, id, SL_INVITATION_ID_BYTES);
	snprintf(name, NAME_BYTES, "invitations/%s", digits);
}

static int save(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
		const struct sl_invitation_file *file, struct sl_error *error)
{
	char name[NAME_BYTES], digits[PIN_DIGITS + 1], *text = malloc(TEXT_BYTES);
	if (text == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	file_name(id, name);
	sodium_bin2hex(digits, sizeof digits, file->secret, sizeof file->secret);
	int used = snprintf(text, TEXT_BYTES,
			    "# An invitation, with its secret: keep this file private.\n"
			    "secret: \"%s\"\nexpires: %" PRIu64 "\nuses: %" PRIu32 "\nautomatic: %d\n",
			    digits, file->expires, file->uses, (int)file->automatic);
	if (file->used > 0)
		used += snprintf(text + used, TEXT_BYTES - (size_t)used, "used_by: \"");
	for (uint32_t i = 0; i < file->used; i++) {
		sodium_bin2hex(digits, sizeof digits, file->pins[i], SL_HASH_BYTES);
		used += snprintf(text + used, TEXT_BYTES - (size_t)used, "%c%s%s",
				 file->admitted[i] ? ADMITTED : WAITS, digits,
				 i + 1 < file->used ? " " : "\"\n");
	}
	int rc = sl_private_file_write(folder, name, text, (size_t)used, error);
	sodium_memzero(text, TEXT_BYTES);
	sodium_memzero(digits, sizeof digits);
	free(text);
	return rc;
}

int sl_invitation_file_create(const char *folder, struct sl_invitation *invitation, uint32_t uses,
			      bool automatic, struct sl_error *error)
{
	struct sl_invitation_file *file = calloc(1, sizeof *file);
	if (file == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	sl_invitation_file_sweep(folder);
	randombytes_buf(invitation->id, sizeof invitation->id);
	randombytes_buf(invitation->secret, sizeof invitation->secret);
	memcpy(file->secret, invitation->secret, sizeof file->secret);
	file->expires = invitation->expires;
	file->uses = uses;
	file->automatic = automatic;
	int rc = save(folder, invitation->id, file, error);
	sl_invitation_file_close(file);
	free(file);
	return rc;
}

/* ---- reading ---- */

/* Read the keys, each of 64 digits after its mark, with a blank between two. */
static bool read_pins(const char *text, struct sl_invitation_file *file)
{
	size_t size = strlen(text);
	for (size_t at = 0; at < size; at += ENTRY_BYTES) {
		size_t got = 0, end = at + ENTRY_BYTES - 1;
		if (file->used == SL_INVITATION_USES_MAX || end > size || (end < size && text[end] != ' ') ||
		    (text[at] != WAITS && text[at] != ADMITTED) ||
		    sodium_hex2bin(file->pins[file->used], SL_HASH_BYTES, text + at + 1, PIN_DIGITS, NULL,
				   &got, NULL) != 0 ||
		    got != SL_HASH_BYTES)
			return false;
		file->admitted[file->used++] = text[at] == ADMITTED;
	}
	return true;
}

static int visit(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	struct sl_invitation_file *file = context;
	uint64_t number = 0;
	bool good;
	if (strcmp(pair->key, "secret") == 0) {
		good = sl_roster_digits(pair->value, file->secret, sizeof file->secret);
	} else if (strcmp(pair->key, "used_by") == 0) {
		good = read_pins(pair->value, file);
	} else if (strcmp(pair->key, "expires") == 0) {
		good = sl_number_parse(pair->value, 1, UINT32_MAX, &file->expires);
	} else if (strcmp(pair->key, "uses") == 0) {
		good = sl_number_parse(pair->value, 1, SL_INVITATION_USES_MAX, &number);
		file->uses = (uint32_t)number;
	} else {
		good = strcmp(pair->key, "automatic") == 0 && sl_number_parse(pair->value, 0, 1, &number);
		file->automatic = number == 1;
	}
	return good ? SL_OK : sl_err_set(error, SL_ERR_FORMAT, "key %.32s", pair->key);
}

int sl_invitation_file_load(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
			    struct sl_invitation_file *file, struct sl_error *error)
{
	char name[NAME_BYTES], path[SL_PRIVATE_FILE_PATH_BYTES];
	struct sl_yaml yaml;
	*file = (struct sl_invitation_file){0};
	file_name(id, name);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	int rc = sl_yaml_open(&yaml, path, error);
	if (rc == SL_OK) {
		rc = sl_yaml_each(&yaml, yaml.root, visit, file, error);
		sodium_memzero(yaml.text, strlen(yaml.text)); /* it has the secret */
		sl_yaml_close(&yaml);
	}
	if (rc == SL_OK && file->uses > 0 && file->expires > 0 &&
	    !sodium_is_zero(file->secret, sizeof file->secret))
		return SL_OK;
	sl_invitation_file_close(file);
	if (rc == SL_ERR_NOTFOUND || rc == SL_ERR_IO || rc == SL_ERR_NOMEM)
		return rc;
	return sl_err_set(error, SL_ERR_FORMAT,
			  "%s: is damaged; remove it and make another invitation: starling group invite",
			  path);
}

int sl_invitation_file_find(const struct sl_invitation_file *file, const uint8_t pin[static SL_HASH_BYTES])
{
	for (uint32_t i = 0; i < file->used; i++)
		if (memcmp(file->pins[i], pin, SL_HASH_BYTES) == 0)
			return (int)i;
	return -1;
}

bool sl_invitation_file_is_automatic(const struct sl_invitation_file *file, const struct sl_roster *roster)
{
	for (uint32_t i = 0; i < file->used; i++)
		if (file->admitted[i] && sl_roster_find_pin(roster, file->pins[i]) < 0)
			return false;
	return file->automatic;
}

int sl_invitation_file_use(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
			   struct sl_invitation_file *file, const uint8_t pin[static SL_HASH_BYTES],
			   struct sl_error *error)
{
	if (file->used >= file->uses)
		return sl_err_set(error, SL_ERR_FULL, "the invitation was used");
	memcpy(file->pins[file->used++], pin, SL_HASH_BYTES);
	int rc = save(folder, id, file, error);
	file->used -= rc != SL_OK;
	return rc;
}

int sl_invitation_file_admit(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
			     const uint8_t pin[static SL_HASH_BYTES], struct sl_error *error)
{
	struct sl_invitation_file *file = malloc(sizeof *file);
	if (file == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	int rc = sl_invitation_file_load(folder, id, file, error);
	int at = rc == SL_OK ? sl_invitation_file_find(file, pin) : -1;
	if (at >= 0 && !file->admitted[at]) {
		file->admitted[at] = true;
		rc = save(folder, id, file, error);
	}
	sl_invitation_file_close(file);
	free(file);
	return rc == SL_ERR_NOTFOUND ? SL_OK : rc;
}

int sl_invitation_file_remove(const char *folder, const uint8_t id[static SL_INVITATION_ID_BYTES],
			      struct sl_error *error)
{
	char name[NAME_BYTES];
	file_name(id, name);
	return sl_private_file_remove(folder, name, error);
}

/* ---- expired ones ---- */

/* Return true if a learner in FOLDER/waiting has used the invitation. */
static bool is_waited_with(const struct sl_waiting *waiting, uint32_t count, const uint8_t *id)
{
	for (uint32_t i = 0; i < count; i++)
		if (memcmp(waiting[i].invitation, id, SL_INVITATION_ID_BYTES) == 0)
			return true;
	return false;
}

/* Remove the invitation if it is old. One that cannot be read stays, for the error that names it. */
static void sweep_one(const char *folder, const uint8_t *id, const struct sl_waiting *waiting, uint32_t count,
		      struct sl_invitation_file *file)
{
	if (sl_invitation_file_load(folder, id, file, NULL) == SL_OK &&
	    (uint64_t)time(NULL) > file->expires + KEPT_S && !is_waited_with(waiting, count, id))
		sl_invitation_file_remove(folder, id, NULL);
	sl_invitation_file_close(file);
}

void sl_invitation_file_sweep(const char *folder)
{
	char path[SL_PRIVATE_FILE_PATH_BYTES];
	uint8_t id[SL_INVITATION_ID_BYTES];
	struct sl_waiting *waiting = calloc(SL_WAITING_MAX, sizeof *waiting);
	struct sl_invitation_file *file = calloc(1, sizeof *file);
	snprintf(path, sizeof path, "%s/invitations", folder);
	DIR *all = waiting != NULL && file != NULL ? opendir(path) : NULL;
	uint32_t count = all != NULL ? sl_waiting_list(folder, waiting, NULL) : 0;
	for (const struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;)
		if (sl_roster_digits(entry->d_name, id, sizeof id))
			sweep_one(folder, id, waiting, count, file);
	if (all != NULL)
		closedir(all);
	free(file);
	free(waiting);
}

void sl_invitation_file_close(struct sl_invitation_file *file)
{
	sodium_memzero(file, sizeof *file);
}
