#include "daemon/runtime/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The pipe itself still knows. */
static bool reader_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

static void close_output(void)
{
	bool lost = ferror(stdout) != 0, gone = reader_gone();
	errno = 0;
	if (lost && !gone) /* errno of an earlier failed write is lost: that of the next one is the same */
		lost = write(STDOUT_FILENO, "\n", 1) != 0;
	if ((fclose(stdout) == 0 && !lost) || errno == EPIPE || gone)
		return;
	dprintf(STDERR_FILENO, "%s: cannot write standard output%s%s\n", program_invocation_short_name,
		errno ? ": " : "", errno ? strerror(errno) : "");
	_exit(EXIT_FAILURE);
}

void sl_streams_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
	atexit(close_output); /* argp's --help ends the program, too */
}
