#include "daemon/net/proxy.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/roster.h"
#include "daemon/runtime/address.h"
#include "daemon/runtime/secret_line.h"

#define SOCKS 5u
#define LOGIN 1u /* version of the request with user name and password */
#define METHOD_NONE 0u
#define METHOD_LOGIN 2u
#define STRANGE "what answers at `proxy` is no proxy of this kind: see its address, and http:// or socks5://"
#define LOGIN_WANTED "the proxy asks for a user and password: set proxy_credentials_file"
#define LOGIN_REFUSED "the proxy refuses the user and password in proxy_credentials_file"
#define FORBIDDEN                                                                                            \
	"the proxy forbids this connection: have its operator allow CONNECT to the address and port of "     \
	"that learner"
#define UNREACHED                                                                                            \
	"the proxy cannot reach that learner: is its address right, its machine on, and its port open to "   \
	"the proxy?"

/* ---- settings ---- */

/* Read USER:PASSWORD. */
static int read_login(struct sl_proxy *proxy, const char *file, struct sl_error *error)
{
	char line[sizeof proxy->user + sizeof proxy->password +
		  1]; /* one more: a line that is too long shows */
	int rc = sl_secret_line_read(file, line, sizeof line, error);
	size_t user = rc == SL_OK ? strcspn(line, ":") : 0;
	if (rc == SL_OK && (user == 0 || user >= sizeof proxy->user || line[user] == '\0' ||
			    strlen(line + user + 1) >= sizeof proxy->password))
		rc = sl_err_set(error, SL_ERR_INVALID,
				"%s: the first line must be USER:PASSWORD, of at most 255 characters each",
				file);
	if (rc == SL_OK) {
		snprintf(proxy->user, sizeof proxy->user, "%.*s", (int)user, line);
		snprintf(proxy->password, sizeof proxy->password, "%.255s", line + user + 1);
	}
	sodium_memzero(line, sizeof line);
	return rc;
}

int sl_proxy_set(struct sl_proxy *proxy, const char *url, const char *file, struct sl_error *error)
{
	static const char *const schemes[] = {[SL_PROXY_HTTP] = "http://", [SL_PROXY_SOCKS5] = "socks5://"};
	*proxy = (struct sl_proxy){.kind = SL_PROXY_NONE};
	if (url[0] == '\0')
		return SL_OK;
	for (enum sl_proxy_kind kind = SL_PROXY_HTTP; kind <= SL_PROXY_SOCKS5; kind++) {
		size_t n = strlen(schemes[kind]), end = strlen(url);
		if (strncmp(url, schemes[kind], n) != 0)
			continue;
		proxy->kind = kind;
		end -= end > n && url[end - 1] == '/';
		snprintf(proxy->address, sizeof proxy->address, "%.*s", (int)(end - n), url + n);
	}
	if (proxy->kind == SL_PROXY_NONE || strchr(url, '@') != NULL ||
	    sl_roster_address_check(proxy->address, NULL) != SL_OK)
		return sl_err_set(error, SL_ERR_INVALID,
				  "proxy: must be http://HOST:PORT or socks5://HOST:PORT; a user and "
				  "password stand in proxy_credentials_file");
	if (file[0] == '\0' || read_login(proxy, file, error) == SL_OK)
		return SL_OK;
	return sl_err_wrap(error, "proxy_credentials_file");
}

bool sl_proxy_serves(const struct sl_proxy *proxy, const char *address)
{
	return proxy != NULL && proxy->kind != SL_PROXY_NONE && !sl_address_is_loopback(address);
}

/* ---- requests ---- */

static void put(struct sl_proxy_talk *talk, const void *bytes, size_t count)
{
	memcpy(talk->out + talk->out_bytes, bytes, count);
	talk->out_bytes += count;
}

static void put_byte(struct sl_proxy_talk *talk, unsigned byte)
{
	put(talk, &(uint8_t){(uint8_t)byte}, 1);
}

/* Put a text of at most 255 bytes after its length. */
static void put_text(struct sl_proxy_talk *talk, const char *text)
{
	put_byte(talk, (unsigned)strlen(text));
	put(talk, text, strlen(text));
}

static void ask_http(struct sl_proxy_talk *talk)
{
	const struct sl_proxy *proxy = talk->proxy;
	char login[512], coded[4 * sizeof login / 3 + 4] = "";
	int n = snprintf(login, sizeof login, "%s:%s", proxy->user, proxy->password);
	sodium_bin2base64(coded, sizeof coded, (const uint8_t *)login, (size_t)n,
			  sodium_base64_VARIANT_ORIGINAL);
	bool given = proxy->user[0] != '\0';
	n = snprintf((char *)talk->out, sizeof talk->out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n",
		     talk->to, talk->to, given ? "Proxy-Authorization: Basic " : "", given ? coded : "",
		     given ? "\r\n" : "");
	talk->out_bytes = (size_t)n;
	sodium_memzero(login, sizeof login);
	sodium_memzero(coded, sizeof coded);
}

static void ask_method(struct sl_proxy_talk *talk)
{
	bool given = talk->proxy->user[0] != '\0';
	put(talk, (const uint8_t[]){SOCKS, given ? 2 : 1, METHOD_NONE}, 3);
	if (given)
		put_byte(talk, METHOD_LOGIN);
}

