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
static struct {
	struct proxy *proxy;
	int listener, dialler, target;
} line;

/* Define a case with the line open. */
#define LINE_TEST(name) TEST_WITH(name, open_line, close_line)

static int make_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)), 0);
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

static void dial(void)
{
	struct sockaddr_in address = loopback(proxy_port(line.proxy, 1, 2));
	line.dialler = make_socket();
	assert_int_equal(connect(line.dialler, (struct sockaddr *)&address, sizeof address), 0);
	assert_true(readable(line.listener, 600000));
	line.target = accept(line.listener, NULL, NULL);
	assert_true(line.target >= 0);
}

static int open_line(void **state)
{
	uint16_t ports[2];
	struct sl_error error;
	(void)state;
	assert_int_equal(sl_ports_find(ports, 2, &error), SL_OK);
	struct sockaddr_in address = loopback(ports[1]);
	line.listener = make_socket();
	assert_int_equal(bind(line.listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(line.listener, 4), 0);
	line.proxy = proxy_open(ports, 2);
	dial();
	return 0;
}

static int close_line(void **state)
{
	(void)state;
	close(line.dialler);
	close(line.target);
	close(line.listener);
	proxy_close(line.proxy);
	return 0;
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
		assert_true(readable(fd, 600000));
		ssize_t n = recv(fd, bytes + used, strlen(text) - used, 0);
		assert_true(n > 0);
		used += (size_t)n;
	}
	assert_string_equal(bytes, text);
}

static void expect_end(int fd)
{
	char byte;
	assert_true(readable(fd, 600000));
	assert_true(recv(fd, &byte, 1, 0) <= 0);
}

LINE_TEST(bytes_go_through)
{
	say(line.dialler, "there");
	say(line.target, "and back");
	expect(line.target, "there");
	expect(line.dialler, "and back");
	close(line.dialler);
	expect_end(line.target);
	dial(); /* again */
	say(line.dialler, "again");
	expect(line.target, "again");
}

LINE_TEST(a_delay_keeps_the_order)
{
	proxy_delay(line.proxy, 1, 2, 400);
	double from = process_now();
	for (int i = 0; i < 3; i++)
		say(line.dialler, (const char *const[]){"one ", "two ", "three"}[i]);
	say(line.target, "at once");
	expect(line.dialler, "at once");
	expect(line.target, "one two three");
	assert_true(process_now() - from >= 0.2); /* the clock of the proxy's loop may be behind */
}

LINE_TEST(what_is_swallowed_is_gone_one_way)
{
	proxy_swallow(line.proxy, 1, 2, true);
	process_look_again();
	say(line.dialler, "lost");
	say(line.target, "kept");
	expect(line.dialler, "kept");
	assert_false(readable(line.target, 100));
	proxy_swallow(line.proxy, 1, 2, false);
	process_look_again();
	say(line.dialler, "found");
	expect(line.target, "found");
}

LINE_TEST(what_is_stalled_comes_later)
{
	proxy_stall(line.proxy, 2, 1, true);
	process_look_again();
	say(line.target, "late");
	assert_false(readable(line.dialler, 200));
	proxy_stall(line.proxy, 2, 1, false);
	expect(line.dialler, "late");
}

LINE_TEST(a_connection_ends_in_the_middle)
{
	proxy_truncate(line.proxy, 1, 2, 3);
	say(line.dialler, "truncated");
	expect(line.target, "tru");
	expect_end(line.target);
	expect_end(line.dialler);
	dial(); /* once */
	say(line.dialler, "whole");
	expect(line.target, "whole");
}

LINE_TEST(a_reset_ends_both)
{
	proxy_reset(line.proxy, 1, 2);
	expect_end(line.dialler);
	expect_end(line.target);
}

/* A slow reader holds up the writer, and no byte is lost. */
LINE_TEST(much_goes_through_slowly)
{
	static char sent[LONG], got[LONG];
	size_t out = 0, in = 0;
	for (size_t i = 0; i < LONG; i++)
		sent[i] = (char)(i * 31 >> 3);
	while (in < LONG) {
		if (out < LONG) {
			ssize_t n = send(line.dialler, sent + out, LONG - out, MSG_NOSIGNAL | MSG_DONTWAIT);
			out += n > 0 ? (size_t)n : 0;
		}
		assert_true(readable(line.target, 5000));
		ssize_t n = recv(line.target, got + in, LONG - in < 5000 ? LONG - in : 5000, 0);
		assert_true(n > 0);
		in += (size_t)n;
	}
	assert_memory_equal(sent, got, LONG);
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
