/* Play what other machines announce: sightings that come, that are found at an address, and that go. A step
 * has four bytes: what happens, the interface, the member whose tag is announced (or none), and the length of
 * a text, which follows. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/membership/sightings.h"
#include "test/fuzz/fuzz.h"

#define STEP_BYTES 4u

static void tell(const struct sl_sightings *sightings)
{
	char addresses[SL_ADDRESS_BYTES];
	for (uint32_t i = 0; i < sightings->roster->size; i++) {
		sl_sightings_addresses(sightings, i, addresses);
		assert(addresses[0] == '\0' || strchr(addresses, '%') != NULL ||
		       sl_roster_addresses_check(addresses, NULL) == SL_OK);
	}
}

static void step(struct sl_sightings *sightings, const uint8_t *head, const char *text)
{
	char name[300];
	int32_t interface = head[1] % 4, protocol = head[0] >> 4 & 1;
	const char *tag = head[2] < sightings->roster->size ? sightings->tags[head[2]] : "";
	snprintf(name, sizeof name, "%s%s", tag, head[0] & 8 ? text : "");
	struct sl_sighting *sighting = sl_sightings_find(sightings, interface, protocol, name);
	if ((head[0] & 7) == 0 && sighting == NULL)
		sl_sightings_add(sightings, interface, protocol, name);
	else if ((head[0] & 7) == 1 && sighting != NULL)
		sl_sightings_remove(sightings, sighting);
	else if (sighting != NULL)
		sl_sightings_locate(sighting, text, (uint16_t)(head[0] << 8 | head[3]));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static struct sl_member members[] = {
		{.id = 1, .pin = {1}}, {.id = 2, .pin = {2}}, {.id = 3, .pin = {3}}};
	static const struct sl_roster roster = {.members = members, .size = 3};
	struct sl_sightings sightings;
	if (sl_sightings_open(&sightings, &roster, 0, "run", NULL) != SL_OK)
		abort();
	while (count >= STEP_BYTES && count - STEP_BYTES >= bytes[3]) {
		char text[256] = "";
		memcpy(text, bytes + STEP_BYTES, bytes[3]);
		step(&sightings, bytes, text);
		tell(&sightings);
		count -= STEP_BYTES + bytes[3];
		bytes += STEP_BYTES + bytes[3];
	}
	sl_sightings_close(&sightings);
	return 0;
}
