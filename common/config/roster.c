#include "common/config/roster.h"

#include <ctype.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/number.h"
#include "common/base/suggest.h"
#include "common/config/yaml.h"

#define DOMAIN "starling roster 2"
#define PIN_PREFIX "sha256:"

enum field { ID, NAME, ADDRESS, KEY, FIELDS };
static const char *const field_names[FIELDS] = {"id", "name", "address", "key"};

/* An entry that is being read. */
struct entry {
	const struct sl_yaml *yaml;
	struct sl_member *member;
	struct fy_node *nodes[FIELDS];
};

int sl_roster_name_check(const char *name, struct sl_error *error)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strlen(name);
	if (n == 0 || n >= SL_NAME_BYTES)
		return sl_err_set(error, SL_ERR_RANGE, "a name has 1 to %u characters", SL_NAME_BYTES - 1);
	if (name[strspn(name, allowed)] != '\0')
		return sl_err_set(error, SL_ERR_INVALID,
				  "'%s' is not a name; letters, digits, '.', '_' and '-' are allowed", name);
	if (name[0] == '.' || name[0] == '-') /* it also names folders */
		return sl_err_set(error, SL_ERR_INVALID, "'%s' is not a name; it begins with '%c'", name,
				  name[0]);
	return SL_OK;
}

static bool host_fits(const char *host, size_t n)
{
	bool v6 = n >= 2 && host[0] == '[' && host[n - 1] == ']';
	size_t from = v6 ? 1 : 0, to = v6 ? n - 1 : n;
	if (to <= from || (v6 && memchr(host, ':', n) == NULL))
		return false;
	for (size_t i = from; i < to; i++) {
		unsigned char c = (unsigned char)host[i];
		if (!isalnum(c) && strchr(v6 ? ":.%" : ".-_", c) == NULL) /* "%eth0" scopes a v6 address */
			return false;
	}
	return true;
}

static bool port_fits(const char *port)
{
	uint64_t n;
	return strlen(port) <= 5 && sl_number_parse(port, 1, 65535, &n);
}

int sl_roster_address_check(const char *address, struct sl_error *error)
{
	const char *colon = strrchr(address, ':');
	if (strlen(address) >= SL_ADDRESS_BYTES)
		return sl_err_set(error, SL_ERR_RANGE, "an address has at most %u characters",
				  SL_ADDRESS_BYTES - 1);
	if (colon == NULL || !host_fits(address, (size_t)(colon - address)))
		return sl_err_set(error, SL_ERR_INVALID,
				  "'%s' is not an address; expected HOST:PORT or [IPV6]:PORT", address);
	if (!port_fits(colon + 1))
		return sl_err_set(error, SL_ERR_INVALID,
				  "'%s' is not an address; the port must be 1 to 65535", address);
	return SL_OK;
}

/* Return the address that follows the one at `address`, or NULL. */
static const char *next_address(const char *address)
{
	const char *comma = strchr(address, ',');
	return comma == NULL ? NULL : comma + 1 + strspn(comma + 1, " ");
}

uint32_t sl_roster_address_at(const char *addresses, uint32_t index, char one[static SL_ADDRESS_BYTES])
{
	uint32_t count = 0;
	for (const char *at = addresses; at != NULL; at = next_address(at))
		count++;
	for (index %= count; index > 0; index--)
		addresses = next_address(addresses);
	snprintf(one, SL_ADDRESS_BYTES, "%.*s", (int)strcspn(addresses, ","), addresses);
	return count;
}

int sl_roster_addresses_check(const char *addresses, struct sl_error *error)
{
	char one[SL_ADDRESS_BYTES];
	if (strlen(addresses) >= SL_ADDRESS_BYTES)
		return sl_err_set(error, SL_ERR_RANGE,
				  "the addresses of a learner have at most %u characters",
				  SL_ADDRESS_BYTES - 1);
	uint32_t count = sl_roster_address_at(addresses, 0, one);
	if (count > SL_ADDRESSES_MAX)
		return sl_err_set(error, SL_ERR_RANGE, "a learner has at most %u addresses, not %u",
				  SL_ADDRESSES_MAX, count);
	int code = SL_OK;
	for (uint32_t i = 0; code == SL_OK && i < count; i++) {
		sl_roster_address_at(addresses, i, one);
		code = sl_roster_address_check(one, error);
	}
	return code;
}

static int parse_id(const char *text, sl_id *id, struct sl_error *error)
{
	uint64_t n;
	if (!sl_number_parse(text, 1, UINT32_MAX, &n))
		return sl_err_set(error, SL_ERR_RANGE, "id must be a whole number from 1 to %u, not '%.64s'",
				  UINT32_MAX, text);
	*id = (sl_id)n;
	return SL_OK;
}

bool sl_roster_digits(const char *text, uint8_t *bytes, size_t size)
{
	return strlen(text) == 2 * size && text[strspn(text, "0123456789abcdef")] == '\0' &&
	       sodium_hex2bin(bytes, size, text, 2 * size, NULL, NULL, NULL) == 0;
}

