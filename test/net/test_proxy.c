/* The way through a proxy: its settings, what it is sent, what it answers, and links that go through it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/net/proxy.h"
#include "test/lib/test.h"
#include "test/net/pair.h"

#define FAR "far.invalid:7400" /* no name server knows it */
#define WAIT_MS 15000

static struct sl_proxy proxy_of(const char *url, const char *login)
{
	struct sl_proxy proxy;
	struct sl_error error;
	char path[] = "/tmp/starling-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, login, strlen(login)) == (ssize_t)strlen(login));
	close(fd);
	assert_ok(sl_proxy_set(&proxy, url, login[0] == '\0' ? "" : path, &error), error);
	unlink(path);
	return proxy;
}

/* ---- settings ---- */

TEST(urls)
{
	static const struct {
		const char *url;
		enum sl_proxy_kind kind; /* SL_PROXY_NONE: refused */
		const char *address;
	} rows[] = {{"http://proxy.example.org:3128", SL_PROXY_HTTP, "proxy.example.org:3128"},
		    {"http://[2001:db8::1]:3128/", SL_PROXY_HTTP, "[2001:db8::1]:3128"},
		    {"socks5://10.0.0.1:1080", SL_PROXY_SOCKS5, "10.0.0.1:1080"},
		    {"https://10.0.0.1:1080", SL_PROXY_NONE, NULL},
		    {"10.0.0.1:1080", SL_PROXY_NONE, NULL},
		    {"http://10.0.0.1", SL_PROXY_NONE, NULL},
		    {"http://10.0.0.1:3128/path", SL_PROXY_NONE, NULL},
		    {"http://user:password@10.0.0.1:3128", SL_PROXY_NONE, NULL},
		    {"socks5://:1080", SL_PROXY_NONE, NULL}};
	struct sl_proxy proxy;
	struct sl_error error;
	assert_int_equal(sl_proxy_set(&proxy, "", "", &error), SL_OK);
	assert_false(sl_proxy_serves(&proxy, "10.0.0.2:7400"));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		bool good = rows[i].kind != SL_PROXY_NONE;
		assert_int_equal(sl_proxy_set(&proxy, rows[i].url, "", &error),
				 good ? SL_OK : SL_ERR_INVALID);
		if (!good)
			continue;
		assert_int_equal(proxy.kind, rows[i].kind);
		assert_string_equal(proxy.address, rows[i].address);
		assert_true(sl_proxy_serves(&proxy, "10.0.0.2:7400"));
		assert_false(sl_proxy_serves(&proxy, "127.0.0.1:7400"));
	}
}

TEST(logins)
{
	static const char *const wrong[] = {"", "user\n", ":password\n"};
	char path[] = "/tmp/starling-test-XXXXXX", line[600];
	struct sl_proxy proxy;
	struct sl_error error;
	int fd = mkstemp(path);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, wrong[i], strlen(wrong[i]), 0), strlen(wrong[i]));
		assert_int_equal(sl_proxy_set(&proxy, "http://h:1", path, &error), SL_ERR_INVALID);
	}
	memset(line, 'x', sizeof line);
	line[255] = ':';
	assert_int_equal(pwrite(fd, line, 511, 0), 511);
	assert_int_equal(sl_proxy_set(&proxy, "http://h:1", path, &error), SL_OK);
	assert_int_equal(strlen(proxy.user), 255);
	assert_int_equal(strlen(proxy.password), 255);
	assert_int_equal(pwrite(fd, line, 512, 0), 512);
	assert_int_equal(sl_proxy_set(&proxy, "http://h:1", path, &error), SL_ERR_INVALID);
	assert_int_equal(pwrite(fd, "user:pass:word\r\nmore", 20, 0), 20);
	assert_int_equal(sl_proxy_set(&proxy, "http://h:1", path, &error), SL_OK);
	assert_string_equal(proxy.user, "user");
	assert_string_equal(proxy.password, "pass:word");
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(sl_proxy_set(&proxy, "http://h:1", path, &error), SL_ERR_INVALID);
	assert_non_null(strstr(error.text, "others can read it; run chmod 600"));
	close(fd);
	unlink(path);
	assert_int_equal(sl_proxy_set(&proxy, "http://h:1", path, &error), SL_ERR_IO);
	assert_memory_equal(error.text, "proxy_credentials_file: /tmp/", 29);
}

