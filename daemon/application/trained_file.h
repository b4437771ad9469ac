/* trained_file.h - the vector of a round on disk: what makes the round independent of the application.
 *
 * state/trained.safetensors, mode 0600: the model as the application trained it, with metadata {format, run,
 * round, weight, values, metrics, checksum, former}. The checksum is the BLAKE2b-256 of the header, with an
 * empty checksum, and of the vector's hash. The file is complete once it has this name (safetensors.h),
 * precedes everything that is shared of the vector, and is removed when the round is committed.
 *
 *   (none) -- write --> vector -- forbid --> former vectors' hashes only -- write --> vector
 *      ^                  |                                                             |
 *      +------------------+------------------------- remove ----------------------------+
 */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/tensors.h"
#include "common/base/types.h"
#include "common/field/encoding.h"

#define SL_TRAINED_FILE_NAME "trained.safetensors"
#define SL_TRAINED_FILE_FORMER_MAX 16u /* older ones are forgotten */

/* The content of the file. */
struct sl_trained_file {
	sl_round round; /* 0: there is no file */
	uint64_t weight;
	enum sl_values values;
	json_t *metrics;	     /* owned; NULL: none */
	bool whole;		     /* it holds a vector; false: only the hashes of former ones */
	uint8_t hash[SL_HASH_BYTES]; /* BLAKE2b-256 of the vector */
	uint32_t former_count;	     /* vectors of this round that were possibly released before */
	uint8_t former[SL_TRAINED_FILE_FORMER_MAX][SL_HASH_BYTES]; /* their hashes, oldest first */

	/* After reading, until it is used: */
	struct sl_tensors tensors; /* owned */
	void *vector;		   /* owned; NULL: none */
};

/* Where the file lies. */
struct sl_trained_file_place {
	const char *folder, *run;
};

/* Read the file. SL_ERR_NOTFOUND: there is none. SL_ERR_FORMAT: it is damaged or belongs to another run. */
int sl_trained_file_read(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			 struct sl_error *error);
/* Write `vector` as that of file->round and its weight and metrics; set its checksum. SL_ERR_REFUSED: its
 * bytes are those of a former one. After an error of the disk the state is not known. */
int sl_trained_file_write(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			  const struct sl_tensors *tensors, const void *vector, size_t bytes,
			  struct sl_error *error);
/* Delete the vector and keep its hash: it must not be used again. */
int sl_trained_file_forbid(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			   struct sl_error *error);
/* Remove the file, if there is one; SL_ERR_IO: it stays. */
int sl_trained_file_remove(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			   struct sl_error *error);
/* Free what reading has left. */
void sl_trained_file_close(struct sl_trained_file *file);
