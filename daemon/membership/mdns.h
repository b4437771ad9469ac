/* mdns.h - announces this learner by multicast DNS, and finds the members that do the same (LINKS.md §6.2
 * Links).
 *
 * Owns a connection to the system's D-Bus, on which it talks to avahi-daemon, and the sightings of members.
 * All calls are asynchronous, so that a D-Bus or an avahi-daemon that hangs does not hold up the loop. (The
 * library avahi-client waits up to 25 s for each answer.)
 *
 *   connect --avahi-daemon is there--> announce, browse --a member--> resolve --address--> found
 *      ^------ 10 s after a fault; at once when avahi-daemon comes back
 *
 * An address that is found is a hint: any machine of the network can announce anything. The key shows which
 * learner answers.
 */
#pragma once

#include <uv.h>

#include "common/base/err.h"
#include "common/config/roster.h"

struct sl_mdns_config {
	uv_loop_t *loop;
	const struct sl_roster *roster;
	uint32_t self;
	const char *run; /* its name */
	uint16_t port;	 /* at which this learner listens */
	void *context;
	/* Report all addresses at which a member is announced now, in the form of a roster; "": none. */
	void (*found)(void *context, uint32_t member, const char *addresses);
	/* Log a sentence: that this learner is announced (`works`), or why it is not, once until it works
	 * again. */
	void (*say)(void *context, bool works, const char *text);
};

struct sl_mdns;

int sl_mdns_open(struct sl_mdns **mdns, const struct sl_mdns_config *config, struct sl_error *error);
/* Withdraw the announcement. The loop must run until the handles are closed; then call sl_mdns_free. */
void sl_mdns_close(struct sl_mdns *mdns);
void sl_mdns_free(struct sl_mdns *mdns);
