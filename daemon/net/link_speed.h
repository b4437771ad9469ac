/* link_speed.h - how fast the other end of a TCP connection acknowledges what is sent to it.
 *
 * The kernel counts the bytes acknowledged and the time in which there was something to be acknowledged (busy
 * time: idle time and slow senders are not in it, a receiver that reads slowly is). Their quotient over large
 * writes is the speed. The kernel's own delivery rate counts packets as full ones, which makes a ping of 30
 * bytes over loopback 2 GB/s, and a burst into a receiver that reads in steps eight times too fast; it is
 * used only for the floor.
 *
 *   large write -> begin: mark acked, busy -> look, each tick: add what came since -> all acknowledged: done
 *
 * Before the first large write there is a floor: about one packet of the handshake per round trip. Over
 * loopback that is tens of MB/s; over 50 ms it is about 20 kB/s, whatever the line could carry. It says how
 * far away the peer is, not how long a vector will take.
 *
 * A vector that is through after a few long round trips was sent while TCP still doubled its window. The mean
 * is then a fraction of what the line carries; the rate of the last flight is the one at which more would
 * have been sent. On links with shorter round trips
 * than 1 ms that rate is of steps of the receiver, and not used.
 */
#pragma once

#include "daemon/net/tcp_info.h"

#define SL_SPEED_WRITE_BYTES                                                                                 \
	(64u << 10) /* a large write; also the acknowledged bytes from which on the speed counts as known */

/* Speed measurement of one link; zeroed before the first write. */
struct sl_link_speed {
	bool marked;		 /* a large write is under way */
	uint64_t begun_us;	 /* busy time when it began */
	uint64_t acked, busy_us; /* counters at the last look */
	double bytes, us;	 /* totals; older measurements count less */
	double flight;		 /* bytes/s of the last flight, if the window still grew; else 0 */
};

/* Note that a large write is about to be handed to the kernel. */
void sl_link_speed_begin(struct sl_link_speed *speed, int descriptor);
/* Update the measurement while a large write is under way. */
void sl_link_speed_look(struct sl_link_speed *speed, int descriptor);

/* The same, with what the kernel says. */
void sl_link_speed_begin_at(struct sl_link_speed *speed, const struct sl_tcp_info *info);
void sl_link_speed_look_at(struct sl_link_speed *speed, const struct sl_tcp_info *info);

/* Return bytes per second, 0: unknown. *floor is set before the first large write: the speed may be far
 * higher. */
double sl_link_speed_of(const struct sl_link_speed *speed, int descriptor, bool *floor);
