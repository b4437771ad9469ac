#include "daemon/net/tcp_info.h"

#include <linux/tcp.h> /* libc's struct ends before the counters */
#include <netinet/in.h>
#include <stddef.h>

static double delivery(const struct tcp_info *info)
{
	double packets = (double)info->tcpi_delivered * info->tcpi_snd_mss;
	double filled = packets > 0 ? (double)info->tcpi_bytes_acked / packets : 0;
	return (double)info->tcpi_delivery_rate * (filled < 1 ? filled : 1);
}

/* Of a kernel before 4.19: 0. Of a connection that this end began, the kernel counts one byte more as
 * acknowledged. */
static uint64_t unacked(const struct tcp_info *info)
{
	uint64_t sent = info->tcpi_bytes_sent - info->tcpi_bytes_retrans + 1;
	return sent > info->tcpi_bytes_acked ? sent - info->tcpi_bytes_acked : 0;
}

bool sl_tcp_info_get(int descriptor, struct sl_tcp_info *info)
{
	struct tcp_info kernel = {0};
	socklen_t size = sizeof kernel;
	*info = (struct sl_tcp_info){0};
	if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &kernel, &size) != 0 ||
	    size < offsetof(struct tcp_info, tcpi_delivered) + sizeof kernel.tcpi_delivered)
		return false;
	*info = (struct sl_tcp_info){.rtt_s = kernel.tcpi_min_rtt == UINT32_MAX ? 0
										: kernel.tcpi_min_rtt / 1e6,
				     .delivery = delivery(&kernel),
				     .acked = kernel.tcpi_bytes_acked,
				     .busy_us = kernel.tcpi_busy_time,
				     .unsent = kernel.tcpi_notsent_bytes,
				     .unacked = unacked(&kernel),
				     .segment = kernel.tcpi_snd_mss,
				     .retransmits = kernel.tcpi_retransmits,
				     .pending = kernel.tcpi_unacked > 0 || kernel.tcpi_notsent_bytes > 0};
	return true;
}
