/* catchup.h - CATCHUP: fetch a committed round that this learner missed (ROUND.md §11 Catch-up). */
#pragma once

#include "common/core/state.h"

void sl_catchup_enter(struct sl_core *core);
bool sl_catchup_advance(struct sl_core *core);
sl_ms sl_catchup_deadline(const struct sl_core *core);
enum sl_wait sl_catchup_awaits(const struct sl_core *core, uint64_t *set);
/* End the requests to `peer`: its link fell, or it has committed another round meanwhile. */
void sl_catchup_lost(struct sl_core *core, uint32_t peer);
/* The fetched result is durable. */
void sl_catchup_durable(struct sl_core *core);

/* If a linked peer has committed round t and no job is out, move to CATCHUP and return true. */
bool sl_catchup_begin(struct sl_core *core);
/* Return a peer to request the committed round from, or SL_NOBODY. */
uint32_t sl_catchup_source(const struct sl_core *core);
/* Return true if c+1 others are in a later round, by their Hellos or link states: one of them is honest. */
bool sl_catchup_over(const struct sl_core *core);
/* A Round, a Digest, a chunk of a Result has come. */
void sl_catchup_round(struct sl_core *core, uint32_t peer, const struct sl_message *message);
void sl_catchup_digest(struct sl_core *core, uint32_t peer, const struct sl_digest *digest);
void sl_catchup_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
/* Take the result of ABSORB; of ADOPT. */
void sl_catchup_absorbed(struct sl_core *core, const struct sl_job_result *result);
void sl_catchup_adopted(struct sl_core *core, const struct sl_job_result *result);
