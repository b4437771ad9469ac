#include "tools/lib/checkpoint_check.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/bytes.h"

#define HEADER_BYTES_MAX (8u << 20)

static json_t *read_header(FILE *file, uint64_t *bytes)
{
	uint8_t length[8];
	if (fread(length, sizeof length, 1, file) != 1)
		return NULL;
	sl_bytes_unpack(bytes, length, 1, 8);
	char *text = *bytes <= HEADER_BYTES_MAX ? malloc(*bytes + 1) : NULL;
	json_t *header = NULL;
	if (text != NULL && fread(text, 1, *bytes, file) == *bytes)
		header = json_loadb(text, *bytes, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return header;
}

/* Return the bytes of a tensor of floats; -1: it is something else. */
static json_int_t bytes_of(const json_t *entry)
{
	const char *type;
	json_t *shape, *side;
	json_int_t from, to, bytes = 4;
	size_t d;
	if (json_unpack((json_t *)entry, "{s:s, s:o, s:[I, I!]}", "dtype", &type, "shape", &shape,
			"data_offsets", &from, &to) != 0 ||
	    strcmp(type, "F32") != 0)
		return -1;
	json_array_foreach(shape, d, side)
	{
		if (json_integer_value(side) < 0 ||
		    __builtin_mul_overflow(bytes, json_integer_value(side), &bytes))
			return -1;
	}
	return from >= 0 && to - from == bytes ? bytes : -1;
}

/* Set n if the header names tensors of floats that fill the rest of the file. */
static bool take_header(json_t *header, uint64_t header_bytes, uint64_t file_bytes, size_t *n)
{
	const char *name;
	json_t *entry;
	uint64_t sum = 0;
	json_object_foreach(header, name, entry)
	{
		json_int_t bytes = strcmp(name, "__metadata__") == 0 ? 0 : bytes_of(entry);
		if (bytes < 0 || bytes > (json_int_t)(4 * (uint64_t)SL_ELEMENTS_MAX))
			return false;
		sum += (uint64_t)bytes;
	}
	*n = (size_t)(sum / 4);
	return sum > 0 && file_bytes == 8 + header_bytes + sum;
}

int sl_checkpoint_check_open(const char *path, struct sl_tensor_file *tensor, struct sl_error *error)
{
	struct stat st;
	uint64_t header_bytes = 0;
	tensor->file = fopen(path, "re");
	if (tensor->file == NULL || fstat(fileno(tensor->file), &st) != 0) {
		int reason = errno;
		if (tensor->file != NULL)
			fclose(tensor->file);
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(reason));
	}
	json_t *header = read_header(tensor->file, &header_bytes);
	bool good = header != NULL && take_header(header, header_bytes, (uint64_t)st.st_size, &tensor->n);
	json_decref(header);
	if (good)
		return SL_OK;
	fclose(tensor->file);
	return sl_err_set(error, SL_ERR_FORMAT,
			  "%s: not a checkpoint: its header and its tensors of floats do not agree", path);
}
