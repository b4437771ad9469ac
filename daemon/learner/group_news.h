/* group_news.h - what a learner keeps of newer versions of a signed roster (group_update.h). */
#pragma once

#include "common/base/types.h"

struct sl_group_update {
	char *text; /* of the newest roster; owned; NULL: the roster is not signed */
	size_t bytes;
	uint64_t version; /* of it */
	uint64_t take_at; /* loop time, ms, at which it is taken even without a commit; 0: it is the present
			     one */
	struct sl_group_peer {
		uint64_t told,
			sent; /* version that the peer told, and that was sent to it; of the present link */
	} * peers;	      /* by index in the roster that the learner runs under */
	uint32_t peer_count;
	struct sl_group_parts { /* a roster that arrives */
		uint32_t peer;
		uint8_t *bytes; /* owned; NULL: none */
		size_t have, size;
		uint64_t since;
	} parts;
};
