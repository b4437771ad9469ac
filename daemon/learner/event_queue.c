#include "daemon/learner/event_queue.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

void sl_event_queue_init(struct sl_event_queue *queue)
{
	*queue = (struct sl_event_queue){.end = &queue->first};
}

struct sl_queued_event *sl_event_queue_add(struct sl_event_queue *queue, enum sl_event_kind kind)
{
	struct sl_queued_event *queued = calloc(1, sizeof *queued);
	if (queued == NULL)
		abort(); /* a few hundred bytes: no way to continue */
	queued->event.kind = kind;
	*queue->end = queued;
	queue->end = &queued->next;
	return queued;
}

void sl_event_queue_frame(struct sl_event_queue *queue, uint32_t peer, uint32_t kind, uint8_t *payload,
			  size_t size)
{
	struct sl_queued_event *queued = sl_event_queue_add(queue, SL_EVENT_MESSAGE);
	queued->frame = true;
	queued->event.peer = peer;
	queued->kind = kind;
	queued->payload = payload;
	queued->size = size;
}

void sl_event_queue_range(struct sl_event_queue *queue, const uint64_t *range, size_t words)
{
	struct sl_queued_event *queued = sl_event_queue_add(queue, SL_EVENT_RANGE);
	queued->range = calloc(words, sizeof *range);
	if (queued->range == NULL)
		abort();
	memcpy(queued->range, range, words * sizeof *range);
	queued->event.range = queued->range;
}

struct sl_queued_event *sl_event_queue_take(struct sl_event_queue *queue)
{
	struct sl_queued_event *queued = queue->first;
	if (queued == NULL)
		return NULL;
	queue->first = queued->next;
	if (queue->first == NULL)
		queue->end = &queue->first;
	return queued;
}

void sl_event_queue_free(struct sl_queued_event *queued)
{
	if (queued->payload != NULL)
		sodium_memzero(queued->payload, queued->size);
	free(queued->payload);
	free(queued->range);
	free(queued);
}

void sl_event_queue_close(struct sl_event_queue *queue)
{
	struct sl_queued_event *queued;
	while ((queued = sl_event_queue_take(queue)) != NULL)
		sl_event_queue_free(queued);
}

struct sl_buffer *sl_event_queue_buffer(struct sl_queued_event *queued, const struct sl_chunk *chunk)
{
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	if (buffer == NULL)
		return NULL;
	bool secret = queued->kind == SL_MSG_SHARE || queued->kind == SL_MSG_KEY_SHARE;
	/* The bytes of the chunk end the payload: the buffer takes over the whole payload. */
	buffer->memory = queued->payload;
	buffer->secret_size = secret ? queued->size : 0;
	buffer->bytes = queued->payload + (chunk->bytes - queued->payload);
	buffer->size = chunk->size;
	queued->payload = NULL;
	return buffer;
}

void sl_event_queue_free_buffers(struct sl_buffer *buffer)
{
	while (buffer != NULL) {
		struct sl_buffer *next = buffer->next;
		sodium_memzero(buffer->memory, buffer->secret_size);
		free(buffer->memory);
		free(buffer);
		buffer = next;
	}
}
