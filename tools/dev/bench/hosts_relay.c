/* The network between the hosts, where a packet takes half a round trip. (Some kernels have no netem.)
 *
 * Each host has a tun device, whose packets are read here and written to the device of their receiver when
 * they are due. A packet may hold up to 64 KB in segments that no device has cut yet, as between two virtual
 * machines: otherwise this process would need a processor of its own. The link to a receiver carries one
 * packet after another at its rate; what finds its queue full is lost. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/dev/bench/hosts.h"

#define PACKET_BYTES (sizeof(struct virtio_net_hdr) + 65536)
#define SEGMENT_HEADERS 52u /* IPv4, TCP with timestamps */
#define AT_ONCE 16u	    /* packets that are read before others are written */

struct packet {
	struct packet *next;
	uint64_t due_ns;
	size_t bytes;
	uint8_t data[]; /* struct virtio_net_hdr, then the packet */
};

struct port {
	int fd;
	struct packet *first, **end; /* in the order of due_ns */
	uint64_t free_ns;	     /* when its link has carried all that is queued */
};

struct relay {
	struct port ports[SL_HOSTS_MOST];
	uint32_t count;
	uint64_t delay_ns, queue_ns;
	double ns_a_byte;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Return the port of a packet's receiver, or NULL: it is none of the hosts. */
static struct port *receiver(struct relay *relay, const uint8_t *data, size_t bytes)
{
	const uint8_t *ip = data + sizeof(struct virtio_net_hdr);
	if (bytes < sizeof(struct virtio_net_hdr) + 20 || ip[0] >> 4 != 4)
		return NULL;
	uint32_t host = ip[19];
	return ip[16] == 10 && ip[17] == 77 && ip[18] == 0 && host >= 1 && host <= relay->count
		       ? &relay->ports[host - 1]
		       : NULL;
}

/* Return the bytes on the link, with the headers of all segments. */
static size_t bytes_on_link(const uint8_t *data, size_t bytes)
{
	struct virtio_net_hdr header;
	memcpy(&header, data, sizeof header);
	size_t packet = bytes - sizeof header;
	size_t more = header.gso_size > 0 ? (packet - 1) / header.gso_size : 0;
	return packet + more * SEGMENT_HEADERS;
}

static void queue(struct relay *relay, const uint8_t *data, size_t bytes)
{
	struct port *to = receiver(relay, data, bytes);
	if (to == NULL)
		return;
	uint64_t arrives = now_ns() + relay->delay_ns;
	uint64_t begins = to->free_ns > arrives ? to->free_ns : arrives;
	struct packet *packet = begins - arrives <= relay->queue_ns ? malloc(sizeof *packet + bytes) : NULL;
	if (packet == NULL)
		return;
	to->free_ns = begins + (uint64_t)(relay->ns_a_byte * (double)bytes_on_link(data, bytes));
	*packet = (struct packet){.due_ns = to->free_ns, .bytes = bytes};
	memcpy(packet->data, data, bytes);
	*to->end = packet;
	to->end = &packet->next;
}

static void take(struct relay *relay, const struct port *from)
{
	static uint8_t data[PACKET_BYTES];
	for (uint32_t i = 0; i < AT_ONCE; i++) {
		ssize_t got = read(from->fd, data, sizeof data);
		if (got <= 0)
			return;
		queue(relay, data, (size_t)got);
	}
}

/* Write the packets that are due; return when the next one is, or UINT64_MAX. */
static uint64_t deliver(struct relay *relay)
{
	uint64_t next = UINT64_MAX, now = now_ns();
	for (uint32_t i = 0; i < relay->count; i++) {
		struct port *port = &relay->ports[i];
		while (port->first != NULL && port->first->due_ns <= now) {
			struct packet *packet = port->first;
			port->first = packet->next;
			if (port->first == NULL)
				port->end = &port->first;
			if (write(port->fd, packet->data, packet->bytes) < 0) {
				/* lost, as on a real link */
			}
			free(packet);
		}
		if (port->first != NULL && port->first->due_ns < next)
			next = port->first->due_ns;
	}
	return next;
}

/* Does not return. */
static void pass_on(struct relay *relay)
{
	struct pollfd polled[SL_HOSTS_MOST];
	for (uint32_t i = 0; i < relay->count; i++)
		polled[i] = (struct pollfd){.fd = relay->ports[i].fd, .events = POLLIN};
	for (;;) {
		uint64_t next = deliver(relay), now = now_ns(), wait = next > now ? next - now : 0;
		struct timespec until = {.tv_sec = (time_t)(wait / 1000000000),
					 .tv_nsec = (long)(wait % 1000000000)};
		if (ppoll(polled, relay->count, next == UINT64_MAX ? NULL : &until, NULL) <= 0)
			continue;
		for (uint32_t i = 0; i < relay->count; i++)
			if ((polled[i].revents & POLLIN) != 0)
				take(relay, &relay->ports[i]);
	}
}

/* Make eth0 on a host. Return its descriptor, or -1. */
static int open_device(pid_t holder)
{
	struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR};
	strcpy(request.ifr_name, "eth0");
	int fd = sl_hosts_net_enter(holder) ? open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
	if (fd >= 0 &&
	    (ioctl(fd, TUNSETIFF, &request) != 0 || ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0)) {
		int failed = errno;
		close(fd);
		errno = failed;
		fd = -1;
	}
	return fd;
}

/* In the new process: does not return. */
static void run(const struct sl_hosts_net *net, int tell)
{
	const struct sl_bench_hosts *what = net->what;
	struct relay relay = {.count = what->hosts, .delay_ns = (uint64_t)what->rtt_ms * 500000};
	int failed = 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sl_hosts_net_at_once(); /* as if it were a device */
	relay.ns_a_byte = 8e3 / what->mbit;
	relay.queue_ns = (uint64_t)(relay.ns_a_byte * sl_hosts_net_queue_bytes(what));
	for (uint32_t i = 0; failed == 0 && i < relay.count; i++) {
		relay.ports[i].end = &relay.ports[i].first;
		relay.ports[i].fd = open_device(net->holders[i]);
		failed = relay.ports[i].fd < 0 ? errno : 0;
	}
	if (write(tell, &failed, sizeof failed) != sizeof failed || failed != 0)
		_exit(1);
	close(tell);
	pass_on(&relay);
}

int sl_hosts_relay_start(const struct sl_hosts_net *net, pid_t *relay, struct sl_error *error)
{
	int ends[2], failed = EIO;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return sl_err_set(error, SL_ERR_IO, "cannot make a pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		run(net, ends[1]);
	close(ends[1]);
	ssize_t got = pid > 0 ? read(ends[0], &failed, sizeof failed) : -1;
	close(ends[0]);
	*relay = pid > 0 ? pid : 0;
	if (got == sizeof failed && failed == 0)
		return SL_OK;
	return sl_err_set(error, SL_ERR_REFUSED, "a tun device (/dev/net/tun) is refused: %s",
			  strerror(failed));
}
