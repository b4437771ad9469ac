/* links_traffic.c - what the owner of the links sends, takes and measures on those that stand. */
#include "daemon/net/link.h"

#include "daemon/net/tcp_info.h"

void sl_links_send(struct sl_links *links, uint32_t peer, struct sl_frame *frame)
{
	struct sl_link *link = links->slots[peer].up;
	if (link != NULL)
		sl_link_queue(link, frame);
}

size_t sl_links_waiting(const struct sl_links *links, uint32_t peer)
{
	const struct sl_link *link = links->slots[peer].up;
	return link == NULL ? 0 : link->vector_bytes + link->control_bytes;
}

bool sl_links_reads(const struct sl_links *links, uint32_t peer)
{
	const struct sl_link *link = links->slots[peer].up;
	return link == NULL ||
	       (link->vector_bytes <= SL_LINK_ANSWER_BYTES && link->control_bytes <= SL_LINK_QUEUE_BYTES);
}

void sl_links_consumed(struct sl_links *links, uint32_t peer)
{
	struct sl_link *link = links->slots[peer].up;
	if (link == NULL || link->unread == 0)
		return; /* a frame of a closed link */
	link->unread--;
	sl_link_resume(link);
}

void sl_links_drop(struct sl_links *links, uint32_t peer, const char *why)
{
	if (links->slots[peer].up != NULL)
		sl_link_close(links->slots[peer].up, why);
}

void sl_links_flush(struct sl_links *links)
{
	for (struct sl_link *link = links->all, *next; link != NULL; link = next) {
		next = link->next;
		if (link->state == SL_LINK_UP &&
		    (link->control.head != NULL || link->vectors.head != NULL || link->current != NULL))
			sl_link_pump(link);
	}
}

const struct sl_links_figures *sl_links_figures(const struct sl_links *links)
{
	return &links->figures;
}

struct sl_link_bytes sl_links_bytes(const struct sl_links *links, uint32_t peer)
{
	return links->slots[peer].bytes;
}

double sl_links_speed(const struct sl_links *links, uint32_t peer, bool *floor)
{
	const struct sl_link *link = links->slots[peer].up;
	*floor = true;
	return link == NULL ? 0 : sl_link_speed_of(&link->speed, sl_link_descriptor(link), floor);
}

bool sl_links_figures_of(const struct sl_links *links, uint32_t peer, struct sl_link_figures *state)
{
	const struct sl_link *link = links->slots[peer].up;
	struct sl_tcp_info info;
	bool floor;
	*state = (struct sl_link_figures){0};
	if (link == NULL)
		return false;
	double rate = sl_links_speed(links, peer, &floor);
	sl_tcp_info_get(sl_link_descriptor(link), &info);
	*state = (struct sl_link_figures){.rtt_s = info.rtt_s,
					  .rate = floor ? 0 : rate,
					  .flight = floor ? 0 : link->speed.flight,
					  .waiting = sl_links_waiting(links, peer) + link->in_flight,
					  .unsent = info.unsent,
					  .segment = info.segment,
					  .way = link->way,
					  .via = link->via,
					  .buffers = sl_link_window_size(sl_link_descriptor(link))};
	return true;
}
