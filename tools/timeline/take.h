/* take.h - one log record into the rounds. */
#pragma once

#include "tools/timeline/rounds.h"

/* As sl_timeline_take. */
bool sl_take_record(struct sl_timeline *timeline, const json_t *record);
/* As sl_timeline_wall. */
double sl_take_wall(const char *text);
