/* link.c - a link from its first byte to its last: handshake, received frames, end. */
#include "daemon/net/link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/runtime/address.h"

/* ---- receiving ---- */

static void hand_over(struct sl_link *link, uint32_t kind, uint8_t *payload, size_t size)
{
	if (kind == SL_FRAME_PING)
		return;
	if (kind == SL_FRAME_RELAY)
		link->links->reports->order(link, payload, size);
	if (kind == SL_FRAME_PLACE)
		link->links->reports->place(link, payload, size);
	if (sl_frame_later(kind) || kind == SL_FRAME_RELAY || kind == SL_FRAME_PLACE) {
		free(payload);
		return;
	}
	link->unread++;
	if (kind < SL_MESSAGE_KINDS)
		link->links->figures.messages[kind].received += SL_FRAME_HEADER_BYTES + size;
	link->links->config.handler.frame(link->links->config.handler.context, link->peer, kind, payload,
					  size);
}

/* Return true in the states in which application data can arrive. */
static bool agreed(const struct sl_link *link)
{
	return link->state == SL_LINK_OFFERED || link->state == SL_LINK_UP;
}

/* Return why the stream is no frames of this version. */
static const char *format_error(const struct sl_link *link)
{
	int version = sl_deframer_version(&link->deframer);
	if (version == 0)
		return "a malformed frame";
	return version > 0 ? "the peer speaks a newer version of the protocol: upgrade Starling here"
			   : "the peer speaks an older version of the protocol: upgrade Starling there";
}

static const char *ending(const struct sl_link *link, int rc)
{
	bool orderly = rc == SL_ERR_NOTFOUND;
	if (rc == SL_ERR_FORMAT)
		return format_error(link);
	if (rc == SL_ERR_NOMEM)
		return "out of memory";
	if (link->state == SL_LINK_OFFERED)
		return orderly ? SL_LINK_TURNED_AWAY
			       : "refused by the other end (is this learner in its roster?)";
	if (!orderly)
		return "TLS error";
	return sl_deframer_between(&link->deframer) ? "closed by the peer" : "truncated frame";
}

/* Close the link if `rc` says that nothing more can be read from it. */
static void look_at_end(struct sl_link *link, int rc)
{
	if (!agreed(link) || rc == SL_PENDING)
		return;
	link->rejected = link->state == SL_LINK_OFFERED && rc == SL_ERR_NOTFOUND;
	if (rc == SL_ERR_CRYPTO)
		link->links->figures.tls_failures[link->state == SL_LINK_OFFERED ? SL_TLS_FAILURE_REFUSED
										 : SL_TLS_FAILURE_BROKEN]++;
	sl_link_close(link, ending(link, rc));
}

/* Note that bytes of the peer have come; over a relay, those count that were decrypted. */
static void hear(struct sl_link *link)
{
	link->heard = uv_now(link->links->config.loop);
}

/* Decrypt the input into the frame under way. The first byte on an OFFERED link establishes it. */
static int read_some(struct sl_link *link)
{
	struct sl_deframer *deframer = &link->deframer;
	bool whole;
	int rc = sl_link_decrypt(link, &whole);
	if (rc == SL_OK)
		hear(link);
	if (rc != SL_OK || (link->state == SL_LINK_OFFERED && !link->links->reports->established(link)) ||
	    !whole)
		return rc;
	uint8_t *payload = deframer->payload;
	deframer->payload = NULL;
	hand_over(link, deframer->kind, payload, deframer->size);
	sl_deframer_next(deframer);
	return SL_OK;
}

static void read_plaintext(struct sl_link *link)
{
	int rc = SL_OK;
	while (agreed(link) && rc == SL_OK)
		rc = read_some(link);
	look_at_end(link, rc);
}

static void handshake(struct sl_link *link)
{
	int rc = sl_tls_session_handshake(&link->session);
	if (rc == SL_OK && link->dialled && link->session.member != (int)link->peer)
		sl_tls_session_leave(&link->session); /* it would take this for a link, in place of one */
	sl_link_write(link);			      /* an alert must be sent, too */
	if (link->state != SL_LINK_HANDSHAKE || rc == SL_PENDING)
		return;
	if (rc != SL_OK) {
		bool unknown = link->session.pinned && link->session.member < 0;
		if (unknown)
			link->links->reports->unknown_peer(link);
		link->links->figures
			.tls_failures[unknown ? SL_TLS_FAILURE_UNKNOWN_KEY : SL_TLS_FAILURE_HANDSHAKE]++;
		sl_link_close(link, "TLS handshake failed");
		return;
	}
	if (link->session.join)
		sl_join_server_begin(link);
	else if (link->links->reports->handshake_done(link))
		read_plaintext(link);
}

