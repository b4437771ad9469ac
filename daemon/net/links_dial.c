/* links_dial.c - at which address a peer is dialled: of the roster, found in the local network, or the last
 * one while its name does not resolve; and the dial. */
#include "daemon/net/link.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/runtime/address.h"

/* Copy the address of `peer` whose turn it is. Return the number of its addresses. */
static uint32_t take_turn(const struct sl_links *links, uint32_t peer, char one[static SL_ADDRESS_BYTES])
{
	const struct sl_slot *slot = &links->slots[peer];
	const char *listed = links->config.roster->members[peer].address;
	uint32_t n = sl_roster_address_at(listed, slot->tries, one), found = 0;
	if (slot->hints[0] == '\0')
		return n;
	found = sl_roster_address_at(slot->hints, 0, one);
	uint32_t turn = slot->tries % (n + found);
	sl_roster_address_at(turn < n ? listed : slot->hints, turn < n ? turn : turn - n, one);
	return n + found;
}

/* Return true if `addresses`, "" or a list, has `one`. */
static bool has_address(const char *addresses, const char *one)
{
	char other[SL_ADDRESS_BYTES];
	uint32_t count = addresses[0] == '\0' ? 0 : sl_roster_address_at(addresses, 0, other);
	for (uint32_t i = 0; i < count; i++) {
		sl_roster_address_at(addresses, i, other);
		if (strcmp(one, other) == 0)
			return true;
	}
	return false;
}

/* Connect to the address whose turn it is of those that a name has. */
static void connect_one(struct sl_link *link, const struct addrinfo *found)
{
	struct sl_slot *slot = &link->links->slots[link->via];
	uint32_t count;
	const struct addrinfo *one = sl_address_pick(found, slot->tries / link->ways, &count);
	if (link->via == link->peer)
		slot->ways *= count;
	link->since = uv_now(link->links->config.loop);
	sl_link_connect(link, one->ai_addr);
}

const struct sl_slot *sl_links_stand_in(const struct sl_link *link)
{
	struct sl_slot *slot = &link->links->slots[link->via];
	return slot->last.ss_family != 0 && slot->last_proxied == (link->talk != NULL) ? slot : NULL;
}

void sl_links_do_without(struct sl_link *link, const char *why)
{
	const struct sl_slot *slot = sl_links_stand_in(link);
	sl_address_query_close(link->query);
	link->query = NULL;
	if (slot == NULL) {
		sl_link_close(link, sl_link_proxy_fault(link, why));
		return;
	}
	link->without = sl_link_proxy_fault(link, why);
	link->since = uv_now(link->links->config.loop);
	sl_link_connect(link, (const struct sockaddr *)&slot->last);
}

void sl_links_answered(struct sl_link *link)
{
	struct addrinfo *found = NULL;
	int rc = sl_address_query_answer(link->query, &found);
	if (rc == EAI_INPROGRESS)
		return;
	if (rc != 0) {
		sl_links_do_without(link, gai_strerror(rc));
		return;
	}
	sl_address_query_close(link->query);
	link->query = NULL;
	connect_one(link, found);
	freeaddrinfo(found);
}

void sl_links_go(struct sl_link *link)
{
	char one[SL_ADDRESS_BYTES], host[SL_ADDRESS_BYTES], port[SL_ADDRESS_PORT_BYTES];
	struct sl_links *links = link->links;
	struct sl_slot *slot = &links->slots[link->via];
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *at;
	link->ways = take_turn(links, link->via, one);
	if (link->via == link->peer)
		slot->ways = link->ways;
	bool found = has_address(slot->hints, one) && /* in the local network */
		     !has_address(links->config.roster->members[link->via].address, one);
	if (!found && sl_proxy_serves(links->config.proxy, one) && !sl_link_proxy_open(link, one)) {
		sl_link_close(link, "out of memory");
		return;
	}
	sl_address_split(one, host, port);
	if (getaddrinfo(host, port, &hints, &at) == 0) { /* no name */
		sl_link_connect(link, at->ai_addr);
		freeaddrinfo(at);
		return;
	}
	link->query = sl_address_query_open(one);
	if (link->query == NULL)
		sl_links_do_without(link, gai_strerror(EAI_AGAIN));
}

void sl_links_dial(struct sl_links *links, uint32_t peer, uint32_t via, const uint8_t *token)
{
	struct sl_slot *slot = &links->slots[peer];
	struct sl_link *link = sl_link_new(links, peer, true);
	if (link == NULL)
		return;
	slot->dialling = link;
	slot->dialled_at = uv_now(links->config.loop);
	slot->direct_at = slot->dialled_at + links->config.timing->direct;
	links->dials++;
	links->begun++;
	link->via = via;
	if (token != NULL) {
		link->way = SL_LINK_RELAY;
		memcpy(link->token, token, sizeof link->token);
	}
	sl_links_go(link);
}

void sl_links_note_address(const struct sl_link *link)
{
	struct sl_slot *slot = &link->links->slots[link->peer];
	char one[SL_ADDRESS_BYTES], host[SL_ADDRESS_BYTES], port[SL_ADDRESS_PORT_BYTES];
	int size = sizeof slot->last;
	if (!link->dialled && slot->last_proxied)
		return;
	slot->last_proxied = link->way == SL_LINK_PROXY;
	if (uv_tcp_getpeername(&link->tcp, (struct sockaddr *)&slot->last, &size) != 0)
		slot->last.ss_family = 0;
	sl_roster_address_at(link->links->config.roster->members[link->peer].address, 0, one);
	sl_address_split(one, host, port);
	if (!link->dialled) /* the port has the same place with IPv6 */
		((struct sockaddr_in *)&slot->last)->sin_port = htons((uint16_t)atoi(port));
}

bool sl_links_hint(struct sl_links *links, uint32_t peer, const char *addresses)
{
	struct sl_slot *slot = &links->slots[peer];
	uint64_t now = uv_now(links->config.loop);
	char one[SL_ADDRESS_BYTES];
	uint32_t count = addresses[0] == '\0' ? 0 : sl_roster_address_at(addresses, 0, one);
	bool news = false;
	for (uint32_t i = 0; i < count; i++) {
		sl_roster_address_at(addresses, i, one);
		news = news || !has_address(slot->hints, one);
	}
	slot->tries %= take_turn(links, peer, one); /* those of the roster keep their turn */
	snprintf(slot->hints, sizeof slot->hints, "%s", addresses);
	if (news && (slot->hinted_at == 0 || now >= slot->hinted_at + links->config.timing->hint)) {
		slot->hinted_at = now;
		slot->failures = 0;
		slot->retry_at = now;
	}
	if (news && slot->ways == 1)
		slot->ways = 1 + count; /* a connect under way that gets no answer ends early */
	return news;
}

void sl_links_address(const struct sl_links *links, uint32_t peer, char address[static SL_ADDRESS_BYTES])
{
	take_turn(links, peer, address);
}
