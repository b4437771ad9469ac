/* stage_parts.h - between the files that play a stage. */
#pragma once

#include "test/leak/stage.h"

#define STATE_ROOM (SL_STATE_BYTES * 16u)

/* A job of its, which must succeed. */
void replay_work(struct fixture *fixture, uint32_t attempt, enum sl_job_kind kind, struct sl_buffer *buffers,
		 struct sl_job_result *result);
/* Written down as spoken. */
void replay_say(struct replay *replay, const void *bytes, size_t size);
/* stage_tree.c: Z at every learner, its CLOSE left to do. */
void replay_mix_tree(struct replay *replay, uint32_t attempt);
