#include "common/membership/group.h"

#include <assert.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/settings_table.h"
#include "common/config/yaml_text.h"
#include "common/membership/private_file.h"

#define DOMAIN "starling group 1"

void sl_group_close(struct sl_group *group)
{
	sl_roster_close(&group->roster);
	free(group->settings);
	*group = (struct sl_group){0};
}

struct sl_setting_list sl_group_list_settings(const struct sl_group *group, const char *path)
{
	return (struct sl_setting_list){path, group->settings, group->setting_count};
}

int sl_group_arrange(struct sl_group *group, const char *path, struct sl_error *error)
{
	const struct sl_setting_list list = sl_group_list_settings(group, path);
	int code = sl_settings_hash(&list, group->roster.settings, error);
	sl_roster_arrange(&group->roster);
	return code;
}

/* ---- text ---- */

static void write_hex(FILE *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
}

static void write_head(FILE *out, const struct sl_group *group)
{
	fprintf(out,
		"# Roster of group %s, version %" PRIu64
		", signed by its admin; see roster(5). A change by hand invalidates the signature.\n"
		"group: {name: %s, version: %" PRIu64 ", start: %u, next_id: %u, required: %u}\nadmins:\n",
		group->name, group->version, group->name, group->version, group->start, group->next_id,
		group->required);
	for (uint32_t i = 0; i < group->admin_count; i++) {
		fputs("- {key: \"", out);
		write_hex(out, group->admins[i], SL_KEY_BYTES);
		fputs("\"}\n", out);
	}
}

/* Write what is signed, or a plain roster. */
static void write_body(FILE *out, const struct sl_group *group)
{
	char line[SL_MEMBER_TEXT_BYTES];
	if (sl_group_is_signed(group))
		write_head(out, group);
	fputs("settings: {", out);
	for (uint32_t i = 0; i < group->setting_count; i++) {
		fprintf(out, "%s%s: ", i > 0 ? ", " : "", group->settings[i].key);
		sl_yaml_text_quote(out, group->settings[i].value);
	}
	fputs("}\nmembers:\n", out);
	for (uint32_t i = 0; i < group->roster.size; i++) {
		sl_roster_member_text(&group->roster.members[i], line);
		fprintf(out, "%s\n", line);
	}
}

static void write_signatures(FILE *out, const struct sl_group *group)
{
	fputs("signatures:\n", out);
	for (uint32_t i = 0; i < group->signature_count; i++) {
		fputs("- {admin: \"", out);
		write_hex(out, group->signatures[i].admin, SL_KEY_BYTES);
		fputs("\", signature: \"", out);
		write_hex(out, group->signatures[i].bytes, SL_SIG_BYTES);
		fputs("\"}\n", out);
	}
}

static char *text_of(const struct sl_group *group, bool signatures, size_t *bytes)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);
	if (out == NULL)
		return NULL;
	write_body(out, group);
	if (signatures && sl_group_is_signed(group))
		write_signatures(out, group);
	bool failed = ferror(out) != 0;
	if (fclose(out) == 0 && !failed)
		return text;
	free(text);
	return NULL;
}

char *sl_group_text(const struct sl_group *group, size_t *bytes)
{
	return text_of(group, true, bytes);
}

int sl_group_save(const char *path, const struct sl_group *group, struct sl_error *error)
{
	size_t size;
	char *text = sl_group_text(group, &size);
	int rc = text == NULL ? sl_err_set(error, SL_ERR_NOMEM, "out of memory")
			      : sl_private_file_replace(path, text, size, error);
	free(text);
	return rc;
}

/* ---- signatures ---- */

/* Compute what is signed. */
static bool digest_of(const struct sl_group *group, uint8_t digest[static SL_HASH_BYTES])
{
	size_t bytes;
	char *text = text_of(group, false, &bytes);
	if (text == NULL)
		return false;
	crypto_generichash_state state;
	crypto_generichash_init(&state, NULL, 0, SL_HASH_BYTES);
	crypto_generichash_update(&state, (const uint8_t *)DOMAIN, sizeof DOMAIN);
	crypto_generichash_update(&state, (const uint8_t *)text, bytes);
	crypto_generichash_final(&state, digest, SL_HASH_BYTES);
	free(text);
	return true;
}

