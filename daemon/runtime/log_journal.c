#define SD_JOURNAL_SUPPRESS_LOCATION /* of this file, for every record */
#include "daemon/runtime/log_journal.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#define FIELDS_MOST 48u
#define PREFIX "STARLING_"

bool sl_log_journal_found(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat s;
	return stream != NULL && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &s) == 0 && s.st_dev == device && s.st_ino == inode;
}

bool sl_log_journal_runs(void)
{
	return access("/run/systemd/journal/socket", W_OK) == 0;
}

/* The fields of an entry, "KEY=VALUE" each. */
struct entry {
	struct iovec fields[FIELDS_MOST];
	int count;
};

static void add(struct entry *entry, const char *key, const char *value)
{
	size_t length = strlen(key) + strlen(value) + 2;
	char *text = malloc(length);
	if (text == NULL || entry->count == (int)FIELDS_MOST) {
		free(text);
		return;
	}
	snprintf(text, length, "%s=%s", key, value);
	entry->fields[entry->count++] = (struct iovec){text, length - 1};
}

/* Keys of the journal have capitals, digits and '_' only. */
static void add_field(struct entry *entry, const char *name, const json_t *value)
{
	char key[64], number[40];
	size_t used = (size_t)snprintf(key, sizeof key, PREFIX "%s", name);
	for (char *c = key; *c != '\0'; c++)
		*c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
	if (used >= sizeof key)
		return;
	if (json_is_string(value))
		add(entry, key, json_string_value(value));
	if (json_is_boolean(value))
		add(entry, key, json_is_true(value) ? "true" : "false");
	if (json_is_integer(value))
		snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		snprintf(number, sizeof number, "%.15g", json_number_value(value));
	if (json_is_number(value))
		add(entry, key, number);
}

int sl_log_journal_send(enum sl_level level, const struct json_t *record, const char *json)
{
	static const char *const priorities[] = {
		[SL_DEBUG] = "7", [SL_INFO] = "6", [SL_WARN] = "4", [SL_ERROR] = "3"};
	struct entry entry = {.count = 0};
	const char *name, *text = json_string_value(json_object_get(record, "text"));
	json_t *value;
	add(&entry, "PRIORITY", priorities[level]);
	add(&entry, "SYSLOG_IDENTIFIER", "starlingd");
	add(&entry, "MESSAGE", text != NULL ? text : "");
	add(&entry, PREFIX "JSON", json);
	json_object_foreach((json_t *)record, name, value)
	{
		if (strcmp(name, "text") != 0)
			add_field(&entry, name, value);
	}
	int rc = sd_journal_sendv(entry.fields, entry.count);
	for (int i = 0; i < entry.count; i++)
		free(entry.fields[i].iov_base);
	return rc;
}
