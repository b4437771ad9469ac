/* events.h - the event queue: filled by the loop's callbacks, drained through the core.
 *
 * An event of the queue owns what its pointers refer to; sl_events_drain frees it after its step.
 */
#pragma once

#include "common/core/core.h"

struct sl_daemon;

/* A queued event. */
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

/* Append an event of `kind` and return it, so that the caller fills in its fields. */
struct sl_queued_event *sl_events_new(struct sl_daemon *daemon, enum sl_event_kind kind);
/* Append the neighbours that a topology playback reports: `range`, a bit per roster index, is copied. */
void sl_events_range(struct sl_daemon *daemon, const uint64_t *range);
/* Append a received frame. `payload` passes to the queue. */
void sl_events_frame(struct sl_daemon *daemon, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size);
/* Step the core with each queued event, up to a limit that keeps the loop's timers and signals served. */
void sl_events_drain(struct sl_daemon *daemon);
/* Free the events that are still queued. */
void sl_events_close(struct sl_daemon *daemon);
/* Log that `peer` sent something unacceptable: the first time at once, then at most once in ten seconds. */
void sl_events_warn(struct sl_daemon *daemon, uint32_t peer, const char *why);