/* Ask for the connection; numbers go as numbers, names as names. */
static void ask_connect(struct sl_proxy_talk *talk)
{
	char host[SL_ADDRESS_BYTES], port[SL_ADDRESS_PORT_BYTES];
	uint8_t number[16];
	sl_address_split(talk->to, host, port);
	unsigned at = (unsigned)atoi(port);
	put(talk, (const uint8_t[]){SOCKS, 1, 0}, 3);
	bool v4 = inet_pton(AF_INET, host, number) == 1, v6 = inet_pton(AF_INET6, host, number) == 1;
	put_byte(talk, v4 ? 1 : v6 ? 4 : 3);
	if (v4 || v6)
		put(talk, number, v4 ? 4 : 16);
	else
		put_text(talk, host);
	put_byte(talk, at >> 8);
	put_byte(talk, at & 255);
	talk->step = SL_PROXY_CONNECT;
}

void sl_proxy_begin(struct sl_proxy_talk *talk, const struct sl_proxy *proxy, const char *address)
{
	*talk = (struct sl_proxy_talk){.proxy = proxy, .step = SL_PROXY_METHOD};
	snprintf(talk->to, sizeof talk->to, "%s", address);
	if (proxy->kind == SL_PROXY_HTTP)
		ask_http(talk);
	else
		ask_method(talk);
}

/* ---- answers ---- */

static const char *http_fault(int status, bool given)
{
	switch (status) {
	case 407:
		return given ? LOGIN_REFUSED : LOGIN_WANTED;
	case 403:
	case 405:
		return FORBIDDEN;
	case 502:
	case 503:
	case 504:
		return UNREACHED;
	default:
		return "the proxy refuses the connection by an unusual status: its log says why";
	}
}

static const char *socks_fault(unsigned code)
{
	switch (code) {
	case 2:
		return FORBIDDEN;
	case 3:
	case 4:
	case 5:
	case 6:
		return UNREACHED;
	case 1:
	case 7:
	case 8:
		return "the proxy refuses the connection: its log says why";
	default:
		return STRANGE;
	}
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Return what is wrong with the answer to CONNECT, or NULL; *length: of its header, 0: not complete. */
static const char *read_http(const struct sl_proxy_talk *talk, size_t *length)
{
	static const char begin[] = "HTTP/1.";
	const uint8_t *in = talk->in, *end = memmem(in, talk->in_bytes, "\r\n\r\n", 4);
	size_t known = talk->in_bytes < sizeof begin - 1 ? talk->in_bytes : sizeof begin - 1;
	if (memcmp(in, begin, known) != 0 || (end == NULL && talk->in_bytes == sizeof talk->in))
		return STRANGE;
	if (end == NULL)
		return NULL;
	*length = (size_t)(end - in) + 4;
	if (*length < 14 || in[8] != ' ' || !is_digit(in[9]) || !is_digit(in[10]) || !is_digit(in[11]) ||
	    is_digit(in[12]))
		return STRANGE;
	int status = (in[9] - '0') * 100 + (in[10] - '0') * 10 + in[11] - '0';
	return status / 100 == 2 ? NULL : http_fault(status, talk->proxy->user[0] != '\0');
}

/* The same for the answer of a SOCKS proxy to the present request. */
static const char *read_socks(const struct sl_proxy_talk *talk, size_t *length)
{
	const uint8_t *in = talk->in;
	bool connect = talk->step == SL_PROXY_CONNECT, given = talk->proxy->user[0] != '\0';
	if (in[0] != (talk->step == SL_PROXY_LOGIN ? LOGIN : SOCKS))
		return STRANGE;
	if (talk->in_bytes < 2)
		return NULL;
	if (talk->step == SL_PROXY_METHOD && in[1] != METHOD_NONE && !(given && in[1] == METHOD_LOGIN))
		return in[1] != 0xff ? STRANGE : given ? LOGIN_REFUSED : LOGIN_WANTED;
	if (talk->step == SL_PROXY_LOGIN && in[1] != 0)
		return LOGIN_REFUSED;
	if (connect && in[1] != 0)
		return socks_fault(in[1]);
	size_t size = !connect		   ? 2
		      : talk->in_bytes < 5 ? SIZE_MAX
		      : in[3] == 1	   ? 10
		      : in[3] == 4	   ? 22
					   : 7u + in[4];
	*length = talk->in_bytes >= size ? size : 0;
	return NULL;
}

/* Make the next request after a complete answer. SL_OK: it was the last one. */
static int go_on(struct sl_proxy_talk *talk)
{
	bool login = talk->step == SL_PROXY_METHOD && talk->in[1] == METHOD_LOGIN;
	if (talk->proxy->kind == SL_PROXY_HTTP || talk->step == SL_PROXY_CONNECT)
		return SL_OK;
	if (!login) {
		ask_connect(talk);
		return SL_PENDING;
	}
	put_byte(talk, LOGIN);
	put_text(talk, talk->proxy->user);
	put_text(talk, talk->proxy->password);
	talk->step = SL_PROXY_LOGIN;
	return SL_PENDING;
}

int sl_proxy_take(struct sl_proxy_talk *talk, const uint8_t *bytes, size_t count, const char **why)
{
	size_t room = sizeof talk->in - talk->in_bytes, length = 0, taken = count < room ? count : room;
	*why = STRANGE;
	if (count == 0)
		return SL_PENDING;
	memcpy(talk->in + talk->in_bytes, bytes, taken);
	talk->in_bytes += taken;
	talk->out_bytes = 0;
	const char *fault =
		talk->proxy->kind == SL_PROXY_HTTP ? read_http(talk, &length) : read_socks(talk, &length);
	*why = fault != NULL ? fault : STRANGE;
	size_t left = talk->in_bytes - length + count - taken;
	if (fault != NULL || (length > 0 && left > 0)) /* the other end does not speak first */
		return SL_ERR_REFUSED;
	if (length == 0)
		return SL_PENDING;
	int rc = go_on(talk);
	talk->in_bytes = 0;
	return rc;
}
