/* probe.h - the map that the real code computes, recovered from unit inputs. */
#pragma once

#include "test/leak/replay.h"

/* Deliberate mistakes, to show that the tests find them. */
enum mistake {
	MISTAKE_NONE,
	MISTAKE_RANDOMNESS_TWICE, /* an attempt uses the random numbers of the one before */
	MISTAKE_OWN_SENT,	  /* the own share is sent, too */
};

#define EACH_KIND(kind)                                                                                      \
	enum sl_sharing_kind kind = SL_SHARING_SHAMIR;                                                       \
	kind <= SL_SHARING_SEEDED;                                                                           \
	kind++

struct probe {
	struct replay replay;
	struct map map;
	uint64_t *base; /* outputs of inputs 0 */
};

/* Run the history once for each input, and twice more to check the map's predictions. `history` is borrowed.
 */
void probe_open(struct probe *probe, const struct history *history, const struct sl_field *field,
		enum sl_sharing_kind kind, enum mistake mistake);
void probe_close(struct probe *probe);
