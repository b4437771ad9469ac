#include "daemon/runtime/service.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#define WAIT_S 1 /* for room in the socket of the service manager, where a message must not get lost */

/* Send `text`. Not sd_notify, which waits without a limit while the service manager does not read. */
static void say(const char *text, int flags)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval wait = {.tv_sec = WAIT_S};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path == NULL ? 0 : strlen(path);
	if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0'; /* in the abstract name space */
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
	ssize_t sent = sendto(fd, text, strlen(text), flags | MSG_NOSIGNAL, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	(void)sent; /* a service manager that does not listen */
	close(fd);
}

void sl_service_ready(void)
{
	say("READY=1", 0);
}

void sl_service_reloading(void)
{
	char text[64];
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld",
		 (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	say(text, 0);
}

void sl_service_stopping(void)
{
	say("STOPPING=1", 0);
}

/* A further line would be a message of its own. */
void sl_service_status(const char *text)
{
	char line[512];
	snprintf(line, sizeof line, "STATUS=%.*s", (int)strcspn(text, "\n"), text);
	say(line, MSG_DONTWAIT);
}

void sl_service_alive(void)
{
	say("WATCHDOG=1", MSG_DONTWAIT);
}

uint64_t sl_service_watchdog_ms(void)
{
	uint64_t us;
	return sd_watchdog_enabled(0, &us) > 0 ? us / 1000 : 0;
}
