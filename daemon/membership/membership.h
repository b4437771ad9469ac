/* membership.h - the members of the group of a learner: its roster and identity, newer versions of the
 * roster, learners that join, and members that are found in the network.
 *
 * Owns the roster, which all others only read. It borrows what it needs to hear of changes and to tell of
 * them. A change that the running learner cannot take ends in one call: restart.
 */
#pragma once

#include <uv.h>

#include "common/config/roster.h"
#include "common/config/settings.h"
#include "common/core/core.h"
#include "common/membership/group.h"
#include "daemon/membership/admission.h"
#include "daemon/membership/mdns.h"
#include "daemon/net/identity.h"
#include "daemon/net/links.h"
#include "daemon/observe/observe.h"
#include "daemon/store/store.h"

/* Newer versions of a signed roster (group_update.h). */
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

/* Questions for them (roster_fetch.h). */
struct sl_roster_fetch {
	uint64_t linked_at; /* loop time, ms, when there was a link, or the first look; 0: no look yet */
	uint64_t asked_at;
	uint32_t count; /* questions so far */
	bool busy;	/* a thread asks */
};

/* What the members' part of a learner borrows from the rest of it. */
struct sl_membership_host {
	struct sl_settings *settings; /* the shared ones are those of the roster that it runs under */
	struct sl_observe *observe;
	uv_loop_t *loop;
	struct sl_store *store;	 /* NULL until it is open, and while the group is forming */
	struct sl_links *links;	 /* NULL until they are open */
	const bool *stopping;	 /* the learner ends: nothing is begun any more */
	void (*restart)(void *); /* start the program again, with the present files */
	void *context;		 /* .. its argument */
};

struct sl_membership {
	struct sl_membership_host host;
	struct sl_group group;	 /* the present roster, with its signatures */
	struct sl_roster roster; /* the one that the learner runs under: the same, or a past one */
	struct sl_durable past;	 /* open attempt of the previous roster, which `roster` then is; t 0: none */
	bool settled;		 /* a round has committed under the present roster */
	uint32_t self;		 /* own roster index */
	struct sl_identity identity;
	struct sl_proxy proxy; /* of this machine */
	struct sl_group_update update;
	struct sl_roster_fetch fetch;
	struct sl_admission *admission; /* of learners that join; owned */
	struct sl_join_handler join;
	struct sl_mdns *mdns; /* owned; NULL: `discover: none` */
};
