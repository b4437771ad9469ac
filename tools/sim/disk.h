/* disk.h - the disk of a hosted learner: its last commit and its release log of the round after it, in
 * memory.
 */
#pragma once

#include "common/core/core.h"

/* A persist action on its way to the disk, with copies of everything it points to. */
struct sl_sim_record {
	struct sl_durable what;
	uint8_t *view;
	size_t view_bytes;
	struct sl_ready *readys;
	uint32_t ready_count;
	struct sl_certificate *certificate;
	uint64_t total_weight;
	uint8_t *packed; /* COMMIT: Z, when its turn came */
};

struct sl_sim_disk {
	struct sl_certificate certificate; /* of the last commit; t = 0: none */
	uint8_t *result;		   /* its Z, packed */
	sl_round t;			   /* of the promises */
	sl_attempt aborted, closed, a;	   /* a: of the open attempt; 0: none */
	sl_attempt released[SL_RELEASED_MAX];
	uint32_t released_count;
	struct sl_open open;
	uint8_t *view;
	struct sl_ready *readys;
};

/* Copy `persist`; unless `whole`, without the view and the Readys, which only a restart needs. */
struct sl_sim_record *sl_sim_record_new(const struct sl_persist *persist, bool whole);
void sl_sim_record_free(struct sl_sim_record *record);
/* Make `record` survive crashes; take its memory over. */
void sl_sim_disk_write(struct sl_sim_disk *disk, struct sl_sim_record *record);
/* Fill in what a start finds on the disk. */
void sl_sim_disk_read(const struct sl_sim_disk *disk, struct sl_core_config *config);
void sl_sim_disk_free(struct sl_sim_disk *disk);
