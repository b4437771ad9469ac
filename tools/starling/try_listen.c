#include "tools/starling/try_listen.h"

#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/runtime/address.h"

static int listen_at(const struct addrinfo *at)
{
	int on = 1, why = 0;
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 1) != 0)
		why = errno;
	close(fd);
	return why;
}

int sl_try_listen(const char *address, bool resolve)
{
	char host[SL_ADDRESS_BYTES], port[SL_ADDRESS_PORT_BYTES];
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
	sl_address_split(address, host, port);
	int rc = getaddrinfo(host, port, &hints, &found);
	if (rc != 0)
		return rc; /* all of them are below 0 */
	int why = resolve ? 0 : listen_at(found);
	freeaddrinfo(found);
	return why;
}