/* ---- the talk ---- */

/* Give an answer, whole or byte by byte. Return the result; *why: the fault. */
static int give(struct sl_proxy_talk *talk, const void *answer, size_t size, bool drip, const char **why)
{
	int rc = SL_PENDING;
	for (size_t at = 0; at < size && rc == SL_PENDING; at += drip ? 1 : size)
		rc = sl_proxy_take(talk, (const uint8_t *)answer + at, drip ? 1 : size, why);
	return rc;
}

static void expect_out(const struct sl_proxy_talk *talk, const void *bytes, size_t size)
{
	assert_int_equal(talk->out_bytes, size);
	assert_memory_equal(talk->out, bytes, size);
}

#define BYTES(text) text, sizeof text - 1

TEST(connect_is_asked_for)
{
	struct sl_proxy proxy = proxy_of("http://h:1", "");
	struct sl_proxy_talk talk;
	sl_proxy_begin(&talk, &proxy, "[2001:db8::1]:7400");
	expect_out(&talk, BYTES("CONNECT [2001:db8::1]:7400 HTTP/1.1\r\nHost: [2001:db8::1]:7400\r\n\r\n"));
	proxy = proxy_of("http://h:1", "Aladdin:open sesame"); /* the example of RFC 7617 */
	sl_proxy_begin(&talk, &proxy, FAR);
	expect_out(&talk, BYTES("CONNECT " FAR " HTTP/1.1\r\nHost: " FAR "\r\n"
				"Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"));
}

TEST(answers_to_connect)
{
	static const struct {
		const char *answer;
		int rc;
		const char *why;
	} rows[] = {{"HTTP/1.1 200 Connection established\r\n\r\n", SL_OK, NULL},
		    {"HTTP/1.0 200 \r\nVia: 1.1 p\r\n\r\n", SL_OK, NULL},
		    {"HTTP/1.1 200\r\n\r\n", SL_OK, NULL},
		    {"HTTP/1.1 204 x\r\n\r\n", SL_OK, NULL},
		    {"HTTP/1.1 407 x\r\n\r\n", SL_ERR_REFUSED, "proxy_credentials_file"},
		    {"HTTP/1.1 403 x\r\n\r\n", SL_ERR_REFUSED, "forbids this connection: have its operator"},
		    {"HTTP/1.1 502 x\r\n\r\n", SL_ERR_REFUSED, "cannot reach that learner: is its address"},
		    {"HTTP/1.1 504 x\r\n\r\n", SL_ERR_REFUSED, "cannot reach that learner: is its address"},
		    {"HTTP/1.1 302 x\r\n\r\n", SL_ERR_REFUSED, "its log says why"},
		    {"HTTP/1.1 2000 x\r\n\r\n", SL_ERR_REFUSED, "no proxy of this kind"},
		    {"HTTP/1.1 2x0 OK\r\n\r\n", SL_ERR_REFUSED, "no proxy of this kind"},
		    {"HTTP/1.1\r\n\r\n", SL_ERR_REFUSED, "no proxy of this kind"},
		    {"HTTP/2 200 OK\r\n\r\n", SL_ERR_REFUSED, "no proxy of this kind"},
		    {"SSH-2.0-OpenSSH_9.2\r\n", SL_ERR_REFUSED, "no proxy of this kind"},
		    {"\x15\x03\x01", SL_ERR_REFUSED, "no proxy of this kind"},
		    {"HTTP/1.1 200 OK\r\n", SL_PENDING, NULL}};
	for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		const char *why = NULL, *answer = rows[i / 2].answer;
		struct sl_proxy proxy = proxy_of("http://h:1", i % 3 == 0 ? "" : "user:password");
		struct sl_proxy_talk talk;
		sl_proxy_begin(&talk, &proxy, FAR);
		assert_int_equal(give(&talk, answer, strlen(answer), i % 2 == 1, &why), rows[i / 2].rc);
		if (rows[i / 2].why != NULL)
			assert_non_null(strstr(why, rows[i / 2].why));
	}
}

