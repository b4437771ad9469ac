/* links_report.c - peers that are no members, or not the one expected, or at two places. */
#include "daemon/net/link.h"

#include <stdio.h>
#include <string.h>

/* Write the address of the other end, and its port if `port`. */
static void name_end(const struct sl_link *link, char text[static SL_ADDRESS_BYTES], bool port)
{
	struct sockaddr_storage name = {0};
	int size = sizeof name;
	snprintf(text, SL_ADDRESS_BYTES, "?");
	if (uv_tcp_getpeername(&link->tcp, (struct sockaddr *)&name, &size) == 0)
		uv_ip_name((struct sockaddr *)&name, text, SL_ADDRESS_BYTES);
	size_t end = strlen(text); /* the port is at the same place in IPv4 and IPv6 */
	if (port)
		snprintf(text + end, SL_ADDRESS_BYTES - end, " port %u",
			 ntohs(((struct sockaddr_in *)&name)->sin_port));
}

static void refuse(struct sl_link *link, int expected, const uint8_t *pin)
{
	struct sl_links *links = link->links;
	char text[SL_ADDRESS_BYTES];
	name_end(link, text, false);
	if (links->config.handler.refused != NULL)
		links->config.handler.refused(links->config.handler.context, text, expected, pin);
}

void sl_links_report_rival(struct sl_link *link, struct sl_slot *slot)
{
	struct sl_links *links = link->links;
	char one[SL_ADDRESS_BYTES], other[SL_ADDRESS_BYTES], both[SL_PLACES_BYTES];
	if (slot->rival != link->session.start) {
		slot->rival = link->session.start;
		slot->rival_at = uv_now(links->config.loop);
	}
	if (slot->up->way == SL_LINK_RELAY ||
	    slot->up->heard <= slot->rival_at + links->config.timing->ping ||
	    links->config.handler.two_places == NULL)
		return;
	name_end(slot->up, one, true);
	name_end(link, other, true);
	snprintf(both, sizeof both, "%.60s and %.60s", one, other);
	links->config.handler.two_places(links->config.handler.context, slot->up->peer, both);
}

/* Remember an unknown key; return false if it is known already or the table is full. */
static bool remember(struct sl_links *links, const uint8_t *pin)
{
	for (uint32_t i = 0; i < links->unknown_peer_count; i++)
		if (memcmp(links->unknown_peers[i], pin, SL_HASH_BYTES) == 0)
			return false;
	if (links->unknown_peer_count == SL_UNKNOWN_PEERS_MAX)
		return false;
	memcpy(links->unknown_peers[links->unknown_peer_count++], pin, SL_HASH_BYTES);
	return true;
}

void sl_links_report_unknown(struct sl_link *link)
{
	struct sl_links *links = link->links;
	const uint8_t *pin = link->session.pin;
	bool news = remember(links, pin);
	if (!link->dialled || link->way == SL_LINK_RELAY) { /* a relay chooses who answers */
		if (news)
			refuse(link, link->dialled ? (int)link->peer : -1, pin);
		return;
	}
	if (!links->slots[link->peer].refused)
		refuse(link, (int)link->peer, pin);
	links->slots[link->peer].refused = true;
}

bool sl_links_is_rightful(struct sl_link *link)
{
	struct sl_links *links = link->links;
	uint32_t member = (uint32_t)link->session.member;
	if (link->dialled ? member == link->peer : member != links->config.self)
		return true;
	if (link->way == SL_LINK_RELAY)
		return false;
	uint32_t slot = link->dialled ? link->peer : member;
	if (!links->slots[slot].refused)
		refuse(link, link->dialled ? (int)link->peer : -1, link->session.pin);
	links->slots[slot].refused = true;
	return false;
}