/* Return true if `admin` has signed the digest. */
static bool has_signed(const struct sl_group *group, const uint8_t *admin,
		       const uint8_t digest[static SL_HASH_BYTES])
{
	for (uint32_t i = 0; i < group->signature_count; i++) {
		const struct sl_group_signature *s = &group->signatures[i];
		if (memcmp(s->admin, admin, SL_KEY_BYTES) == 0 &&
		    crypto_sign_verify_detached(s->bytes, digest, SL_HASH_BYTES, admin) == 0)
			return true;
	}
	return false;
}

/* Return how many admins of `judge` have signed `group`. */
static uint32_t signers(const struct sl_group *group, const struct sl_group *judge)
{
	uint8_t digest[SL_HASH_BYTES];
	uint32_t count = 0;
	if (!digest_of(group, digest))
		return 0;
	for (uint32_t i = 0; i < judge->admin_count; i++)
		count += has_signed(group, judge->admins[i], digest);
	return count;
}

bool sl_group_verify(const struct sl_group *group)
{
	return signers(group, group) >= group->required;
}

bool sl_group_has_signed(const struct sl_group *group, const uint8_t admin[static SL_KEY_BYTES])
{
	uint8_t digest[SL_HASH_BYTES];
	return digest_of(group, digest) && has_signed(group, admin, digest);
}

bool sl_group_signature_fits(const struct sl_group *group, const struct sl_group_signature *signature)
{
	uint8_t digest[SL_HASH_BYTES];
	return digest_of(group, digest) &&
	       crypto_sign_verify_detached(signature->bytes, digest, SL_HASH_BYTES, signature->admin) == 0;
}

int sl_group_find_admin(const struct sl_group *group, const uint8_t admin[static SL_KEY_BYTES])
{
	for (uint32_t i = 0; i < group->admin_count; i++)
		if (memcmp(group->admins[i], admin, SL_KEY_BYTES) == 0)
			return (int)i;
	return -1;
}

uint32_t sl_group_missing(const struct sl_group *now, const struct sl_group *next)
{
	uint32_t have = signers(next, now), own = signers(next, next);
	uint32_t missing = have < now->required ? now->required - have : 0;
	uint32_t missing_own = own < next->required ? next->required - own : 0;
	return missing > missing_own ? missing : missing_own;
}

int sl_group_follows(const struct sl_group *now, const struct sl_group *next, struct sl_error *error)
{
	if (strcmp(now->name, next->name) != 0)
		return sl_err_set(error, SL_ERR_REFUSED, "the roster is of group %s, and this is group %s",
				  next->name, now->name);
	if (next->version <= now->version)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "the roster has version %" PRIu64 ", and this learner has version %" PRIu64,
				  next->version, now->version);
	if (sl_group_missing(now, next) > 0)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "version %" PRIu64 " of the roster is not signed by %u of the admins of "
				  "version %" PRIu64,
				  next->version, now->required, now->version);
	return SL_OK;
}

void sl_group_sign(struct sl_group *group, const uint8_t key[static SL_SECRET_KEY_BYTES])
{
	group->signature_count = 0;
	sl_group_sign_too(group, key);
}

void sl_group_sign_too(struct sl_group *group, const uint8_t key[static SL_SECRET_KEY_BYTES])
{
	uint8_t digest[SL_HASH_BYTES];
	bool made = digest_of(group, digest);
	assert(made); /* a text of 1 MiB */
	assert(group->signature_count < SL_ADMINS_MAX);
	struct sl_group_signature *s = &group->signatures[group->signature_count++];
	memcpy(s->admin, sl_admin_key_public(key), SL_KEY_BYTES);
	crypto_sign_detached(s->bytes, NULL, digest, SL_HASH_BYTES, key);
}

/* ---- changes ---- */

