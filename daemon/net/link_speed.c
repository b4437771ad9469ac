#include "daemon/net/link_speed.h"

#include "daemon/net/tcp_info.h"

#define RESOLUTION_US                                                                                        \
	10000 /* busy time is counted in ticks of up to 10 ms: short ones are taken for no shorter */
#define MEMORY_US 8000000 /* of busy time, then all counts half */

static void mark(struct sl_link_speed *speed, const struct sl_tcp_info *info)
{
	speed->acked = info->acked;
	speed->busy_us = info->busy_us;
}

void sl_link_speed_begin(struct sl_link_speed *speed, int descriptor)
{
	struct sl_tcp_info info;
	if (speed->marked || !sl_tcp_info_get(descriptor, &info))
		return;
	mark(speed, &info);
	speed->marked = true;
}

void sl_link_speed_look(struct sl_link_speed *speed, int descriptor)
{
	struct sl_tcp_info info;
	if (!speed->marked || !sl_tcp_info_get(descriptor, &info))
		return;
	speed->bytes += (double)(info.acked - speed->acked);
	speed->us += (double)(info.busy_us - speed->busy_us);
	mark(speed, &info);
	if (speed->us > MEMORY_US) {
		speed->bytes /= 2;
		speed->us /= 2;
	}
	speed->marked = info.pending;
}

double sl_link_speed_of(const struct sl_link_speed *speed, int descriptor, bool *floor)
{
	struct sl_tcp_info info;
	*floor = speed->bytes < SL_SPEED_WRITE_BYTES;
	if (!*floor)
		return speed->bytes * 1e6 / (speed->us + RESOLUTION_US);
	return sl_tcp_info_get(descriptor, &info) ? info.delivery : 0;
}
