/* links_places.c - an identity that was copied runs at two places, and other learners may be linked to each
 * process: those linked to a suspect tell all where it is, and all pass it on (LINKS.md §6.2 Links, "Two
 * places"). */
#include "daemon/net/link.h"

#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"

#define HEAD_BYTES 12u	 /* u32 id, u64 start; the address follows */
#define TOLD_MAX 20u	 /* in a second */
#define FRAMES_MAX 2000u /* .. to all peers */

void sl_links_end_name(const struct sl_link *link, char text[static SL_ADDRESS_BYTES], bool port)
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

void sl_links_suspect(struct sl_links *links, uint32_t peer)
{
	links->wary_until = uv_now(links->config.loop) + links->config.timing->direct;
	links->slots[peer].suspect_until = links->wary_until;
}

/* Return the place of this process: as known, or in that of the one which was seen less lately. NULL: it is a
 * third one. Three that took each other's place would be news, and be passed on, without end. */
static struct sl_place *find(struct sl_links *links, uint32_t peer, uint64_t start, uint64_t now)
{
	struct sl_place *p = links->slots[peer].places;
	bool second = p[0].start != start && (p[1].start == start || p[1].last <= p[0].last);
	if (p[second].start == start)
		return &p[second];
	if (p[second].start != 0 && now < p[second].last + 2 * links->config.timing->handshake)
		return NULL;
	p[second] = (struct sl_place){.start = start, .first = now};
	return &p[second];
}

/* Report both processes if each was seen some time after both were known: an old one does not linger so long.
 */
static void report(struct sl_links *links, uint32_t peer, uint64_t now)
{
	const struct sl_place *p = links->slots[peer].places;
	uint64_t known = p[0].first > p[1].first ? p[0].first : p[1].first,
		 seen = p[0].last < p[1].last ? p[0].last : p[1].last;
	const struct sl_links_timing *timing = links->config.timing;
	char both[SL_PLACES_BYTES];
	if (p[0].start == 0 || p[1].start == 0 || seen < known + timing->handshake ||
	    seen + 2 * timing->retry_most < now || links->config.handler.two_places == NULL)
		return;
	snprintf(both, sizeof both, "%s and %s", p[0].address, p[1].address);
	links->config.handler.two_places(links->config.handler.context, peer, both);
}

static struct sl_place *see(struct sl_links *links, uint32_t peer, uint64_t start, const char *address)
{
	uint64_t now = uv_now(links->config.loop);
	struct sl_place *place = find(links, peer, start, now);
	if (place == NULL)
		return NULL;
	place->last = now;
	snprintf(place->address, sizeof place->address, "%s", address);
	report(links, peer, now);
	return place;
}

/* Return true if the place may be told now. */
static bool may_tell(struct sl_links *links, struct sl_place *place)
{
	uint64_t now = uv_now(links->config.loop);
	if (now >= links->told_since + 1000) {
		links->told_since = now;
		links->told = 0;
	}
	if ((place->told != 0 && now < place->told + 2 * links->config.timing->ping) ||
	    links->told == TOLD_MAX || (links->told + 1) * links->figures.up > FRAMES_MAX)
		return false;
	links->told++;
	place->told = now;
	return true;
}

/* Note where a process of `peer` is, and tell all peers but `from`. */
static void spread(struct sl_links *links, uint32_t peer, uint64_t start, const char *address, uint32_t from)
{
	struct sl_place *place = see(links, peer, start, address);
	size_t size = HEAD_BYTES + (place != NULL ? strlen(place->address) : 0);
	struct sl_frame *frame = place != NULL && may_tell(links, place)
					 ? sl_link_frame_new(SL_FRAME_HEADER_BYTES + size, false)
					 : NULL;
	if (frame == NULL)
		return;
	struct sl_writer w = {.bytes = frame->bytes + SL_FRAME_HEADER_BYTES, .size = size};
	sl_frame_header(frame->bytes, SL_FRAME_PLACE, size);
	sl_bytes_put_u32(&w, links->config.roster->members[peer].id);
	sl_bytes_put_u64(&w, start);
	sl_bytes_put(&w, place->address, size - HEAD_BYTES);
	for (uint32_t i = 0; i < links->config.roster->size; i++)
		if (i != from)
			sl_links_send(links, i, frame);
	sl_link_frame_release(frame);
	sl_links_flush(links);
}

/* Spread where the other end of `link`, of `peer`, is. */
static void spread_end(struct sl_link *link, uint32_t peer)
{
	struct sl_links *links = link->links;
	char address[SL_ADDRESS_BYTES];
	sl_links_end_name(link, address, true);
	if (link->way == SL_LINK_RELAY)
		snprintf(address, sizeof address, "behind the relay %s",
			 links->config.roster->members[link->via].name);
	spread(links, peer, link->session.start, address, peer);
}

void sl_links_rival(struct sl_link *link, uint32_t member)
{
	sl_links_suspect(link->links, member);
	spread_end(link, member);
}

void sl_links_places_look(struct sl_links *links, uint64_t now)
{
	const struct sl_links_timing *timing = links->config.timing;
	for (uint32_t i = 0; i < links->config.roster->size && now < links->wary_until; i++) {
		const struct sl_slot *slot = &links->slots[i];
		if (now >= slot->suspect_until || slot->up == NULL ||
		    now >= slot->up->heard + 2 * timing->ping)
			continue;
		const struct sl_place *place = find(links, i, slot->up->session.start, now);
		if (place != NULL && now >= place->told + timing->silence)
			spread_end(slot->up, i);
	}
}

void sl_links_place(struct sl_link *link, const uint8_t *payload, size_t size)
{
	struct sl_links *links = link->links;
	char address[SL_PLACE_BYTES] = "";
	if (size <= HEAD_BYTES || size >= HEAD_BYTES + sizeof address)
		return;
	int member = sl_roster_find(links->config.roster, sl_bytes_get_u32(payload));
	uint64_t start = sl_bytes_get_u64(payload + 4);
	memcpy(address, payload + HEAD_BYTES, size - HEAD_BYTES);
	for (char *c = address; *c != '\0'; c++)
		*c = *c < ' ' || *c > '~' ? '?' : *c;
	if (member < 0)
		return;
	uint32_t peer = (uint32_t)member;
	const struct sl_link *up = links->slots[peer].up;
	if (up != NULL && up->session.start != start)
		sl_links_suspect(links, peer);
	if (peer == links->config.self)
		see(links, peer, links->config.tls->start, "here");
	spread(links, peer, start, address, link->peer);
}
