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

#define SL_SPEED_WRITE_BYTES (64u << 10) /* a large write; of so much, too, the speed is known */

/* Zeroed: nothing is known yet. */
struct sl_link_speed {
	bool marked;		 /* a large write is on its way */
	uint64_t acked, busy_us; /* the marks */
	double bytes, us;	 /* since the start, older ones counting less and less */
};

/* A large write is about to be handed to the kernel. */
void sl_link_speed_begin(struct sl_link_speed *speed, int descriptor);
/* Now and then while one is on its way. */
void sl_link_speed_look(struct sl_link_speed *speed, int descriptor);

/* Bytes per second; 0: not known. *floor: nothing large was sent yet, it may be far more. */
double sl_link_speed_of(const struct sl_link_speed *speed, int descriptor, bool *floor);
/* The least round trip of the last minutes, as the kernel keeps it: the line's, without what waits before it.
 * 0: not known. */
uint32_t sl_link_speed_rtt_us(int descriptor);
