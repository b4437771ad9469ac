/* links_report.c - peers that are no members, or not the one expected. */
#include "daemon/net/link.h"

#include <string.h>

static void refuse(struct sl_link *link, int expected, const uint8_t *pin)
{
	struct sl_links *links = link->links;
	char text[SL_ADDRESS_BYTES];
	sl_links_end_name(link, text, false);
	if (links->config.handler.refused != NULL)
		links->config.handler.refused(links->config.handler.context, text, expected, pin);
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
	if (link->without != NULL)
		return; /* the address may be another machine's by now */
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
	if (link->way == SL_LINK_RELAY || link->without != NULL)
		return false;
	uint32_t slot = link->dialled ? link->peer : member;
	if (!links->slots[slot].refused)
		refuse(link, link->dialled ? (int)link->peer : -1, link->session.pin);
	links->slots[slot].refused = true;
	return false;
}
