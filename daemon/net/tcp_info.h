/* tcp_info.h - what the kernel knows of a TCP connection. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sl_tcp_info {
	double rtt_s;	 /* least round trip time, without the waiting in queues; 0: not measured */
	double delivery; /* bytes/s of the last flight, with packets as large as they were on average */
	uint64_t acked, busy_us; /* bytes; time in which there was something to be acknowledged */
	uint64_t unsent;	 /* bytes accepted and not given to the network yet */
	uint64_t unacked;	 /* bytes given to it and not acknowledged */
	uint32_t segment;	 /* most bytes of a packet */
	uint32_t retransmits;	 /* times that the first of them was sent again, without an answer */
	bool pending;		 /* not all bytes are acknowledged */
};

/* Ask the kernel. false: no TCP socket, or a kernel before 4.18. */
bool sl_tcp_info_get(int descriptor, struct sl_tcp_info *info);
