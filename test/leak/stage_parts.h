/* stage_parts.h - between the files that play a stage. */
#pragma once

#include "test/leak/stage.h"

#define STATE_ROOM (SL_STATE_BYTES * 16u)

/* A job of its, which must succeed. */
void stage_work(struct desk *desk, uint32_t attempt, enum sl_job_kind kind, struct sl_buffer *buffers, struct sl_job_result *result);
/* Written down as spoken. */
void stage_say(struct stage *stage, const void *bytes, size_t size);
/* stage_tree.c: Z at every learner, its CLOSE left to do. */
void stage_mix_tree(struct stage *stage, uint32_t attempt);
