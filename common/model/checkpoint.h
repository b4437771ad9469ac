/* checkpoint.h - a committed model on disk, as safetensors.
 *
 * state/checkpoints/round-000003.safetensors: the tensors of the trainer by name, with their dtypes, and
 * metadata {format, run, round, digest, learners, total_weight, ranges, checksum}, the same bytes at all
 * learners. ranges: the exponents as a JSON list, with values: update alone. It is written to a temporary
 * file, synchronised and renamed, and the folder is synchronised: a file with this name is complete. A failed
 * fsync is never retried.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/tensors.h"
#include "common/base/types.h"
#include "common/field/vector_hash.h"
#include "common/model/safetensors.h"

struct sl_checkpoint {
	char run[SL_NAME_BYTES];
	sl_round round;
	uint8_t digest[SL_HASH_BYTES];	 /* digest D of the round */
	uint32_t learners;		 /* number of participants, N */
	uint64_t total_weight;		 /* sum of the weights, Z_n */
	uint64_t n;			 /* number of elements of the model */
	uint8_t checksum[SL_HASH_BYTES]; /* BLAKE2b-256 of the strands of the model, as it lies in the file,
					    and its exponents (common/field/vector_hash.h) */
	int16_t *exponents; /* of the ranges of the tensors (common/field/ranges.h), set by the caller; read
			       with the model, if it has as many */
	uint32_t ranges;    /* number of exponents; 0: values: model */
};

/* Name of the folder in a state folder that holds the checkpoints and nothing else: their number does not
 * slow down other files. */
#define SL_CHECKPOINT_FOLDER "checkpoints"

/* Write the file name of the checkpoint of `round`. */
void sl_checkpoint_name(sl_round round, char name[static SL_FILE_NAME_BYTES]);

/* Write `model`, which consists of `tensors`, to `folder`; sets checkpoint->checksum. */
int sl_checkpoint_write(const char *folder, struct sl_checkpoint *checkpoint,
			const struct sl_tensors *tensors, const void *model, struct sl_error *error);

/* As sl_checkpoint_write, but its checksum is set, and it is not synchronised: for a model that another file
 * holds, too. */
int sl_checkpoint_write_later(const char *folder, const struct sl_checkpoint *checkpoint,
			      const struct sl_tensors *tensors, const void *model, struct sl_error *error);
/* Set checkpoint->checksum, by the strands of model and exponents. */
void sl_checkpoint_sum(struct sl_checkpoint *checkpoint, const uint8_t strands[static SL_STRANDS_BYTES]);

/* Make SL_CHECKPOINT_LATEST in `folder` a symbolic link to the checkpoint of `round`, for users and their
 * programs. Starling does not read it, so that a failure is ignored. */
#define SL_CHECKPOINT_LATEST "latest.safetensors"
void sl_checkpoint_link(const char *folder, sl_round round);
/* Delete the checkpoint of `round`, if there is one. */
void sl_checkpoint_delete(const char *folder, sl_round round);

/* Read the checkpoint of `round`; SL_ERR_NOTFOUND if `run` has none. If `model` is not NULL, read the model
 * too, which must consist of `tensors`: SL_ERR_INVALID if the file has others, SL_ERR_FORMAT if it is
 * damaged; both errors name the file. */
int sl_checkpoint_read(const char *folder, const char *run, sl_round round, const struct sl_tensors *tensors,
		       struct sl_checkpoint *checkpoint, void *model, struct sl_error *error);

/* Read the tensors of the checkpoint of `round`, with items to be freed; errors as those of
 * sl_checkpoint_read. */
int sl_checkpoint_tensors(const char *folder, const char *run, sl_round round, struct sl_tensors *tensors,
			  struct sl_error *error);
