/* The proxy itself: bytes go through unchanged, and each fault does what proxy.h says. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/chaos/proxy.h"
#include "test/lib/test.h"
#include "tools/lib/ports.h"

#define LONG 3000000u /* bytes: more than all the buffers between hold at once */

/* Learner 1 dials learner 2. */
struct line {
	struct proxy *proxy;
	int listener, dialler, target;
};

static int make_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	return fd;
}

static struct sockaddr_in loopback(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	return poll(&p, 1, ms) == 1;
}

static void dial(struct line *l)
{
	struct sockaddr_in address = loopback(proxy_port(l->proxy, 1, 2));
	l->dialler = make_socket();
	assert_int_equal(connect(l->dialler, (struct sockaddr *)&address, sizeof address), 0);
	assert_true(readable(l->listener, 5000));
	l->target = accept(l->listener, NULL, NULL);
	assert_true(l->target >= 0);
}

static void open_line(struct line *l)
{
	uint16_t ports[2];
	struct sl_error error;
	assert_int_equal(sl_ports_find(ports, 2, &error), SL_OK);
	struct sockaddr_in address = loopback(ports[1]);
	l->listener = make_socket();
	assert_int_equal(bind(l->listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(l->listener, 4), 0);
	l->proxy = proxy_open(ports, 2);
	dial(l);
}

static void close_line(struct line *l)
{
	close(l->dialler);
	close(l->target);
	close(l->listener);
	proxy_close(l->proxy);
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void expect(int fd, const char *text)
{
	char bytes[64] = "";
	size_t used = 0;
	while (used < strlen(text)) {
		assert_true(readable(fd, 5000));
		ssize_t n = recv(fd, bytes + used, strlen(text) - used, 0);
		assert_true(n > 0);
		used += (size_t)n;
	}
	assert_string_equal(bytes, text);
}

static void expect_end(int fd)
{
	char byte;
	assert_true(readable(fd, 5000));
	assert_true(recv(fd, &byte, 1, 0) <= 0);
}

TEST(bytes_go_through)
{
	struct line l;
	open_line(&l);
	say(l.dialler, "there");
	say(l.target, "and back");
	expect(l.target, "there");
	expect(l.dialler, "and back");
	close(l.dialler);
	expect_end(l.target);
	dial(&l); /* again */
	say(l.dialler, "again");
	expect(l.target, "again");
	close_line(&l);
}

TEST(a_delay_keeps_the_order)
{
	struct line l;
	open_line(&l);
	proxy_delay(l.proxy, 1, 2, 400);
	double from = process_now();
	for (int i = 0; i < 3; i++)
		say(l.dialler, (const char *const[]){"one ", "two ", "three"}[i]);
	say(l.target, "at once");
	expect(l.dialler, "at once");
	expect(l.target, "one two three");
	assert_true(process_now() - from >= 0.2); /* the clock of the proxy's loop may be behind */
	close_line(&l);
}

TEST(what_is_swallowed_is_gone_one_way)
{
	struct line l;
	open_line(&l);
	proxy_swallow(l.proxy, 1, 2, true);
	process_look_again();
	say(l.dialler, "lost");
	say(l.target, "kept");
	expect(l.dialler, "kept");
	assert_false(readable(l.target, 100));
	proxy_swallow(l.proxy, 1, 2, false);
	process_look_again();
	say(l.dialler, "found");
	expect(l.target, "found");
	close_line(&l);
}

TEST(what_is_stalled_comes_later)
{
	struct line l;
	open_line(&l);
	proxy_stall(l.proxy, 2, 1, true);
	process_look_again();
	say(l.target, "late");
	assert_false(readable(l.dialler, 200));
	proxy_stall(l.proxy, 2, 1, false);
	expect(l.dialler, "late");
	close_line(&l);
}

TEST(a_connection_ends_in_the_middle)
{
	struct line l;
	open_line(&l);
	proxy_truncate(l.proxy, 1, 2, 3);
	say(l.dialler, "truncated");
	expect(l.target, "tru");
	expect_end(l.target);
	expect_end(l.dialler);
	dial(&l); /* once */
	say(l.dialler, "whole");
	expect(l.target, "whole");
	close_line(&l);
}

TEST(a_reset_ends_both)
{
	struct line l;
	open_line(&l);
	proxy_reset(l.proxy, 1, 2);
	expect_end(l.dialler);
	expect_end(l.target);
	close_line(&l);
}

/* A slow reader holds up the writer, and no byte is lost. */
TEST(much_goes_through_slowly)
{
	struct line l;
	static char sent[LONG], got[LONG];
	size_t out = 0, in = 0;
	for (size_t i = 0; i < LONG; i++)
		sent[i] = (char)(i * 31 >> 3);
	open_line(&l);
	while (in < LONG) {
		if (out < LONG) {
			ssize_t n = send(l.dialler, sent + out, LONG - out, MSG_NOSIGNAL | MSG_DONTWAIT);
			out += n > 0 ? (size_t)n : 0;
		}
		assert_true(readable(l.target, 5000));
		ssize_t n = recv(l.target, got + in, LONG - in < 5000 ? LONG - in : 5000, 0);
		assert_true(n > 0);
		in += (size_t)n;
	}
	assert_memory_equal(sent, got, LONG);
	close_line(&l);
}

/* Two clusters that are opened before either of them listens have different ports. */
TEST(ports_are_given_once)
{
	static bool given[65536];
	uint16_t ports[3];
	struct sl_error error;
	for (int calls = 0; calls < 1000; calls++) {
		assert_int_equal(sl_ports_find(ports, 3, &error), SL_OK);
		for (int i = 0; i < 3; i++) {
			assert_false(given[ports[i]]);
			given[ports[i]] = true;
		}
	}
}
