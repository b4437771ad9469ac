/* link_segment.h - small segments, for a path that loses large packets and tells nobody.
 *
 * A VPN or tunnel carries smaller packets than the interface of this machine, and a firewall drops the ICMP
 * messages that would say so. Handshake and pings then pass, and a vector never arrives. The end that sends
 * it sees that its segments are not acknowledged while bytes of the peer arrive. It resets the connection.
 * The next one has small segments in both directions: what one end announces when the connection begins
 * binds the other. So either end may dial it.
 *
 *   full segments lost --> the link is reset --> dials of this end have small ones (before connect), and so
 *     do the connections that it accepts (on the listening socket), for a moment --> a link is up, and the
 *     peer was heard meanwhile: this end keeps to them. It was not: all packets were lost, as in an outage
 */
#pragma once

#include "daemon/net/tcp_info.h"

#define SL_SEGMENT_SMALL 1200u /* of TCP, with options: fits the least MTU of IPv6 */
#define SL_SEGMENT_LEAST 536u  /* .. of IPv4 */

/* Update *since, the time since which the first segment that waits is sent in vain, 0: it is not. Return true
 * if full segments are lost: for half of `silence` ms while bytes of the peer come, which was `heard` last,
 * or while nothing comes for `silence` ms, as the path loses those of both ends. `another`: it was just found
 * of another link of this machine, which begins with the same path. */
bool sl_link_segment_is_lost(uint64_t *since, const struct sl_tcp_info *info, uint64_t now, uint64_t heard,
			     uint32_t silence, bool another);
/* Return the segment size for the next connection after one whose segments of `size` bytes were lost. */
uint32_t sl_link_segment_after(uint32_t size);
/* Bound the segments of a socket that is not connected yet; 0: as the path has it. */
void sl_link_segment_set(int descriptor, uint32_t size);
