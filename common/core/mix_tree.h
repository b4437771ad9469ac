#pragma once
#include "common/core/state.h"
void sl_mix_tree_enter(struct sl_core *core);
/* A state of neighbour r. NULL: taken; else why not. What it gave to keep waits for the end of the step. */
const char *sl_mix_tree_take(struct sl_core *core, uint32_t r, struct sl_buffer *buffer);
void sl_mix_tree_keep(struct sl_core *core);
void sl_mix_tree_advance(struct sl_core *core);
void sl_mix_tree_result(struct sl_core *core, uint32_t m);
/* Whether neighbour r is waited for, of chunk m. */
bool sl_mix_tree_awaits(const struct sl_core *core, uint32_t m, uint32_t r);
