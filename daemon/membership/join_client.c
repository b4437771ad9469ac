#include "daemon/membership/join_client.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/net/link_segment.h"
#include "daemon/runtime/address.h"
#include "daemon/runtime/clock.h"

/* Wait for the socket until the time `end`. Return 0, or the reason as errno. */
static int await_until(const struct sl_join_client *client, short events, uint64_t end)
{
	struct pollfd p = {.fd = client->fd, .events = events};
	uint64_t now;
	while ((now = sl_clock_ms()) < end) {
		int rc = poll(&p, 1, (int)(end - now));
		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return errno;
	}
	return ETIMEDOUT;
}

static int await(const struct sl_join_client *client, short events)
{
	return await_until(client, events, client->deadline_ms);
}

/* Try one address of `left` that are left, which share the time. Return 0, or the reason as errno. */
static int connect_to(struct sl_join_client *client, const struct addrinfo *to, uint32_t left)
{
	uint64_t now = sl_clock_ms(), end = client->deadline_ms;
	int why = 0;
	socklen_t size = sizeof why;
	client->fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (client->fd < 0)
		return errno;
	if (!client->large)
		sl_link_segment_set(client->fd, SL_SEGMENT_LEAST);
	if (connect(client->fd, to->ai_addr, to->ai_addrlen) == 0)
		return 0;
	if (now < end)
		end = now + (end - now) / left;
	why = errno == EINPROGRESS ? await_until(client, POLLOUT, end) : errno;
	if (why == 0 && getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &why, &size) != 0)
		why = errno;
	if (why != 0) {
		close(client->fd);
		client->fd = -1;
	}
	return why;
}

static int connect_any(struct sl_join_client *client, const char *address, struct sl_error *error)
{
	struct addrinfo *found = NULL;
	uint64_t now = sl_clock_ms(), left_ms = client->deadline_ms > now ? client->deadline_ms - now : 0;
	int rc = sl_address_look_up(address, left_ms, &found), why = 0;
	uint32_t left = 0;
	client->failure = rc != 0 ? SL_JOIN_FAILURE_RESOLVE : SL_JOIN_FAILURE_CONNECT;
	if (rc != 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", address, gai_strerror(rc));
	for (const struct addrinfo *to = found; to != NULL; to = to->ai_next)
		left++;
	const char *fault = NULL;
	for (const struct addrinfo *to = found; to != NULL && client->fd < 0; to = to->ai_next) {
		why = connect_to(client, to, left--);
		fault = sl_address_family_fault(to->ai_family, why);
	}
	freeaddrinfo(found);
	client->why = why;
	return client->fd >= 0 ? SL_OK
			       : sl_err_set(error, SL_ERR_IO, "%s: %s", address,
					    fault != NULL ? fault : strerror(why));
}

static void note_local(struct sl_join_client *client)
{
	struct sockaddr_storage name;
	socklen_t size = sizeof name;
	if (getsockname(client->fd, (struct sockaddr *)&name, &size) != 0 ||
	    getnameinfo((struct sockaddr *)&name, size, client->local, sizeof client->local, NULL, 0,
			NI_NUMERICHOST) != 0)
		client->local[0] = '\0';
}

/* Send all bytes. Return 0, or the reason as errno. */
static int send_all(struct sl_join_client *client, const uint8_t *bytes, size_t count)
{
	size_t done = 0;
	int why = 0;
	while (why == 0 && done < count) {
		ssize_t sent = send(client->fd, bytes + done, count - done, MSG_NOSIGNAL);
		if (sent >= 0)
			done += (size_t)sent;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			why = await(client, POLLOUT);
		else if (errno != EINTR)
			why = errno;
	}
	return why;
}

/* Send what TLS has put out. */
static int flush(struct sl_join_client *client)
{
	int why = send_all(client, client->session.out, client->session.out_bytes);
	free(sl_tls_session_take(&client->session));
	return why;
}

/* Receive more bytes; TLS has used the last ones. */
static int fill(struct sl_join_client *client)
{
	for (;;) {
		ssize_t got = recv(client->fd, client->input, sizeof client->input, 0);
		if (got > 0) {
			client->session.in = client->input;
			client->session.in_bytes = (size_t)got;
			return 0;
		}
		if (got == 0)
			return ECONNRESET;
		int why = errno == EAGAIN || errno == EWOULDBLOCK ? await(client, POLLIN)
			  : errno == EINTR			  ? 0
								  : errno;
		if (why != 0)
			return why;
	}
}

/* Talk with the proxy until its tunnel to `address` is there. */
static int pass_proxy(struct sl_join_client *client, const struct sl_proxy *proxy, const char *address,
		      struct sl_error *error)
{
	struct sl_proxy_talk talk;
	const char *fault = SL_PROXY_SILENT;
	int rc = SL_PENDING, why = 0;
	sl_proxy_begin(&talk, proxy, address);
	while (rc == SL_PENDING && (why = send_all(client, talk.out, talk.out_bytes)) == 0 &&
	       (why = fill(client)) == 0)
		rc = sl_proxy_take(&talk, client->input, client->session.in_bytes, &fault);
	sodium_memzero(&talk, sizeof talk);
	client->session.in_bytes = 0;
	client->failure = SL_JOIN_FAILURE_PROXY;
	return rc == SL_OK
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_IO, "%s: %s", address, why != 0 ? SL_PROXY_SILENT : fault);
}

