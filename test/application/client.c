#include "test/application/client.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define DEADLINE_MS 600000 /* ends a test that hangs */

void client_open(struct client *c, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	*c = (struct client){.fd = socket(AF_UNIX, SOCK_STREAM, 0), .fds = {-1, -1}};
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	for (int tries = 0; connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0; tries++) {
		assert_true(tries < 2000);
		usleep(10000);
	}
}

void client_close(struct client *c)
{
	if (c->up != NULL) {
		munmap(c->up, c->bytes);
		munmap(c->down, c->bytes);
		close(c->fds[0]);
		close(c->fds[1]);
	}
	close(c->fd);
}

void client_tell(struct client *c, const char *line)
{
	assert_int_equal(send(c->fd, line, strlen(line), MSG_NOSIGNAL), (ssize_t)strlen(line));
	assert_int_equal(send(c->fd, "\n", 1, MSG_NOSIGNAL), 1);
}

static void take_fds(struct client *c, struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	if (header == NULL)
		return;
	assert_int_equal(header->cmsg_len, CMSG_LEN(sizeof c->fds));
	memcpy(c->fds, CMSG_DATA(header), sizeof c->fds);
	struct stat st;
	assert_int_equal(fstat(c->fds[0], &st), 0);
	c->bytes = (size_t)st.st_size;
	c->up = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fds[0], 0);
	c->down = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fds[1], 0);
	assert_true(c->up != MAP_FAILED && c->down != MAP_FAILED);
}

/* Receive the next byte; return false at the end. */
static bool next_byte(struct client *c, char *byte)
{
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(sizeof c->fds)];
	} control;
	struct iovec part = {byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	struct pollfd ready = {.fd = c->fd, .events = POLLIN};
	if (poll(&ready, 1, DEADLINE_MS) != 1)
		fail_msg("the learner says nothing");
	if (recvmsg(c->fd, &message, 0) != 1)
		return false;
	take_fds(c, &message);
	return true;
}

/* Expect a line that begins with `text`; NULL: the end of the connection. */
void client_hear(struct client *c, const char *text)
{
	char byte;
	c->used = 0;
	while (next_byte(c, &byte) && byte != '\n' && c->used < sizeof c->line - 1)
		c->line[c->used++] = byte;
	c->line[c->used] = '\0';
	if (text == NULL)
		assert_int_equal(c->used, 0);
	else if (strncmp(c->line, text, strlen(text)) != 0)
		fail_msg("heard %s, not %s", c->line, text);
}

void client_join(struct client *c, const char *path, const char *join)
{
	client_open(c, path);
	client_tell(c, join);
	client_hear(c, "{\"type\":\"joined\"");
}

void client_expect_refused(struct client *c, const char *why)
{
	char line[512];
	client_tell(c, "{\"type\":\"trained\",\"round\":1}");
	snprintf(line, sizeof line, "{\"type\":\"refused\",\"round\":1,\"text\":\"%s", why);
	client_hear(c, line);
}
