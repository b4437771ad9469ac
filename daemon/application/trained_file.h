/* trained_file.h - the vector of a round on disk: what makes the round independent of the application.
 *
 * state/trained.safetensors, mode 0600: the model as the application trained it, with metadata {format, run,
 * round, weight, values, terms, metrics, checksum}. The checksum is the BLAKE2b-256 of the header, with an
 * empty checksum, and of the vector's hash. The file is complete once it has this name (safetensors.h),
 * precedes everything that is shared of the vector, and is removed when the round is committed.
 */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/tensors.h"
#include "common/base/types.h"
#include "common/field/encoding.h"

#define SL_TRAINED_FILE_NAME "trained.safetensors"

/* The content of the file. */
struct sl_trained_file {
	sl_round round; /* 0: there is no file */
	uint64_t weight;
	enum sl_values values;
	char terms[48];		     /* dp: record: those that it was made for; else empty */
	json_t *metrics;	     /* owned; NULL: none */
	uint8_t hash[SL_HASH_BYTES]; /* BLAKE2b-256 of the vector */

	/* After reading, until it is used: */
	struct sl_tensors tensors; /* owned */
	void *vector;		   /* owned, of `bytes`; NULL: none */
	uint64_t bytes;
};

/* Where the file lies. */
struct sl_trained_file_place {
	const char *folder, *run;
};

/* Read the file. SL_ERR_NOTFOUND: there is none. SL_ERR_FORMAT: it is damaged or belongs to another run. */
int sl_trained_file_read(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			 struct sl_error *error);
/* Write `vector` as that of file->round and its weight and metrics; set its checksum. After an error of the
 * disk the state is not known. */
int sl_trained_file_write(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			  const struct sl_tensors *tensors, const void *vector, size_t bytes,
			  struct sl_error *error);
/* Remove the file, if there is one; SL_ERR_IO: it stays. */
int sl_trained_file_remove(struct sl_trained_file *file, const struct sl_trained_file_place *place,
			   struct sl_error *error);
/* Free what reading has left. */
void sl_trained_file_close(struct sl_trained_file *file);