/* Connect to `address`, directly or through the proxy. */
static int reach(struct sl_join_client *client, const struct sl_proxy *proxy, const char *address,
		 struct sl_error *error)
{
	struct sl_error inner;
	if (!sl_proxy_serves(proxy, address))
		return connect_any(client, address, error);
	if (connect_any(client, proxy->address, &inner) == SL_OK)
		return pass_proxy(client, proxy, address, error);
	client->failure = SL_JOIN_FAILURE_PROXY;
	return sl_err_set(error, SL_ERR_IO, "%s: " SL_PROXY_UNREACHABLE " (%.200s)", address, inner.text);
}

static int shake_hands(struct sl_join_client *client, enum sl_join_purpose purpose, const char *address,
		       struct sl_error *error)
{
	int rc, why = 0;
	client->failure = SL_JOIN_FAILURE_HANDSHAKE;
	while ((rc = sl_tls_session_handshake(&client->session)) == SL_PENDING && why == 0)
		if ((why = flush(client)) == 0)
			why = fill(client);
	if (rc == SL_OK && purpose == SL_JOIN_FOR_LOOK)
		sl_tls_session_leave(&client->session);
	else if (rc == SL_OK)
		why = flush(client);
	if (rc == SL_OK && why == 0 && purpose == SL_JOIN_FOR_ANSWER)
		rc = sl_tls_session_export(&client->session, client->exported);
	client->why = why;
	if (rc == SL_OK && why == 0)
		client->failure = SL_JOIN_FAILURE_NONE;
	if (why != 0)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", address, strerror(why));
	return rc == SL_OK
		       ? SL_OK
		       : sl_err_set(
				 error, SL_ERR_CRYPTO,
				 "%s: no learner that serves invitations answers there; is starlingd of the "
				 "group running, with the roster that 'starling group create' has made?",
				 address);
}

int sl_join_client_open(struct sl_join_client *client, enum sl_join_purpose purpose, bool large,
			const struct sl_identity *identity, const struct sl_roster *roster,
			const struct sl_proxy *proxy, const char *address, uint32_t ms,
			struct sl_error *error)
{
	*client = (struct sl_join_client){.fd = -1, .large = large, .deadline_ms = sl_clock_ms() + ms};
	int rc = reach(client, proxy, address, error);
	if (rc == SL_OK) {
		note_local(client);
		rc = sl_tls_open(&client->tls, identity, roster != NULL ? roster : &client->empty, error);
	}
	if (rc == SL_OK &&
	    ((large && !sl_tls_pad(&client->tls)) ||
	     sl_tls_session_open(&client->session, &client->tls, false) != SL_OK ||
	     (purpose == SL_JOIN_FOR_ANSWER && sl_tls_session_join(&client->session) != SL_OK)))
		rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	return rc == SL_OK ? shake_hands(client, purpose, address, error) : rc;
}