/* The other end says nothing before it has heard this one: what follows an answer is no part of a tunnel. */
TEST(no_bytes_follow_an_answer)
{
	struct sl_proxy proxy = proxy_of("http://h:1", "");
	struct sl_proxy_talk talk;
	const char *why;
	sl_proxy_begin(&talk, &proxy, FAR);
	assert_int_equal(give(&talk, BYTES("HTTP/1.1 200 OK\r\n\r\nx"), false, &why), SL_ERR_REFUSED);
	assert_non_null(strstr(why, "no proxy of this kind"));
}

/* The page behind a refusal may be longer than a header may be. */
TEST(a_long_page_hides_no_status)
{
	static char answer[20000] = "HTTP/1.1 407 x\r\n\r\n";
	struct sl_proxy proxy = proxy_of("http://h:1", "");
	struct sl_proxy_talk talk;
	const char *why;
	sl_proxy_begin(&talk, &proxy, FAR);
	assert_int_equal(give(&talk, answer, sizeof answer, false, &why), SL_ERR_REFUSED);
	assert_non_null(strstr(why, "proxy_credentials_file"));
	memcpy(answer, BYTES("HTTP/1.1 200"));
	sl_proxy_begin(&talk, &proxy, FAR);
	assert_int_equal(give(&talk, answer, sizeof answer, false, &why), SL_ERR_REFUSED);
}

static int give_header(size_t size, bool ends)
{
	struct sl_proxy proxy = proxy_of("http://h:1", "");
	struct sl_proxy_talk talk;
	const char *why;
	char *answer = malloc(size);
	assert_non_null(answer);
	memset(answer, 'x', size);
	memcpy(answer, BYTES("HTTP/1.1 200 OK\r\nX: "));
	if (ends)
		memcpy(answer + size - 4, "\r\n\r\n", 4);
	sl_proxy_begin(&talk, &proxy, FAR);
	int rc = give(&talk, answer, size, false, &why);
	free(answer);
	return rc;
}

TEST(a_header_is_bounded)
{
	assert_int_equal(give_header(SL_PROXY_ANSWER_BYTES, true), SL_OK);
	assert_int_equal(give_header(SL_PROXY_ANSWER_BYTES - 1, false), SL_PENDING);
	assert_int_equal(give_header(SL_PROXY_ANSWER_BYTES, false), SL_ERR_REFUSED);
	assert_int_equal(give_header(SL_PROXY_ANSWER_BYTES + 1, true), SL_ERR_REFUSED);
	assert_int_equal(give_header(100000, true), SL_ERR_REFUSED);
}

/* Play a connection through SOCKS5, and expect this request for it and its end. */
static void play_socks(const char *login, const char *to, const void *request, size_t size,
		       const void *answer, size_t answer_size)
{
	for (int drip = 0; drip < 2; drip++) {
		struct sl_proxy proxy = proxy_of("socks5://h:1", login);
		struct sl_proxy_talk talk;
		const char *why;
		sl_proxy_begin(&talk, &proxy, to);
		if (login[0] == '\0') {
			expect_out(&talk, BYTES("\5\1\0"));
			assert_int_equal(give(&talk, BYTES("\5\0"), drip, &why), SL_PENDING);
		} else {
			expect_out(&talk, BYTES("\5\2\0\2"));
			assert_int_equal(give(&talk, BYTES("\5\2"), drip, &why), SL_PENDING);
			expect_out(&talk, BYTES("\1\2me\6secret"));
			assert_int_equal(give(&talk, BYTES("\1\0"), drip, &why), SL_PENDING);
		}
		expect_out(&talk, request, size);
		assert_int_equal(give(&talk, answer, answer_size, drip, &why), SL_OK);
	}
}

