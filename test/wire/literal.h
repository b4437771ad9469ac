/* literal.h - one fixed message of each kind, with the payload that it has on the wire and the hash that its
 * signature covers, written out. Another implementation can check itself against them. */
#pragma once

#include "common/protocol/canonical.h"

struct literal {
	struct sl_message message;
	const char *payload; /* in hexadecimal */
	const char *hash;    /* in hexadecimal; NULL: the kind is not signed */
};

extern const struct literal literals[];
extern const size_t literals_count;
extern const struct sl_scope literal_scope; /* run and roster of the hashes */

/* Return the first literal of `kind`. */
const struct literal *literal_of(uint32_t kind);
