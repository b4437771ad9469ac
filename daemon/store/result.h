/* result.h - the last committed result on disk, to prove and to serve it after a restart (PROTOCOL.md §11
 * Catch-up).
 *
 * state/result-000003.safetensors: one U8 tensor "z", the n+1 elements of Z as they go on the wire
 * (little-endian, as many bytes each as p needs), and metadata {format, run, round, attempt, view, digest, p,
 * learners, n, sigma, encoding, clip, digests, checksum}. Nothing in it is secret from the participants: Z is
 * the committed sum. Written like a checkpoint: a file under its name is whole.
 *
 * A result owns the map of its file, which outlives the file's name, but not its being cut: the folder is the
 * learner's alone (daemon/store.h). Whether Z hashes to D and the signatures hold is not looked at here.
 */
#pragma once

#include "common/base/err.h"
#include "common/protocol/message.h"
#include "common/model/safetensors.h"

struct sl_result {
	struct sl_certificate certificate;
	const uint8_t *z; /* read-only, in the map, 8-byte aligned; NULL: none */
	size_t z_bytes;	  /* (n+1) elements */
	uint8_t checksum[SL_HASH_BYTES];
	void *map;
	size_t map_bytes;
};

/* Of a round: its name in the state folder. */
void sl_result_name(sl_round t, char name[static SL_FILE_NAME_BYTES]);

/* Of `n` floats. SL_ERR_INVALID when open would refuse it (nothing is written), SL_ERR_IO. */
int sl_result_write(const char *folder, const char *run, const struct sl_certificate *certificate, uint64_t n,
		    const uint8_t *z, size_t z_bytes, uint8_t checksum[static SL_HASH_BYTES],
		    struct sl_error *error);
/* Once a round is on record: the files of earlier rounds of this run go, and what writes cut short have left.
 */
void sl_result_forget(const char *folder, const char *run, sl_round t);

/* The result of round t: reads all of it, for the checksum. SL_ERR_NOTFOUND when there is none, or another
 * run's; SL_ERR_FORMAT names file and reason: damaged, or of another n. Unless SL_OK, the result is empty. */
int sl_result_open(const char *folder, const char *run, uint64_t n, sl_round t, struct sl_result *result,
		   struct sl_error *error);
/* The same of a file that this process has just written: its data are not read, and the checksum is not
 * looked at. */
int sl_result_show(const char *folder, const char *run, uint64_t n, sl_round t, struct sl_result *result,
		   struct sl_error *error);
/* An empty one may be closed. */
void sl_result_close(struct sl_result *result);
