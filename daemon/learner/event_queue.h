/* event_queue.h - the event queue: filled by the loop's callbacks and the workers' results, drained by
 * events.c.
 *
 * A queued event owns what its pointers refer to.
 */
#pragma once

#include "common/core/core.h"

struct sl_queued_event {
	struct sl_queued_event *next;
	struct sl_event event; /* its pointers refer to the fields below or to memory that the event owns */
	bool frame;	       /* true: `event` is decoded from the frame `kind`, `payload`, `size` */
	uint32_t kind;
	uint8_t *payload; /* owned */
	size_t size;
	struct sl_job_result result; /* of SL_EVENT_COMPUTED */
	uint64_t *range;	     /* of SL_EVENT_RANGE; owned */
};

struct sl_event_queue {
	struct sl_queued_event *first, **end;
};

/* Make `queue` empty. */
void sl_event_queue_init(struct sl_event_queue *queue);
/* Append an event of `kind` and return it, so that the caller fills in its fields. */
struct sl_queued_event *sl_event_queue_add(struct sl_event_queue *queue, enum sl_event_kind kind);
/* Append the neighbours of a topology playback: `range`, `words` words with a bit per roster index, is
 * copied. */
void sl_event_queue_range(struct sl_event_queue *queue, const uint64_t *range, size_t words);
/* Append a frame received from `peer`. `payload` passes to the queue. */
void sl_event_queue_frame(struct sl_event_queue *queue, uint32_t peer, uint32_t kind, uint8_t *payload,
			  size_t size);
/* Remove the first event and return it, or NULL; the caller frees it. */
struct sl_queued_event *sl_event_queue_take(struct sl_event_queue *queue);
/* Wipe and free `event`. */
void sl_event_queue_free(struct sl_queued_event *event);
/* Free the events that are still queued. */
void sl_event_queue_close(struct sl_event_queue *queue);

/* Make the payload of a queued frame with `chunk` a buffer for the core; NULL: out of memory. */
struct sl_buffer *sl_event_queue_buffer(struct sl_queued_event *event, const struct sl_chunk *chunk);
/* Wipe the secret part of each buffer of the list and free the buffers. */
void sl_event_queue_free_buffers(struct sl_buffer *buffer);
