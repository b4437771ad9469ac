/* mix.h - MIX: masked states, which deposits and their keys give, are added up over the graph, by the engine
 * of the view (ROUND.md §7.13 Mix).
 */
#pragma once

#include "common/core/state.h"

void sl_mix_enter(struct sl_core *core);
bool sl_mix_advance(struct sl_core *core);
sl_ms sl_mix_deadline(const struct sl_core *core);
enum sl_wait sl_mix_awaits(const struct sl_core *core, uint64_t *set);
uint32_t sl_mix_permille(const struct sl_core *core);
/* A chunk of a State has come. */
void sl_mix_chunk(struct sl_core *core, uint32_t peer, struct sl_buffer *buffer);
/* MIX is done. */
void sl_mix_result(struct sl_core *core, const struct sl_job_result *result);
/* The deposit key of the participant at `position` is known. */
void sl_mix_key(struct sl_core *core, uint32_t position);
