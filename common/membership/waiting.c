#include "common/membership/waiting.h"

#include <dirent.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/number.h"
#include "common/membership/private_file.h"
#include "common/config/roster.h"
#include "common/config/yaml.h"

#define SUFFIX ".yaml"
#define FILE_BYTES (sizeof "waiting/" + SL_NAME_BYTES + sizeof SUFFIX)
#define PIN_DIGITS (2 * SL_HASH_BYTES)

static void file_name(const char *name, char file[static FILE_BYTES])
{
	snprintf(file, FILE_BYTES, "waiting/%.*s" SUFFIX, (int)SL_NAME_BYTES - 1, name);
}

int sl_waiting_save(const char *folder, const struct sl_waiting *waiting, struct sl_error *error)
{
	char file[FILE_BYTES], pin[SL_PIN_TEXT_BYTES], id[2 * SL_INVITATION_ID_BYTES + 1], text[1024];
	file_name(waiting->name, file);
	sl_roster_pin_text(waiting->pin, pin);
	sodium_bin2hex(id, sizeof id, waiting->invitation, sizeof waiting->invitation);
	int n = snprintf(text, sizeof text,
			 "name: %s\naddress: \"%s\"\nkey: \"%s\"\nsince: %" PRIu64
			 "\ninvitation: \"%s\"\nrenews: %" PRIu32 "\n",
			 waiting->name, waiting->address, pin, waiting->since, id, waiting->renews);
	return n < (int)sizeof text ? sl_private_file_write(folder, file, text, (size_t)n, error)
				    : sl_err_set(error, SL_ERR_RANGE, "%s: too long", file);
}

static bool take(struct sl_waiting *w, const char *key, const char *value)
{
	uint64_t number = 0;
	bool good = false;
	if (strcmp(key, "name") == 0) {
		good = sl_roster_name_check(value, NULL) == SL_OK;
		snprintf(w->name, sizeof w->name, "%s", value);
	} else if (strcmp(key, "address") == 0) {
		good = sl_roster_addresses_check(value, NULL) == SL_OK;
		snprintf(w->address, sizeof w->address, "%s", value);
	} else if (strcmp(key, "key") == 0) {
		good = strlen(value) == SL_PIN_TEXT_BYTES - 1 &&
		       sl_roster_digits(value + SL_PIN_TEXT_BYTES - 1 - PIN_DIGITS, w->pin, sizeof w->pin);
	} else if (strcmp(key, "invitation") == 0) {
		good = sl_roster_digits(value, w->invitation, sizeof w->invitation);
	} else if (strcmp(key, "since") == 0) {
		good = sl_number_parse(value, 0, UINT64_MAX, &w->since);
	} else if (strcmp(key, "renews") == 0) {
		good = sl_number_parse(value, 0, UINT32_MAX, &number);
		w->renews = (sl_id)number;
	}
	return good;
}

static int visit(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	return take(context, pair->key, pair->value)
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_FORMAT, "key %.32s", pair->key);
}

int sl_waiting_load(const char *folder, const char *name, struct sl_waiting *waiting, struct sl_error *error)
{
	char file[FILE_BYTES], path[SL_PRIVATE_FILE_PATH_BYTES];
	struct sl_yaml yaml;
	*waiting = (struct sl_waiting){0};
	file_name(name, file);
	snprintf(path, sizeof path, "%s/%s", folder, file);
	int rc = sl_yaml_open(&yaml, path, error);
	if (rc == SL_OK) {
		rc = sl_yaml_each(&yaml, yaml.root, visit, waiting, error);
		sl_yaml_close(&yaml);
	}
	if (rc == SL_OK && strcmp(waiting->name, name) == 0 && waiting->address[0] != '\0')
		return SL_OK;
	if (rc == SL_ERR_NOTFOUND || rc == SL_ERR_IO || rc == SL_ERR_NOMEM)
		return rc;
	return sl_err_set(error, SL_ERR_FORMAT, "%s: is damaged; remove it: the learner asks again", path);
}

static int is_waiting(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);
	return entry->d_name[0] != '.' && size > sizeof SUFFIX - 1 &&
	       size < SL_NAME_BYTES + sizeof SUFFIX - 1 &&
	       strcmp(entry->d_name + size - (sizeof SUFFIX - 1), SUFFIX) == 0;
}

uint32_t sl_waiting_list(const char *folder, struct sl_waiting list[static SL_WAITING_MAX],
			 struct sl_error *error)
{
	char path[SL_PRIVATE_FILE_PATH_BYTES], name[SL_NAME_BYTES];
	struct dirent **found;
	uint32_t used = 0;
	snprintf(path, sizeof path, "%s/waiting", folder);
	int count = scandir(path, &found, is_waiting, alphasort);
	if (count < 0)
		return 0;
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof name, "%.*s", (int)(strlen(found[i]->d_name) - (sizeof SUFFIX - 1)),
			 found[i]->d_name);
		used += used < SL_WAITING_MAX && sl_waiting_load(folder, name, &list[used], error) == SL_OK;
		free(found[i]);
	}
	free(found);
	return used;
}

int sl_waiting_remove(const char *folder, const char *name, struct sl_error *error)
{
	char file[FILE_BYTES];
	file_name(name, file);
	return sl_private_file_remove(folder, file, error);
}
