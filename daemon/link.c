#include "daemon/link.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define SLICE (64u << 10)
#define SOCKET_BUFFER (256 << 10) /* autotuned buffers of a hundred daemons fall into TCP memory pressure */

struct sl_frame *sl_frame_new(size_t size, bool vector)
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

void sl_frame_release(struct sl_frame *frame)
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
	if (sl_secure_open(&link->secure, links->config.tls, !dialled) != SL_OK) {
		free(link);
		return NULL;
	}
	uv_tcp_init(links->config.loop, &link->tcp);
	link->next = links->all;
	links->all = link;
	return link;
}

/* Out. */

/* What the kernel did not take at once. */
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
		sl_speed_begin(&link->speed, sl_link_descriptor(link));
	link->links->figures.bytes_sent += size;
	link->links->figures.writes++;
	link->sent = uv_now(link->links->config.loop);
}

/* The rest waits in libuv, behind what waits there already. */
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

/* Hands what TLS has to say to the kernel. */
static void flush(struct sl_link *link)
{
	size_t size = link->secure.out_bytes;
	if (size == 0 || uv_is_closing((uv_handle_t *)&link->tcp))
		return;
	count_write(link, size);
	uint8_t *bytes = sl_secure_take(&link->secure);
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

/* As many waiting control frames as fit one record, whole; 0: there is none, or the next one is larger than that. */
static size_t gather(struct sl_link *link, uint8_t batch[static SL_RECORD_BYTES])
{
	size_t size = 0;
	while (link->control.head != NULL && link->control.head->frame->size <= SL_RECORD_BYTES - size) {
		struct sl_frame *frame = pop_control(link);
		memcpy(batch + size, frame->bytes, frame->size);
		size += frame->size;
		sl_frame_release(frame);
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

static void encrypt(struct sl_link *link, const uint8_t *bytes, size_t count)
{
	link->links->figures.records_sent += (count + SL_RECORD_BYTES - 1) / SL_RECORD_BYTES;
	if (sl_secure_write(&link->secure, bytes, count) != SL_OK)
		sl_link_close(link, "TLS error while sending");
}

static void encrypt_slice(struct sl_link *link)
{
	struct sl_frame *frame = link->current;
	size_t left = frame->size - link->current_at, count = left < SLICE ? left : SLICE;
	encrypt(link, frame->bytes + link->current_at, count);
	link->current_at += count;
	if (link->current_at == frame->size) {
		sl_frame_release(frame);
		link->current = NULL;
	}
}

/* What waits, as far as one write goes: control frames first. */
static void fill(struct sl_link *link)
{
	uint8_t *batch = link->links->batch;
	while (link->state == SL_LINK_UP && link->secure.out_bytes + SLICE <= SL_SECURE_WRITE_BYTES) {
		size_t size = link->current == NULL ? gather(link, batch) : 0;
		if (size > 0)
			encrypt(link, batch, size);
		else if (next_frame(link))
			encrypt_slice(link);
		else
			break;
	}
}

/* Nothing is encrypted that the kernel would not take: it waits as frames, which links share. */
void sl_link_pump(struct sl_link *link)
{
	while (link->state == SL_LINK_UP && link->in_flight == 0) {
		fill(link);
		if (link->state != SL_LINK_UP || link->secure.out_bytes == 0)
			return;
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
	struct sl_frame *frame = sl_frame_new(SL_FRAME_HEADER_BYTES, false);
	if (frame == NULL)
		return;
	sl_frame_header(frame->bytes, SL_FRAME_PING, 0);
	sl_link_queue(link, frame);
	sl_frame_release(frame);
	sl_link_pump(link);
}

/* In. */

static void hand_over(struct sl_link *link)
{
	struct sl_splitter *splitter = &link->splitter;
	if (splitter->kind != SL_FRAME_PING) {
		uint8_t *payload = splitter->payload;
		splitter->payload = NULL;
		link->unread++;
		link->links->config.handler.frame(link->links->config.handler.context, link->peer, splitter->kind,
						  payload, splitter->size);
	}
	sl_splitter_next(splitter);
}

/* Application data may come. */
static bool agreed(const struct sl_link *link)
{
	return link->state == SL_LINK_OFFERED || link->state == SL_LINK_UP;
}

static const char *ending(const struct sl_link *link, bool orderly)
{
	if (link->state == SL_LINK_OFFERED)
		return orderly ? "turned away" : "refused by the other end (is this learner in its roster?)";
	if (!orderly)
		return "TLS error";
	return sl_splitter_between(&link->splitter) ? "closed by the peer" : "truncated frame";
}

/* Into the frame that is coming in. */
static int read_some(struct sl_link *link)
{
	size_t size, got;
	uint8_t *room = sl_splitter_room(&link->splitter, &size);
	int rc = sl_secure_read(&link->secure, room, size, &got);
	if (rc != SL_OK || (link->state == SL_LINK_OFFERED && !sl_links_established(link)))
		return rc;
	rc = sl_splitter_took(&link->splitter, got);
	if (rc == SL_OK)
		hand_over(link);
	else if (rc != SL_PENDING)
		sl_link_close(link, "a malformed frame");
	return SL_OK;
}

static void read_plaintext(struct sl_link *link)
{
	int rc = SL_OK;
	while (agreed(link) && rc == SL_OK)
		rc = read_some(link);
	if (!agreed(link) || rc == SL_PENDING)
		return;
	link->turned_away = link->state == SL_LINK_OFFERED && rc == SL_ERR_NOTFOUND;
	sl_link_close(link, ending(link, rc == SL_ERR_NOTFOUND));
}

static void shake(struct sl_link *link)
{
	int rc = sl_secure_handshake(&link->secure);
	flush(link); /* an alert, too, has to leave */
	if (link->state != SL_LINK_HANDSHAKE || rc == SL_PENDING)
		return;
	if (rc != SL_OK) {
		if (link->secure.pinned && link->secure.member < 0)
			sl_links_stranger(link);
		sl_link_close(link, "TLS handshake failed");
		return;
	}
	if (sl_links_shaken(link))
		read_plaintext(link);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	(void)suggested;
	struct sl_links *links = ((struct sl_link *)handle->data)->links;
	*buffer = uv_buf_init((char *)links->ciphertext, sizeof links->ciphertext);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct sl_link *link = stream->data;
	if (count == 0 || link->state == SL_LINK_CLOSED)
		return;
	if (count < 0) {
		bool whole = sl_splitter_between(&link->splitter);
		sl_link_close(link, count != UV_EOF ? uv_strerror((int)count)
				    : whole	     ? "closed by the peer without goodbye"
						     : "truncated frame");
		return;
	}
	link->heard = uv_now(link->links->config.loop);
	link->links->figures.bytes_received += (uint64_t)count;
	link->secure.in = (const uint8_t *)buffer->base;
	link->secure.in_bytes = (size_t)count;
	if (link->state == SL_LINK_HANDSHAKE)
		shake(link);
	else
		read_plaintext(link);
	if (link->state == SL_LINK_CLOSED)
		return;
	flush(link); /* a key update may want an answer */
	if (link->state == SL_LINK_UP && link->unread > SL_UNREAD_MAX) {
		link->paused = true;
		uv_read_stop(stream);
	}
}

void sl_link_resume(struct sl_link *link)
{
	if (!link->paused || link->unread > SL_UNREAD_MAX / 2 || link->state != SL_LINK_UP)
		return;
	link->paused = false;
	link->heard = uv_now(link->links->config.loop); /* it was us who did not listen */
	if (uv_read_start((uv_stream_t *)&link->tcp, on_allocate, on_read) < 0)
		sl_link_close(link, "cannot read");
}

/* Life. */

static void begin(struct sl_link *link)
{
	int size = SOCKET_BUFFER;
	uv_send_buffer_size((uv_handle_t *)&link->tcp, &size);
	size = SOCKET_BUFFER;
	uv_recv_buffer_size((uv_handle_t *)&link->tcp, &size);
	uv_tcp_nodelay(&link->tcp, 1);
	link->state = SL_LINK_HANDSHAKE;
	if (uv_read_start((uv_stream_t *)&link->tcp, on_allocate, on_read) < 0) {
		sl_link_close(link, "cannot read");
		return;
	}
	if (link->dialled)
		shake(link);
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
		sl_frame_release(frame);
	sl_frame_release(link->current);
	sl_splitter_close(&link->splitter);
	sl_secure_close(&link->secure);
	if (link->resolving)
		link->links = NULL; /* the look-up's callback frees it */
	else
		free(link);
}

void sl_link_close(struct sl_link *link, const char *why)
{
	if (link->state == SL_LINK_CLOSED)
		return;
	link->why = why;
	if (link->state != SL_LINK_CONNECT) {
		sl_secure_end(&link->secure);
		flush(link);
	}
	if (link->state == SL_LINK_CLOSED)
		return; /* the flush failed and closed it */
	link->state = SL_LINK_CLOSED;
	forget(link->links, link);
	sl_links_lost(link);
	if (!uv_is_closing((uv_handle_t *)&link->tcp))
		uv_close((uv_handle_t *)&link->tcp, on_closed);
}
