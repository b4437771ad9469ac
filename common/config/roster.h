/* roster.h - the learners that may take part: id, name, address and pin of each, ascending by id.
 *
 * The file is a YAML list of lines such as `starling keygen` prints:
 *   - {id: 3, name: clinic-c, address: "10.0.0.3:7400", key: "sha256:9f86d0...(64 hex)"}
 * Errors read file:line:column. A roster owns its array.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_yaml;
struct fy_node;

struct sl_member {
	sl_id id;
	char name[SL_NAME_BYTES];
	char address[SL_ADDRESS_BYTES]; /* 1 to SL_ADDRESSES_MAX addresses, a comma between them */
	uint8_t pin[SL_HASH_BYTES];	/* SHA-256 of the SubjectPublicKeyInfo of the learner's Ed25519 key */
};

struct sl_roster {
	struct sl_member *members; /* ascending by id */
	uint32_t size;
	uint8_t settings[SL_HASH_BYTES]; /* hash of the settings that all share (sl_settings_hash) */
	uint8_t hash[SL_HASH_BYTES];	 /* BLAKE2b-256("starling roster 2" | settings | u32 size |
					    (u32 id | pin)...), LE */
};

/* Make `copy` the same as `roster`. SL_ERR_NOMEM. */
int sl_roster_copy(const struct sl_roster *roster, struct sl_roster *copy);
void sl_roster_close(struct sl_roster *roster);

/* Read the list `list` of `yaml`, with `least` to `most` members; its settings are left out. Refused: ids
 * that are 0 or repeated, repeated names, addresses or pins, malformed pins and addresses, unknown and
 * duplicate keys. */
int sl_roster_read(const struct sl_yaml *yaml, struct fy_node *list, struct sl_roster *roster, uint32_t least,
		   uint32_t most, struct sl_error *error);
/* Sort the members and compute the hash, after a change of the members or the settings. */
void sl_roster_arrange(struct sl_roster *roster);

/* Return the index of `id` in `roster`, or -1. */
int sl_roster_find(const struct sl_roster *roster, sl_id id);

/* Return the index of the member with this name, or -1. */
int sl_roster_find_name(const struct sl_roster *roster, const char *name);

/* Return the index of the member with the key `pin`, or -1. */
int sl_roster_find_pin(const struct sl_roster *roster, const uint8_t pin[static SL_HASH_BYTES]);

/* Return how many members of one of the two rosters the other does not have, or has with another key. */
uint32_t sl_roster_changes(const struct sl_roster *now, const struct sl_roster *next);

/* Check a name: 1 to 63 letters, digits, '.', '_' and '-'. Names go into certificates, folders and log lines.
 */
int sl_roster_name_check(const char *name, struct sl_error *error);

/* Check an address: "host:port" or "[v6]:port", port 1 to 65535. */
int sl_roster_address_check(const char *address, struct sl_error *error);
/* Check the addresses of a learner: 1 to SL_ADDRESSES_MAX with commas between them, which blanks may follow.
 */
int sl_roster_addresses_check(const char *addresses, struct sl_error *error);

/* Copy one of `addresses`: number `index` modulo their count. Return the count. */
uint32_t sl_roster_address_at(const char *addresses, uint32_t index, char one[static SL_ADDRESS_BYTES]);

/* Read `text`, 2 * size hexadecimal digits in lower case, into `bytes`; return false if it is none. */
bool sl_roster_digits(const char *text, uint8_t *bytes, size_t size);

#define SL_PIN_TEXT_BYTES (7 + 2 * SL_HASH_BYTES + 1) /* "sha256:" and lowercase hex */
/* Write `pin` as "sha256:" and 64 hexadecimal digits. */
void sl_roster_pin_text(const uint8_t pin[static SL_HASH_BYTES], char text[static SL_PIN_TEXT_BYTES]);

/* Write the roster line of `member`, without a newline. */
#define SL_MEMBER_TEXT_BYTES 512
void sl_roster_member_text(const struct sl_member *member, char text[static SL_MEMBER_TEXT_BYTES]);

/* Read a file that holds one such line. */
int sl_roster_member_load(const char *path, struct sl_member *member, struct sl_error *error);
