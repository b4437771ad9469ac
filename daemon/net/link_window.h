/* link_window.h - how much the kernel holds for one link, from its bandwidth-delay product.
 *
 * A socket buffer bounds the rate of its direction to its size per round trip. Buffers that the kernel adapts
 * grow on short links, too, whenever a reader is late, and those of a hundred learners on one machine fall
 * into TCP memory pressure. Short links therefore have small fixed buffers. Those of a long link grow with
 * its bandwidth-delay product, by the kernel's hand and up to its limits net.ipv4.tcp_rmem and tcp_wmem,
 * until they have the link's share of SL_LINK_WINDOW_TOTAL:
 *
 *        2 · rate · rtt > fixed              size >= share
 *   FIXED --------------------> GROWING <------------------> KEPT
 *     ^                            |         size < share      |
 *     +----------------------------+---------------------------+  size > 2 · share: more links came up
 *
 * Vectors that the kernel has accepted cannot be overtaken. It is therefore given no more than leaves within
 * SL_LINK_WINDOW_UNSENT_S (TCP_NOTSENT_LOWAT); the rest waits in the link's queue, behind control frames.
 *
 * A learner sends to several neighbours over one line at the same time. There BBR keeps to the rate that a
 * connection had while it shared the line, long after the others have ended, and its timers cost CPU. Over a
 * line so short that a few round trips mend any other mistake, Reno therefore stands in for BBR. Other
 * algorithms stay as the system has set them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#define SL_LINK_WINDOW_TOTAL (256u << 20) /* buffers of all links, as the kernel counts them */
#define SL_LINK_WINDOW_SMALL (256u << 10) /* of one direction, at most; the kernel counts it twice */
#define SL_LINK_WINDOW_RATE 125e6	  /* bytes/s that a link may have before it is measured: 1 Gbit/s */
#define SL_LINK_WINDOW_UNSENT_S 0.01
#define SL_LINK_WINDOW_UNSENT (64u << 10) /* least bytes given to the kernel ahead */
#define SL_LINK_WINDOW_NEAR_S 0.001	  /* round trip time up to which a line is short */

enum sl_link_window_mode { SL_LINK_WINDOW_FIXED, SL_LINK_WINDOW_GROWING, SL_LINK_WINDOW_KEPT };

struct sl_link_window {
	enum sl_link_window_mode mode;
	size_t fixed;  /* bytes of each buffer while it is FIXED */
	size_t unsent; /* bytes ahead of the network; 0: as many as the buffer takes */
	bool reno;     /* stands in for BBR */
};

/* What the choice depends on. */
struct sl_link_path {
	double rate;	/* measured bytes/s, 0: unknown */
	double rtt_s;	/* least round trip time, 0: unknown */
	uint32_t links; /* that are up, this one included */
	size_t size;	/* present size of both buffers, as the kernel counts them */
};

/* Return the window that follows `now`. */
struct sl_link_window sl_link_window_choose(const struct sl_link_window *now,
					    const struct sl_link_path *path);

/* Choose it and set what has changed. A kernel before 5.14 lets no buffer grow again that was fixed, and
 * stops none at its share. */
struct sl_link_window sl_link_window_set(const struct sl_link_window *now, int descriptor,
					 const struct sl_link_path *path);
/* Set the window of a new connection. `links`: as in the path. */
void sl_link_window_open(struct sl_link_window *window, int descriptor, uint32_t links);
/* Set the window anew, with the round trip time and sizes of now. `rate`: as in the path. */
void sl_link_window_look(struct sl_link_window *window, int descriptor, double rate, uint32_t links);
/* Return the present size of both buffers, as the kernel counts them. */
size_t sl_link_window_size(int descriptor);
