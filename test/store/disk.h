/* disk.h - a disk under SQLite that loses its power, or fails, when the test says so.
 *
 * Between disk_on and disk_off every file that SQLite opens goes through it. It counts what changes the disk
 * (writes, cuts, removals and synchronisations) and knows what of it is there to stay: what was written to a
 * file before its last synchronisation. A new file's name stays with its first one; a removal with that of
 * the folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The part of the changes that were not synchronised which survives a loss of power. */
enum disk_loss {
	DISK_NOTHING, /* none of it */
	DISK_ALL,     /* all of it */
	DISK_SOME,    /* half of the writes, drawn by seed, in halves of 512 bytes at times */
};

void disk_on(uint64_t seed);
void disk_off(void);

/* From the change `at` on (the first is 1) all fail: the power is gone; 0: it stays. */
void disk_cut_at(unsigned at);
/* The change `at` alone fails: a synchronisation with an error of the disk, all else because the disk is
 * full. */
void disk_fail_at(unsigned at);
bool disk_failed(void); /* whether it came to that */

unsigned disk_changes(void);
unsigned disk_synchronisations(void);

/* After disk_off: makes the files what is found when the power is back. */
void disk_restart(enum disk_loss loss);
