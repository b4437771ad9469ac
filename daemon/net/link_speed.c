#include "daemon/net/link_speed.h"

#include <linux/tcp.h> /* libc's struct ends before the counters */
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#define RESOLUTION_US                                                                                        \
	10000 /* busy time is counted in ticks of up to 10 ms: short ones are taken for no shorter */
#define MEMORY_US 8000000 /* of busy time, then all counts half */

static bool ask(int descriptor, struct tcp_info *info)
{
	socklen_t size = sizeof *info;
	*info = (struct tcp_info){0};
	return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, &size) == 0 &&
	       size >= offsetof(struct tcp_info, tcpi_delivered) + sizeof info->tcpi_delivered;
}

static void mark(struct sl_link_speed *speed, const struct tcp_info *info)
{
	speed->acked = info->tcpi_bytes_acked;
	speed->busy_us = info->tcpi_busy_time;
}

void sl_link_speed_begin(struct sl_link_speed *speed, int descriptor)
{
	struct tcp_info info;
	if (speed->marked || !ask(descriptor, &info))
		return;
	mark(speed, &info);
	speed->marked = true;
}

void sl_link_speed_look(struct sl_link_speed *speed, int descriptor)
{
	struct tcp_info info;
	if (!speed->marked || !ask(descriptor, &info))
		return;
	speed->bytes += (double)(info.tcpi_bytes_acked - speed->acked);
	speed->us += (double)(info.tcpi_busy_time - speed->busy_us);
	mark(speed, &info);
	if (speed->us > MEMORY_US) {
		speed->bytes /= 2;
		speed->us /= 2;
	}
	speed->marked = info.tcpi_unacked > 0 || info.tcpi_notsent_bytes > 0;
}

/* The delivery rate, with packets as large as they were on average. */
static double floor_of(const struct tcp_info *info)
{
	double packets = (double)info->tcpi_delivered * info->tcpi_snd_mss;
	double filled = packets > 0 ? (double)info->tcpi_bytes_acked / packets : 0;
	return (double)info->tcpi_delivery_rate * (filled < 1 ? filled : 1);
}

double sl_link_speed_of(const struct sl_link_speed *speed, int descriptor, bool *floor)
{
	struct tcp_info info;
	*floor = speed->bytes < SL_SPEED_WRITE_BYTES;
	if (!*floor)
		return speed->bytes * 1e6 / (speed->us + RESOLUTION_US);
	return ask(descriptor, &info) ? floor_of(&info) : 0;
}
