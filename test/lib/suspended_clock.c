/* Preloaded into a program under test: a machine that was suspended. Its monotonic clock has stood still for
 * as many seconds as the file SUSPENDED_S says, a decimal; that of the boot time has not. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *out)
{
	char text[16] = "";
	const char *path = getenv("SUSPENDED_S");
	int rc = (int)syscall(SYS_clock_gettime, clock, out);
	if (rc != 0 || path == NULL || (clock != CLOCK_MONOTONIC && clock != CLOCK_MONOTONIC_COARSE))
		return rc;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
		out->tv_sec -= atol(text);
	if (fd >= 0)
		close(fd);
	return rc;
}
