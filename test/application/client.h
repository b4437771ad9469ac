/* client.h - a scripted application. */
#pragma once

#include "test/lib/test.h"

struct client {
	int fd;
	char line[4096];
	size_t used;
	int fds[2];
	size_t bytes; /* of a vector */
	float *up, *down;
};

/* Connect to the socket at `path`, which may not be there yet. */
void client_open(struct client *c, const char *path);
void client_close(struct client *c);
/* Send a line. */
void client_tell(struct client *c, const char *line);
/* Expect a line that begins with `text`; NULL: the end of the connection. */
void client_hear(struct client *c, const char *text);
/* Connect, send `join`, and expect that it is answered. */
void client_join(struct client *c, const char *path, const char *join);
/* Give the vector of round 1, and expect the reason why it is refused. */
void client_expect_refused(struct client *c, const char *why);
