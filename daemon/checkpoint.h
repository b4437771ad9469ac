/* checkpoint.h - a committed model on disk, as safetensors.
 *
 * state/round-000003.safetensors: one F32 tensor "model" of shape [n] and metadata {format, run, round, digest,
 * learners, total_weight, checksum, shapes}; nothing in it differs between learners. Written to a temporary file, fsync, rename, fsync of the
 * folder: a file under its name is whole. An fsync error is fatal, never retried.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"

struct sl_checkpoint {
	char run[SL_NAME_BYTES];
	sl_round round;
	uint8_t digest[SL_HASH_BYTES]; /* D of the round */
	uint32_t learners;             /* N of the view */
	uint64_t total_weight;         /* Z_n */
	uint64_t n;                    /* floats of the model */
	uint8_t checksum[SL_HASH_BYTES]; /* BLAKE2b-256 of the floats as they lie in the file; set by write and read */
};

int sl_checkpoint_write(const char *folder, const struct sl_checkpoint *checkpoint, const float *model,
			char *path, size_t path_bytes, struct sl_error *error);

/* Newest whole checkpoint of `run` in folder: fills *checkpoint; SL_ERR_NOTFOUND if there is none. With model != NULL
 * reads `n` floats too; SL_ERR_FORMAT names file and reason when another n, a short file or a damaged header is met. */
int sl_checkpoint_latest(const char *folder, const char *run, size_t n, struct sl_checkpoint *checkpoint, float *model,
			 struct sl_error *error);
