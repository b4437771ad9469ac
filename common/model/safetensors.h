/* safetensors.h - files of one tensor: the part that checkpoints and results have in common, strictly
 * checked.
 *
 *      8 bytes   header length H, little-endian
 *      H bytes   JSON, which describes the data
 *      the rest  the data
 * The JSON has no spaces and its keys are sorted; spaces behind it fill H up to a multiple of 8.
 *
 * The caller checks the contents of the JSON. Values of metadata are strings, as the format demands: numbers
 * in decimal, bytes in lower-case hexadecimal, and no other notation is accepted.
 */
#pragma once

#include <jansson.h>
#include <sys/types.h>

#include "common/base/err.h"
#include "common/base/types.h"

#define SL_SAFETENSORS_HEADER_BYTES_MAX (128u << 20) /* more than that of any model that may join */
#define SL_FILE_NAME_BYTES 64u /* a file name in the state folder, with its terminating zero */

/* How a file is written. A failed fsync is never retried. */
enum sl_safetensors_way {
	SL_SAFETENSORS_WHOLE, /* completely or not at all: a temporary file (the name and SL_TEMPORARY),
				 fsync, rename, fsync of the folder */
	SL_SAFETENSORS_OVER,  /* over what the file holds, which is lost; one fsync, the name stays */
	SL_SAFETENSORS_LATER, /* as whole, without fsync: a loss of power may take it */
};
/* Write folder/name. Takes ownership of `header`; NULL gives SL_ERR_INVALID (jansson packs only UTF-8). */
#define SL_TEMPORARY ".tmp"
int sl_safetensors_write(const char *folder, const char *name, enum sl_safetensors_way way, mode_t mode,
			 json_t *header, const void *data, size_t size, struct sl_error *error);

/* The functions that return a text return the flaw that they found, or NULL. */

/* Read the header, to be freed with json_decref, and the offset of the data. */
const char *sl_safetensors_header(int fd, json_t **header, uint64_t *begin);
/* Check that the file ends after `size` bytes of data at `begin`. */
const char *sl_safetensors_extent(int fd, uint64_t begin, uint64_t size);

/* Read the next `size` bytes; -1: there are fewer. */
int sl_safetensors_read(int fd, void *bytes, size_t size);

/* Parse a value of the metadata; false if it is not in the notation above, or above `max`. */
bool sl_safetensors_metadata_number(const char *text, uint64_t max, uint64_t *value);
bool sl_safetensors_metadata_bytes(const char *text, uint8_t *bytes, size_t size);