int sl_group_add(struct sl_group *group, const struct sl_member *member, struct sl_error *error)
{
	struct sl_roster *roster = &group->roster;
	for (uint32_t i = 0; i < roster->size; i++) {
		const struct sl_member *m = &roster->members[i];
		const char *same = strcmp(m->name, member->name) == 0		     ? "name"
				   : strcmp(m->address, member->address) == 0	     ? "address"
				   : memcmp(m->pin, member->pin, sizeof m->pin) == 0 ? "key"
										     : NULL;
		if (same != NULL)
			return sl_err_set(error, SL_ERR_INVALID, "learner %s (%u) has the %s of %s", m->name,
					  m->id, same, member->name);
	}
	if (roster->size == SL_LEARNERS_MAX || group->next_id == UINT32_MAX)
		return sl_err_set(error, SL_ERR_FULL, "group %s has %u learners, and no room for more",
				  group->name, roster->size);
	struct sl_member *more = realloc(roster->members, (roster->size + 1) * sizeof *more);
	if (more == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	roster->members = more;
	roster->members[roster->size] = *member;
	roster->members[roster->size++].id = group->next_id++;
	sl_roster_arrange(roster);
	return SL_OK;
}

int sl_group_set_address(struct sl_group *group, uint32_t index, const char *address, struct sl_error *error)
{
	struct sl_member *members = group->roster.members;
	assert(index < group->roster.size && strlen(address) < SL_ADDRESS_BYTES);
	for (uint32_t i = 0; i < group->roster.size; i++)
		if (i != index && strcmp(members[i].address, address) == 0)
			return sl_err_set(error, SL_ERR_INVALID, "learner %s (%u) has the address %s",
					  members[i].name, members[i].id, address);
	if (strcmp(members[index].address, address) == 0)
		return sl_err_set(error, SL_ERR_REFUSED, "%s has the address %s already", members[index].name,
				  address);
	strcpy(members[index].address, address);
	return SL_OK;
}

void sl_group_remove(struct sl_group *group, uint32_t index)
{
	struct sl_roster *roster = &group->roster;
	assert(index < roster->size);
	memmove(&roster->members[index], &roster->members[index + 1],
		(roster->size - index - 1) * sizeof *roster->members);
	roster->size--;
	sl_roster_arrange(roster);
}

int sl_group_put(struct sl_group *group, const char *key, size_t length, const char *value,
		 struct sl_error *error)
{
	struct sl_setting_text *items = group->settings;
	uint32_t i = 0;
	while (i < group->setting_count &&
	       (strncmp(items[i].key, key, length) != 0 || items[i].key[length] != '\0'))
		i++;
	if (length >= sizeof items->key || strlen(value) >= sizeof items->value)
		return sl_err_set(error, SL_ERR_RANGE, "%.*s: the value is too long",
				  (int)(length < sizeof items->key ? length : sizeof items->key), key);
	if (i == SL_GROUP_SETTINGS_MAX)
		return sl_err_set(error, SL_ERR_FULL, "a roster has at most %u settings",
				  SL_GROUP_SETTINGS_MAX);
	if (i == group->setting_count) {
		items = realloc(items, (i + 1) * sizeof *items);
		if (items == NULL)
			return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
		group->settings = items;
		group->setting_count++;
	}
	snprintf(items[i].key, sizeof items[i].key, "%.*s", (int)length, key);
	strcpy(items[i].value, value);
	return SL_OK;
}

int sl_group_set(struct sl_group *group, const char *key, const char *value, struct sl_error *error)
{
	const struct sl_setting *row = sl_settings_table_find(key);
	uint8_t before[SL_HASH_BYTES];
	if (row != NULL && !row->shared)
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s is a setting of each machine: set it in its starlingd.yaml", key);
	memcpy(before, group->roster.settings, sizeof before);
	int rc = sl_group_put(group, key, strlen(key), value, error);
	if (rc == SL_OK)
		rc = sl_group_arrange(group, "roster", error);
	if (rc == SL_OK && memcmp(before, group->roster.settings, sizeof before) == 0)
		rc = sl_err_set(error, SL_ERR_REFUSED, "%s is %s already", key, value);
	return rc;
}
