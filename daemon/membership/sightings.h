/* sightings.h - the members of the roster that announce themselves by multicast DNS, and where (LINKS.md
 * §6.2 Links). No I/O.
 *
 * A member announces a service whose name begins with its tag. A sighting is such a service on one network
 * interface of this machine, by IPv4 or IPv6. At most SL_ADDRESSES_MAX sightings of a member are kept.
 */
#pragma once

#include "common/base/err.h"
#include "common/config/roster.h"

#define SL_TAG_TEXT_BYTES 33u /* 32 hexadecimal digits and the terminating zero */
#define SL_SERVICE_NAME_BYTES 64u
#define SL_RESOLVER_BYTES 64u
#define SL_SIGHTING_BYTES 62u /* SL_ADDRESSES_MAX of them make a list of addresses */

/* Owned by struct sl_sightings. The caller may write `resolver` and `address`. */
struct sl_sighting {
	struct sl_sighting *next;
	uint32_t member; /* roster index */
	int32_t interface, protocol;
	char name[SL_SERVICE_NAME_BYTES];
	char resolver[SL_RESOLVER_BYTES]; /* path of the object that finds the address; "": none yet */
	char address[SL_SIGHTING_BYTES];  /* HOST:PORT; "": not known */
};

struct sl_sightings {
	const struct sl_roster *roster;
	uint32_t self;
	char (*tags)[SL_TAG_TEXT_BYTES]; /* by roster index */
	struct sl_sighting *all;
};

/* `run`: name of the run. */
int sl_sightings_open(struct sl_sightings *sightings, const struct sl_roster *roster, uint32_t self,
		      const char *run, struct sl_error *error);
/* Return the member, other than `self`, to which a service of this name belongs; -1: none. */
int sl_sightings_member(const struct sl_sightings *sightings, const char *name);
/* Return the sighting; NULL: there is none. */
struct sl_sighting *sl_sightings_find(struct sl_sightings *sightings, int32_t interface, int32_t protocol,
				      const char *name);
/* Add a sighting that is not there yet. NULL: the name belongs to no other member, the member has enough
 * sightings, or out of memory. */
struct sl_sighting *sl_sightings_add(struct sl_sightings *sightings, int32_t interface, int32_t protocol,
				     const char *name);
/* Remove `sighting` and free it. */
void sl_sightings_remove(struct sl_sightings *sightings, struct sl_sighting *sighting);
/* Set the address of a sighting. SL_ERR_INVALID: `address` is not an IP address. */
int sl_sightings_locate(struct sl_sighting *sighting, const char *address, uint16_t port);
/* Write the known addresses of a member, each once, in the form of a roster; "": none. */
void sl_sightings_addresses(const struct sl_sightings *sightings, uint32_t member,
			    char addresses[static SL_ADDRESS_BYTES]);
/* Remove all. */
void sl_sightings_clear(struct sl_sightings *sightings);
void sl_sightings_close(struct sl_sightings *sightings);
