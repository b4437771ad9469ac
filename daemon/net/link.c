#include "daemon/net/link.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define SOCKET_BUFFER (256 << 10) /* autotuned buffers of a hundred daemons fall into TCP memory pressure */

struct sl_frame *sl_link_frame_new(size_t size, bool vector)
{
	struct sl_frame *frame = malloc(sizeof *frame + size);
	if (frame == NULL)
		return NULL;
	frame->references = 1;
	frame->vector = vector;
	frame->secret = false;
	frame->size = size;
	return frame;
}

void sl_link_frame_release(struct sl_frame *frame)
{
	if (frame == NULL || --frame->references > 0)
		return;
	if (frame->secret)
		sodium_memzero(frame->bytes, frame->size);
	free(frame);
}

static void push(struct sl_frame_queue *queue, struct sl_frame_node *node)
{
	node->next = NULL;
	*queue->end = node;
	queue->end = &node->next;
}

static struct sl_frame *pop(struct sl_frame_queue *queue)
{
	struct sl_frame_node *node = queue->head;
	if (node == NULL)
		return NULL;
	queue->head = node->next;
	if (queue->head == NULL)
		queue->end = &queue->head;
	struct sl_frame *frame = node->frame;
	free(node);
	return frame;
}

struct sl_link *sl_link_new(struct sl_links *links, uint32_t peer, bool dialled)
{
	struct sl_link *link = calloc(1, sizeof *link);
	if (link == NULL)
		return NULL;
	link->links = links;
	link->peer = peer;
	link->dialled = dialled;
	link->number = ++links->count;
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

/* ---- sending ---- */

/* A pending write of bytes that the kernel did not accept at once. */
struct write {
	uv_write_t request;
	size_t size;
	uint8_t *bytes;
};

static void on_written(uv_write_t *request, int status)
{
	struct write *write = (struct write *)request;
	struct sl_link *link = request->handle->data;
	link->in_flight -= write->size;
	free(write->bytes);
	free(write);
	if (status < 0)
		sl_link_close(link, status == UV_ECANCELED ? "closed" : uv_strerror(status));
	else if (link->state == SL_LINK_UP)
		sl_link_pump(link);
}

int sl_link_descriptor(const struct sl_link *link)
{
	int descriptor = -1;
	uv_fileno((const uv_handle_t *)&link->tcp, &descriptor);
	return descriptor;
}

static void count_write(struct sl_link *link, size_t size)
{
	if (size >= SL_SPEED_WRITE_BYTES)
		sl_link_speed_begin(&link->speed, sl_link_descriptor(link));
	link->links->figures.bytes_sent += size;
	link->links->figures.writes++;
	link->sent = uv_now(link->links->config.loop);
}

/* Queue the rest in libuv, behind earlier writes. */
static int write_later(struct sl_link *link, uint8_t *bytes, size_t done, size_t size)
{
	struct write *write = malloc(sizeof *write);
	if (write == NULL) {
		free(bytes);
		return UV_ENOMEM;
	}
	*write = (struct write){.size = size - done, .bytes = bytes};
	link->in_flight += write->size;
	uv_buf_t buffer = uv_buf_init((char *)bytes + done, (unsigned)write->size);
	int rc = uv_write(&write->request, (uv_stream_t *)&link->tcp, &buffer, 1, on_written);
	if (rc < 0) {
		link->in_flight -= write->size;
		free(bytes);
		free(write);
	}
	return rc;
}

/* Hand the output of TLS to the kernel. */
static void flush(struct sl_link *link)
{
	size_t size = link->session.out_bytes;
	if (size == 0 || uv_is_closing((uv_handle_t *)&link->tcp))
		return;
	count_write(link, size);
	uint8_t *bytes = sl_tls_session_take(&link->session);
	uv_buf_t buffer = uv_buf_init((char *)bytes, (unsigned)size);
	int rc = uv_try_write((uv_stream_t *)&link->tcp, &buffer, 1);
	if (rc == (int)size)
		free(bytes);
	else
		rc = write_later(link, bytes, rc < 0 ? 0 : (size_t)rc, size);
	if (rc < 0)
		sl_link_close(link, uv_strerror(rc));
}

static struct sl_frame *pop_control(struct sl_link *link)
{
	struct sl_frame *frame = pop(&link->control);
	if (frame != NULL)
		link->control_bytes -= frame->size;
	return frame;
}

/* Fill the batch with as many whole control frames as fit one TLS record and return its size; 0: no frame
 * waits, or the next one does not fit. */
static size_t gather(struct sl_link *link, uint8_t batch[static SL_RECORD_BYTES])
{
	size_t size = 0;
	while (link->control.head != NULL && link->control.head->frame->size <= SL_RECORD_BYTES - size) {
		struct sl_frame *frame = pop_control(link);
		memcpy(batch + size, frame->bytes, frame->size);
		size += frame->size;
		sl_link_frame_release(frame);
	}
	return size;
}

static bool next_frame(struct sl_link *link)
{
	if (link->current == NULL) {
		link->current = pop_control(link);
		if (link->current == NULL && (link->current = pop(&link->vectors)) != NULL)
			link->vector_bytes -= link->current->size;
		link->current_at = 0;
	}
	return link->current != NULL;
}

bool sl_link_segment(struct sl_link *link, struct sl_write_segment *segment)
{
	if (!next_frame(link))
		return false;
	struct sl_frame *frame = link->current;
	size_t left = frame->size - link->current_at,
	       count = left < SL_SEGMENT_BYTES ? left : SL_SEGMENT_BYTES;
	*segment = (struct sl_write_segment){
		.frame = frame, .at = link->current_at, .count = count, .last = count == left};
	link->links->figures.records_sent += (count + SL_RECORD_BYTES - 1) / SL_RECORD_BYTES;
	link->current_at += count;
	if (segment->last)
		link->current = NULL;
	return true;
}

bool sl_link_segment_is_vector(const struct sl_link *link)
{
	const struct sl_frame *frame = link->current;
	return frame != NULL ? frame->vector : link->control.head == NULL && link->vectors.head != NULL;
}

static void encrypt(struct sl_link *link, const uint8_t *bytes, size_t count)
{
	if (sl_tls_session_write(&link->session, bytes, count) != SL_OK)
		sl_link_close(link, "TLS error while sending");
}

static bool is_offloaded(const struct sl_link *link)
{
	size_t rest = link->current == NULL ? 0 : link->current->size - link->current_at;
	return sl_link_segment_is_vector(link) &&
	       sl_tls_offload_wanted(link->links, rest + link->vector_bytes);
}

/* Encrypt waiting frames for one write: control frames first, and vectors if their size is small. */
static void fill(struct sl_link *link)
{
	uint8_t *batch = link->links->batch;
	struct sl_write_segment segment;
	while (link->state == SL_LINK_UP &&
	       link->session.out_bytes + SL_SEGMENT_BYTES <= SL_TLS_WRITE_BYTES) {
		size_t size = link->current == NULL ? gather(link, batch) : 0;
		if (size > 0) {
			link->links->figures.records_sent++;
			encrypt(link, batch, size);
		} else if (!is_offloaded(link) && sl_link_segment(link, &segment)) {
			encrypt(link, segment.frame->bytes + segment.at, segment.count);
			if (segment.last)
				sl_link_frame_release(segment.frame);
		} else {
			break;
		}
	}
	if (link->state == SL_LINK_UP && is_offloaded(link))
		sl_tls_offload_fill(link);
}

/* Frames that the kernel would not accept stay unencrypted, because links share them. */
void sl_link_pump(struct sl_link *link)
{
	while (link->state == SL_LINK_UP && link->in_flight == 0 && !link->offload.away) {
		fill(link);
		if (link->offload.segment_count > 0)
			sl_tls_offload_send(link);
		else if (link->state != SL_LINK_UP || link->session.out_bytes == 0)
			return;
		else
			flush(link);
	}
}

void sl_link_queue(struct sl_link *link, struct sl_frame *frame)
{
	struct sl_frame_node *node = malloc(sizeof *node);
	if (node == NULL) {
		sl_link_close(link, "out of memory");
		return;
	}
	node->frame = frame;
	frame->references++;
	*(frame->vector ? &link->vector_bytes : &link->control_bytes) += frame->size;
	push(frame->vector ? &link->vectors : &link->control, node);
}

void sl_link_ping(struct sl_link *link)
{
	if (link->control_bytes > SL_LINK_QUEUE_BYTES) {
		sl_link_close(link, "it does not read what it is sent");
		return;
	}
	struct sl_frame *frame = sl_link_frame_new(SL_FRAME_HEADER_BYTES, false);
	if (frame == NULL)
		return;
	sl_frame_header(frame->bytes, SL_FRAME_PING, 0);
	sl_link_queue(link, frame);
	sl_link_frame_release(frame);
	sl_link_pump(link);
}

/* ---- receiving ---- */

static void hand_over(struct sl_link *link, uint32_t kind, uint8_t *payload, size_t size)
{
	if (kind == SL_FRAME_PING)
		return;
	link->unread++;
	link->links->config.handler.frame(link->links->config.handler.context, link->peer, kind, payload,
					  size);
}

/* Return true in the states in which application data can arrive. */
static bool agreed(const struct sl_link *link)
{
	return link->state == SL_LINK_OFFERED || link->state == SL_LINK_UP;
}

static const char *ending(const struct sl_link *link, int rc)
{
	bool orderly = rc == SL_ERR_NOTFOUND;
	if (rc == SL_ERR_FORMAT)
		return "a malformed frame";
	if (rc == SL_ERR_NOMEM)
		return "out of memory";
	if (link->state == SL_LINK_OFFERED)
		return orderly ? "turned away" : "refused by the other end (is this learner in its roster?)";
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
	sl_link_close(link, ending(link, rc));
}

int sl_link_decrypt(struct sl_link *link, bool *whole)
{
	size_t size, got;
	uint8_t *room = sl_deframer_room(&link->deframer, &size);
	*whole = false;
	int rc = sl_tls_session_read(&link->session, room, size, &got);
	if (rc != SL_OK)
		return rc;
	rc = sl_deframer_took(&link->deframer, got);
	*whole = rc == SL_OK;
	return rc == SL_PENDING ? SL_OK : rc;
}

/* Decrypt the input into the frame under way. The first byte on an OFFERED link establishes it. */
static int read_some(struct sl_link *link)
{
	struct sl_deframer *deframer = &link->deframer;
	bool whole;
	int rc = sl_link_decrypt(link, &whole);
	if (rc != SL_OK || (link->state == SL_LINK_OFFERED && !sl_links_established(link)) || !whole)
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
	flush(link); /* an alert must be sent, too */
	if (link->state != SL_LINK_HANDSHAKE || rc == SL_PENDING)
		return;
	if (rc != SL_OK) {
		if (link->session.pinned && link->session.member < 0)
			sl_links_unknown_peer(link);
		sl_link_close(link, "TLS handshake failed");
		return;
	}
	if (sl_links_handshake_done(link))
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

static void mind_unread(struct sl_link *link)
{
	if (link->state != SL_LINK_UP || link->unread <= SL_UNREAD_MAX)
		return;
	link->paused = true;
	uv_read_stop((uv_stream_t *)&link->tcp);
}

static void take_at_once(struct sl_link *link, uint8_t *ciphertext, size_t count)
{
	link->session.in = ciphertext;
	link->session.in_bytes = count;
	if (link->state == SL_LINK_HANDSHAKE)
		handshake(link);
	else
		read_plaintext(link);
	give_back(link->links, ciphertext);
	if (link->state != SL_LINK_CLOSED)
		flush(link); /* a key update may require an answer */
	mind_unread(link);
}

static void take_as_offload(struct sl_link *link, uint8_t *ciphertext, size_t count)
{
	link->offload.ciphertext = ciphertext;
	link->offload.bytes = count;
	if (link->in_flight == 0)
		fill(link); /* one offload for both directions */
	if (link->state == SL_LINK_UP)
		sl_tls_offload_send(link);
}

/* Process `count` bytes that were read; the buffer belongs to this function. `count` < 0: the reason why
 * reading ended. */
static void take_in(struct sl_link *link, uint8_t *ciphertext, ssize_t count)
{
	bool whole = sl_deframer_between(&link->deframer);
	if (count < 0)
		sl_link_close(link, count != UV_EOF ? uv_strerror((int)count)
				    : whole	    ? "closed by the peer without goodbye"
						    : "truncated frame");
	else if (link->state == SL_LINK_UP && sl_tls_offload_wanted(link->links, (size_t)count))
		take_as_offload(link, ciphertext, (size_t)count);
	else
		take_at_once(link, ciphertext, (size_t)count);
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
		link->heard = uv_now(links->config.loop);
		links->figures.bytes_received += (uint64_t)count;
		ciphertext = links->ciphertext;
		links->ciphertext = NULL;
	}
	if (!link->offload.away) {
		take_in(link, ciphertext, count);
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
	link->heard = uv_now(link->links->config.loop); /* this end had paused reading */
	start_reading(link);
}

/* Process the read that arrived during the offload. */
static void take_kept(struct sl_link *link)
{
	struct sl_tls_offload *offload = &link->offload;
	uint8_t *ciphertext = offload->kept;
	ssize_t count = offload->kept_bytes;
	if (count == 0)
		return;
	offload->kept = NULL;
	offload->kept_bytes = 0;
	take_in(link, ciphertext, count);
	if (link->state == SL_LINK_UP && !link->paused)
		start_reading(link);
}

static void shut(struct sl_link *link);

void sl_link_returned(struct sl_link *link)
{
	struct sl_tls_offload *offload = &link->offload;
	for (struct sl_arrived *a; link->state == SL_LINK_UP && (a = sl_tls_offload_next(offload)) != NULL;
	     free(a))
		hand_over(link, a->kind, a->payload, a->size);
	give_back(link->links, offload->ciphertext);
	offload->ciphertext = NULL;
	sl_tls_offload_clear(link);
	if (link->state == SL_LINK_CLOSED) {
		shut(link);
		return;
	}
	if (offload->written != SL_OK)
		sl_link_close(link, "TLS error while sending");
	else
		look_at_end(link, offload->read);
	flush(link);
	mind_unread(link);
	if (link->state == SL_LINK_UP)
		take_kept(link);
	sl_link_pump(link);
}

/* ---- opening and closing ---- */

static void begin(struct sl_link *link)
{
	int size = SOCKET_BUFFER;
	uv_send_buffer_size((uv_handle_t *)&link->tcp, &size);
	size = SOCKET_BUFFER;
	uv_recv_buffer_size((uv_handle_t *)&link->tcp, &size);
	uv_tcp_nodelay(&link->tcp, 1);
	link->state = SL_LINK_HANDSHAKE;
	start_reading(link);
	if (link->state == SL_LINK_HANDSHAKE && link->dialled)
		handshake(link);
}

static void on_connect(uv_connect_t *request, int status)
{
	struct sl_link *link = request->handle->data;
	if (link->state == SL_LINK_CLOSED)
		return;
	if (status < 0)
		sl_link_close(link, uv_strerror(status));
	else
		begin(link);
}

void sl_link_connect(struct sl_link *link, const struct sockaddr *address)
{
	int rc = uv_tcp_connect(&link->connect, &link->tcp, address, on_connect);
	if (rc < 0)
		sl_link_close(link, uv_strerror(rc));
}

void sl_link_accept(struct sl_link *link)
{
	begin(link);
}

static void forget(struct sl_links *links, struct sl_link *link)
{
	for (struct sl_link **p = &links->all; *p != NULL; p = &(*p)->next)
		if (*p == link) {
			*p = link->next;
			return;
		}
}

/* Frees the link once neither the handle nor a name look-up refers to it. */
static void on_closed(uv_handle_t *handle)
{
	struct sl_link *link = handle->data;
	struct sl_frame *frame;
	while ((frame = pop(&link->control)) != NULL || (frame = pop(&link->vectors)) != NULL)
		sl_link_frame_release(frame);
	sl_link_frame_release(link->current);
	sl_tls_offload_clear(link);
	free(link->offload.kept);
	sl_deframer_close(&link->deframer);
	sl_tls_session_close(&link->session);
	link->links->open--;
	if (link->resolving)
		link->links = NULL; /* the look-up's callback frees it */
	else
		free(link);
}

/* Say goodbye if the handshake has completed. */
static void shut(struct sl_link *link)
{
	sl_tls_session_end(&link->session);
	flush(link);
	if (!uv_is_closing((uv_handle_t *)&link->tcp))
		uv_close((uv_handle_t *)&link->tcp, on_closed);
}

void sl_link_close(struct sl_link *link, const char *why)
{
	if (link->state == SL_LINK_CLOSED)
		return;
	link->why = why;
	link->state = SL_LINK_CLOSED;
	forget(link->links, link);
	sl_links_lost(link);
	if (!link->offload.away)
		shut(link); /* otherwise when the offload returns */
}
