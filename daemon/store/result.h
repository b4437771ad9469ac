/* result.h - the last committed result on disk, to prove and serve it after a restart
 * (ROUND.md §11.2 The exchange, §14.2 What is kept and for how long).
 *
 * state/result-000003.safetensors: one U8 tensor "model", the bytes of the committed model as a Result has
 * them, and metadata {format, run, n, round, digests, checksum}. It holds no secret: every participant knows
 * the model. It is written over the file of the round before the last one, or, where there is none, under a
 * temporary name, like a checkpoint.
 *
 * A result owns the map of its file. Removing the file is safe, truncating it is not: only the learner may
 * write into the folder (store.h). This file does not check that the Round hashes to h, that the model
 * hashes to the digest and that the signatures verify.
 */
#pragma once

#include "common/base/err.h"
#include "common/model/safetensors.h"
#include "common/wire/codec.h"

struct sl_result {
	struct sl_certificate certificate; /* its digests are owned */
	struct sl_decoded *round;	   /* owned; what the certificate's `round` points into */
	const uint8_t *model;		   /* read-only part of the map, 8-byte aligned; NULL: none */
	size_t bytes;			   /* of it */
	uint8_t checksum[SL_HASH_BYTES];
	void *map;
	size_t map_bytes;
};

/* Write the file name of the result of round `t`. */
void sl_result_name(sl_round t, char name[static SL_FILE_NAME_BYTES]);

/* Write a result of `n` parameters, `bytes` bytes, durably. strands: of `model`; NULL: not known. over:
 * earlier round whose file is needed no more, 0: none. Its file is renamed and written over, with one
 * synchronisation: a loss of power may bring its old name back. SL_ERR_INVALID: sl_result_open would refuse
 * the result, nothing is written; SL_ERR_IO. */
int sl_result_write(const char *folder, const char *run, const struct sl_certificate *certificate, uint64_t n,
		    const void *model, size_t bytes, const uint8_t *strands, sl_round over,
		    uint8_t checksum[static SL_HASH_BYTES], struct sl_error *error);
/* Remove the result of round `t`, once a later round is recorded. It may be missing. */
void sl_result_forget(const char *folder, sl_round t);
/* Remove the results of rounds before `t` of this run, and temporary files, that a crash has left, and give
 * that of `t` its name, if a loss of power has taken that. This reads the whole folder: it is for the start.
 */
void sl_result_sweep(const char *folder, const char *run, sl_round t);

/* Open the result of round `t` and verify its checksum. SL_ERR_NOTFOUND: there is none of this run;
 * SL_ERR_FORMAT: damaged or of another n, the text names file and reason. On an error the result is empty. */
int sl_result_open(const char *folder, const char *run, uint64_t n, sl_round t, struct sl_result *result,
		   struct sl_error *error);
/* Open a file that this process has just written, without reading its data and verifying the checksum. */
int sl_result_show(const char *folder, const char *run, uint64_t n, sl_round t, struct sl_result *result,
		   struct sl_error *error);
/* Close a result; it may be empty. */
void sl_result_close(struct sl_result *result);
