#include "daemon/membership/sightings.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/protocol/canonical.h"

#define DOMAIN "starling mdns 1"
#define TAG_BYTES 16u

static_assert(SL_TAG_TEXT_BYTES == 2 * TAG_BYTES + 1, "a tag in hexadecimal digits");
static_assert(SL_ADDRESSES_MAX * (SL_SIGHTING_BYTES - 1 + 2) < SL_ADDRESS_BYTES, "a list has room");

/* Write the tag of the member with this pin: only a machine that knows run and pin can compute it. */
static void write_tag(const char *run, const uint8_t *pin, char text[static SL_TAG_TEXT_BYTES])
{
	uint8_t id[SL_RUN_BYTES], tag[TAG_BYTES];
	crypto_generichash_state state;
	sl_canonical_run(run, id);
	crypto_generichash_init(&state, NULL, 0, sizeof tag);
	crypto_generichash_update(&state, (const uint8_t *)DOMAIN, strlen(DOMAIN));
	crypto_generichash_update(&state, id, sizeof id);
	crypto_generichash_update(&state, pin, SL_HASH_BYTES);
	crypto_generichash_final(&state, tag, sizeof tag);
	sodium_bin2hex(text, SL_TAG_TEXT_BYTES, tag, sizeof tag);
}

int sl_sightings_open(struct sl_sightings *sightings, const struct sl_roster *roster, uint32_t self,
		      const char *run, struct sl_error *error)
{
	*sightings = (struct sl_sightings){.roster = roster, .self = self};
	sightings->tags = calloc(roster->size, sizeof *sightings->tags);
	if (sightings->tags == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (uint32_t i = 0; i < roster->size; i++)
		write_tag(run, roster->members[i].pin, sightings->tags[i]);
	return SL_OK;
}

/* The tag is the whole name, or is followed by " #2" and the like: the name was taken. */
int sl_sightings_member(const struct sl_sightings *sightings, const char *name)
{
	size_t n = SL_TAG_TEXT_BYTES - 1, length = strnlen(name, SL_SERVICE_NAME_BYTES);
	if (length < n || length >= SL_SERVICE_NAME_BYTES || (length > n && name[n] != ' '))
		return -1;
	for (uint32_t i = 0; i < sightings->roster->size; i++)
		if (i != sightings->self && memcmp(sightings->tags[i], name, n) == 0)
			return (int)i;
	return -1;
}

struct sl_sighting *sl_sightings_find(struct sl_sightings *sightings, int32_t interface, int32_t protocol,
				      const char *name)
{
	for (struct sl_sighting *s = sightings->all; s != NULL; s = s->next)
		if (s->interface == interface && s->protocol == protocol && strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static uint32_t count(const struct sl_sightings *sightings, uint32_t member)
{
	uint32_t n = 0;
	for (const struct sl_sighting *s = sightings->all; s != NULL; s = s->next)
		n += s->member == member;
	return n;
}

struct sl_sighting *sl_sightings_add(struct sl_sightings *sightings, int32_t interface, int32_t protocol,
				     const char *name)
{
	int member = sl_sightings_member(sightings, name);
	if (member < 0 || count(sightings, (uint32_t)member) >= SL_ADDRESSES_MAX)
		return NULL;
	struct sl_sighting *sighting = calloc(1, sizeof *sighting);
	if (sighting == NULL)
		return NULL;
	sighting->member = (uint32_t)member;
	sighting->interface = interface;
	sighting->protocol = protocol;
	snprintf(sighting->name, sizeof sighting->name, "%s", name);
	sighting->next = sightings->all;
	sightings->all = sighting;
	return sighting;
}

void sl_sightings_remove(struct sl_sightings *sightings, struct sl_sighting *sighting)
{
	struct sl_sighting **at = &sightings->all;
	while (*at != sighting)
		at = &(*at)->next;
	*at = sighting->next;
	free(sighting);
}

int sl_sightings_locate(struct sl_sighting *sighting, const char *address, uint16_t port)
{
	struct in_addr v4;
	struct in6_addr v6;
	bool is_v4 = inet_pton(AF_INET, address, &v4) == 1;
	if (port == 0 || (!is_v4 && inet_pton(AF_INET6, address, &v6) != 1))
		return SL_ERR_INVALID;
	if (is_v4)
		snprintf(sighting->address, SL_SIGHTING_BYTES, "%s:%u", address, port);
	else if (IN6_IS_ADDR_LINKLOCAL(&v6))
		snprintf(sighting->address, SL_SIGHTING_BYTES, "[%.45s%%%d]:%u", address, sighting->interface,
			 port);
	else
		snprintf(sighting->address, SL_SIGHTING_BYTES, "[%.45s]:%u", address, port);
	return SL_OK;
}

/* Return true if a sighting before `end` in the list has the same member and address. */
static bool is_repeated(const struct sl_sightings *sightings, const struct sl_sighting *end)
{
	for (const struct sl_sighting *s = sightings->all; s != end; s = s->next)
		if (s->member == end->member && strcmp(s->address, end->address) == 0)
			return true;
	return false;
}

void sl_sightings_addresses(const struct sl_sightings *sightings, uint32_t member,
			    char addresses[static SL_ADDRESS_BYTES])
{
	size_t used = 0;
	addresses[0] = '\0';
	for (const struct sl_sighting *s = sightings->all; s != NULL; s = s->next)
		if (s->member == member && s->address[0] != '\0' && !is_repeated(sightings, s))
			used += (size_t)snprintf(addresses + used, SL_ADDRESS_BYTES - used, "%s%s",
						 used > 0 ? ", " : "", s->address);
}

void sl_sightings_clear(struct sl_sightings *sightings)
{
	while (sightings->all != NULL)
		sl_sightings_remove(sightings, sightings->all);
}

void sl_sightings_close(struct sl_sightings *sightings)
{
	sl_sightings_clear(sightings);
	free(sightings->tags);
}
