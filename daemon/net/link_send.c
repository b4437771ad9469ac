/* link_send.c - frames of a link: queued, encrypted, written. */
#include "daemon/net/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- writing ---- */

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
		sl_link_fail(link, status == UV_ECANCELED ? "closed" : uv_strerror(status));
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
	link->large = link->large || size > SL_SEGMENT_LEAST;
	link->links->figures.bytes_sent += size;
	sl_link_bytes_of(link)->sent += size;
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

void sl_link_write(struct sl_link *link)
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
		sl_link_fail(link, uv_strerror(rc));
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

/* Take the next segment of the waiting frames; false: none waits. */
static bool take_segment(struct sl_link *link, struct sl_write_segment *segment)
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

/* Return true if the next segment is part of a vector: between frames, control frames go first. */
static bool vector_is_next(const struct sl_link *link)
{
	const struct sl_frame *frame = link->current;
	return frame != NULL ? frame->vector : link->control.head == NULL && link->vectors.head != NULL;
}

/* Take segments of the waiting vectors for the crypto worker, as many as one write holds. */
static void fill_offload(struct sl_link *link)
{
	struct sl_tls_offload *offload = &link->offload;
	assert(!offload->away && offload->segment_count == 0);
	while (offload->segment_count < SL_TLS_OFFLOAD_SEGMENTS && vector_is_next(link))
		take_segment(link, &offload->segments[offload->segment_count++]);
}

static void encrypt(struct sl_link *link, const uint8_t *bytes, size_t count)
{
	if (sl_tls_session_write(&link->session, bytes, count) != SL_OK) {
		link->links->figures.tls_failures[SL_TLS_FAILURE_BROKEN]++;
		sl_link_fail(link, "TLS error while sending");
	}
}

static bool is_offloaded(const struct sl_link *link)
{
	size_t rest = link->current == NULL ? 0 : link->current->size - link->current_at;
	return vector_is_next(link) && sl_tls_offload_wanted(link->links, rest + link->vector_bytes);
}

void sl_link_encrypt(struct sl_link *link)
{
	uint8_t *batch = link->links->batch;
	struct sl_write_segment segment;
	while (link->state == SL_LINK_UP &&
	       link->session.out_bytes + SL_SEGMENT_BYTES <= SL_TLS_WRITE_BYTES) {
		size_t size = link->current == NULL ? gather(link, batch) : 0;
		if (size > 0) {
			link->links->figures.records_sent++;
			encrypt(link, batch, size);
		} else if (!is_offloaded(link) && take_segment(link, &segment)) {
			encrypt(link, segment.frame->bytes + segment.at, segment.count);
			if (segment.last)
				sl_link_frame_release(segment.frame);
		} else {
			break;
		}
	}
	if (link->state == SL_LINK_UP && is_offloaded(link))
		fill_offload(link);
}

/* Encrypt no more than the kernel accepts: frames that wait unencrypted are shared by links. */
void sl_link_pump(struct sl_link *link)
{
	while (link->state == SL_LINK_UP && link->in_flight == 0 && !link->offload.away) {
		sl_link_encrypt(link);
		if (link->offload.segment_count > 0)
			sl_tls_offload_send(link);
		else if (link->state != SL_LINK_UP || link->session.out_bytes == 0)
			return;
		else
			sl_link_write(link);
	}
}

void sl_link_queue(struct sl_link *link, struct sl_frame *frame)
{
	if (link->control_bytes + link->vector_bytes + frame->size > SL_LINK_WAITING_BYTES) {
		sl_link_fail(link, "it does not read what it is sent");
		return;
	}
	struct sl_frame_node *node = malloc(sizeof *node);
	if (node == NULL) {
		sl_link_fail(link, "out of memory");
		return;
	}
	node->frame = frame;
	frame->references++;
	uint32_t kind = sl_frame_kind(frame->bytes);
	if (kind < SL_MESSAGE_KINDS)
		link->links->figures.messages[kind].sent += frame->size;
	*(frame->vector ? &link->vector_bytes : &link->control_bytes) += frame->size;
	push(frame->vector ? &link->vectors : &link->control, node);
}

void sl_link_ping(struct sl_link *link)
{
	if (link->control_bytes > SL_LINK_QUEUE_BYTES) {
		sl_link_fail(link, "it does not read what it is sent");
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

void sl_link_discard(struct sl_link *link)
{
	struct sl_frame *frame;
	while ((frame = pop(&link->control)) != NULL || (frame = pop(&link->vectors)) != NULL)
		sl_link_frame_release(frame);
	sl_link_frame_release(link->current);
}
