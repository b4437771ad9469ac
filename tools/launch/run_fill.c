#include "tools/launch/run_fill.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/config/settings_table.h"
#include "common/membership/group.h"
#include "daemon/net/identity.h"
#include "tools/lib/ports.h"

/* Write a line "key: value". A value that YAML may read as something else is put in double quotes. */
static void put_setting(FILE *out, const char *key, size_t key_length, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_+";
	fprintf(out, "%.*s: ", (int)key_length, key);
	if (*value != '\0' && (value[strspn(value, plain)] == '\0')) {
		fprintf(out, "%s\n", value);
		return;
	}
	fputc('"', out);
	for (const char *c = value; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20)
			fprintf(out, "\\x%02x", (unsigned)(unsigned char)*c);
		else
			fprintf(out, strchr("\"\\", *c) != NULL ? "\\%c" : "%c", *c);
	}
	fputs("\"\n", out);
}

static bool overridden(const char *key, const char *const *overrides, size_t count)
{
	size_t length = strlen(key);
	for (size_t i = 0; i < count; i++)
		if (strncmp(overrides[i], key, length) == 0 && overrides[i][length] == '=')
			return true;
	return false;
}

/* Return true if the setting, whose name has `length` bytes, stands in the roster. */
static bool is_shared(const char *key, size_t length)
{
	char name[SL_NAME_BYTES];
	snprintf(name, sizeof name, "%.*s", (int)length, key);
	const struct sl_setting *row = sl_settings_table_find(name);
	return row != NULL && row->shared;
}

/* Write the settings that do not stand in the roster. */
static void put_settings(FILE *out, const struct sl_run_setting *settings, size_t count,
			 const char *const *overrides, size_t override_count)
{
	for (size_t i = 0; i < count; i++)
		if (!overridden(settings[i].key, overrides, override_count) &&
		    !is_shared(settings[i].key, strlen(settings[i].key)))
			put_setting(out, settings[i].key, strlen(settings[i].key), settings[i].value);
	for (size_t i = 0; i < override_count; i++) {
		size_t length = strcspn(overrides[i], "=");
		if (!is_shared(overrides[i], length))
			put_setting(out, overrides[i], length, overrides[i] + length + 1);
	}
}

static int write_config(const struct sl_run_folder *folder, uint32_t index,
			const struct sl_run_setting *settings, size_t count, const char *const *overrides,
			size_t override_count, struct sl_error *error)
{
	char name[SL_NAME_BYTES], file[SL_NAME_BYTES + 16];
	struct sl_run_file out;
	sl_run_folder_learner_name(folder, index, name);
	snprintf(file, sizeof file, "%s/config.yaml", name);
	int rc = sl_run_file_open(&out, folder, file, error);
	if (rc != SL_OK)
		return rc;
	fprintf(out.out, "# %s, written by starling launch\nid: %u\n", name, index + 1);
	fputs("roster: ../roster.yaml\nidentity: identity\nstate: state\ncontrol: control.sock\nlog: "
	      "log.jsonl\n"
	      "log_format: json\nneighbours: control\n",
	      out.out);
	put_settings(out.out, settings, count, overrides, override_count);
	return sl_run_file_close(&out, error);
}

static int make_folder(const struct sl_run_folder *folder, uint32_t index, const char *file, mode_t mode,
		       struct sl_error *error)
{
	char path[PATH_MAX];
	sl_run_folder_path(folder, index, file, path);
	return mkdir(path, mode) == 0 ? SL_OK : sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
}

static int make_learner(const struct sl_run_folder *folder, uint32_t index, uint16_t port,
			struct sl_member *member, struct sl_error *error)
{
	char path[PATH_MAX];
	struct sl_identity identity = {0};
	*member = (struct sl_member){.id = index + 1};
	sl_run_folder_learner_name(folder, index, member->name);
	snprintf(member->address, sizeof member->address, "127.0.0.1:%u", port);
	sl_run_folder_path(folder, index, "identity", path);
	int rc = make_folder(folder, index, "", 0755, error);
	if (rc == SL_OK)
		rc = make_folder(folder, index, "state", 0700, error);
	if (rc == SL_OK)
		rc = sl_identity_create(path, member->name, error);
	if (rc == SL_OK)
		rc = sl_identity_load(path, &identity, error);
	if (rc != SL_OK)
		return rc;
	memcpy(member->pin, identity.pin, SL_HASH_BYTES);
	sl_identity_close(&identity);
	return SL_OK;
}

