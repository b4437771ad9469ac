/* roster.h - who may take part: id, name, address and pin of every learner, ascending by id.
 *
 * The file is a YAML list of lines such as `starling init` prints:
 *   - {id: 3, name: clinic-c, address: "10.0.0.3:7400", key: "sha256:9f86d0...(64 hex)"}
 * Errors read file:line:column. A roster owns its array.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_member {
	sl_id id;
	char name[SL_NAME_BYTES];
	char address[SL_ADDRESS_BYTES];
	uint8_t pin[SL_HASH_BYTES]; /* SHA-256 of the SubjectPublicKeyInfo of its Ed25519 key */
};

struct sl_roster {
	struct sl_member *members; /* ascending by id */
	uint32_t size;
	uint8_t hash[SL_HASH_BYTES]; /* BLAKE2b-256 over size, ids and pins, fixed layout */
};

/* Refuses ids that are 0 or repeated, repeated names or pins, fewer than 2 or more than SL_LEARNERS_MAX members,
 * malformed pins and addresses, unknown and duplicate keys. */
int sl_roster_load(const char *path, struct sl_roster *roster, struct sl_error *error);
void sl_roster_close(struct sl_roster *roster);

/* Index of id, or -1. */
int sl_roster_find(const struct sl_roster *roster, sl_id id);