/* Return the read buffer once its bytes are used up, or NULL. */
static void give_back(struct sl_links *links, uint8_t *ciphertext)
{
	if (links->ciphertext == NULL)
		links->ciphertext = ciphertext;
	else
		free(ciphertext);
}

static void pause_reading(struct sl_link *link)
{
	if (link->state != SL_LINK_UP || link->unread <= SL_UNREAD_MAX)
		return;
	link->paused = true;
	uv_read_stop((uv_stream_t *)&link->tcp);
}

static void process_at_once(struct sl_link *link, uint8_t *ciphertext, size_t count)
{
	link->session.in = ciphertext;
	link->session.in_bytes = count;
	if (link->state == SL_LINK_HANDSHAKE)
		handshake(link);
	else if (link->state == SL_LINK_JOIN)
		sl_join_server_read(link);
	else
		read_plaintext(link);
	give_back(link->links, ciphertext);
	if (link->state != SL_LINK_CLOSED)
		sl_link_write(link); /* a key update may require an answer */
	pause_reading(link);
}

static void process_offloaded(struct sl_link *link, uint8_t *ciphertext, size_t count)
{
	link->offload.ciphertext = ciphertext;
	link->offload.bytes = count;
	if (link->in_flight == 0)
		sl_link_encrypt(link); /* one offload for both directions */
	if (link->state == SL_LINK_UP)
		sl_tls_offload_send(link);
}

/* Return true if these are the first bytes of an accepted connection, and no TLS. */
static bool begins_leg(const struct sl_link *link, const uint8_t *bytes, size_t count)
{
	return link->state == SL_LINK_HANDSHAKE && link->links->relay != NULL && !link->dialled &&
	       link->way == SL_LINK_DIRECT && link->early.received == count && bytes[0] == 'r';
}

static void pass_proxy(struct sl_link *link, uint8_t *answer, size_t count)
{
	bool passed = sl_link_proxy_take(link, answer, count);
	give_back(link->links, answer);
	if (!passed)
		return;
	sl_link_proxy_end(link);
	uv_read_stop((uv_stream_t *)&link->tcp);
	sl_link_begin(link);
}

/* Process `count` bytes that were read; the buffer belongs to this function. `count` < 0: the reason why
 * reading ended. */