TEST(socks)
{
	play_socks("", FAR,
		   BYTES("\5\1\0\3\x0b"
			 "far.invalid\x1c\xe8"),
		   BYTES("\5\0\0\1abcdef"));
	play_socks("me:secret", "10.0.0.3:443", BYTES("\5\1\0\1\x0a\0\0\3\1\xbb"), BYTES("\5\0\0\3\4name12"));
	play_socks("", "[2001:db8::1]:1", BYTES("\5\1\0\4\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\0\1"),
		   BYTES("\5\0\0\4"
			 "0123456789abcdef12"));
}

TEST(socks_faults)
{
	static const struct {
		const char *login;
		struct emulator_text answers[3];
		const char *why;
	} rows[] = {{"", {{BYTES("\5\xff")}}, "set proxy_credentials_file"},
		    {"u:p", {{BYTES("\5\xff")}}, "refuses the user and password"},
		    {"", {{BYTES("\5\2")}}, "no proxy of this kind"},
		    {"", {{BYTES("\4\0")}}, "no proxy of this kind"},
		    {"", {{BYTES("HTTP/1.1 400 x\r\n\r\n")}}, "no proxy of this kind"},
		    {"", {{BYTES("\5\0\5")}}, "no proxy of this kind"},
		    {"u:p", {{BYTES("\5\2")}, {BYTES("\1\1")}}, "refuses the user and password"},
		    {"u:p", {{BYTES("\5\2")}, {BYTES("\5\0")}}, "no proxy of this kind"},
		    {"", {{BYTES("\5\0")}, {BYTES("\5\1")}}, "its log says why"},
		    {"", {{BYTES("\5\0")}, {BYTES("\5\2\0\1")}}, "forbids this connection"},
		    {"", {{BYTES("\5\0")}, {BYTES("\5\4\0\1")}}, "cannot reach that learner"},
		    {"", {{BYTES("\5\0")}, {BYTES("\5\5\0\1")}}, "cannot reach that learner"},
		    {"", {{BYTES("\5\0")}, {BYTES("\5\x63")}}, "no proxy of this kind"},
		    {"", {{BYTES("\5\0")}, {BYTES("\5\0\0\1abcdefg")}}, "no proxy of this kind"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sl_proxy proxy = proxy_of("socks5://h:1", rows[i].login);
		struct sl_proxy_talk talk;
		const char *why = "";
		int rc = SL_PENDING;
		sl_proxy_begin(&talk, &proxy, FAR);
		for (size_t k = 0; k < 3 && rows[i].answers[k].size > 0; k++) {
			assert_int_equal(rc, SL_PENDING);
			rc = give(&talk, rows[i].answers[k].bytes, rows[i].answers[k].size, false, &why);
		}
		assert_int_equal(rc, SL_ERR_REFUSED);
		assert_non_null(strstr(why, rows[i].why));
	}
}

/* ---- links ---- */

static struct sl_proxy proxy;

/* The first end dials the second, of which no name server knows the name, through the emulator. */
static struct pair *pair_with(const char *scheme, const struct emulator_text *answers, uint32_t count)
{
	char url[64];
	struct pair *pair = pair_alone();
	snprintf(url, sizeof url, "%s127.0.0.1:%u", scheme, pair->emulators[1].port);
	proxy = proxy_of(url, "");
	strcpy(pair->members[1].address, FAR);
	if (count > 0)
		memcpy(pair->emulators[1].answers, answers, count * sizeof *answers);
	pair->emulators[1].answer_count = count;
	pair->ends[0].links->config.proxy = &proxy;
	return pair;
}

TEST(a_link_through_connect)
{
	const struct emulator_text answers[] = {{BYTES("HTTP/1.1 200 OK\r\n\r\n")}};
	struct pair *pair = pair_with("http://", answers, 1);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	assert_string_equal(pair->emulators[1].asked[0], "CONNECT " FAR " HTTP/1.1\r\nHost: " FAR "\r\n\r\n");
	assert_int_equal(pair->ends[0].failed, 0);
	pair_expect_frames(pair);
	pair_end(pair);
}

TEST(a_link_through_socks)
{
	const struct emulator_text answers[] = {{BYTES("\5\0")}, {BYTES("\5\0\0\1abcdef")}};
	struct pair *pair = pair_with("socks5://", answers, 2);
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	assert_int_equal(pair->ends[0].failed, 0);
	pair_expect_frames(pair);
	pair_end(pair);
}

static bool has_failed(void *argument)
{
	return ((const struct pair *)argument)->ends[0].failed > 0;
}

/* `other`: a second reason that will do. */
static void expect_one_of(struct pair *pair, const char *why, const char *other)
{
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, has_failed);
	if (strcmp(pair->ends[0].why, other) != 0)
		assert_string_equal(pair->ends[0].why, why);
	assert_int_equal(pair->ends[0].ups, 0);
	pair_want(pair, 0, false);
	pair_end(pair);
}

