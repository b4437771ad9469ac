/* backup_state.h - the last backup of a running learner (backup.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_backup {
	uint32_t number;       /* counts backups since the start; 0: none yet */
	bool runs;	       /* the last one is under way */
	struct sl_error error; /* of the last one; code SL_OK: it is there */
	sl_round round;	       /* its last committed round; 0: none */
};
