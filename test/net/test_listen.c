/* Where a learner listens: its setting, its address in the roster, or all addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/net/listen.h"
#include "test/lib/test.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

int __real_socket(int domain, int type, int protocol);

static bool without_ipv6;

int __wrap_socket(int domain, int type, int protocol)
{
	if (!without_ipv6 || domain != AF_INET6)
		return __real_socket(domain, type, protocol);
	errno = EAFNOSUPPORT;
	return -1;
}

static bool has_ipv6(void)
{
	const struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	int fd = __real_socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool has = fd >= 0 && bind(fd, (const struct sockaddr *)&name, sizeof name) == 0;
	close(fd);
	return has;
}

static void expect_chosen(const char *given, const char *own, const char *expected, bool all)
{
	char address[SL_ADDRESS_BYTES];
	assert_int_equal(sl_listen_choose(given, own, false, address), all);
	assert_string_equal(address, expected);
}

TEST(own_addresses)
{
	expect_chosen("", "127.0.0.1:7400", "127.0.0.1:7400", false);
	expect_chosen("", "localhost:7400", "localhost:7400", false);
	expect_chosen("192.0.2.1:7400", "127.0.0.1:7400", "192.0.2.1:7400", false);
}

/* 192.0.2.1 is of no machine; a name is not resolved, as its addresses change. */
TEST(all_addresses)
{
	if (!has_ipv6())
		skip();
	expect_chosen("", "192.0.2.1:7400", "[::]:7400", true);
	expect_chosen("", "[2001:db8::1]:7401", "[::]:7401", true);
	expect_chosen("", "clinic-a.example.org:7400", "[::]:7400", true);
	expect_chosen("", "127.0.0.1:7400,[::1]:7401", "[::]:7400", true);
}

/* A learner that the others find wherever it is may get another address at any time. */
TEST(a_learner_that_moves)
{
	char address[SL_ADDRESS_BYTES];
	if (!has_ipv6())
		skip();
	assert_false(sl_listen_choose("", "127.0.0.1:7400", true, address));
	assert_string_equal(address, "[::]:7400");
	assert_false(sl_listen_choose("127.0.0.1:7401", "127.0.0.1:7400", true, address));
	assert_string_equal(address, "127.0.0.1:7401");
}

TEST(a_machine_without_ipv6)
{
	struct sl_error error;
	without_ipv6 = true;
	expect_chosen("", "192.0.2.1:7400", "0.0.0.0:7400", true);
	expect_chosen("", "[::1]:7400", "0.0.0.0:7400", true);
	assert_int_equal(sl_listen_check("[::1]:7400", &error), SL_ERR_IO);
	assert_string_equal(error.text, "cannot listen on [::1]:7400: this machine has no addresses of this "
					"family; set 'listen' to one that it has, such as 0.0.0.0:7400");
	without_ipv6 = false;
}

TEST(an_address_that_may_come)
{
	struct sl_error error;
	assert_int_equal(sl_listen_check("127.0.0.1:7400", &error), SL_OK);
	assert_int_equal(sl_listen_check("192.0.2.1:7400", &error), SL_PENDING);
	assert_non_null(strstr(error.text, "cannot listen on 192.0.2.1:7400: "));
}

static void ignore(uv_stream_t *listener, int status)
{
	(void)listener, (void)status;
}

static void expect_connects(int family, uint16_t port)
{
	const struct sockaddr_in v4 = {
		.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = in6addr_loopback};
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(family == AF_INET ? connect(fd, (const struct sockaddr *)&v4, sizeof v4)
					   : connect(fd, (const struct sockaddr *)&v6, sizeof v6),
			 0);
	close(fd);
}

TEST(all_are_both_families)
{
	uv_loop_t loop;
	uv_tcp_t first, second;
	struct sockaddr_in6 name;
	struct sl_error error;
	char address[SL_ADDRESS_BYTES];
	int size = sizeof name;
	if (!has_ipv6())
		skip();
	uv_loop_init(&loop);
	uv_tcp_init(&loop, &first);
	uv_tcp_init(&loop, &second);
	assert_int_equal(sl_listen_open(&first, "[::]:0", ignore, &error), SL_OK);
	uv_tcp_getsockname(&first, (struct sockaddr *)&name, &size);
	expect_connects(AF_INET, name.sin6_port);
	expect_connects(AF_INET6, name.sin6_port);
	snprintf(address, sizeof address, "0.0.0.0:%u", ntohs(name.sin6_port));
	assert_int_equal(sl_listen_open(&second, address, ignore, &error), SL_ERR_BUSY);
	uv_close((uv_handle_t *)&first, NULL);
	uv_close((uv_handle_t *)&second, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}
