/* checkpoint.h - a committed model on disk, as safetensors.
 *
 * state/round-000003.safetensors: one F32 tensor "model" of shape [n] and metadata {format, run, round,
 * digest, learners, total_weight, checksum, shapes}; nothing in it differs between learners. Written to a
 * temporary file, fsync, rename, fsync of the folder: a file under its name is whole. An fsync error is
 * fatal, never retried.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/model/safetensors.h"

struct sl_checkpoint {
	char run[SL_NAME_BYTES];
	sl_round round;
	uint8_t digest[SL_HASH_BYTES];	 /* D of the round */
	uint32_t learners;		 /* N of the view */
	uint64_t total_weight;		 /* Z_n */
	uint64_t n;			 /* floats of the model */
	uint8_t checksum[SL_HASH_BYTES]; /* BLAKE2b-256 of the floats as they lie in the file; set by write
					    and read */
};

/* Of a round: its name in the state folder. */
void sl_checkpoint_name(sl_round round, char name[static SL_FILE_NAME_BYTES]);

/* Sets the checksum. */
int sl_checkpoint_write(const char *folder, struct sl_checkpoint *checkpoint, const float *model,
			struct sl_error *error);

/* The checkpoint of one round: SL_ERR_NOTFOUND if there is none of `run`. With model != NULL reads `n` floats
 * too: SL_ERR_INVALID when it has another n, SL_ERR_FORMAT when it is damaged; both name the file. */
int sl_checkpoint_read(const char *folder, const char *run, sl_round round, size_t n,
		       struct sl_checkpoint *checkpoint, float *model, struct sl_error *error);
/* The newest of `run`, as a folder holds them that has no records of rounds; else the same. */
int sl_checkpoint_latest(const char *folder, const char *run, size_t n, struct sl_checkpoint *checkpoint,
			 float *model, struct sl_error *error);
