#include "daemon/net/link_speed.h"

#define RESOLUTION_US                                                                                        \
	10000 /* busy time is counted in ticks of up to 10 ms: short ones are taken for no shorter */
#define MEMORY_US 8000000 /* of busy time, then all counts half */
#define GROWTH_RTTS 16	  /* within which a window has grown to that of any line */
#define LONG_RTT_S 0.001

static void mark(struct sl_link_speed *speed, const struct sl_tcp_info *info)
{
	speed->acked = info->acked;
	speed->busy_us = info->busy_us;
}

void sl_link_speed_begin_at(struct sl_link_speed *speed, const struct sl_tcp_info *info)
{
	mark(speed, info);
	speed->begun_us = info->busy_us;
	speed->marked = true;
}

void sl_link_speed_begin(struct sl_link_speed *speed, int descriptor)
{
	struct sl_tcp_info info;
	if (!speed->marked && sl_tcp_info_get(descriptor, &info))
		sl_link_speed_begin_at(speed, &info);
}

/* Return true if the window of a write that began `us` ago may still be growing. */
static bool grows(const struct sl_tcp_info *info, uint64_t us)
{
	return info->rtt_s >= LONG_RTT_S && (double)us < GROWTH_RTTS * info->rtt_s * 1e6;
}

void sl_link_speed_look_at(struct sl_link_speed *speed, const struct sl_tcp_info *info)
{
	speed->bytes += (double)(info->acked - speed->acked);
	speed->us += (double)(info->busy_us - speed->busy_us);
	speed->flight = grows(info, info->busy_us - speed->begun_us) ? info->delivery : 0;
	mark(speed, info);
	if (speed->us > MEMORY_US) {
		speed->bytes /= 2;
		speed->us /= 2;
	}
	speed->marked = info->pending;
}

void sl_link_speed_look(struct sl_link_speed *speed, int descriptor)
{
	struct sl_tcp_info info;
	if (speed->marked && sl_tcp_info_get(descriptor, &info))
		sl_link_speed_look_at(speed, &info);
}

double sl_link_speed_of(const struct sl_link_speed *speed, int descriptor, bool *floor)
{
	struct sl_tcp_info info;
	*floor = speed->bytes < SL_SPEED_WRITE_BYTES;
	if (!*floor)
		return speed->bytes * 1e6 / (speed->us + RESOLUTION_US);
	return sl_tcp_info_get(descriptor, &info) ? info.delivery : 0;
}
