/* safetensors.h - files of one tensor, as far as checkpoints and results are alike; and strictly that part.
 *
 *      8 bytes   header length H, little-endian
 *      H bytes   JSON, which says what the data are
 *      the rest  the data
 * The JSON has no spaces and its keys are sorted; spaces behind it fill H up to a multiple of 8.
 *
 * What the JSON must say is its reader's to check. Values of metadata are strings (the format demands it):
 * there is one way to write a number, in decimal, and one to write bytes, in lower case hexadecimal.
 */
#pragma once

#include <jansson.h>

#include "common/base/err.h"
#include "common/base/types.h"

#define SL_FILE_NAME_BYTES 64u /* a file's name in the state folder, with its terminating zero */

/* Writes folder/name whole or not at all: a temporary file (the name and SL_TEMPORARY), fsync, rename, fsync
 * of the folder. An fsync error is fatal, never retried. The header is taken over; NULL is an SL_ERR_INVALID
 * (jansson packs no text that is not UTF-8). */
#define SL_TEMPORARY ".tmp"
int sl_safetensors_write(const char *folder, const char *name, json_t *header, const void *data, size_t size,
			 struct sl_error *error);

/* Each returns what is wrong, or NULL. */

/* The header, to json_decref, and where the data begin. */
const char *sl_safetensors_header(int fd, json_t **header, uint64_t *begin);
/* Whether the file ends with its data, which begin there. */
const char *sl_safetensors_extent(int fd, uint64_t begin, uint64_t size);

/* Reads on; -1 when there are not so many bytes. */
int sl_safetensors_read(int fd, void *bytes, size_t size);

bool sl_safetensors_metadata_number(const char *text, uint64_t max, uint64_t *value);
bool sl_safetensors_metadata_bytes(const char *text, uint8_t *bytes, size_t size);