static int parse_pin(const char *text, uint8_t pin[static SL_HASH_BYTES], struct sl_error *error)
{
	const size_t prefix = sizeof PIN_PREFIX - 1;
	const char *hex = text + prefix;
	if (strncmp(text, PIN_PREFIX, prefix) != 0 || !sl_roster_digits(hex, pin, SL_HASH_BYTES))
		return sl_err_set(error, SL_ERR_INVALID,
				  "key must be sha256: and 64 hexadecimal digits in lower case");
	return SL_OK;
}

static int take(struct sl_member *member, enum field field, const char *value, struct sl_error *error)
{
	int code = SL_OK;
	switch (field) {
	case ID:
		return parse_id(value, &member->id, error);
	case NAME:
		code = sl_roster_name_check(value, error);
		if (code == SL_OK)
			strcpy(member->name, value);
		return code;
	case ADDRESS:
		code = sl_roster_addresses_check(value, error);
		if (code == SL_OK)
			strcpy(member->address, value);
		return code;
	case KEY:
	case FIELDS:
		break;
	}
	return parse_pin(value, member->pin, error);
}

static int unknown_key(const struct sl_yaml *yaml, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	const char *best = NULL;
	size_t distance = SIZE_MAX;
	for (size_t f = 0; f < FIELDS; f++)
		sl_suggest(pair->key, field_names[f], &best, &distance);
	return sl_yaml_fail(yaml, pair->key_node, error, SL_ERR_INVALID, "unknown key '%.64s'%s%s%s",
			    pair->key, best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

static int visit(void *context, const struct sl_yaml_pair *pair, struct sl_error *error)
{
	struct entry *entry = context;
	struct sl_error inner = {0};
	enum field field = 0;
	while (field < FIELDS && strcmp(field_names[field], pair->key) != 0)
		field++;
	if (field == FIELDS)
		return unknown_key(entry->yaml, pair, error);
	entry->nodes[field] = pair->value_node;
	if (take(entry->member, field, pair->value, &inner) != SL_OK)
		return sl_yaml_fail(entry->yaml, pair->value_node, error, inner.code, "%s", inner.text);
	return SL_OK;
}

static int read_member(const struct sl_yaml *yaml, struct fy_node *node, struct entry *entry,
		       struct sl_error *error)
{
	entry->yaml = yaml;
	int code = sl_yaml_each(yaml, node, visit, entry, error);
	for (size_t f = 0; code == SL_OK && f < FIELDS; f++)
		if (entry->nodes[f] == NULL)
			code = sl_yaml_fail(yaml, node, error, SL_ERR_INVALID, "missing key '%s'",
					    field_names[f]);
	return code;
}

/* Refuse an id, name, address or pin that an earlier entry has. Of several addresses, machines of two sites
 * may share one. */
static int check_repeated(const struct sl_roster *roster, const struct entry *entry, struct sl_error *error)
{
	const struct sl_member *new = entry->member;
	for (const struct sl_member *m = roster->members; m < new; m++) {
		if (m->id == new->id)
			return sl_yaml_fail(entry->yaml, entry->nodes[ID], error, SL_ERR_INVALID,
					    "id %u is repeated; '%s' has it", m->id, m->name);
		if (strcmp(m->name, new->name) == 0)
			return sl_yaml_fail(entry->yaml, entry->nodes[NAME], error, SL_ERR_INVALID,
					    "name '%s' is repeated; learner %u has it", m->name, m->id);
		if (strcmp(m->address, new->address) == 0)
			return sl_yaml_fail(entry->yaml, entry->nodes[ADDRESS], error, SL_ERR_INVALID,
					    "address '%s' is repeated; learner %u has it", m->address, m->id);
		if (memcmp(m->pin, new->pin, sizeof m->pin) == 0)
			return sl_yaml_fail(entry->yaml, entry->nodes[KEY], error, SL_ERR_INVALID,
					    "key is repeated; learner %u has it", m->id);
	}
	return SL_OK;
}

static int read_members(const struct sl_yaml *yaml, struct fy_node *list, struct sl_roster *roster,
			uint32_t least, uint32_t most, struct sl_error *error)
{
	int size = fy_node_is_sequence(list) ? fy_node_sequence_item_count(list) : -1;
	if (size < 0)
		return sl_yaml_fail(yaml, list, error, SL_ERR_FORMAT,
				    "expected a list of learners, one '- {id, name, address, key}' a line");
	if ((uint32_t)size < least || (uint32_t)size > most)
		return sl_yaml_fail(yaml, list, error, SL_ERR_RANGE,
				    "lists %d learners; %u to %u are possible", size, least, most);
	roster->members = calloc((size_t)size, sizeof *roster->members);
	if (roster->members == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory", yaml->path);
	int code = SL_OK;
	void *at = NULL;
	for (struct fy_node *node; code == SL_OK && (node = fy_node_sequence_iterate(list, &at)) != NULL;) {
		struct entry entry = {.member = &roster->members[roster->size]};
		code = read_member(yaml, node, &entry, error);
		if (code == SL_OK)
			code = check_repeated(roster, &entry, error);
		roster->size++;
	}
	return code;
}

static int by_id(const void *a, const void *b)
{
	const struct sl_member *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

void sl_roster_arrange(struct sl_roster *roster)
{
	qsort(roster->members, roster->size, sizeof *roster->members, by_id);
	crypto_generichash_state state;
	uint8_t block[4 + SL_HASH_BYTES];
	struct sl_writer w = {.bytes = block, .size = sizeof block};
	crypto_generichash_init(&state, NULL, 0, SL_HASH_BYTES);
	crypto_generichash_update(&state, (const uint8_t *)DOMAIN, sizeof DOMAIN - 1);
	crypto_generichash_update(&state, roster->settings, sizeof roster->settings);
	sl_bytes_put_u32(&w, roster->size);
	crypto_generichash_update(&state, block, w.used);
	for (uint32_t i = 0; i < roster->size; i++) {
		w.used = 0;
		sl_bytes_put_u32(&w, roster->members[i].id);
		sl_bytes_put(&w, roster->members[i].pin, SL_HASH_BYTES);
		crypto_generichash_update(&state, block, w.used);
	}
	crypto_generichash_final(&state, roster->hash, sizeof roster->hash);
}

int sl_roster_read(const struct sl_yaml *yaml, struct fy_node *list, struct sl_roster *roster, uint32_t least,
		   uint32_t most, struct sl_error *error)
{
	*roster = (struct sl_roster){0};
	int code = read_members(yaml, list, roster, least, most, error);
	if (code == SL_OK)
		sl_roster_arrange(roster);
	else
		sl_roster_close(roster);
	return code;
}

int sl_roster_member_load(const char *path, struct sl_member *member, struct sl_error *error)
{
	struct sl_yaml yaml;
	struct sl_roster one;
	int code = sl_yaml_open(&yaml, path, error);
	if (code != SL_OK)
		return code;
	code = sl_roster_read(&yaml, yaml.root, &one, 1, 1, error);
	sl_yaml_close(&yaml);
	if (code != SL_OK)
		return code;
	*member = one.members[0];
	sl_roster_close(&one);
	return SL_OK;
}

int sl_roster_copy(const struct sl_roster *roster, struct sl_roster *copy)
{
	size_t bytes = roster->size * sizeof *roster->members;
	*copy = *roster;
	copy->members = malloc(bytes);
	if (copy->members == NULL) {
		*copy = (struct sl_roster){0};
		return SL_ERR_NOMEM;
	}
	memcpy(copy->members, roster->members, bytes);
	return SL_OK;
}

void sl_roster_close(struct sl_roster *roster)
{
	free(roster->members);
	*roster = (struct sl_roster){0};
}

int sl_roster_find(const struct sl_roster *roster, sl_id id)
{
	const struct sl_member key = {.id = id};
	if (roster->size == 0)
		return -1;
	const struct sl_member *m = bsearch(&key, roster->members, roster->size, sizeof *m, by_id);
	return m ? (int)(m - roster->members) : -1;
}

int sl_roster_find_name(const struct sl_roster *roster, const char *name)
{
	for (uint32_t i = 0; i < roster->size; i++)
		if (strcmp(roster->members[i].name, name) == 0)
			return (int)i;
	return -1;
}

int sl_roster_find_pin(const struct sl_roster *roster, const uint8_t pin[static SL_HASH_BYTES])
{
	for (uint32_t i = 0; i < roster->size; i++)
		if (memcmp(roster->members[i].pin, pin, SL_HASH_BYTES) == 0)
			return (int)i;
	return -1;
}

uint32_t sl_roster_changes(const struct sl_roster *now, const struct sl_roster *next)
{
	uint32_t both = 0, same = 0;
	for (uint32_t i = 0; i < next->size; i++) {
		int at = sl_roster_find(now, next->members[i].id);
		both += at >= 0;
		same += at >= 0 && memcmp(now->members[at].pin, next->members[i].pin, SL_HASH_BYTES) == 0;
	}
	return now->size + next->size - both - same;
}

void sl_roster_pin_text(const uint8_t pin[static SL_HASH_BYTES], char text[static SL_PIN_TEXT_BYTES])
{
	memcpy(text, PIN_PREFIX, sizeof PIN_PREFIX - 1);
	sodium_bin2hex(text + sizeof PIN_PREFIX - 1, 2 * SL_HASH_BYTES + 1, pin, SL_HASH_BYTES);
}

void sl_roster_member_text(const struct sl_member *member, char text[static SL_MEMBER_TEXT_BYTES])
{
	char pin[SL_PIN_TEXT_BYTES];
	sl_roster_pin_text(member->pin, pin);
	snprintf(text, SL_MEMBER_TEXT_BYTES, "- {id: %u, name: %s, address: \"%s\", key: \"%s\"}", member->id,
		 member->name, member->address, pin);
}
