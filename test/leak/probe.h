/* probe.h - the map that the real code computes, recovered from unit inputs. */
#pragma once

#include "test/leak/stage.h"

/* What a shell could do wrong, so that a test sees that it would be seen. */
enum mistake {
	MISTAKE_NONE,
	MISTAKE_RANDOMNESS_TWICE, /* an attempt takes the coins of the one before */
	MISTAKE_OWN_SENT,	  /* the own share goes out with the others */
};

struct probe {
	struct replay replay;
	struct map map;
	uint64_t *base; /* outputs of inputs 0 */
};

/* Runs the history once for each input, and a few times more to see that the map predicts it. history is
 * borrowed. */
void probe_open(struct probe *probe, const struct history *history, const struct sl_field *field,
		enum sl_sharing_kind kind, enum mistake mistake);
void probe_close(struct probe *probe);
