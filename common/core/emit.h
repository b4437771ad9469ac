/* emit.h - the actions of the present step: each function appends one to core->out. */
#pragma once

#include "common/core/state.h"

/* Return an empty bit set over the roster, or one that has `peer` alone, valid until the next step. */
uint64_t *sl_emit_set(struct sl_core *core);
uint64_t *sl_emit_only(struct sl_core *core, uint32_t peer);
/* Append an action of `kind`, its other fields zero. */
struct sl_action *sl_emit(struct sl_core *core, enum sl_action_kind kind);
/* Report `kind`; the caller fills the fields that report.h names for it. */
struct sl_report *sl_emit_report(struct sl_core *core, enum sl_report_kind kind);
/* Return true if `once` was not noted of `peer` with this `key`, which is not 0, last; note it. Reports about
 * a peer that could come with every message are limited by this alone. */
bool sl_emit_once(struct sl_core *core, uint32_t peer, enum sl_once once, uint64_t key);
/* Report that a message of `peer` was not acceptable; `why` is a constant. */
void sl_emit_reject(struct sl_core *core, uint32_t peer, const char *why);
/* Report that the phase waits for the peers of `set` (NULL: for SL_EVENT_RANGE), once in SL_WAIT_REPORT_MS.
 */
void sl_emit_waiting(struct sl_core *core, const uint64_t *set);

/* Start a job on the view of the attempt; `buffers` become the job's. */
void sl_emit_job(struct sl_core *core, enum sl_job_kind kind, uint32_t chunk, struct sl_buffer *buffers);
/* Start a job on `view`. */
struct sl_job *sl_emit_job_on(struct sl_core *core, enum sl_job_kind kind, uint32_t chunk,
			      const struct sl_view *view);
/* Make an entry of attempt `a` durable; SL_EVENT_DURABLE answers. */
struct sl_persist *sl_emit_persist(struct sl_core *core, enum sl_persist_kind kind, sl_attempt a);

/* Send `message` to the peers of `to`; `own`: it is to be signed with this learner's key. */
void sl_emit_send(struct sl_core *core, const uint64_t *to, const struct sl_message *message, bool own);
/* Send a chunk of the attempt, whose bytes are where `payload` says. `chunk`: without t, a and view. */
void sl_emit_chunk(struct sl_core *core, const uint64_t *to, enum sl_message_kind kind, struct sl_chunk chunk,
		   struct sl_payload payload);
/* Send `message`, a chunk whose bytes are where `payload` says. */
void sl_emit_payload(struct sl_core *core, const uint64_t *to, const struct sl_message *message,
		     struct sl_payload payload);
/* Send `message` to the linked participants of the view but `from` and `author`, roster indices. */
void sl_emit_participants(struct sl_core *core, uint32_t from, uint32_t author,
			  const struct sl_message *message, bool own);
/* Tell the peers of `to` round, attempt and status. */
void sl_emit_hello(struct sl_core *core, const uint64_t *to);

/* Give one chunk back unused. */
void sl_emit_drop(struct sl_core *core, struct sl_buffer *buffer);
/* Give back every chunk that is held for the attempt. */
void sl_emit_drop_held(struct sl_core *core);
/* End the learner, with SL_OK or an error. */
void sl_emit_stop(struct sl_core *core, int code);
