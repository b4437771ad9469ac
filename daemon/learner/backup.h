/* backup.h - a copy of the records of a running learner: state/backup, with what has to be restored together.
 *
 *   learner.db, has-records   the records without those of open attempts, so that the copy holds no secret
 *   result-000003.safetensors the last committed model, with the digests that prove it
 *   roster.yaml               roster of the last start
 *
 * Made by the compute worker, between two records, under the name backup.new; then it takes the place of the
 * one before. A learner that starts from it is one whose disk was set back (PROTOCOL.md §12.4 Disks that
 * forget).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_daemon;

struct sl_backup {
	uint32_t number;       /* counts backups since the start; 0: none yet */
	bool runs;	       /* the last one is under way */
	struct sl_error error; /* of the last one; code SL_OK: it is there */
	sl_round round;	       /* its last committed round; 0: none */
};

/* Begin a backup, unless one is under way. Its end is logged, and then stands in daemon->backup. */
void sl_backup_begin(struct sl_daemon *daemon);