bool sl_join_client_is_stuck(const struct sl_join_client *client)
{
	struct sl_tcp_info info;
	return client->failure == SL_JOIN_FAILURE_HANDSHAKE && client->why == ETIMEDOUT &&
	       sl_tcp_info_get(client->fd, &info) && info.retransmits > 1;
}

int sl_join_client_frame(struct sl_join_client *client, struct sl_deframer *deframer)
{
	for (;;) {
		size_t size, got;
		uint8_t *room = sl_deframer_room(deframer, &size);
		int rc = sl_tls_session_read(&client->session, room, size, &got);
		if (rc == SL_OK) {
			rc = sl_deframer_took(deframer, got);
			if (rc != SL_PENDING)
				return rc;
		} else if (rc != SL_PENDING) {
			return rc;
		} else if ((client->why = fill(client)) != 0) {
			return client->why == ECONNRESET ? SL_ERR_CRYPTO : SL_ERR_IO;
		}
	}
}

/* Receive exactly `size` bytes of plaintext. */
static int receive(struct sl_join_client *client, uint8_t *to, size_t size)
{
	while (size > 0) {
		size_t got;
		int rc = sl_tls_session_read(&client->session, to, size, &got), why = 0;
		if (rc == SL_OK) {
			to += got;
			size -= got;
		} else if (rc != SL_PENDING) {
			return ECONNRESET;
		} else if ((why = fill(client)) != 0) {
			return why;
		}
	}
	return 0;
}

/* Receive the length, then the payload into client->bytes. */
static int receive_answer(struct sl_join_client *client, size_t *size, struct sl_error *error)
{
	uint8_t head[SL_JOIN_HEAD_BYTES];
	int why = receive(client, head, sizeof head);
	if (why == 0 && (*size = sl_join_codec_length(head)) > SL_JOIN_ANSWER_BYTES_MAX)
		return sl_err_set(error, SL_ERR_FORMAT, "the answer is too long");
	client->bytes = why == 0 ? malloc(*size + 1) : NULL;
	if (why == 0 && client->bytes == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	if (why == 0)
		why = receive(client, client->bytes, *size);
	return why == 0 ? SL_OK : sl_err_set(error, SL_ERR_IO, "no answer: %s", strerror(why));
}

int sl_join_client_ask(struct sl_join_client *client, const struct sl_join_request *request,
		       struct sl_join_answer *answer, struct sl_error *error)
{
	uint8_t bytes[SL_JOIN_HEAD_BYTES + SL_JOIN_REQUEST_BYTES_MAX];
	size_t size = sl_join_codec_put_request(request, NULL);
	if (size > sizeof bytes)
		return sl_err_set(error, SL_ERR_RANGE, "the request is too long");
	sl_join_codec_put_request(request, bytes);
	if (sl_tls_session_write(&client->session, bytes, size) != SL_OK)
		return sl_err_set(error, SL_ERR_CRYPTO, "TLS error");
	int why = flush(client);
	if (why != 0)
		return sl_err_set(error, SL_ERR_IO, "%s", strerror(why));
	int rc = receive_answer(client, &size, error);
	const char *wrong = rc == SL_OK ? sl_join_codec_take_answer(client->bytes, size, answer) : NULL;
	return wrong == NULL ? rc : sl_err_set(error, SL_ERR_FORMAT, "the answer cannot be read: %s", wrong);
}

const uint8_t *sl_join_client_pin(const struct sl_join_client *client)
{
	return client->session.pin;
}

void sl_join_client_close(struct sl_join_client *client)
{
	if (client->session.ssl != NULL) {
		sl_tls_session_end(&client->session);
		if (client->fd >= 0)
			flush(client);
		sl_tls_session_close(&client->session);
	}
	if (client->tls.context != NULL)
		sl_tls_close(&client->tls);
	if (client->fd >= 0)
		close(client->fd);
	free(client->bytes);
	*client = (struct sl_join_client){.fd = -1};
}
