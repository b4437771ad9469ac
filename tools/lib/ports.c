#include "tools/lib/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/runtime/descriptors.h"

#define PORT_LEAST 1024u  /* below it one must be root */
#define PORT_USUAL 10000u /* well-known services mostly keep below it */
#define PORT_MOST 65535u

struct range {
	uint32_t least, most;
};

/* Return the ports that the system hands out to connecting sockets. */
static struct range ephemeral(void)
{
	struct range r = {32768, 60999};
	FILE *in = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	if (in == NULL)
		return r;
	if (fscanf(in, "%u %u", &r.least, &r.most) != 2 || r.least > r.most || r.most > PORT_MOST)
		r = (struct range){32768, 60999};
	fclose(in);
	return r;
}

/* Return the ports to search, at least ten times `count`: below the ephemeral range if possible, else above
 * it, else anywhere. */
static struct range choose(uint32_t count)
{
	struct range taken = ephemeral();
	uint32_t room = 10 * count;
	if (taken.least > PORT_USUAL + room)
		return (struct range){PORT_USUAL, taken.least - 1};
	if (taken.least > PORT_LEAST + room)
		return (struct range){PORT_LEAST, taken.least - 1};
	if (taken.most + room < PORT_MOST)
		return (struct range){taken.most + 1, PORT_MOST};
	return (struct range){PORT_LEAST, PORT_MOST};
}

/* Bind a socket to `port` and leave it open. `reuse`: beside connections that have ended, and beside sockets
 * that are bound with SO_REUSEADDR and do not listen. */
static bool bind_to(uint32_t port, int reuse)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
	if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0)
		return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) == 0;
	close(fd);
	return false;
}

bool sl_ports_reserve(uint16_t port)
{
	return bind_to(port, 1);
}

static uint32_t start_anywhere(void)
{
	uint32_t start;
	return getrandom(&start, sizeof start, 0) == sizeof start ? start : (uint32_t)getpid();
}

int sl_ports_find(uint16_t *ports, uint32_t count, struct sl_error *error)
{
	static bool begun;
	static uint32_t next; /* the first port that this program has not tried yet */
	struct range range = choose(count);
	uint32_t size = range.most - range.least + 1, found = 0;
	sl_descriptors_raise();
	next = begun ? next : start_anywhere();
	begun = true;
	for (uint32_t i = 0; i < size && found < count; i++) {
		next = (next + 1) % size;
		if (bind_to(range.least + next, 0))
			ports[found++] = (uint16_t)(range.least + next);
	}
	if (found == count)
		return SL_OK;
	return sl_err_set(error, SL_ERR_BUSY, "only %u of %u ports between %u and %u are free", found, count,
			  range.least, range.most);
}
