/* mix.h - MIX: masked states are added up over the graph, by the engine of the view (PROTOCOL.md §7.13 Mix). */
#pragma once

#include "common/core/state.h"

void sl_mix_enter(struct sl_core *core);
bool sl_mix_advance(struct sl_core *core);
sl_ms sl_mix_deadline(const struct sl_core *core);
uint32_t sl_mix_permille(const struct sl_core *core);
/* A chunk of a State has come. */
void sl_mix_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
/* MIX is done. */
void sl_mix_result(struct sl_core *core, const struct sl_job_result *result);
/* Return true if `buffer` is, by its form, a chunk of its sender's masked state. */
bool sl_mix_first(const struct sl_core *core, const struct sl_buffer *buffer);

/* --- for the engines --- */

/* Hold a state of a neighbour until its turn. */
void sl_mix_hold(struct sl_core *core, struct sl_exchange *exchange, struct sl_buffer *buffer);
/* Return the held state of this chunk and exchange, which is held no more; or NULL. */
struct sl_buffer *sl_mix_unhold(struct sl_exchange *exchange, uint32_t chunk, uint64_t iteration);
/* Send the own state of this chunk and exchange to the peers of `to`. */
void sl_mix_send(struct sl_core *core, const uint64_t *to, uint32_t chunk, uint64_t iteration);
