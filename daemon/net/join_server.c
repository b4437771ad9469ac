#include "daemon/net/join_server.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/net/link.h"

#define SECOND_MS 1000u

struct sl_join_input {
	uint8_t bytes[SL_JOIN_HEAD_BYTES + SL_JOIN_REQUEST_BYTES_MAX];
	size_t have;
	bool answered;
};

/* Make room for a learner that joins: an honest one needs its connection for a moment only. */
static void close_oldest(struct sl_links *links)
{
	struct sl_link *oldest = NULL;
	for (struct sl_link *link = links->all; link != NULL; link = link->next)
		if (link->state == SL_LINK_JOIN)
			oldest = link;
	if (oldest != NULL)
		sl_link_fail(oldest, "too many learners join at once");
}

void sl_join_server_begin(struct sl_link *link)
{
	struct sl_links *links = link->links;
	if (links->joining >= SL_JOINS_MAX)
		close_oldest(links);
	link->join = calloc(1, sizeof *link->join);
	if (link->join == NULL) {
		sl_link_fail(link, "out of memory");
		return;
	}
	links->joining++;
	link->state = SL_LINK_JOIN;
	sl_join_server_read(link);
}

void sl_join_server_end(struct sl_link *link)
{
	free(link->join);
	link->join = NULL;
}

/* Return true if one more request may be answered in this second. */
static bool may_ask(struct sl_links *links)
{
	uint64_t now = uv_now(links->config.loop);
	if (now >= links->asked_since + SECOND_MS) {
		links->asked_since = now;
		links->asked = 0;
	}
	return links->asked++ < SL_JOINS_PER_SECOND_MAX;
}

static void peer_address(const struct sl_link *link, char text[static SL_ADDRESS_BYTES])
{
	struct sockaddr_storage name;
	int size = sizeof name;
	strcpy(text, "?");
	if (uv_tcp_getpeername(&link->tcp, (struct sockaddr *)&name, &size) == 0)
		uv_ip_name((struct sockaddr *)&name, text, SL_ADDRESS_BYTES);
}

static void send_answer(struct sl_link *link, const struct sl_join_answer *answer)
{
	size_t size = sl_join_codec_put_answer(answer, NULL);
	uint8_t *bytes = malloc(size);
	if (bytes == NULL) {
		sl_link_fail(link, "out of memory");
		return;
	}
	sl_join_codec_put_answer(answer, bytes);
	int rc = sl_tls_session_write(&link->session, bytes, size);
	free(bytes);
	link->since = uv_now(link->links->config.loop); /* time to take the answer */
	if (rc != SL_OK)
		sl_link_fail(link, "TLS error while sending");
	else
		sl_link_write(link);
}

static void answer(struct sl_link *link, size_t size)
{
	const struct sl_join_handler *handler = link->links->config.join;
	char address[SL_ADDRESS_BYTES];
	struct sl_join_peer peer = {.address = address, .pin = link->session.pin};
	struct sl_join_request request;
	struct sl_join_answer out = {.verdict = SL_JOIN_INVALID, .time = (uint64_t)time(NULL)};
	link->join->answered = true;
	if (!may_ask(link->links)) {
		sl_link_fail(link, "too many learners join at once");
		return;
	}
	peer_address(link, address);
	if (sl_tls_session_export(&link->session, peer.exported) != SL_OK) {
		sl_link_fail(link, "TLS error");
		return;
	}
	if (sl_join_codec_take_request(link->join->bytes + SL_JOIN_HEAD_BYTES, size, &request) == NULL)
		handler->ask(handler->context, &peer, &request, &out);
	send_answer(link, &out);
}

/* Look at what is there of the request; answer it once it is complete. */
static void look(struct sl_link *link)
{
	const struct sl_join_input *in = link->join;
	if (in->have < SL_JOIN_HEAD_BYTES)
		return;
	size_t size = sl_join_codec_length(in->bytes);
	if (size > SL_JOIN_REQUEST_BYTES_MAX || in->have > SL_JOIN_HEAD_BYTES + size)
		sl_link_fail(link, "a malformed request to join");
	else if (in->have == SL_JOIN_HEAD_BYTES + size)
		answer(link, size);
}

void sl_join_server_read(struct sl_link *link)
{
	uint8_t more;
	while (link->state == SL_LINK_JOIN) {
		struct sl_join_input *in = link->join;
		size_t room = in->answered ? 0 : sizeof in->bytes - in->have, got = 0;
		int rc = sl_tls_session_read(&link->session, room > 0 ? in->bytes + in->have : &more,
					     room > 0 ? room : 1, &got);
		if (rc == SL_PENDING)
			return;
		if (rc != SL_OK || room == 0) {
			sl_link_fail(link, rc == SL_ERR_NOTFOUND ? "closed by the peer"
								 : "a malformed request to join");
			return;
		}
		in->have += got;
		look(link);
	}
}
