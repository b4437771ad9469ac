/* disk.h - the disk of a hosted learner: its last commit and its records of the round after it, in memory. */
#pragma once

#include "common/core/core.h"

struct sl_host_disk {
	struct sl_certificate certificate; /* of the last commit; t = 0: none. Its Round is owned */
	uint8_t *model;			   /* of it */
	sl_round t;			   /* of the members below */
	sl_attempt aborted;
	struct sl_over *over; /* over_count; their Aborts are owned */
	uint32_t over_count;
	bool reuse;
	struct sl_seen *seen; /* owned; NULL: none */
	struct sl_open open;  /* a = 0: none; its view, Readys and secrets are owned */
};

/* Return a record with copies of all that `persist` points to; unless `whole`, without the view, the Readys,
 * the secrets and the Aborts, which only a restart needs. */
struct sl_persist sl_host_disk_copy(const struct sl_persist *persist, bool whole);
void sl_host_disk_drop(struct sl_persist *record);

/* Make `record` durable. The disk takes over what it points to, but for the certificate, and `model`, the
 * packed Z of a commit. */
void sl_host_disk_write(struct sl_host_disk *disk, struct sl_persist *record, uint8_t *model);
/* Fill in the part of `config` that a start finds on the disk. */
void sl_host_disk_read(const struct sl_host_disk *disk, struct sl_core_config *config);
/* Fill the empty disk `to` with a copy of `from`, whose models have `bytes` bytes. */
void sl_host_disk_clone(struct sl_host_disk *to, const struct sl_host_disk *from, size_t bytes);
void sl_host_disk_free(struct sl_host_disk *disk);
