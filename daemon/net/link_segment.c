#include "daemon/net/link_segment.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#define IN_VAIN 2u /* times that a segment was sent again */

bool sl_link_segment_is_lost(uint64_t *since, const struct sl_tcp_info *info, uint64_t now, uint64_t heard,
			     uint32_t silence, bool another)
{
	bool full = info->unacked >= info->segment && info->segment > SL_SEGMENT_LEAST;
	if (info->retransmits == 0 || !full)
		*since = 0;
	else if (*since == 0)
		*since = now;
	bool enough = now >= *since + silence / 2 && (heard > *since || now > heard + silence);
	return *since != 0 && info->retransmits >= IN_VAIN && (another || enough);
}

uint32_t sl_link_segment_after(uint32_t size)
{
	return size > SL_SEGMENT_SMALL ? SL_SEGMENT_SMALL : SL_SEGMENT_LEAST;
}

void sl_link_segment_set(int descriptor, uint32_t size)
{
	int value = (int)size;
	setsockopt(descriptor, IPPROTO_TCP, TCP_MAXSEG, &value, sizeof value); /* an older kernel has no 0 */
}