static void expect_failure(struct pair *pair, const char *why)
{
	expect_one_of(pair, why, why);
}

TEST(a_proxy_that_refuses)
{
	const struct emulator_text answers[] = {
		{BYTES("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")}};
	expect_failure(pair_with("http://", answers, 1),
		       "the proxy asks for a user and password: set proxy_credentials_file");
}

TEST(a_proxy_that_is_silent)
{
	const struct emulator_text answers[] = {{BYTES("HTTP/1.1 200 ")}};
	struct pair *pair = pair_with("http://", answers, 1);
	pair->net->timing.handshake = 300;
	expect_failure(pair, SL_PROXY_SILENT);
}

TEST(a_proxy_that_closes)
{
	struct pair *pair = pair_with("http://", NULL, 0);
	pair->emulators[1].closed = true;
	expect_one_of(pair, SL_PROXY_SILENT,
		      SL_PROXY_UNREACHABLE); /* before or after the connection is there */
}

TEST(a_proxy_that_is_not_there)
{
	struct pair *pair = pair_with("http://", NULL, 0);
	strcpy(proxy.address, "127.0.0.1:1");
	expect_failure(pair, SL_PROXY_UNREACHABLE);
}

TEST(this_machine_is_dialled_without_it)
{
	struct pair *pair = pair_alone();
	proxy = proxy_of("http://127.0.0.1:1", "");
	pair->ends[0].links->config.proxy = &proxy;
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	assert_int_equal(pair->ends[0].failed, 0);
	pair_end(pair);
}

/* 0.0.0.0 leads to this machine, too, and is no loopback address. */
TEST(what_is_found_in_the_local_network_is_dialled_without_it)
{
	struct pair *pair = pair_with("http://", NULL, 0);
	char found[SL_ADDRESS_BYTES];
	strcpy(proxy.address, "127.0.0.1:1");
	snprintf(found, sizeof found, "0.0.0.0:%u", pair->emulators[1].port);
	assert_true(sl_links_hint(pair->ends[0].links, 1, found));
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, pair_settled);
	assert_string_equal(pair->ends[0].why, SL_PROXY_UNREACHABLE);
	pair_end(pair);
}

/* Any machine of the local network can announce what the roster has. */
TEST(an_announced_address_of_the_roster_is_dialled_through_it)
{
	struct pair *pair = pair_with("http://", NULL, 0);
	struct end *first = &pair->ends[0];
	strcpy(proxy.address, "127.0.0.1:1");
	snprintf(pair->members[1].address, SL_ADDRESS_BYTES, "0.0.0.0:%u", pair->emulators[1].port);
	assert_true(sl_links_hint(first->links, 1, pair->members[1].address));
	pair_want(pair, 0, true);
	pair_await(pair, WAIT_MS, has_failed);
	assert_string_equal(first->why, SL_PROXY_UNREACHABLE);
	assert_int_equal(first->ups, 0);
	pair_want(pair, 0, false);
	pair_end(pair);
}
