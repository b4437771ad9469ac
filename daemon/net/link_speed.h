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
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SL_SPEED_WRITE_BYTES                                                                                 \
	(64u << 10) /* a large write; also the acknowledged bytes from which on the speed counts as known */

/* Speed measurement of one link; zeroed before the first write. */
struct sl_link_speed {
	bool marked;		 /* a large write is under way */
	uint64_t acked, busy_us; /* counters at the last look */
	double bytes, us;	 /* totals; older measurements count less */
};

/* Note that a large write is about to be handed to the kernel. */
void sl_link_speed_begin(struct sl_link_speed *speed, int descriptor);
/* Update the measurement while a large write is under way. */
void sl_link_speed_look(struct sl_link_speed *speed, int descriptor);

/* Return bytes per second, 0: unknown. *floor is set before the first large write: the speed may be far
 * higher. */
double sl_link_speed_of(const struct sl_link_speed *speed, int descriptor, bool *floor);