static void process(struct sl_link *link, uint8_t *ciphertext, ssize_t count)
{
	bool whole = sl_deframer_between(&link->deframer);
	if (count > 0 && (link->state == SL_LINK_LEG || begins_leg(link, ciphertext, (size_t)count))) {
		link->links->reports->leg(link, ciphertext, (size_t)count);
		give_back(link->links, ciphertext);
	} else if (link->state == SL_LINK_TUNNEL && count > 0)
		pass_proxy(link, ciphertext, (size_t)count);
	else if (count < 0)
		sl_link_close(link, link->talk != NULL ? SL_PROXY_SILENT
				    : count != UV_EOF  ? uv_strerror((int)count)
				    : whole	       ? "closed by the peer without goodbye"
						       : "truncated frame");
	else if (link->state == SL_LINK_UP && sl_tls_offload_wanted(link->links, (size_t)count))
		process_offloaded(link, ciphertext, (size_t)count);
	else
		process_at_once(link, ciphertext, (size_t)count);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	(void)suggested;
	struct sl_links *links = ((struct sl_link *)handle->data)->links;
	if (links->ciphertext == NULL)
		links->ciphertext = malloc(SL_READ_BYTES);
	*buffer = uv_buf_init((char *)links->ciphertext, links->ciphertext == NULL ? 0 : SL_READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct sl_link *link = stream->data;
	struct sl_links *links = link->links;
	(void)buffer;
	if (count == 0 || link->state == SL_LINK_CLOSED)
		return;
	uint8_t *ciphertext = NULL;
	if (count > 0) {
		if (link->way != SL_LINK_RELAY)
			hear(link);
		links->figures.bytes_received += (uint64_t)count;
		sl_link_bytes_of(link)->received += (uint64_t)count;
		ciphertext = links->ciphertext;
		links->ciphertext = NULL;
	}
	if (count == UV_ECONNRESET)
		hear(link);
	if (!link->offload.away) {
		process(link, ciphertext, count);
		return;
	}
	link->offload.kept = ciphertext;
	link->offload.kept_bytes = count;
	uv_read_stop(stream);
}

static void start_reading(struct sl_link *link)
{
	if (uv_read_start((uv_stream_t *)&link->tcp, on_allocate, on_read) < 0)
		sl_link_close(link, "cannot read");
}

void sl_link_resume(struct sl_link *link)
{
	if (!link->paused || link->unread > SL_UNREAD_MAX / 2 || link->state != SL_LINK_UP)
		return;
	link->paused = false;
	hear(link); /* this end had paused reading */
	start_reading(link);
}

/* Process the read that arrived during the offload. */
static void process_kept(struct sl_link *link)
{
	struct sl_tls_offload *offload = &link->offload;
	uint8_t *ciphertext = offload->kept;
	ssize_t count = offload->kept_bytes;
	if (count == 0)
		return;
	offload->kept = NULL;
	offload->kept_bytes = 0;
	process(link, ciphertext, count);
	if (link->state == SL_LINK_UP && !link->paused)
		start_reading(link);
}

static void shut(struct sl_link *link);

static void returned(struct sl_link *link)
{
	struct sl_tls_offload *offload = &link->offload;
	for (struct sl_arrived *a; link->state == SL_LINK_UP && (a = sl_tls_offload_next(offload)) != NULL;
	     free(a))
		hand_over(link, a->kind, a->payload, a->size);
	if (offload->ciphertext != NULL && (offload->read == SL_OK || offload->read == SL_PENDING))
		hear(link); /* it is more than a record */
	give_back(link->links, offload->ciphertext);
	offload->ciphertext = NULL;
	sl_tls_offload_clear(link);
	if (link->state == SL_LINK_CLOSED) {
		shut(link);
		return;
	}
	if (offload->written != SL_OK) {
		link->links->figures.tls_failures[SL_TLS_FAILURE_BROKEN]++;
		sl_link_close(link, "TLS error while sending");
	} else {
		look_at_end(link, offload->read);
	}
	sl_link_write(link);
	pause_reading(link);
	if (link->state == SL_LINK_UP)
		process_kept(link);
	sl_link_pump(link);
}

/* ---- opening and closing ---- */

struct sl_link *sl_link_new(struct sl_links *links, uint32_t peer, bool dialled)
{
	struct sl_link *link = calloc(1, sizeof *link);
	if (link == NULL)
		return NULL;
	link->links = links;
	link->peer = link->via = peer;
	link->dialled = dialled;
	link->number = ++links->count;
	link->close = sl_link_close;
	link->offload.returned = returned;
	link->control.end = &link->control.head;
	link->vectors.end = &link->vectors.head;
	link->since = link->heard = link->sent = uv_now(links->config.loop);
	link->tcp.data = link;
	if (sl_tls_session_open(&link->session, links->config.tls, !dialled) != SL_OK) {
		free(link);
		return NULL;
	}
	uv_tcp_init(links->config.loop, &link->tcp);
	link->next = links->all;
	links->all = link;
	links->open++;
	return link;
}

static void send_preface(struct sl_link *link)
{
	char preface[] = SL_RELAY_MAGIC "0123456789abcdef";
	uv_buf_t buffer = uv_buf_init(preface, SL_RELAY_PREFACE_BYTES);
	memcpy(preface + sizeof SL_RELAY_MAGIC - 1, link->token, sizeof link->token);
	if (uv_try_write((uv_stream_t *)&link->tcp, &buffer, 1) != (int)buffer.len)
		sl_link_close(link, "the relay takes nothing");
}

void sl_link_begin(struct sl_link *link)
{
	sl_link_window_open(&link->window, sl_link_descriptor(link), link->links->figures.up + 1);
	uv_tcp_nodelay(&link->tcp, 1);
	link->state = SL_LINK_HANDSHAKE;
	link->begun = true;
	start_reading(link);
	if (link->state == SL_LINK_HANDSHAKE && link->way == SL_LINK_RELAY)
		send_preface(link);
	if (link->state == SL_LINK_HANDSHAKE && link->dialled)
		handshake(link);
}

/* Close a link whose connect has failed, by an error of libuv. */
static void fail_connect(struct sl_link *link, int rc)
{
	const char *fault = sl_address_family_fault(link->family, -rc);
	sl_link_close(link, sl_link_proxy_fault(link, fault != NULL ? fault : uv_strerror(rc)));
}

static void begin_proxy(struct sl_link *link)
{
	link->state = SL_LINK_TUNNEL;
	sl_link_proxy_send(link);
	if (link->state == SL_LINK_TUNNEL)
		start_reading(link);
}

static void on_connect(uv_connect_t *request, int status)
{
	struct sl_link *link = request->handle->data;
	if (link->state == SL_LINK_CLOSED)
		return;
	if (status < 0)
		fail_connect(link, status);
	else if (link->talk != NULL)
		begin_proxy(link);
	else
		sl_link_begin(link);
}

static uint32_t segment_to(const struct sl_links *links, uint32_t peer)
{
	const struct sl_slot *slot = &links->slots[peer];
	return slot->guess > 0 ? slot->guess : slot->segment;
}

static void bound_accepted(const struct sl_links *links, uint32_t segment)
{
	int descriptor = -1;
	uv_fileno((const uv_handle_t *)&links->listener, &descriptor);
	sl_link_segment_set(descriptor, segment);
}

void sl_link_expect(struct sl_links *links, uint32_t peer)
{
	uint32_t segment = segment_to(links, peer), handshake = links->config.timing->handshake;
	bool unsure = links->slots[peer].guess > 0 && !links->slots[peer].heard;
	uint64_t until = uv_now(links->config.loop) + (unsure ? handshake / 4 : handshake);
	if (segment == 0)
		return;
	bound_accepted(links, segment);
	if (until > links->narrow_until)
		links->narrow_until = until;
}

static void forget_guess(struct sl_slot *slot)
{
	if (slot->guess > 0 && slot->dialling != NULL && slot->dialling->state == SL_LINK_CONNECT &&
	    slot->dialling->query == NULL)
		sl_link_close(slot->dialling, sl_link_proxy_fault(slot->dialling, "no answer"));
	slot->guess = 0;
}

void sl_link_expect_no_more(struct sl_links *links)
{
	if (links->narrow_until == 0 || uv_now(links->config.loop) < links->narrow_until)
		return;
	bound_accepted(links, 0);
	links->narrow_until = 0;
	for (uint32_t i = 0; i < links->config.roster->size; i++)
		forget_guess(&links->slots[i]);
}

/* Make the socket of a dial whose segments are bounded. */
static void open_narrow(struct sl_link *link, uint32_t segment)
{
	int descriptor = socket(link->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (descriptor < 0)
		return; /* connecting fails likewise */
	sl_link_segment_set(descriptor, segment);
	if (uv_tcp_open(&link->tcp, descriptor) < 0)
		close(descriptor);
}

void sl_link_connect(struct sl_link *link, const struct sockaddr *address)
{
	uint32_t segment = segment_to(link->links, link->via);
	link->family = address->sa_family;
	if (segment > 0)
		open_narrow(link, segment);
	int rc = uv_tcp_connect(&link->connect, &link->tcp, address, on_connect);
	if (rc < 0)
		fail_connect(link, rc);
}

static void forget(struct sl_links *links, struct sl_link *link)
{
	for (struct sl_link **p = &links->all; *p != NULL; p = &(*p)->next)
		if (*p == link) {
			*p = link->next;
			return;
		}
}

static void on_closed(uv_handle_t *handle)
{
	struct sl_link *link = handle->data;
	sl_link_discard(link);
	sl_tls_offload_clear(link);
	free(link->offload.kept);
	sl_join_server_end(link);
	sl_link_proxy_end(link);
	free(link->leg);
	sl_deframer_close(&link->deframer);
	sl_tls_session_close(&link->session);
	link->links->open--;
	free(link);
}

/* Say goodbye if the handshake has completed. */
static void shut(struct sl_link *link)
{
	sl_tls_session_end(&link->session);
	sl_link_write(link);
	if (uv_is_closing((uv_handle_t *)&link->tcp))
		return;
	if (!link->reset || uv_tcp_close_reset(&link->tcp, on_closed) < 0)
		uv_close((uv_handle_t *)&link->tcp, on_closed);
}

void sl_link_close(struct sl_link *link, const char *why)
{
	if (link->state == SL_LINK_CLOSED)
		return;
	link->why = why;
	link->state = SL_LINK_CLOSED;
	forget(link->links, link);
	link->links->reports->lost(link);
	sl_address_query_close(link->query);
	link->query = NULL;
	if (!link->offload.away)
		shut(link); /* otherwise when the offload returns */
}
