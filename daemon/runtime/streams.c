#include "daemon/runtime/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int reason; /* errno of the first flush that failed; 0: none has */

/* The pipe itself still knows. */
static bool reader_gone(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

void sl_streams_flush(FILE *out)
{
	if (fflush(out) != 0 && out == stdout && reason == 0)
		reason = errno;
}

static void close_output(void)
{
	bool lost = ferror(stdout) != 0, gone = reader_gone();
	if (fclose(stdout) != 0 && reason == 0)
		reason = errno;
	if ((!lost && reason == 0) || reason == EPIPE || gone)
		return;
	dprintf(STDERR_FILENO, "%s: cannot write standard output%s%s\n", program_invocation_short_name,
		reason != 0 ? ": " : "", reason != 0 ? strerror(reason) : "");
	_exit(EXIT_FAILURE);
}

void sl_streams_open(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
	atexit(close_output); /* argp's --help ends the program, too */
}