static int write_roster(const struct sl_run_folder *folder, const char *file, const struct sl_group *group,
			struct sl_error *error)
{
	size_t size;
	char *text = sl_group_text(group, &size);
	int rc = text == NULL ? sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory", file)
			      : sl_run_folder_write(folder, file, text, size, error);
	free(text);
	return rc;
}

static int make_roster(const struct sl_run_folder *folder, struct sl_group *group, struct sl_error *error)
{
	uint16_t *ports = calloc(folder->learners, sizeof *ports);
	struct sl_member *members = calloc(folder->learners, sizeof *members);
	group->roster = (struct sl_roster){.members = members, .size = folder->learners};
	int rc = ports != NULL && members != NULL ? sl_ports_find(ports, folder->learners, error)
						  : sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = 0; rc == SL_OK && i < folder->learners; i++)
		rc = make_learner(folder, i, ports[i], &members[i], error);
	free(ports);
	return rc == SL_OK ? write_roster(folder, "roster.yaml", group, error) : rc;
}

int sl_run_fill(const struct sl_run_folder *folder, const struct sl_run_setting *settings, size_t count,
		const char *const *overrides, size_t override_count, struct sl_error *error)
{
	struct sl_group group = {.version = 0};
	int rc = SL_OK;
	for (size_t i = 0; rc == SL_OK && i < count; i++)
		if (is_shared(settings[i].key, strlen(settings[i].key)))
			rc = sl_group_put(&group, settings[i].key, strlen(settings[i].key), settings[i].value,
					  error);
	for (size_t i = 0; rc == SL_OK && i < override_count; i++) {
		size_t length = strcspn(overrides[i], "=");
		if (is_shared(overrides[i], length))
			rc = sl_group_put(&group, overrides[i], length, overrides[i] + length + 1, error);
	}
	if (rc == SL_OK)
		rc = make_roster(folder, &group, error);
	sl_group_close(&group);
	for (uint32_t i = 0; rc == SL_OK && i < folder->learners; i++)
		rc = write_config(folder, i, settings, count, overrides, override_count, error);
	return rc;
}

/* ---- changes for a resumed run ---- */

/* Return the content of RUN/file, malloced; NULL after an error. */
static char *read_text(const struct sl_run_folder *folder, const char *file, struct sl_error *error)
{
	char path[PATH_MAX], *text = NULL;
	size_t size = 0;
	sl_run_folder_file(folder, file, path);
	FILE *in = fopen(path, "re");
	if (in == NULL || getdelim(&text, &size, '\0', in) < 0) {
		sl_err_set(error, SL_ERR_IO, "%s: %s", path, in == NULL ? strerror(errno) : "empty");
		free(text);
		text = NULL;
	}
	if (in != NULL)
		fclose(in);
	return text;
}

