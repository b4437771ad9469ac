/* group_news.h - what a learner keeps of newer versions of a signed roster (group_update.h), and of questions
 * for them (roster_fetch.h). */
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
		uint64_t sent_at;	/* loop time, ms */
		uint64_t quiet_until;	/* loop time, ms, before which no roster of the peer is read */
		uint64_t again_at;	/* loop time, ms, at which it is told the version again; 0: never */
		struct sl_group_parts { /* its roster that arrives */
			uint8_t *bytes; /* owned; NULL: none */
			size_t have, size;
			uint64_t since; /* loop time, ms, of the first part */
		} parts;
	} * peers; /* by index in the roster that the learner runs under */
	uint32_t peer_count;
	uint32_t arriving, arriving_max; /* rosters that arrive at a time */
};

struct sl_roster_fetch {
	uint64_t linked_at; /* loop time, ms, when there was a link, or the first look; 0: no look yet */
	uint64_t asked_at;
	uint32_t count; /* questions so far */
	bool busy;	/* a thread asks */
};
