/* backup.h - a copy of the records of a running learner: state/backup, with what has to be restored together.
 *
 *   learner.db, has-records   the records without those of open attempts, so that the copy holds no secret
 *   result-000003.safetensors the last committed model, with the digests that prove it
 *   account                   the account of all rounds
 *   roster.yaml               roster of the last start
 *   rosters                   those of all rounds
 *
 * Made by the compute worker, between two records, under the name backup.new; then it takes the place of the
 * one before. A learner that starts from it is one whose disk was set back (GROUP.md §12.4 Disks that
 * forget).
 */
#pragma once

struct sl_daemon;

/* Begin a backup, unless one is under way. Its end is logged, and then stands in daemon->backup. */
void sl_backup_begin(struct sl_daemon *daemon);