/* Put the line "key: value" into the configuration of a learner, in place of one with this key. */
static int set_setting(const struct sl_run_folder *folder, uint32_t index, const char *key, const char *value,
		       struct sl_error *error)
{
	char name[SL_NAME_BYTES], file[SL_NAME_BYTES + 16], *text, *save = NULL;
	struct sl_run_file out;
	size_t length = strlen(key);
	sl_run_folder_learner_name(folder, index, name);
	snprintf(file, sizeof file, "%s/config.yaml", name);
	text = read_text(folder, file, error);
	int rc = text != NULL ? sl_run_file_open(&out, folder, file, error) : error->code;
	if (rc != SL_OK) {
		free(text);
		return rc;
	}
	for (char *line = strtok_r(text, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
		if (strncmp(line, key, length) != 0 || line[length] != ':')
			fprintf(out.out, "%s\n", line);
	put_setting(out.out, key, length, value);
	free(text);
	return sl_run_file_close(&out, error);
}

static int read_roster(const struct sl_run_folder *folder, const char *file, struct sl_group *group,
		       struct sl_error *error)
{
	char path[PATH_MAX];
	sl_run_folder_file(folder, file, path);
	return sl_group_load(path, group, error);
}

int sl_run_fill_share(const struct sl_run_folder *folder, const char *file, const char *key,
		      const char *value, struct sl_error *error)
{
	struct sl_group group;
	int rc = read_roster(folder, file, &group, error);
	if (rc == SL_OK)
		rc = sl_group_put(&group, key, strlen(key), value, error);
	if (rc == SL_OK)
		rc = write_roster(folder, file, &group, error);
	sl_group_close(&group);
	return rc;
}

static uint16_t port_of(const struct sl_member *member)
{
	const char *colon = strrchr(member->address, ':');
	return colon != NULL ? (uint16_t)strtoul(colon + 1, NULL, 10) : 0;
}

static bool is_port_of_any(const struct sl_roster *roster, uint16_t port)
{
	for (uint32_t i = 0; i < roster->size; i++)
		if (port_of(&roster->members[i]) == port)
			return true;
	return false;
}

/* Give the learner a port that is free and none of the `apart` ports from `first` on. */
static int replace_port(struct sl_roster *roster, uint32_t index, uint32_t first, uint32_t apart,
			struct sl_error *error)
{
	uint16_t port;
	int rc;
	do
		rc = sl_ports_find(&port, 1, error);
	while (rc == SL_OK && (is_port_of_any(roster, port) || port - first < apart));
	if (rc == SL_OK)
		snprintf(roster->members[index].address, SL_ADDRESS_BYTES, "127.0.0.1:%u", port);
	return rc;
}

/* Replace the ports of learners that are in use, or among the `apart` ports from `first` on. */
static int replace_ports(const struct sl_run_folder *folder, uint32_t first, uint32_t apart,
			 struct sl_error *error)
{
	struct sl_group group;
	bool changed = false;
	int rc = read_roster(folder, "roster.yaml", &group, error);
	for (uint32_t i = 0; rc == SL_OK && i < group.roster.size; i++) {
		uint16_t port = port_of(&group.roster.members[i]);
		if (port - first >= apart && sl_ports_reserve(port))
			continue;
		rc = replace_port(&group.roster, i, first, apart, error);
		changed = true;
	}
	if (rc == SL_OK && changed)
		rc = write_roster(folder, "roster.yaml", &group, error);
	sl_group_close(&group);
	return rc;
}

int sl_run_fill_ports(const struct sl_run_folder *folder, struct sl_error *error)
{
	return replace_ports(folder, 0, 0, error);
}

/* ---- HTTP ---- */

static int check_http_ports(const struct sl_run_folder *folder, uint32_t port, struct sl_error *error)
{
	if (port + folder->learners - 1 > UINT16_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "--http %u: there are not %u ports from there on",
				  port, folder->learners);
	for (uint32_t i = 0; i < folder->learners; i++)
		if (!sl_ports_reserve((uint16_t)(port + i)))
			return sl_err_set(
				error, SL_ERR_BUSY,
				"--http %u: port %u is in use by another program; give another number", port,
				port + i);
	return SL_OK;
}

static int write_prometheus(const struct sl_run_folder *folder, uint32_t port, const char *token_file,
			    struct sl_error *error)
{
	struct sl_run_file out;
	int rc = sl_run_file_open(&out, folder, "prometheus.yaml", error);
	if (rc != SL_OK)
		return rc;
	fprintf(out.out,
		"# For: prometheus --config.file=prometheus.yaml --web.listen-address=127.0.0.1:9090\n"
		"global:\n  scrape_interval: 5s\n  evaluation_interval: 5s\n"
		"scrape_configs:\n  - job_name: starling\n");
	if (*token_file != '\0') {
		fputs("    authorization:\n      ", out.out);
		put_setting(out.out, "credentials_file", strlen("credentials_file"), token_file);
	}
	fputs("    static_configs:\n      - targets:\n", out.out);
	for (uint32_t i = 0; i < folder->learners; i++)
		fprintf(out.out, "          - 127.0.0.1:%u\n", port + i);
	return sl_run_file_close(&out, error);
}

int sl_run_fill_http(const struct sl_run_folder *folder, uint32_t port, const char *token_file,
		     struct sl_error *error)
{
	int rc = check_http_ports(folder, port, error);
	if (rc == SL_OK)
		rc = replace_ports(folder, port, folder->learners, error);
	for (uint32_t i = 0; rc == SL_OK && i < folder->learners; i++) {
		char value[SL_ADDRESS_BYTES];
		snprintf(value, sizeof value, "127.0.0.1:%u", port + i);
		rc = set_setting(folder, i, "http", value, error);
	}
	return rc == SL_OK ? write_prometheus(folder, port, token_file, error) : rc;
}
