/* disk.h - the disk of a hosted learner: its last commit and its release log of the round after it, in
 * memory.
 */
#pragma once

#include "common/core/core.h"

struct sl_sim_disk {
	struct sl_certificate certificate; /* of the last commit; t = 0: none */
	uint8_t *result;		   /* its Z, packed */
	sl_round t;			   /* of the members below */
	sl_attempt aborted, closed;
	sl_attempt released[SL_RELEASED_MAX];
	uint32_t released_count;
	struct sl_open open;	  /* a = 0: none; its view and Readys are owned */
	const uint8_t *last_view; /* of the last committed round with a view; owned */
	size_t last_view_bytes;
};

/* Return a record with copies of all that `persist` points to; unless `whole`, without the view and the
 * Readys, which only a restart needs. */
struct sl_persist sl_sim_disk_copy(const struct sl_persist *persist, bool whole);
void sl_sim_disk_drop(struct sl_persist *record);

/* Make `record` durable. The disk takes over its view, its Readys and `result`, the packed Z of a commit. */
void sl_sim_disk_write(struct sl_sim_disk *disk, struct sl_persist *record, uint8_t *result);
/* Fill in the part of `config` that a start finds on the disk. */
void sl_sim_disk_read(const struct sl_sim_disk *disk, struct sl_core_config *config);
/* Fill the empty disk `to` with a copy of `from`, whose results have `elements` elements. */
void sl_sim_disk_clone(struct sl_sim_disk *to, const struct sl_sim_disk *from, size_t elements);
void sl_sim_disk_free(struct sl_sim_disk *disk);
